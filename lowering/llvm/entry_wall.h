// SPDX-License-Identifier: Apache-2.0
//
// The entries of a library function, private to this room: what judges the arguments of a call by the checks
// of the contract, in their order, and then runs a variant, says what it needs, or explains. Laws: no check
// touches what an earlier one has not made safe; nothing is written before the last check has passed; an entry
// runs on the base of its architecture, so that an old processor gets a status and not an illegal instruction.
//   emit_entry.cpp    the checks                             emit_entry_run.cpp  which variant runs, and its plan
//   emit_library.cpp  kernels, and which entries there are   emit_explain.cpp    NAME_explain and its text
#pragma once

#include "lowering/llvm/emit_wall.h"
#include "lowering/program/entries.h"

namespace tilewright::llvm_wall {

using program::EntryKind;

// Functions that write text into the caller's buffer; emit_explain.cpp.
struct TextWriter {
  llvm::StructType* state = nullptr;  // buffer, its size, length of the whole text
  llvm::Function* put_text = nullptr;  // (state, text)
  llvm::Function* put_number = nullptr;  // (state, i64)
  llvm::Function* put_numbers =
      nullptr;  // (state, expected, got): ": expected 1, got 2", if there are any
  llvm::Function* finish = nullptr;  // (state, where the length goes, or null)
};
TextWriter make_text_writer(ModuleState& state);

// The kernels of a variant: all of it, or the two parts of one with a plan.
struct Kernels {
  llvm::Function* whole = nullptr;
  llvm::Function* plan = nullptr;
  llvm::Function* run = nullptr;
};

// What an entry calls.
struct Callees {
  std::vector<Kernels> kernels;  // of the variants
  llvm::Function* table = nullptr;
  TextWriter writer;
};

class Entry {
 public:
  Entry(ModuleState& state, const program::Dispatch& dispatch, EntryKind kind, Callees callees)
      : state_(state), dispatch_(dispatch), kind_(kind), callees_(std::move(callees)) {}

  llvm::Function* emit();

 private:
  using Check = program::Check;
  struct Tensor {
    llvm::Value* descriptor = nullptr;
    std::vector<llvm::Value*> dims;
    llvm::Value* bytes = nullptr;
    llvm::Value* data = nullptr;
  };

  llvm::IRBuilder<>& b() { return emitter_->builder(); }
  llvm::Value* field(llvm::Value* base, std::size_t offset, llvm::Type* type) {
    return b().CreateLoad(type, at(base, offset));
  }
  llvm::Value* at(llvm::Value* base, std::size_t offset) {
    return b().CreateConstInBoundsGEP1_64(b().getInt8Ty(), base, offset);
  }
  llvm::Value* i64(std::int64_t value) { return b().getInt64(static_cast<std::uint64_t>(value)); }
  llvm::Value* widen(llvm::Value* v) { return b().CreateSExtOrTrunc(v, b().getInt64Ty()); }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(state_.llvm, name, function_);
  }
  const program::Parameter& parameter(const Check& check) const {
    return state_.program.parameters[check.argument];
  }
  // An entry that neither reads data nor has a workspace.
  bool asks_only() const {
    return kind_ == EntryKind::Query || kind_ == EntryKind::Table || kind_ == EntryKind::PlanQuery;
  }
  bool needs_data(int argument) const { return program::needs_data(kind_, dispatch_, argument); }

  void declare();
  void check(const Check& check);
  // Goes on where `ok` holds; else returns the status of the check, or another one.
  void demand(llvm::Value* ok, const Check& check, llvm::Value* expected = nullptr,
              llvm::Value* got = nullptr, std::int32_t status = 0);
  void check_call(const Check& check);
  void check_structure(const Check& check, llvm::Value* base, std::size_t size,
                       std::span<const std::size_t> zero_words);
  void check_tensor(const Check& check);
  void check_extent(const Check& check);
  void check_strides(const Check& check);
  llvm::Value* row_bytes(const Check& check, std::size_t dimension);
  llvm::Value* whole_bytes(const Check& check, std::size_t dimension);
  void check_bytes(const Check& check);
  void check_workspace(const Check& check);
  void check_values(const Check& check);
  void check_plan(const Check& check);
  llvm::Value* plan_word(int word);
  llvm::Value* disjoint(llvm::Value* a, llvm::Value* a_bytes, llvm::Value* b, llvm::Value* b_bytes);
  llvm::Value* evaluate_checked(Expr expr, llvm::Value** overflow);
  // Which variant runs, and what workspace it needs; once all extents are known.
  void choose();
  void run_chosen();
  void make_plan(std::size_t variant);
  void run_variant(std::size_t variant);
  llvm::Value* call_kernel(llvm::Function* kernel, const program::Program& program,
                           llvm::Value* workspace, const program::Planned* planned,
                           llvm::Value* buffers);
  void return_failure(llvm::Value* status);
  void finish();

  // emit_explain.cpp
  void put(llvm::Value* text) { b().CreateCall(callees_.writer.put_text, {writer_, text}); }
  void put(std::string_view text) { put(state_.text(text)); }
  void put_number(llvm::Value* number) {
    b().CreateCall(callees_.writer.put_number, {writer_, number});
  }
  void begin_explain();
  void put_refusal(const Check& check, llvm::Value* expected, llvm::Value* got,
                   std::int32_t status);
  void put_table();
  void put_bytes(const std::string& what, llvm::Value* bytes, llvm::Value* overflow);
  void put_condition(Expr condition);

  ModuleState& state_;
  const program::Dispatch& dispatch_;
  EntryKind kind_;
  Callees callees_;
  llvm::Function* function_ = nullptr;
  std::optional<Emitter> emitter_;
  std::vector<Tensor> tensors_;
  std::unordered_map<Symbol, llvm::Value*> extents_;
  llvm::Value* workspace_ = nullptr;  // of Query: where the size goes
  llvm::Value* workspace_size_ = nullptr;
  std::vector<llvm::Value*> holds_;  // by variant: its guard
  llvm::Value* needed_ = nullptr;  // bytes of workspace
  llvm::Value* overflow_ = nullptr;  // of that number
  llvm::Value* writer_ = nullptr;  // of Table and Explain
  llvm::Value* plan_ = nullptr;  // of PlanQuery: where its size goes
  llvm::Value* plan_size_ = nullptr;
  llvm::Value* plan_needed_ = nullptr;  // 0: the variant that runs has none
  llvm::Value* plan_overflow_ = nullptr;
};

// The programs of a variant.
struct VariantStates {
  std::optional<ModuleState> whole, plan, run;
};
// NAME, NAME_query, NAME_explain and what has to do with plans, and the functions that they call; `variants` in the
// order of the table.
void emit_library(ModuleState& interface, const program::Dispatch& dispatch,
                  std::vector<VariantStates>& variants);

}  // namespace tilewright::llvm_wall
