// SPDX-License-Identifier: Apache-2.0
//
// The multiply-add peak: independent chains of fused multiply-adds on registers, enough of them to cover the
// latency of two pipes. Each kernel is compiled for its own instruction set and only called when the
// processor and the system support it.
#include "apps/probe/probe.h"
#include "apps/probe/rounds.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilewright::probe {
namespace {

constexpr std::size_t kSteps = 256;  // Multiply-adds per chain and repeat.

#if defined(__x86_64__)

// Sixteen vector registers: twelve chains and two operands leave none to spill.
constexpr std::size_t kAvx2Chains = 12;
constexpr std::size_t kAvx512Chains = 24;

// The empty asm keeps each chain in a register and hides its value, so nothing is folded or vectorised anew.
#define TILEWRIGHT_PROBE_KERNEL(name, isa, vector, chains, zero, operand, step) \
  __attribute__((target(isa), noinline)) void name(std::size_t repeats) {       \
    vector chain[chains];                                                       \
    _Pragma("GCC unroll 32") for (auto& value : chain) value = zero;            \
    auto factor = operand;                                                      \
    for (std::size_t i = 0; i < repeats * kSteps; ++i) {                        \
      _Pragma("GCC unroll 32") for (auto& value : chain) {                      \
        value = step(value, factor);                                            \
        asm volatile("" : "+x"(value));                                         \
      }                                                                         \
    }                                                                           \
  }

#define TILEWRIGHT_PROBE_FMA256(value, factor) _mm256_fmadd_ps(factor, factor, value)
#define TILEWRIGHT_PROBE_FMA512(value, factor) _mm512_fmadd_ps(factor, factor, value)
#define TILEWRIGHT_PROBE_DOT512(value, factor) _mm512_dpbf16_ps(value, factor, factor)

TILEWRIGHT_PROBE_KERNEL(run_avx2, "avx2,fma", __m256, kAvx2Chains, _mm256_setzero_ps(),
                        _mm256_set1_ps(0.5F), TILEWRIGHT_PROBE_FMA256)
TILEWRIGHT_PROBE_KERNEL(run_avx512, "avx512f", __m512, kAvx512Chains, _mm512_setzero_ps(),
                        _mm512_set1_ps(0.5F), TILEWRIGHT_PROBE_FMA512)
TILEWRIGHT_PROBE_KERNEL(run_bf16, "avx512f,avx512bf16", __m512, kAvx512Chains, _mm512_setzero_ps(),
                        _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5F), _mm512_set1_ps(0.5F)),
                        TILEWRIGHT_PROBE_DOT512)

#undef TILEWRIGHT_PROBE_DOT512
#undef TILEWRIGHT_PROBE_FMA512
#undef TILEWRIGHT_PROBE_FMA256
#undef TILEWRIGHT_PROBE_KERNEL

#endif

}  // namespace

std::string_view unit_name(VectorUnit unit) {
  switch (unit) {
    case VectorUnit::Avx2Fma: return "avx2_f32";
    case VectorUnit::Avx512Fma: return "avx512_f32";
    case VectorUnit::Avx512Bf16: return "avx512_bf16";
  }
  return "";
}

std::string why_unit_absent(VectorUnit unit) {
#if defined(__x86_64__)
  switch (unit) {
    case VectorUnit::Avx2Fma:
      if (!__builtin_cpu_supports("avx2")) return "the processor or the system lacks avx2";
      if (!__builtin_cpu_supports("fma")) return "the processor or the system lacks fma";
      return "";
    case VectorUnit::Avx512Fma:
      return __builtin_cpu_supports("avx512f") ? "" : "the processor or the system lacks avx512f";
    case VectorUnit::Avx512Bf16:
      return __builtin_cpu_supports("avx512bf16") ? ""
                                                  : "the processor or the system lacks avx512bf16";
  }
  return "";
#else
  return std::string(unit_name(unit)) + " exists on x86-64 only";
#endif
}

Rate multiply_add_rate(VectorUnit unit, const Options& options) {
  Rate rate;
  rate.skipped = why_unit_absent(unit);
  if (!rate.skipped.empty()) return rate;
#if defined(__x86_64__)
  const auto flops = [](std::size_t chains, std::size_t per_step) {
    return static_cast<double>(kSteps * chains * per_step);
  };
  switch (unit) {
    case VectorUnit::Avx2Fma:
      return run_rounds(options, flops(kAvx2Chains, 8 * 2),
                        [](unsigned, std::size_t repeats) { run_avx2(repeats); });
    case VectorUnit::Avx512Fma:
      return run_rounds(options, flops(kAvx512Chains, 16 * 2),
                        [](unsigned, std::size_t repeats) { run_avx512(repeats); });
    case VectorUnit::Avx512Bf16:
      return run_rounds(options, flops(kAvx512Chains, 16 * 2 * 2),
                        [](unsigned, std::size_t repeats) { run_bf16(repeats); });
  }
#endif
  return rate;
}

}  // namespace tilewright::probe
