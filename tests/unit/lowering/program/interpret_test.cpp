// SPDX-License-Identifier: Apache-2.0
//
// The Program interpreter: results against plain loops written here, and its traps. Every trap is
// shown by a sound program and a twin that differs in one token.
#include "lowering/program/interpret.h"

#include <cmath>

#include <gtest/gtest.h>
#include "frontend/ir/text.h"
#include "lowering/program/text.h"

namespace tilewright::program {
namespace {

struct Trial {
  ir::Context context;
  Program program;
  ir::Bindings bindings;
  ir::TensorMap inputs;

  explicit Trial(const std::string& text, std::map<std::string, std::int64_t> sizes = {}) {
    auto parsed = parse_program(context, Source("case.twp", text));
    EXPECT_TRUE(parsed.ok()) << text << (parsed.ok() ? "" : parsed.diagnostics()[0].message);
    if (parsed.ok()) program = *parsed;
    for (const auto& [name, value] : sizes) bindings[context.symbol(name)] = value;
    for (const Parameter& parameter : program.parameters) {
      if (parameter.is_output) continue;
      std::vector<std::int64_t> shape;
      for (Expr extent : parameter.shape) shape.push_back(ir::evaluate_extents(extent, bindings));
      ir::Tensor tensor = ir::make_tensor(parameter.type, shape);
      for (std::size_t i = 0; i < tensor.data.size(); ++i) {
        const auto x = static_cast<std::int64_t>(i * 7 % 23) - 11;
        if (ir::is_float(parameter.type))
          tensor.data[i].f = static_cast<double>(x) / 8;
        else
          tensor.data[i].i = x;
      }
      inputs[parameter.name] = tensor;
    }
  }
  Result<InterpretResult> go(const InterpretOptions& options = {}) {
    return interpret(context, program, bindings, inputs, options);
  }
  InterpretResult value(const InterpretOptions& options = {}) {
    auto result = go(options);
    EXPECT_TRUE(result.ok()) << print(program)
                             << (result.ok() ? "" : result.diagnostics()[0].message);
    return result.ok() ? *result : InterpretResult{};
  }
  const ir::Tensor& input(std::string_view name) { return inputs.at(context.symbol(name)); }
};

std::string evidence(const Diagnostic& diagnostic, const std::string& name) {
  for (const auto& [key, value] : diagnostic.evidence)
    if (key == name) return value;
  return "<none>";
}

// The sound text, and the one that has `broken` in place of `sound`.
struct Twin {
  std::string text;
  std::string sound;
  std::string broken;
  Code code;
  std::map<std::string, std::string> evidence;
};

void check_twin(const Twin& twin, const std::map<std::string, std::int64_t>& sizes) {
  Trial good(twin.text, sizes);
  EXPECT_TRUE(good.go().ok()) << twin.text << good.go().diagnostics()[0].message;
  std::string text = twin.text;
  const auto at = text.find(twin.sound);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, twin.sound.size(), twin.broken);
  Trial bad(text, sizes);
  auto result = bad.go();
  ASSERT_FALSE(result.ok()) << text;
  const Diagnostic& found = result.diagnostics()[0];
  EXPECT_EQ(code_text(found.code), code_text(twin.code)) << text << found.message;
  EXPECT_FALSE(found.remedy.empty());
  for (const auto& [name, value] : twin.evidence) EXPECT_EQ(evidence(found, name), value) << name;
}

constexpr const char* kTiledGemm = R"(
program gemm for gemm {
  extent M
  extent N
  extent K
  input a : f32[M, K]
  input b : f32[K, N]
  output c : f32[M, N]
  parallel io in 0 .. (M + 3) / 4 {
    for jo in 0 .. (N + 7) / 8 {
      alloc t : f32[4, 8] in register {
        unrolled r in 0 .. 4 {
          vector l in 0 .. 8 {
            t[r, l] = f32(0.0)
          }
        }
        for k in 0 .. K {
          for r2 in 0 .. min(4, M - io * 4) {
            vector l2 in 0 .. 8 {
              if jo * 8 + l2 < N {
                t[r2, l2] = fma(a[io * 4 + r2, k], b[k, jo * 8 + l2], t[r2, l2])
              }
            }
          }
        }
        for r3 in 0 .. min(4, M - io * 4) {
          for l3 in 0 .. min(8, N - jo * 8) {
            c[io * 4 + r3, jo * 8 + l3] = t[r3, l3]
          }
        }
      }
    }
  }
}
)";

TEST(ProgramInterpreter, TiledGemmIsTheFusedLoopBitForBit) {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{4, 8, 5},
                         {5, 9, 3},
                         {1, 1, 1},
                         {7, 19, 0},
                         {0, 3, 2},
                         {13, 24, 11}}) {
    Trial run(kTiledGemm, {{"M", m}, {"N", n}, {"K", k}});
    const auto a = run.input("a").data;
    const auto b = run.input("b").data;
    for (std::uint64_t seed : {0, 1, 2}) {
      InterpretOptions options;
      options.schedule_seed = seed;
      const ir::Tensor c = run.value(options).outputs.at(run.context.symbol("c"));
      ASSERT_EQ(c.size(), m * n);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          float want = 0;
          for (std::int64_t l = 0; l < k; ++l)
            want = std::fma(static_cast<float>(a[static_cast<std::size_t>(i * k + l)].f),
                            static_cast<float>(b[static_cast<std::size_t>(l * n + j)].f), want);
          ASSERT_EQ(c.data[static_cast<std::size_t>(i * n + j)].f, static_cast<double>(want));
        }
    }
  }
}

TEST(ProgramInterpreter, CoverageSaysWhichGuardsAndTailsWereReached) {
  Trial full(kTiledGemm, {{"M", 4}, {"N", 16}, {"K", 2}});
  Trial tail(kTiledGemm, {{"M", 5}, {"N", 9}, {"K", 2}});
  Trial empty(kTiledGemm, {{"M", 5}, {"N", 0}, {"K", 0}});
  Coverage all = full.value().coverage;
  // io, jo, k, r2 with its min, the guard, r3 with its min, l3 with its min.
  ASSERT_EQ(all.decisions.size(), 10U);
  EXPECT_EQ(all.decisions[0].text, "io in 0 .. (M + 3) / 4");
  EXPECT_FALSE(all.decisions[0].first);
  EXPECT_TRUE(all.decisions[0].second);
  EXPECT_EQ(all.decisions[4].text, "min(4, M - io * 4)");
  EXPECT_FALSE(all.decisions[4].first || all.decisions[4].second);  // equal
  EXPECT_EQ(all.decisions[5].text, "jo * 8 + l2 < N");
  EXPECT_TRUE(all.decisions[5].first);
  EXPECT_FALSE(all.decisions[5].second);
  const int before = all.missing();
  all.merge(tail.value().coverage);
  EXPECT_TRUE(all.decisions[5].second);
  EXPECT_TRUE(all.decisions[4].second);
  EXPECT_LT(all.missing(), before);
  const int between = all.missing();
  all.merge(empty.value().coverage);
  EXPECT_LT(all.missing(), between);
}

TEST(ProgramInterpreter, OutOfBoundsIsTrapped) {
  const std::string text = R"(
program shift for shift {
  extent N
  input x : f32[N]
  output y : f32[N]
  for i in 0 .. N {
    y[i] = select(i > 0, x[i - 1], f32(0.0))
  }
}
)";
  check_twin({text,
              "i > 0",
              "i >= 0",
              Code::BufferOutOfBounds,
              {{"cell", "x[-1]"}, {"i", "0"}, {"N", "5"}, {"shape", "[5]"}}},
             {{"N", 5}});
  check_twin({text,
              "0 .. N",
              "0 .. N + 1",
              Code::BufferOutOfBounds,
              {{"cell", "y[5]"}, {"i", "5"}, {"N", "5"}}},
             {{"N", 5}});
  // In lanes, the mask decides.
  const std::string lanes = R"(
program lanes for lanes {
  extent N
  input x : f32[N]
  output y : f32[N]
  vector l in 0 .. 8 {
    if l < N {
      y[l] = x[l]
    }
  }
}
)";
  check_twin({lanes, "l < N", "l <= N", Code::BufferOutOfBounds, {{"l", "5"}, {"cell", "x[5]"}}},
             {{"N", 5}});
}

TEST(ProgramInterpreter, UninitialisedReadsAreTrapped) {
  const std::string text = R"(
program sums for sums {
  extent N
  input x : f32[N]
  output y : f32[N]
  for i in 0 .. N {
    alloc t : f32[2] in stack {
      t[0] = x[i]
      t[1] = t[0] + x[i]
      y[i] = t[1]
    }
  }
}
)";
  check_twin(
      {text, "t[1] = t[0]", "t[1] = t[1]", Code::UninitialisedRead, {{"cell", "t[1]"}, {"i", "0"}}},
      {{"N", 3}});
  // A buffer is fresh each time that its alloc runs.
  const std::string fresh = R"(
program fresh for fresh {
  extent N
  input x : f32[N]
  output y : f32[N]
  for i in 0 .. N {
    alloc t : f32[1] in stack {
      if i >= 0 {
        t[0] = x[i]
      }
      y[i] = t[0]
    }
  }
}
)";
  check_twin({fresh, "i >= 0", "i < 1", Code::UninitialisedRead, {{"i", "1"}, {"cell", "t[0]"}}},
             {{"N", 3}});
}

TEST(ProgramInterpreter, OutputsMustBeWrittenWhole) {
  check_twin({R"(
program copy for copy {
  extent N
  input x : f32[N]
  output y : f32[N]
  for i in 0 .. N {
    y[i] = x[i]
  }
}
)",
              "0 .. N",
              "1 .. N",
              Code::OutputNotWritten,
              {{"cell", "y[0]"}, {"N", "4"}}},
             {{"N", 4}});
}

TEST(ProgramInterpreter, RacesOfParallelIterationsAreTrapped) {
  // Two writers of a cell.
  const std::string writers = R"(
program writers for writers {
  extent N
  input x : f32[N]
  output y : f32[N]
  parallel i in 0 .. N {
    y[i] = x[i]
  }
}
)";
  check_twin({writers,
              "y[i]",
              "y[i / 2 * 2 + i % 2 * 0]",
              Code::ParallelRace,
              {{"i", "1"}, {"other iteration", "i = 0"}, {"cell", "y[0]"}}},
             {{"N", 4}});
}

TEST(ProgramInterpreter, ARaceNeedsAParallelLoop) {
  const std::string text = R"(
program running for running {
  extent N
  input x : f32[N]
  output y : f32[N]
  for z in 0 .. 1 {
    y[0] = x[0]
  }
  for i in 1 .. N {
    y[i] = y[i - 1] + x[i]
  }
}
)";
  check_twin({text,
              "for i",
              "parallel i",
              Code::ParallelRace,
              {{"i", "2"}, {"other iteration", "i = 1"}, {"cell", "y[1]"}}},
             {{"N", 4}});
  // Reading first and writing later is found as well: the reader is remembered.
  const std::string later = R"(
program later for later {
  extent N
  input x : f32[N]
  output y : f32[N]
  output z : f32[N]
  for i in 0 .. N {
    y[i] = x[i]
  }
  for j in 0 .. N {
    z[j] = y[min(j + 1, N - 1)]
    y[j] = x[j]
  }
}
)";
  check_twin({later,
              "for j",
              "parallel j",
              Code::ParallelRace,
              {{"j", "1"}, {"other iteration", "j = 0"}}},
             {{"N", 4}});

  // Rows of a packed output begin at a byte; within a row two cells share one.
  const std::string packed = R"(
program writers for writers {
  extent N
  input x : i4[N, 5]
  output y : i4[N, 5]
  parallel i in 0 .. N {
    for j in 0 .. 5 {
      y[i, j] = x[i, j]
    }
  }
}
)";
  check_twin({packed,
              "for j",
              "parallel j",
              Code::ParallelRace,
              {{"j", "1"}, {"cell", "y[0, 1]"}, {"other iteration", "j = 0"}}},
             {{"N", 4}});
}

TEST(ProgramInterpreter, LoopInstancesOneAfterTheOtherDoNotRace) {
  const std::string text = R"(
program phases for phases {
  extent N
  input x : f32[N]
  output y : f32[N]
  alloc t : f32[N] in workspace {
    parallel i in 0 .. N {
      t[i] = x[i]
    }
    parallel a in 0 .. 2 {
      parallel b in 0 .. N {
        if b % 2 == a {
          y[b] = t[N - 1 - b]
        }
      }
    }
  }
}
)";
  Trial run(text, {{"N", 6}});
  const ir::Tensor y = run.value().outputs.at(run.context.symbol("y"));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(y.data[i].f, run.input("x").data[5 - i].f);
  check_twin({text,
              "b % 2 == a",
              "b % 2 >= a",
              Code::ParallelRace,
              {{"a", "1"}, {"b", "1"}, {"other iteration", "a = 0"}, {"cell", "y[1]"}}},
             {{"N", 6}});
}

TEST(ProgramInterpreter, LanesThatShareACellAreTrapped) {
  const std::string writes = R"(
program lanes for lanes {
  input x : f32[8]
  output y : f32[8]
  vector l in 0 .. 8 {
    y[l] = x[l]
  }
}
)";
  check_twin({writes,
              "y[l]",
              "y[max(l, 1)]",
              Code::LaneConflict,
              {{"l", "1"}, {"other lane", "0"}, {"cell", "y[1]"}}},
             {});
  // Reading what another lane writes in the same statement.
  const std::string reads = R"(
program shift for shift {
  input x : f32[8]
  output y : f32[9]
  for i in 0 .. 9 {
    y[i] = f32(0.0)
  }
  vector l in 0 .. 8 {
    y[l] = y[l] + x[l]
  }
}
)";
  check_twin({reads, "= y[l]", "= y[l + 1]", Code::LaneConflict, {{"l", "1"}, {"other lane", "0"}}},
             {});
  check_twin(
      {reads, "= y[l]", "= y[3]", Code::LaneConflict, {{"l", "3"}, {"other lane", "several"}}}, {});
  // In two statements it is sound: lanes run statement by statement.
  Trial run(R"(
program twice for twice {
  input x : f32[8]
  output y : f32[8]
  alloc t : f32[9] in stack {
    vector l in 0 .. 8 {
      t[l] = x[l]
      if l == 7 {
        t[8] = x[0]
      }
      y[l] = t[l + 1]
    }
  }
}
)");
  const ir::Tensor y = run.value().outputs.at(run.context.symbol("y"));
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(y.data[i].f, run.input("x").data[(i + 1) % 8].f);
}

TEST(ProgramInterpreter, UndefinedIntegerOperationsAreTrapped) {
  check_twin({R"(
program quotient for quotient {
  extent N
  input x : i32[N]
  output y : i32[N]
  for i in 0 .. N {
    let q = x[i] + i32(12) {
      y[i] = i32(100) / q
    }
  }
}
)",
              "i32(12)",
              "i32(11)",
              Code::ProgramUndefined,
              {{"i", "0"}}},
             {{"N", 4}});
}

TEST(ProgramInterpreter, UnevenLoopsAndLetsInLanesRunUnderMasks) {
  Trial run(R"(
program uneven for uneven {
  input x : i32[8]
  output y : i32[8]
  vector l in 0 .. 8 {
    y[l] = i32(0)
    let n = l * l % 5 {
      for k in 0 .. n {
        y[l] = y[l] + x[k] * i32(n)
      }
    }
  }
}
)");
  const ir::Tensor y = run.value().outputs.at(run.context.symbol("y"));
  for (std::int64_t l = 0; l < 8; ++l) {
    const std::int64_t n = l * l % 5;
    std::int64_t want = 0;
    for (std::int64_t k = 0; k < n; ++k)
      want += run.input("x").data[static_cast<std::size_t>(k)].i * n;
    EXPECT_EQ(y.data[static_cast<std::size_t>(l)].i, want);
  }
}

TEST(ProgramInterpreter, LimitsAreDiagnostics) {
  Trial run(kTiledGemm, {{"M", 8}, {"N", 8}, {"K", 8}});
  InterpretOptions options;
  options.step_limit = 100;
  auto result = run.go(options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.diagnostics()[0].code, Code::ProgramLimit);
  check_twin({R"(
program big for big {
  extent N
  output y : f32[1]
  alloc t : f32[N] in workspace {
    y[0] = f32(0.0)
  }
}
)",
              "f32[N] in",
              "f32[N * N * N] in",
              Code::ProgramLimit,
              {}},
             {{"N", 100000}});
}

}  // namespace
}  // namespace tilewright::program
