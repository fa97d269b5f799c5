// SPDX-License-Identifier: Apache-2.0
//
// The checks of declared facts about the values of a tensor: one pass over its cells, and for `injective` one over
// the range before it. Law: nothing but the
// workspace is written, and only after ValueRange has shown that each value has a byte in it.
#include "lowering/llvm/emit_wall.h"

namespace tilewright::llvm_wall {

namespace {

using program::CheckKind;

class ValueCheck {
 public:
  ValueCheck(ModuleState& state, CheckKind kind, ScalarType type, const std::string& name)
      : c_(state.llvm), kind_(kind), type_(type), b_(state.llvm) {
    auto* ptr = llvm::PointerType::getUnqual(c_);
    auto* i64 = b_.getInt64Ty();
    function_ =
        llvm::Function::Create(llvm::FunctionType::get(i64, {ptr, i64, i64, i64, i64, ptr}, false),
                               llvm::GlobalValue::InternalLinkage, name, state.module);
    for (auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind})
      function_->addFnAttr(attribute);
    // A library calls no memset.
    function_->addFnAttr("no-builtins");
  }

  llvm::Function* make() {
    b_.SetInsertPoint(block("entry"));
    llvm::BasicBlock* found = block("found");
    loop(b_.getInt64(0), function_->getArg(1), [&](llvm::Value* i) {
      // What a row has seen is forgotten where the next begins: by its values, since the range may be long.
      llvm::Value* first = b_.CreateICmpEQ(b_.CreateURem(i, function_->getArg(2)), b_.getInt64(0));
      if (kind_ == CheckKind::Injective) forget(i, first);
      llvm::Value* bad = broken(i, first);
      llvm::BasicBlock* next = block("next");
      llvm::BasicBlock* from = b_.GetInsertBlock();
      b_.CreateCondBr(bad, found, next);
      positions_.emplace_back(i, from);
      b_.SetInsertPoint(next);
    });
    b_.CreateRet(b_.getInt64(static_cast<std::uint64_t>(-1)));
    b_.SetInsertPoint(found);
    llvm::PHINode* at = b_.CreatePHI(b_.getInt64Ty(), 1);
    for (const auto& [position, from] : positions_) at->addIncoming(position, from);
    b_.CreateRet(at);
    return function_;
  }

 private:
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(c_, name, function_);
  }

  template <class F>
  void loop(llvm::Value* lower, llvm::Value* upper, F&& body) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* head = block("loop");
    llvm::BasicBlock* inside = block("body");
    llvm::BasicBlock* after = block("after");
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
    i->addIncoming(lower, before);
    b_.CreateCondBr(b_.CreateICmpSLT(i, upper), inside, after);
    b_.SetInsertPoint(inside);
    body(i);
    i->addIncoming(b_.CreateAdd(i, b_.getInt64(1)), b_.GetInsertBlock());
    b_.CreateBr(head);
    b_.SetInsertPoint(after);
  }

  llvm::Value* value(llvm::Value* i) {
    llvm::Type* type = storage_type(c_, type_);
    llvm::Value* v = b_.CreateLoad(type, b_.CreateGEP(type, function_->getArg(0), i));
    return ir::is_unsigned(type_) ? b_.CreateZExt(v, b_.getInt64Ty())
                                  : b_.CreateSExt(v, b_.getInt64Ty());
  }

  llvm::Value* seen(llvm::Value* offset) {
    return b_.CreateGEP(b_.getInt8Ty(), function_->getArg(5), offset);
  }

  void forget(llvm::Value* i, llvm::Value* first) {
    llvm::BasicBlock* clear = block("clear");
    llvm::BasicBlock* range = block("range");
    llvm::BasicBlock* row = block("row");
    llvm::BasicBlock* cleared = block("cleared");
    b_.CreateCondBr(first, clear, cleared);
    b_.SetInsertPoint(clear);
    b_.CreateCondBr(b_.CreateICmpEQ(i, b_.getInt64(0)), range, row);
    b_.SetInsertPoint(range);
    loop(b_.getInt64(0), b_.CreateSub(function_->getArg(4), function_->getArg(3)),
         [&](llvm::Value* byte) { b_.CreateStore(b_.getInt8(0), seen(byte)); });
    b_.CreateBr(cleared);
    b_.SetInsertPoint(row);
    loop(b_.CreateSub(i, function_->getArg(2)), i, [&](llvm::Value* before) {
      b_.CreateStore(b_.getInt8(0), seen(b_.CreateSub(value(before), function_->getArg(3))));
    });
    b_.CreateBr(cleared);
    b_.SetInsertPoint(cleared);
  }

  llvm::Value* broken(llvm::Value* i, llvm::Value* first) {
    if (kind_ == CheckKind::Monotone) {
      llvm::Value* before = b_.CreateSelect(first, i, b_.CreateSub(i, b_.getInt64(1)));
      return b_.CreateICmpSLT(value(i), value(before));
    }
    llvm::Value* v = value(i);
    if (kind_ == CheckKind::ValueRange)
      return b_.CreateOr(b_.CreateICmpSLT(v, function_->getArg(3)),
                         b_.CreateICmpSGE(v, function_->getArg(4)));
    llvm::Value* mark = seen(b_.CreateSub(v, function_->getArg(3)));
    llvm::Value* twice = b_.CreateICmpNE(b_.CreateLoad(b_.getInt8Ty(), mark), b_.getInt8(0));
    b_.CreateStore(b_.getInt8(1), mark);
    return twice;
  }

  llvm::LLVMContext& c_;
  CheckKind kind_;
  ScalarType type_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  std::vector<std::pair<llvm::Value*, llvm::BasicBlock*>> positions_;
};

}  // namespace

llvm::Function* make_value_check(ModuleState& state, program::CheckKind kind, ScalarType type,
                                 int argument) {
  const std::string name = std::string(state.program.name.text()) + ".values" +
                           std::to_string(argument) + "." + std::to_string(static_cast<int>(kind));
  if (llvm::Function* made = state.module.getFunction(name)) return made;
  return ValueCheck(state, kind, type, name).make();
}

}  // namespace tilewright::llvm_wall
