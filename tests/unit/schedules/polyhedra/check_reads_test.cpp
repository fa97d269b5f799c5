// SPDX-License-Identifier: Apache-2.0
//
// The bounds check of algorithms: what passes, what is refused, and that each counterexample is real.
#include "schedules/polyhedra/check_reads.h"

#include <gtest/gtest.h>

#include "tests/unit/schedules/polyhedra/index_evaluator.h"

namespace tilewright::poly {
namespace {

using Evidence = std::vector<std::pair<std::string, std::string>>;

std::vector<Diagnostic> problems(const std::string& text) {
  ir::Context ir_context;
  ir::Algorithm algorithm = parsed(ir_context, text);
  Context context;
  Result<Ok> result = check_reads(context, algorithm);
  return result.ok() ? std::vector<Diagnostic>() : result.diagnostics();
}

TEST(CheckReads, AffineReadsInRangePass) {
  EXPECT_TRUE(problems("algorithm gemm(M, N, K) {\n"
                       "  input a : f32[M, K]\n  input b : f32[K, N]\n"
                       "  output c[i < M, j < N] : f32 = sum(k < K) a[i, k] * b[k, j]\n}\n")
                  .empty());
  EXPECT_TRUE(
      problems(
          "algorithm blur(N) {\n"
          "  input x : f32[N]\n"
          "  output y[i < N] : f32 = select(i > 0, x[i - 1], f32(0)) + x[min(i + 1, N - 1)]\n}\n")
          .empty());
  EXPECT_TRUE(problems("algorithm fold(N multiple_of 4) {\n"
                       "  input x : f32[N]\n"
                       "  output y[i < N / 4] : f32 = sum(j < 4) x[4 * i + j]\n}\n")
                  .empty());
}

TEST(CheckReads, AReadOutsideHasTheSmallestCounterexample) {
  std::vector<Diagnostic> found = problems(
      "algorithm shift(N) {\n"
      "  input x : f32[N]\n"
      "  output y[i < N] : f32 = x[i + 1]\n}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, Code::OutOfBoundsRead);
  EXPECT_EQ(found[0].message, "`y` reads `x[1]` outside `x`, which has size [1], at N = 1, i = 0");
  EXPECT_EQ(found[0].evidence, (Evidence{{"N", "1"}, {"i", "0"}, {"cell", "x[1]"}}));
  EXPECT_FALSE(found[0].span.none());
}

TEST(CheckReads, ARequirementMakesAReadSafe) {
  std::string body =
      "  input x : f32[M]\n"
      "  output y[i < N] : f32 = x[i]\n}\n";
  EXPECT_EQ(problems("algorithm part(M, N) {\n" + body).size(), 1u);
  EXPECT_TRUE(problems("algorithm part(M, N) {\n  requires N <= M\n" + body).empty());
}

TEST(CheckReads, AFloorWithoutItsMultipleIsFound) {
  std::vector<Diagnostic> found = problems(
      "algorithm pair(N) {\n"
      "  input x : f32[N]\n"
      "  output y[i < (N + 3) / 4] : f32 = sum(j < 4) x[4 * i + j]\n}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].evidence, (Evidence{{"N", "1"}, {"i", "0"}, {"j", "1"}, {"cell", "x[1]"}}));
}

TEST(CheckReads, AReadBehindADataConditionMayBeOutside) {
  std::vector<Diagnostic> found = problems(
      "algorithm guard(N) {\n"
      "  input x : f32[N]\n"
      "  output y[i < N] : f32 = select(x[i] > f32(0), x[i + 1], f32(0))\n}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("may read"), std::string::npos);
}

TEST(CheckReads, ANegativeShapeIsFound) {
  std::vector<Diagnostic> found = problems(
      "algorithm valid(N) {\n"
      "  input x : f32[N]\n"
      "  output y[i < N - 2] : f32 = x[i]\n}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, Code::NegativeShape);
  EXPECT_EQ(found[0].evidence, (Evidence{{"N", "0"}}));
}

TEST(CheckReads, TheLimitIsADiagnostic) {
  ir::Context ir_context;
  ir::Algorithm algorithm = parsed(ir_context,
                                   "algorithm shift(N) {\n"
                                   "  input x : f32[N]\n"
                                   "  output y[i < N] : f32 = x[i / 3 + 1]\n}\n");
  Context context;
  Result<Ok> result = check_reads(context, algorithm, Limits{1});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.diagnostics().front().code, Code::PolyhedraLimit);
}

}  // namespace
}  // namespace tilewright::poly
