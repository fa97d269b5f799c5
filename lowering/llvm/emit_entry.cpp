// SPDX-License-Identifier: Apache-2.0
//
// NAME and NAME_query: the checks of the contract in its order, then the kernel. Laws: no check touches what
// an earlier one has not made safe; nothing is written before the last check has passed; the entry runs on
// the base of its architecture, so that an old processor gets a status and not an illegal instruction.
#include "lowering/llvm/abi_wall.h"
#include "lowering/llvm/emit_wall.h"

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

std::int32_t status_of(CheckKind kind) {
  switch (kind) {
    case CheckKind::Cpu: return TILEWRIGHT_UNSUPPORTED_CPU;
    case CheckKind::Call: return TILEWRIGHT_BAD_CALL;
    case CheckKind::NotNull:
    case CheckKind::ShapeNotNull: return TILEWRIGHT_NULL_ARGUMENT;
    case CheckKind::Rank: return TILEWRIGHT_WRONG_RANK;
    case CheckKind::ElementType: return TILEWRIGHT_WRONG_TYPE;
    case CheckKind::Device: return TILEWRIGHT_WRONG_DEVICE;
    case CheckKind::ExtentMin:
    case CheckKind::ExtentMax:
    case CheckKind::ExtentMultiple:
    case CheckKind::Shape: return TILEWRIGHT_WRONG_SHAPE;
    case CheckKind::Strides: return TILEWRIGHT_UNSUPPORTED_STRIDES;
    case CheckKind::Bytes: return TILEWRIGHT_OUT_OF_BOUNDS;
    case CheckKind::Alignment: return TILEWRIGHT_MISALIGNED;
    case CheckKind::Writable: return TILEWRIGHT_READ_ONLY;
    case CheckKind::Requires: return TILEWRIGHT_REQUIRES_VIOLATED;
    case CheckKind::Overlap:
    case CheckKind::WorkspaceOverlap: return TILEWRIGHT_OVERLAP;
    case CheckKind::WorkspaceSize: return TILEWRIGHT_WORKSPACE_TOO_SMALL;
    case CheckKind::WorkspaceAlignment: return TILEWRIGHT_WORKSPACE_MISALIGNED;
    case CheckKind::ValueRange:
    case CheckKind::RangeNotEmpty:
    case CheckKind::Monotone:
    case CheckKind::Injective: return TILEWRIGHT_BAD_VALUES;
  }
  __builtin_unreachable();
}

// Emits the checks of one entry function.
class Entry {
 public:
  Entry(ModuleState& state, bool is_query, llvm::Function* kernel)
      : state_(state), is_query_(is_query), kernel_(kernel) {}

  void emit();

 private:
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
  const Parameter& parameter(const Check& check) const {
    return state_.program.parameters[check.argument];
  }

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
  llvm::Value* disjoint(llvm::Value* a, llvm::Value* a_bytes, llvm::Value* b, llvm::Value* b_bytes);
  llvm::Value* evaluate_checked(Expr expr, llvm::Value** overflow);
  void finish();

  ModuleState& state_;
  bool is_query_;
  llvm::Function* kernel_;
  llvm::Function* function_ = nullptr;
  std::optional<Emitter> emitter_;
  std::vector<Tensor> tensors_;
  std::unordered_map<Symbol, llvm::Value*> extents_;
  llvm::Value* workspace_ = nullptr;
  llvm::Value* workspace_size_ = nullptr;
  llvm::Value* needed_ = nullptr;
};

void Entry::emit() {
  llvm::LLVMContext& c = state_.llvm;
  auto* ptr = llvm::PointerType::getUnqual(c);
  auto* i64_type = llvm::Type::getInt64Ty(c);
  const auto n = static_cast<unsigned>(state_.program.parameters.size());
  std::vector<llvm::Type*> types(n + 2, ptr);
  if (!is_query_) types.push_back(i64_type);
  const std::string name = std::string(state_.program.name.text()) + (is_query_ ? "_query" : "");
  function_ =
      llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getInt32Ty(c), types, false),
                             llvm::GlobalValue::ExternalLinkage, name, state_.module);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::BasicBlock::Create(c, "entry", function_);
  emitter_.emplace(state_, function_);
  emitter_->call = function_->getArg(0);
  tensors_.resize(n);
  for (unsigned p = 0; p < n; ++p) tensors_[p].descriptor = function_->getArg(1 + p);
  workspace_ = function_->getArg(1 + n);
  if (!is_query_) workspace_size_ = function_->getArg(2 + n);
  for (const Check& c_ : state_.contract.checks)
    if (!is_query_ || c_.in_query) check(c_);
  finish();
}

void Entry::check(const Check& c) {
  switch (c.kind) {
    case CheckKind::Cpu:
      if (!is_query_ && (!state_.target.cpuid.empty() || state_.target.hwcap != 0))
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
  }
}

void Entry::demand(llvm::Value* ok, const Check& c, llvm::Value* expected, llvm::Value* got,
                   std::int32_t status) {
  llvm::BasicBlock* next = llvm::BasicBlock::Create(state_.llvm, "next", function_);
  llvm::BasicBlock* failed = llvm::BasicBlock::Create(state_.llvm, "failed", function_);
  b().CreateCondBr(ok, next, failed, llvm::MDBuilder(state_.llvm).createLikelyBranchWeights());
  b().SetInsertPoint(failed);
  if (status == 0) status = status_of(c.kind);
  llvm::Value* zero = i64(0);
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
  llvm::BasicBlock* present = llvm::BasicBlock::Create(state_.llvm, "error", function_);
  llvm::BasicBlock* checked = llvm::BasicBlock::Create(state_.llvm, "checked", function_);
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
  llvm::BasicBlock* with = llvm::BasicBlock::Create(state_.llvm, "executor", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(state_.llvm, "call.ok", function_);
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
  llvm::BasicBlock* present = llvm::BasicBlock::Create(state_.llvm, "strides", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(state_.llvm, "strides.ok", function_);
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
  if (is_query_) return;
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
  llvm::Value* none = b().CreateICmpEQ(needed_ ? needed_ : i64(0), i64(0));
  switch (c.kind) {
    case CheckKind::WorkspaceSize: {
      llvm::Value* overflow = nullptr;
      needed_ = evaluate_checked(state_.contract.workspace.total, &overflow);
      demand(b().CreateNot(overflow), c, nullptr, nullptr, TILEWRIGHT_OUT_OF_BOUNDS);
      llvm::Value* enough = b().CreateAnd(b().CreateIsNotNull(workspace_),
                                          b().CreateICmpUGE(workspace_size_, needed_));
      return demand(b().CreateOr(b().CreateICmpEQ(needed_, i64(0)), enough), c, needed_,
                    workspace_size_);
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
  llvm::Value* found = b().CreateCall(search, {tensor.data, count, row, lower, upper, workspace_});
  demand(b().CreateICmpSLT(found, i64(0)), c, upper, found);
}

void Entry::finish() {
  if (is_query_) {
    Check missing{CheckKind::NotNull, -1, -1, -1, 0, {}, true};
    demand(b().CreateIsNotNull(workspace_), missing);
    llvm::Value* overflow = nullptr;
    llvm::Value* total = evaluate_checked(state_.contract.workspace.total, &overflow);
    Check size{CheckKind::WorkspaceSize, -1, -1, -1, 0, {}, true};
    demand(b().CreateNot(overflow), size, nullptr, nullptr, TILEWRIGHT_OUT_OF_BOUNDS);
    b().CreateStore(total, workspace_);
    b().CreateRet(b().getInt32(0));
    return;
  }
  std::vector<llvm::Value*> args{emitter_->call, workspace_};
  for (const Tensor& tensor : tensors_) args.push_back(tensor.data);
  for (const ir::ExtentDecl& extent : state_.program.extents)
    args.push_back(extents_.at(extent.name));
  b().CreateRet(b().CreateCall(kernel_, args));
}

// int32 fail(call, status, argument, dimension, expected, got, text): fills call->error, gives the status.
llvm::Function* make_fail(ModuleState& state) {
  llvm::LLVMContext& c = state.llvm;
  auto* ptr = llvm::PointerType::getUnqual(c);
  auto* i32 = llvm::Type::getInt32Ty(c);
  auto* i64 = llvm::Type::getInt64Ty(c);
  auto* function = llvm::Function::Create(
      llvm::FunctionType::get(i32, {ptr, i32, i32, i32, i64, i64, ptr}, false),
      llvm::GlobalValue::InternalLinkage, std::string(state.program.name.text()) + ".fail",
      state.module);
  for (auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind,
                         llvm::Attribute::Cold, llvm::Attribute::OptimizeForSize})
    function->addFnAttr(attribute);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(c, "entry", function));
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(c, name, function); };
  auto at = [&](llvm::Value* base, std::size_t offset) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
  };
  llvm::BasicBlock* with_call = block("call");
  llvm::BasicBlock* fill = block("fill");
  llvm::BasicBlock* done = block("done");
  b.CreateCondBr(b.CreateIsNull(function->getArg(0)), done, with_call);
  b.SetInsertPoint(with_call);
  llvm::Value* error = b.CreateLoad(ptr, at(function->getArg(0), abi::call::kError));
  b.CreateCondBr(b.CreateIsNull(error), done, fill);
  b.SetInsertPoint(fill);
  b.CreateStore(function->getArg(1), at(error, abi::error::kStatus));
  b.CreateStore(function->getArg(2), at(error, abi::error::kArgument));
  b.CreateStore(function->getArg(3), at(error, abi::error::kDimension));
  b.CreateStore(function->getArg(4), at(error, abi::error::kExpected));
  b.CreateStore(function->getArg(5), at(error, abi::error::kGot));
  // Byte loops: a library references no memcpy. The texts are ours and fit.
  auto copy = [&](llvm::Value* from, std::size_t offset, std::size_t size) {
    llvm::BasicBlock* before = b.GetInsertBlock();
    llvm::BasicBlock* loop = block("copy");
    llvm::BasicBlock* end = block("copied");
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    llvm::PHINode* i = b.CreatePHI(i64, 2);
    i->addIncoming(b.getInt64(0), before);
    llvm::Value* byte = b.CreateLoad(b.getInt8Ty(), b.CreateGEP(b.getInt8Ty(), from, i));
    llvm::Value* last = b.CreateICmpEQ(i, b.getInt64(size - 1));
    llvm::Value* kept = b.CreateSelect(last, b.getInt8(0), byte);
    b.CreateStore(kept, b.CreateGEP(b.getInt8Ty(), at(error, offset), i));
    llvm::Value* next = b.CreateAdd(i, b.getInt64(1));
    i->addIncoming(next, loop);
    b.CreateCondBr(b.CreateICmpEQ(kept, b.getInt8(0)), end, loop);
    b.SetInsertPoint(end);
  };
  copy(state.text(state.program.name.text()), abi::error::kFunction, abi::error::kFunctionSize);
  copy(function->getArg(6), abi::error::kMessage, abi::error::kMessageSize);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRet(function->getArg(1));
  return function;
}

// The kernel: arguments are checked, so pointers are disjoint and extents in range.
llvm::Function* make_kernel(ModuleState& state) {
  llvm::LLVMContext& c = state.llvm;
  auto* ptr = llvm::PointerType::getUnqual(c);
  auto* i64 = llvm::Type::getInt64Ty(c);
  const auto& program = state.program;
  std::vector<llvm::Type*> types(2 + program.parameters.size(), ptr);
  types.insert(types.end(), program.extents.size(), i64);
  llvm::Function* kernel =
      state.make_function(llvm::FunctionType::get(llvm::Type::getInt32Ty(c), types, false),
                          std::string(program.name.text()) + ".kernel", false);
  llvm::BasicBlock::Create(c, "entry", kernel);
  Emitter emitter(state, kernel);
  emitter.call = kernel->getArg(0);
  emitter.workspace = kernel->getArg(1);
  kernel->addParamAttr(1, llvm::Attribute::NoAlias);
  unsigned arg = 2;
  const auto first_extent = static_cast<unsigned>(2 + program.parameters.size());
  for (std::size_t e = 0; e < program.extents.size(); ++e)
    emitter.bind(program.extents[e].name,
                 {kernel->getArg(first_extent + static_cast<unsigned>(e)), false});
  llvm::IRBuilder<>& b = emitter.builder();
  llvm::Value* executor = b.CreateLoad(
      ptr, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), emitter.call, abi::call::kExecutor));
  llvm::BasicBlock* with = llvm::BasicBlock::Create(c, "executor", kernel);
  llvm::BasicBlock* start = llvm::BasicBlock::Create(c, "start", kernel);
  llvm::BasicBlock* before = b.GetInsertBlock();
  b.CreateCondBr(b.CreateIsNull(executor), start, with);
  b.SetInsertPoint(with);
  llvm::Value* count = b.CreateLoad(
      b.getInt32Ty(),
      b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), executor, abi::executor::kNumWorkers));
  b.CreateBr(start);
  b.SetInsertPoint(start);
  llvm::PHINode* workers = b.CreatePHI(b.getInt32Ty(), 2, "workers");
  workers->addIncoming(b.getInt32(1), before);
  workers->addIncoming(count, with);
  emitter.bind(state.contract.workspace.workers, {b.CreateSExt(workers, b.getInt64Ty()), false});
  auto part = state.parts.parameters.begin();
  for (const Parameter& parameter : program.parameters) {
    llvm::Value* base = kernel->getArg(arg);
    kernel->addParamAttr(arg, llvm::Attribute::NoAlias);
    if (!parameter.is_output) kernel->addParamAttr(arg, llvm::Attribute::ReadOnly);
    // Real and imaginary parts lie in turn.
    const int parts = ir::scalars_of(parameter.type);
    for (int p = 0; p < parts; ++p, ++part) {
      Buffer buffer;
      buffer.type = part->type;
      buffer.base = p == 0 ? base
                           : b.CreateConstGEP1_64(storage_type(c, part->type), base,
                                                  static_cast<std::uint64_t>(p));
      std::tie(buffer.scope, buffer.disjoint) = state.alias.at(part->name);
      buffer.per_byte = ir::elements_per_byte(part->type);
      buffer.strides = emitter.parameter_strides(*part, parts);
      emitter.bind_buffer(part->name, std::move(buffer));
    }
    ++arg;
  }
  emitter.emit(state.parts.body);
  b.CreateRet(b.getInt32(0));
  return kernel;
}

}  // namespace

void emit_library_function(ModuleState& state) {
  state.fail = make_fail(state);
  state.build_alias_scopes();
  llvm::Function* kernel = make_kernel(state);
  if (state.error) return;
  Entry(state, false, kernel).emit();
  Entry(state, true, nullptr).emit();
}

}  // namespace tilewright::llvm_wall
