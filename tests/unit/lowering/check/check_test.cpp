// SPDX-License-Identifier: Apache-2.0
//
// The check of a Program against its algorithm: it reaches tails, finds what is wrong in them alone, and is
// honest about what it did not do. Programs are written here by hand.
#include "lowering/check/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "frontend/base/json.h"
#include "frontend/ir/text.h"
#include "lowering/check/plan.h"
#include "lowering/program/text.h"

namespace tilewright::check {
namespace {

constexpr const char* kDouble = R"(
algorithm double(N) {
  input x : f32[N]
  output y[n < N] : f32 = x[n] * 2.0
})";

// Tiles of 16 with a tail; `tail` is the factor there.
std::string tiled_double(const std::string& tail, const std::string& extent = "N") {
  return "program double for double {\n  extent " + extent + R"(
  input x : f32[N]
  output y : f32[N]
  for no in 0 .. (N + 15) / 16 {
    if no * 16 + 16 <= N {
      vector ni in 0 .. 16 { y[no * 16 + ni] = x[no * 16 + ni] * 2.0 }
    } else {
      for nj in 0 .. N - no * 16 { y[no * 16 + nj] = x[no * 16 + nj] * )" +
         tail + R"( }
    }
  }
})";
}

struct Case {
  ir::Context context;
  ir::Algorithm algorithm;
  program::Program program;

  Case(const std::string& algorithm_text, const std::string& program_text) {
    auto a = ir::parse_algorithm(context, Source("case.tw", algorithm_text));
    EXPECT_TRUE(a.ok()) << (a.ok() ? "" : a.diagnostics()[0].message);
    if (a.ok()) algorithm = *a;
    auto p = program::parse_program(context, Source("case.twp", program_text));
    EXPECT_TRUE(p.ok()) << (p.ok() ? "" : p.diagnostics()[0].message);
    if (p.ok()) program = *p;
  }
  Result<Report> check(const Options& options = {}) {
    return check_program(context, algorithm, program, options);
  }
  std::set<std::int64_t> sizes_of(const Report& report, std::string_view extent) {
    std::set<std::int64_t> out;
    for (const check::Run& run : report.runs) out.insert(run.sizes.at(context.symbol(extent)));
    return out;
  }
};

TEST(Check, ReachesFullTileAndTailInThreeRunsOrMore) {
  Case c(kDouble, tiled_double("2.0"));
  const auto report = c.check();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->verdict, Verdict::Checked);
  EXPECT_GE(report->runs.size(), 3u);
  // The tail is entered only where it holds something.
  EXPECT_TRUE(report->unreached.empty());
  EXPECT_EQ(report->impossible,
            (std::vector<std::string>{"`nj in 0 .. N - no * 16` was never empty"}));
  const std::set<std::int64_t> sizes = c.sizes_of(*report, "N");
  EXPECT_TRUE(sizes.contains(0));
  EXPECT_TRUE(sizes.contains(1));
  EXPECT_GE(*sizes.rbegin(), 16);
  EXPECT_GT(report->cells, 16);
  EXPECT_LE(report->worst_ratio, 1.0);
  EXPECT_TRUE(report->runs.back().wide);
}

TEST(Check, RefutesWhatIsWrongInTheFullTileAlone) {
  std::string text = tiled_double("2.0");
  text.replace(text.find("* 2.0"), 5, "* 3.0");
  Case c(kDouble, text);
  const auto report = c.check();
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->verdict, Verdict::Refuted);
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].code, Code::CheckRefuted);
  EXPECT_EQ(verdict_line(c.program, *report), "refuted");

  // The evidence replays: the same sizes and seed refute again.
  Options replay;
  replay.sizes = {report->runs.back().sizes};
  replay.seed = report->runs.back().seed;
  replay.wide = report->runs.back().wide;
  const auto again = c.check(replay);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->verdict, Verdict::Refuted);
  EXPECT_EQ(again->findings[0].evidence, report->findings[0].evidence);
}

TEST(Check, RefutesWhatIsWrongInTheTailAlone) {
  Case c(kDouble, tiled_double("1.999"));
  const auto report = c.check();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->verdict, Verdict::Refuted);
}

TEST(Check, RefutesAnErrorBeyondTheBoundButNotOneWithinIt) {
  // One ulp of 2.0 is far beyond the bound of one exact product; the same product spelled as a sum is exact.
  Case wrong(kDouble, tiled_double("2.0000005"));
  Case right(kDouble, R"(program double for double {
  extent N
  input x : f32[N]
  output y : f32[N]
  for n in 0 .. N { y[n] = x[n] + x[n] }
})");
  EXPECT_EQ(wrong.check()->verdict, Verdict::Refuted);
  EXPECT_EQ(right.check()->verdict, Verdict::Checked);
}

TEST(Check, RefutesWhatTraps) {
  Case c(kDouble, R"(program double for double {
  extent N
  input x : f32[N]
  output y : f32[N]
  for n in 0 .. N { y[n] = x[n + 1] * 2.0 }
})");
  const auto report = c.check();
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->verdict, Verdict::Refuted);
  EXPECT_EQ(report->findings[0].code, Code::BufferOutOfBounds);
}

std::string guarded_double(const std::string& condition, const std::string& extent = "N") {
  return "program double for double {\n  extent " + extent + R"(
  input x : f32[N]
  output y : f32[N]
  for n in 0 .. N {
    if )" +
         condition + R"( { y[n] = x[n] + x[n] } else { y[n] = x[n] * 2.0 }
  }
})";
}

TEST(Check, AnOutcomeThatCannotHappenIsNoFailing) {
  Case c(kDouble, guarded_double("n < 0"));
  const auto report = c.check();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->verdict, Verdict::Checked);
  EXPECT_TRUE(report->unreached.empty());
  EXPECT_EQ(report->impossible, (std::vector<std::string>{"`n < 0` never held"}));
  EXPECT_EQ(verdict_line(c.program, *report).find("not reached"), std::string::npos);
  EXPECT_NE(to_json(c.program, *report).dump().find("\"impossible\": 1"), std::string::npos)
      << to_json(c.program, *report).dump();
  EXPECT_EQ(to_json(c.program, *report).dump().find("never held"), std::string::npos);
  EXPECT_NE(to_json(c.program, *report, true).dump().find("never held"), std::string::npos);
}

TEST(Check, GoesToTheOnlySizesAtWhichAGuardHolds) {
  const std::string guard = "N % 97 == 55 && N > 200 && n == 130";
  Case right(kDouble, guarded_double(guard));
  const auto report = right.check();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->verdict, Verdict::Checked);
  EXPECT_TRUE(report->unreached.empty());
  EXPECT_TRUE(right.sizes_of(*report, "N").contains(249));

  std::string text = guarded_double(guard);
  text.replace(text.find("x[n] + x[n]"), 11, "x[n] + 1.0");
  Case wrong(kDouble, text);
  const auto refuted = wrong.check();
  ASSERT_TRUE(refuted.ok());
  ASSERT_EQ(refuted->verdict, Verdict::Refuted);
  const auto& evidence = refuted->findings[0].evidence;
  EXPECT_NE(std::find(evidence.begin(), evidence.end(),
                      std::pair<std::string, std::string>("sizes", "N=249")),
            evidence.end());
}

// The one outcome that is left, with its reason.
void expect_open(const Result<Report>& report, const std::string& outcome,
                 const std::string& reason) {
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->verdict, Verdict::Checked);
  ASSERT_EQ(report->unreached.size(), 1u);
  EXPECT_EQ(report->unreached[0].outcome, outcome);
  EXPECT_NE(report->unreached[0].reason.find(reason), std::string::npos)
      << report->unreached[0].reason;
}

TEST(Check, NamesWhatItCouldNotReachAndWhy) {
  Case far(kDouble, guarded_double("N == 900000000"));
  const auto report = far.check();
  expect_open(report, "`N == 900000000` never held",
              "it happens at N=900000000, where a run takes about ");
  EXPECT_TRUE(verdict_line(far.program, *report).ends_with("; 1 outcome not reached"));

  Case square(kDouble, guarded_double("N * N == 361"));
  expect_open(square.check(), "`N * N == 361` never held", "`N * N` is not affine");

  Case data(kDouble, guarded_double("x[n] == 0.1234567"));
  expect_open(data.check(), "`x[n] == f32(0.1234567)` never held",
              "it depends on the inputs: `x[n] == f32(0.1234567)`; a run at N=1 did not take it");

  Case given(kDouble, guarded_double("N == 3"));
  Options options;
  options.sizes = {{{given.context.symbol("N"), 2}}, {{given.context.symbol("N"), 0}}};
  expect_open(given.check(options), "`N == 3` never held",
              "it happens at other sizes than these, such as N=3");
}

TEST(Check, OtherInputsAreTriedForAnOutcomeOnData) {
  // One element, so that each run goes one way.
  Case c(std::string(kDouble).replace(std::string(kDouble).find("(N)"), 3, "(N min 1 max 1)"),
         guarded_double("x[0] > 0.0", "N min 1 max 1"));
  const auto report = c.check();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->verdict, Verdict::Checked);
  for (const Unreached& one : report->unreached) ADD_FAILURE() << one.outcome << ": " << one.reason;
  EXPECT_GT(report->runs.size(), 4u)
      << "the plan alone went both ways: the test needs another condition";
}

// A value that depends on an extent alone is no outcome, but what the extent is compared with is tried.
TEST(Check, TriesTheSizesAroundTheConstantsThatValuesCompareWith) {
  for (const auto& [condition, size] :
       {std::pair{"N / 5000 == 0", "N=5000"}, std::pair{"N % 6000 < 5999", "N=5999"},
        std::pair{"2 * N < 12000", "N=6000"}, std::pair{"N + 7 != 5007", "N=5000"},
        std::pair{"max(N, 7000) < 7001", "N=7001"}}) {
    std::string text = guarded_double("n < N");
    text.replace(text.find("x[n] + x[n]"), 11,
                 "x[n] * select(" + std::string(condition) + ", f32(2), f32(3))");
    Case c(kDouble, text);
    const auto report = c.check();
    ASSERT_TRUE(report.ok());
    ASSERT_EQ(report->verdict, Verdict::Refuted) << condition;
    const auto& evidence = report->findings[0].evidence;
    EXPECT_NE(std::find(evidence.begin(), evidence.end(),
                        std::pair<std::string, std::string>("sizes", size)),
              evidence.end())
        << condition;
  }
}

TEST(Check, TheLineCountsWhatWasNotReachedOnlyIfThereIsAny) {
  Case c(kDouble, R"(program double for double {
  extent N
  input x : f32[N]
  output y : f32[N]
  for n in 0 .. N { y[n] = x[n] * 2.0 }
})");
  auto report = c.check();
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->unreached.empty());
  const std::string line = verdict_line(c.program, *report);
  EXPECT_EQ(line.find("not reached"), std::string::npos) << line;
  report->unreached = {{"one", "why"}, {"two", "why"}};
  EXPECT_EQ(verdict_line(c.program, *report), line + "; 2 outcomes not reached");
}

// Whatever the budget: a verdict of its own plan rests on at least `min_runs` runs.
TEST(Check, FewerRunsThanTheLeastAreNoCheck) {
  Case c(kDouble, tiled_double("2.0"));
  int cut_short = 0;
  for (std::int64_t budget = 1; budget < 400; ++budget) {
    Options options;
    options.step_budget = budget;
    const auto report = c.check(options);
    ASSERT_TRUE(report.ok());
    const bool enough = report->runs.size() >= 3;
    EXPECT_EQ(report->verdict, enough ? Verdict::Checked : Verdict::NotChecked) << budget;
    EXPECT_EQ(report->reason.empty(), enough) << budget;
    cut_short += !enough && !report->runs.empty();
  }
  EXPECT_GT(cut_short, 0) << "no budget ended a check between two runs";
}

TEST(Check, SizesThatAreGivenAreAllThatIsAskedFor) {
  Case c(kDouble, tiled_double("2.0"));
  Options options;
  options.sizes = {{{c.context.symbol("N"), 17}}};
  const auto report = c.check(options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->runs.size(), 1u);
  EXPECT_EQ(report->verdict, Verdict::Checked);
}

TEST(Check, SaysThatItDidNotCheckWhatCostsTooMuch) {
  Case c(std::string(kDouble).replace(std::string(kDouble).find("(N)"), 3,
                                      "(N min 1000000 max 1000000)"),
         tiled_double("2.0", "N min 1000000 max 1000000"));
  Options options;
  options.step_budget = 1000;
  const auto report = c.check(options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->verdict, Verdict::NotChecked);
  EXPECT_TRUE(report->runs.empty());
  EXPECT_FALSE(report->reason.empty());
}

TEST(Check, FixedExtentsGetSeveralInputs) {
  Case c(std::string(kDouble).replace(std::string(kDouble).find("(N)"), 3, "(N min 5 max 5)"),
         tiled_double("2.0", "N min 5 max 5"));
  const auto report = c.check();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->verdict, Verdict::Checked);
  std::set<std::uint64_t> seeds;
  for (const check::Run& run : report->runs) seeds.insert(run.seed);
  EXPECT_GE(seeds.size(), 3u);
}

TEST(Check, IsDeterministic) {
  Case a(kDouble, tiled_double("2.0"));
  Case b(kDouble, tiled_double("2.0"));
  EXPECT_EQ(to_json(a.program, *a.check()).dump(), to_json(b.program, *b.check()).dump());
}

TEST(Check, WantsTheSameParameters) {
  Case c(R"(
algorithm double(N) {
  input x : f64[N]
  output y[n < N] : f64 = x[n] * 2.0
})",
         tiled_double("2.0"));
  const auto report = c.check();
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.diagnostics()[0].code, Code::ProgramInterface);
}

TEST(Check, FailsWhereNoSizesAreAllowed) {
  Case c(R"(
algorithm double(N) {
  requires N < 0
  input x : f32[N]
  output y[n < N] : f32 = x[n] * 2.0
})",
         R"(program double for double {
  extent N
  requires N < 0
  input x : f32[N]
  output y : f32[N]
  for n in 0 .. N { y[n] = x[n] * 2.0 }
})");
  const auto report = c.check();
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.diagnostics()[0].code, Code::NoSizes);
}

TEST(CheckPlan, ValuesKeepToTheDeclaration) {
  Case c(std::string(kDouble).replace(std::string(kDouble).find("(N)"), 3,
                                      "(N min 3 max 100 multiple_of 8)"),
         tiled_double("2.0", "N min 3 max 100 multiple_of 8"));
  const auto values = candidate_values(c.program);
  ASSERT_EQ(values.size(), 1u);
  ASSERT_FALSE(values[0].values.empty());
  for (std::int64_t value : values[0].values) {
    EXPECT_GE(value, 3);
    EXPECT_LE(value, 100);
    EXPECT_EQ(value % 8, 0);
  }
  EXPECT_TRUE(
      std::set<std::int64_t>(values[0].values.begin(), values[0].values.end()).contains(16));
}

TEST(CheckPlan, DryRunCostGrowsWithTheSizeAndIsCheapToGet) {
  Case c(kDouble, tiled_double("2.0"));
  auto cost = [&](std::int64_t n) { return dry_run(c.program, {{c.context.symbol("N"), n}}).cost; };
  EXPECT_LT(cost(1), cost(16));
  EXPECT_LT(cost(16), cost(1600));
  // Not run iteration by iteration.
  EXPECT_GT(cost(std::int64_t{1} << 40), std::int64_t{1} << 40);
}

}  // namespace
}  // namespace tilewright::check
