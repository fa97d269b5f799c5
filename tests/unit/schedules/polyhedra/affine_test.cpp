// SPDX-License-Identifier: Apache-2.0
//
// Canonical form and exact arithmetic of quasi-affine expressions. Expected values come from integer
// arithmetic on sampled values, not from the expressions' own rules.
#include "schedules/polyhedra/affine.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tilewright::poly {
namespace {

const AffineExpr i = AffineExpr::variable("i");
const AffineExpr j = AffineExpr::variable("j");

TEST(Affine, PrintsInIslNotation) {
  EXPECT_EQ((i * 2 - j + AffineExpr(3)).text(), "2*i - j + 3");
  EXPECT_EQ(AffineExpr().text(), "0");
  EXPECT_EQ((-i).text(), "-i");
  EXPECT_EQ(floor_div(i + AffineExpr(1), 4).text(), "floor((i + 1)/4)");
  EXPECT_EQ(floor_div(i, 4).text(), "floor(i/4)");
  EXPECT_EQ(modulo(i, 4).text(), "i - 4*floor(i/4)");
}

TEST(Affine, EqualExpressionsHaveOneForm) {
  EXPECT_EQ(i + j - i, j);
  EXPECT_EQ(floor_div(i * 4 + AffineExpr(7), 4), i + AffineExpr(1));
  EXPECT_EQ(floor_div(i * 6 + AffineExpr(5), 4),
            i + floor_div(i + AffineExpr(0) + AffineExpr(0), 2) + AffineExpr(1));
  EXPECT_EQ(floor_div(floor_div(i, 3), 5), floor_div(i, 15));
  EXPECT_EQ(floor_div(i, 4) - floor_div(i, 4), AffineExpr());
  EXPECT_EQ(std::hash<AffineExpr>()(i + j), std::hash<AffineExpr>()(j + i));
}

TEST(Affine, OverflowIsMarkedNotWrapped) {
  const std::int64_t big = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE((AffineExpr(big) + AffineExpr(1)).overflowed());
  EXPECT_TRUE((i * big * 2).overflowed());
  EXPECT_TRUE((i * big + i).overflowed());
  EXPECT_TRUE((AffineExpr(std::numeric_limits<std::int64_t>::min()) * -1).overflowed());
  EXPECT_TRUE((i + (AffineExpr(big) + AffineExpr(1))).overflowed());
  EXPECT_FALSE((AffineExpr(big) + AffineExpr(-1)).overflowed());
  EXPECT_FALSE(floor_div(i * std::numeric_limits<std::int64_t>::min(), 3).overflowed());
  EXPECT_EQ((i * 4).evaluate({{"i", big}}), std::nullopt);
}

TEST(Affine, EvaluatesOnlyWithAllValues) {
  EXPECT_EQ((i + j).evaluate({{"i", 1}}), std::nullopt);
  EXPECT_EQ((i + j).evaluate({{"i", 1}, {"j", 2}}), 3);
}

TEST(Affine, NamesAreFoundInsideFloors) {
  AffineExpr e = floor_div(i + j, 3) + AffineExpr::variable("k");
  EXPECT_TRUE(e.mentions("j"));
  EXPECT_FALSE(e.mentions("m"));
  EXPECT_EQ(e.coefficient("i"), 0);
  std::vector<std::string> names;
  e.collect_names(names);
  EXPECT_EQ(names, (std::vector<std::string>{"i", "j", "k"}));
}

std::int64_t rounded_down(std::int64_t a, std::int64_t b) {
  std::int64_t q = a / b;
  while (q * b > a) --q;
  return q;
}

// Builds an expression and its meaning at one place side by side.
struct Pair {
  AffineExpr expr;
  std::int64_t value;
};

Pair random_pair(std::mt19937& random, const Binding& at, int depth) {
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  switch (depth == 0 ? pick(0, 1) : pick(0, 6)) {
    case 0: {
      std::int64_t c = pick(-9, 9);
      return {AffineExpr(c), c};
    }
    case 1: {
      std::string name = pick(0, 1) == 0 ? "i" : "j";
      return {AffineExpr::variable(name), at.find(name)->second};
    }
    case 2:
    case 3: {
      Pair a = random_pair(random, at, depth - 1);
      Pair b = random_pair(random, at, depth - 1);
      return {a.expr + b.expr, a.value + b.value};
    }
    case 4: {
      Pair a = random_pair(random, at, depth - 1);
      std::int64_t factor = pick(-4, 4);
      return {a.expr * factor, a.value * factor};
    }
    case 5: {
      Pair a = random_pair(random, at, depth - 1);
      std::int64_t divisor = pick(1, 7);
      return {floor_div(a.expr, divisor), rounded_down(a.value, divisor)};
    }
    default: {
      Pair a = random_pair(random, at, depth - 1);
      std::int64_t divisor = pick(1, 7);
      return {modulo(a.expr, divisor), a.value - divisor * rounded_down(a.value, divisor)};
    }
  }
}

TEST(Affine, ArithmeticMeansIntegerArithmetic) {
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    Binding at{{"i", static_cast<std::int64_t>(random() % 41) - 20},
               {"j", static_cast<std::int64_t>(random() % 41) - 20}};
    Pair pair = random_pair(random, at, 5);
    ASSERT_EQ(pair.expr.evaluate(at), pair.value) << pair.expr.text();
    AffineExpr moved = pair.expr.substituted("i", j + AffineExpr(at["i"] - at["j"]));
    ASSERT_EQ(moved.evaluate(at), pair.value) << pair.expr.text();
    ASSERT_EQ(pair.expr - pair.expr, AffineExpr());
  }
}

}  // namespace
}  // namespace tilewright::poly
