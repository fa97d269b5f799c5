// SPDX-License-Identifier: Apache-2.0
//
// The LLVM pipeline: emit, verify, optimise, generate. A short list of passes: the schedule has decided what
// LLVM's loop passes would guess at, and compile time is a figure that we hold.
#include "lowering/llvm/compile.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <mutex>

#include "lowering/llvm/entry_wall.h"
#include "lowering/program/host_part.h"
#include "lowering/program/split_complex.h"

namespace tilewright::llvm_wall {

namespace {

void initialise_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
  });
}

Failure internal(const std::string& what) { return fail(Code::CodeGeneration, {}, what, kReport); }

Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const TargetOptions& target) {
  initialise_targets();
  std::string message;
  const llvm::Triple triple(target.triple);
  const llvm::Target* backend = llvm::TargetRegistry::lookupTarget(triple, message);
  if (backend == nullptr)
    return fail(Code::UnknownTarget, {}, "LLVM has no back end for `" + target.triple + "`",
                "use a target that `tilewright version` lists");
  llvm::TargetOptions options;
  // Fused operations stand in the Program; LLVM must not make or split any.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.FunctionSections = true;
  options.DataSections = true;
  std::unique_ptr<llvm::TargetMachine> machine(
      backend->createTargetMachine(triple, target.base_cpu, "", options, llvm::Reloc::PIC_,
                                   llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (machine == nullptr)
    return internal("LLVM made no target machine for `" + target.triple + "`");
  return machine;
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgscc);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgscc, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loop_passes;
  loop_passes.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(std::move(loop_passes), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

std::string print(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

Result<std::string> generate(llvm::Module& module, llvm::TargetMachine& machine,
                             llvm::CodeGenFileType type) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    return internal("LLVM cannot emit this kind of file");
  passes.run(module);
  return std::string(bytes.str());
}

}  // namespace

std::string_view llvm_version() { return LLVM_VERSION_STRING; }

Result<Object> compile_function(ir::Context& context, const program::Dispatch& dispatch,
                                const TargetOptions& target, const CompileOptions& options) {
  for (const program::Variant& variant : dispatch.variants)
    if (auto beyond = program::find_beyond_host(variant.program)) return fail(std::move(*beyond));
  TILEWRIGHT_TRY(machine, make_target_machine(target));
  llvm::LLVMContext llvm;
  llvm::Module module(llvm::StringRef(dispatch.interface.name.text()), llvm);
  module.setTargetTriple(llvm::Triple(target.triple));
  module.setDataLayout(machine->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  const auto state_of = [&](const program::Program& program, const program::Contract& contract) {
    return ModuleState{context, program, program::split_complex(context, program), contract, target,
                       llvm,    module};
  };
  ModuleState interface = state_of(dispatch.interface, dispatch.contract);
  std::vector<VariantStates> variants(dispatch.variants.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const program::Variant& variant = dispatch.variants[i];
    const std::string name = dispatch.is_single() ? "" : variant.name;
    const std::string before = name.empty() ? "" : name + ".";
    if (!variant.planned) {
      variants[i].whole.emplace(state_of(variant.program, variant.contract));
      variants[i].whole->variant = name;
      continue;
    }
    const program::Planned& planned = *variant.planned;
    variants[i].plan.emplace(state_of(planned.plan, planned.plan_contract));
    variants[i].plan->variant = before + "plan";
    variants[i].run.emplace(state_of(planned.run, planned.run_contract));
    variants[i].run->variant = before + "run";
  }
  emit_library(interface, dispatch, variants);
  if (interface.error) return fail(*interface.error);

  Object object;
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(module, &stream))
    return internal("the emitted LLVM IR is malformed: " + broken);
  optimise(module, *machine);
  if (options.want_ir) object.ir = print(module);
  if (options.want_assembly) {
    // Code generation changes the module it is given.
    const auto copy = llvm::CloneModule(module);
    TILEWRIGHT_TRY(assembly, generate(*copy, *machine, llvm::CodeGenFileType::AssemblyFile));
    object.assembly = std::move(assembly);
  }
  TILEWRIGHT_TRY(bytes, generate(module, *machine, llvm::CodeGenFileType::ObjectFile));
  object.bytes = std::move(bytes);
  return object;
}

}  // namespace tilewright::llvm_wall
