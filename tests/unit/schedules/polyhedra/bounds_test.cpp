// SPDX-License-Identifier: Apache-2.0
//
// Bounds: the forms that `build` relies on, and the law that a box holds its set and is tight where it
// says so, against enumeration.
#include "schedules/polyhedra/bounds.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/schedules/polyhedra/enumeration.h"

namespace tilewright::poly {
namespace {

struct Box {
  std::string lower, upper, extent;
  friend bool operator==(const Box&, const Box&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Box& box) {
    return out << "[" << box.lower << ", " << box.upper << ") size " << box.extent;
  }
};

Box box_of(Context& context, const char* set, const char* dim, const char* assumed) {
  DimBounds bounds = must(
      dim_bounds(context, must(parse_set(context, set)), dim, must(parse_set(context, assumed))));
  return {bounds.lower.text(), bounds.upper.text(), bounds.extent.text()};
}

TEST(Bounds, ATileWithATail) {
  Context context;
  const char* set = "[M, K, io] -> { [i, k] : 96io <= i < 96io + 96 and i < M and 0 <= k < K }";
  const char* assumed = "[M, K, io] -> { [] : K >= 1 and 0 <= 96io < M }";
  EXPECT_EQ(box_of(context, set, "i", assumed),
            (Box{"96*io", "min(M, 96*io + 96)", "min(96, M - 96*io)"}));
  EXPECT_EQ(box_of(context, set, "k", assumed), (Box{"0", "K", "K"}));
}

TEST(Bounds, ADivisibleExtentHasNoTail) {
  Context context;
  EXPECT_EQ(box_of(context, "[M, io] -> { [i] : 96io <= i < 96io + 96 and i < M }", "i",
                   "[M, io] -> { [] : 0 <= 96io < M and M mod 96 = 0 }"),
            (Box{"96*io", "96*io + 96", "96"}));
}

TEST(Bounds, AStencilIsClippedAtTheBorders) {
  Context context;
  EXPECT_EQ(
      box_of(context,
             "[M, io] -> { [a] : exists j, r : a = j + r and -1 <= r <= 1 and 0 <= j < M and "
             "16io <= j < 16io + 16 and 0 <= a < M }",
             "a", "[M, io] -> { [] : 0 <= 16io < M }"),
      (Box{"max(0, 16*io - 1)", "min(M, 16*io + 17)", "min(18, M, M - 16*io + 1, 16*io + 17)"}));
}

TEST(Bounds, AUnionOfTwoRangesIsAMaximum) {
  Context context;
  EXPECT_EQ(box_of(context, "[M, N] -> { [a] : 0 <= a < M or 0 <= a < N }", "a",
                   "[M, N] -> { [] : M >= 1 and N >= 1 }"),
            (Box{"0", "max(M, N)", "max(M, N)"}));
}

TEST(Bounds, AnEmptySetHasAnEmptyBox) {
  Context context;
  Set set = must(parse_set(context, "[M] -> { [a] : 0 <= a < M and M < 0 }"));
  DimBounds bounds = must(dim_bounds(context, set, "a", Set::universe({{"M"}, {}})));
  EXPECT_TRUE(bounds.may_be_empty);
  EXPECT_EQ(bounds.extent.as_constant(), 0);
}

TEST(Bounds, UnboundedIsADiagnostic) {
  Context context;
  Set set = must(parse_set(context, "[M] -> { [a] : a < M }"));
  Result<DimBounds> bounds = dim_bounds(context, set, "a", Set::universe({{"M"}, {}}));
  ASSERT_FALSE(bounds.ok());
  EXPECT_EQ(bounds.diagnostics().front().code, Code::PolyhedraUnbounded);
  EXPECT_FALSE(dim_bounds(context, set, "b", Set::universe({{"M"}, {}})).ok());
}

TEST(Bounds, EmptinessInAnotherDimensionIsSeen) {
  Context context;
  Set set = must(parse_set(context, "[M, N] -> { [a, b] : 0 <= a < M and 0 <= b < N }"));
  Set sizes = must(parse_set(context, "[M, N] -> { [] : M >= 1 and N >= 0 }"));
  DimBounds bounds = must(dim_bounds(context, set, "a", sizes));
  EXPECT_TRUE(bounds.may_be_empty);
  EXPECT_EQ(bounds.extent.text(), "max(0, M)");
  Set positive = must(parse_set(context, "[M, N] -> { [] : M >= 1 and N >= 1 }"));
  EXPECT_FALSE(must(dim_bounds(context, set, "a", positive)).may_be_empty);
  Set more =
      must(parse_set(context, "[M, N, P] -> { [a, b] : 0 <= a < M and 0 <= b < N and P >= 3 }"));
  EXPECT_TRUE(must(dim_bounds(context, more, "a", positive)).may_be_empty);
  BasicSet stranger = BasicSet().at_least(AffineExpr::variable("z"), AffineExpr());
  EXPECT_FALSE(dim_bounds(context, Set({{"M"}, {"a"}}, stranger), "a", sizes).ok());
}

TEST(Bounds, LargestSizeOverLoops) {
  Context context;
  AffineExpr m = AffineExpr::variable("M");
  AffineExpr io = AffineExpr::variable("io");
  BoundExpr size = BoundExpr::min({BoundExpr(96), BoundExpr(m - io * 96)});
  Set loops = must(parse_set(context, "[M] -> { [io] : 0 <= 96io < M }"));
  EXPECT_EQ(must(max_over(context, size, loops)).text(), "min(96, M)");
  EXPECT_EQ(must(max_value(context, size, loops)), 96);
  EXPECT_EQ(must(max_value(context, BoundExpr(m), loops)), std::nullopt);
  // A name that the domain does not know stays a parameter.
  BoundExpr other = BoundExpr::min({BoundExpr(io), BoundExpr(AffineExpr::variable("value"))});
  EXPECT_EQ(
      must(max_over(context, other, must(parse_set(context, "{ [io] : 0 <= io < 7 }")))).text(),
      "min(6, value)");
}

TEST(Bounds, ComparesAndSimplifies) {
  Context context;
  Set facts = must(parse_set(context, "[M, N] -> { [] : 1 <= M <= N }"));
  BoundExpr m(AffineExpr::variable("M"));
  BoundExpr n(AffineExpr::variable("N"));
  EXPECT_TRUE(must(proves_at_least(context, facts, n, m)));
  EXPECT_FALSE(must(proves_at_least(context, facts, m, n)));
  EXPECT_TRUE(must(proves_at_least(context, facts, m, BoundExpr::min({m, n}))));
  EXPECT_TRUE(must(proves_at_least(context, facts, BoundExpr::max({m, n}), n)));
  EXPECT_EQ(must(simplify(context, BoundExpr::min({m, n, BoundExpr(0)}), facts)), BoundExpr(0));
  EXPECT_EQ(must(simplify(context, BoundExpr::max({m, n}), facts)), n);
}

TEST(BoundExpr, ArithmeticIsPushedIntoTheLeaves) {
  BoundExpr m(AffineExpr::variable("M"));
  BoundExpr tile = BoundExpr::min({m, BoundExpr(96)});
  EXPECT_EQ((tile + BoundExpr(1)).text(), "min(97, M + 1)");
  EXPECT_EQ((tile * -1).text(), "max(-96, -M)");
  EXPECT_EQ(ceil_div(tile, 16).text(), "min(6, floor((M + 15)/16))");
  EXPECT_EQ(BoundExpr::min({m, tile, m + BoundExpr(3)}), tile);
  EXPECT_EQ(BoundExpr::max({BoundExpr(3), BoundExpr(5)}), BoundExpr(5));
  EXPECT_EQ(tile.substituted("M", AffineExpr(7)), BoundExpr(7));
}

TEST(BoundsLaw, TheBoxHoldsTheSetAndIsTight) {
  Context context;
  std::mt19937 random(11);
  int exact_boxes = 0;
  for (int round = 0; round < 250; ++round) {
    Set set = random_set(random, Space{{"M", "N"}, {"i", "j"}});
    Set assumed = must(parse_set(context, "[M, N] -> { [] : -4 <= M <= 4 and 0 <= N <= M }"));
    std::vector<DimBounds> box = must(box_hull(context, set, assumed));
    for_each_point({"M", "N"}, [&](const Binding& params) {
      if (!inside(assumed, params)) return;
      std::optional<std::int64_t> low[2], high[2];
      for_each_point({"i", "j"}, [&](const Binding& dims) {
        Binding at = params;
        at.insert(dims.begin(), dims.end());
        if (!inside(set, at)) return;
        for (int d = 0; d < 2; ++d) {
          std::int64_t value = at.at(d == 0 ? "i" : "j");
          if (!low[d] || value < *low[d]) low[d] = value;
          if (!high[d] || value > *high[d]) high[d] = value;
        }
      });
      for (int d = 0; d < 2; ++d) {
        std::int64_t lower = box[d].lower.evaluate(params).value();
        std::int64_t upper = box[d].upper.evaluate(params).value();
        std::int64_t extent = box[d].extent.evaluate(params).value();
        if (!low[d]) {
          ASSERT_TRUE(box[d].may_be_empty) << set.text();
          ASSERT_GE(extent, 0) << set.text();
          continue;
        }
        ASSERT_LE(lower, *low[d]) << set.text() << box[d].lower.text();
        ASSERT_GT(upper, *high[d]) << set.text() << box[d].upper.text();
        ASSERT_EQ(extent, upper - lower) << set.text() << box[d].extent.text();
        if (box[d].exact) {
          ++exact_boxes;
          ASSERT_EQ(lower, *low[d]) << set.text() << box[d].lower.text();
          ASSERT_EQ(upper, *high[d] + 1) << set.text() << box[d].upper.text();
        }
      }
    });
  }
  EXPECT_GT(exact_boxes, 500);
}

TEST(BoundsLaw, TheLargestValueOverLoopsIsNeverExceeded) {
  Context context;
  std::mt19937 random(12);
  for (int round = 0; round < 150; ++round) {
    Set domain = random_set(random, Space{{"N"}, {"i", "j"}});
    std::vector<BoundExpr> leaves;
    for (int k = 0; k < 3; ++k) leaves.emplace_back(random_affine(random, {"N", "i", "j"}));
    BoundExpr expr =
        round % 3 == 0 ? BoundExpr::min(leaves)
        : round % 3 == 1
            ? BoundExpr::max({leaves[0], BoundExpr::min({leaves[1], leaves[2]})})
            : BoundExpr::select(BasicSet().at_least(AffineExpr::variable("i"), AffineExpr()),
                                leaves[0], BoundExpr::min({leaves[1], leaves[2]}));
    BoundExpr most = must(max_over(context, expr, domain));
    std::optional<std::int64_t> constant = must(max_value(context, expr, domain));
    std::optional<std::int64_t> largest;
    for_each_point({"N", "i", "j"}, [&](const Binding& at) {
      if (!inside(domain, at)) return;
      std::int64_t value = expr.evaluate(at).value();
      ASSERT_LE(value, most.evaluate(at).value()) << expr.text() << domain.text() << most.text();
      if (!largest || value > *largest) largest = value;
    });
    ASSERT_EQ(constant, largest) << expr.text() << domain.text();
  }
}

}  // namespace
}  // namespace tilewright::poly
