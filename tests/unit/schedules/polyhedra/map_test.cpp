// SPDX-License-Identifier: Apache-2.0
//
// Maps: text, naming of outputs, and the laws of relations against enumeration.
#include "schedules/polyhedra/map.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/schedules/polyhedra/enumeration.h"

namespace tilewright::poly {
namespace {

TEST(Map, ReadsAndPrints) {
  Context context;
  Map map = must(
      parse_map(context, "[M] -> { [i] -> [a, b] : a = floor(i/32) and b = i mod 32 and i < M }"));
  EXPECT_EQ(map.space(), (MapSpace{{"M"}, {"i"}, {"a", "b"}}));
  EXPECT_EQ(map.contains({{"M", 99}, {"i", 70}, {"a", 2}, {"b", 6}}), true);
  EXPECT_EQ(map.contains({{"M", 99}, {"i", 70}, {"a", 2}, {"b", 7}}), false);
  Map again = must(parse_map(context, map.text()));
  EXPECT_TRUE(must(is_equal(context, map, again)));
  EXPECT_TRUE(must(is_single_valued(context, map)));
  EXPECT_TRUE(must(is_injective(context, map)));
}

TEST(Map, OutputsNeverShareANameWithInputs) {
  Context context;
  Map next = must(parse_map(context, "{ [i] -> [j] : j = i + 1 }"));
  Map there_and_back = must(compose(context, next, must(inverse(context, next))));
  EXPECT_EQ(there_and_back.space().in, (std::vector<std::string>{"i"}));
  EXPECT_EQ(there_and_back.space().out, (std::vector<std::string>{"i'"}));
  EXPECT_EQ(there_and_back.contains({{"i", 4}, {"i'", 4}}), true);
  EXPECT_EQ(there_and_back.contains({{"i", 4}, {"i'", 5}}), false);
}

TEST(Map, FromExpressionsIsAFunction) {
  Context context;
  AffineExpr i = AffineExpr::variable("i");
  Map map = Map::from_expressions({{}, {"i"}, {"a", "b"}}, {floor_div(i, 3), modulo(i, 3)});
  EXPECT_TRUE(must(is_single_valued(context, map)));
  EXPECT_TRUE(must(is_injective(context, map)));
  EXPECT_EQ(map.contains({{"i", -1}, {"a", -1}, {"b", 2}}), true);
  EXPECT_EQ(unwrap(wrap(map), 1), map);
}

TEST(Map, ErrorsAreDiagnostics) {
  Context context;
  EXPECT_FALSE(parse_map(context, "{ [i] -> ").ok());
  EXPECT_FALSE(parse_map(context, "{ [i] -> [j] : j >= k }").ok());
  Map one = must(parse_map(context, "{ [i] -> [j] }"));
  Map two = must(parse_map(context, "{ [i, k] -> [j] }"));
  EXPECT_FALSE(compose(context, one, two).ok());
  EXPECT_FALSE(intersect(context, one, two).ok());
  EXPECT_FALSE(is_empty(context, one, Limits{1}).ok() &&
               is_subset(context, two, two, Limits{1}).ok() &&
               compose(context, one, one, Limits{1}).ok());
}

Map random_map(std::mt19937& random, const std::string& in, const std::string& out) {
  return unwrap(random_set(random, Space{{"N"}, {in, out}}), 1);
}

TEST(MapLaw, RelationsMatchEnumeration) {
  Context context;
  std::mt19937 random(5);
  for (int round = 0; round < 120; ++round) {
    Map f = random_map(random, "x", "y");
    Map g = random_map(random, "y", "z");
    Set s = random_set(random, Space{{"N"}, {"x"}});
    Map both = must(compose(context, f, g));
    Map back = must(inverse(context, f));
    Set from = must(domain(context, f));
    Set to = must(range(context, f));
    Set image = must(apply(context, s, f));
    Map restricted = must(intersect_domain(context, f, s));
    Map cut = must(intersect_range(
        context, g,
        Set({{"N"}, {"z"}}, s.pieces().empty()
                                ? std::vector<BasicSet>()
                                : std::vector<BasicSet>{BasicSet().at_least(
                                      AffineExpr::variable("z"), AffineExpr::variable("N"))})));
    auto holds = [](const Map& map, const Binding& at) { return map.contains(at).value(); };
    for (std::int64_t n = -kBox; n <= kBox; ++n) {
      for (std::int64_t a = -kBox; a <= kBox; ++a) {
        bool in_domain = false;
        bool in_range = false;
        bool in_image = false;
        for (std::int64_t b = -kBox; b <= kBox; ++b) {
          bool through = false;
          for (std::int64_t y = -kBox; y <= kBox; ++y) {
            through = through || (holds(f, {{"N", n}, {"x", a}, {"y", y}}) &&
                                  holds(g, {{"N", n}, {"y", y}, {"z", b}}));
          }
          bool pair = holds(f, {{"N", n}, {"x", a}, {"y", b}});
          bool reverse_pair = holds(f, {{"N", n}, {"x", b}, {"y", a}});
          in_domain = in_domain || pair;
          in_range = in_range || reverse_pair;
          in_image = in_image || (reverse_pair && inside(s, {{"N", n}, {"x", b}}));
          ASSERT_EQ(holds(both, {{"N", n}, {"x", a}, {"z", b}}), through) << f.text() << g.text();
          ASSERT_EQ(holds(back, {{"N", n}, {"y", b}, {"x", a}}), pair) << f.text();
          ASSERT_EQ(holds(restricted, {{"N", n}, {"x", a}, {"y", b}}),
                    pair && inside(s, {{"N", n}, {"x", a}}));
          ASSERT_EQ(holds(cut, {{"N", n}, {"y", a}, {"z", b}}),
                    holds(g, {{"N", n}, {"y", a}, {"z", b}}) && b >= n);
        }
        ASSERT_EQ(inside(from, {{"N", n}, {"x", a}}), in_domain) << f.text();
        ASSERT_EQ(inside(to, {{"N", n}, {"y", a}}), in_range) << f.text();
        ASSERT_EQ(inside(image, {{"N", n}, {"y", a}}), in_image) << f.text() << s.text();
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::poly
