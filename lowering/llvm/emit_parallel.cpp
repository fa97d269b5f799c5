// SPDX-License-Identifier: Apache-2.0
//
// Parallel loops: the body becomes a function of its own, which the caller's executor runs in pieces, or this
// thread when there is none. What it needs from outside travels in a closure on the caller's stack.
#include <algorithm>

#include "frontend/ir/walk.h"
#include "lowering/llvm/abi_wall.h"
#include "lowering/llvm/emit_wall.h"

namespace tilewright::llvm_wall {

// One word of the closure: a scalar by name, or the base of a buffer, or what every function has.
struct Emitter::Capture {
  Symbol name;
  bool is_buffer = false;
  llvm::Value* value = nullptr;
};

namespace {

// Names that the statement mentions, in order of first occurrence.
std::vector<Symbol> mentioned(program::Stmt root) {
  std::vector<Symbol> names;
  auto add = [&](Symbol name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  auto add_expr = [&](Expr root_expr) {
    ir::walk(root_expr, [&](Expr e) {
      if (const auto* var = e.as<ir::Var>()) add(var->name);
      if (const auto* extent = e.as<ir::Extent>()) add(extent->name);
      if (const auto* read = e.as<ir::Read>()) add(read->tensor);
    });
  };
  program::walk(root, [&](program::Stmt stmt) {
    program::for_each_part(stmt, [&](std::string_view, auto part) {
      using Part = decltype(part);
      if constexpr (std::is_same_v<Part, Expr>) add_expr(part);
      if constexpr (std::is_same_v<Part, Symbol>) add(part);
    });
  });
  return names;
}

}  // namespace

std::vector<Emitter::Capture> Emitter::captures(const program::For& loop) {
  std::vector<Capture> result;
  std::vector<Symbol> names = mentioned(loop.body);
  // Workspace offsets inside are expressions over extents: take all of those.
  for (const ir::ExtentDecl& extent : state_.program.extents)
    if (std::find(names.begin(), names.end(), extent.name) == names.end())
      names.push_back(extent.name);
  for (Symbol name : names) {
    if (auto it = buffers_.find(name); it != buffers_.end()) {
      if (it->second.in_register) {
        state_.refuse(
            Code::RegisterIndex,
            "register buffer `" + std::string(name.text()) + "` is used across a parallel loop",
            "allocate it inside the parallel loop", name);
        continue;
      }
      result.push_back({name, true, it->second.base});
      for (const LaneIndex& stride : it->second.strides)
        if (stride.variable) result.push_back({name, true, stride.variable});
    } else if (auto scalar = env_.find(name); scalar != env_.end()) {
      llvm::Value* v = scalar->second.value.v;
      if (v && !llvm::isa<llvm::Constant>(v)) result.push_back({name, false, v});
    }
  }
  return result;
}

void Emitter::emit_parallel(const program::For& loop) {
  const auto captured = captures(loop);
  if (state_.error) return;
  llvm::Value* lower = evaluate_uniform(loop.lower);
  llvm::Value* upper = evaluate_uniform(loop.upper);
  llvm::Type* pointer_type = b_.getPtrTy();

  std::vector<llvm::Type*> members{pointer_type, pointer_type, b_.getInt64Ty()};
  std::vector<llvm::Value*> values{call, workspace, b_.getInt64(0)};
  const auto& plan = state_.contract.workspace;
  if (auto slice = plan.slice_size.find(loop.var); slice != plan.slice_size.end()) {
    llvm::Value* begin = evaluate_uniform(plan.slice_begin.at(loop.var));
    values[1] = b_.CreateGEP(b_.getInt8Ty(), workspace, begin);
    values[2] = evaluate_uniform(slice->second);
  }
  for (const Capture& capture : captured) {
    members.push_back(capture.value->getType());
    values.push_back(capture.value);
  }
  auto* closure_type = llvm::StructType::get(state_.llvm, members);
  llvm::AllocaInst* closure = entry_alloca(closure_type, "closure");
  for (unsigned i = 0; i < values.size(); ++i)
    b_.CreateStore(values[i], b_.CreateStructGEP(closure_type, closure, i));
  llvm::Function* task = emit_task(loop, captured, closure_type);

  llvm::BasicBlock* through_executor = block("executor");
  llvm::BasicBlock* alone = block("alone");
  llvm::BasicBlock* done = block("parallel.end");
  llvm::Value* executor = b_.CreateLoad(
      pointer_type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), call, abi::call::kExecutor));
  b_.CreateCondBr(b_.CreateIsNull(executor), alone, through_executor);

  b_.SetInsertPoint(through_executor);
  llvm::Value* entry = b_.CreateLoad(
      pointer_type,
      b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), executor, abi::executor::kParallelFor));
  llvm::Type* i64 = b_.getInt64Ty();
  auto* run_type = llvm::FunctionType::get(
      b_.getInt32Ty(), {pointer_type, pointer_type, i64, i64, i64, pointer_type, pointer_type},
      false);
  llvm::Value* status_executor =
      b_.CreateCall(run_type, entry, {executor, call, lower, upper, b_.getInt64(1), task, closure});
  b_.CreateBr(done);

  b_.SetInsertPoint(alone);
  llvm::Value* status_alone = b_.CreateCall(task, {closure, b_.getInt32(0), lower, upper});
  b_.CreateBr(done);

  b_.SetInsertPoint(done);
  llvm::PHINode* status = b_.CreatePHI(b_.getInt32Ty(), 2);
  status->addIncoming(status_executor, through_executor);
  status->addIncoming(status_alone, alone);
  llvm::BasicBlock* failed = block("failed");
  llvm::BasicBlock* next = block("next");
  b_.CreateCondBr(b_.CreateICmpSLT(status, b_.getInt32(0)), failed, next);
  b_.SetInsertPoint(failed);
  return_failure(status, "a parallel loop was cancelled, or its executor failed");
  b_.SetInsertPoint(next);
}

llvm::Function* Emitter::emit_task(const program::For& loop, const std::vector<Capture>& captured,
                                   llvm::StructType* closure_type) {
  llvm::Type* i64 = b_.getInt64Ty();
  auto* type =
      llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy(), b_.getInt32Ty(), i64, i64}, false);
  const std::string name =
      std::string(state_.program.name.text()) + ".parallel" + std::to_string(state_.num_tasks++);
  llvm::Function* task = state_.make_function(type, name, false);
  llvm::BasicBlock::Create(state_.llvm, "entry", task);
  Emitter inner(state_, task);
  llvm::IRBuilder<>& b = inner.b_;
  llvm::Value* closure = task->getArg(0);
  auto member = [&](unsigned i) {
    auto* load =
        b.CreateLoad(closure_type->getElementType(i), b.CreateStructGEP(closure_type, closure, i));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(state_.llvm, {}));
    return load;
  };
  inner.call = member(0);
  inner.worker = task->getArg(1);
  llvm::Value* slice = b.CreateMul(b.CreateSExt(inner.worker, i64), member(2));
  inner.workspace = b.CreateGEP(b.getInt8Ty(), member(1), slice);
  for (const auto& [symbol, binding] : env_)
    if (binding.value.v && llvm::isa<llvm::Constant>(binding.value.v))
      inner.bind(symbol, binding.value);
  unsigned index = 3;
  for (std::size_t i = 0; i < captured.size();) {
    const Capture& capture = captured[i];
    llvm::Value* value = member(index++);
    ++i;
    if (!capture.is_buffer) {
      inner.bind(capture.name, {value, false});
      continue;
    }
    Buffer buffer = buffers_.at(capture.name);
    buffer.base = value;
    for (LaneIndex& stride : buffer.strides) {
      if (stride.variable == nullptr) continue;
      stride.variable = member(index++);
      ++i;
    }
    inner.buffers_[capture.name] = std::move(buffer);
  }
  auto blocks = inner.open_loop(task->getArg(2), task->getArg(3), llvm::StringRef(loop.var.text()));
  inner.poll_cancel();
  inner.bind(loop.var, {blocks.index, false});
  inner.emit(loop.body);
  inner.close_loop(blocks, task->getArg(3));
  b.CreateRet(b.getInt32(0));
  return task;
}

// Between iterations of a parallel loop, which are coarse.
void Emitter::poll_cancel() {
  llvm::Value* flag = b_.CreateLoad(
      b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), call, abi::call::kCancel));
  llvm::BasicBlock* poll = block("poll");
  llvm::BasicBlock* cancelled = block("cancelled");
  llvm::BasicBlock* go_on = block("go_on");
  b_.CreateCondBr(b_.CreateIsNull(flag), go_on, poll);
  b_.SetInsertPoint(poll);
  llvm::LoadInst* raised = b_.CreateAlignedLoad(b_.getInt32Ty(), flag, llvm::Align(4));
  raised->setAtomic(llvm::AtomicOrdering::Monotonic);
  b_.CreateCondBr(b_.CreateICmpEQ(raised, b_.getInt32(0)), go_on, cancelled);
  b_.SetInsertPoint(cancelled);
  b_.CreateRet(b_.getInt32(static_cast<std::uint32_t>(TILEWRIGHT_CANCELLED)));
  b_.SetInsertPoint(go_on);
}

void Emitter::return_failure(llvm::Value* status, std::string_view message) {
  llvm::Value* minus_one = b_.getInt32(~0U);
  b_.CreateRet(b_.CreateCall(state_.fail, {call, status, minus_one, minus_one, b_.getInt64(0),
                                           b_.getInt64(0), state_.text(message)}));
}

}  // namespace tilewright::llvm_wall
