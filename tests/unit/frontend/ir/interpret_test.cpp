// SPDX-License-Identifier: Apache-2.0
//
// The algorithm interpreter against plain loops written here.
#include "frontend/ir/interpret.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include "frontend/ir/evaluate.h"
#include "frontend/ir/text.h"

namespace tilewright::ir {
namespace {

struct Case {
  Context context;
  Algorithm algorithm;
  Bindings bindings;
  TensorMap inputs;

  explicit Case(const std::string& text) {
    auto parsed = parse_algorithm(context, Source("case.tw", text));
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.diagnostics()[0].message);
    if (parsed.ok()) algorithm = *parsed;
  }
  void size(std::string_view name, std::int64_t value) { bindings[context.symbol(name)] = value; }
  void randomise(std::uint64_t seed) { inputs = random_inputs(algorithm, bindings, seed); }
  const Tensor& input(std::string_view name) { return inputs.at(context.symbol(name)); }
  Tensor run(std::string_view output, Reading reading, bool fused = true) {
    auto all = interpret(algorithm, bindings, inputs, {reading, {fused}});
    EXPECT_TRUE(all.ok()) << (all.ok() ? "" : all.diagnostics()[0].message);
    return all.ok() ? all->at(context.symbol(output)) : Tensor{};
  }
  Diagnostic refusal(Reading reading = Reading::Exact, std::int64_t steps = 1 << 30) {
    auto all = interpret(algorithm, bindings, inputs, {reading, {}, steps});
    EXPECT_FALSE(all.ok());
    return all.ok() ? Diagnostic{} : all.diagnostics()[0];
  }
};

std::string evidence(const Diagnostic& diagnostic, const std::string& name) {
  for (const auto& [key, value] : diagnostic.evidence)
    if (key == name) return value;
  return "<none>";
}

constexpr const char* kGemm = R"(
algorithm gemm(M, N, K) {
  input a : f32[M, K]
  input b : f32[K, N]
  output c[i < M, j < N] : f32 = sum(k < K) a[i, k] * b[k, j]
}
)";

TEST(Interpret, ExactGemmIsTheFusedLoopBitForBit) {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{5, 7, 3},
                         {1, 300, 17},
                         {300, 1, 2},
                         {2, 3, 1000},
                         {0, 4, 4},
                         {4, 4, 0}}) {
    Case gemm(kGemm);
    gemm.size("M", m);
    gemm.size("N", n);
    gemm.size("K", k);
    gemm.randomise(static_cast<std::uint64_t>(m * 1000 + n));
    const Tensor& a = gemm.input("a");
    const Tensor& b = gemm.input("b");
    const Tensor fused = gemm.run("c", Reading::Exact, true);
    const Tensor rounded = gemm.run("c", Reading::Exact, false);
    const Tensor reals = gemm.run("c", Reading::Reals);
    ASSERT_EQ(fused.size(), m * n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float with_fma = 0;
        float without = 0;
        double real = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const float x = static_cast<float>(a.data[static_cast<std::size_t>(i * k + l)].f);
          const float y = static_cast<float>(b.data[static_cast<std::size_t>(l * n + j)].f);
          with_fma = std::fma(x, y, with_fma);
          const float product = x * y;
          without = without + product;
          real += static_cast<double>(x) * static_cast<double>(y);
        }
        const auto at = static_cast<std::size_t>(i * n + j);
        ASSERT_EQ(fused.data[at].f, static_cast<double>(with_fma)) << i << " " << j;
        ASSERT_EQ(rounded.data[at].f, static_cast<double>(without)) << i << " " << j;
        ASSERT_EQ(reals.data[at].f, real) << i << " " << j;
      }
  }
}

TEST(Interpret, TriangularFoldsTakeUnevenLanes) {
  Case tri(R"(
algorithm tri(N) {
  input x : f64[N, N]
  output rows[i < N] : f64 = sum(j < i + 1) x[i, j]
  output pairs[i < N] : f64 = max(s < i + 1, 1 <= t < s) x[s, t]
  output wide[i < N, j < N] : f64 = sum(k < min(i, j)) x[i, k] * x[k, j]
}
)");
  for (std::int64_t n : {1, 2, 13, 130}) {
    tri.size("N", n);
    tri.randomise(7);
    const Tensor& x = tri.input("x");
    auto at = [&](std::int64_t i, std::int64_t j) {
      return x.data[static_cast<std::size_t>(i * n + j)].f;
    };
    const Tensor rows = tri.run("rows", Reading::Exact);
    const Tensor pairs = tri.run("pairs", Reading::Reals);
    const Tensor wide = tri.run("wide", Reading::Exact, false);
    double best = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j <= i; ++j) sum += at(i, j);
      for (std::int64_t t = 1; t < i; ++t) best = std::max(best, at(i, t));
      ASSERT_EQ(rows.data[static_cast<std::size_t>(i)].f, sum) << n << " " << i;
      ASSERT_EQ(pairs.data[static_cast<std::size_t>(i)].f, best) << n << " " << i;
      if (n > 20) continue;
      for (std::int64_t j = 0; j < n; ++j) {
        double dot = 0;
        for (std::int64_t k = 0; k < std::min(i, j); ++k) {
          const double product = at(i, k) * at(k, j);
          dot += product;
        }
        ASSERT_EQ(wide.data[static_cast<std::size_t>(i * n + j)].f, dot) << i << " " << j;
      }
    }
  }
}

TEST(Interpret, SoftmaxOverMaskedRowsIsTheStatedFormula) {
  Case softmax(R"(
algorithm softmax(M, N) {
  requires 1 <= N
  input x : f32[M, N]
  masked[i < M, j < N] : f32 = select(j <= i, x[i, j], -inf)
  peak[i < M] : f32 = max(j < N) masked[i, j]
  e[i < M, j < N] : f32 = exp(masked[i, j] - peak[i])
  total[i < M] : f32 = sum(j < N) e[i, j]
  output y[i < M, j < N] : f32 = e[i, j] / total[i]
}
)");
  softmax.size("M", 9);
  softmax.size("N", 20);
  softmax.randomise(3);
  const Tensor& x = softmax.input("x");
  const Tensor y = softmax.run("y", Reading::Reals);
  for (std::int64_t i = 0; i < 9; ++i) {
    double total = 0;
    for (std::int64_t j = 0; j <= i; ++j)
      total += std::exp(x.data[static_cast<std::size_t>(i * 20 + j)].f);
    for (std::int64_t j = 0; j < 20; ++j) {
      const double want =
          j <= i ? std::exp(x.data[static_cast<std::size_t>(i * 20 + j)].f) / total : 0.0;
      EXPECT_NEAR(y.data[static_cast<std::size_t>(i * 20 + j)].f, want, 1e-14);
    }
  }
}

TEST(Interpret, SelectEvaluatesTheChosenArmAlone) {
  Case guarded(R"(
algorithm guarded(N) {
  input x : f32[N]
  input q : i32[N]
  output left[i < N] : f32 = select(i > 0, x[i - 1], 0.0)
  output quotient[i < N] : i32 = select(q[i] == 0, 7, 100 / q[i])
  output nested[i < N] : f32 = select(i > 0, select(i < N - 1, x[i - 1] + x[i + 1], x[i - 1]), x[i])
}
)");
  guarded.size("N", 600);
  guarded.randomise(11);
  const Tensor& x = guarded.input("x");
  const Tensor& q = guarded.input("q");
  const Tensor left = guarded.run("left", Reading::Exact);
  const Tensor quotient = guarded.run("quotient", Reading::Exact);
  const Tensor nested = guarded.run("nested", Reading::Exact);
  for (std::size_t i = 0; i < 600; ++i) {
    EXPECT_EQ(left.data[i].f, i ? x.data[i - 1].f : 0.0);
    const std::int64_t d = q.data[i].i;
    EXPECT_EQ(quotient.data[i].i,
              d == 0 ? 7 : static_cast<std::int64_t>(std::floor(100.0 / static_cast<double>(d))));
    const double want = i == 0      ? x.data[i].f
                        : i == 599U ? x.data[i - 1].f
                                    : static_cast<double>(static_cast<float>(x.data[i - 1].f) +
                                                          static_cast<float>(x.data[i + 1].f));
    EXPECT_EQ(nested.data[i].f, want);
  }
}

TEST(Interpret, ReadOutsideSaysWhichCellReadWhat) {
  Case shifted(R"(
algorithm shifted(N) {
  input x : f32[N]
  output y[i < N] : f32 = x[i + 2]
}
)");
  shifted.size("N", 5);
  shifted.randomise(1);
  const Diagnostic found = shifted.refusal();
  EXPECT_EQ(found.code, Code::CellOutOfBounds);
  EXPECT_EQ(evidence(found, "cell"), "y[3]");
  EXPECT_EQ(evidence(found, "reads"), "x[5]");
  EXPECT_EQ(evidence(found, "shape"), "[5]");
  EXPECT_EQ(evidence(found, "N"), "5");
}

TEST(Interpret, IntegerDivisionByZeroSaysWhere) {
  Case division(R"(
algorithm division(N) {
  input q : i32[N]
  output y[i < N] : i32 = 100 / q[i]
}
)");
  division.size("N", 4);
  division.randomise(1);
  for (std::size_t i = 0; i < 4; ++i) {
    division.inputs.at(division.context.symbol("q")).data[i].i = i == 2 ? 0 : -7;
  }
  const Diagnostic found = division.refusal();
  EXPECT_EQ(found.code, Code::UndefinedOperation);
  EXPECT_EQ(evidence(found, "cell"), "y[2]");
}

TEST(Interpret, WhatIsGivenMustFitTheDeclarations) {
  Case sized(R"(
algorithm sized(N min 2 max 8 multiple_of 2) {
  requires N != 6
  input x : f32[N]
  output y[i < N] : f32 = x[i] + x[i]
}
)");
  EXPECT_EQ(sized.refusal().code, Code::BindingMismatch);
  for (std::int64_t n : {0, 3, 6, 10}) {
    sized.size("N", n);
    EXPECT_EQ(sized.refusal().code, Code::BindingMismatch) << n;
  }
  sized.size("N", 4);
  EXPECT_EQ(sized.refusal().code, Code::InputMismatch);
  sized.inputs[sized.context.symbol("x")] = make_tensor(ScalarType::F32, {5});
  EXPECT_EQ(sized.refusal().code, Code::InputMismatch);
  sized.inputs[sized.context.symbol("x")] = make_tensor(ScalarType::F64, {4});
  EXPECT_EQ(sized.refusal().code, Code::InputMismatch);
  sized.randomise(1);
  EXPECT_EQ(sized.run("y", Reading::Exact).size(), 4);
  EXPECT_EQ(sized.refusal(Reading::Exact, 1).code, Code::InterpretLimit);
}

TEST(Interpret, UndefinedOutputsAreRefusedUnlessNanWasGiven) {
  Case ratio(R"(
algorithm ratio(N) {
  input x : f32[N]
  output y[i < N] : f32 = x[i] / x[i]
}
)");
  ratio.size("N", 3);
  ratio.randomise(1);
  Tensor& x = ratio.inputs.at(ratio.context.symbol("x"));
  for (Scalar& cell : x.data) cell.f = 2;
  EXPECT_EQ(ratio.run("y", Reading::Reals).data[1].f, 1);
  x.data[1].f = 0;
  const Diagnostic found = ratio.refusal(Reading::Reals);
  EXPECT_EQ(found.code, Code::UndefinedOutput);
  EXPECT_EQ(evidence(found, "cell"), "y[1]");
  EXPECT_TRUE(std::isnan(ratio.run("y", Reading::Exact).data[1].f));
  x.data[0].f = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(ratio.run("y", Reading::Reals).data[1].f));
}

TEST(Interpret, SixteenBitTypesRoundEveryOperation) {
  Case half(R"(
algorithm half(N) {
  input x : bf16[N]
  input h : f16[N]
  output y[i < N] : bf16 = x[i] * x[i] + x[i]
  output g[i < N] : f16 = h[i] / (h[i] + 3.0)
  output z[i < N] : f32 = round_to(bf16, f32(h[i]))
  output s : bf16 = sum(i < N) x[i]
}
)");
  half.size("N", 50);
  half.randomise(5);
  auto bf16 = [](float v) {
    return static_cast<float>(
        float_value(ScalarType::BF16, float_bits(ScalarType::BF16, static_cast<double>(v))));
  };
  auto f16 = [](float v) {
    return static_cast<float>(
        float_value(ScalarType::F16, float_bits(ScalarType::F16, static_cast<double>(v))));
  };
  const Tensor& x = half.input("x");
  const Tensor& h = half.input("h");
  const Tensor y = half.run("y", Reading::Exact);
  const Tensor g = half.run("g", Reading::Exact);
  const Tensor z = half.run("z", Reading::Exact);
  float sum = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    const float v = static_cast<float>(x.data[i].f);
    const float w = static_cast<float>(h.data[i].f);
    EXPECT_EQ(y.data[i].f, static_cast<double>(bf16(bf16(v * v) + v)));
    EXPECT_EQ(g.data[i].f, static_cast<double>(f16(w / f16(w + 3.0F))));
    EXPECT_EQ(z.data[i].f, static_cast<double>(bf16(w)));
    sum = bf16(sum + v);
  }
  EXPECT_EQ(half.run("s", Reading::Exact).data[0].f, static_cast<double>(sum));
}

// The grid of bf16 goes beyond f16, whose rounding follows; in the reals only the grid counts.
TEST(Interpret, RoundToEndsInItsOwnType) {
  Case c(
      "algorithm a(N) {\n  input x : f16[N]\n  output y[n < N] : f16 = round_to(bf16, x[n])\n"
      "  output z[n < N] : bool = round_to(bf16, x[n]) < inf\n}\n");
  c.size("N", 4);
  Tensor x = make_tensor(ScalarType::F16, {4});
  const double values[] = {65504, -65504, 65280, 0x1.004p0};
  const double rounded[] = {INFINITY, -INFINITY, 65280, 1};
  const double grid[] = {65536, -65536, 65280, 1};
  for (int i = 0; i < 4; ++i) x.data[i].f = values[i];
  c.inputs[c.context.symbol("x")] = x;
  const Tensor exact = c.run("y", Reading::Exact);
  const Tensor reals = c.run("y", Reading::Reals);
  const Tensor finite = c.run("z", Reading::Exact);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(exact.data[i].f, rounded[i]);
    EXPECT_EQ(reals.data[i].f, grid[i]);
    EXPECT_EQ(finite.data[i].i, rounded[i] < INFINITY);
    EXPECT_EQ(evaluate_round_to(ScalarType::F16, ScalarType::BF16, {values[i]}).f, rounded[i]);
  }
  // A program that gives infinity where the reals are finite is within the bound.
  auto bounds = interpret_with_bound(c.algorithm, c.bindings, c.inputs);
  ASSERT_TRUE(bounds.ok());
  EXPECT_FALSE(find_violation(bounds->at(c.context.symbol("y")), exact));
}

}  // namespace
}  // namespace tilewright::ir
