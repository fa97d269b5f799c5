// SPDX-License-Identifier: Apache-2.0
//
// The host targets. What instruction sets a target has is asked of the C compiler, and what this machine runs
// of its run-time library: neither is taken from the table under test.
#include "lowering/targets/host/target.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tilewright::host {
namespace {

using llvm_wall::CpuidWord;

TEST(HostTarget, EveryNameIsFound) {
  for (std::string_view name : target_names()) {
    const auto target = find_target(name);
    ASSERT_TRUE(target.ok()) << name;
    EXPECT_EQ(target->name, name);
    EXPECT_FALSE(target->description.empty());
    // The entry asks the processor something, on each architecture in its own way.
    EXPECT_EQ(target->options.cpuid.empty(), target->architecture != "x86-64");
    EXPECT_EQ(target->options.hwcap == 0, target->architecture != "aarch64");
    if (target->architecture == "x86-64") {
      EXPECT_EQ(target->options.cpu, name);
    }
  }
  EXPECT_EQ(find_target("aarch64-neon")->options.vector_bits, 128);
  EXPECT_EQ(find_target("x86-64-v3")->options.vector_bits, 256);
  EXPECT_EQ(find_target("x86-64-v4")->options.vector_bits, 512);
}

TEST(HostTarget, AnUnknownNameIsRefusedWithTheList) {
  for (const char* name : {"", "x86-64-v2", "X86-64-V3", "aarch64", "x86-64-v3 "}) {
    const auto target = find_target(name);
    ASSERT_FALSE(target.ok()) << name;
    const Diagnostic& refusal = target.diagnostics()[0];
    EXPECT_EQ(refusal.code, Code::UnknownTarget);
    for (std::string_view known : target_names())
      EXPECT_NE(refusal.remedy.find(known), std::string::npos) << refusal.remedy;
  }
}

#if defined(__x86_64__)

// Of each macro that a C compiler defines for an instruction set, the bit of CPUID that says it is there.
struct Feature {
  CpuidWord word;
  std::uint32_t bit;
};
const std::map<std::string, Feature>& features() {
  static const std::map<std::string, Feature> all = {
      {"__SSE3__", {CpuidWord::Leaf1Ecx, bit_SSE3}},
      {"__SSSE3__", {CpuidWord::Leaf1Ecx, bit_SSSE3}},
      {"__FMA__", {CpuidWord::Leaf1Ecx, bit_FMA}},
      {"__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16", {CpuidWord::Leaf1Ecx, bit_CMPXCHG16B}},
      {"__SSE4_1__", {CpuidWord::Leaf1Ecx, bit_SSE4_1}},
      {"__SSE4_2__", {CpuidWord::Leaf1Ecx, bit_SSE4_2}},
      {"__MOVBE__", {CpuidWord::Leaf1Ecx, bit_MOVBE}},
      {"__POPCNT__", {CpuidWord::Leaf1Ecx, bit_POPCNT}},
      {"__XSAVE__", {CpuidWord::Leaf1Ecx, bit_OSXSAVE}},
      {"__AVX__", {CpuidWord::Leaf1Ecx, bit_AVX}},
      {"__F16C__", {CpuidWord::Leaf1Ecx, bit_F16C}},
      {"__BMI__", {CpuidWord::Leaf7Ebx, bit_BMI}},
      {"__AVX2__", {CpuidWord::Leaf7Ebx, bit_AVX2}},
      {"__BMI2__", {CpuidWord::Leaf7Ebx, bit_BMI2}},
      {"__AVX512F__", {CpuidWord::Leaf7Ebx, bit_AVX512F}},
      {"__AVX512DQ__", {CpuidWord::Leaf7Ebx, bit_AVX512DQ}},
      {"__AVX512CD__", {CpuidWord::Leaf7Ebx, bit_AVX512CD}},
      {"__AVX512BW__", {CpuidWord::Leaf7Ebx, bit_AVX512BW}},
      {"__AVX512VL__", {CpuidWord::Leaf7Ebx, bit_AVX512VL}},
      {"__LAHF_SAHF__", {CpuidWord::ExtendedEcx, bit_LAHF_LM}},
      {"__LZCNT__", {CpuidWord::ExtendedEcx, bit_ABM}}};
  return all;
}

// The macros that `cc -march=NAME` defines and plain x86-64 does not.
std::set<std::string> macros_beyond_the_baseline(const std::string& name) {
  const auto macros = [](const std::string& architecture) {
    std::string text;
    FILE* pipe = popen(("cc -march=" + architecture + " -dM -E -x c /dev/null").c_str(), "r");
    char buffer[4096];
    for (std::size_t n = 0; pipe && (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
      text.append(buffer, n);
    if (pipe) pclose(pipe);
    std::set<std::string> names;
    std::istringstream lines(text);
    for (std::string define, macro, rest; lines >> define >> macro && std::getline(lines, rest);)
      names.insert(macro);
    return names;
  };
  std::set<std::string> beyond;
  const std::set<std::string> baseline = macros("x86-64");
  for (const std::string& macro : macros(name))
    if (!baseline.count(macro)) beyond.insert(macro);
  return beyond;
}

std::uint32_t mask_of(const Target& target, CpuidWord word) {
  std::uint32_t mask = 0;
  for (const llvm_wall::CpuidTest& test : target.options.cpuid)
    if (test.word == word) mask |= test.mask;
  return mask;
}

TEST(HostTarget, EveryInstructionSetIsTested) {
  for (std::string_view name : target_names()) {
    const auto target = find_target(name);
    ASSERT_TRUE(target.ok());
    if (target->architecture != "x86-64") continue;
    const auto macros = macros_beyond_the_baseline(std::string(name));
    if (macros.empty()) GTEST_SKIP() << "no C compiler `cc` here that knows " << name;
    std::map<CpuidWord, std::uint32_t> needed;
    for (const std::string& macro : macros) {
      if (macro == "__EVEX512__" || macro == "__EVEX256__" || macro == "__CRC32__")
        continue;  // parts of others
      const auto feature = features().find(macro);
      if (feature == features().end()) {
        EXPECT_FALSE(macro.starts_with("__AVX") || macro.starts_with("__BMI")) << macro;
        continue;
      }
      EXPECT_NE(mask_of(*target, feature->second.word) & feature->second.bit, 0U)
          << name << " may use " << macro << " and does not ask for it";
      needed[feature->second.word] |= feature->second.bit;
    }
    // And nothing else is asked for, so that no machine is refused for nothing.
    for (const CpuidWord word :
         {CpuidWord::Leaf1Ecx, CpuidWord::Leaf7Ebx, CpuidWord::Leaf7Ecx, CpuidWord::Leaf7Edx})
      EXPECT_EQ(mask_of(*target, word) & ~(needed[word] | bit_OSXSAVE | bit_CMPXCHG16B), 0U)
          << name << " word " << static_cast<int>(word);
  }
  // XMM and YMM, then opmask and ZMM: Intel's manual, volume 1, XCR0.
  EXPECT_EQ(mask_of(*find_target("x86-64-v3"), CpuidWord::Xcr0), 0x06U);
  EXPECT_EQ(mask_of(*find_target("x86-64-v4"), CpuidWord::Xcr0), 0xe6U);
}

TEST(HostTarget, RunsHereIsWhatTheCompilersLibrarySays) {
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("popcnt");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  EXPECT_EQ(runs_here(*find_target("x86-64-v3")), v3);
  EXPECT_EQ(runs_here(*find_target("x86-64-v4")), v4);
  const auto native = find_target("native");
  EXPECT_EQ(native.ok(), v3);
  if (native.ok()) {
    EXPECT_EQ(native->name, v4 ? "x86-64-v4" : "x86-64-v3");
    EXPECT_TRUE(runs_here(*native));
  }
}

// HWCAP_FP and HWCAP_ASIMD of Linux's uapi/asm/hwcap.h for arm64.
TEST(HostTarget, Aarch64AsksForFloatsAndVectors) {
  const auto neon = find_target("aarch64-neon");
  ASSERT_TRUE(neon.ok());
  EXPECT_EQ(neon->options.hwcap, 0b11U);
  EXPECT_TRUE(is_foreign(*neon));
  EXPECT_FALSE(runs_here(*neon));
  EXPECT_FALSE(is_foreign(*find_target("x86-64-v4")));
}

// A target that asks for what no processor has is not run.
TEST(HostTarget, AMissingInstructionSetIsSeen) {
  auto target = find_target("x86-64-v3");
  ASSERT_TRUE(target.ok());
  target->options.cpuid.push_back({CpuidWord::Xcr0, std::uint32_t{1} << 31});
  EXPECT_FALSE(runs_here(*target));
}

#endif

}  // namespace
}  // namespace tilewright::host
