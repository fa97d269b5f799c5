// SPDX-License-Identifier: Apache-2.0
//
// Which variant runs, and its plan: what is made once of constants. Law: the head of a plan is written last.
#include <functional>

#include "lowering/llvm/abi_wall.h"
#include "lowering/llvm/entry_wall.h"

namespace tilewright::llvm_wall {

using program::Check;
using program::CheckKind;
using program::Parameter;

void Entry::choose() {
  if (needed_) return;
  llvm::Value* none = b().getFalse();
  for (const program::Variant& variant : dispatch_.variants) {
    llvm::Value* all = b().getTrue();
    for (Expr condition : variant.guard) {
      llvm::Value* overflow = nullptr;
      llvm::Value* one = evaluate_checked(condition, &overflow);
      all = b().CreateAnd(all, b().CreateAnd(one, b().CreateNot(overflow)));
    }
    holds_.push_back(all);
  }
  needed_ = i64(0);
  overflow_ = none;
  for (std::size_t i = dispatch_.variants.size(); i-- > 0;) {
    const program::Variant& variant = dispatch_.variants[i];
    const bool with_plan = variant.planned && program::takes_plan(kind_);
    llvm::Value* overflow = nullptr;
    llvm::Value* own = evaluate_checked(
        (with_plan ? variant.planned->run_contract : variant.contract).workspace.total, &overflow);
    needed_ = b().CreateSelect(holds_[i], own, needed_);
    overflow_ = b().CreateSelect(holds_[i], overflow, overflow_);
  }
  if (!dispatch_.has_plan()) return;
  const std::int64_t head = program::plan_head_bytes(state_.program);
  plan_needed_ = i64(0);
  plan_overflow_ = none;
  for (std::size_t i = dispatch_.variants.size(); i-- > 0;) {
    llvm::Value* own = i64(0);
    llvm::Value* overflow = none;
    if (const auto& planned = dispatch_.variants[i].planned)
      own = evaluate_checked(state_.context.add(planned->bytes, state_.context.index(head)),
                             &overflow);
    plan_needed_ = b().CreateSelect(holds_[i], own, plan_needed_);
    plan_overflow_ = b().CreateSelect(holds_[i], overflow, plan_overflow_);
  }
}

// A word of the plan's head; 0 where the variant that runs has no plan, which is then not read.
llvm::Value* Entry::plan_word(int word) {
  llvm::BasicBlock* from = b().GetInsertBlock();
  llvm::BasicBlock* read = block("plan");
  llvm::BasicBlock* after = block("plan.read");
  b().CreateCondBr(b().CreateICmpEQ(plan_needed_, i64(0)), after, read);
  b().SetInsertPoint(read);
  llvm::Value* value = field(plan_, 8 * static_cast<std::size_t>(word), b().getInt64Ty());
  b().CreateBr(after);
  b().SetInsertPoint(after);
  llvm::PHINode* phi = b().CreatePHI(b().getInt64Ty(), 2);
  phi->addIncoming(i64(0), from);
  phi->addIncoming(value, read);
  return phi;
}

void Entry::check_plan(const Check& c) {
  choose();
  llvm::Value* none = b().CreateICmpEQ(plan_needed_, i64(0));
  // What each variant expects there, of the one that runs.
  const auto chosen = [&](const std::function<std::uint64_t(const program::Planned&)>& of) {
    llvm::Value* value = i64(0);
    for (std::size_t i = dispatch_.variants.size(); i-- > 0;) {
      const auto& planned = dispatch_.variants[i].planned;
      value = b().CreateSelect(holds_[i], b().getInt64(planned ? of(*planned) : 0), value);
    }
    return value;
  };
  switch (c.kind) {
    case CheckKind::PlanSize: {
      demand(b().CreateNot(plan_overflow_), c, nullptr, nullptr, TILEWRIGHT_OUT_OF_BOUNDS);
      llvm::Value* enough =
          b().CreateAnd(b().CreateIsNotNull(plan_), b().CreateICmpUGE(plan_size_, plan_needed_));
      return demand(b().CreateOr(none, enough), c, plan_needed_, plan_size_);
    }
    case CheckKind::PlanAlignment: {
      llvm::Value* rest =
          b().CreateAnd(b().CreatePtrToInt(plan_, b().getInt64Ty()), i64(c.value - 1));
      return demand(b().CreateOr(none, b().CreateICmpEQ(rest, i64(0))), c, i64(c.value), rest);
    }
    case CheckKind::PlanOverlap: {
      const bool of_tensor = c.argument >= 0;
      llvm::Value* other = of_tensor ? tensors_[c.argument].data : workspace_;
      llvm::Value* bytes = of_tensor ? tensors_[c.argument].bytes : needed_;
      return demand(disjoint(plan_, plan_needed_, other, bytes), c);
    }
    case CheckKind::PlanMagic: {
      llvm::Value* magic = plan_word(0);
      llvm::Value* same = b().CreateICmpEQ(magic, b().getInt64(program::kPlanMagic));
      return demand(b().CreateOr(none, same), c);
    }
    case CheckKind::PlanVariant: {
      llvm::Value* same = b().getTrue();
      for (int word : {0, 1}) {
        llvm::Value* got = plan_word(program::kPlanHash + word);
        llvm::Value* wanted = chosen([&](const program::Planned& p) { return p.hash[word]; });
        same = b().CreateAnd(same, b().CreateICmpEQ(got, wanted));
      }
      return demand(b().CreateOr(none, same), c);
    }
    default: {
      const auto e = static_cast<std::size_t>(c.value);
      llvm::Value* got = plan_word(program::kPlanExtents + static_cast<int>(e));
      llvm::Value* extent = extents_.at(state_.program.extents[e].name);
      llvm::Value* matters =
          chosen([&](const program::Planned& p) { return p.depends_on[e] ? 1U : 0U; });
      llvm::Value* any = b().CreateICmpEQ(matters, i64(0));
      return demand(b().CreateOr(any, b().CreateICmpEQ(got, extent)), c, extent, got);
    }
  }
}

// `buffers`: where those of the plan begin.
llvm::Value* Entry::call_kernel(llvm::Function* kernel, const program::Program& program,
                                llvm::Value* workspace, const program::Planned* planned,
                                llvm::Value* buffers) {
  std::vector<llvm::Value*> args{emitter_->call, workspace};
  for (const Parameter& p : program.parameters) {
    llvm::Value* data = nullptr;
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (state_.program.parameters[i].name == p.name) data = tensors_[i].data;
    if (!data)
      for (const program::PlanBuffer& buffer : planned->buffers)
        if (buffer.name == p.name)
          data = b().CreateGEP(b().getInt8Ty(), buffers, emitter_->evaluate_alone(buffer.offset));
    args.push_back(data);
  }
  for (const ir::ExtentDecl& extent : state_.program.extents)
    args.push_back(extents_.at(extent.name));
  return b().CreateCall(kernel, args);
}

void Entry::return_failure(llvm::Value* status) {
  llvm::BasicBlock* failed = block("failed");
  llvm::BasicBlock* next = block("next");
  b().CreateCondBr(b().CreateICmpSLT(status, b().getInt32(0)), failed, next);
  b().SetInsertPoint(failed);
  b().CreateRet(status);
  b().SetInsertPoint(next);
}

// Runs a variant and returns its status. Without a plan of the caller its buffers are filled in the workspace.
void Entry::run_variant(std::size_t i) {
  const program::Variant& variant = dispatch_.variants[i];
  const Kernels& kernels = callees_.kernels[i];
  const program::Planned* planned = variant.planned ? &*variant.planned : nullptr;
  if (!planned) {
    b().CreateRet(call_kernel(kernels.whole, variant.program, workspace_, nullptr, nullptr));
    return;
  }
  llvm::Value* workspace = workspace_;
  llvm::Value* buffers = workspace_;
  if (kind_ == EntryKind::RunPlanned) {
    buffers = at(plan_, static_cast<std::size_t>(program::plan_head_bytes(state_.program)));
  } else {
    return_failure(call_kernel(kernels.plan, planned->plan, workspace_, planned, buffers));
    workspace =
        b().CreateGEP(b().getInt8Ty(), workspace_, emitter_->evaluate_alone(planned->bytes));
  }
  b().CreateRet(call_kernel(kernels.run, planned->run, workspace, planned, buffers));
}

// The first variant whose guard holds; the last one has none.
void Entry::run_chosen() {
  for (std::size_t i = 0; i + 1 < callees_.kernels.size(); ++i) {
    llvm::BasicBlock* run = block("run");
    llvm::BasicBlock* next = block("next");
    b().CreateCondBr(holds_[i], run, next);
    b().SetInsertPoint(run);
    kind_ == EntryKind::Plan ? make_plan(i) : run_variant(i);
    b().SetInsertPoint(next);
  }
  const std::size_t last = callees_.kernels.size() - 1;
  kind_ == EntryKind::Plan ? make_plan(last) : run_variant(last);
}

// The head is written last: what was cancelled is no plan.
void Entry::make_plan(std::size_t i) {
  const auto& planned = dispatch_.variants[i].planned;
  if (planned) {
    const auto put_word = [&](int word, llvm::Value* value) {
      b().CreateStore(value, at(plan_, 8 * static_cast<std::size_t>(word)));
    };
    put_word(0, i64(0));
    llvm::Value* buffers =
        at(plan_, static_cast<std::size_t>(program::plan_head_bytes(state_.program)));
    llvm::Value* none = llvm::ConstantPointerNull::get(b().getPtrTy());
    return_failure(call_kernel(callees_.kernels[i].plan, planned->plan, none, &*planned, buffers));
    for (int word : {0, 1}) put_word(program::kPlanHash + word, b().getInt64(planned->hash[word]));
    put_word(program::kPlanBytes, plan_needed_);
    for (std::size_t e = 0; e < state_.program.extents.size(); ++e)
      put_word(program::kPlanExtents + static_cast<int>(e),
               planned->depends_on[e] ? extents_.at(state_.program.extents[e].name) : i64(-1));
    put_word(0, b().getInt64(program::kPlanMagic));
  }
  b().CreateRet(b().getInt32(0));
}

}  // namespace tilewright::llvm_wall
