// SPDX-License-Identifier: Apache-2.0
//
// The math definitions as sequences of primitives: they keep the vocabulary's types, cost what
// docs/math.md says, and give the same bits whichever builder evaluates them. How near the bits are
// to the function is tested in tests/differential.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "frontend/ir/math_scalar.h"
#include "tests/unit/frontend/ir/math_tracing_builder.h"

namespace tilewright::ir::math {
namespace {

static_assert(MathBuilder<TracingBuilder>);

struct Row {
  std::string name;
  TracedValue (*single)(TracingBuilder&, TracedValue);
  TracedValue (*twice)(TracingBuilder&, TracedValue);
  float (*f32)(float);
  double (*f64)(double);
};

#define TILEWRIGHT_ROW(name)                                                    \
  Row{#name, [](TracingBuilder& b, TracedValue x) { return name##_f32(b, x); }, \
      [](TracingBuilder& b, TracedValue x) { return name##_f64(b, x); },        \
      [](float x) { return name##_f32(x); }, [](double x) { return name##_f64(x); }},
const Row kRows[] = {TILEWRIGHT_MATH_FUNCTIONS(TILEWRIGHT_ROW)};
#undef TILEWRIGHT_ROW

TEST(MathDefinitions, KeepTheTypesOfTheVocabulary) {
  for (const Row& row : kRows) {
    TracingBuilder b, wide;
    EXPECT_EQ(row.single(b, b.input(1.0f)).type, TracedType::F32) << row.name;
    EXPECT_EQ(b.type_error(), "") << row.name << "_f32";
    EXPECT_EQ(row.twice(wide, wide.input(1.0)).type, TracedType::F64) << row.name;
    EXPECT_EQ(wide.type_error(), "") << row.name << "_f64";
  }
}

// The input decides nothing about the sequence: no branch, no loop count.
TEST(MathDefinitions, AreTheSameSequenceForEveryInput) {
  for (const Row& row : kRows) {
    TracingBuilder one, other;
    row.single(one, one.input(1.0f));
    row.single(other, other.input(-INFINITY));
    EXPECT_EQ(one.listing(), other.listing()) << row.name;
  }
}

TEST(MathDefinitions, SinglePrecisionExpReadsAsItIsMeant) {
  TracingBuilder b;
  exp_f32(b, b.input(1.0f));
  const std::string listing = b.listing();
  // The clamp comes first and the two products by 2^m last; in between there is no conversion.
  EXPECT_EQ(listing.rfind("%0 = min.f32 0x1.64p+6 x\n%1 = max.f32 -0x1.ap+6 %0\n", 0), 0u)
      << listing;
  EXPECT_EQ(b.count("fma"), 10) << listing;
  EXPECT_EQ(b.count("mul"), 2) << listing;
  EXPECT_EQ(b.count("shl"), 1) << listing;
  EXPECT_EQ(b.count("select") + b.count("lt") + b.count("rint"), 0) << listing;
}

TEST(MathDefinitions, GiveTheSameBitsInEveryBuilder) {
  const auto expect_equal = [](const Row& row, auto x, auto traced, auto scalar) {
    if (std::isnan(traced) && std::isnan(scalar)) return;
    EXPECT_EQ(traced, scalar) << row.name << " at " << x;
    EXPECT_EQ(std::signbit(traced), std::signbit(scalar)) << row.name << " at " << x;
  };
  for (const Row& row : kRows) {
    for (std::uint64_t i = 0; i < 300; ++i) {
      const std::uint64_t bits = (i * 0x9e3779b97f4a7c15u) ^ (i << 7);
      const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32));
      TracingBuilder b, wide;
      const TracedValue y = row.single(b, b.input(x));
      expect_equal(row, x, std::bit_cast<float>(static_cast<std::uint32_t>(y.bits)), row.f32(x));
      const double d = std::bit_cast<double>(bits);
      const TracedValue z = row.twice(wide, wide.input(d));
      expect_equal(row, d, std::bit_cast<double>(z.bits), row.f64(d));
    }
  }
}

TEST(MathDefinitions, HitExactValues) {
  for (int n = -149; n <= 127; ++n) {
    EXPECT_EQ(exp2_f32(static_cast<float>(n)), std::ldexp(1.0f, n));
    EXPECT_EQ(log2_f32(std::ldexp(1.0f, n)), static_cast<float>(n));
  }
  for (int n = -1074; n <= 1023; ++n) {
    EXPECT_EQ(exp2_f64(n), std::ldexp(1.0, n));
    EXPECT_EQ(log2_f64(std::ldexp(1.0, n)), n);
  }
  EXPECT_EQ(exp_f32(0.0f), 1.0f);
  EXPECT_EQ(exp_f32(-0.0f), 1.0f);
  EXPECT_EQ(log_f32(1.0f), 0.0f);
  EXPECT_EQ(cos_f64(0.0), 1.0);
  EXPECT_EQ(tanh_f32(INFINITY), 1.0f);
  EXPECT_EQ(erf_f32(-INFINITY), -1.0f);
  EXPECT_TRUE(std::isnan(sin_f32(INFINITY)));
  EXPECT_TRUE(std::isnan(cos_f64(-INFINITY)));
}

// docs/math.md holds rows `| name | f32 error | f32 ops | of them 64-bit | f64 error | f64 ops |`.
TEST(MathDefinitions, CostWhatTheDocumentationSays) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ifstream file(std::string(root == nullptr ? "." : root) + "/docs/math.md");
  ASSERT_TRUE(file.is_open());
  std::stringstream content;
  content << file.rdbuf();
  for (const Row& row : kRows) {
    TracingBuilder b, wide;
    row.single(b, b.input(1.0f));
    row.twice(wide, wide.input(1.0));
    const std::string start = "\n| " + row.name + " |";
    const std::size_t at = content.str().find(start);
    ASSERT_NE(at, std::string::npos) << "docs/math.md has no row for " << row.name;
    std::stringstream cells(content.str().substr(at + start.size(), 200));
    std::string bar;
    double f32_error = 0, f64_error = 0;
    int operations = 0, wide_operations = 0, f64_operations = 0;
    cells >> f32_error >> bar >> operations >> bar >> wide_operations >> bar >> f64_error >> bar >>
        f64_operations;
    EXPECT_EQ(operations, b.operations()) << row.name << "_f32";
    EXPECT_EQ(wide_operations, b.wide_operations()) << row.name << "_f32";
    EXPECT_EQ(f64_operations, wide.operations()) << row.name << "_f64";
  }
}

}  // namespace
}  // namespace tilewright::ir::math
