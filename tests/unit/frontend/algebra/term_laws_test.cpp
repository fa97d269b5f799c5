// SPDX-License-Identifier: Apache-2.0
//
// The same value written in different ways is one term, which has the value; different values are different terms.
#include "tests/unit/frontend/algebra/term_cases.h"

namespace tilewright::algebra {
namespace {

struct Pair {
  const char* left;
  const char* right;
};

// Prints with the texts, so that a failure can be read.
void expect_same(const std::vector<Pair>& pairs) {
  Terms terms;
  for (const Pair& pair : pairs) {
    const Term a = terms.value(pair.left);
    const Term b = terms.value(pair.right);
    EXPECT_EQ(terms.store.equal(a, b).verdict, Verdict::Equal)
        << pair.left << "  is  " << terms.print(a) << "\n"
        << pair.right << "  is  " << terms.print(b);
    EXPECT_TRUE(terms.agree(a, b)) << pair.left << " " << pair.right;
  }
}

void expect_same_handle(const std::vector<Pair>& pairs) {
  Terms terms;
  for (const Pair& pair : pairs) {
    const Term a = terms.value(pair.left);
    const Term b = terms.value(pair.right);
    EXPECT_TRUE(a == b) << pair.left << "  is  " << terms.print(a) << "\n"
                        << pair.right << "  is  " << terms.print(b);
    EXPECT_TRUE(terms.agree(a, b)) << pair.left << " " << pair.right;
  }
}

void expect_different(const std::vector<Pair>& pairs) {
  Terms terms;
  for (const Pair& pair : pairs) {
    const Term a = terms.value(pair.left);
    const Term b = terms.value(pair.right);
    EXPECT_EQ(terms.store.equal(a, b).verdict, Verdict::NotShown) << pair.left << " " << pair.right;
    EXPECT_FALSE(terms.agree(a, b)) << pair.left << " " << pair.right;
  }
}

TEST(TermLaws, SumsAndProducts) {
  expect_same_handle({
      {"x[i,j] + y[i,j]", "y[i,j] + x[i,j]"},
      {"(x[i,j] + y[i,j]) * w[i]", "w[i] * y[i,j] + w[i] * x[i,j]"},
      {"x[i,j] + w[j] - x[i,j]", "w[j]"},
      {"(x[i,j] + y[i,j]) * (x[i,j] - y[i,j])", "x[i,j] * x[i,j] - y[i,j] * y[i,j]"},
      {"x[i,j] / 4.0 + x[i,j] * 0.75", "x[i,j]"},
      {"fma(x[i,j], y[i,j], w[i])", "w[i] + y[i,j] * x[i,j]"},
      {"-(x[i,j] - y[i,j])", "y[i,j] - x[i,j]"},
  });
}

TEST(TermLaws, QuotientsAndRoots) {
  expect_same_handle({
      {"x[i,j] / w[i]", "x[i,j] * (1.0 / w[i])"},
      {"x[i,j] / w[i] / w[j]", "x[i,j] / (w[j] * w[i])"},
      {"1.0 / (1.0 / w[i])", "w[i]"},
      {"sqrt(w[i]) * sqrt(w[i])", "w[i]"},
      {"rsqrt(w[i]) * w[i]", "sqrt(w[i])"},
      {"1.0 / sqrt(w[i])", "rsqrt(w[i])"},
      {"x[i,j] * rsqrt(64.0)", "x[i,j] / 8.0"},
      {"sqrt(8.0) * x[i,j]", "2.0 * x[i,j] * sqrt(2.0)"},
      {"sqrt(6.0)", "sqrt(2.0) * sqrt(3.0)"},
      {"sqrt(4.0 * w[i])", "2.0 * sqrt(w[i])"},
      {"1.0 / (2.0 * x[i,j] + 2.0 * y[i,j])", "0.5 / (y[i,j] + x[i,j])"},
      {"1.0 / (x[i,j] * w[i] + y[i,j] * w[i])", "1.0 / w[i] / (y[i,j] + x[i,j])"},
      {"1.0 / (x[i,j] - y[i,j])", "-1.0 / (y[i,j] - x[i,j])"},
  });
  expect_same({
      {"x[i,j] / (x[i,j] + y[i,j]) + y[i,j] / (x[i,j] + y[i,j])", "1.0"},
      {"1.0 / x[i,j] + 1.0 / y[i,j]", "(x[i,j] + y[i,j]) / (x[i,j] * y[i,j])"},
      {"(x[i,j] + y[i,j]) * rsqrt(x[i,j] + y[i,j])", "sqrt(x[i,j] + y[i,j])"},
      {"1.0 / (x[i,j] + 1.0) - 1.0 / (x[i,j] + 2.0)", "1.0 / ((x[i,j] + 1.0) * (x[i,j] + 2.0))"},
  });
}

TEST(TermLaws, Exponentials) {
  expect_same_handle({
      {"exp(x[i,j]) * exp(y[i,j])", "exp(x[i,j] + y[i,j])"},
      {"exp(x[i,j] - w[i]) * exp(w[i] - w[j])", "exp(x[i,j] - w[j])"},
      {"exp(x[i,j]) / exp(y[i,j])", "exp(x[i,j] - y[i,j])"},
      {"exp2(x[i,j] / log(2.0))", "exp(x[i,j])"},
      {"exp2(x[i,j] * log2(exp(1.0)))", "exp(x[i,j])"},
      {"exp2(x[i,j]) * exp2(x[i,j])", "exp2(2.0 * x[i,j])"},
      {"expm1(x[i,j]) + 1.0", "exp(x[i,j])"},
      {"log(exp(x[i,j]))", "x[i,j]"},
      {"exp(log(w[i]))", "w[i]"},
      {"log2(w[i])", "log(w[i]) / log(2.0)"},
      {"log(4.0)", "2.0 * log(2.0)"},
      {"log1p(w[i])", "log(1.0 + w[i])"},
      {"w[i] + log(exp(x[i,j] - w[i]) + exp(y[i,j] - w[i]))", "log(exp(x[i,j]) + exp(y[i,j]))"},
      {"1.0 / (1.0 + exp(-x[i,j]))", "exp(x[i,j]) / (exp(x[i,j]) + 1.0)"},
      {"exp(-inf) + x[i,j]", "x[i,j]"},
  });
}

TEST(TermLaws, Maxima) {
  expect_same_handle({
      {"max(x[i,j], max(y[i,j], w[i]))", "max(max(w[i], x[i,j]), y[i,j])"},
      {"max(x[i,j] + w[i], w[i] + y[i,j])", "w[i] + max(y[i,j], x[i,j])"},
      {"max(2.0 * x[i,j], 2.0 * y[i,j])", "2.0 * max(x[i,j], y[i,j])"},
      {"max(x[i,j], x[i,j])", "x[i,j]"},
      {"max(x[i,j], x[i,j] + 1.0)", "x[i,j] + 1.0"},
      {"max(-inf, x[i,j])", "x[i,j]"},
      {"min(x[i,j], y[i,j]) + max(x[i,j], y[i,j])", "x[i,j] + y[i,j]"},
      {"abs(x[i,j] - y[i,j])", "max(x[i,j] - y[i,j], y[i,j] - x[i,j])"},
      {"abs(x[i,j] - y[i,j])", "abs(y[i,j] - x[i,j])"},
      {"max(w[i], select(i < j, x[i,j], -inf))", "select(i < j, max(x[i,j], w[i]), w[i])"},
  });
}

TEST(TermLaws, Selections) {
  expect_same_handle({
      {"select(i < j, x[i,j], y[i,j])", "select(i >= j, y[i,j], x[i,j])"},
      {"select(i < j, x[i,j], x[i,j])", "x[i,j]"},
      {"select(i < j && i < 3, x[i,j], 0.0)", "select(i < 3, select(j > i, x[i,j], 0.0), 0.0)"},
      {"select(!(x[i,j] < y[i,j]), w[i], w[j])", "select(y[i,j] > x[i,j], w[j], w[i])"},
      {"exp(select(i < j, x[i,j], -inf) - w[i])", "select(i < j, exp(x[i,j] - w[i]), 0.0)"},
      {"exp(select(i < j, x[i,j], y[i,j]))", "select(i < j, exp(x[i,j]), exp(y[i,j]))"},
      {"1.0 / select(i < j, w[i], w[j])", "select(i < j, 1.0 / w[i], 1.0 / w[j])"},
      {"select(2 * i + 1 < 2 * j, w[i], w[j])", "select(i < j, w[i], w[j])"},
      {"select(i < j || i >= j, w[i], w[j])", "w[i]"},
      {"max(select(i < j, x[i,j], -inf), select(i >= j, y[i,j], -inf))",
       "select(i < j, x[i,j], y[i,j])"},
  });
}

TEST(TermLaws, Indices) {
  expect_same_handle({
      {"w[(4 * i + j) % 8]", "w[(j + 4 * i) % 8]"},
      {"w[(8 * i + j) / 8]", "w[i + j / 8]"},
      {"w[j % 8 % 4]", "w[j % 4]"},
      {"w[j / 2 / 3]", "w[j / 6]"},
      {"w[(2 * j + 1) / 4]", "w[j / 2]"},
      {"w[8 * (j / 8) + j % 8]", "w[j]"},
      {"w[(j + 1) / 2]", "w[j - j / 2]"},
      {"w[min(i, j)]", "w[i + j - max(j, i)]"},
      {"w[(i % 4 + 4 * j) / 4]", "w[j]"},
  });
}

TEST(TermLaws, SumsOverDomains) {
  expect_same_handle({
      {"sum(k < N) x[i,k] * w[k]", "sum(q < N) w[q] * x[i,q]"},
      {"sum(k < N) (x[i,k] + y[i,k])",
       "s = sum(a < N) y[i,a]; t = sum(b < N) x[i,b]; t[i,j] + s[i,0]"},
      {"sum(k < N) x[i,k] / w[i]", "s = sum(k < N) x[i,k]; s[i,j] / w[i]"},
      {"sum(k < N) exp(x[i,k] - w[i])", "s = sum(k < N) exp(x[i,k]); exp(-w[i]) * s[i,j]"},
      {"s = sum(l < N) x[i,l]; sum(k < N) s[k,0]", "sum(l < N, k < N) x[k,l]"},
      {"s = sum(l < N) x[i,l] * w[l]; sum(k < N) s[k,j] * y[i,k]",
       "s = sum(k < N) y[i,k] * x[k,j]; sum(l < N) w[l] * s[i,l]"},
      {"sum(k < N, l < N) w[k] * x[i,l]",
       "s = sum(k < N) w[k]; t = sum(k < N) x[i,k]; s[i,j] * t[i,j]"},
      {"sum(k < N) w[i]", "w[i] * f64(N)"},
      {"sum(k < N) select(k <= i, x[i,k], 0.0)", "sum(k < N where k < i + 1) x[i,k]"},
      {"sum(k < N) select(k == j, x[i,k], 0.0)", "select(j >= 0 && j < N, x[i,j], 0.0)"},
      {"sum(k < N) exp(select(k <= i, x[i,k], -inf))", "sum(k < N where k <= i) exp(x[i,k])"},
      {"max(k < N) (x[i,k] + w[i])", "m = max(k < N) x[i,k]; w[i] + m[i,j]"},
      {"m = max(l < N) x[i,l]; max(k < N) m[k,i]", "max(l < N, k < N) x[k,l]"},
      {"max(k < N) select(k <= i, x[i,k], -inf)", "max(k < N where k <= i) x[i,k]"},
      {"min(k < N) x[i,k]", "m = max(k < N) -x[i,k]; -m[i,j]"},
      {"max(k < N) x[i,k] * rsqrt(f64(N))", "m = max(k < N) x[i,k]; m[i,j] * rsqrt(f64(N))"},
      {"sum(k < N, l < N) x[k,l] * x[k,l]", "sum(k < N, l < N) x[l,k] * x[l,k]"},
  });
}

std::vector<std::string> obligations_of(const std::string& expression) {
  Terms terms;
  terms.value(expression);
  std::vector<std::string> out;
  for (const Obligation& obligation : terms.store.take_obligations())
    out.push_back(terms.store.print(obligation));
  return out;
}

// What a law needs is said, and only where it is needed.
TEST(TermLaws, ConditionsAreLogged) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(obligations_of("x[i,j] + y[i,j]"), Strings());
  EXPECT_EQ(obligations_of("x[i,j] + y[i,j] - y[i,j]"), Strings({"y[i, j] is finite"}));
  EXPECT_EQ(obligations_of("x[i,j] / w[i] * w[i]"), Strings({"w[i] != 0", "w[i] is finite"}));
  EXPECT_EQ(obligations_of("x[i,j] / w[i]"), Strings());
  EXPECT_EQ(obligations_of("sqrt(w[i]) * sqrt(w[i])"), Strings({"w[i] >= 0"}));
  EXPECT_EQ(obligations_of("exp(log(w[i]))"), Strings({"w[i] > 0"}));
  EXPECT_EQ(obligations_of("select(i < j, w[i] - w[i], x[i,j])"),
            Strings({"w[i] is finite when 1 - [i - j >= 0]"}));
  EXPECT_EQ(obligations_of("(select(i < j, x[i,j], 0.0)) - x[i,j]"),
            Strings({"x[i, j] is finite"}));
  EXPECT_EQ(obligations_of("sum(k < N) exp(x[i,k] - w[i])"),
            Strings({"w[i] is finite unless sum(k1_0 where -1 + N - k1_0 >= 0, k1_0 >= 0: "
                     "exp(x[i, k1_0])) is empty"}));
  EXPECT_EQ(obligations_of("sum(k < N) (x[i,k] / w[k] * w[k])"),
            Strings({"w[_0] != 0 for all _0 where -1 + N - _0 >= 0, _0 >= 0",
                     "w[_0] is finite for all _0 where -1 + N - _0 >= 0, _0 >= 0"}));
}

// NaN and infinities are values of their own: nothing cancels them.
TEST(TermLaws, InfinitiesDoNotCancel) {
  Terms terms;
  TermStore& store = terms.store;
  const Term inf = store.infinity(false);
  const Term x = terms.value("x[i,j]");
  EXPECT_TRUE(store.add(x, inf) == inf);
  EXPECT_FALSE(store.is_constant(store.subtract(inf, inf)));
  EXPECT_FALSE(store.is_constant(store.subtract(store.nan(), store.nan())));
  EXPECT_TRUE(store.multiply(inf, store.integer(-2)) == store.infinity(true));
  EXPECT_FALSE(store.multiply(store.integer(0), inf) == store.integer(0));
  EXPECT_TRUE(store.maximum(x, inf) == inf);
  EXPECT_TRUE(store.exp(store.infinity(true)) == store.integer(0));
}

// Beyond its limits the store gives unknowns, which equal nothing else, and says so.
TEST(TermLaws, LimitsEndInUnknowns) {
  Terms terms;
  TermStore& store = terms.store;
  Term sum = store.integer(1);
  for (int i = 0; i < 40; ++i) {
    const Term index[] = {store.integer(i)};
    sum = store.add(sum, store.read(terms.symbol("x"), index, ir::ScalarType::F64));
  }
  EXPECT_FALSE(store.limit_reached());
  const Term a = store.power(sum, 6);
  EXPECT_TRUE(store.limit_reached());
  EXPECT_EQ(store.equal(a, store.power(sum, 5)).verdict, Verdict::NotShown);
  Term big = store.integer(3);
  for (int i = 0; i < 40; ++i) big = store.multiply(big, big);
  EXPECT_EQ(store.equal(big, store.integer(3)).verdict, Verdict::NotShown);
}

TEST(TermLaws, WhatDiffersIsDifferent) {
  expect_different({
      {"x[i,j]", "x[j,i]"},
      {"exp(x[i,j] - w[i])", "exp(x[i,j] - w[j])"},
      {"exp(x[i,j])", "exp2(x[i,j])"},
      {"exp2(x[i,j] * 1.4426950408889634)", "1.0001 * exp(x[i,j])"},
      {"x[i,j] / (x[i,j] + y[i,j])", "y[i,j] / (x[i,j] + y[i,j])"},
      {"x[i,j] * (x[i,j] + w[i])", "x[i,j] * x[i,j] + w[i]"},
      {"sum(k < N) w[j]", "w[j]"},
      {"max(x[i,j], y[i,j])", "x[i,j] + y[i,j]"},
      {"select(i < j, x[i,j], y[i,j])", "select(i <= j, x[i,j], y[i,j])"},
      {"sqrt(x[i,j] + y[i,j])", "sqrt(x[i,j]) + sqrt(y[i,j])"},
      {"w[(j + 1) / 2]", "w[j / 2]"},
      {"max(-x[i,j], -y[i,j])", "-max(x[i,j], y[i,j])"},
  });
}

}  // namespace
}  // namespace tilewright::algebra
