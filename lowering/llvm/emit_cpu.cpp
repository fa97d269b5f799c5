// SPDX-License-Identifier: Apache-2.0
//
// Does this processor have the instructions? A library keeps no state between calls, and CPUID traps under a
// hypervisor: three of them cost 10 us here, more than a small kernel. So the C library is asked, which has
// read CPUID once (`__x86_get_cpuid_feature_leaf`, glibc 2.33, declared in <sys/platform/x86.h>); the
// reference is weak, and where it is not there CPUID itself answers. On AArch64 the auxiliary vector says it
// (`getauxval`, weak again), and without a C library the identification register, which Linux lets programs
// read. Law: true means that every instruction of the target runs and that the system saves its registers.
#include <llvm/IR/InlineAsm.h>

#include "lowering/llvm/emit_wall.h"

namespace tilewright::llvm_wall {

namespace {

class CpuCheck {
 public:
  explicit CpuCheck(ModuleState& state)
      : state_(state),
        c_(state.llvm),
        b_(state.llvm),
        function_(llvm::Function::Create(
            llvm::FunctionType::get(b_.getInt1Ty(), false), llvm::GlobalValue::InternalLinkage,
            std::string(state.program.name.text()) + ".cpu", state.module)) {}

  llvm::Function* emit() {
    function_->addFnAttr(llvm::Attribute::NoInline);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    if (state_.target.hwcap != 0) return from_auxiliary_vector();
    llvm::BasicBlock* known = llvm::BasicBlock::Create(c_, "known", function_);
    llvm::BasicBlock* unknown = llvm::BasicBlock::Create(c_, "unknown", function_);
    b_.SetInsertPoint(llvm::BasicBlock::Create(c_, "entry", function_, known));
    auto* type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getInt32Ty()}, false);
    auto callee = state_.module.getOrInsertFunction("__x86_get_cpuid_feature_leaf", type);
    auto* ask = llvm::cast<llvm::Function>(callee.getCallee());
    ask->setLinkage(llvm::GlobalValue::ExternalWeakLinkage);
    b_.CreateCondBr(b_.CreateIsNull(ask), unknown, known);
    b_.SetInsertPoint(known);
    from_c_library(callee);
    b_.SetInsertPoint(unknown);
    from_cpuid();
    return function_;
  }

 private:
  // Bits of AT_HWCAP, Linux's asm/hwcap.h; FP and AdvSIMD also in ID_AA64PFR0_EL1, where 15 says that the unit
  // is absent.
  llvm::Function* from_auxiliary_vector() {
    constexpr std::uint64_t kAtHwcap = 16;
    llvm::BasicBlock* known = llvm::BasicBlock::Create(c_, "known", function_);
    llvm::BasicBlock* unknown = llvm::BasicBlock::Create(c_, "unknown", function_);
    b_.SetInsertPoint(llvm::BasicBlock::Create(c_, "entry", function_, known));
    auto callee = state_.module.getOrInsertFunction(
        "getauxval", llvm::FunctionType::get(b_.getInt64Ty(), {b_.getInt64Ty()}, false));
    auto* ask = llvm::cast<llvm::Function>(callee.getCallee());
    ask->setLinkage(llvm::GlobalValue::ExternalWeakLinkage);
    b_.CreateCondBr(b_.CreateIsNull(ask), unknown, known);
    b_.SetInsertPoint(known);
    llvm::Value* wanted = b_.getInt64(state_.target.hwcap);
    llvm::Value* bits = b_.CreateCall(callee, {b_.getInt64(kAtHwcap)});
    b_.CreateRet(b_.CreateICmpEQ(b_.CreateAnd(bits, wanted), wanted));
    b_.SetInsertPoint(unknown);
    auto* read = llvm::InlineAsm::get(llvm::FunctionType::get(b_.getInt64Ty(), {}, false),
                                      "mrs $0, ID_AA64PFR0_EL1", "=r", true);
    llvm::Value* word = b_.CreateCall(read, {});
    for (const unsigned field : {16U, 20U}) {
      llvm::Value* unit = b_.CreateAnd(b_.CreateLShr(word, field), b_.getInt64(15));
      step(b_.CreateICmpNE(unit, b_.getInt64(15)));
    }
    b_.CreateRet(b_.getTrue());
    return function_;
  }

  // struct { uint32 cpuid[4]; uint32 active[4]; } per leaf; `active` counts what the system supports too.
  void from_c_library(llvm::FunctionCallee ask) {
    struct Row {
      CpuidWord word;
      std::uint32_t leaf;
      std::uint64_t offset;
    };
    constexpr Row kRows[] = {{CpuidWord::Leaf1Ecx, 0, 24},     {CpuidWord::Leaf7Ebx, 1, 20},
                             {CpuidWord::Leaf7Ecx, 1, 24},     {CpuidWord::Leaf7Edx, 1, 28},
                             {CpuidWord::Leaf7Sub1Eax, 6, 16}, {CpuidWord::ExtendedEcx, 2, 24}};
    for (const Row& row : kRows) {
      const std::uint32_t mask = mask_of(row.word);
      if (mask == 0) continue;
      llvm::Value* leaf = b_.CreateCall(ask, {b_.getInt32(row.leaf)});
      step(b_.CreateIsNotNull(leaf));
      llvm::Value* at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), leaf, row.offset);
      step(has(b_.CreateLoad(b_.getInt32Ty(), at), mask));
    }
    b_.CreateRet(b_.getTrue());
  }

  void from_cpuid() {
    auto* i32 = b_.getInt32Ty();
    auto* words = llvm::StructType::get(c_, {i32, i32, i32, i32});
    auto* cpuid =
        llvm::InlineAsm::get(llvm::FunctionType::get(words, {i32, i32}, false), "cpuid",
                             "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}", true);
    auto* xgetbv = llvm::InlineAsm::get(llvm::FunctionType::get(i32, {i32}, false), "xgetbv",
                                        "={ax},{cx},~{dx},~{dirflag},~{fpsr},~{flags}", true);
    auto word = [&](std::uint32_t leaf, unsigned index) {
      return b_.CreateExtractValue(b_.CreateCall(cpuid, {b_.getInt32(leaf), b_.getInt32(0)}),
                                   index);
    };
    // Leaf 7 exists where the highest leaf says so; XGETBV where OSXSAVE does.
    constexpr std::uint32_t kOsxsave = 1U << 27U;
    constexpr std::uint32_t kExtended = 0x80000001U;
    step(b_.CreateICmpUGE(word(0, 0), b_.getInt32(7)));
    step(has(word(1, 2), mask_of(CpuidWord::Leaf1Ecx) | kOsxsave));
    step(has(b_.CreateCall(xgetbv, {b_.getInt32(0)}), mask_of(CpuidWord::Xcr0)));
    if (mask_of(CpuidWord::ExtendedEcx) != 0) {
      step(b_.CreateICmpUGE(word(0x80000000U, 0), b_.getInt32(kExtended)));
      step(has(word(kExtended, 2), mask_of(CpuidWord::ExtendedEcx)));
    }
    llvm::Value* leaf7 = b_.CreateCall(cpuid, {b_.getInt32(7), b_.getInt32(0)});
    step(has(b_.CreateExtractValue(leaf7, 1), mask_of(CpuidWord::Leaf7Ebx)));
    step(has(b_.CreateExtractValue(leaf7, 2), mask_of(CpuidWord::Leaf7Ecx)));
    step(has(b_.CreateExtractValue(leaf7, 3), mask_of(CpuidWord::Leaf7Edx)));
    // EAX of leaf 7 is the highest subleaf; the words of one that is not there are zero.
    const std::uint32_t sub1 = mask_of(CpuidWord::Leaf7Sub1Eax);
    if (sub1 != 0) {
      step(b_.CreateICmpUGE(b_.CreateExtractValue(leaf7, 0), b_.getInt32(1)));
      llvm::Value* words1 = b_.CreateCall(cpuid, {b_.getInt32(7), b_.getInt32(1)});
      step(has(b_.CreateExtractValue(words1, 0), sub1));
    }
    b_.CreateRet(b_.getTrue());
  }

  std::uint32_t mask_of(CpuidWord word) const {
    std::uint32_t mask = 0;
    for (const CpuidTest& test : state_.target.cpuid)
      if (test.word == word) mask |= test.mask;
    return mask;
  }
  llvm::Value* has(llvm::Value* word, std::uint32_t mask) {
    return b_.CreateICmpEQ(b_.CreateAnd(word, b_.getInt32(mask)), b_.getInt32(mask));
  }
  void step(llvm::Value* ok) {
    llvm::BasicBlock* next = llvm::BasicBlock::Create(c_, "next", function_);
    llvm::BasicBlock* no = llvm::BasicBlock::Create(c_, "no", function_);
    b_.CreateCondBr(ok, next, no);
    b_.SetInsertPoint(no);
    b_.CreateRet(b_.getFalse());
    b_.SetInsertPoint(next);
  }

  ModuleState& state_;
  llvm::LLVMContext& c_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_;
};

}  // namespace

llvm::Function* emit_cpu_check(ModuleState& state) {
  const std::string name = std::string(state.program.name.text()) + ".cpu";
  if (llvm::Function* made = state.module.getFunction(name)) return made;
  return CpuCheck(state).emit();
}

}  // namespace tilewright::llvm_wall
