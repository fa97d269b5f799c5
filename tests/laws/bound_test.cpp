// SPDX-License-Identifier: Apache-2.0
//
// The bound reading: no program that rounds each operation and folds in any order leaves it, and it
// is not absurdly wide. The programs here are written by hand, in f32, in adversarial orders.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include <gtest/gtest.h>
#include "frontend/ir/interpret.h"
#include "frontend/ir/text.h"

namespace tilewright::ir {
namespace {

using Bounded = std::map<Symbol, BoundedTensor>;

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
  Tensor& input(std::string_view name) { return inputs.at(context.symbol(name)); }
  Bounded bounds() {
    auto all = interpret_with_bound(algorithm, bindings, inputs);
    EXPECT_TRUE(all.ok()) << (all.ok() ? "" : all.diagnostics()[0].message);
    return all.ok() ? std::move(all).value() : Bounded{};
  }
  const BoundedTensor& at(const Bounded& all, std::string_view name) {
    return all.at(context.symbol(name));
  }
};

// A random binary tree over the terms in random order; each leaf may be fused into its parent.
class RandomFold {
 public:
  RandomFold(std::mt19937_64& random, std::vector<float> x, std::vector<float> y)
      : random_(random), x_(std::move(x)), y_(std::move(y)), order_(x_.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::shuffle(order_.begin(), order_.end(), random_);
  }
  void largest_first() {
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return std::fabs(x_[a] * y_[a]) > std::fabs(x_[b] * y_[b]);
    });
  }
  // The largest intermediate sums that these terms allow.
  void positives_first() {
    std::stable_partition(order_.begin(), order_.end(),
                          [&](std::size_t i) { return x_[i] * y_[i] > 0; });
  }
  float chain(bool fused) {
    float acc = 0;
    for (std::size_t i : order_) acc = add(acc, i, fused);
    return acc;
  }
  float tree(std::size_t begin, std::size_t end) {
    if (end - begin == 0) return 0;
    if (end - begin == 1) return add(0, order_[begin], random_() & 1);
    const std::size_t middle = begin + 1 + random_() % (end - begin - 1);
    if (middle + 1 == end) return add(tree(begin, middle), order_[middle], random_() & 1);
    const float left = tree(begin, middle);
    return left + tree(middle, end);
  }
  float tree() { return tree(0, order_.size()); }

 private:
  float add(float acc, std::size_t i, bool fused) {
    if (fused) return std::fma(x_[i], y_[i], acc);
    const volatile float product = x_[i] * y_[i];
    return acc + product;
  }
  std::mt19937_64& random_;
  std::vector<float> x_, y_;
  std::vector<std::size_t> order_;
};

constexpr const char* kDot = R"(
algorithm dot(K) {
  input a : f32[K]
  input b : f32[K]
  output c : f32 = sum(k < K) a[k] * b[k]
}
)";

TEST(BoundLaw, DotProductsInAnyOrderStayInsideAndTheBoundIsNotAbsurd) {
  std::mt19937_64 random(42);
  for (int kind = 0; kind < 4; ++kind) {
    for (std::int64_t k : {1, 2, 3, 8, 31, 100}) {
      double worst = 0;
      double bound = 0;
      for (int round = 0; round < 20; ++round) {
        Case dot(kDot);
        dot.bindings[dot.context.symbol("K")] = k;
        dot.inputs = random_inputs(dot.algorithm, dot.bindings, random());
        std::vector<float> x, y;
        for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
          Scalar& a = dot.input("a").data[i];
          Scalar& b = dot.input("b").data[i];
          auto draw = [&] { return 1.0F + static_cast<float>(random() % 8388608) / 8388608.0F; };
          // Positive, cancelling, tiny (products underflow), alternating powers.
          float u = draw();
          float v = draw();
          if (kind == 1) u = random() & 1 ? -u : u;
          if (kind == 2) u *= 1e-20F, v *= 1e-19F;
          if (kind == 3) u = std::ldexp(u, static_cast<int>(random() % 40) - 20);
          a.f = u;
          b.f = v;
          x.push_back(u);
          y.push_back(v);
        }
        const Bounded all = dot.bounds();
        const BoundedTensor& c = dot.at(all, "c");
        for (int trial = 0; trial < 30; ++trial) {
          RandomFold fold(random, x, y);
          if (trial == 1) fold.largest_first();
          if (trial % 3 == 0 && trial > 3) fold.positives_first();
          Tensor got = make_tensor(ScalarType::F32, {});
          got.data[0].f = trial % 3 == 0 ? fold.chain(trial & 1) : fold.tree();
          ASSERT_FALSE(find_violation(c, got)) << kind << " " << k << " " << got.data[0].f << " "
                                               << c.value.data[0].f << " " << c.bound[0];
          const double error = std::fabs(got.data[0].f - c.value.data[0].f);
          if (error / c.bound[0] > worst / std::max(bound, 1e-300))
            worst = error, bound = c.bound[0];
        }
      }
      ASSERT_GT(worst, 0) << kind << " " << k;
      EXPECT_LE(bound, 50 * worst) << kind << " " << k;
    }
  }
}

TEST(BoundLaw, AnErrorJustBeyondTheBoundIsFound) {
  Case dot(kDot);
  dot.bindings[dot.context.symbol("K")] = 64;
  dot.inputs = random_inputs(dot.algorithm, dot.bindings, 5);
  const Bounded all = dot.bounds();
  const BoundedTensor& c = dot.at(all, "c");
  Tensor got = c.value;
  EXPECT_FALSE(find_violation(c, got));
  got.data[0].f += 1.01 * c.bound[0];
  auto violation = find_violation(c, got);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->bound, c.bound[0]);
  got.data[0].f = std::nan("");
  EXPECT_TRUE(find_violation(c, got));
}

TEST(BoundLaw, SoftmaxInF32InRandomOrdersStaysInside) {
  Case softmax(R"(
algorithm softmax(M, N) {
  requires 1 <= N
  input x : f32[M, N]
  masked[i < M, j < N] : f32 = select(j <= i, 5.0 * x[i, j], -inf)
  peak[i < M] : f32 = max(j < N) masked[i, j]
  e[i < M, j < N] : f32 = exp(masked[i, j] - peak[i])
  total[i < M] : f32 = sum(j < N) e[i, j]
  output y[i < M, j < N] : f32 = e[i, j] / total[i]
}
)");
  const std::size_t m = 12;
  const std::size_t n = 33;
  softmax.bindings[softmax.context.symbol("M")] = static_cast<std::int64_t>(m);
  softmax.bindings[softmax.context.symbol("N")] = static_cast<std::int64_t>(n);
  softmax.inputs = random_inputs(softmax.algorithm, softmax.bindings, 8);
  const Bounded all = softmax.bounds();
  const BoundedTensor& y = softmax.at(all, "y");
  const Tensor& x = softmax.input("x");
  std::mt19937_64 random(1);
  double widest = 0;
  for (int trial = 0; trial < 50; ++trial) {
    Tensor got = make_tensor(ScalarType::F32, y.value.shape);
    for (std::size_t i = 0; i < m; ++i) {
      std::vector<float> e(n, 0.0F), ones(n, 1.0F);
      float peak = -INFINITY;
      auto logit = [&](std::size_t j) {
        return j <= i ? 5.0F * static_cast<float>(x.data[i * n + j].f) : -INFINITY;
      };
      for (std::size_t j = 0; j < n; ++j) peak = std::max(peak, logit(j));
      for (std::size_t j = 0; j < n; ++j) e[j] = std::exp(logit(j) - peak);
      const float total = RandomFold(random, e, ones).tree();
      for (std::size_t j = 0; j < n; ++j) {
        // One variant multiplies by a reciprocal that is rounded twice: more error, to be seen.
        got.data[i * n + j].f = e[j] / total;
        if (y.value.data[i * n + j].f > 0)
          widest = std::max(widest, y.bound[i * n + j] / y.value.data[i * n + j].f);
      }
    }
    auto violation = find_violation(y, got);
    ASSERT_FALSE(violation) << violation->expected << " " << violation->got << " "
                            << violation->bound;
  }
  // Relative error: 33 additions, an exponential of arguments up to 10, a division.
  EXPECT_LT(widest, 100 * 0x1p-24);
}

TEST(BoundLaw, NearTiesTheBoundCoversBothOutcomes) {
  Case tie(R"(
algorithm tie(K) {
  input a : f32[K]
  input b : f32[K]
  s : f32 = sum(k < K) a[k] * b[k]
  output above : f32 = select(s > 0.0, 10.0, -10.0)
  output whole : i32 = i32(s + 3.0)
  output rounded : f32 = round_to(bf16, s + 1.00390625)
  output safe : f32 = select(s > -1.0, 10.0, -10.0)
}
)");
  tie.bindings[tie.context.symbol("K")] = 4;
  tie.inputs = random_inputs(tie.algorithm, tie.bindings, 1);
  const double a[] = {1.0, 0x1p-24, -1.0, -0x1p-24};
  for (std::size_t i = 0; i < 4; ++i) {
    tie.input("a").data[i].f = a[i];
    tie.input("b").data[i].f = 1.0;
  }
  // In order, f32 gives (1 + 2^-24) - 1 - 2^-24 = -2^-24; the real sum is 0.
  auto exact = interpret(tie.algorithm, tie.bindings, tie.inputs, {Reading::Exact, {}});
  ASSERT_TRUE(exact.ok());
  const Bounded all = tie.bounds();
  for (const char* name : {"above", "whole", "rounded", "safe"})
    EXPECT_FALSE(find_violation(tie.at(all, name), exact->at(tie.context.symbol(name)))) << name;
  EXPECT_EQ(tie.at(all, "above").bound[0], std::nextafter(20.0, 100.0));
  EXPECT_EQ(tie.at(all, "whole").bound[0], 1);
  EXPECT_GE(tie.at(all, "rounded").bound[0], 0x1p-8);
  EXPECT_LE(tie.at(all, "rounded").bound[0], 0x1p-6);
  EXPECT_EQ(tie.at(all, "safe").bound[0], 0);
}

TEST(BoundLaw, OverflowOfTheDeclaredTypeClaimsNothing) {
  Case big(R"(
algorithm big(N) {
  input x : f16[N]
  output y[i < N] : f16 = x[i] * x[i]
  output e[i < N] : f32 = exp(f32(x[i]))
}
)");
  big.bindings[big.context.symbol("N")] = 3;
  big.inputs = random_inputs(big.algorithm, big.bindings, 1);
  big.input("x").data[0].f = 300;
  big.input("x").data[1].f = 200;
  big.input("x").data[2].f = 80;
  const Bounded all = big.bounds();
  EXPECT_TRUE(std::isinf(big.at(all, "y").bound[0]));
  EXPECT_LE(big.at(all, "y").bound[1], 16);
  EXPECT_TRUE(std::isinf(big.at(all, "e").bound[1]));
  EXPECT_LE(big.at(all, "e").bound[2], std::exp(80) * 0x1p-20);
}

}  // namespace
}  // namespace tilewright::ir
