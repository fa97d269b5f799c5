// SPDX-License-Identifier: Apache-2.0
//
// The functions of a library: a kernel for each variant, and the entries that judge a call and choose one.
#include "lowering/llvm/abi_wall.h"
#include "lowering/llvm/entry_wall.h"

namespace tilewright::llvm_wall {

namespace {

using program::Parameter;

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
  llvm::Function* kernel = state.make_function(
      llvm::FunctionType::get(llvm::Type::getInt32Ty(c), types, false), state.kernel_name(), false);
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

void emit_library(ModuleState& interface, const program::Dispatch& dispatch,
                  std::vector<VariantStates>& variants) {
  interface.fail = make_fail(interface);
  const auto kernel_of = [&](std::optional<ModuleState>& state) -> llvm::Function* {
    if (!state) return nullptr;
    state->fail = interface.fail;
    state->build_alias_scopes();
    llvm::Function* kernel = make_kernel(*state);
    if (state->error && !interface.error) interface.error = state->error;
    return kernel;
  };
  std::vector<Kernels> kernels;
  for (VariantStates& variant : variants)
    kernels.push_back({kernel_of(variant.whole), kernel_of(variant.plan), kernel_of(variant.run)});
  if (interface.error) return;
  Entry(interface, dispatch, EntryKind::Run, {kernels, nullptr, {}}).emit();
  Entry(interface, dispatch, EntryKind::Query, {}).emit();
  const TextWriter writer = make_text_writer(interface);
  llvm::Function* table =
      Entry(interface, dispatch, EntryKind::Table, {{}, nullptr, writer}).emit();
  Entry(interface, dispatch, EntryKind::Explain, {{}, table, writer}).emit();
  if (!dispatch.has_plan()) return;
  Entry(interface, dispatch, EntryKind::PlanQuery, {}).emit();
  Entry(interface, dispatch, EntryKind::Plan, {kernels, nullptr, {}}).emit();
  Entry(interface, dispatch, EntryKind::RunPlanned, {kernels, nullptr, {}}).emit();
}

}  // namespace tilewright::llvm_wall
