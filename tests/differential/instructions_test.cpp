// SPDX-License-Identifier: Apache-2.0
//
// Described instructions from end to end, on algorithms that are not all products of matrices: what build makes by
// `tensorize` equals the algorithm within its bound, and object code equals the interpreter bit for bit. A
// schedule that puts no call into the program fails its case: plain loops would pass unseen.
#include <sstream>

#include "frontend/ir/interpret.h"
#include "frontend/ir/text.h"
#include "lowering/build/build.h"
#include "lowering/check/check.h"
#include "lowering/passes/passes.h"
#include "lowering/program/interpret.h"
#include "schedules/directives/text.h"
#include "tests/differential/compiled_program.h"

namespace tilewright::test {
namespace {

struct Example {
  const char* name;
  const char* algorithm;
  const char* schedule;
  std::vector<std::vector<std::pair<const char*, std::int64_t>>> sizes;
};

// One tile of results for each instruction, tiles of registers, and results that go through memory in between.
const Example kExamples[] = {
    {"transposed",
     R"(algorithm t(M, N, K) {
  input a : bf16[M, K]
  input b : bf16[N, K]
  output c[i, j] : f32 = sum(k < K) f32(a[i, k]) * f32(b[j, k])
})",
     R"(schedule s for t on x86-64-v4-dot {
  split c.j by 16 as jo, jj
  split c.k by 2 as ko, kk
  reorder c: jo, i, ko, jj, kk
  stage b[j, k] at c.jo as bp[k / 2, j, k % 2] pad
  peel c.ko
  tensorize c.jj, c.kk with vdpbf16ps
})",
     {{{"M", 0}, {"N", 3}, {"K", 2}},
      {{"M", 1}, {"N", 1}, {"K", 1}},
      {{"M", 3}, {"N", 16}, {"K", 8}},
      {{"M", 5}, {"N", 37}, {"K", 7}}}},
    {"batched",
     R"(algorithm t(B, M, N, K) {
  requires K % 2 == 0
  input a : bf16[B, M, K]
  input b : bf16[B, K, N]
  output c[n, i, j] : f32 = sum(k < K) f32(b[n, k, j]) * f32(a[n, i, k])
})",
     R"(schedule s for t on x86-64-v4-dot {
  split c.j by 32 as jt, jr
  split c.jr by 16 as jv, jj
  split c.i by 3 as it, ir
  split c.k by 2 as ko, kk
  reorder c: n, jt, it, ko, ir, jv, kk, jj
  parallel c.n
  stage b[n, k, j] at c.jt as bp[n, k / 2, j, k % 2] pad
  keep c[ir, jv] in register
  peel c.it
  peel c.ko
  unroll c.ir
  unroll c.jv
  tensorize c.jj, c.kk with vdpbf16ps
})",
     {{{"B", 2}, {"M", 4}, {"N", 33}, {"K", 6}}, {{"B", 1}, {"M", 3}, {"N", 32}, {"K", 2}}}},
    {"filter",
     R"(algorithm t(X, C, F, R) {
  input x : bf16[X + R, C]
  input w : bf16[R, C, F]
  output y[p < X, f < F] : f32 = sum(r < R, c < C) f32(x[p + r, c]) * f32(w[r, c, f])
})",
     R"(schedule s for t on x86-64-v4-dot {
  split y.f by 16 as fo, fi
  split y.c by 2 as co, ci
  reorder y: fo, p, r, co, fi, ci
  stage w[r, c, f] at y.fo as wp[r, c / 2, f, c % 2] pad
  peel y.co
  tensorize y.fi, y.ci with vdpbf16ps
})",
     {{{"X", 5}, {"C", 6}, {"F", 20}, {"R", 3}}, {{"X", 1}, {"C", 3}, {"F", 16}, {"R", 1}}}},
    {"rows_in_lanes",
     R"(algorithm t(M, N, K) {
  input a : bf16[M, K]
  input b : bf16[K, N]
  output c[i, j] : bf16 = sum(k < K) f32(a[i, k]) * f32(b[k, j])
})",
     R"(schedule s for t on x86-64-v4-dot {
  split c.i by 16 as io, ii
  split c.k by 2 as ko, kk
  reorder c: io, ko, j, ii, kk
  stage a[i, k] at c.io as ap[k / 2, i, k % 2] pad
  stage b[k, j] at c.io as bp[k / 2, j, k % 2] pad
  peel c.ko
  tensorize c.ii, c.kk with vdpbf16ps
})",
     {{{"M", 7}, {"N", 3}, {"K", 5}}, {{"M", 16}, {"N", 2}, {"K", 4}}}},
};

class Instructions : public ::testing::TestWithParam<Example> {};

TEST_P(Instructions, EndToEnd) {
  const Example& example = GetParam();
  ir::Context context;
  poly::Context polyhedra;
  auto algorithm = ir::parse_algorithm(context, Source("t.tw", example.algorithm));
  ASSERT_TRUE(algorithm.ok()) << messages(algorithm.diagnostics());
  auto schedule =
      directives::parse_schedule(context, *algorithm, Source("s.tws", example.schedule));
  ASSERT_TRUE(schedule.ok()) << messages(schedule.diagnostics());
  auto built = build::build(context, polyhedra, *algorithm, *schedule);
  ASSERT_TRUE(built.ok()) << messages(built.diagnostics());
  auto lowered = passes::run_passes(context, *built);
  ASSERT_TRUE(lowered.ok());
  int calls = 0;
  program::walk(lowered->body,
                [&](program::Stmt stmt) { calls += stmt.as<program::Call>() != nullptr ? 1 : 0; });
  ASSERT_GT(calls, 0) << program::print(*lowered);
  const auto report = check::check_program(context, *algorithm, *lowered, {});
  ASSERT_TRUE(report.ok()) << messages(report.diagnostics());
  EXPECT_EQ(report->verdict, check::Verdict::Checked)
      << messages(report->findings) << program::print(*lowered);

  auto target = host::with_features(*host::find_target("x86-64-v4"), {"avx512bf16", "avx512vnni"});
  if (!host::runs_here(target)) GTEST_SKIP() << "no avx512bf16 and avx512vnni on this processor";
  CompiledProgram library(context, *lowered, target);
  ASSERT_TRUE(library.ready());
  for (const auto& sizes : example.sizes) {
    ir::Bindings bindings;
    for (const auto& [extent, value] : sizes) bindings[context.symbol(extent)] = value;
    for (std::uint64_t seed : {1, 2}) {
      const ir::TensorMap inputs = ir::random_inputs(*algorithm, bindings, seed, seed == 2);
      auto run = program::interpret(context, *lowered, bindings, inputs);
      ASSERT_TRUE(run.ok()) << messages(run.diagnostics());
      ir::TensorMap expected = inputs;
      for (auto& [name, tensor] : run->outputs) expected[name] = std::move(tensor);
      EXPECT_EQ(run_and_compare(library.objects(), *lowered, bindings, inputs, expected, nullptr),
                "")
          << program::print(*lowered);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, Instructions, ::testing::ValuesIn(kExamples),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tilewright::test
