// SPDX-License-Identifier: Apache-2.0
//
// What bounds say of small Programs whose errors are known, that a wrong constant breaks them, and where bits are the
// same.
#include <gtest/gtest.h>

#include <cmath>

#include "frontend/base/source.h"
#include "lowering/program/text.h"
#include "lowering/rounding/levels.h"
#include "lowering/rounding/running.h"
#include "lowering/rounding/static_bounds.h"

namespace tilewright::rounding {
namespace {

struct Subject {
  ir::Context context;
  program::Program program;

  explicit Subject(const std::string& text) {
    auto parsed = program::parse_program(context, Source("case.twp", text));
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? text : parsed.diagnostics()[0].message + text);
    if (parsed.ok()) program = *parsed;
  }
  TrackedRun run(const std::vector<double>& x, Units units = {}) {
    ir::Tensor tensor = ir::make_tensor(ir::ScalarType::F32, {static_cast<std::int64_t>(x.size())});
    for (std::size_t i = 0; i < x.size(); ++i) tensor.data[i].f = static_cast<float>(x[i]);
    const ir::Bindings sizes{{context.symbol("N"), tensor.shape[0]}};
    RunOptions options;
    options.units = units;
    auto out = run_tracked(context, program, sizes, {{context.symbol("x"), tensor}}, options);
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.diagnostics()[0].message);
    return out.ok() ? *std::move(out) : TrackedRun{};
  }
  const Tracked& cell(const TrackedRun& run, std::size_t i = 0) {
    return run.outputs.at(context.symbol("y")).cells[i];
  }
  double formula(Names names) {
    const auto bounds = static_bounds(context, program, {});
    EXPECT_TRUE(bounds.ok());
    if (!bounds.ok()) return -1;
    return bounds->evaluate(std::move(names)).at(bounds->outputs[0].error);
  }
};

std::string body(const std::string& lines) {
  return "program p for p {\n  extent N\n  input x : f32[N]\n  output y : f32[1]\n" + lines + "}\n";
}
const char* kSum = "  y[0] = f32(0)\n  for i in 0 .. N {\n    y[0] = y[0] + x[i]\n  }\n";

double error_of(const Tracked& cell) {
  return static_cast<double>(std::fabs(cell.machine.f - cell.exact));
}

// 1 + 2^-24 is 1 in f32, again and again: the error is as large as it can be for one rounding each.
TEST(Rounding, ASumThatLosesHalfAUnitAtEveryStep) {
  Subject subject(body(kSum));
  std::vector<double> x(101, 0x1p-24);
  x[0] = 1;
  const TrackedRun run = subject.run(x);
  const Tracked& cell = subject.cell(run);
  EXPECT_EQ(cell.machine.f, 1.0);
  EXPECT_EQ(error_of(cell), 100 * 0x1p-24);
  EXPECT_GE(cell.error, error_of(cell));
  EXPECT_LE(cell.error, error_of(cell) * 1.001);
  const double formula = subject.formula({{"N", 101}, {"|x|", 1}});
  EXPECT_GE(formula, error_of(cell));
  EXPECT_LE(formula, 101 * 101 * 0x1p-24 * 1.01);
  // What only a wrong constant would say.
  EXPECT_LT(99 * 0x1p-24, error_of(cell));
}

// Small powers of two add up exactly, and the bound cannot know; a longer sum has a larger formula.
TEST(Rounding, FormulasGrowWithSizesAndMagnitudes) {
  Subject subject(body(kSum));
  const double one = subject.formula({{"N", 10}, {"|x|", 1}});
  EXPECT_GT(subject.formula({{"N", 20}, {"|x|", 1}}), one);
  EXPECT_GT(subject.formula({{"N", 10}, {"|x|", 2}}), one);
  // The sum of ten largest floats is no float.
  EXPECT_TRUE(std::isinf(subject.formula({{"N", 10}, {"|x|", 0x1p127}})));
  EXPECT_TRUE(std::isfinite(subject.formula({{"N", 10}, {"|x|", 0x1p120}})));
}

// The same sum in a tree of depth 3: eight terms in three roundings each.
TEST(Rounding, ATreeHasABoundOfItsDepth) {
  Subject tree(
      "program p for p {\n  extent N\n  input x : f32[N]\n  output y : f32[1]\n"
      "  y[0] = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))\n}\n");
  const double depth3 = tree.formula({{"N", 8}, {"|x|", 1}});
  EXPECT_LE(depth3, 3 * 8 * 0x1p-24 * 1.001);
  EXPECT_GE(depth3, 3 * 8 * 0x1p-24 * 0.999);
  Subject chain(body(kSum));
  EXPECT_GT(chain.formula({{"N", 8}, {"|x|", 1}}), 2 * depth3);
}

// The exponential is off by more than half a unit for some inputs; a table that says 0.45 is found out.
TEST(Rounding, AWrongConstantIsExceeded) {
  Subject subject(
      "program p for p {\n  extent N\n  input x : f32[N]\n  output y : f32[N]\n"
      "  for i in 0 .. N {\n    y[i] = exp(x[i])\n  }\n}\n");
  std::vector<double> x;
  for (int i = 0; i < 4000; ++i) x.push_back(-9 + i * 0.0045123);
  EXPECT_LE(measure(subject.run(x)).worst_ratio, 1);
  Units wrong;
  wrong.ulp_scale = 0.2;
  EXPECT_GT(measure(subject.run(x, wrong)).worst_ratio, 1);
}

TEST(Rounding, AMultiplyAddThatRoundsTwiceHasALargerBound) {
  Subject subject(
      body("  y[0] = f32(0)\n  for i in 0 .. N {\n    y[0] = fma(x[i], x[i], y[0])\n  }\n"));
  const std::vector<double> x(50, 1.1);
  Units twice;
  twice.fma_rounds_once = false;
  const double once = subject.cell(subject.run(x)).error;
  EXPECT_GT(subject.cell(subject.run(x, twice)).error, once * 1.01);
}

// 16777217 is no f32; a comparison of what may be on either side is counted.
TEST(Rounding, DecisionsNearATieAreTheRuns) {
  Subject subject(
      body("  let s = x[0] + x[1] {\n"
           "    y[0] = select(s > f32(16777216), f32(10), f32(-10))\n  }\n"));
  const TrackedRun tie = subject.run({16777216, 1});
  EXPECT_EQ(tie.near_ties, 1);
  EXPECT_EQ(subject.cell(tie).machine.f, -10);  // real arithmetic says 10
  EXPECT_EQ(subject.cell(tie).error, 0);
  EXPECT_EQ(subject.run({16777216, 8}).near_ties, 0);
}

// A divisor that may be 0 for all that its error says has no quotient that one could bound.
TEST(Rounding, DivisorsNearZero) {
  Subject subject(body("  y[0] = f32(1) / ((x[0] + x[1]) - x[2])\n"));
  EXPECT_TRUE(std::isinf(subject.cell(subject.run({16777216, 1, 16777215.5})).error));
  EXPECT_TRUE(std::isfinite(subject.cell(subject.run({4, 1, 2})).error));
  EXPECT_TRUE(std::isinf(subject.formula({{"N", 3}, {"|x|", 1}, {"least1", 1e-9}})));
  EXPECT_TRUE(std::isfinite(subject.formula({{"N", 3}, {"|x|", 1}, {"least1", 0.5}})));
}

TEST(Rounding, MinusInfinityIsAMask) {
  Subject subject(body("  y[0] = exp(select(x[0] > f32(0), x[0], f32(-inf)) - x[1])\n"));
  const TrackedRun run = subject.run({-1, 3});
  EXPECT_EQ(subject.cell(run).machine.f, 0);
  EXPECT_EQ(subject.cell(run).error, 0);
}

// ---- levels ----

Level batch(const std::string& lines, const std::string& shape = "[M]") {
  Subject subject(
      "program p for p {\n  extent M\n  extent N\n  input x : f32[M, N]\n"
      "  output y : f32" +
      shape + "\n" + lines + "}\n");
  return levels_of(subject.program).every_batch;
}

TEST(Levels, RowsThatAreFoldedAlikeWhateverTheBatch) {
  const std::string fold = "for n in 0 .. N {\n y[m] = y[m] + x[m, n]\n }\n";
  EXPECT_TRUE(batch("for m in 0 .. M {\n y[m] = f32(0)\n" + fold + "}\n").holds);
  // A tail of rows by itself, in the same order.
  const std::string tile = "for mo in 0 .. M / 4 {\n for mi in 0 .. 4 {\n";
  const std::string row =
      "y[mo * 4 + mi] = f32(0)\n for n in 0 .. N {\n"
      "y[mo * 4 + mi] = y[mo * 4 + mi] + x[mo * 4 + mi, n]\n}\n";
  const std::string tail =
      "for r in M / 4 * 4 .. M {\n y[r] = f32(0)\n for k in 0 .. N {\n"
      "y[r] = y[r] + x[r, k]\n}\n}\n";
  EXPECT_TRUE(batch(tile + row + "}\n}\n" + tail).holds);
}

TEST(Levels, ATailThatFoldsOtherwiseDependsOnTheBatch) {
  const std::string tile =
      "for mo in 0 .. M / 4 {\n for mi in 0 .. 4 {\n"
      "y[mo * 4 + mi] = f32(0)\n for n in 0 .. N {\n"
      "y[mo * 4 + mi] = y[mo * 4 + mi] + x[mo * 4 + mi, n]\n}\n}\n}\n";
  const std::string tail =
      "for r in M / 4 * 4 .. M {\n y[r] = f32(0)\n for k in 0 .. N {\n"
      "y[r] = fma(x[r, k], f32(1), y[r])\n}\n}\n";
  EXPECT_FALSE(batch(tile + tail).holds);
  // Split by the number of rows.
  EXPECT_FALSE(batch("for m in 0 .. M {\n y[m] = f32(0)\n for c in 0 .. M {\n if c < N {\n"
                     "y[m] = y[m] + x[m, c]\n}\n}\n}\n")
                   .holds);
}

}  // namespace
}  // namespace tilewright::rounding
