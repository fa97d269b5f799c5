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
      if (!ir::is_float(output.type)) {
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

}  // namespace
}  // namespace tilewright
