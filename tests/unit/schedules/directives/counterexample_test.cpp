// SPDX-License-Identifier: Apache-2.0
//
// Refusals carry a concrete counterexample: sizes that the algorithm and the guards allow, and the instances at
// which the schedule would go wrong. The expected ones follow by hand from the statements below: the smallest
// sizes, in the order of declaration, at which there is such a case.
#include <gtest/gtest.h>

#include "frontend/base/render.h"
#include "frontend/ir/text.h"
#include "schedules/directives/text.h"

namespace tilewright::directives {
namespace {

constexpr const char* kWeighted = R"(algorithm weighted(R, T, D) {
  input w : f32[R, T]
  input v : f32[T, D]
  e[r, t] = exp(w[r, t])
  total[r] = sum(t < T) e[r, t]
  p[r, t] = e[r, t] / total[r]
  output o[r, d] = sum(t < T) p[r, t] * v[t, d]
})";

constexpr const char* kOrdered = R"(monoid latest(v : f32) {
  identity 0
  combine(a, b) = select(b.v != 0, b.v, a.v)
}
algorithm ordered(M, N, B) {
  input x : f32[M, N]
  input bin : i32[N] range 0 .. B
  output running[i, t] = scan max(t) x[i, t]
  output best[i] = argmax(j < N) x[i, j]
  output kept[b < B] = latest(i < M, j < N) x[i, j] + f32(b)
  output count[b < B] = update i32(0) sum(n < N) at [bin[n]] 1
})";

constexpr const char* kEmpty = R"(algorithm folds(M, K) {
  input x : f32[M, K]
  input z : f32[M]
  w[m] = z[m] * 2
  output y[m] = max(k < K) x[m, k] * w[m] on_empty w[m]
})";

constexpr const char* kLinear = R"(algorithm linear(M, N, K) {
  requires 1 <= M
  input x : f32[M, K]
  const input w : f32[K, N]
  output y[i, j] = sum(k < K) x[i, k] * w[k, j]
})";

struct Expected {
  const char* algorithm;
  const char* body;
  const char* code;
  Evidence evidence;  // the last of what the refusal carries
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.body; }

class Counterexample : public testing::TestWithParam<Expected> {};

TEST_P(Counterexample, IsTheSmallestCase) {
  const Expected& want = GetParam();
  ir::Context context;
  const Source text("a.tw", want.algorithm);
  const auto algorithm = ir::parse_algorithm(context, text);
  ASSERT_TRUE(algorithm.ok()) << render(algorithm.diagnostics(), &text);
  const Source source("a.tws", "schedule s for " + std::string(algorithm->name.text()) +
                                   " on host {\n" + want.body + "\n}\n");
  const auto schedule = parse_schedule(context, *algorithm, source);
  ASSERT_FALSE(schedule.ok()) << print(*schedule);
  const Diagnostic& found = schedule.diagnostics()[0];
  const std::string shown = render(schedule.diagnostics(), &source);
  EXPECT_EQ(code_text(found.code), want.code) << shown;
  ASSERT_GE(found.evidence.size(), want.evidence.size()) << shown;
  const Evidence last(found.evidence.end() - static_cast<std::ptrdiff_t>(want.evidence.size()),
                      found.evidence.end());
  EXPECT_EQ(last, want.evidence) << shown;
}

INSTANTIATE_TEST_SUITE_P(
    Cells, Counterexample,
    testing::Values(
        // Nothing reads an output, so nothing would say which cells to compute; nor where to store an inlined one.
        Expected{kWeighted,
                 "compute_at o in total.r",
                 "E0304",
                 {{"sizes", "R = 1, T = 0, D = 1"}, {"not computed", "o[0, 0]"}}},
        Expected{kWeighted,
                 "inline o",
                 "E0304",
                 {{"sizes", "R = 1, T = 0, D = 1"}, {"not computed", "o[0, 0]"}}},
        Expected{kWeighted,
                 "inline total",
                 "E0304",
                 {{"sizes", "R = 1, T = 2, D = 0"},
                  {"instance", "p[0, 0]"},
                  {"reads", "total[0]"},
                  {"terms", "total[0] at t = 0 and total[0] at t = 1"}}},
        // p[r, t] stands between the sum and e[r, t].
        Expected{kWeighted,
                 "defer e out of o",
                 "E0326",
                 {{"sizes", "R = 1, T = 2, D = 1"},
                  {"one", "o[0, 0] at t = 0 reads e[0, 0]"},
                  {"another", "o[0, 0] at t = 1 reads e[0, 1]"}}},
        // Without terms no iteration of k is there to compute what the empty fold is worth.
        Expected{kEmpty,
                 "compute_at w in y.k",
                 "E0302",
                 {{"loop", "y.k"},
                  {"sizes", "M = 1, K = 0"},
                  {"instance", "y[0], which has no term"},
                  {"reads", "w[0]"}}},
        Expected{kLinear,
                 "stage w[k, j] at plan as wp[j / 4, k, j % 4]",
                 "E0302",
                 {{"dimension", "j"}, {"sizes", "M = 1, N = 1, K = 0"}, {"last tile", "1 of 4"}}},
        Expected{kLinear,
                 "guard N >= 8\nstage w[k, j] at plan as wp[j / 4, k, j % 4]",
                 "E0302",
                 {{"dimension", "j"}, {"sizes", "M = 1, N = 9, K = 0"}, {"last tile", "1 of 4"}}},
        // The guard takes the sizes at which there would be a smaller case.
        Expected{kWeighted,
                 "guard R >= 3, T >= 5\ncompute_at e in p.t",
                 "E0302",
                 {{"sizes", "R = 3, T = 5, D = 0"},
                  {"instance", "total[0] at t = 0"},
                  {"reads", "e[0, 0]"}}}));

INSTANTIATE_TEST_SUITE_P(
    Order, Counterexample,
    testing::Values(
        Expected{kOrdered,
                 "parallel running.t",
                 "E0302",
                 {{"loop", "running.t"},
                  {"sizes", "M = 1, N = 2, B = 0"},
                  {"one", "t = 0: running[0, 0]"},
                  {"another", "t = 1: running[0, 1]"}}},
        Expected{kOrdered,
                 "split running.t by 4 as to, ti\nparallel running.to",
                 "E0302",
                 {{"loop", "running.to"},
                  {"sizes", "M = 1, N = 5, B = 0"},
                  {"one", "to = 0: running[0, 0]"},
                  {"another", "to = 1: running[0, 4]"}}},
        Expected{kOrdered,
                 "parallel count.n",
                 "E0302",
                 {{"sizes", "M = 0, N = 2, B = 1"},
                  {"one", "n = 0: count at n = 0"},
                  {"another", "n = 1: count at n = 1"}}},
        Expected{kOrdered,
                 "vectorize best.j by 4",
                 "E0302",
                 {{"loop", "best.j_v"},
                  {"sizes", "M = 1, N = 2, B = 0"},
                  {"one", "j_v = 0: best[0] at j = 0"},
                  {"another", "j_v = 1: best[0] at j = 1"}}},
        // Terms in order: (0, 0), (0, 1), (1, 0), (1, 1). With i inside they run (0, 0), (1, 0), (0, 1), (1, 1).
        Expected{kOrdered,
                 "reorder kept: j, i",
                 "E0302",
                 {{"loops", "j, i"},
                  {"sizes", "M = 2, N = 2, B = 1"},
                  {"term", "kept[0] at i = 1, j = 0"},
                  {"would run before", "kept[0] at i = 0, j = 1"}}},
        // (0, 2) is the first of the second chunk, which comes after all of the first, (1, 0) among them.
        Expected{kOrdered,
                 "split_reduction kept.j by 2 as jo, ji",
                 "E0326",
                 {{"sizes", "M = 2, N = 3, B = 1"},
                  {"term", "kept[0] at i = 1, j = 0"},
                  {"would run before", "kept[0] at i = 0, j = 2"}}},
        Expected{kWeighted,
                 "fuse o.d, o.t as f",
                 "E0304",
                 {{"sizes", "R = 1, T = 2, D = 1"},
                  {"one", "f = 0: o[0, 0] at t = 0"},
                  {"another", "f = 1: o[0, 0] at t = 1"}}},
        Expected{kWeighted, "fuse o.r, o.t as f", "E0304", {{"between", "o.d"}}},
        // Iteration 2 of the copy takes the buffer of iteration 0, in the interval in which that is read.
        Expected{
            kWeighted,
            "stage w[r, t] at e.r as ws[r, t]\npipeline e.r: ws stage 0, e stage 2\nring ws by 2",
            "E0327",
            {{"buffers", "2"},
             {"needed", "3"},
             {"iteration 2 of `ws`", "interval 2, into the buffer of iteration 0"},
             {"iteration 0 of `e`", "interval 2, after it"}}},
        Expected{kWeighted,
                 "stage w[r, t] at e.r as ws[r, t]\npipeline e.r: ws stage 0, e stage 2",
                 "E0327",
                 {{"iteration 1 of `ws`", "interval 1, into the buffer of iteration 0"},
                  {"iteration 0 of `e`", "interval 2"}}}));

}  // namespace
}  // namespace tilewright::directives
