// SPDX-License-Identifier: Apache-2.0
//
// The error of every f32 math function against the system's double-precision libm, whose own error
// (a few 2^-53) does not show at f32. Always: every 997th input and all inputs near an edge. With
// TILEWRIGHT_SLOW_TESTS=1: all 2^32 inputs, which is the proof behind the figures of docs/math.md.
// Checked for each input: the error in units in the last place of the exact result (at least the
// least subnormal) is within the claim; NaN exactly where the reference is NaN; a zero has the
// reference's sign; what rounds to infinity is infinity. TILEWRIGHT_MATH=NAME picks one function.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "frontend/ir/math_scalar.h"

namespace tilewright::ir::math {
namespace {

struct Function {
  const char* name;
  void (*array)(const float*, float*, std::size_t);
  float (*scalar)(float);
  double (*reference)(double);
  double claim;  // largest error in ulp over all inputs, as docs/math.md states it
};

double exact_rsqrt(double x) { return 1.0 / std::sqrt(x); }

constexpr Function kFunctions[] = {
    {"exp", exp_f32, exp_f32, std::exp, 1.58},
    {"exp2", exp2_f32, exp2_f32, std::exp2, 0.92},
    {"expm1", expm1_f32, expm1_f32, std::expm1, 1.53},
    {"log", log_f32, log_f32, std::log, 0.94},
    {"log2", log2_f32, log2_f32, std::log2, 1.73},
    {"log1p", log1p_f32, log1p_f32, std::log1p, 1.55},
    {"tanh", tanh_f32, tanh_f32, std::tanh, 1.85},
    {"erf", erf_f32, erf_f32, std::erf, 1.66},
    {"sin", sin_f32, sin_f32, std::sin, 1.72},
    {"cos", cos_f32, cos_f32, std::cos, 1.77},
    {"rsqrt", rsqrt_f32, rsqrt_f32, exact_rsqrt, 1.50},
    {"sqrt", sqrt_f32, sqrt_f32, std::sqrt, 0.50},
};

// What a set of inputs showed.
struct Finding {
  double worst_ulp = 0;
  std::uint32_t worst_input = 0;
  std::uint64_t inputs = 0;
  std::uint64_t wrong = 0;  // NaN, infinity or sign of zero not as the reference
  std::uint32_t wrong_input = 0;

  void merge(const Finding& other) {
    if (other.worst_ulp > worst_ulp) {
      worst_ulp = other.worst_ulp;
      worst_input = other.worst_input;
    }
    if (wrong == 0) wrong_input = other.wrong_input;
    inputs += other.inputs;
    wrong += other.wrong;
  }
};

// |result - exact| in units of the last place that an f32 of exact's size has.
double error_in_ulp(double result, double exact) {
  const auto field = (std::bit_cast<std::uint64_t>(exact) >> 52) & 0x7ff;
  const std::uint64_t exponent = std::max<std::uint64_t>(field, 1023 - 126);
  const double reciprocal_ulp = std::bit_cast<double>((2 * 1023 + 23 - exponent) << 52);
  return std::fabs(result - exact) * reciprocal_ulp;
}

void check(std::uint32_t input, float result, double exact, Finding& finding) {
  constexpr double kRoundsToInfinity = 0x1.ffffffp127;
  bool wrong = false;
  double error = 0;
  if (std::isnan(exact)) {
    wrong = !std::isnan(result);
  } else if (std::fabs(exact) >= kRoundsToInfinity) {
    wrong = !std::isinf(result) || std::signbit(result) != std::signbit(exact);
  } else {
    wrong = std::isnan(result) || (result == 0 && std::signbit(result) != std::signbit(exact));
    const double value = std::isinf(result) ? std::copysign(0x1p128, result) : double{result};
    error = wrong ? 0 : error_in_ulp(value, exact);
  }
  if (wrong && finding.wrong++ == 0) finding.wrong_input = input;
  if (error > finding.worst_ulp) {
    finding.worst_ulp = error;
    finding.worst_input = input;
  }
}

// Runs the inputs first, first + step, ... below end (as bits) through the function.
Finding run(const Function& function, std::uint64_t first, std::uint64_t end, std::uint64_t step) {
  constexpr std::size_t kBlock = 4096;
  std::vector<float> x(kBlock), y(kBlock);
  Finding finding;
  for (std::uint64_t at = first; at < end;) {
    std::size_t n = 0;
    const std::uint64_t start = at;
    for (; n < kBlock && at < end; at += step) {
      x[n++] = std::bit_cast<float>(static_cast<std::uint32_t>(at));
    }
    function.array(x.data(), y.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      check(static_cast<std::uint32_t>(start + i * step), y[i], function.reference(x[i]), finding);
    }
    finding.inputs += n;
  }
  return finding;
}

Finding run_all_inputs(const Function& function) {
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 22;
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  Finding total;
  const auto work = [&] {
    Finding mine;
    for (std::uint64_t c = next++; c * kChunk < (std::uint64_t{1} << 32); c = next++) {
      mine.merge(run(function, c * kChunk, (c + 1) * kChunk, 1));
    }
    const std::lock_guard lock(mutex);
    total.merge(mine);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back(work);
  }
  for (auto& thread : threads) thread.join();
  return total;
}

// 2048 neighbours on each side of the inputs where some definition changes its way.
Finding run_edges(const Function& function) {
  constexpr float kEdges[] = {
      0.0f,   0x1p-126f, 0x1p-26f, 0.3465736f, 0.5f,    2.0f / 3,  0.9375f,  1.0f,     4.0f / 3,
      1.5f,   3.95f,     9.0f,     9.5f,       17.4f,   88.72284f, 89.0f,    103.972f, 104.0f,
      128.0f, 149.0f,    150.0f,   0x1p24f,    0x1p50f, 0x1p76f,   0x1p102f, 0x1p127f};
  constexpr std::uint64_t kAround = 2048;
  constexpr std::uint64_t kInfinityBits = 0x7f800000;
  Finding finding;
  const auto around = [&](std::uint64_t bits, std::uint64_t sign) {
    const std::uint64_t low = bits > kAround ? bits - kAround : 0;
    finding.merge(run(function, sign + low, sign + bits + kAround, 1));
  };
  for (const std::uint64_t sign : {std::uint64_t{0}, std::uint64_t{1} << 31}) {
    for (const float edge : kEdges) around(std::bit_cast<std::uint32_t>(edge), sign);
    around(kInfinityBits, sign);
  }
  return finding;
}

void report_and_expect(const Function& function, const Finding& finding) {
  std::printf("%-6s inputs %10llu  worst %.4f ulp at %a (0x%08x)\n", function.name,
              static_cast<unsigned long long>(finding.inputs), finding.worst_ulp,
              double{std::bit_cast<float>(finding.worst_input)}, finding.worst_input);
  std::fflush(stdout);
  EXPECT_EQ(finding.wrong, 0u) << function.name << ": first wrong special value at input 0x"
                               << std::hex << finding.wrong_input;
  EXPECT_LE(finding.worst_ulp, function.claim) << function.name;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string_view(value) == "1";
}

bool is_picked(const Function& function) {
  const char* value = std::getenv("TILEWRIGHT_MATH");
  return value == nullptr || std::string_view(value) == function.name;
}

TEST(MathF32, EveryStridedInputIsWithinTheClaim) {
  for (const Function& function : kFunctions) {
    if (!is_picked(function)) continue;
    Finding finding = run(function, 0, std::uint64_t{1} << 32, 997);
    finding.merge(run_edges(function));
    report_and_expect(function, finding);
  }
}

TEST(MathF32Slow, EveryInputIsWithinTheClaim) {
  if (!is_set("TILEWRIGHT_SLOW_TESTS")) GTEST_SKIP() << "all 2^32 inputs: TILEWRIGHT_SLOW_TESTS=1";
  for (const Function& function : kFunctions) {
    if (is_picked(function)) report_and_expect(function, run_all_inputs(function));
  }
}

// The proof runs the array form; the scalar form is the same definition and must give its bits.
TEST(MathF32, ScalarAndArrayFormsAgree) {
  for (const Function& function : kFunctions) {
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 49999) {
      const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      float lanes[16];
      std::fill(std::begin(lanes), std::end(lanes), x);
      function.array(lanes, lanes, 16);
      const float y = function.scalar(x);
      if (std::isnan(y) && std::isnan(lanes[5])) continue;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(y), std::bit_cast<std::uint32_t>(lanes[5]))
          << function.name << " at input 0x" << std::hex << bits;
    }
  }
}

}  // namespace
}  // namespace tilewright::ir::math
