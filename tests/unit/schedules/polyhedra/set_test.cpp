// SPDX-License-Identifier: Apache-2.0
//
// Sets: text, errors, and the laws of every operation against enumeration of a small box.
#include "schedules/polyhedra/set.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/unit/schedules/polyhedra/enumeration.h"

namespace tilewright::poly {
namespace {

const Space kSpace{{"N"}, {"i", "j"}};
const std::vector<std::string> kNames{"N", "i", "j"};

TEST(Set, ReadsAndPrints) {
  Context context;
  Set set = must(parse_set(context, "[M] -> { [i, j] : 0 <= i < M and j = i mod 4 }"));
  EXPECT_EQ(set.space(), (Space{{"M"}, {"i", "j"}}));
  std::string text = set.text();
  EXPECT_EQ(must(parse_set(context, text)).text(), text);
  EXPECT_EQ(set.contains({{"M", 8}, {"i", 7}, {"j", 3}}), true);
  EXPECT_EQ(set.contains({{"M", 8}, {"i", 7}, {"j", 2}}), false);
  EXPECT_EQ(set.contains({{"M", 7}, {"i", 7}, {"j", 3}}), false);
  EXPECT_EQ(set.contains({{"M", 7}}), std::nullopt);
}

TEST(Set, EmptyAndUniversePrint) {
  Context context;
  EXPECT_EQ(Set(kSpace).text(), "[N] -> { [i, j] : false }");
  EXPECT_EQ(Set::universe(kSpace).text(), "[N] -> { [i, j] }");
  EXPECT_TRUE(must(is_empty(context, must(parse_set(context, Set(kSpace).text())))));
}

TEST(Set, BadTextIsADiagnostic) {
  Context context;
  std::string deep = "{ [i] : " + std::string(5000, '(');
  for (std::string text :
       {std::string("{ [i] : "), std::string("{ [i] : i <= j }"), std::string(""),
        std::string("{ [i] -> [j] }"), std::string("{ [i, j] : i * j >= 4 }"),
        std::string("{ [i] : i >= 99999999999999999999 }"), deep}) {
    Result<Set> set = parse_set(context, text);
    ASSERT_FALSE(set.ok()) << text;
    EXPECT_EQ(set.diagnostics().front().code, Code::PolyhedraFailure) << text;
  }
  // The context is still usable.
  EXPECT_FALSE(must(is_empty(context, Set::universe(kSpace))));
}

TEST(Set, TheLimitIsADiagnosticAndLeavesTheContextUsable) {
  Context context;
  Set set = must(parse_set(context, "[N] -> { [i, j] : 0 <= 3i + 5j <= N and 7i - 2j >= 4 }"));
  Result<bool> limited = is_empty(context, set, Limits{2});
  ASSERT_FALSE(limited.ok());
  EXPECT_EQ(limited.diagnostics().front().code, Code::PolyhedraLimit);
  EXPECT_FALSE(must(is_empty(context, set)));
}

TEST(Set, OverflowAndUnknownNamesAreRefused) {
  Context context;
  AffineExpr big = AffineExpr(std::numeric_limits<std::int64_t>::max()) + AffineExpr(1);
  Result<bool> overflow = is_empty(context, Set(kSpace, BasicSet().at_least(big, AffineExpr())));
  ASSERT_FALSE(overflow.ok());
  EXPECT_EQ(overflow.diagnostics().front().code, Code::PolyhedraFailure);
  BasicSet stranger = BasicSet().at_least(AffineExpr::variable("z"), AffineExpr());
  EXPECT_FALSE(is_empty(context, Set(kSpace, stranger)).ok());
  EXPECT_FALSE(is_empty(context, Set(Space{{"i"}, {"i"}}, BasicSet())).ok());
  // A parameter of one operand that is a dimension of the other.
  Set with_param(Space{{"i"}, {"a", "b"}}, BasicSet());
  EXPECT_FALSE(intersect(context, Set::universe(kSpace), with_param).ok());
  EXPECT_FALSE(intersect(context, Set::universe(kSpace), Set::universe(Space{{}, {"i"}})).ok());
}

TEST(Set, ParametersOfBothOperandsSurvive) {
  Context context;
  Set a = must(parse_set(context, "[M] -> { [i] : i < M }"));
  Set b = must(parse_set(context, "[N] -> { [k] : k >= N }"));
  Set both = must(intersect(context, a, b));
  EXPECT_EQ(both.space().params, (std::vector<std::string>{"M", "N"}));
  EXPECT_EQ(both.space().dims, (std::vector<std::string>{"i"}));
  EXPECT_EQ(both.contains({{"M", 3}, {"N", 2}, {"i", 2}}), true);
  EXPECT_EQ(both.contains({{"M", 3}, {"N", 2}, {"i", 1}}), false);
}

TEST(Set, SmallestPointIsTheSmallestCounterexample) {
  Context context;
  Set set = must(parse_set(context, "[M, N] -> { [i] : M >= 1 and N >= M + 2 and N <= i }"));
  std::optional<Point> point = must(smallest_point(context, set));
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->text(), "M = 1, N = 3, i = 3");
  EXPECT_EQ(point->value("N"), 3);
  EXPECT_EQ(point->value("z"), std::nullopt);
  // No smallest point, but a point.
  std::optional<Point> open =
      must(smallest_point(context, must(parse_set(context, "{ [i] : i <= 7 }"))));
  ASSERT_TRUE(open.has_value());
  EXPECT_LE(open->value("i").value(), 7);
  EXPECT_FALSE(must(sample(context, Set(kSpace))).has_value());
}

TEST(Set, MovingParametersIsLossless) {
  Context context;
  Set set = must(parse_set(context, "[M, o] -> { [i] : 4o <= i < 4o + 4 and i < M }"));
  Set loops = params_to_dims(set, {"o"});
  EXPECT_EQ(loops.space(), (Space{{"M"}, {"o", "i"}}));
  EXPECT_EQ(dims_to_params(loops, {"o"}), set);
  EXPECT_EQ(must(parameter_domain(context, loops)).space().dims.size(), 0u);
}

TEST(SetLaw, BooleanOperationsArePointwise) {
  Context context;
  std::mt19937 random(1);
  for (int round = 0; round < 150; ++round) {
    Set a = random_set(random, kSpace);
    Set b = random_set(random, kSpace);
    Set meet = must(intersect(context, a, b));
    Set join = must(unite(context, a, b));
    Set rest = must(subtract(context, a, b));
    Set simple = must(simplify(context, a));
    Set relative = must(intersect(context, must(gist(context, a, b)), b));
    bool empty = true;
    bool subset = true;
    for_each_point(kNames, [&](const Binding& at) {
      bool in_a = inside(a, at);
      bool in_b = inside(b, at);
      ASSERT_EQ(inside(meet, at), in_a && in_b) << a.text() << b.text();
      ASSERT_EQ(inside(join, at), in_a || in_b) << a.text() << b.text();
      ASSERT_EQ(inside(rest, at), in_a && !in_b) << a.text() << b.text();
      ASSERT_EQ(inside(simple, at), in_a) << a.text();
      ASSERT_EQ(inside(relative, at), in_a && in_b) << a.text() << b.text();
      empty = empty && !in_a;
      subset = subset && (!in_a || in_b);
    });
    ASSERT_EQ(must(is_empty(context, a)), empty) << a.text();
    ASSERT_EQ(must(is_subset(context, a, b)), subset) << a.text() << b.text();
    ASSERT_TRUE(must(is_equal(context, a, simple)));
  }
}

TEST(SetLaw, PrintingAndReadingAreInverse) {
  Context context;
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    Set a = random_set(random, kSpace);
    Set again = must(parse_set(context, a.text()));
    ASSERT_TRUE(must(is_equal(context, a, again))) << a.text();
    for_each_point(kNames, [&](const Binding& at) { ASSERT_EQ(inside(again, at), inside(a, at)); });
  }
}

TEST(SetLaw, ProjectionAndOptimaMatchEnumeration) {
  Context context;
  std::mt19937 random(3);
  for (int round = 0; round < 150; ++round) {
    Set a = random_set(random, kSpace);
    Set without_i = must(project_out(context, a, {"i"}));
    Set without_n = must(project_out(context, a, {"N", "j"}));
    Set params = must(parameter_domain(context, a));
    Set fixed = must(fix(context, a, "i", 1));
    Set least = must(lexmin(context, a));
    Set most = must(lexmax(context, a));
    std::map<std::vector<std::int64_t>, bool> n_j;
    std::map<std::int64_t, bool> only_i;
    std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::int64_t>>> points;
    std::optional<Point> first;
    for_each_point(kNames, [&](const Binding& at) {
      std::int64_t n = at.at("N");
      std::int64_t i = at.at("i");
      std::int64_t j = at.at("j");
      if (inside(a, at)) {
        n_j[{n, j}] = true;
        only_i[i] = true;
        points[n].emplace_back(i, j);
        if (!first) first = Point{{{"N", n}}, {{"i", i}, {"j", j}}};
      }
      ASSERT_EQ(inside(fixed, at), inside(a, at) && i == 1) << a.text();
    });
    for_each_point(kNames, [&](const Binding& at) {
      std::int64_t n = at.at("N");
      ASSERT_EQ(inside(without_i, at), n_j.count({n, at.at("j")}) == 1) << a.text();
      ASSERT_EQ(inside(without_n, at), only_i.count(at.at("i")) == 1) << a.text();
      ASSERT_EQ(inside(params, at), points.count(n) == 1) << a.text();
      std::pair<std::int64_t, std::int64_t> here(at.at("i"), at.at("j"));
      bool is_first = points.count(n) == 1 && points[n].front() == here;
      bool is_last = points.count(n) == 1 && points[n].back() == here;
      ASSERT_EQ(inside(least, at), is_first) << a.text();
      ASSERT_EQ(inside(most, at), is_last) << a.text();
    });
    ASSERT_EQ(must(smallest_point(context, a)), first) << a.text();
    std::optional<Point> some = must(sample(context, a));
    ASSERT_EQ(some.has_value(), first.has_value());
    if (some) {
      ASSERT_TRUE(inside(a, some->binding()));
    }
  }
}

TEST(SetLaw, ManyTightLimitsNeverLeakOrCrash) {
  Context context;
  std::mt19937 random(4);
  for (std::uint64_t limit = 1; limit < 120; limit += 3) {
    Set a = random_set(random, kSpace);
    Set b = random_set(random, kSpace);
    Result<Set> rest = subtract(context, a, b, Limits{limit});
    if (!rest.ok()) {
      EXPECT_EQ(rest.diagnostics().front().code, Code::PolyhedraLimit);
    }
    Result<Set> projected = project_out(context, a, {"i"}, Limits{limit});
    if (!projected.ok()) {
      EXPECT_EQ(projected.diagnostics().front().code, Code::PolyhedraLimit);
    }
  }
  EXPECT_FALSE(must(is_empty(context, Set::universe(kSpace))));
}

}  // namespace
}  // namespace tilewright::poly
