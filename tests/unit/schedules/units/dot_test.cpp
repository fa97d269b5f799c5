// SPDX-License-Identifier: Apache-2.0
//
// The units against the processor's own instructions, where it has them: random operands of several classes
// and every combination of edge values. TILEWRIGHT_SLOW_TESTS=1: 2 * 10^7 results of each instruction.
#include "schedules/units/dot.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilewright::units {
namespace {

const DotUnit kBf16{DotKind::FusedChain, {1, 0}, false};
const DotUnit kBytes{DotKind::Wrapping, {}, true};

std::uint32_t pair_step(std::uint16_t a0, std::uint16_t b0, std::uint16_t a1, std::uint16_t b1,
                        std::uint32_t c) {
  const std::int64_t a[] = {a0, a1};
  const std::int64_t b[] = {b0, b1};
  return static_cast<std::uint32_t>(dot(kBf16, a, b, c));
}

// Facts about the instruction that stand in its description or were seen on hardware, written by hand.
TEST(Dot, Bf16KnownAnswers) {
  // Of the second pair alone: -2^-75 * 2^-75 takes the smallest normal number below itself, which is flushed.
  EXPECT_EQ(pair_step(0, 0, 0x9A00, 0x1A00, 0x00800000U), 0U);
  // -2^-75 * 2^-76 rounds back to it: tiny is what is tiny after rounding.
  EXPECT_EQ(pair_step(0, 0, 0x9A00, 0x1980, 0x00800000U), 0x00800000U);
  // The pair with the higher number is added first: 2^-24 and then 1.5 * 2^-24 beside 1.
  EXPECT_EQ(pair_step(0x3380, 0x3F80, 0x33C0, 0x3F80, 0x3F800000U), 0x3F800002U);
  // An overflow on the way is infinity, and stays.
  EXPECT_EQ(pair_step(0xFF00, 0x4000, 0x7F00, 0x4000, 0), 0x7F800000U);
  // A subnormal accumulator counts as zero.
  EXPECT_EQ(pair_step(0, 0, 0, 0, 0x00400000U), 0U);
  // Minus zero stays where every addend is minus zero.
  EXPECT_EQ(pair_step(0x8000, 0x3F80, 0x8000, 0x3F80, 0x80000000U), 0x80000000U);
  EXPECT_EQ(pair_step(0x0000, 0x3F80, 0x8000, 0x3F80, 0x80000000U), 0U);
  // Infinity times zero.
  EXPECT_EQ(pair_step(0, 0, 0x7F80, 0, 0x3F800000U), 0xFFC00000U);
}

TEST(Dot, WholeNumbersWrapOnce) {
  const std::int64_t a[] = {255, 255, 255, 255};
  const std::int64_t b[] = {127, 127, 127, -128};
  EXPECT_EQ(dot(kBytes, a, b, 10), 10 + 255 * (127 * 3 - 128));
  EXPECT_EQ(static_cast<std::int32_t>(dot(kBytes, a, b, 0x7FFFFFFF)),
            static_cast<std::int32_t>(0x7FFFFFFFU + 255U * 253U));
}

#if defined(__x86_64__)

bool slow() { return std::getenv("TILEWRIGHT_SLOW_TESTS") != nullptr; }

__attribute__((target("avx512f,avx512bf16"))) void hardware_bf16(const std::uint16_t* a,
                                                                 const std::uint16_t* b,
                                                                 const std::uint32_t* c,
                                                                 std::uint32_t* out) {
  __m512i x = _mm512_loadu_si512(a);
  __m512i y = _mm512_loadu_si512(b);
  __m512bh xb;
  __m512bh yb;
  std::memcpy(&xb, &x, sizeof(x));
  std::memcpy(&yb, &y, sizeof(y));
  _mm512_storeu_ps(out, _mm512_dpbf16_ps(_mm512_loadu_ps(c), xb, yb));
}

__attribute__((target("avx512f,avx512vnni"))) void hardware_bytes(const std::uint8_t* a,
                                                                  const std::int8_t* b,
                                                                  const std::int32_t* c,
                                                                  std::int32_t* out) {
  _mm512_storeu_si512(out, _mm512_dpbusd_epi32(_mm512_loadu_si512(c), _mm512_loadu_si512(a),
                                               _mm512_loadu_si512(b)));
}

// Where sums end: zeros, the ends of the normal and the subnormal range, neighbours of powers of two,
// infinities, NaNs of both sorts, each with both signs.
std::vector<std::uint16_t> edges16() {
  std::vector<std::uint16_t> out;
  for (unsigned v : {0x0000U, 0x0001U, 0x007FU, 0x0080U, 0x0081U, 0x1A00U, 0x1980U,
                     0x2000U, 0x3380U, 0x33C0U, 0x3F7FU, 0x3F80U, 0x3F81U, 0x4000U,
                     0x5F80U, 0x7F00U, 0x7F7FU, 0x7F80U, 0x7F81U, 0x7FC0U, 0x7FC1U}) {
    out.push_back(static_cast<std::uint16_t>(v));
    out.push_back(static_cast<std::uint16_t>(v | 0x8000U));
  }
  return out;
}
std::vector<std::uint32_t> edges32() {
  std::vector<std::uint32_t> out;
  for (std::uint32_t v :
       {0x00000000U, 0x00000001U, 0x007FFFFFU, 0x00800000U, 0x00800001U, 0x3F7FFFFFU, 0x3F800000U,
        0x3F800001U, 0x4B800001U, 0x7F7FFFFFU, 0x7F800000U, 0x7F800001U, 0x7FC00123U}) {
    out.push_back(v);
    out.push_back(v | 0x80000000U);
  }
  return out;
}

class Bf16Lanes {
 public:
  // One result; runs both sides when all lanes are full.
  void add(std::uint16_t a0, std::uint16_t b0, std::uint16_t a1, std::uint16_t b1,
           std::uint32_t c) {
    a_[2 * n_] = a0;
    a_[2 * n_ + 1] = a1;
    b_[2 * n_] = b0;
    b_[2 * n_ + 1] = b1;
    c_[n_] = c;
    if (++n_ == 16) flush();
  }
  void flush() {
    if (n_ == 0) return;
    std::uint32_t out[16];
    hardware_bf16(a_, b_, c_, out);
    for (std::size_t l = 0; l < n_; ++l) {
      ++count_;
      const std::uint32_t own =
          pair_step(a_[2 * l], b_[2 * l], a_[2 * l + 1], b_[2 * l + 1], c_[l]);
      if (own == out[l]) continue;
      if (++wrong_ > 5) continue;
      ADD_FAILURE() << std::hex << "a " << a_[2 * l] << " " << a_[2 * l + 1] << " b " << b_[2 * l]
                    << " " << b_[2 * l + 1] << " c " << c_[l] << ": the unit gives " << own
                    << ", the processor " << out[l];
    }
    n_ = 0;
  }
  std::int64_t count() const { return count_; }
  std::int64_t wrong() const { return wrong_; }

 private:
  std::uint16_t a_[32] = {};
  std::uint16_t b_[32] = {};
  std::uint32_t c_[16] = {};
  std::size_t n_ = 0;
  std::int64_t count_ = 0;
  std::int64_t wrong_ = 0;
};

// Uniform patterns; exponents that meet; sums near the smallest normal number; near overflow.
void random_bf16(Bf16Lanes& lanes, std::int64_t per_class) {
  std::mt19937_64 random(20261130);
  auto bits = [&] { return static_cast<std::uint32_t>(random()); };
  auto bf16 = [&](std::uint32_t low, std::uint32_t width) {
    const std::uint32_t field = low + bits() % width;
    return static_cast<std::uint16_t>((bits() & 0x8000U) | (field << 7) | (bits() & 0x7FU));
  };
  auto f32 = [&](std::uint32_t low, std::uint32_t width) {
    const std::uint32_t field = low + bits() % width;
    return (bits() & 0x80000000U) | (field << 23) | (bits() & 0x7FFFFFU);
  };
  for (std::int64_t i = 0; i < per_class; ++i) {
    lanes.add(static_cast<std::uint16_t>(bits()), static_cast<std::uint16_t>(bits()),
              static_cast<std::uint16_t>(bits()), static_cast<std::uint16_t>(bits()), bits());
    lanes.add(bf16(115, 24), bf16(115, 24), bf16(115, 24), bf16(115, 24), f32(103, 48));
    lanes.add(bf16(55, 16), bf16(55, 16), bf16(55, 16), bf16(55, 16), f32(0, 8));
    lanes.add(bf16(183, 16), bf16(183, 16), bf16(183, 16), bf16(183, 16), f32(247, 9));
    // Cancellation: c is the product of the first pair, or one unit away from it.
    const std::uint16_t a0 = bf16(100, 56);
    const std::uint16_t b0 = bf16(100, 56);
    const std::uint32_t product = fused_step(a0, b0, 0, true) ^ 0x80000000U;
    lanes.add(bf16(80, 90), bf16(80, 90), a0, b0, product + bits() % 3 - 1);
  }
}

TEST(Dot, Bf16AsTheProcessor) {
  if (!__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "no avx512bf16 on this processor";
  Bf16Lanes lanes;
  const auto small = edges16();
  const auto large = edges32();
  // Every pair with every accumulator; the other pair one that matters least, then drawn.
  std::mt19937_64 random(7);
  for (std::uint16_t a : small)
    for (std::uint16_t b : small)
      for (std::uint32_t c : large) {
        lanes.add(0, 0, a, b, c);
        lanes.add(a, b, 0x3F80, 0x3F80, c);
        lanes.add(a, b, small[random() % small.size()], small[random() % small.size()], c);
      }
  random_bf16(lanes, slow() ? 4'000'000 : 40'000);
  lanes.flush();
  EXPECT_EQ(lanes.wrong(), 0);
  EXPECT_GE(lanes.count(), slow() ? 20'000'000 : 200'000);
}

TEST(Dot, BytesAsTheProcessor) {
  if (!__builtin_cpu_supports("avx512vnni")) GTEST_SKIP() << "no avx512vnni on this processor";
  std::mt19937_64 random(3);
  constexpr std::int64_t kEdge[] = {0, 1, 127, 128, 255};
  std::int64_t wrong = 0;
  const std::int64_t vectors = slow() ? 1'250'000 : 20'000;
  for (std::int64_t v = 0; v < vectors; ++v) {
    std::uint8_t a[64];
    std::int8_t b[64];
    std::int32_t c[16];
    std::int32_t out[16];
    for (int i = 0; i < 64; ++i) {
      const bool edge = v % 2 == 0;
      a[i] = static_cast<std::uint8_t>(edge ? kEdge[random() % 5]
                                            : static_cast<std::int64_t>(random() & 255));
      b[i] = static_cast<std::int8_t>(edge ? kEdge[random() % 5]
                                           : static_cast<std::int64_t>(random() & 255));
    }
    for (std::int32_t& x : c)
      x = v % 3 == 0 ? std::numeric_limits<std::int32_t>::max() -
                           static_cast<std::int32_t>(random() % 1000)
                     : static_cast<std::int32_t>(random());
    hardware_bytes(a, b, c, out);
    for (int l = 0; l < 16; ++l) {
      std::int64_t x[4];
      std::int64_t y[4];
      for (int t = 0; t < 4; ++t) {
        x[t] = a[4 * l + t];
        y[t] = b[4 * l + t];
      }
      wrong += static_cast<std::int32_t>(dot(kBytes, x, y, c[l])) != out[l];
    }
  }
  EXPECT_EQ(wrong, 0);
}

#endif

}  // namespace
}  // namespace tilewright::units
