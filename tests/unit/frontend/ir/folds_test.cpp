// SPDX-License-Identifier: Apache-2.0
//
// What the forms of folds mean, by hand: ties, NaNs, emptiness, order, places; sorting; calls; clamps.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include "frontend/base/render.h"
#include "frontend/ir/interpret.h"
#include "frontend/ir/text.h"

namespace tilewright::ir {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Given {
  Context context;
  TensorMap results;

  // Each input is one row of f32, i32 or bool; sizes are given as they are named.
  Given(const std::string& text, const std::map<std::string, std::int64_t>& sizes,
        const std::map<std::string, std::vector<double>>& inputs) {
    const Source source("case.tw", text);
    auto algorithm = parse_algorithm(context, source);
    EXPECT_TRUE(algorithm.ok()) << (algorithm.ok() ? "" : render(algorithm.diagnostics(), &source));
    if (!algorithm.ok()) return;
    Bindings bindings;
    for (const auto& [name, size] : sizes) bindings[context.symbol(name)] = size;
    TensorMap given;
    for (const Input& input : algorithm->inputs) {
      std::vector<std::int64_t> shape;
      for (Expr extent : input.shape) shape.push_back(evaluate_extents(extent, bindings));
      Tensor tensor = make_tensor(input.type, shape);
      const auto& values = inputs.at(std::string(input.name.text()));
      EXPECT_EQ(values.size(), tensor.data.size());
      for (std::size_t i = 0; i < tensor.data.size(); ++i) {
        if (is_float(input.type))
          tensor.data[i].f = values[i];
        else
          tensor.data[i].i = static_cast<std::int64_t>(values[i]);
      }
      given.emplace(input.name, std::move(tensor));
    }
    auto all = interpret(*algorithm, bindings, given, {Reading::Exact, {}, 1 << 20});
    EXPECT_TRUE(all.ok()) << (all.ok() ? "" : render(all.diagnostics(), &source));
    if (all.ok()) results = std::move(*all);
  }

  std::vector<double> operator[](const char* name) {
    const Tensor& tensor = results.at(context.symbol(name));
    std::vector<double> out;
    for (Scalar cell : tensor.data)
      out.push_back(is_float(tensor.type) ? cell.f : static_cast<double>(cell.i));
    return out;
  }
};

using Values = std::vector<double>;

TEST(Folds, TheSmallestIndexOfEqualValuesAndNoNan) {
  Given run(R"(algorithm a(N) {
    input x : f32[N]
    output best = argmax(j < N) x[j]
    output least = argmin(j < N where j != 4) (x[j], 100 - i64(j))
    output none = argmax(j < N where j > 90) x[j]
    output said = argmax(j < N where j > 90) x[j] on_empty (7, -1)
  })",
            {{"N", 6}}, {{"x", {1, 5, kNan, 5, -2, -2}}});
  EXPECT_EQ(run["best.value"], Values({5}));
  EXPECT_EQ(run["best.index"], Values({1}));
  EXPECT_EQ(run["least.value"], Values({-2}));
  EXPECT_EQ(run["least.index"], Values({95}));
  EXPECT_EQ(run["none.value"], Values({-kInf}));
  EXPECT_EQ(run["said.index"], Values({-1}));
}

TEST(Folds, ConditionsAndEmptiness) {
  Given run(R"(algorithm a(N) {
    input x : f32[N]
    input keep : bool[N]
    output total[i < N] = sum(j < N where keep[j] && j < i) x[j] on_empty -1
    output any_[i < N] = or(j < i) x[j] > 2
    output all_[i < N] = and(j < i) x[j] > 2
  })",
            {{"N", 4}}, {{"x", {1, 3, 5, 7}}, {"keep", {0, 1, 0, 1}}});
  EXPECT_EQ(run["total"], Values({-1, -1, 3, 3}));
  EXPECT_EQ(run["any_"], Values({0, 0, 1, 1}));
  EXPECT_EQ(run["all_"], Values({1, 0, 0, 0}));
}

TEST(Folds, DeclaredReductionKeepsTheOrderOfItsTerms) {
  // x -> a x + b, one after the other: ((x * 2 + 1) * 3 + 4) * 5 + 6.
  Given run(R"(monoid maps(a : i32, b : i32) {
    identity 1, 0
    combine(f, g) = f.a * g.a, g.a * f.b + g.b
  }
  algorithm a(N) {
    input a : i32[N]
    input b : i32[N]
    output all = maps(j < N) (a[j], b[j])
    output upto[j] = scan maps(j) (a[j], b[j])
  })",
            {{"N", 3}}, {{"a", {2, 3, 5}}, {"b", {1, 4, 6}}});
  EXPECT_EQ(run["all.a"], Values({30}));
  EXPECT_EQ(run["all.b"], Values({41}));
  EXPECT_EQ(run["upto.b"], Values({1, 7, 41}));
}

TEST(Folds, ScansAndRecurrences) {
  Given run(R"(algorithm a(M, N) {
    input x : f32[M, N]
    input h0 : f32[M]
    output along[i, j] = scan sum(j) x[i, j]
    output across[i, j] = scan max(i) x[i, j]
    output h[i, j] = scan(j, before = h0[i]) 2 * before + x[i, j]
    output fib[n < 10] = scan(n, p = i64(0), q = i64(1)) (q, p + q)
  })",
            {{"M", 2}, {"N", 3}}, {{"x", {1, 2, 3, 0, 5, -1}}, {"h0", {10, 0}}});
  EXPECT_EQ(run["along"], Values({1, 3, 6, 0, 5, 4}));
  EXPECT_EQ(run["across"], Values({1, 2, 3, 1, 5, 3}));
  EXPECT_EQ(run["h"], Values({21, 44, 91, 0, 5, 9}));
  EXPECT_EQ(run["fib.p"], Values({1, 1, 2, 3, 5, 8, 13, 21, 34, 55}));
}

TEST(Folds, UpdatesInOrder) {
  Given run(R"(algorithm a(N, B) {
    input x : f32[N]
    input bin : i32[N] range 0 .. B
    output total[b < B] = update f32(100) sum(n < N) at [bin[n]] x[n]
    output last_[b < B] = update f32(b) last(n < N where x[n] > 0) at [bin[n]] x[n]
    output best[b < B] = update (f32(2), i64(-1)) argmax(n < N) at [bin[n]] (x[n], i64(n))
  })",
            {{"N", 5}, {"B", 3}}, {{"x", {1, 2, 3, 4, -5}}, {"bin", {0, 2, 0, 2, 2}}});
  EXPECT_EQ(run["total"], Values({104, 100, 101}));
  EXPECT_EQ(run["last_"], Values({3, 1, 4}));
  EXPECT_EQ(run["best.index"], Values({2, -1, 3}));
}

TEST(Folds, SortIsStableAndPutsNansLast) {
  Given run(R"(algorithm a(N) {
    requires 3 <= N
    input x : f32[N]
    output up[k < N] = sort(j < N) x[j]
    output down[k < 3] = sort_descending(j < N) x[j]
    output sorted[k < N] = x[up[k]]
  })",
            {{"N", 7}}, {{"x", {2, kNan, -1, 2, kInf, -1, 0}}});
  EXPECT_EQ(run["up"], Values({2, 5, 6, 0, 3, 4, 1}));
  EXPECT_EQ(run["down"], Values({4, 0, 3}));
  const Values sorted = run["sorted"];
  EXPECT_EQ(Values(sorted.begin(), sorted.end() - 1), Values({-1, -1, 0, 2, 2, kInf}));
  EXPECT_TRUE(std::isnan(sorted.back()));
}

TEST(Folds, DataIndicesBoundsAndClamps) {
  Given run(R"(algorithm a(N, M) {
    input x : f32[N]
    input row : i32[M] range 0 .. N clamp
    input used : i32[M] range 0 .. N + 1
    view back[i < N] = x[N - 1 - i]
    output picked[m] = back[row[m]]
    output ragged[m] = sum(j < used[m]) x[j] on_empty -1
  })",
            {{"N", 3}, {"M", 4}},
            {{"x", {1, 2, 4}}, {"row", {-7, 1, 3, 99}}, {"used", {0, 3, 1, 2}}});
  EXPECT_EQ(run["picked"], Values({4, 2, 1, 1}));
  EXPECT_EQ(run["ragged"], Values({-1, 7, 1, 3}));
}

TEST(Folds, CallsTakePartsOfStackedTensors) {
  Given run(R"(algorithm scaled(N) {
    input x : f32[N]
    input by : f32[]
    double_[i] = x[i] * 2
    output y[i] = double_[i] * by
    output top = argmax(i < N) double_[i]
  }
  algorithm a(N, L min 2) {
    input x : f32[N]
    input by : f32[L]
    p, q = scaled(x = x, by = by[0])
    output r, s = scaled(x = p, by = by[L - 1])
    output t = f32(q.index)
  })",
            {{"N", 3}, {"L", 2}}, {{"x", {1, 3, 2}}, {"by", {10, -1}}});
  EXPECT_EQ(run["p"], Values({20, 60, 40}));
  EXPECT_EQ(run["r"], Values({-40, -120, -80}));
  EXPECT_EQ(run["s.value"], Values({120}));
  EXPECT_EQ(run["t"], Values({1}));
}

}  // namespace
}  // namespace tilewright::ir
