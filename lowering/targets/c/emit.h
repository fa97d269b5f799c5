// SPDX-License-Identifier: Apache-2.0
//
// From Program to C, private to this room.
//   expressions.cpp  values; shared ones get names      statements.cpp  loops, guards, buffers, stores
//   conversions.cpp  between types, to and from memory
//   lanes.cpp        vector loops                       parallel.cpp    loops that an executor runs
//   function.cpp     kernels, which entries there are   entry.h         what judges a call and chooses
//   math.cpp         math functions
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lowering/program/entries.h"
#include "lowering/targets/c/lines.h"
#include "lowering/targets/c/prelude.h"

namespace tilewright::c_target {

using ir::Expr;
using ir::OpCode;
using ir::ScalarType;

// How a type is spelled: held in a variable, stored in memory, as the suffix of a helper. None: it has no form.
struct TypeForm {
  std::string_view value;  // "float"
  std::string_view storage;  // "uint16_t"
  std::string_view workspace;  // "tw_workspace_u16"
  std::string_view suffix;  // of the arithmetic: "f32"
};
std::optional<TypeForm> type_form(ScalarType type);

// What the functions of one file share.
struct FileState {
  ir::Context* context = nullptr;  // of the function at hand
  Prelude prelude;
  std::optional<Diagnostic> error;  // the first; emission goes on with any text

  void refuse(const program::Program& program, std::string message, std::string remedy);
};

// Names of one library function: those of the Program as C may have them, and fresh ones beside them. Law: two
// names differ where the Program's do.
class Names {
 public:
  // `function`: what the C functions of the program are called after.
  Names(const program::Program& program, std::string function);
  explicit Names(const program::Program& program)
      : Names(program, std::string(program.name.text())) {}
  const std::string& function() const { return function_; }
  std::string of(Symbol name);
  std::string fresh(const std::string& wish);

 private:
  std::string function_;
  std::unordered_map<Symbol, std::string> given_;
  std::unordered_set<std::string> taken_;
};

// The name of the C function that computes a math function in f32 or f64, defined in the file on first use.
std::string math_function(FileState& state, OpCode op, bool is_double);

struct Buffer {
  ScalarType type = ScalarType::F32;
  std::vector<Expr> extents;
  std::string base;
  std::string element;  // what `base` points to
  bool writable = true;
  // A parameter whose elements share bytes, two each; a row of the last axis begins with a byte.
  bool packed = false;
  // Real and imaginary parts of an argument lie in turn: distance of neighbours, place of the first.
  int step = 1;
  int first = 0;
  // Of a vector loop whose lanes run statement by statement: one copy for each lane, the last dimension.
  int private_lanes = 1;
};

// Precedences of C, rising.
enum Precedence : int {
  kLowest,
  kConditional,
  kOr,
  kAnd,
  kBitOr,
  kBitAnd,
  kEqual,
  kRelation,
  kSum,
  kProduct,
  kUnary,
  kPrimary
};

// An expression of C with the precedence of its outermost operator.
struct Text {
  std::string text;
  int precedence = 0;
};

// Writes the statements of one C function.
class Body {
 public:
  Body(FileState& state, const program::Program& program, const program::Contract& contract,
       Names& names)
      : state_(state), program_(program), contract_(contract), names_(names) {}

  void bind(Symbol name, ScalarType type) { scalars_[name] = type; }
  void bind_buffer(Symbol name, Buffer buffer) { buffers_[name] = std::move(buffer); }
  void emit(program::Stmt stmt, bool is_last = true);
  // A value; what it needs before stands in lines().
  std::string value(Expr expr, int precedence = 0);
  // Index arithmetic that tells in the `bool` of this name whether it overflows; reads nothing.
  std::string checked_value(Expr expr, const std::string& overflow);
  // After a statement: nothing that was named may be used again.
  void forget() { memo_.clear(); }

  Lines& lines() { return *out_; }
  void write_to(Lines& lines) { out_ = &lines; }
  // Functions for the loops that an executor runs, to stand before this one.
  const std::string& tasks() const { return tasks_; }
  bool uses(const std::string& name) const { return used_.contains(name); }
  void use(const std::string& name) { used_.insert(name); }

 private:
  // expressions.cpp
  Text text_of(Expr expr);
  Text constant(Expr expr);
  Text op_text(const ir::Op& op);
  Text index_op(const ir::Op& op);
  Text integer_op(const ir::Op& op);
  Text float_op(const ir::Op& op);
  Text infix(const char* op, int precedence, Expr a, Expr b);
  Text call(const std::string& name, std::span<const Expr> args);
  Text select(const ir::Select& select);
  Text load(const ir::Read& read);
  std::string place(const Buffer& buffer, std::span<const Expr> indices);
  std::string cell(const Buffer& buffer, std::span<const Expr> indices);
  std::string suffix(ScalarType type);
  void count_uses(Expr expr);
  bool wants_name(Expr expr);
  std::string helper(std::string_view name) { return state_.prelude.use(name); }
  std::string name_of(Symbol name);

  // conversions.cpp
  Text cast(const std::string& value, ScalarType from, ScalarType to);
  Text round_to(const ir::RoundTo& round);
  Text saturate(const ir::Saturate& saturate);
  std::string round_to_grid(const std::string& value, ScalarType from, ScalarType grid);
  std::string single(const std::string& value, ScalarType from);
  Text from_memory(const std::string& stored, const Buffer& buffer);
  std::string to_memory(const std::string& value, ScalarType type);

  // statements.cpp
  void begin_statement(std::span<const Expr> roots);
  void emit_block(const program::Block& block);
  void emit_loop(const program::For& loop);
  void emit_plain_loop(const program::For& loop, const std::string& remark);
  void emit_if(const program::If& branch);
  void emit_let(const program::Let& let, bool is_last);
  void emit_alloc(const program::Alloc& alloc, bool is_last);
  void emit_store(const program::Store& store);
  void declare_buffer(const program::Alloc& alloc, int private_lanes);
  void refuse(std::string message, std::string remedy) {
    state_.refuse(program_, std::move(message), std::move(remedy));
  }
  // A loop bound or another value that must not change while it is in use.
  std::string stable(Expr expr, const std::string& wish);

  // lanes.cpp
  struct Lanes;
  void emit_vector(const program::For& loop);
  void emit_lanes(program::Stmt stmt);
  void lanes_loop(const program::For& loop);
  void lanes_if(const program::If& branch);
  void lanes_let(const program::Let& let);
  void open_lanes();
  void close_lanes();
  bool varies(Expr expr) const;
  std::string lane_number() const;
  std::string keep_for_lanes(Expr expr, const std::string& wish);

  // parallel.cpp
  void emit_parallel(const program::For& loop);

  FileState& state_;
  const program::Program& program_;
  const program::Contract& contract_;
  Names& names_;
  Lines* out_ = nullptr;
  std::string tasks_;
  std::unordered_map<Symbol, ScalarType> scalars_;
  std::unordered_map<Symbol, Buffer> buffers_;
  std::unordered_map<Expr, std::string> memo_;
  std::unordered_map<Expr, int> uses_;
  std::unordered_set<std::string> used_;
  int text_depth_ = 0;  // operators around the one at hand
  bool in_task_ = false;
  const std::string* overflow_ = nullptr;
  Lanes* lanes_ = nullptr;
};

using program::EntryKind;
// How the kernels of a variant are called: all of it, or the two parts of one with a plan. `$` marks what the
// entry puts in: `$workspace`, and `$x;` for a tensor, buffer or extent.
struct KernelCalls {
  std::string whole, plan, run;
};
// entry.h
std::string emit_entry(FileState& state, const program::Dispatch& dispatch, EntryKind kind,
                       const std::vector<KernelCalls>& kernels);
// function.cpp: the functions that the header declares, and the kernels that they call.
std::string emit_function(FileState& state, const program::Dispatch& dispatch);

}  // namespace tilewright::c_target
