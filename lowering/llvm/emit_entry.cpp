// SPDX-License-Identifier: Apache-2.0
//
// The checks of the contract, in its order, then what the entry is for.
#include "lowering/llvm/abi_wall.h"
#include "lowering/llvm/entry_wall.h"

namespace tilewright::llvm_wall {

namespace {

using program::Check;
using program::CheckKind;
using program::Parameter;

// A DLDataType of one lane as it lies in memory.
std::uint32_t type_word(ScalarType type) {
  const ir::TypeInfo& info = ir::type_info(type);
  return static_cast<unsigned>(info.dlpack_code) | static_cast<unsigned>(info.dlpack_bits) << 8U |
         1U << 16U;
}

}  // namespace

// The signature, and what its arguments are.
void Entry::declare() {
  llvm::LLVMContext& c = state_.llvm;
  auto* ptr = llvm::PointerType::getUnqual(c);
  auto* i64_type = llvm::Type::getInt64Ty(c);
  const auto n = static_cast<unsigned>(state_.program.parameters.size());
  std::vector<llvm::Type*> types(n + 2, ptr);
  std::string name(state_.program.name.text());
  auto linkage = llvm::GlobalValue::ExternalLinkage;
  switch (kind_) {
    case EntryKind::Run: types.push_back(i64_type); break;
    case EntryKind::Query: name += "_query"; break;
    case EntryKind::Table:
      name += ".table";
      linkage = llvm::GlobalValue::InternalLinkage;
      break;
    case EntryKind::Explain:
      types.insert(types.end(), {i64_type, ptr});
      name += "_explain";
      break;
    case EntryKind::PlanQuery:
      types.push_back(ptr);
      name += "_plan_query";
      break;
    case EntryKind::Plan:
      types.push_back(i64_type);
      name += "_plan";
      break;
    case EntryKind::RunPlanned:
      types.insert(types.end(), {i64_type, ptr, i64_type});
      name += "_run";
      break;
  }
  function_ =
      llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getInt32Ty(c), types, false),
                             linkage, name, state_.module);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  if (kind_ == EntryKind::Table || kind_ == EntryKind::Explain)
    for (auto attribute :
         {llvm::Attribute::NoInline, llvm::Attribute::Cold, llvm::Attribute::OptimizeForSize})
      function_->addFnAttr(attribute);
  llvm::BasicBlock::Create(c, "entry", function_);
  emitter_.emplace(state_, function_);
  emitter_->call = function_->getArg(0);
  tensors_.resize(n);
  for (unsigned p = 0; p < n; ++p) tensors_[p].descriptor = function_->getArg(1 + p);
  if (kind_ == EntryKind::Table) writer_ = function_->getArg(1 + n);
  if (kind_ == EntryKind::Run || kind_ == EntryKind::Query) workspace_ = function_->getArg(1 + n);
  if (kind_ == EntryKind::Run) workspace_size_ = function_->getArg(2 + n);
  if (program::takes_plan(kind_)) {
    plan_ = function_->getArg(1 + n);
    plan_size_ = function_->getArg(2 + n);
  }
  if (kind_ == EntryKind::PlanQuery) workspace_ = function_->getArg(2 + n);
  if (kind_ == EntryKind::RunPlanned) {
    workspace_ = function_->getArg(3 + n);
    workspace_size_ = function_->getArg(4 + n);
  }
}

llvm::Function* Entry::emit() {
  declare();
  if (kind_ == EntryKind::Explain) begin_explain();
  for (const Check& c : state_.contract.checks)
    if (program::makes_check(kind_, dispatch_, c)) check(c);
  finish();
  return function_;
}

void Entry::check(const Check& c) {
  switch (c.kind) {
    case CheckKind::Cpu:
      if (!state_.target.cpuid.empty() || state_.target.hwcap != 0)
        demand(b().CreateCall(emit_cpu_check(state_)), c);
      return;
    case CheckKind::Call: return check_call(c);
    case CheckKind::NotNull: return demand(b().CreateIsNotNull(tensors_[c.argument].descriptor), c);
    case CheckKind::Rank:
    case CheckKind::ElementType:
    case CheckKind::Device:
    case CheckKind::ShapeNotNull:
    case CheckKind::Alignment:
    case CheckKind::Writable: return check_tensor(c);
    case CheckKind::ExtentMin:
    case CheckKind::ExtentMax:
    case CheckKind::ExtentMultiple:
    case CheckKind::Shape: return check_extent(c);
    case CheckKind::Strides: return check_strides(c);
    case CheckKind::Bytes: return check_bytes(c);
    case CheckKind::Requires: {
      llvm::Value* overflow = nullptr;
      llvm::Value* holds = evaluate_checked(c.expr, &overflow);
      return demand(b().CreateAnd(holds, b().CreateNot(overflow)), c);
    }
    case CheckKind::Overlap: {
      const Tensor& x = tensors_[c.argument];
      const Tensor& y = tensors_[c.other];
      return demand(disjoint(x.data, x.bytes, y.data, y.bytes), c);
    }
    case CheckKind::WorkspaceSize:
    case CheckKind::WorkspaceAlignment:
    case CheckKind::WorkspaceOverlap: return check_workspace(c);
    case CheckKind::ValueRange:
    case CheckKind::RangeNotEmpty:
    case CheckKind::Monotone:
    case CheckKind::Injective: return check_values(c);
    case CheckKind::PlanSize:
    case CheckKind::PlanAlignment:
    case CheckKind::PlanOverlap:
    case CheckKind::PlanMagic:
    case CheckKind::PlanVariant:
    case CheckKind::PlanExtent: return check_plan(c);
  }
}

void Entry::demand(llvm::Value* ok, const Check& c, llvm::Value* expected, llvm::Value* got,
                   std::int32_t status) {
  llvm::BasicBlock* next = block("next");
  llvm::BasicBlock* failed = block("failed");
  b().CreateCondBr(ok, next, failed, llvm::MDBuilder(state_.llvm).createLikelyBranchWeights());
  b().SetInsertPoint(failed);
  if (status == 0) status = program::status_of(c.kind);
  llvm::Value* zero = i64(0);
  if (kind_ == EntryKind::Table) {
    b().CreateRet(b().getInt32(static_cast<std::uint32_t>(status)));
    b().SetInsertPoint(next);
    return;
  }
  if (kind_ == EntryKind::Explain) put_refusal(c, expected, got, status);
  b().CreateRet(b().CreateCall(
      state_.fail,
      {emitter_->call, b().getInt32(static_cast<std::uint32_t>(status)),
       b().getInt32(static_cast<std::uint32_t>(c.argument)),
       b().getInt32(static_cast<std::uint32_t>(c.dimension)), expected ? widen(expected) : zero,
       got ? widen(got) : zero, state_.text(program::check_text(c.kind))}));
  b().SetInsertPoint(next);
}

// A structure of the caller: large enough, and what is reserved is zero.
void Entry::check_structure(const Check& c, llvm::Value* base, std::size_t size,
                            std::span<const std::size_t> zero_words) {
  llvm::Value* its_size = field(base, 0, b().getInt32Ty());
  demand(b().CreateICmpUGE(its_size, b().getInt32(static_cast<std::uint32_t>(size))), c,
         i64(static_cast<std::int64_t>(size)), its_size);
  llvm::Value* all = nullptr;
  for (std::size_t offset : zero_words) {
    llvm::Value* word = field(base, offset, b().getInt64Ty());
    all = all ? b().CreateOr(all, word) : word;
  }
  if (all) demand(b().CreateICmpEQ(all, i64(0)), c);
}

void Entry::check_call(const Check& c) {
  llvm::Value* call = function_->getArg(0);
  auto* ptr = b().getPtrTy();
  auto* i32 = b().getInt32Ty();
  // Until the error detail has been seen to be good, a failure must not be written to it.
  emitter_->call = llvm::ConstantPointerNull::get(ptr);
  demand(b().CreateIsNotNull(call), c, nullptr, nullptr, TILEWRIGHT_NULL_ARGUMENT);
  llvm::Value* its_size = field(call, 0, i32);
  demand(b().CreateICmpUGE(its_size, b().getInt32(abi::call::kSize)), c);
  llvm::Value* error = field(call, abi::call::kError, ptr);
  llvm::BasicBlock* present = block("error");
  llvm::BasicBlock* checked = block("checked");
  b().CreateCondBr(b().CreateIsNull(error), checked, present);
  b().SetInsertPoint(present);
  demand(b().CreateICmpUGE(field(error, 0, i32), b().getInt32(abi::error::kSize)), c);
  b().CreateBr(checked);
  b().SetInsertPoint(checked);
  emitter_->call = call;
  demand(b().CreateICmpEQ(field(call, abi::call::kFlags, i32), b().getInt32(0)), c);
  const std::size_t r = abi::call::kReserved;
  check_structure(c, call, abi::call::kSize, std::array<std::size_t, 4>{r, r + 8, r + 16, r + 24});

  llvm::Value* executor = field(call, abi::call::kExecutor, ptr);
  llvm::BasicBlock* before = b().GetInsertBlock();
  llvm::BasicBlock* with = block("executor");
  llvm::BasicBlock* after = block("call.ok");
  b().CreateCondBr(b().CreateIsNull(executor), after, with);
  b().SetInsertPoint(with);
  const std::size_t e = abi::executor::kReserved;
  check_structure(c, executor, abi::executor::kSize, std::array<std::size_t, 2>{e, e + 8});
  demand(b().CreateIsNotNull(field(executor, abi::executor::kParallelFor, ptr)), c);
  llvm::Value* workers = field(executor, abi::executor::kNumWorkers, i32);
  demand(b().CreateICmpSGE(workers, b().getInt32(1)), c, i64(1), workers);
  llvm::BasicBlock* end = b().GetInsertBlock();
  b().CreateBr(after);
  b().SetInsertPoint(after);
  llvm::PHINode* phi = b().CreatePHI(i32, 2, "workers");
  phi->addIncoming(b().getInt32(1), before);
  phi->addIncoming(workers, end);
  emitter_->bind(state_.contract.workspace.workers, {b().CreateSExt(phi, b().getInt64Ty()), false});
}

void Entry::check_tensor(const Check& c) {
  Tensor& tensor = tensors_[c.argument];
  auto* i32 = b().getInt32Ty();
  switch (c.kind) {
    case CheckKind::Rank: {
      llvm::Value* rank = field(tensor.descriptor, abi::tensor::kRank, i32);
      return demand(b().CreateICmpEQ(rank, b().getInt32(static_cast<std::uint32_t>(c.value))), c,
                    i64(c.value), rank);
    }
    case CheckKind::ElementType: {
      const std::uint32_t word = type_word(parameter(c).type);
      llvm::Value* got = field(tensor.descriptor, abi::tensor::kType, i32);
      return demand(b().CreateICmpEQ(got, b().getInt32(word)), c, i64(word), got);
    }
    case CheckKind::Device: {
      llvm::Value* got = field(tensor.descriptor, abi::tensor::kDevice, i32);
      return demand(b().CreateICmpEQ(got, b().getInt32(kDLCPU)), c, i64(kDLCPU), got);
    }
    case CheckKind::ShapeNotNull: {
      llvm::Value* shape = field(tensor.descriptor, abi::tensor::kShape, b().getPtrTy());
      demand(b().CreateIsNotNull(shape), c);
      for (std::size_t d = 0; d < parameter(c).shape.size(); ++d)
        tensor.dims.push_back(field(shape, 8 * d, b().getInt64Ty()));
      return;
    }
    case CheckKind::Alignment: {
      llvm::Value* address = b().CreatePtrToInt(tensor.data, b().getInt64Ty());
      llvm::Value* rest = b().CreateAnd(address, i64(c.value - 1));
      return demand(b().CreateICmpEQ(rest, i64(0)), c, i64(c.value), rest);
    }
    default: {
      llvm::Value* flags = field(tensor.descriptor, abi::tensor::kFlags, i32);
      llvm::Value* read_only = b().CreateAnd(flags, b().getInt32(TILEWRIGHT_TENSOR_READ_ONLY));
      return demand(b().CreateICmpEQ(read_only, b().getInt32(0)), c);
    }
  }
}

llvm::Value* Entry::evaluate_checked(Expr expr, llvm::Value** overflow) {
  return emitter_->evaluate_alone(expr, overflow);
}

void Entry::check_extent(const Check& c) {
  llvm::Value* got = tensors_[c.argument].dims[c.dimension];
  switch (c.kind) {
    case CheckKind::ExtentMin: {
      const Symbol name = c.expr.as<ir::Extent>()->name;
      extents_[name] = got;
      emitter_->bind(name, {got, false});
      return demand(b().CreateICmpSGE(got, i64(c.value)), c, i64(c.value), got);
    }
    case CheckKind::ExtentMax:
      return demand(b().CreateICmpSLE(got, i64(c.value)), c, i64(c.value), got);
    case CheckKind::ExtentMultiple:
      return demand(b().CreateICmpEQ(b().CreateURem(got, i64(c.value)), i64(0)), c, i64(c.value),
                    got);
    default: {
      llvm::Value* overflow = nullptr;
      llvm::Value* expected = evaluate_checked(c.expr, &overflow);
      llvm::Value* same = b().CreateAnd(b().CreateICmpEQ(got, expected), b().CreateNot(overflow));
      return demand(b().CreateAnd(same, b().CreateICmpSGE(got, i64(0))), c, expected, got);
    }
  }
}

// The extent; of the last axis of a packed tensor, the bytes of a row.
llvm::Value* Entry::row_bytes(const Check& c, std::size_t d) {
  llvm::Value* dim = tensors_[c.argument].dims[d];
  const int per_byte = ir::elements_per_byte(parameter(c).type);
  if (per_byte == 1 || d + 1 < tensors_[c.argument].dims.size()) return dim;
  // Rounded up without leaving 64 bits.
  llvm::Value* rest = b().CreateURem(dim, i64(per_byte));
  llvm::Value* whole = b().CreateUDiv(dim, i64(per_byte));
  return b().CreateAdd(whole, b().CreateZExt(b().CreateICmpNE(rest, i64(0)), b().getInt64Ty()));
}

// The extent in elements, a row of a packed tensor up to its last byte.
llvm::Value* Entry::whole_bytes(const Check& c, std::size_t d) {
  llvm::Value* dim = tensors_[c.argument].dims[d];
  const int per_byte = ir::elements_per_byte(parameter(c).type);
  if (per_byte == 1 || d + 1 < tensors_[c.argument].dims.size()) return dim;
  return b().CreateMul(row_bytes(c, d), i64(per_byte));
}

// Strides of dimensions with one element, and of a tensor without elements, say nothing.
void Entry::check_strides(const Check& c) {
  const Tensor& tensor = tensors_[c.argument];
  if (tensor.dims.empty()) return;
  llvm::Value* strides = field(tensor.descriptor, abi::tensor::kStrides, b().getPtrTy());
  llvm::BasicBlock* present = block("strides");
  llvm::BasicBlock* after = block("strides.ok");
  b().CreateCondBr(b().CreateIsNull(strides), after, present);
  b().SetInsertPoint(present);
  llvm::Value* empty = b().getFalse();
  for (llvm::Value* dim : tensor.dims) empty = b().CreateOr(empty, b().CreateICmpEQ(dim, i64(0)));
  llvm::Value* compact = i64(1);
  for (std::size_t d = tensor.dims.size(); d-- > 0;) {
    llvm::Value* got = field(strides, 8 * d, b().getInt64Ty());
    llvm::Value* free = b().CreateOr(empty, b().CreateICmpEQ(tensor.dims[d], i64(1)));
    Check at = c;
    at.dimension = static_cast<int>(d);
    demand(b().CreateOr(free, b().CreateICmpEQ(got, compact)), at, compact, got);
    compact = b().CreateMul(compact, whole_bytes(c, d));
  }
  b().CreateBr(after);
  b().SetInsertPoint(after);
}

void Entry::check_bytes(const Check& c) {
  Tensor& tensor = tensors_[c.argument];
  llvm::Value* overflow = b().getFalse();
  llvm::Value* capacity = i64(c.value * program::kByteHeadroom);
  llvm::Value* bytes = i64(c.value);
  for (std::size_t d = 0; d < tensor.dims.size(); ++d) {
    llvm::Value* dim = row_bytes(c, d);
    // A zero elsewhere must not hide an extent that overflows.
    llvm::Value* positive = b().CreateSelect(b().CreateICmpEQ(dim, i64(0)), i64(1), dim);
    llvm::Value* pair =
        b().CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, capacity, positive);
    overflow = b().CreateOr(overflow, b().CreateExtractValue(pair, 1));
    capacity = b().CreateExtractValue(pair, 0);
    bytes = b().CreateMul(bytes, dim);
  }
  demand(b().CreateNot(overflow), c);
  llvm::Value* offset = field(tensor.descriptor, abi::tensor::kByteOffset, b().getInt64Ty());
  llvm::Value* limit = field(tensor.descriptor, abi::tensor::kSizeBytes, b().getInt64Ty());
  llvm::Value* end = b().CreateAdd(offset, bytes);
  llvm::Value* fits = b().CreateAnd(b().CreateICmpULE(end, limit), b().CreateICmpUGE(end, offset));
  demand(b().CreateOr(b().CreateICmpEQ(limit, i64(0)), fits), c, end, limit);
  tensor.bytes = bytes;
  if (!needs_data(c.argument)) {
    tensor.data = llvm::ConstantPointerNull::get(b().getPtrTy());
    return;
  }
  llvm::Value* data = field(tensor.descriptor, abi::tensor::kData, b().getPtrTy());
  llvm::Value* there = b().CreateOr(b().CreateIsNotNull(data), b().CreateICmpEQ(bytes, i64(0)));
  demand(there, c, nullptr, nullptr, TILEWRIGHT_NULL_ARGUMENT);
  tensor.data = b().CreateGEP(b().getInt8Ty(), data, offset);
}

llvm::Value* Entry::disjoint(llvm::Value* x, llvm::Value* x_bytes, llvm::Value* y,
                             llvm::Value* y_bytes) {
  llvm::Value* a = b().CreatePtrToInt(x, b().getInt64Ty());
  llvm::Value* c = b().CreatePtrToInt(y, b().getInt64Ty());
  llvm::Value* apart = b().CreateOr(b().CreateICmpULE(b().CreateAdd(a, x_bytes), c),
                                    b().CreateICmpULE(b().CreateAdd(c, y_bytes), a));
  llvm::Value* empty =
      b().CreateOr(b().CreateICmpEQ(x_bytes, i64(0)), b().CreateICmpEQ(y_bytes, i64(0)));
  return b().CreateOr(apart, empty);
}

void Entry::check_workspace(const Check& c) {
  if (state_.contract.workspace.total == state_.context.index(0)) return;
  choose();
  llvm::Value* none = b().CreateICmpEQ(needed_, i64(0));
  switch (c.kind) {
    case CheckKind::WorkspaceSize: {
      demand(b().CreateNot(overflow_), c, nullptr, nullptr, TILEWRIGHT_OUT_OF_BOUNDS);
      if (kind_ == EntryKind::Explain) return;
      llvm::Value* enough = b().CreateAnd(b().CreateIsNotNull(workspace_),
                                          b().CreateICmpUGE(workspace_size_, needed_));
      return demand(b().CreateOr(none, enough), c, needed_, workspace_size_);
    }
    case CheckKind::WorkspaceAlignment: {
      llvm::Value* address = b().CreatePtrToInt(workspace_, b().getInt64Ty());
      llvm::Value* rest = b().CreateAnd(address, i64(c.value - 1));
      return demand(b().CreateOr(none, b().CreateICmpEQ(rest, i64(0))), c, i64(c.value), rest);
    }
    default: {
      const Tensor& tensor = tensors_[c.argument];
      return demand(disjoint(workspace_, needed_, tensor.data, tensor.bytes), c);
    }
  }
}

void Entry::check_values(const Check& c) {
  const Tensor& tensor = tensors_[c.argument];
  llvm::Value* lower = i64(0);
  llvm::Value* upper = i64(0);
  if (c.expr) {
    llvm::Value* overflow = nullptr;
    llvm::Value* overflow_too = nullptr;
    lower = evaluate_checked(c.expr, &overflow);
    upper = evaluate_checked(c.other_expr, &overflow_too);
    demand(b().CreateNot(b().CreateOr(overflow, overflow_too)), c, nullptr, nullptr,
           TILEWRIGHT_OUT_OF_BOUNDS);
  }
  if (c.kind == CheckKind::RangeNotEmpty) {
    llvm::Value* nothing = b().CreateICmpEQ(tensor.bytes, i64(0));
    return demand(b().CreateOr(nothing, b().CreateICmpSLT(lower, upper)), c, lower, upper);
  }
  const std::int64_t size = ir::size_bytes(parameter(c).type);
  llvm::Value* count = b().CreateUDiv(tensor.bytes, i64(size));
  llvm::Value* row = tensor.dims.empty() ? i64(1) : tensor.dims.back();
  llvm::Function* search = make_value_check(state_, c.kind, parameter(c).type, c.argument);
  llvm::Value* memory = workspace_ ? workspace_ : llvm::ConstantPointerNull::get(b().getPtrTy());
  llvm::Value* found = b().CreateCall(search, {tensor.data, count, row, lower, upper, memory});
  demand(b().CreateICmpSLT(found, i64(0)), c, upper, found);
}

void Entry::finish() {
  choose();
  switch (kind_) {
    case EntryKind::Run:
    case EntryKind::RunPlanned:
    case EntryKind::Plan: return run_chosen();
    case EntryKind::PlanQuery: {
      llvm::Value* both =
          b().CreateAnd(b().CreateIsNotNull(plan_), b().CreateIsNotNull(workspace_));
      demand(both, {CheckKind::NotNull, -1, -1, -1, 0, {}, true});
      demand(b().CreateNot(b().CreateOr(overflow_, plan_overflow_)),
             {CheckKind::PlanSize, -1, -1, -1, 0, {}, true}, nullptr, nullptr,
             TILEWRIGHT_OUT_OF_BOUNDS);
      b().CreateStore(plan_needed_, plan_);
      b().CreateStore(needed_, workspace_);
      break;
    }
    case EntryKind::Query: {
      demand(b().CreateIsNotNull(workspace_), {CheckKind::NotNull, -1, -1, -1, 0, {}, true});
      demand(b().CreateNot(overflow_), {CheckKind::WorkspaceSize, -1, -1, -1, 0, {}, true}, nullptr,
             nullptr, TILEWRIGHT_OUT_OF_BOUNDS);
      b().CreateStore(needed_, workspace_);
      break;
    }
    case EntryKind::Table: put_table(); break;
    case EntryKind::Explain:
      b().CreateCall(callees_.writer.finish,
                     {writer_, function_->getArg(static_cast<unsigned>(tensors_.size()) + 3)});
      break;
  }
  b().CreateRet(b().getInt32(0));
}

}  // namespace tilewright::llvm_wall
