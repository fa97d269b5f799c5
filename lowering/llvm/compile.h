// SPDX-License-Identifier: Apache-2.0
//
// Program to machine code. The LLVM wall: no LLVM type is seen outside this room. Laws: the same input gives
// the same bytes; the code computes what the Program interpreter computes, bit for bit; an object holds no
// writable data, no static constructor and no reference to a C library.
// Tests: tests/differential/llvm_*_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/base/result.h"
#include "lowering/program/dispatch.h"

namespace tilewright::llvm_wall {

// One word of CPUID that the entry of a library checks: (word & mask) == mask. Leaf1Ecx, leaf 7 (and its
// subleaf 1) and the extended leaf are asked of CPUID; Xcr0 says which registers the system saves.
enum class CpuidWord : std::uint8_t {
  Leaf1Ecx,
  Leaf7Ebx,
  Leaf7Ecx,
  Leaf7Edx,
  Leaf7Sub1Eax,
  ExtendedEcx,
  Xcr0
};
struct CpuidTest {
  CpuidWord word = CpuidWord::Leaf1Ecx;
  std::uint32_t mask = 0;
};

// What to generate code for; made by lowering/targets.
struct TargetOptions {
  std::string triple = "x86_64-pc-linux-gnu";
  std::string base_cpu = "x86-64";  // what the entry of a library runs on, before it has asked
  std::string cpu = "x86-64-v3";
  int vector_bits = 256;
  std::vector<std::string> features;  // beyond those of the cpu, in LLVM's spelling
  // What the entry asks of the processor. x86-64: words of CPUID. AArch64: these bits of AT_HWCAP.
  std::vector<CpuidTest> cpuid;
  std::uint64_t hwcap = 0;
};

struct CompileOptions {
  bool want_ir = false;  // the optimised LLVM IR as text
  bool want_assembly = false;
};

struct Object {
  std::string bytes;  // a relocatable ELF object
  std::string ir;
  std::string assembly;
};

// Emits `NAME`, `NAME_query` and `NAME_explain`; with a plan `NAME_plan_query`, `NAME_plan` and `NAME_run` too.
Result<Object> compile_function(ir::Context& context, const program::Dispatch& dispatch,
                                const TargetOptions& target, const CompileOptions& options = {});

// "22.1.8".
std::string_view llvm_version();

}  // namespace tilewright::llvm_wall
