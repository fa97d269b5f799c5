// SPDX-License-Identifier: Apache-2.0
//
// Algebraic steps keep the meaning: the derived algorithm is well formed, has the same inputs and outputs, and
// over the reals the same values, as far as a reading in f64 can tell: to within the bounds of both readings.
#include "schedules/tree/derive.h"
#include "frontend/ir/verify.h"
#include "frontend/ir/walk.h"
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

// A message when an output of the derived algorithm differs.
std::string compare(const ir::Algorithm& before, const ir::Algorithm& after,
                    const ir::Bindings& bindings, const ir::TensorMap& inputs, int& cells) {
  auto expected = ir::interpret_with_bound(before, bindings, inputs);
  if (!expected.ok()) return {};
  auto got = ir::interpret_with_bound(after, bindings, inputs);
  if (!got.ok()) return "the derived algorithm is undefined: " + laws::messages(got.diagnostics());
  for (const ir::TensorPart& output : before.output_tensors()) {
    const ir::BoundedTensor& a = expected->at(output.name);
    const ir::BoundedTensor& b = got->at(output.name);
    if (a.value.shape != b.value.shape) return "another shape";
    for (std::size_t i = 0; i < a.value.data.size(); ++i) {
      ++cells;
      if (!ir::holds_floats(output.type)) {
        if (a.value.data[i].i != b.value.data[i].i) return "another integer";
        continue;
      }
      const double x = a.value.data[i].f;
      const double y = b.value.data[i].f;
      if (x == y || x != x || !(std::abs(x - y) > a.bound[i] + b.bound[i])) continue;
      std::ostringstream out;
      out.precision(17);
      out << output.name.text() << " element " << i << ": expected " << x << ", got " << y
          << " with bounds " << a.bound[i] << " and " << b.bound[i];
      return out.str();
    }
  }
  return {};
}

TEST(Derive, KeepsTheMeaning) {
  const std::uint64_t first = laws::first_seed();
  const auto cases = static_cast<std::uint64_t>(laws::num_cases(600, 20000));
  int derived = 0;
  int cells = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    laws::Case subject(seed);
    const tree::Tree& tree = subject.random.schedule.tree;
    if (tree.algebra.empty()) continue;
    ++derived;
    const ir::Algorithm& after = tree.algorithm(subject.algorithm);
    ASSERT_TRUE(ir::verify(after).empty()) << subject.text();
    for (int which = 0; which < 2; ++which) {
      const auto bindings = subject.bindings(which);
      if (!bindings) continue;
      const auto inputs = ir::random_inputs(subject.algorithm, *bindings, seed);
      const std::string wrong = compare(subject.algorithm, after, *bindings, inputs, cells);
      ASSERT_EQ(wrong, "") << laws::print_sizes(*bindings) << ir::print(after) << subject.text();
    }
  }
  if (cases < 600) return;
  EXPECT_GT(derived, static_cast<int>(cases / 20));
  EXPECT_GT(cells, 500);
}

// Sums whose factors stand in every place that the normal form looks into.
TEST(Derive, DefersFactors) {
  const std::string_view kSummands[] = {"e[i, t] / w[i]",
                                        "w[i] * e[i, t]",
                                        "-(e[i, t] * w[i])",
                                        "e[i, t] / w[i] / w[i] * v[t]",
                                        "w[i] * e[i, t] + v[t] * w[i]",
                                        "select(t <= i, e[i, t] / w[i], f32(0))",
                                        "select(t <= i, e[i, t] * w[i], v[t] * w[i]) * v[t]",
                                        "exp(w[i]) * e[i, t] / sqrt(w[i])",
                                        "(e[i, t] / w[i] - v[t] / w[i]) / (w[i] * v[t])",
                                        "p[i, t] * v[t]",
                                        "e[i, t] / (v[t] / w[i])"};
  for (std::string_view summand : kSummands) {
    ir::Context context;
    const Source source("a.tw",
                        "algorithm a(M, T) {\n"
                        "  input e : f32[M, T]\n  input v : f32[T]\n  input r : f32[M]\n"
                        "  w[i < M] = abs(r[i]) + f32(1.5)\n"
                        "  p[i < M, t < T] = e[i, t] / w[i]\n"
                        "  output o[i < M] = sum(t < T) " +
                            std::string(summand) +
                            "\n"
                            "  output q[i < M] = w[i]\n}\n");
    auto algorithm = ir::parse_algorithm(context, source);
    ASSERT_TRUE(algorithm.ok()) << render(algorithm.diagnostics(), &source);
    auto made = tree::derive(context, *algorithm,
                             tree::DeferStep{context.symbol("w"), context.symbol("o")});
    ASSERT_TRUE(made.ok()) << summand << laws::messages(made.diagnostics());
    const ir::Equation* sum = made->algorithm.find_equation(context.symbol("o.sum"));
    ASSERT_TRUE(sum) << summand;
    EXPECT_EQ(ir::print(made->algorithm).find("o.sum[i < M] = sum(t < T) w"), std::string::npos);
    for (const ir::Read* read : ir::reads(sum->value))
      EXPECT_NE(read->tensor.text(), "w") << summand;
    int cells = 0;
    for (const std::int64_t length : {0, 1, 5}) {
      const ir::Bindings bindings = {{context.symbol("M"), 3}, {context.symbol("T"), length}};
      const auto inputs = ir::random_inputs(*algorithm, bindings, 7);
      EXPECT_EQ(compare(*algorithm, made->algorithm, bindings, inputs, cells), "")
          << summand << ir::print(made->algorithm);
    }
    EXPECT_EQ(cells, 18);
  }
}

// Reductions of every sort, with rows that are empty, and chunks of every length up to beyond the whole.
TEST(Derive, SplitsEverySort) {
  const std::string_view kReductions[] = {
      "sum(t < T) x[i, t]",
      "sum(t < T where x[i, t] > 0) x[i, t] on_empty 7",
      "max(t < T where t <= i) x[i, t] on_empty -3",
      "f64(sum(1 <= t < T + 1) x[i, t - 1])",
      "prod(t < T) x[i, t]",
      "and(t < T) x[i, t] > 0",
      "argmax(t < T) x[i, t]",
      "argmin(t < T where x[i, t] > 0) (x[i, t], 3 * i64(t) + i64(i)) on_empty (1, -1)",
      "sum(t < used[i]) x[i, t]",
      "sum(T - index(used[i]) <= t < T) x[i, t] on_empty 2",
      "max(t < min(index(used[i]), 3)) x[i, t] on_empty 5",
      "lse(t < T) (x[i, t], 1)",
      "lse(t < T where x[i, t] > 0) (x[i, t], 1) on_empty (0, 0)",
      "sum(j < T, t < j + 1 where j < 5) x[i, t] * x[i, j]",
      "max(j < T, j <= t < T) x[i, t] - x[i, j] on_empty 8",
      "latest(t < T, j < 2) x[i, t] * (1 - f32(j))",
      "sum(t < T, j < t + 1 where j < 3) x[i, t] * x[i, j] on_empty 4"};
  for (std::string_view reduction : kReductions) {
    for (const std::int64_t factor : {1, 2, 3, 9}) {
      ir::Context context;
      const Source source("a.tw",
                          "monoid lse(m : f32, s : f32) commutative {\n  identity -inf, 0\n"
                          "  combine(a, b) = max(a.m, b.m), a.s * exp(a.m - max(a.m, b.m)) + b.s * "
                          "exp(b.m - max(a.m, b.m))\n}\n"
                          "monoid latest(v : f32) {\n  identity 0\n  combine(a, b) = select(b.v != "
                          "0, b.v, a.v)\n}\n"
                          "algorithm a(M, T) {\n"
                          "  input x : f32[M, T]\n  input used : i32[M] range 0 .. T + 1\n"
                          "  output o[i < M] = " +
                              std::string(reduction) + "\n}\n");
      auto algorithm = ir::parse_algorithm(context, source);
      ASSERT_TRUE(algorithm.ok()) << render(algorithm.diagnostics(), &source);
      const tree::SplitReductionStep step{context.symbol("o"), context.symbol("t"), factor,
                                          context.symbol("to"), context.symbol("ti")};
      auto made = tree::derive(context, *algorithm, step);
      ASSERT_TRUE(made.ok()) << reduction << laws::messages(made.diagnostics());
      ASSERT_TRUE(made->algorithm.find_equation(context.symbol("o.part"))) << reduction;
      int cells = 0;
      for (const std::int64_t length : {0, 1, 2, 7}) {
        const ir::Bindings bindings = {{context.symbol("M"), 5}, {context.symbol("T"), length}};
        const auto inputs = ir::random_inputs(*algorithm, bindings, 11);
        EXPECT_EQ(compare(*algorithm, made->algorithm, bindings, inputs, cells), "")
            << ir::print(made->algorithm);
      }
      EXPECT_GE(cells, 20) << reduction;
    }
  }
}

// Whether a sum has terms decides what it is, whatever the factor.
TEST(Derive, DefersOutOfSumsThatMayBeEmpty) {
  const std::string_view kSums[] = {"sum(t < T where x[i, t] > 0) x[i, t] / w[i]",
                                    "sum(t < T where x[i, t] > 1000) w[i] * x[i, t] on_empty 6",
                                    "sum(t < T) w[i] * x[i, t] on_empty 6",
                                    "sum(t < used[i]) x[i, t] / w[i] on_empty -1",
                                    "sum(t < T, j < t) x[i, j] / w[i] on_empty 9"};
  for (std::string_view sum : kSums) {
    ir::Context context;
    const Source source("a.tw",
                        "algorithm a(M, T) {\n"
                        "  input x : f32[M, T]\n  input r : f32[M]\n"
                        "  input used : i32[M] range 0 .. T + 1\n"
                        "  w[i < M] = abs(r[i]) + 1\n"
                        "  output o[i < M] = " +
                            std::string(sum) + "\n}\n");
    auto algorithm = ir::parse_algorithm(context, source);
    ASSERT_TRUE(algorithm.ok()) << render(algorithm.diagnostics(), &source);
    auto made = tree::derive(context, *algorithm,
                             tree::DeferStep{context.symbol("w"), context.symbol("o")});
    ASSERT_TRUE(made.ok()) << sum << laws::messages(made.diagnostics());
    int cells = 0;
    for (const std::int64_t length : {0, 1, 5}) {
      const ir::Bindings bindings = {{context.symbol("M"), 4}, {context.symbol("T"), length}};
      const auto inputs = ir::random_inputs(*algorithm, bindings, 3);
      EXPECT_EQ(compare(*algorithm, made->algorithm, bindings, inputs, cells), "")
          << ir::print(made->algorithm);
    }
    EXPECT_EQ(cells, 12) << sum;
  }
}

}  // namespace
}  // namespace tilewright
