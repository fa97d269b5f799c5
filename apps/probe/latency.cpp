// SPDX-License-Identifier: Apache-2.0
//
// Latencies as rates of dependent steps: each step waits for the one before, so a step takes its latency.
#include <cstdint>
#include <numeric>
#include <vector>

#include "apps/probe/probe.h"
#include "apps/probe/rounds.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilewright::probe {
namespace {

constexpr std::size_t kSteps = 1024;

// A register operand: some processors run additions of small constants without an execution unit.
void run_additions(std::size_t repeats) {
  std::uint64_t value = 0;
  std::uint64_t addend = 3;
  asm volatile("" : "+r"(addend));
  for (std::size_t i = 0; i < repeats * kSteps / 32; ++i) {
#pragma GCC unroll 32
    for (int step = 0; step < 32; ++step) {
      value += addend;
      asm volatile("" : "+r"(value));
    }
  }
}

#if defined(__x86_64__)

#define TILEWRIGHT_PROBE_CHAIN(name, isa, vector, zero, operand, step)    \
  __attribute__((target(isa), noinline)) void name(std::size_t repeats) { \
    vector value = zero;                                                  \
    const auto factor = operand;                                          \
    for (std::size_t i = 0; i < repeats * kSteps / 16; ++i) {             \
      _Pragma("GCC unroll 16") for (int j = 0; j < 16; ++j) {             \
        value = step(value, factor);                                      \
        asm volatile("" : "+x"(value));                                   \
      }                                                                   \
    }                                                                     \
  }

#define TILEWRIGHT_PROBE_FMA256(value, factor) _mm256_fmadd_ps(factor, factor, value)
#define TILEWRIGHT_PROBE_FMA512(value, factor) _mm512_fmadd_ps(factor, factor, value)
#define TILEWRIGHT_PROBE_DOT512(value, factor) _mm512_dpbf16_ps(value, factor, factor)

TILEWRIGHT_PROBE_CHAIN(chain_avx2, "avx2,fma", __m256, _mm256_setzero_ps(), _mm256_set1_ps(0.5F),
                       TILEWRIGHT_PROBE_FMA256)
TILEWRIGHT_PROBE_CHAIN(chain_avx512, "avx512f", __m512, _mm512_setzero_ps(), _mm512_set1_ps(0.5F),
                       TILEWRIGHT_PROBE_FMA512)
TILEWRIGHT_PROBE_CHAIN(chain_bf16, "avx512f,avx512bf16", __m512, _mm512_setzero_ps(),
                       _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5F), _mm512_set1_ps(0.5F)),
                       TILEWRIGHT_PROBE_DOT512)

#undef TILEWRIGHT_PROBE_DOT512
#undef TILEWRIGHT_PROBE_FMA512
#undef TILEWRIGHT_PROBE_FMA256
#undef TILEWRIGHT_PROBE_CHAIN

#endif

struct alignas(64) Line {
  const Line* next = nullptr;
};

}  // namespace

Rate core_frequency(const Options& options) {
  return run_rounds(options, static_cast<double>(kSteps),
                    [](unsigned, std::size_t repeats) { run_additions(repeats); });
}

Rate multiply_add_chain_rate(VectorUnit unit, const Options& options) {
  Rate rate;
  rate.skipped = why_unit_absent(unit);
  if (!rate.skipped.empty()) return rate;
#if defined(__x86_64__)
  const auto steps = static_cast<double>(kSteps);
  switch (unit) {
    case VectorUnit::Avx2Fma:
      return run_rounds(options, steps, [](unsigned, std::size_t repeats) { chain_avx2(repeats); });
    case VectorUnit::Avx512Fma:
      return run_rounds(options, steps,
                        [](unsigned, std::size_t repeats) { chain_avx512(repeats); });
    case VectorUnit::Avx512Bf16:
      return run_rounds(options, steps, [](unsigned, std::size_t repeats) { chain_bf16(repeats); });
  }
#endif
  return rate;
}

Rate load_chain_rate(std::size_t bytes, const Options& options) {
  std::vector<Line> lines(std::max<std::size_t>(2, bytes / sizeof(Line)));
  std::vector<std::uint32_t> order(lines.size());
  std::iota(order.begin(), order.end(), 0U);
  // One cycle through all lines in a random order (Sattolo), the same in each run.
  std::uint64_t state = 0x9e3779b97f4a7c15ULL;
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    std::swap(order[i], order[(state >> 33) % i]);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].next = &lines[order[i]];
  const Line* at = lines.data();
  constexpr std::size_t kLoads = 256;
  Options alone = options;
  alone.threads = 1;
  return run_rounds(alone, static_cast<double>(kLoads), [&](unsigned, std::size_t repeats) {
    const Line* line = at;
    for (std::size_t i = 0; i < repeats * kLoads; ++i) {
      line = line->next;
      asm volatile("" : "+r"(line));
    }
    at = line;
  });
}

}  // namespace tilewright::probe
