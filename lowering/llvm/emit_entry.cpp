// SPDX-License-Identifier: Apache-2.0
//
// The checks of the contract, in its order, and the choice of a variant.
#include <functional>

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
  if (kind_ >= EntryKind::PlanQuery) {
    plan_ = function_->getArg(1 + n);
    plan_size_ = function_->getArg(2 + n);
  }
  if (kind_ == EntryKind::PlanQuery) workspace_ = function_->getArg(2 + n);
  if (kind_ == EntryKind::RunPlanned) {
    workspace_ = function_->getArg(3 + n);
    workspace_size_ = function_->getArg(4 + n);
  }
}

bool Entry::needs_data(int argument) const {
  const Parameter& of = state_.program.parameters[static_cast<std::size_t>(argument)];
  switch (kind_) {
    case EntryKind::Query:
    case EntryKind::Table:
    case EntryKind::PlanQuery: return false;
    case EntryKind::Run:
    case EntryKind::Explain: return true;
    case EntryKind::Plan: return of.is_const;
    case EntryKind::RunPlanned: return dispatch_.run_reads(of);
  }
  __builtin_unreachable();
}

bool Entry::makes(const Check& c) const {
  const bool of_plan = program::is_plan_check(c.kind);
  const bool has_data = c.argument < 0 || needs_data(c.argument);
  switch (kind_) {
    case EntryKind::Run: return !of_plan;
    case EntryKind::Query:
    case EntryKind::Table:
    case EntryKind::PlanQuery: return c.in_query;
    case EntryKind::Plan:
      if (c.kind == CheckKind::PlanOverlap) return c.argument >= 0 && has_data;
      return c.in_query || c.kind == CheckKind::Cpu || c.kind == CheckKind::PlanSize ||
             c.kind == CheckKind::PlanAlignment ||
             (has_data && (c.kind == CheckKind::Strides || c.kind == CheckKind::Alignment ||
                           c.kind == CheckKind::ValueRange || c.kind == CheckKind::RangeNotEmpty ||
                           c.kind == CheckKind::Monotone));
    case EntryKind::RunPlanned:
      return c.in_query || (has_data && (c.other < 0 || needs_data(c.other)));
    case EntryKind::Explain:
      if (of_plan) return false;
      return c.kind != CheckKind::WorkspaceAlignment && c.kind != CheckKind::WorkspaceOverlap &&
             c.kind != CheckKind::Injective;
  }
  __builtin_unreachable();
}

llvm::Function* Entry::emit() {
  declare();
  if (kind_ == EntryKind::Explain) begin_explain();
  for (const Check& c : state_.contract.checks)
    if (makes(c)) check(c);
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
  emitter_->check_overflow(b().getFalse());
  llvm::Value* value = emitter_->evaluate_uniform(expr);
  *overflow = emitter_->overflow();
  emitter_->check_overflow(nullptr);
  return value;
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
  llvm::Value* capacity = i64(c.value);
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
    const bool with_plan = variant.planned && kind_ >= EntryKind::PlanQuery;
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
          data = b().CreateGEP(b().getInt8Ty(), buffers, emitter_->evaluate_uniform(buffer.offset));
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
        b().CreateGEP(b().getInt8Ty(), workspace_, emitter_->evaluate_uniform(planned->bytes));
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
