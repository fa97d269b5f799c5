// SPDX-License-Identifier: Apache-2.0
//
// Sizes, points and reads that are found hold what they promise, by conditions written out here.
#include "schedules/polyhedra/instances.h"

#include <gtest/gtest.h>

#include "frontend/ir/text.h"

namespace tilewright::poly {
namespace {

struct Parsed {
  ir::Context context;
  Source source;
  ir::Algorithm algorithm;
  explicit Parsed(const char* text)
      : source("a.tw", text), algorithm(ir::parse_algorithm(context, source).value()) {}
  Symbol name(const char* text) { return context.symbol(text); }
};

TEST(AllowedSizes, SatisfyEveryDeclaration) {
  Parsed p(R"(algorithm a(M min 3 max 20, N multiple_of 4, K) {
  requires M + N >= 10, K < M
  input x : f32[M, N, K]
  output y[i < M] : f32 = x[i, 0, 0]
})");
  const AllowedSizes allowed(p.algorithm);
  int seen = 0;
  std::int64_t smallest = -1;
  EXPECT_FALSE(allowed.find([&](const Values& sizes) {
    const auto m = sizes.at(p.name("M"));
    const auto n = sizes.at(p.name("N"));
    const auto k = sizes.at(p.name("K"));
    EXPECT_TRUE(m >= 3 && m <= 20 && n >= 0 && n % 4 == 0 && k >= 0 && m + n >= 10 && k < m)
        << allowed.text(sizes);
    if (seen++ == 0) smallest = m;
    return false;
  }));
  EXPECT_GT(seen, 10);
  EXPECT_EQ(smallest, 3);
  const auto wide = allowed.find([&](const Values& sizes) { return sizes.at(p.name("K")) >= 2; });
  ASSERT_TRUE(wide.has_value());
  EXPECT_EQ(allowed.text(*wide), "M = 3, N = 8, K = 2");
}

TEST(AllowedSizes, GoPastAHint) {
  Parsed p("algorithm a(N) { input x : f32[N] output y[i < N] : f32 = x[i] }");
  AllowedSizes allowed(p.algorithm);
  const auto beyond = [&](const Values& sizes) { return sizes.at(p.name("N")) > 512; };
  EXPECT_FALSE(allowed.find(beyond).has_value());
  allowed.try_around(512);
  ASSERT_TRUE(allowed.find(beyond).has_value());
  EXPECT_EQ(allowed.text(*allowed.find(beyond)), "N = 513");
}

TEST(AllowedSizes, AreNoneWhereNothingIsAllowed) {
  Parsed p(R"(algorithm a(N) {
  requires N >= 5, N <= 4
  input x : f32[N]
  output y[i < N] : f32 = x[i]
})");
  EXPECT_FALSE(AllowedSizes(p.algorithm).find([](const Values&) { return true; }).has_value());
  ir::Algorithm free = p.algorithm;
  free.requirements.clear();
  EXPECT_EQ(first_contradiction(free, p.algorithm.requirements), std::optional<std::size_t>(1));
  EXPECT_EQ(first_contradiction(free, {p.algorithm.requirements[1]}), std::nullopt);
}

// Every point of a triangular domain, in order, and no other.
TEST(Instances, WalkTheDomain) {
  Parsed p(R"(algorithm a(N) {
  input x : f32[N]
  output y[i < N] : f32 = sum(i <= k < N) x[k]
})");
  std::vector<std::pair<std::int64_t, std::int64_t>> wanted;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t k = i; k < 4; ++k) wanted.emplace_back(i, k);
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  find_instance(p.algorithm.equations[0], {{p.name("N"), 4}}, [&](const Values& point) {
    found.emplace_back(point.at(p.name("i")), point.at(p.name("k")));
    return false;
  });
  EXPECT_EQ(found, wanted);
}

// Through an inlined equation, and not in an arm that is not taken.
TEST(Instances, FindTheReadThatEvaluationTouches) {
  Parsed p(R"(algorithm a(N) {
  input x : f32[N]
  t[i < N] : f32 = x[i] * 2
  u[i < N] : f32 = select(i > 1, t[i - 2], 0)
  output y[i < N] : f32 = u[N - 1 - i]
})");
  const auto& y = p.algorithm.equations[2];
  const std::function<bool(Symbol)> inlined = [&](Symbol name) { return name == p.name("u"); };
  for (std::int64_t n = 1; n < 6; ++n)
    for (std::int64_t i = 0; i < n; ++i) {
      const Values point = {{p.name("N"), n}, {p.name("i"), i}};
      const auto read = find_read(p.algorithm, inlined, y, point, p.name("t"));
      const std::int64_t at = n - 1 - i;
      ASSERT_EQ(read.has_value(), at > 1) << n << " " << i;
      if (read) {
        EXPECT_EQ(read->cell, std::vector<std::int64_t>{at - 2});
      }
      EXPECT_FALSE(find_read(p.algorithm, inlined, y, point, p.name("x")).has_value());
    }
}

TEST(EvaluateIndex, HasNoValueWhereThereIsNone) {
  ir::Context context;
  const Symbol n = context.symbol("N");
  const ir::Expr size = context.extent(n);
  const ir::Expr quotient = context.floor_div(context.index(7), size);
  const ir::Expr cube = context.mul(context.mul(size, size), size);
  EXPECT_EQ(evaluate_index(quotient, {{n, 0}}), std::nullopt);
  EXPECT_EQ(evaluate_index(quotient, {{n, 2}}), std::optional<std::int64_t>(3));
  EXPECT_EQ(evaluate_index(cube, {{n, 3}}), std::optional<std::int64_t>(27));
  EXPECT_EQ(evaluate_index(cube, {{n, std::int64_t{1} << 40}}), std::nullopt);
  EXPECT_EQ(evaluate_index(cube, {}), std::nullopt);
}

}  // namespace
}  // namespace tilewright::poly
