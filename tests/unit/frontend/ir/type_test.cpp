// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/type.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace tilewright::ir {
namespace {

TEST(Type, TextsReadBack) {
  for (int i = 0; i < kNumScalarTypes; ++i) {
    const auto type = static_cast<ScalarType>(i);
    EXPECT_EQ(parse_type(type_text(type)), type);
  }
  EXPECT_FALSE(parse_type("f31"));
  EXPECT_FALSE(parse_type(""));
}

TEST(Type, F16EveryPatternReadsBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const double value = float_value(ScalarType::F16, pattern);
    if (std::isnan(value)) continue;
    EXPECT_EQ(float_bits(ScalarType::F16, value), pattern);
    EXPECT_EQ(round_to_type(ScalarType::F16, value), value);
  }
}

TEST(Type, F16RoundsToNearestEven) {
  EXPECT_EQ(float_bits(ScalarType::F16, 1.0F), 0x3c00);
  EXPECT_EQ(float_bits(ScalarType::F16, 65504.0F), 0x7bff);
  EXPECT_EQ(float_bits(ScalarType::F16, 65519.99F), 0x7bff);
  EXPECT_EQ(float_bits(ScalarType::F16, 65520.0F), 0x7c00);
  EXPECT_EQ(float_bits(ScalarType::F16, 0x1p-24F), 0x0001);
  EXPECT_EQ(float_bits(ScalarType::F16, 0x1p-25F), 0x0000);
  EXPECT_EQ(float_bits(ScalarType::F16, 0x1.8p-25F), 0x0001);
  EXPECT_EQ(float_bits(ScalarType::F16, 0x1.002p0F), 0x3c00);
  EXPECT_EQ(float_bits(ScalarType::F16, 0x1.006p0F), 0x3c02);
  EXPECT_EQ(float_bits(ScalarType::F16, 0x1.ff8p-15F), 0x03ff);
  EXPECT_EQ(float_bits(ScalarType::F16, 0x1.ffcp-15F), 0x0400);
  EXPECT_EQ(float_bits(ScalarType::F16, 0x1.ffep-15F), 0x0400);
}

TEST(Type, Bf16EveryPatternReadsBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const double value = float_value(ScalarType::BF16, pattern);
    if (std::isnan(value)) continue;
    EXPECT_EQ(float_bits(ScalarType::BF16, value), pattern);
    EXPECT_EQ(round_to_type(ScalarType::BF16, value), value);
  }
}

TEST(Type, Bf16RoundsToNearestEven) {
  EXPECT_EQ(float_bits(ScalarType::BF16, 0x1.01p0F), 0x3f80);
  EXPECT_EQ(float_bits(ScalarType::BF16, 0x1.03p0F), 0x3f82);
  EXPECT_EQ(float_bits(ScalarType::BF16, 0x1.010002p0F), 0x3f81);
  EXPECT_EQ(float_bits(ScalarType::BF16, std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(float_value(
      ScalarType::BF16, float_bits(ScalarType::BF16, std::bit_cast<float>(0x7f800001U)))));
}

TEST(Type, RoundingIsOneRoundingNotTwo) {
  // Just above the midpoint of two f16 numbers by less than an f32 step: rounding through f32 would tie.
  const double x = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(round_to_type(ScalarType::F16, x), 1.0 + 0x1p-10);
  EXPECT_EQ(round_to_type(ScalarType::BF16, 1.0 + 0x1p-8 + 0x1p-40), 1.0 + 0x1p-7);
  EXPECT_EQ(round_to_type(ScalarType::F16, 1e6), std::numeric_limits<double>::infinity());
  EXPECT_EQ(round_to_type(ScalarType::F16, -1e6), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(round_to_type(ScalarType::F16, -1e-30)));
}

TEST(Type, IntegersWrapToTheirWidth) {
  EXPECT_EQ(wrap_to_type(ScalarType::I8, 128), -128);
  EXPECT_EQ(wrap_to_type(ScalarType::I8, -129), 127);
  EXPECT_EQ(wrap_to_type(ScalarType::I32, std::int64_t{1} << 31), -(std::int64_t{1} << 31));
  EXPECT_EQ(wrap_to_type(ScalarType::I64, INT64_MIN), INT64_MIN);
}

TEST(Type, ConstantsOfTheFormats) {
  EXPECT_EQ(unit_roundoff(ScalarType::F32), 0x1p-24);
  EXPECT_EQ(unit_roundoff(ScalarType::BF16), 0x1p-8);
  EXPECT_EQ(unit_roundoff(ScalarType::I32), 0.0);
  EXPECT_EQ(smallest_subnormal(ScalarType::F16),
            static_cast<double>(float_value(ScalarType::F16, 1)));
  EXPECT_EQ(smallest_subnormal(ScalarType::BF16),
            static_cast<double>(float_value(ScalarType::BF16, 1)));
  EXPECT_EQ(largest_finite(ScalarType::F16),
            static_cast<double>(float_value(ScalarType::F16, 0x7bff)));
  EXPECT_EQ(largest_finite(ScalarType::BF16),
            static_cast<double>(float_value(ScalarType::BF16, 0x7f7f)));
}

}  // namespace
}  // namespace tilewright::ir
