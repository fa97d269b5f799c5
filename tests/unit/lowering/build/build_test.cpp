// SPDX-License-Identifier: Apache-2.0
//
// What build makes of a handful of instructive schedules, as text, and what it refuses.
#include "lowering/build/build.h"

#include <gtest/gtest.h>

#include <optional>

#include "frontend/base/render.h"
#include "frontend/ir/text.h"
#include "lowering/program/text.h"
#include "schedules/directives/text.h"

namespace tilewright::build {
namespace {

std::string built(const char* algorithm_text, const std::string& directives,
                  const char* machine = "host") {
  ir::Context context;
  poly::Context polyhedra;
  const Source algorithm_source("a.tw", algorithm_text);
  auto algorithm = ir::parse_algorithm(context, algorithm_source);
  if (!algorithm.ok()) return render(algorithm.diagnostics(), &algorithm_source);
  const Source source("s.tws", "schedule s for " + std::string(algorithm->name.text()) + " on " +
                                   machine + " {\n" + directives + "\n}\n");
  auto schedule = directives::parse_schedule(context, *algorithm, source);
  if (!schedule.ok()) return render(schedule.diagnostics(), &source);
  auto program = build(context, polyhedra, *algorithm, *schedule);
  if (!program.ok()) return render(program.diagnostics(), nullptr);
  const std::string text = program::print(*program);
  const auto outputs = text.find("  output");
  return outputs == std::string::npos ? text : text.substr(outputs);
}

constexpr const char* kGemm = R"(algorithm gemm(M, N, K) {
  input a : f32[M, K]
  input b : f32[K, N]
  output c[i < M, j < N] : f32 = sum(k < K) a[i, k] * b[k, j]
})";

// The tile's right edge needs no guard in the steps: the copy is padded. Its lower edge reads `a` itself.
TEST(Build, RegisterTileWithPaddedCopy) {
  EXPECT_EQ(built(kGemm, R"(tile c.i, c.j by 2, 4 as it, jt, ii, jj
split c.k by 4 as ko, ki
reorder c: jt, it, ko, ki, ii, jj
stage b[k, j] at c.jt as bp[k, j] pad
unroll c.ii
vectorize c.jj
keep c[ii, jj] in register
parallel c.jt)"),
            R"(  output c : f32[M, N]
  parallel jt in 0 .. (N + 3) / 4 {
    alloc bp : f32[K, 4] in workspace {
      for k in 0 .. K {
        for j in 0 .. 4 {
          if j < min(4, N - jt * 4) {
            bp[k, j] = b[k, jt * 4 + j] @ copy b(k, jt * 4 + j)
          } else {
            bp[k, j] = f32(0) @ pad b(k, jt * 4 + j)
          }
        }
      }
      for it in 0 .. (M + 1) / 2 {
        alloc c_acc : f32[2, 4] in register {
          unrolled ii in 0 .. 2 {
            vector jj in 0 .. 4 {
              c_acc[ii, jj] = f32(0) @ init c()
            }
          }
          for ko in 0 .. (K + 3) / 4 {
            for ki in 0 .. min(4, K - ko * 4) {
              unrolled ii_2 in 0 .. 2 {
                vector jj_2 in 0 .. 4 {
                  if it * 2 + ii_2 < M {
                    c_acc[ii_2, jj_2] = c_acc[ii_2, jj_2] + a[it * 2 + ii_2, ko * 4 + ki] * bp[ko * 4 + ki, jj_2] @ fold c(it * 2 + ii_2, jt * 4 + jj_2, ko * 4 + ki)
                  }
                }
              }
            }
          }
          unrolled ii_3 in 0 .. 2 {
            vector jj_3 in 0 .. 4 {
              if it * 2 + ii_3 < M && jt * 4 + jj_3 < N {
                c[it * 2 + ii_3, jt * 4 + jj_3] = c_acc[ii_3, jj_3] @ value c(it * 2 + ii_3, jt * 4 + jj_3)
              }
            }
          }
        }
      }
    }
  }
}
)");
}

TEST(Build, VectorizedReductionMergesLanes) {
  EXPECT_EQ(built(R"(algorithm lanes(M, K) {
  input x : f32[M, K]
  output s[i < M] : f32 = sum(k < K) x[i, k]
})",
                  "vectorize s.k by 4\nparallel s.i"),
            R"(  output s : f32[M]
  parallel i in 0 .. M {
    alloc s_acc : f32[4] in register {
      vector k_v in 0 .. 4 {
        s_acc[k_v] = f32(0) @ init s()
      }
      for k_o in 0 .. (K + 3) / 4 {
        vector k_v_2 in 0 .. 4 {
          if k_o * 4 + k_v_2 < K {
            s_acc[k_v_2] = s_acc[k_v_2] + x[i, k_o * 4 + k_v_2] @ fold s(i, k_o * 4 + k_v_2)
          }
        }
      }
      vector lane in 0 .. 2 {
        s_acc[lane] = s_acc[lane] + s_acc[lane + 2] @ merge s()
      }
      s_acc[0] = s_acc[0] + s_acc[1] @ merge s()
      s[i] = s_acc[0] @ value s(i)
    }
  }
}
)");
}

// Four rows of y need six of t, fewer at the end.
TEST(Build, StencilRegionGrowsByItsReach) {
  EXPECT_EQ(built(R"(algorithm stencil(M, N) {
  input x : f32[M + 2, N]
  t[i < M + 2, j < N] : f32 = x[i, j] * 2
  output y[i < M, j < N] : f32 = t[i, j] + t[i + 1, j] + t[i + 2, j]
})",
                  "split y.i by 4 as io, ii\ncompute_at t in y.io"),
            R"(  output y : f32[M, N]
  for io in 0 .. (M + 3) / 4 {
    alloc t : f32[6, N] in workspace {
      for i in 0 .. min(6, M - io * 4 + 2) {
        for j in 0 .. N {
          t[i, j] = x[io * 4 + i, j] * f32(2) @ value t(io * 4 + i, j)
        }
      }
      for ii in 0 .. min(4, M - io * 4) {
        for j_2 in 0 .. N {
          y[io * 4 + ii, j_2] = t[ii, j_2] + t[ii + 1, j_2] + t[ii + 2, j_2] @ value y(io * 4 + ii, j_2)
        }
      }
    }
  }
}
)");
}

// The loop over tiles of k runs to the longest row; the loop inside ends with the row, without a guard.
TEST(Build, TriangularFoldOutside) {
  EXPECT_EQ(built(R"(algorithm triangle(N) {
  input x : i32[N, N]
  output y[i < N] : i32 = sum(k < i + 1) x[i, k]
})",
                  "split y.k by 3 as ko, ki\nreorder y: ko, i, ki"),
            R"(  output y : i32[N]
  for i in 0 .. N {
    y[i] = i32(0) @ init y(i)
  }
  for ko in 0 .. (N + 2) / 3 {
    for i_2 in 0 .. N {
      alloc y_acc : i32[1] in register {
        y_acc[0] = y[i_2] @ merge y(i_2)
        for ki in 0 .. min(3, i_2 - ko * 3 + 1) {
          y_acc[0] = y_acc[0] + x[i_2, ko * 3 + ki] @ fold y(i_2, ko * 3 + ki)
        }
        y[i_2] = y_acc[0] @ merge y(i_2)
      }
    }
  }
}
)");
}

TEST(Build, PeelLeavesOneGuardedTile) {
  EXPECT_EQ(built(R"(algorithm relu(N) {
  input x : f32[N]
  output y[i < N] : f32 = max(x[i], 0)
})",
                  "split y.i by 4 as io, ii\nvectorize y.ii\npeel y.io"),
            R"(  output y : f32[N]
  for io in 0 .. N / 4 {
    vector ii in 0 .. 4 {
      y[io * 4 + ii] = max(x[io * 4 + ii], f32(0)) @ value y(io * 4 + ii)
    }
  }
  for io_2 in N / 4 .. (N + 3) / 4 {
    vector ii_2 in 0 .. 4 {
      if io_2 * 4 + ii_2 < N {
        y[io_2 * 4 + ii_2] = max(x[io_2 * 4 + ii_2], f32(0)) @ value y(io_2 * 4 + ii_2)
      }
    }
  }
}
)");
}

// A reduction in f32 under a conversion, with its loop outside: the partial results keep the fold's type.
TEST(Build, ConvertedResultHasAnAccumulator) {
  EXPECT_EQ(built(R"(algorithm narrow(M, K) {
  input x : f32[M, K]
  output y[i < M] : bf16 = bf16(sum(k < K) x[i, k])
})",
                  "reorder y: k, i"),
            R"(  output y : bf16[M]
  alloc y_acc : f32[M] in workspace {
    for i in 0 .. M {
      y_acc[i] = f32(0) @ init y(i)
    }
    for k in 0 .. K {
      for i_2 in 0 .. M {
        y_acc[i_2] = y_acc[i_2] + x[i_2, k] @ fold y(i_2, k)
      }
    }
    for i_3 in 0 .. M {
      y[i_3] = bf16(y_acc[i_3]) @ value y(i_3)
    }
  }
}
)");
}

// The first row reads nothing, so its region is empty and does not begin before the tensor does.
TEST(Build, GuardedReadHasAnEmptyRegionAtTheEdge) {
  const std::string text = built(R"(algorithm edge(N) {
  input x : f32[N]
  t[i < N] : f32 = x[i] + 1
  output y[i < N] : f32 = select(i > 0, t[i - 1], 0)
})",
                                 "compute_at t in y.i");
  EXPECT_EQ(text, R"(  output y : f32[N]
  for i in 0 .. N {
    alloc t : f32[1] in stack {
      for i_2 in 0 .. min(1, i) {
        t[i_2] = x[max(0, i - 1) + i_2] + f32(1) @ value t(max(0, i - 1) + i_2)
      }
      y[i] = select(i > 0, t[i - max(0, i - 1) - 1], f32(0)) @ value y(i)
    }
  }
}
)");
}

// A guard of the schedule is a requirement of the Program, and a fact for its regions: no minimum is left.
TEST(Build, GuardsAreFacts) {
  const char* algorithm = R"(algorithm edge(N) {
  input x : f32[N]
  t[i < N] : f32 = x[i] + 1
  output y[i < 4] : f32 = select(i < N, t[i], 0)
})";
  EXPECT_NE(built(algorithm, "split y.i by 4 as io, ii\ncompute_at t in y.io")
                .find("for i in 0 .. min(4, N) {"),
            std::string::npos);
  const std::string guarded =
      built(algorithm, "guard N >= 8\nsplit y.i by 4 as io, ii\ncompute_at t in y.io");
  EXPECT_NE(guarded.find("for i in 0 .. 4 {"), std::string::npos) << guarded;
}

// Integer division in the term: beyond the edge the padding would divide by zero, so the guard stays.
TEST(Build, TermsThatTrapKeepTheirGuard) {
  const std::string text = built(R"(algorithm divide(N, K) {
  input x : i32[K, N]
  output y[i < N] : i32 = sum(k < K) 7 / x[k, i]
})",
                                 R"(split y.i by 4 as io, ii
reorder y: io, k, ii
stage x[k, i] at y.io as p[k, i] pad
vectorize y.ii
keep y[ii] in register)");
  EXPECT_NE(text.find("if io * 4 + ii_2 < N {\n              y_acc[ii_2] = y_acc[ii_2] + i32(7) / "
                      "p[k_2, ii_2]"),
            std::string::npos)
      << text;
}

// The first refusal of `build`, and the word of the schedule that it points at.
struct Refused {
  Diagnostic diagnostic;
  std::string word;
  std::string evidence(std::string_view name) const {
    for (const auto& [key, value] : diagnostic.evidence)
      if (key == name) return value;
    return "(none)";
  }
};

std::optional<Refused> refused(const char* algorithm_text, const std::string& directives) {
  ir::Context context;
  poly::Context polyhedra;
  const Source algorithm_source("a.tw", algorithm_text);
  auto algorithm = ir::parse_algorithm(context, algorithm_source);
  if (!algorithm.ok()) return std::nullopt;
  const Source source("s.tws", "schedule s for " + std::string(algorithm->name.text()) +
                                   " on host {\n" + directives + "\n}\n");
  auto schedule = directives::parse_schedule(context, *algorithm, source);
  if (!schedule.ok()) return std::nullopt;
  auto program = build(context, polyhedra, *algorithm, *schedule);
  if (program.ok()) return std::nullopt;
  const Diagnostic& first = program.diagnostics()[0];
  return Refused{first, std::string(source.text().substr(first.span.begin,
                                                         first.span.end - first.span.begin))};
}

TEST(Build, RefusalsPointAtTheirDirectiveAndSayAWayOut) {
  auto expect = [](const std::string& directives, const std::string& message,
                   const std::string& word) {
    const auto found = refused(kGemm, directives);
    ASSERT_TRUE(found.has_value()) << directives;
    EXPECT_EQ(code_text(found->diagnostic.code), "E0301") << directives;
    EXPECT_NE(found->diagnostic.message.find(message), std::string::npos)
        << found->diagnostic.message;
    EXPECT_EQ(found->word, word) << directives;
    EXPECT_FALSE(found->diagnostic.remedy.empty()) << directives;
    EXPECT_FALSE(found->diagnostic.evidence.empty()) << directives;
  };
  expect("unroll c.k", "loop `c.k` has no constant length, so it cannot be unrolled", "c.k");
  expect("parallel c.i\nvectorize c.k",
         "loop `c.k` has no constant length, so it cannot be vectorized", "c.k");
  expect("vectorize c.k by 6", "a vectorized reduction of `c` has 6 lanes", "c.k");
  expect("reorder c: i, k, j\nkeep c[j] in register",
         "loop `c.j` has no constant length, so its results cannot stay in registers", "j");
  expect("split c.j by 4 as jo, ji\nreorder c: i, jo, k, ji\nkeep c[ji] in register",
         "loop `c.ji` is neither unrolled nor vectorized", "ji");
  expect("keep c[i] in register", "loop `c.i` stands outside the loops of the reduction", "i");
  expect("split c.j by 4 as jo, ji\nreorder c: k, ji, i, jo\nunroll c.ji\nkeep c[ji] in register",
         "loop `c.ji` is kept, but `c.jo` inside it runs over other results", "ji");
  expect("stage b[k, j] at c.i as bp[k, j]\nkeep bp in register",
         "the region of `bp` has no constant size", "bp");
  expect("reorder c: i, k, j\nvectorize c.j by 4\nstage b[k, j] at c.j_v as bp[k, j]",
         "`bp` is placed in the vector loop `c.j_v`", "c.j_v");
  expect("split c.i by 1000 as o, p\nsplit c.j by 1000 as q, r\nunroll c.p\nunroll c.r",
         "unrolled loops give more than 65536 statements", "c.p");
}

// The sizes of a refusal are allowed ones, and the length there is what it says: N, and ceil(N / 4) * M.
TEST(Build, RefusalsNameSizesAtWhichALengthDiffers) {
  const auto whole = refused(kGemm, "guard N >= 3\nreorder c: i, k, j\nvectorize c.j");
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->evidence("length"), "N");
  EXPECT_EQ(whole->evidence("one"), "3 at M = 0, N = 3, K = 0");
  EXPECT_EQ(whole->evidence("another"), "4 at M = 0, N = 4, K = 0");
  const auto fused = refused(
      kGemm, "split c.j by 4 as jo, ji\nfuse c.i, c.jo as f\nreorder c: k, ji, f\nvectorize c.f");
  ASSERT_TRUE(fused.has_value());
  EXPECT_EQ(fused->evidence("one"), "0 at M = 0, N = 0, K = 0");
  EXPECT_EQ(fused->evidence("another"), "1 at M = 1, N = 1, K = 0");
}

std::string inout_built(const char* equations, const std::string& directives = "") {
  const std::string text =
      std::string("algorithm f(N) {\n inout x : f32[N]\n input g : f32[N]\n") + equations + "\n}";
  const std::string out = built(text.c_str(), directives);
  const auto body = out.find("input g : f32[N]\n");
  return body == std::string::npos ? out : out.substr(body + 17);
}

// The old value is copied exactly where a cell may be read after it was overwritten.
TEST(Build, InPlaceWhereEveryReadComesFirst) {
  EXPECT_EQ(inout_built("output y[i] into x = x[i] - g[i]"), R"(  for i in 0 .. N {
    x[i] = x[i] - g[i] @ value y(i)
  }
}
)");
  // Read by an earlier nest, and through a view.
  EXPECT_EQ(inout_built("t = sum(k < N) x[k]\nview v[i] = x[i]\noutput y[i] into x = v[i] * t"),
            R"(  alloc t : f32[] in stack {
    alloc t_acc : f32[1] in register {
      t_acc[0] = f32(0) @ init t()
      for k in 0 .. N {
        t_acc[0] = t_acc[0] + x[k] @ fold t(k)
      }
      t[] = t_acc[0] @ value t()
    }
    for i in 0 .. N {
      x[i] = x[i] * t[] @ value y(i)
    }
  }
}
)");
  // Cells of an update that no term names keep their values.
  EXPECT_EQ(inout_built("output y[i < N] into x = update x[i] sum(n < N) at [N - 1 - n] g[n]"),
            R"(  for n in 0 .. N {
    x[N - n - 1] = x[N - n - 1] + g[n] @ fold y()
  }
}
)");
}

TEST(Build, CopiesTheOldValueWhereOneIsReadLater) {
  const char* kLate[] = {
      "output y[i < N] into x = x[N - 1 - i]",
      "output y[i] into x = sum(k < N) x[i] * g[k]",
      "output y[i < N] into x = update f32(0) sum(n < N) at [n] x[n]",
      "output y[i] into x = g[i]\noutput z[i] = x[i]",
      "output y[i] into x = g[i]\nview v[i] = x[i]\noutput z[i] = v[i] + y[i]",
      ("output y[i] into x = g[i]\nloop l < 2 carry h = x then n {\nn[i] = h[i] * 2\n}\n"
       "output z[i] = h[i]"),
  };
  for (const char* equations : kLate) {
    const std::string text = inout_built(equations);
    EXPECT_NE(text.find("x_old[at] = x[at] @ copy x(at)"), std::string::npos) << text;
  }
  // In a nest of its own order, a copy of a part could hold cells that were overwritten.
  EXPECT_NE(inout_built("output y[i] into x = x[i] - g[i]",
                        "split y.i by 4 as io, ii\nstage x[i] at y.io as xs[i]")
                .find("x_old"),
            std::string::npos);
}

// Each carried tensor has two places, and the equation of the body writes the one that is not read.
TEST(Build, CarriedTensorsTakeTurns) {
  EXPECT_EQ(built(R"(algorithm f(N, L) {
  input x : f32[N]
  input w : f32[L, N]
  loop l < L carry h = x then n, before = x then h {
    n[i] = h[N - 1 - i] * w[l, i] + before[i]
  }
  output y[i] = h[i]
})",
                  ""),
            R"(  output y : f32[N]
  alloc h : f32[2, N] in workspace {
    alloc before : f32[2, N] in workspace {
      for at in 0 .. N {
        h[0, at] = x[at] @ copy x(at)
      }
      for at_2 in 0 .. N {
        before[0, at_2] = x[at_2] @ copy x(at_2)
      }
      for l in 0 .. L {
        for i in 0 .. N {
          h[(l + 1) % 2, i] = h[l % 2, N - i - 1] * w[l, i] + before[l % 2, i] @ value n(i)
        }
        for at_3 in 0 .. N {
          before[(l + 1) % 2, at_3] = h[l % 2, at_3] @ copy h(at_3)
        }
      }
      for i_2 in 0 .. N {
        y[i_2] = h[L % 2, i_2] @ value y(i_2)
      }
    }
  }
}
)");
}

}  // namespace
}  // namespace tilewright::build
