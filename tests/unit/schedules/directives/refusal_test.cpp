// SPDX-License-Identifier: Apache-2.0
//
// Every reason for which a directive or a schedule is refused, by a minimal case: the code, the place and
// what the message names. A refused directive leaves the tree as it was.
#include <gtest/gtest.h>
#include "frontend/base/render.h"
#include "frontend/ir/text.h"
#include "schedules/directives/text.h"

namespace tilewright::directives {
namespace {

constexpr const char* kAlgorithm = R"(algorithm two(M, N, K) {
  input a : f32[M, K]
  input b : f32[K, N]
  e[i < M, k < K] : f32 = a[i, k] * 2
  output c[i < M, j < N] : f32 = sum(k < K) e[i, k] * b[k, j]
  output d[i < M] : f32 = max(j < N) c[i, j]
})";

struct Parsed {
  ir::Context context;
  Source algorithm_source{"two.tw", kAlgorithm};
  ir::Algorithm algorithm;
  Source source;
  Result<tree::Schedule> schedule;

  explicit Parsed(const std::string& body)
      : algorithm(ir::parse_algorithm(context, algorithm_source).value()),
        source("two.tws", "schedule s for two on host {\n" + body + "\n}\n"),
        schedule(parse_schedule(context, algorithm, source)) {}
};

struct Refusal {
  const char* body;
  const char* code;
  const char* message;
  const char* place;  // the text that the span begins with
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.body; }

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithCodePlaceAndRemedy) {
  const Refusal& want = GetParam();
  Parsed parsed(want.body);
  ASSERT_FALSE(parsed.schedule.ok()) << want.body << print(*parsed.schedule);
  const Diagnostic& found = parsed.schedule.diagnostics()[0];
  const std::string shown = render(parsed.schedule.diagnostics(), &parsed.source);
  EXPECT_EQ(code_text(found.code), want.code) << shown;
  EXPECT_NE(found.message.find(want.message), std::string::npos) << shown;
  EXPECT_FALSE(found.remedy.empty()) << shown;
  EXPECT_EQ(parsed.source.text().substr(found.span.begin, std::string_view(want.place).size()),
            want.place)
      << shown;
}

INSTANTIATE_TEST_SUITE_P(
    Directives, Refused,
    testing::Values(
        // E0303: names.
        Refusal{"split c.x by 4 as o, t", "E0303", "no loop `c.x`", "c.x"},
        Refusal{"split z.i by 4 as o, t", "E0303", "`z` has no loops", "z.i"},
        Refusal{"split i by 4 as o, t", "E0303", "loop of 3 nests", "i by"},
        Refusal{"reorder z: i", "E0303", "`z` has no loops", "z"},
        Refusal{"inline e\nsplit e.i by 2 as o, t", "E0303", "`e` has no loops", "e.i"},
        // E0304: split and tile.
        Refusal{"split c.i by 4 as j, t", "E0304", "has a loop `j` already", "j, t"},
        Refusal{"split c.i by 4 as i, t", "E0304", "has a loop `i` already", "i, t"},
        Refusal{"split c.i by 4 as t, t", "E0304", "both parts are named `t`", "t\n"},
        Refusal{"vectorize c.k by 4\nsplit c.k_v by 2 as o, t", "E0304", "already vectorized",
                "c.k_v"},
        Refusal{"split c.i by 4 as o, t\npeel c.o\nsplit c.o by 2 as p, q", "E0304",
                "peeled already", "c.o by"},
        Refusal{"compute_at e in c.i\nsplit c.i by 4 as o, t", "E0304", "`e` is placed in loop `i`",
                "c.i by"},
        Refusal{"split c.i by 2 as o, t\nkeep c[t] in register\nsplit c.t by 2 as p, q", "E0304",
                "kept in registers", "c.t by"},
        Refusal{"tile c.i, e.k by 2, 2 as o, p, q, r", "E0304", "different nests", "e.k"},
        Refusal{"tile c.j, c.i by 2, 2 as o, p, q, r", "E0304", "is inside", "c.j"},
        // Reorder and fuse.
        Refusal{"reorder c: i, i", "E0304", "named twice", "i\n"},
        Refusal{"fuse c.i, c.k as f", "E0304", "does not stand directly inside", "c.k"},
        Refusal{"fuse c.i, e.k as f", "E0304", "does not stand directly inside", "e.k"},
        Refusal{"fuse c.i, c.j as k", "E0304", "has a loop `k` already", "k\n"},
        Refusal{"fuse c.j, c.k as f", "E0304", "one over the reduction", "c.j"},
        Refusal{"parallel c.i\nfuse c.i, c.j as f", "E0304", "marked already", "c.i, "},
        Refusal{"compute_at e in c.j\nfuse c.i, c.j as f", "E0304", "`e` is placed in one", "c.i"},
        // Placement.
        Refusal{"compute_at c in d.i", "E0304", "is an output", "c in"},
        Refusal{"compute_at e in e.i", "E0304", "its own loop", "e.i"},
        Refusal{"stage b[k, j] at c.j as bp[k, j]\ncompute_at bp in c.i", "E0304", "staged copy",
                "bp in"},
        Refusal{"inline c", "E0304", "is an output and cannot be inlined", "c"},
        Refusal{"inline d", "E0304", "cannot be inlined", "d"},
        Refusal{"stage b[k, j] at e.i as p[k, j]\ninline e", "E0304", "is placed in a loop of `e`",
                "e\n"},
        // Marks.
        Refusal{"parallel c.i\nparallel c.i", "E0304", "marked already", "c.i\n}"},
        Refusal{"parallel c.i\nunroll c.i", "E0304", "marked already", "c.i\n}"},
        Refusal{"split c.i by 4 as o, t\npeel c.o\nunroll c.o", "E0304", "peeled already",
                "c.o\n}"},
        Refusal{"peel c.i", "E0304", "not the outer loop of a split", "c.i"},
        Refusal{"split c.i by 4 as o, t\nunroll c.o\npeel c.o", "E0304", "vectorized or unrolled",
                "c.o\n}"},
        // Stage and keep.
        Refusal{"stage z[k, j] at c.j as p[k, j]", "E0304", "`z` is not a tensor", "z["},
        Refusal{"stage b[k, j] at c.j as e[k, j]", "E0304", "a name that the schedule has", "e["},
        Refusal{"keep c in register", "E0304", "is an output", "c in"},
        Refusal{"keep e[i] in register", "E0304", "is not a reduction", "e["}));

// What a tool reads instead of the sentence: which loop, and who or what stands in the way.
TEST(Refusals, CarryTheirEvidence) {
  const std::vector<std::pair<const char*, Evidence>> cases = {
      {"split c.i by 4 as j, t", {{"loop", "c.i"}, {"taken", "j"}}},
      {"compute_at e in c.i\nsplit c.i by 4 as o, t", {{"loop", "c.i"}, {"placed", "e"}}},
      {"fuse c.i, c.k as f", {{"outer", "c.i"}, {"inner", "c.k"}, {"between", "c.j"}}},
      {"compute_at e in c.j\nfuse c.i, c.j as f", {{"loop", "c.j"}, {"placed", "e"}}},
      {"peel c.i", {{"loop", "c.i"}}},
      {"parallel c.i\nunroll c.i", {{"loop", "c.i"}}},
      {"parallel c.i\nvectorize c.i", {{"loop", "c.i"}}},
      {"compute_at c in d.i", {{"nest", "c"}, {"loop", "d.i"}}},
      {"inline d", {{"nest", "d"}, {"sizes", "M = 1, N = 0, K = 0"}, {"not computed", "d[0]"}}},
      {"stage b[k, j] at e.i as p[k, j]\ninline e", {{"loop", "e.i"}, {"placed", "p"}}},
      {"keep e[i] in register", {{"nest", "e"}}},
      {"stage b[k, j] at c.j as e[k, j]", {{"taken", "e"}}},
      {"tile c.j, c.i by 2, 2 as o, p, q, r", {{"first", "c.j"}, {"second", "c.i"}}},
      {"reorder c: i, i", {{"loop", "c.i"}}},
  };
  for (const auto& [body, evidence] : cases) {
    const Parsed parsed(body);
    ASSERT_FALSE(parsed.schedule.ok()) << body;
    EXPECT_EQ(parsed.schedule.diagnostics()[0].evidence, evidence) << body;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, Refused,
    testing::Values(
        // E0302: the directive after which the schedule stayed malformed is the place.
        Refusal{"parallel c.i\nvectorize c.i by 4", "E0302", "`c.i_v` is not innermost", "c.i by"},
        Refusal{"compute_at e in d.i", "E0302",
                "`e` is placed in `d.i` but `c` reads it outside that loop", "d.i"},
        Refusal{"parallel c.i\nparallel c.k", "E0302", "runs over a reduction", "c.k"},
        Refusal{"split c.k by 2 as o, t\nkeep c[t] in register", "E0302", "runs over the reduction",
                "t] in"},
        Refusal{"keep c[i, i] in register", "E0302", "or twice", "i] in"},
        Refusal{"stage b[k] at c.j as p[k]", "E0302", "has 2 dimensions, not 1", "b["},
        Refusal{"stage b[k, k] at c.j as p[k, k]", "E0302", "have one name", "k]\n"},
        Refusal{"stage b[k, j] at c.j as p[k]", "E0302", "dimension `j`", "j] at"},
        Refusal{"stage b[k, j] at c.j as p[k, j / 4, j % 2]", "E0302", "dimension `j`", "j] at"},
        Refusal{"stage b[k, j] at c.j as p[k, j, z]", "E0302", "`z` is not a dimension", "z]"},
        Refusal{"stage a[i, k] at c.i as p[i, k]", "E0302", "nothing inside `c.i` reads `a`",
                "c.i as"},
        Refusal{"inline e\nstage e[i, k] at c.i as p[i, k]", "E0302", "is inlined", "e[i"},
        // The tree form.
        Refusal{"tree { inline e }", "E0302", "`c` has no nest", "s for"},
        Refusal{"tree { inline c }", "E0302", "is an output", "s for"},
        Refusal{
            "tree { inline e inline e nest c { for i { for j { for k { compute } } } } nest d { "
            "for i { for j { compute } } } }",
            "E0302", "inlined twice", "s for"},
        Refusal{
            "tree { inline e nest d { for i { for j { compute } } } nest c { for i { for j { for k "
            "{ compute } } } } }",
            "E0302", "`d` reads `c` before it is computed", "d {"},
        Refusal{"tree { inline e nest c { for i { for j { compute } } } nest d { for i { for j { "
                "compute } } } }",
                "E0302", "`c.k` is not in the order", "c {"},
        Refusal{
            "tree { inline e nest c { split i by 2 as o, t for o { for t { for j peel { for k { "
            "compute } } } } } nest d { for i { for j { compute } } } }",
            "E0302", "not the outer loop of a split", "peel {"},
        Refusal{"tree { nest c { split d.i by 2 as o, t compute } }", "E0101", "names a nest",
                "d.i"},
        // E0307: the guard, not what the algorithm requires.
        Refusal{"guard N >= 10\nguard M >= 1, N <= 5", "E0307", "satisfy the guard `N <= 5`",
                "N <= 5"},
        // E0305: header and form.
        Refusal{"split c.i by 2 as o, t\ntree { }", "E0305", "a tree beside directives", "tree"},
        Refusal{"algorithm_hash h00", "E0305", "another content", "h00"}));

std::string evidence(const Diagnostic& diagnostic, std::string_view name) {
  for (const auto& [key, value] : diagnostic.evidence)
    if (key == name) return value;
  return "(none)";
}

// A tree that cannot stand comes with sizes and instances that show it. The expected ones follow from the
// statement of `two` by hand: c reads e[i, k], d reads c[i, j].
TEST(Refusals, NameSizesAndInstances) {
  const Parsed outside("compute_at e in d.i");
  ASSERT_FALSE(outside.schedule.ok());
  const Diagnostic& early = outside.schedule.diagnostics()[0];
  EXPECT_EQ(evidence(early, "sizes"), "M = 1, N = 1, K = 1");
  EXPECT_EQ(evidence(early, "instance"), "c[0, 0] at k = 0");
  EXPECT_EQ(evidence(early, "reads"), "e[0, 0]");

  const Parsed race("split c.k by 8 as o, t\nparallel c.o");
  ASSERT_FALSE(race.schedule.ok());
  const Diagnostic& meet = race.schedule.diagnostics()[0];
  // With fewer than nine terms there is one iteration of `o`, so nothing meets.
  EXPECT_EQ(evidence(meet, "sizes"), "M = 1, N = 1, K = 9");
  EXPECT_EQ(evidence(meet, "one"), "o = 0: c[0, 0] at k = 0");
  EXPECT_EQ(evidence(meet, "another"), "o = 1: c[0, 0] at k = 8");

  // j = 0 and j = 4 both come to quotient 0 and remainder 0 of (j / 8, j % 4).
  const Parsed lost("stage b[k, j] at c.j as p[k, j / 8, j % 4]");
  ASSERT_FALSE(lost.schedule.ok());
  EXPECT_EQ(evidence(lost.schedule.diagnostics()[0], "cells"), "j = 0 and j = 4");
  EXPECT_EQ(evidence(lost.schedule.diagnostics()[0], "place"), "j_o = 0, j_i = 0");
  // Nothing comes to j_o = 0, j_i = 2 of (j / 2, j % 4).
  const Parsed hole("stage b[k, j] at c.j as p[k, j / 2, j % 4]");
  ASSERT_FALSE(hole.schedule.ok());
  EXPECT_EQ(evidence(hole.schedule.diagnostics()[0], "unused place"), "j_o = 0, j_i = 2");

  const Parsed guarded("guard N >= 10, N <= 5");
  ASSERT_FALSE(guarded.schedule.ok());
  EXPECT_EQ(evidence(guarded.schedule.diagnostics()[0], "fails at"), "M = 0, N = 10, K = 0");
}

TEST(Refusals, LeaveTheTreeAlone) {
  Parsed parsed("split c.i by 4 as o, t");
  ASSERT_TRUE(parsed.schedule.ok());
  tree::Tree tree = parsed.schedule->tree;
  Target target{parsed.context, parsed.algorithm, tree};
  // The second split of the tile refuses after the first was made.
  const Symbol c = parsed.context.symbol("c");
  auto name = [&](const char* text) { return parsed.context.symbol(text); };
  const Tile tile{
      {c, name("j"), {}}, {c, name("k"), {}}, 2, 2, {name("x"), name("x2"), name("y"), name("t")}};
  EXPECT_FALSE(directives::apply(Directive(tile), target).ok());
  EXPECT_TRUE(tree == parsed.schedule->tree);
}

// Placements may come in any order, and a loop may be marked before it moves inside.
TEST(Directives, OrderIsFree) {
  Parsed a("vectorize c.j by 4\nreorder c: i, j_o, k, j_v\ncompute_at e in c.i");
  ASSERT_TRUE(a.schedule.ok()) << render(a.schedule.diagnostics(), &a.source);
  EXPECT_EQ(print(*a.schedule), R"(schedule s for two on host {
  tree {
    nest c {
      split j by 4 as j_o, j_v
      for i {
        nest e {
          for i {
            for k {
              compute
            }
          }
        }
        for j_o {
          for k {
            vector j_v {
              compute
            }
          }
        }
      }
    }
    nest d {
      for i {
        for j {
          compute
        }
      }
    }
  }
}
)");
}

}  // namespace
}  // namespace tilewright::directives
