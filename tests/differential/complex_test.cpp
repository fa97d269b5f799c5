// SPDX-License-Identifier: Apache-2.0
//
// Algorithms over complex numbers, by plain schedules and by ones that move their tensors: the interpreter of
// algorithms, the Program interpreter, object code and compiled C compute the same bits, and for the transform and
// the product of matrices what std::complex computes but for rounding.
#include <complex>

#include "tests/differential/batch.h"

namespace tilewright::test {
namespace {

constexpr const char* kTransform = R"(algorithm transform(N, B) {
  input x : c64[B, N]
  angle[k < N, n < N] = f32(k * n % N) * f32(6.2831855) / f32(N)
  root[k, n] = complex(cos(angle[k, n]), -sin(angle[k, n]))
  output y[b, k] = sum(n < N) x[b, n] * root[k, n]
  output power[b, k] = re(y[b, k] * conj(y[b, k]))
})";
constexpr const char* kProduct = R"(algorithm product(M, N, K) {
  input a : c128[M, K]
  input b : c128[K, N]
  output c[i, j] = sum(k < K) a[i, k] * b[k, j]
})";
// What the language has besides: every kind of fold, loops, arguments that are read and written, indices from data.
constexpr const char* kEverything = R"(monoid maps(s : c64, o : c64) {
  identity 1, 0
  combine(a, b) = a.s * b.s, b.s * a.o + b.o
}
algorithm everything(N min 1, L) {
  inout z : c64[N]
  input w : c128[N]
  input row : i32[N] range 0 .. N
  input mode : i32[]
  input weight : f32[L]
  all = prod(k < N where re(z[k]) > -1) z[k]
  m = maps(k < N) (z[k], c64(w[k]))
  path[i < N] = scan(i, h = complex(f32(0), 1), n = f32(0)) (h * z[i] + 1, n + abs(h))
  put[i < N] = update c64(w[i]) sum(k < N) at [row[k]] z[k]
  newest[i < N] = update complex(f32(i), 0) last(k < N) at [row[k]] z[row[k]]
  loop l < L while abs(p[0]) < 1e6 carry p = z then q, before = newest then p {
    s = sum(k < N) p[k] * before[k]
    q[i] = select(im(p[i]) > 0, p[i] / complex(2, 1), p[i] + s[] * complex(weight[l], -1))
  }
  case mode[] carry y = p {
    when 0 then a { a[i] = -p[i] }
    else then c { c[i] = p[row[i]] - before[i] }
  }
  output wide[i < N] : c128 = c128(m.s[] * y[i] + m.o[]) / w[i]
  output other[i < N] = path.h[i] * complex(path.n[i], 2) + all[]
  output same[i < N] = put[i] == y[i] || newest[i] != z[i]
  output now[i] into z = put[i] + y[i]
})";

// Schedules after the line of their name; empty: the default one.
using Schedules = std::vector<const char*>;
using Sizes = std::vector<std::vector<std::pair<const char*, std::int64_t>>>;

class ComplexAlgorithms : public ::testing::Test {
 protected:
  void check(const std::string& text, const Schedules& schedules, const Sizes& all_sizes) {
    const std::vector<host::Target> targets = targets_here();
    if (targets.empty()) GTEST_SKIP() << "this processor runs no host target";
    const Source source("algorithm", text);
    auto parsed = ir::parse_algorithm(context_, source);
    ASSERT_TRUE(parsed.ok()) << render(parsed.diagnostics(), &source);
    algorithm_ = *parsed;
    Batch batch(targets, {all_compilers(Optimise::Users)[0], all_compilers(Optimise::Users)[1]},
                tally_);
    for (const char* directives : schedules) {
      auto subject = lowered(directives);
      ASSERT_TRUE(subject);
      for (const auto& sizes : all_sizes) {
        const std::string wrong = add_expected(*subject, sizes);
        ASSERT_EQ(wrong, "") << directives;
      }
      ASSERT_EQ(batch.add(context_, *subject), "") << directives;
    }
    EXPECT_EQ(batch.run(), "");
    EXPECT_EQ(tally_.unlowered, 0);
    EXPECT_EQ(tally_.not_in_c, 0);
  }

  std::optional<Subject> lowered(const char* directives) {
    poly::Context polyhedra;
    tree::Schedule schedule = directives::default_schedule(context_, algorithm_, "x86-64-v3");
    if (*directives) {
      const Source source("schedule", "schedule s for " + std::string(algorithm_.name.text()) +
                                          " on x86-64-v3 {\n" + directives + "}\n");
      auto parsed = directives::parse_schedule(context_, algorithm_, source);
      EXPECT_TRUE(parsed.ok()) << render(parsed.diagnostics(), &source);
      if (!parsed.ok()) return std::nullopt;
      schedule = *std::move(parsed);
    }
    auto built = build::build(context_, polyhedra, algorithm_, schedule);
    EXPECT_TRUE(built.ok()) << laws::messages(built.diagnostics());
    if (!built.ok()) return std::nullopt;
    auto passed = passes::run_passes(context_, *built);
    EXPECT_TRUE(passed.ok()) << laws::messages(passed.diagnostics());
    if (!passed.ok()) return std::nullopt;
    EXPECT_EQ(laws::program_round_trips(context_, *passed), "");
    return Subject{directives, *std::move(passed), {}};
  }

  // The Program interpreter's values, which are the algorithm's.
  std::string add_expected(Subject& subject,
                           const std::vector<std::pair<const char*, std::int64_t>>& sizes) {
    ir::Bindings bindings;
    for (const auto& [extent, value] : sizes) bindings[context_.symbol(extent)] = value;
    const ir::TensorMap inputs = ir::random_inputs(algorithm_, bindings, 7);
    auto expected = interpret(context_, subject.program, bindings, inputs, std::int64_t{1} << 30);
    if (!expected.ok()) return laws::messages(expected.diagnostics());
    if (!*expected) return "too many steps";
    ir::InterpretOptions options;
    options.reading = ir::Reading::Exact;
    options.order.fused = true;
    const auto values = ir::interpret(algorithm_, bindings, inputs, options);
    if (!values.ok()) return laws::messages(values.diagnostics());
    for (const ir::TensorPart& output : algorithm_.output_tensors()) {
      const std::string difference = laws::first_difference(
          values->at(output.name), (*expected)->values.at(algorithm_.argument_of(output.name)));
      if (!difference.empty()) return std::string(output.name.text()) + " " + difference;
    }
    inputs_ = inputs;
    values_ = *values;
    subject.expected.push_back(std::move(**expected));
    return {};
  }

  // Of the last sizes.
  std::complex<double> at(const ir::TensorMap& map, const char* name, std::size_t cell) const {
    const ir::Tensor& tensor = map.at(context_.symbol(name));
    return {tensor.data[2 * cell].f, tensor.data[2 * cell + 1].f};
  }

  mutable ir::Context context_;
  ir::Algorithm algorithm_;
  Tally tally_;
  ir::TensorMap inputs_, values_;
};

TEST_F(ComplexAlgorithms, TransformOfFourier) {
  check(kTransform,
        {"", "  inline angle\n  compute_at root in y.k\n  parallel y.b\n",
         "  split y.n by 4 as no, ni\n  unroll y.ni\n  split y.k by 8 as ko, ki\n"
         "  reorder y: b, ko, no, ni, ki\n  vectorize y.ki\n  vectorize power.k by 8\n"},
        {{{"N", 0}, {"B", 2}}, {{"N", 1}, {"B", 1}}, {{"N", 13}, {"B", 3}}});
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t k = 0; k < 13; ++k) {
      std::complex<double> sum = 0;
      for (std::size_t n = 0; n < 13; ++n)
        sum += at(inputs_, "x", b * 13 + n) *
               std::polar(1.0, -2 * 3.14159265358979323846 * static_cast<double>(k * n) / 13);
      EXPECT_NEAR(std::abs(at(values_, "y", b * 13 + k) - sum), 0, 1e-4 * (1 + std::abs(sum)));
    }
}

TEST_F(ComplexAlgorithms, ProductOfMatrices) {
  check(kProduct, {"", R"(  split c.j by 16 as jt, jr
  split c.i by 4 as it, ir
  reorder c: jt, it, k, ir, jr
  parallel c.jt
  stage b[k, j] at c.jt as bp[k, j] pad
  keep c[ir, jr] in register
  peel c.it
  unroll c.ir
  vectorize c.jr
  vectorize bp.j
)"},
        {{{"M", 0}, {"N", 3}, {"K", 2}},
         {{"M", 3}, {"N", 2}, {"K", 0}},
         {{"M", 9}, {"N", 37}, {"K", 11}}});
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 37; ++j) {
      std::complex<double> sum = 0;
      for (std::size_t k = 0; k < 11; ++k)
        sum += at(inputs_, "a", i * 11 + k) * at(inputs_, "b", k * 37 + j);
      EXPECT_NEAR(std::abs(at(values_, "c", i * 37 + j) - sum), 0, 1e-12 * (1 + std::abs(sum)));
    }
}

TEST_F(ComplexAlgorithms, EveryConstruct) {
  check(kEverything, {"", "  vectorize wide.i by 8\n  parallel same.i\n\n"},
        {{{"N", 1}, {"L", 0}}, {{"N", 3}, {"L", 2}}, {{"N", 19}, {"L", 4}}});
}

}  // namespace
}  // namespace tilewright::test
