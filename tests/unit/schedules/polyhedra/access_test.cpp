// SPDX-License-Identifier: Apache-2.0
//
// Domains and access relations against an evaluator that records what it reads.
#include "schedules/polyhedra/access.h"

#include <gtest/gtest.h>

#include "tests/unit/schedules/polyhedra/enumeration.h"
#include "tests/unit/schedules/polyhedra/index_evaluator.h"

namespace tilewright::poly {
namespace {

// Every point of the equation's index ranges and fold, by loops over declared bounds.
void for_each_instance(const ir::Equation& equation, const Binding& sizes,
                       const std::function<void(const Binding&)>& visit) {
  const ir::Fold* fold = equation.fold();
  std::size_t num_indices = equation.indices.size();
  std::size_t num_dims = num_indices + (fold != nullptr ? fold->vars.size() : 0);
  Binding at = sizes;
  std::function<void(std::size_t)> descend = [&](std::size_t depth) {
    if (depth == num_dims) return visit(at);
    bool is_index = depth < num_indices;
    std::size_t k = is_index ? depth : depth - num_indices;
    Symbol name = is_index ? equation.indices[k] : fold->vars[k];
    std::int64_t low = is_index ? 0 : plain_value(fold->lower[k], at);
    std::int64_t high = plain_value(is_index ? equation.shape[k] : fold->upper[k], at);
    for (std::int64_t value = low; value < high; ++value) {
      at[std::string(name.text())] = value;
      descend(depth + 1);
    }
  };
  descend(0);
}

std::vector<std::vector<std::int64_t>> cells_in_box(std::size_t rank) {
  std::vector<std::vector<std::int64_t>> cells{{}};
  for (std::size_t k = 0; k < rank; ++k) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& cell : cells) {
      for (std::int64_t value = -3; value <= 8; ++value) {
        longer.push_back(cell);
        longer.back().push_back(value);
      }
    }
    cells = std::move(longer);
  }
  return cells;
}

// The law, for one algorithm at given sizes.
void expect_accesses_match(const std::string& text, const std::vector<Binding>& all_sizes) {
  ir::Context context;
  ir::Algorithm algorithm = parsed(context, text);
  for (const ir::Equation& equation : algorithm.equations) {
    std::vector<Access> found = accesses(algorithm, equation);
    IterationDomain domain = iteration_domain(algorithm, equation);
    Map writes = write_relation(algorithm, equation);
    for (const Binding& sizes : all_sizes) {
      for_each_instance(equation, sizes, [&](const Binding& at) {
        EXPECT_TRUE(inside(domain.points, at)) << text;
        Touched touched;
        const ir::Fold* fold = equation.fold();
        collect_touched(fold != nullptr ? fold->body[0] : equation.value, at, touched);
        for (const Access& access : found) {
          for (const std::vector<std::int64_t>& cell : cells_in_box(access.read->indices.size())) {
            Binding pair = at;
            for (std::size_t k = 0; k < cell.size(); ++k) {
              pair[access.relation.space().out[k]] = cell[k];
            }
            bool related = access.relation.contains(pair).value();
            bool happens = touched.count({access.read, cell}) == 1;
            if (access.exact) {
              ASSERT_EQ(related, happens) << text << access.relation.text();
            } else {
              ASSERT_TRUE(related || !happens) << text << access.relation.text();
            }
          }
        }
        Binding written = at;
        for (std::size_t k = 0; k < equation.indices.size(); ++k) {
          written[writes.space().out[k]] = at.at(std::string(equation.indices[k].text()));
        }
        EXPECT_TRUE(writes.contains(written).value());
      });
    }
  }
}

TEST(Access, MatrixProduct) {
  expect_accesses_match(
      "algorithm gemm(M, N, K) {\n"
      "  input a : f32[M, K]\n  input b : f32[K, N]\n"
      "  output c[i < M, j < N] : f32 = sum(k < K) a[i, k] * b[k, j]\n}\n",
      {{{"M", 2}, {"N", 3}, {"K", 2}}, {{"M", 0}, {"N", 1}, {"K", 1}}});
}

TEST(Access, SelectRestrictsItsArms) {
  expect_accesses_match(
      "algorithm blur(N) {\n"
      "  input x : f32[N]\n"
      "  output y[i < N] : f32 = select(i > 0 && i < N - 1, x[i - 1] + x[i + 1], x[i])\n}\n",
      {{{"N", 5}}, {{"N", 1}}, {{"N", 2}}});
}

TEST(Access, OneReadInBothArmsIsUnrestricted) {
  expect_accesses_match(
      "algorithm same(N) {\n"
      "  input x : f32[N]\n"
      "  output y[i < N] : f32 = select(i > 2, x[i] + x[max(i - 1, 0)], x[i] * x[i / 2])\n}\n",
      {{{"N", 6}}});
}

TEST(Access, PiecewiseAndStridedIndices) {
  expect_accesses_match(
      "algorithm odd(N) {\n"
      "  input x : f32[N, 4]\n"
      "  output y[i < 4 * N] : f32 = x[i / 4, i % 4] + x[min(i, N - 1), max(i % 4 - 1, 0)]\n}\n",
      {{{"N", 1}}, {{"N", 2}}});
}

TEST(Access, ATriangularFold) {
  expect_accesses_match(
      "algorithm triangle(N) {\n"
      "  input x : f32[N, N]\n"
      "  output y[i < N] : f32 = sum(j < i + 1, 1 <= k < min(N, j + 2)) x[j, k]\n}\n",
      {{{"N", 3}}, {{"N", 4}}});
}

TEST(Access, ADataConditionIsTakenBothWays) {
  ir::Context context;
  ir::Algorithm algorithm =
      parsed(context,
             "algorithm relu(N) {\n"
             "  input x : f32[N]\n  input z : f32[N]\n"
             "  output y[i < N] : f32 = select(x[i] > f32(0), z[i], x[i])\n}\n");
  std::vector<Access> found = accesses(algorithm, algorithm.equations[0]);
  ASSERT_EQ(found.size(), 2u);
  for (const Access& access : found) {
    EXPECT_EQ(access.exact, access.tensor.text() == "x") << access.relation.text();
  }
}

TEST(Access, CellNamesAvoidTheEquationsNames) {
  ir::Context context;
  ir::Algorithm algorithm = parsed(context,
                                   "algorithm names(N) {\n"
                                   "  input x : f32[N]\n"
                                   "  output y[d0 < N] : f32 = x[d0]\n}\n");
  std::vector<Access> found = accesses(algorithm, algorithm.equations[0]);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].relation.space().out, (std::vector<std::string>{"d0'"}));
  Context poly;
  EXPECT_TRUE(must(is_single_valued(poly, found[0].relation)));
}

TEST(Domain, AssumptionsAreRangesAndRequirements) {
  ir::Context context;
  ir::Algorithm algorithm = parsed(context,
                                   "algorithm sizes(M min 2 max 6, N multiple_of 3) {\n"
                                   "  requires M <= N\n"
                                   "  input x : f32[M, N]\n"
                                   "  output y[i < M, j < N] : f32 = x[i, j]\n}\n");
  Assumptions assumed = assumptions(algorithm);
  EXPECT_TRUE(assumed.exact);
  for (std::int64_t m = -1; m <= 8; ++m) {
    for (std::int64_t n = -1; n <= 10; ++n) {
      bool allowed = m >= 2 && m <= 6 && n >= 0 && n % 3 == 0 && m <= n;
      EXPECT_EQ(assumed.sizes.contains({{"M", m}, {"N", n}}), allowed) << m << " " << n;
    }
  }
}

}  // namespace
}  // namespace tilewright::poly
