// SPDX-License-Identifier: Apache-2.0
#include "lowering/targets/host/target.h"

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tilewright::host {

namespace {

using llvm_wall::CpuidTest;
using llvm_wall::CpuidWord;

constexpr std::uint32_t bit(int n) { return std::uint32_t{1} << n; }

// Intel's manual, volume 2A, CPUID; the levels are those of the x86-64 psABI.
const std::vector<CpuidTest>& v3_tests() {
  static const std::vector<CpuidTest> tests = {
      // SSE3, SSSE3, FMA, CMPXCHG16B, SSE4.1, SSE4.2, MOVBE, POPCNT, OSXSAVE, AVX, F16C
      {CpuidWord::Leaf1Ecx, bit(0) | bit(9) | bit(12) | bit(13) | bit(19) | bit(20) | bit(22) |
                                bit(23) | bit(27) | bit(28) | bit(29)},
      // BMI1, AVX2, BMI2
      {CpuidWord::Leaf7Ebx, bit(3) | bit(5) | bit(8)},
      // LAHF, LZCNT
      {CpuidWord::ExtendedEcx, bit(0) | bit(5)},
      // SSE and AVX state
      {CpuidWord::Xcr0, bit(1) | bit(2)}};
  return tests;
}

std::vector<CpuidTest> v4_tests() {
  std::vector<CpuidTest> tests = v3_tests();
  // AVX512F, DQ, CD, BW, VL
  tests.push_back({CpuidWord::Leaf7Ebx, bit(16) | bit(17) | bit(28) | bit(30) | bit(31)});
  // opmask, upper halves, upper registers
  tests.push_back({CpuidWord::Xcr0, bit(5) | bit(6) | bit(7)});
  return tests;
}

Target v3() {
  Target target;
  target.name = "x86-64-v3";
  target.description = "x86-64 with AVX2, FMA, F16C, BMI1 and BMI2";
  target.options.cpu = "x86-64-v3";
  target.options.vector_bits = 256;
  target.options.cpuid = v3_tests();
  return target;
}

Target v4() {
  Target target;
  target.name = "x86-64-v4";
  target.description = "x86-64 with AVX-512 F, BW, CD, DQ and VL";
  target.options.cpu = "x86-64-v4";
  target.options.vector_bits = 512;
  target.options.cpuid = v4_tests();
  return target;
}

// Armv8-A as every implementation of it for servers and phones has it: AdvSIMD with fused multiply-add and
// conversions of f16. HWCAP_FP and HWCAP_ASIMD of Linux's asm/hwcap.h.
Target neon() {
  Target target;
  target.name = "aarch64-neon";
  target.architecture = "aarch64";
  target.description = "AArch64 with AdvSIMD (NEON)";
  target.options.triple = "aarch64-unknown-linux-gnu";
  target.options.base_cpu = "generic";
  target.options.cpu = "generic";
  target.options.vector_bits = 128;
  target.options.hwcap = bit(0) | bit(1);
  return target;
}

#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "x86-64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "aarch64";
#else
constexpr std::string_view kArchitecture = "";
#endif

std::uint64_t read_hwcap() {
#if defined(__aarch64__)
  return getauxval(AT_HWCAP);
#else
  return 0;
#endif
}

#if defined(__x86_64__)
std::uint32_t read_xcr0() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

std::uint32_t read_word(CpuidWord word) {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  switch (word) {
    case CpuidWord::Leaf1Ecx: return __get_cpuid(1, &a, &b, &c, &d) ? c : 0;
    case CpuidWord::Leaf7Ebx: return __get_cpuid_count(7, 0, &a, &b, &c, &d) ? b : 0;
    case CpuidWord::Leaf7Ecx: return __get_cpuid_count(7, 0, &a, &b, &c, &d) ? c : 0;
    case CpuidWord::Leaf7Edx: return __get_cpuid_count(7, 0, &a, &b, &c, &d) ? d : 0;
    case CpuidWord::Leaf7Sub1Eax: return __get_cpuid_count(7, 1, &a, &b, &c, &d) ? a : 0;
    case CpuidWord::ExtendedEcx: return __get_cpuid(0x80000001U, &a, &b, &c, &d) ? c : 0;
    case CpuidWord::Xcr0: return (read_word(CpuidWord::Leaf1Ecx) & bit(27)) != 0 ? read_xcr0() : 0;
  }
  return 0;
}
#else
std::uint32_t read_word(CpuidWord) { return 0; }
#endif

}  // namespace

namespace {

// Instruction sets that a machine may name beyond its ISA, with the test of each. All of them work on the
// registers of AVX-512, which x86-64-v4 tests.
struct Feature {
  std::string_view name;
  CpuidTest test;
};
constexpr Feature kFeatures[] = {
    {"avx512bf16", {CpuidWord::Leaf7Sub1Eax, bit(5)}},
    {"avx512vnni", {CpuidWord::Leaf7Ecx, bit(11)}},
};

}  // namespace

Target with_features(Target target, const std::vector<std::string>& features) {
  if (target.options.vector_bits < 512) return target;
  for (const Feature& feature : kFeatures) {
    if (std::find(features.begin(), features.end(), feature.name) == features.end()) continue;
    target.options.features.emplace_back(feature.name);
    target.description += ", " + std::string(feature.name);
    target.options.cpuid.push_back(feature.test);
  }
  return target;
}

std::vector<std::string_view> target_names() { return {"x86-64-v3", "x86-64-v4", "aarch64-neon"}; }

bool is_foreign(const Target& target) { return target.architecture != kArchitecture; }

bool runs_here(const Target& target) {
  if (is_foreign(target)) return false;
  for (const CpuidTest& test : target.options.cpuid)
    if ((read_word(test.word) & test.mask) != test.mask) return false;
  return (read_hwcap() & target.options.hwcap) == target.options.hwcap;
}

Result<Target> find_target(std::string_view name) {
  if (name == "x86-64-v3") return v3();
  if (name == "x86-64-v4") return v4();
  if (name == "aarch64-neon") return neon();
  if (name == "native") {
    for (const Target& target : {v4(), v3(), neon()})
      if (runs_here(target)) return target;
    return fail(
        Code::UnknownTarget, {},
        "this processor has neither AVX2 and FMA nor NEON, one of which every host target uses",
        "name a target, and run the library on a machine of that kind");
  }
  return fail(Code::UnknownTarget, {}, "no host target `" + std::string(name) + "`",
              "use one of `native`, `x86-64-v3`, `x86-64-v4`, `aarch64-neon`");
}

}  // namespace tilewright::host
