// SPDX-License-Identifier: Apache-2.0
//
// Statements. Laws: statements run in order, loops ascend; inside a vector loop each statement is done for
// all lanes before the next, and for the lanes of the mask alone.
#include "lowering/llvm/emit_wall.h"

#include <llvm/IR/Intrinsics.h>

namespace tilewright::llvm_wall {

namespace {
constexpr std::int64_t kMostLanes = 1024;
constexpr std::int64_t kMostUnrolled = 4096;
}  // namespace

Emitter::Emitter(ModuleState& state, llvm::Function* function)
    : state_(state), function_(function), b_(state.llvm) {
  b_.SetInsertPoint(&function->back());
}

void Emitter::bind(Symbol name, Value value, std::optional<LaneIndex> index) {
  if (!index && value.v && !value.varying && value.v->getType()->isIntegerTy(64)) {
    index = LaneIndex{value.v, 0, nullptr};
    if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(value.v))
      index = LaneIndex{nullptr, c->getSExtValue(), nullptr};
  }
  env_[name] = {value, index};
}

llvm::BasicBlock* Emitter::block(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(state_.llvm, name, function_);
}

void Emitter::emit(program::Stmt stmt) {
  memo_.clear();
  varies_.clear();
  program::visit(
      stmt,
      ir::Overloaded{
          [&](const program::Block& s) {
            for (program::Stmt child : s.body) emit(child);
          },
          [&](const program::For& s) { emit_loop(s); },
          [&](const program::If& s) { emit_if(s); },
          [&](const program::Let& s) {
            auto index = s.value.type() == ScalarType::Index ? affine(s.value) : std::nullopt;
            bind(s.var,
                 index ? Value{is_uniform(*index) ? base_of(*index) : nullptr, !is_uniform(*index)}
                       : evaluate(s.value),
                 index);
            emit(s.body);
          },
          [&](const program::Alloc& s) {
            allocate(s);
            if (!state_.error) emit(s.body);
          },
          [&](const program::Store& s) { store(s); },
          [&](const program::Call& s) { emit_call(s); },
          [&](const program::Prefetch& s) { prefetch(s); },
          // compile() refuses them with their place.
          [&](const auto&) {
            state_.refuse(Code::UnsupportedByTarget, "a statement beyond the host part",
                          "run it in the interpreter");
          },
      });
  memo_.clear();
}

void Emitter::emit_loop(const program::For& loop) {
  if (state_.error) return;
  switch (loop.loop) {
    case program::LoopKind::Vector: return emit_vector(loop);
    case program::LoopKind::Unrolled: return emit_unrolled(loop);
    case program::LoopKind::Parallel:
      if (worker == nullptr && lanes_ == 1) return emit_parallel(loop);
      return emit_serial(loop);
    case program::LoopKind::Serial: return emit_serial(loop);
  }
}

// Our schedules decide what is unrolled and vectorised; LLVM is told to leave loops alone.
llvm::MDNode* Emitter::loop_metadata() {
  llvm::LLVMContext& c = state_.llvm;
  auto named = [&](const char* name, llvm::Metadata* value = nullptr) -> llvm::Metadata* {
    std::vector<llvm::Metadata*> operands{llvm::MDString::get(c, name)};
    if (value) operands.push_back(value);
    return llvm::MDNode::get(c, operands);
  };
  auto* no = llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(c));
  llvm::MDNode* node = llvm::MDNode::getDistinct(
      c, {nullptr, named("llvm.loop.unroll.disable"), named("llvm.loop.vectorize.enable", no)});
  node->replaceOperandWith(0, node);
  return node;
}

Emitter::LoopBlocks Emitter::open_loop(llvm::Value* lower, llvm::Value* upper,
                                       const llvm::Twine& name) {
  llvm::BasicBlock* body = block(name);
  llvm::BasicBlock* after = block(name + ".end");
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpSLT(lower, upper), body, after);
  b_.SetInsertPoint(body);
  llvm::PHINode* index = b_.CreatePHI(lower->getType(), 2, name);
  index->addIncoming(lower, before);
  return {after, index};
}

void Emitter::close_loop(const LoopBlocks& blocks, llvm::Value* upper) {
  llvm::Value* next =
      b_.CreateAdd(blocks.index, llvm::ConstantInt::get(blocks.index->getType(), 1), "",
                   /*HasNUW=*/false, /*HasNSW=*/true);
  blocks.index->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* back =
      b_.CreateCondBr(b_.CreateICmpSLT(next, upper), blocks.index->getParent(), blocks.after);
  back->setMetadata(llvm::LLVMContext::MD_loop, loop_metadata());
  b_.SetInsertPoint(blocks.after);
}

void Emitter::emit_serial(const program::For& loop) {
  Value lower = evaluate(loop.lower);
  Value upper = evaluate(loop.upper);
  if (lower.varying || upper.varying) return emit_ragged(loop);
  auto blocks = open_loop(lower.v, upper.v, llvm::StringRef(loop.var.text()));
  bind(loop.var, {blocks.index, false});
  emit(loop.body);
  close_loop(blocks, upper.v);
}

// Bounds that differ between lanes: every lane counts from its own lower bound, and is on while below its
// upper one.
void Emitter::emit_ragged(const program::For& loop) {
  llvm::Value* lower = broadcast(evaluate(loop.lower));
  llvm::Value* upper = broadcast(evaluate(loop.upper));
  llvm::Value* count = b_.CreateSub(upper, lower);
  if (mask_.lanes)
    count = b_.CreateSelect(mask_.lanes, count, llvm::Constant::getNullValue(count->getType()));
  llvm::Value* longest = b_.CreateIntMaxReduce(count, /*IsSigned=*/true);
  auto blocks = open_loop(b_.getInt64(0), longest, llvm::StringRef(loop.var.text()));
  llvm::Value* index = b_.CreateAdd(lower, b_.CreateVectorSplat(lanes_, blocks.index));
  bind(loop.var, {index, true});
  llvm::Value* on = b_.CreateICmpSLT(b_.CreateVectorSplat(lanes_, blocks.index), count);
  const Mask outer = mask_;
  mask_ = {on, false};
  emit(loop.body);
  mask_ = outer;
  close_loop(blocks, longest);
}

void Emitter::emit_unrolled(const program::For& loop) {
  auto lower = affine(loop.lower);
  auto upper = affine(loop.upper);
  if (!lower || !upper || lower->variable || upper->variable || lower->stride || upper->stride ||
      upper->constant - lower->constant > kMostUnrolled)
    return state_.refuse(
        Code::BadLoopBounds,
        "unrolled loop `" + std::string(loop.var.text()) + "` has no small constant bounds",
        "split it by a constant first", loop.var);
  for (std::int64_t i = lower->constant; i < upper->constant && !state_.error; ++i) {
    bind(loop.var, {b_.getInt64(i), false});
    emit(loop.body);
  }
}

void Emitter::emit_vector(const program::For& loop) {
  auto lower = affine(loop.lower);
  auto upper = affine(loop.upper);
  const std::string name(loop.var.text());
  if (!lower || !upper || lower->variable || upper->variable || lower->stride || upper->stride)
    return state_.refuse(Code::BadLoopBounds, "vector loop `" + name + "` has no constant bounds",
                         "split it by a constant first", loop.var);
  const std::int64_t width = upper->constant - lower->constant;
  if (width > kMostLanes)
    return state_.refuse(Code::BadLoopBounds,
                         "vector loop `" + name + "` has " + std::to_string(width) +
                             " lanes, the most is " + std::to_string(kMostLanes),
                         "split it by at most " + std::to_string(kMostLanes) + " first", loop.var);
  if (width <= 0) return;
  if (width == 1) return emit_unrolled(loop);
  if (lanes_ > 1)
    return state_.refuse(Code::NestedVector,
                         "vector loop `" + name + "` lies inside another vector loop",
                         "unroll one of them, or fuse them first", loop.var);
  lanes_ = static_cast<int>(width);
  bind(loop.var, {nullptr, true}, LaneIndex{nullptr, lower->constant, b_.getInt64(1)});
  emit(loop.body);
  lanes_ = 1;
  varies_.clear();
}

void Emitter::emit_masked(llvm::Value* mask, program::Stmt body) {
  const Mask outer = mask_;
  llvm::BasicBlock* run = block("lanes");
  llvm::BasicBlock* after = block("lanes.end");
  b_.CreateCondBr(any(mask), run, after);
  b_.SetInsertPoint(run);
  mask_ = {mask, false};
  emit(body);
  mask_ = outer;
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void Emitter::emit_if(const program::If& branch) {
  Value condition = evaluate(branch.condition);
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(condition.v)) {
    if (constant->isAllOnesValue()) return emit(branch.then_body);
    if (constant->isNullValue()) {
      if (branch.else_body) emit(branch.else_body);
      return;
    }
  }
  if (condition.varying) {
    llvm::Value* outer = mask_.lanes;
    llvm::Value* on = outer ? b_.CreateAnd(outer, condition.v) : condition.v;
    llvm::Value* not_chosen = b_.CreateNot(condition.v);
    llvm::Value* off = outer ? b_.CreateAnd(outer, not_chosen) : not_chosen;
    emit_masked(on, branch.then_body);
    if (branch.else_body) emit_masked(off, branch.else_body);
    return;
  }
  llvm::BasicBlock* then_block = block("then");
  llvm::BasicBlock* else_block = branch.else_body ? block("else") : nullptr;
  llvm::BasicBlock* after = block("if.end");
  b_.CreateCondBr(condition.v, then_block, else_block ? else_block : after);
  b_.SetInsertPoint(then_block);
  emit(branch.then_body);
  b_.CreateBr(after);
  if (else_block) {
    b_.SetInsertPoint(else_block);
    emit(branch.else_body);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
}

}  // namespace tilewright::llvm_wall
