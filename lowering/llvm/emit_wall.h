// SPDX-License-Identifier: Apache-2.0
//
// From Program to LLVM IR, private to this room. A vector loop of W lanes is emitted in SPMD form: each
// expression is one scalar where it is the same in all lanes, else a <W x T>; control flow that differs
// between lanes becomes a mask. Laws: a lane that the mask turns off reads and writes no memory; no float
// operation carries a fast-math flag.
//   emit_convert.cpp  types, casts, rounding       emit_expr.cpp   expressions
//   emit_index.cpp    affine forms of indices      emit_math.cpp   math functions
//   emit_memory.cpp   buffers, loads, stores       emit_stmt.cpp   statements
//   emit_parallel.cpp outlined loops               entry_wall.h    what judges a call
//   emit_packed.cpp   elements of 4 bits            emit_cpu.cpp    the processor check
//   emit_call.cpp     described instructions       emit_values.cpp  checks of a tensor's values
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <optional>
#include <unordered_map>

#include "lowering/llvm/compile.h"
#include "schedules/machine/instruction.h"

namespace tilewright::llvm_wall {

// The remedy of a refusal that no program which passed the verifier can meet.
inline constexpr const char* kReport =
    "this is a defect of Tilewright: please report it with the program";

using ir::Expr;
using ir::OpCode;
using ir::ScalarType;

// A scalar that all lanes share, or one value per lane. Floats below f32 are f32 on their grid; bool is i1;
// index is i64; integers have their width.
struct Value {
  llvm::Value* v = nullptr;
  bool varying = false;
};

// An index as variable + constant + lane * stride; null stands for 0. The constant stays apart so that
// neighbouring cells share one address and differ in the displacement.
struct LaneIndex {
  llvm::Value* variable = nullptr;
  std::int64_t constant = 0;
  llvm::Value* stride = nullptr;
};

struct Buffer {
  ScalarType type = ScalarType::F32;
  bool in_register = false;
  int private_lanes =
      1;  // of the vector loop that allocates it: one copy per lane, the last dimension
  llvm::Value* base = nullptr;
  // Elements that share a byte, of a parameter; rows begin at a byte. Buffers of the program itself hold
  // each element in bytes of its own.
  int per_byte = 1;
  std::vector<LaneIndex> strides;  // in elements; uniform
  std::vector<std::int64_t> extents;  // register buffers, private lanes included
  std::vector<llvm::AllocaInst*> rows;  // register buffers: one per leading index
  llvm::MDNode* scope = nullptr;  // for memory, alias scopes
  llvm::MDNode* disjoint = nullptr;
};

// What the functions of one Program share; those of one module share the module.
struct ModuleState {
  ir::Context& context;
  const program::Program& program;
  const program::Program parts;  // the same without complex types: what the kernel runs
  const program::Contract& contract;
  const TargetOptions& target;
  llvm::LLVMContext& llvm;
  llvm::Module& module;
  std::optional<Diagnostic> error = {};  // the first; emission goes on with poison

  llvm::Function* fail = nullptr;  // fills the error detail, returns the status
  std::unordered_map<Symbol, std::pair<llvm::MDNode*, llvm::MDNode*>> alias =
      {};  // scope, disjoint
  int num_tasks = 0;
  // An instruction that the program calls, by name; none: it is not described.
  struct Described {
    machine::Instruction instruction;
    machine::Meaning meaning;
  };
  std::unordered_map<Symbol, std::optional<Described>> described = {};
  std::string variant = {};  // what tells it from others of the module: "row", "row.plan"

  std::string kernel_name() const {
    return std::string(program.name.text()) + (variant.empty() ? "" : "." + variant) + ".kernel";
  }
  const Described* find_described(Symbol callee);
  // `about`: the loop or buffer at fault.
  void refuse(Code code, std::string message, std::string remedy, Symbol about = {});
  llvm::Constant* text(std::string_view value);  // a private string, terminated
  // A function that holds kernel code: the target's processor and vector width.
  llvm::Function* make_function(llvm::FunctionType* type, const std::string& name, bool exported);
  void build_alias_scopes();
};

llvm::Type* register_type(llvm::LLVMContext& context, ScalarType type);
llvm::Type* storage_type(llvm::LLVMContext& context, ScalarType type);

// Emits the statements of one function.
class Emitter {
 public:
  // Code goes to the end of `entry`; allocas to its start.
  Emitter(ModuleState& state, llvm::Function* function);

  llvm::IRBuilder<>& builder() { return b_; }
  void bind(Symbol name, Value value, std::optional<LaneIndex> index = {});
  void bind_buffer(Symbol name, Buffer buffer) { buffers_[name] = std::move(buffer); }
  // Row-major strides of a parameter, whose rows begin at a byte; its elements lie `step` apart.
  std::vector<LaneIndex> parameter_strides(const program::Parameter& parameter, int step);
  // Row-major strides of these uniform extents.
  std::vector<LaneIndex> row_major(std::span<const Expr> extents);

  void emit(program::Stmt stmt);
  Value evaluate(Expr expr);
  llvm::Value* evaluate_uniform(Expr expr);

  // A value by itself, outside of statements. `overflow`: where index arithmetic of sizes that a caller controls says
  // that it left 64 bits.
  llvm::Value* evaluate_alone(Expr expr, llvm::Value** overflow = nullptr);

  llvm::Value* call = nullptr;  // the call context
  llvm::Value* workspace = nullptr;  // the caller's, or this worker's slice
  llvm::Value* worker = nullptr;  // i32 inside a parallel loop, else null

 private:
  friend class LlvmMath;
  struct Binding {
    Value value;
    std::optional<LaneIndex> index;
  };
  struct Mask {
    llvm::Value* lanes = nullptr;  // null: all
    bool may_be_empty = false;
  };

  // emit_convert.cpp
  class Lanes;
  llvm::Type* type_of(ScalarType type, bool varying);
  llvm::Value* broadcast(Value value);
  Value match(Value value, bool varying);
  llvm::Value* ramp(llvm::Type* element);
  llvm::Value* round_f32_to_bf16(llvm::Value* v);
  llvm::Value* round_f32_to_f16(llvm::Value* v);
  llvm::Value* narrow_to_odd(llvm::Value* f64);
  llvm::Value* round_f32_to_tf32(llvm::Value* v);
  llvm::Value* round_f32_to_small(llvm::Value* v, ScalarType grid, bool saturates);
  llvm::Value* round_f32_to_scale(llvm::Value* v, bool saturates);
  llvm::Value* small_float_bits(llvm::Value* v, ScalarType type);
  llvm::Value* small_float_value(llvm::Value* code, ScalarType type);
  llvm::Value* round_to_grid(llvm::Value* v, ScalarType from, ScalarType grid,
                             bool saturates = false);
  Value cast(Value value, ScalarType from, ScalarType to);
  Value saturate(Value value, ScalarType from, ScalarType to);
  llvm::Value* within_limits(llvm::Value* v, ScalarType type);
  llvm::Value* integer_to_float(Value value, ScalarType from, ScalarType to, bool saturates);
  llvm::Value* truncate(llvm::Value* v, ScalarType to, llvm::Type* target);
  llvm::Value* to_storage(llvm::Value* v, ScalarType type);
  llvm::Value* from_storage(llvm::Value* v, ScalarType type);

  // emit_expr.cpp
  bool varies(Expr expr);
  Value evaluate_op(const ir::Op& op);
  Value float_op(OpCode op, ScalarType type, std::span<llvm::Value* const> args);
  llvm::Value* integer_op(OpCode op, ScalarType type, std::span<llvm::Value* const> args);
  llvm::Value* bit_op(OpCode op, ScalarType type, std::span<llvm::Value* const> args);
  llvm::Value* floor_division(llvm::Value* a, llvm::Value* b, bool want_modulus);
  llvm::Value* unsigned_division(llvm::Value* a, llvm::Value* b, bool want_modulus);
  llvm::Value* index_arithmetic(OpCode op, llvm::Value* a, llvm::Value* b);
  Value compare(OpCode op, Expr a, Expr b);
  llvm::Value* compare_lanes(OpCode op, Expr a, Expr b);
  Value select(const ir::Select& select);
  Value select_by_mask(const ir::Select& select, llvm::Value* condition);
  Value select_by_branch(const ir::Select& select, llvm::Value* condition);
  bool may_fault(Expr expr);
  // Runs f where `condition` (i1) holds; elsewhere the result is zero.
  template <class F>
  llvm::Value* guarded(llvm::Value* condition, llvm::Type* type, F&& f);
  llvm::Value* any(llvm::Value* mask);

  // emit_math.cpp: an f32 or f64 value of any shape.
  llvm::Value* math_function(OpCode op, ScalarType type, llvm::Value* x);
  llvm::Value* random_bits(ScalarType type, llvm::Value* key, llvm::Value* counter);

  // emit_index.cpp
  std::optional<LaneIndex> affine(Expr expr);
  LaneIndex add(const LaneIndex& a, const LaneIndex& b, bool negate);
  LaneIndex scale(const LaneIndex& a, const LaneIndex& factor);
  llvm::Value* base_of(const LaneIndex& index);
  Value materialise(const LaneIndex& index);
  static bool is_uniform(const LaneIndex& index) { return index.stride == nullptr; }

  // emit_memory.cpp
  struct Address {
    std::optional<LaneIndex> affine;
    llvm::Value* lanes = nullptr;  // <W x i64> offsets where not affine
  };
  Address address(const Buffer& buffer, std::span<const Expr> indices);
  llvm::Value* pointer(const Buffer& buffer, const LaneIndex& offset);
  llvm::Value* lane_pointers(const Buffer& buffer, const Address& address);
  Value load(const ir::Read& read);
  llvm::Value* load_memory(const Buffer& buffer, const Address& address);
  llvm::Value* load_strided(const Buffer& buffer, const LaneIndex& offset);
  void store(const program::Store& store);
  void prefetch(const program::Prefetch& prefetch);
  void store_memory(const Buffer& buffer, const Address& address, Value value);
  // Lanes `step` cells apart, `group` of them in one vector.
  struct Spread {
    std::int64_t step;
    std::int64_t group;
  };
  std::optional<Spread> spread(const Buffer& buffer, const LaneIndex& offset);
  llvm::Value* spread_mask(const Spread& spread, std::int64_t first);
  llvm::Value* load_spread(const Buffer& buffer, const LaneIndex& offset);
  bool store_spread(const Buffer& buffer, const LaneIndex& offset, llvm::Value* lanes);
  // emit_packed.cpp: elements that share a byte.
  struct PackedPlace {
    llvm::Value* pointer;  // of the byte, or of one in each lane
    llvm::Value* shift;  // i8
  };
  PackedPlace packed_place(const Buffer& buffer, llvm::Value* element);
  llvm::Value* load_packed(const Buffer& buffer, const Address& address);
  void store_packed(const Buffer& buffer, const Address& address, Value value);
  void store_packed_element(const Buffer& buffer, llvm::Value* element, llvm::Value* value);
  std::optional<std::vector<int>> register_cells(const Buffer& buffer,
                                                 std::span<const Expr> indices,
                                                 llvm::AllocaInst*& row, Symbol name);
  Value load_register(const Buffer& buffer, const ir::Read& read);
  void store_register(const Buffer& buffer, const program::Store& store, Value value);
  llvm::Instruction* tag(llvm::Instruction* access, const Buffer& buffer);
  void allocate(const program::Alloc& alloc);
  Buffer make_register_buffer(const program::Alloc& alloc);
  llvm::AllocaInst* entry_alloca(llvm::Type* type, const llvm::Twine& name);

  // emit_stmt.cpp
  void emit_loop(const program::For& loop);
  void emit_serial(const program::For& loop);
  void emit_ragged(const program::For& loop);
  void emit_unrolled(const program::For& loop);
  void emit_vector(const program::For& loop);
  void emit_if(const program::If& branch);
  void emit_masked(llvm::Value* mask, program::Stmt body);
  llvm::MDNode* loop_metadata();
  struct LoopBlocks {
    llvm::BasicBlock* after;
    llvm::PHINode* index;
  };
  LoopBlocks open_loop(llvm::Value* lower, llvm::Value* upper, const llvm::Twine& name);
  void close_loop(const LoopBlocks& blocks, llvm::Value* upper);
  llvm::BasicBlock* block(const llvm::Twine& name);

  // emit_call.cpp
  void emit_call(const program::Call& node);
  llvm::Value* load_tile(const program::TileNode& tile, std::int64_t elements,
                         std::int64_t broadcast);
  void store_tile(const program::TileNode& tile, llvm::Value* value);

  // emit_parallel.cpp
  void emit_parallel(const program::For& loop);
  struct Capture;
  std::vector<Capture> captures(const program::For& loop);
  llvm::Function* emit_task(const program::For& loop, const std::vector<Capture>& captured,
                            llvm::StructType* closure);
  void return_failure(llvm::Value* status, std::string_view message);
  void poll_cancel();

  ModuleState& state_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  std::unordered_map<Symbol, Binding> env_;
  std::unordered_map<Symbol, Buffer> buffers_;
  std::unordered_map<Expr, Value> memo_;  // of the statement, or the arm, at hand
  std::unordered_map<Expr, bool> varies_;
  int lanes_ = 1;
  Mask mask_;
  llvm::Value* overflow_ = nullptr;
};

template <class F>
llvm::Value* Emitter::guarded(llvm::Value* condition, llvm::Type* type, F&& f) {
  llvm::BasicBlock* from = b_.GetInsertBlock();
  llvm::BasicBlock* run = block("guarded");
  llvm::BasicBlock* join = block("joined");
  b_.CreateCondBr(condition, run, join);
  b_.SetInsertPoint(run);
  llvm::Value* result = f();
  llvm::BasicBlock* end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  if (type->isVoidTy()) return nullptr;
  llvm::PHINode* phi = b_.CreatePHI(type, 2);
  phi->addIncoming(llvm::Constant::getNullValue(type), from);
  phi->addIncoming(result, end);
  return phi;
}

// emit_cpu.cpp: `i1 ()`, whether this processor has what the target needs.
llvm::Function* emit_cpu_check(ModuleState& state);
// emit_values.cpp: `i64 (data, count, row, lower, upper, workspace)`, the position of the first value that breaks
// the check, or -1.
llvm::Function* make_value_check(ModuleState& state, program::CheckKind kind, ScalarType type,
                                 int argument);
}  // namespace tilewright::llvm_wall
