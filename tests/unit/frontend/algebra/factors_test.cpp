// SPDX-License-Identifier: Apache-2.0
#include "frontend/algebra/factors.h"

#include <gtest/gtest.h>

#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"

namespace tilewright::algebra {
namespace {

std::string list(const std::vector<ir::Expr>& factors) {
  std::string out;
  for (ir::Expr factor : factors) out += (out.empty() ? "" : ", ") + ir::print(factor);
  return out;
}

// The factors that read `w`, of a value written in text: "rest | over | under".
std::string split(std::string_view value, std::string_view type = "f32") {
  ir::Context context;
  const std::string t(type);
  const Source source("a.tw", "algorithm a(N) {\n  input x : " + t + "[N]\n  input y : " + t +
                                  "[N]\n  input w : " + t + "[N]\n  output o[i < N] : " + t +
                                  " = " + std::string(value) + "\n}\n");
  auto algorithm = ir::parse_algorithm(context, source);
  if (!algorithm.ok()) return algorithm.diagnostics()[0].message;
  const Factors out = take_factors(context, algorithm->equations[0].value, [](ir::Expr e) {
    const auto* read = e.as<ir::Read>();
    return read && read->tensor.text() == "w";
  });
  return ir::print(out.rest) + " | " + list(out.over) + " | " + list(out.under);
}

TEST(Factors, OfProductsAndQuotients) {
  EXPECT_EQ(split("x[i] * w[i]"), "x[i] | w[i] | ");
  EXPECT_EQ(split("w[i] * (y[i] * w[0])"), "y[i] | w[i], w[0] | ");
  EXPECT_EQ(split("x[i] / w[i] * y[i]"), "x[i] * y[i] |  | w[i]");
  EXPECT_EQ(split("x[i] / (y[i] / w[i])"), "x[i] / y[i] | w[i] | ");
  EXPECT_EQ(split("-(x[i] * w[i])"), "-x[i] | w[i] | ");
  EXPECT_EQ(split("w[i]"), "f32(1) | w[i] | ");
}

TEST(Factors, OfSumsThatHaveThemInEveryTerm) {
  EXPECT_EQ(split("x[i] * w[i] + w[i] * y[i]"), "x[i] + y[i] | w[i] | ");
  EXPECT_EQ(split("x[i] / w[i] - w[i]"), "x[i] / w[i] - w[i] |  | ");
  EXPECT_EQ(split("x[i] * w[i] * w[i] + w[i]"), "x[i] * w[i] + f32(1) | w[i] | ");
  EXPECT_EQ(split("select(i < 3, x[i] * w[i], f32(0)) * y[i]"),
            "select(i < 3, x[i], f32(0)) * y[i] | w[i] | ");
}

TEST(Factors, WhatIsNoFactorStays) {
  EXPECT_EQ(split("exp(w[i]) * x[i]"), "exp(w[i]) * x[i] |  | ");
  EXPECT_EQ(split("x[i] + w[i]"), "x[i] + w[i] |  | ");
}

// Floor division does not distribute over sums: an integer keeps its divisors.
TEST(Factors, IntegersHaveNoQuotients) {
  EXPECT_EQ(split("x[i] * w[i]", "i32"), "x[i] | w[i] | ");
  EXPECT_EQ(split("x[i] / w[i]", "i32"), "x[i] / w[i] |  | ");
  EXPECT_EQ(split("x[i] * w[i] / y[i]", "i32"), "x[i] * w[i] / y[i] |  | ");
}

TEST(Factors, AreAppliedInOrder) {
  ir::Context context;
  const ir::Expr a = context.var(context.symbol("a"), ir::ScalarType::F32);
  const ir::Expr b = context.var(context.symbol("b"), ir::ScalarType::F32);
  const ir::Expr c = context.var(context.symbol("c"), ir::ScalarType::F32);
  EXPECT_EQ(ir::print(with_factors(context, a, {b}, {c})), "a * b / c");
  EXPECT_EQ(with_factors(context, a, {}, {}), a);
}

}  // namespace
}  // namespace tilewright::algebra
