// SPDX-License-Identifier: Apache-2.0
//
// The applications under their own schedules are proved, for all sizes: tiles with tails, packed copies, register
// tiles, lanes merged in trees, a masked softmax over a materialised score. And what is said of Programs that are
// not right: each has one thing changed, and is not proved.
#include <filesystem>
#include <fstream>

#include "lowering/proof/prove.h"
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string explain(const proof::Proof& proof) {
  std::string text(proof::verdict_text(proof.verdict));
  for (const proof::Obligation& one : proof.obligations)
    if (one.verdict != proof::Verdict::Proved)
      text += "\n" + std::string(proof::obligation_text(one.kind)) + ": " + one.subject + ": " +
              one.detail;
  return text;
}

class ProvedApplications : public ::testing::TestWithParam<const char*> {};

TEST_P(ProvedApplications, AtAllSizes) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  const std::string name = GetParam();
  const std::filesystem::path folder = std::filesystem::path(root ? root : ".") / "apps" / name;
  int proved = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "schedules")) {
    ir::Context context;
    poly::Context polyhedra;
    auto algorithm =
        ir::parse_algorithm(context, Source(name + ".tw", read_file(folder / (name + ".tw"))));
    ASSERT_TRUE(algorithm.ok());
    auto schedule = directives::parse_schedule(
        context, *algorithm, Source(entry.path().filename().string(), read_file(entry.path())));
    ASSERT_TRUE(schedule.ok());
    auto built = build::build(context, polyhedra, *algorithm, *schedule);
    ASSERT_TRUE(built.ok());
    auto passed = passes::run_passes(context, *built);
    ASSERT_TRUE(passed.ok());
    // Hundreds of stores: described instructions have their turn in the slow run.
    if (!passed->intrinsics.empty() && !std::getenv("TILEWRIGHT_SLOW_TESTS")) continue;
    auto proof = proof::prove(context, *algorithm, *passed);
    ASSERT_TRUE(proof.ok()) << laws::messages(proof.diagnostics());
    EXPECT_EQ(explain(*proof), "proved") << entry.path();
    ++proved;
  }
  EXPECT_GT(proved, 0);
}

INSTANTIATE_TEST_SUITE_P(Apps, ProvedApplications,
                         ::testing::Values("gemm", "gemm_bf16", "gemm_i8", "softmax", "layernorm",
                                           "blur", "attention"),
                         [](const auto& each) { return std::string(each.param); });

struct Edit {
  const char* name;
  const char* from;
  const char* to;
};

// Of a one-pass sum in lanes with a tail.
constexpr const char* kAlgorithm = R"(algorithm rows(R, C) {
  input x : f32[R, C]
  total[r] = sum(t < C) x[r, t]
  output y[r, t] = x[r, t] / total[r]
}
)";
constexpr const char* kProgram = R"(program rows for rows {
  extent R
  extent C
  input x : f32[R, C]
  output y : f32[R, C]
  parallel r in 0 .. R {
    alloc acc : f32[8] in stack {
      vector i in 0 .. 8 {
        acc[i] = f32(0)
      }
      for o in 0 .. C / 8 {
        vector i_2 in 0 .. 8 {
          acc[i_2] = acc[i_2] + x[r, o * 8 + i_2]
        }
      }
      vector i_3 in 0 .. 8 {
        if C / 8 * 8 + i_3 < C {
          acc[i_3] = acc[i_3] + x[r, C / 8 * 8 + i_3]
        }
      }
      vector i_4 in 0 .. 4 {
        acc[i_4] = acc[i_4] + acc[i_4 + 4]
      }
      vector i_5 in 0 .. 2 {
        acc[i_5] = acc[i_5] + acc[i_5 + 2]
      }
      alloc scale : f32[] in stack {
        if 0 < C {
          scale[] = f32(1) / (acc[0] + acc[1])
        }
        for t in 0 .. C {
          y[r, t] = x[r, t] * scale[]
        }
      }
    }
  }
}
)";

std::string verdict_of(const std::string& text) {
  ir::Context context;
  auto algorithm = ir::parse_algorithm(context, Source("rows.tw", kAlgorithm));
  if (!algorithm.ok()) return laws::messages(algorithm.diagnostics());
  auto program = program::parse_program(context, Source("rows.twp", text));
  if (!program.ok()) return laws::messages(program.diagnostics());
  auto proof = proof::prove(context, *algorithm, *program);
  if (!proof.ok()) return laws::messages(proof.diagnostics());
  return explain(*proof);
}

class OneThingChanged : public ::testing::TestWithParam<Edit> {};

// The total may be 0, so the quotient is the one condition that is left open; every edit adds another fault.
TEST_P(OneThingChanged, IsNotProved) {
  const std::string right = verdict_of(kProgram);
  std::string text = kProgram;
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string_view(GetParam().from).size(), GetParam().to);
  const std::string wrong = verdict_of(text);
  EXPECT_NE(wrong.substr(0, 6), "proved");
  const bool says_what =
      wrong.find("value: y") != std::string::npos || wrong.find("bounds: ") != std::string::npos ||
      wrong.find("written: y") != std::string::npos || wrong.find("apart: ") != std::string::npos ||
      wrong.find("rounding: ") != std::string::npos ||
      wrong.find("initialised: ") != std::string::npos;
  EXPECT_TRUE(says_what) << wrong;
  EXPECT_EQ(right.find("value: y"), std::string::npos) << right;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, OneThingChanged,
    ::testing::Values(Edit{"tail_one_short", "C / 8 * 8 + i_3 < C", "C / 8 * 8 + i_3 < C - 1"},
                      Edit{"tail_too_far", "C / 8 * 8 + i_3 < C", "C / 8 * 8 + i_3 <= C"},
                      Edit{"main_loop_short", "for o in 0 .. C / 8", "for o in 1 .. C / 8"},
                      Edit{"wrong_identity", "acc[i] = f32(0)", "acc[i] = f32(1)"},
                      Edit{"lanes_twice", "acc[i_4] + acc[i_4 + 4]", "acc[i_4] + acc[i_4]"},
                      Edit{"tree_too_short", "vector i_5 in 0 .. 2", "vector i_5 in 0 .. 1"},
                      Edit{"row_of_another", "x[r, o * 8 + i_2]", "x[0, o * 8 + i_2]"},
                      Edit{"wrong_sign", "acc[i_3] + x[r, C", "acc[i_3] - x[r, C"},
                      Edit{"lost_column", "for t in 0 .. C", "for t in 0 .. C - 1"},
                      Edit{"narrower", "acc[i_2] + x[r, o * 8 + i_2]",
                           "acc[i_2] + f32(bf16(x[r, o * 8 + i_2]))"},
                      Edit{"not_started", "if 0 < C", "if 1 < C"},
                      Edit{"a_race", "y[r, t] = x", "y[0, t] = x"}),
    [](const auto& each) { return std::string(each.param.name); });

// Attention as one states it, and a Program that goes over the keys once, with sums that are scaled whenever the
// maximum moves: nothing in the prover knows either. What it changes of the sums must be changed of both.
TEST(Proof, AttentionInOnePass) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  const std::filesystem::path laws = std::filesystem::path(root ? root : ".") / "tests" / "laws";
  const auto verdict = [&](const std::string& text) {
    ir::Context context;
    auto algorithm = ir::parse_algorithm(
        context, Source("attention.tw", read_file(laws / "agents" / "attention.tw")));
    EXPECT_TRUE(algorithm.ok());
    auto program = program::parse_program(context, Source("flash.twp", text));
    EXPECT_TRUE(program.ok()) << laws::messages(program.diagnostics()) << text;
    auto proof = proof::prove(context, *algorithm, *program);
    EXPECT_TRUE(proof.ok());
    return explain(*proof);
  };
  const std::string right = read_file(laws / "proofs" / "flash.twp");
  EXPECT_EQ(verdict(right), "proved");
  const std::pair<const char*, const char*> edits[] = {
      {"acc[md] = acc[md] * scale", "acc[md] = acc[md]"},
      {"total[] = total[] * scale", "total[] = total[]"},
      {"exp(peak[] - next)", "exp(next - peak[])"},
      {"exp(p[pj] - peak[])", "exp(p[pj])"},
      {"v[u * 4 + pj, pd]", "v[u * 4, pd]"},
      {"for u in 0 .. T / 4", "for u in 0 .. T / 4 - 1"},
      {"acc[od] / total[]", "acc[od]"}};
  for (const auto& [from, to] : edits) {
    std::string text = right;
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string_view(from).size(), to);
    EXPECT_NE(verdict(text).substr(0, 6), "proved") << to;
  }
  // Over the reals the reference need not be the maximum, as long as it cancels.
  std::string lower = right;
  const std::string_view of_two = "max(p[2], p[3])";
  lower.replace(lower.find(of_two), of_two.size(), "p[2]");
  EXPECT_EQ(verdict(lower), "proved");
}

// An instruction by its description: four products of a row and a column in each of two lanes.
constexpr const char* kDots = R"(program dots for dots {
  extent N
  extent K multiple_of 4
  input a : i8[K]
  input b : i8[N, K]
  output c : i32[N]
  intrinsic algorithm dot4() {
    input s : i32[2]
    input x : i8[4]
    input y : i8[2, 4]
    dot[i < 2] : i32 = sum(p < 4) i32(x[p]) * i32(y[i, p])
    output d[i < 2] : i32 = s[i] + dot[i]
  }
  for n in 0 .. N / 2 {
    alloc acc : i32[2] in register {
      for z in 0 .. 2 {
        acc[z] = i32(0)
      }
      for k in 0 .. K / 4 {
        call dot4(s = acc[0 : 2], x = a[k * 4 : 4], y = b[n * 2 : 2, k * 4 : 4], d = acc[0 : 2])
      }
      for o in 0 .. 2 {
        c[n * 2 + o] = acc[o]
      }
    }
  }
  for t in N / 2 * 2 .. N {
    c[t] = i32(0)
    for k_2 in 0 .. K {
      c[t] = c[t] + i32(a[k_2]) * i32(b[t, k_2])
    }
  }
}
)";

proof::Verdict dots(const std::string& text) {
  ir::Context context;
  auto algorithm =
      ir::parse_algorithm(context, Source("dots.tw", R"(algorithm dots(N, K multiple_of 4) {
  input a : i8[K]
  input b : i8[N, K]
  output c[n] = sum(k < K) i32(a[k]) * i32(b[n, k])
}
)"));
  EXPECT_TRUE(algorithm.ok()) << laws::messages(algorithm.diagnostics());
  auto program = program::parse_program(context, Source("dots.twp", text));
  EXPECT_TRUE(program.ok()) << laws::messages(program.diagnostics());
  auto proof = proof::prove(context, *algorithm, *program);
  EXPECT_TRUE(proof.ok()) << laws::messages(proof.diagnostics());
  return proof->verdict;
}

TEST(Proof, ADescribedInstructionIsWhatItsDescriptionSays) {
  EXPECT_EQ(dots(kDots), proof::Verdict::Proved);
  const std::pair<const char*, const char*> edits[] = {
      {"sum(p < 4)", "sum(p < 3)"},
      {"x = a[k * 4 : 4]", "x = a[0 : 4]"},
      {"output d[i < 2] : i32 = s[i] + dot[i]", "output d[i < 2] : i32 = s[1 - i] + dot[i]"}};
  for (const auto& [from, to] : edits) {
    std::string text = kDots;
    text.replace(text.find(from), std::string_view(from).size(), to);
    EXPECT_NE(dots(text), proof::Verdict::Proved) << to;
  }
}

// What the algorithm gives and the Program does not, or gives in another shape, is no Program of it.
TEST(Proof, WhatIsNotGivenIsNotProved) {
  ir::Context context;
  auto algorithm = ir::parse_algorithm(context, Source("rows.tw", kAlgorithm));
  ASSERT_TRUE(algorithm.ok());
  for (const char* text :
       {"program rows for rows {\n  extent R\n  extent C\n  input x : f32[R, C]\n}",
        "program rows for rows {\n  extent R\n  extent C\n  input x : f32[R, C]\n"
        "  output y : f32[R, C - 1]\n  for r in 0 .. R {\n    for t in 0 .. C - 1 {\n"
        "      y[r, t] = x[r, t]\n    }\n  }\n}"}) {
    auto program = program::parse_program(context, Source("rows.twp", text));
    if (!program.ok()) continue;  // refused even earlier
    auto proof = proof::prove(context, *algorithm, *program);
    ASSERT_FALSE(proof.ok()) << text;
    EXPECT_EQ(proof.diagnostics()[0].code, Code::ProgramInterface);
  }
}

// Lanes share what is allocated within their loop, so they write one cell.
TEST(Proof, AnAllocWithinLanesIsShared) {
  ir::Context context;
  auto algorithm = ir::parse_algorithm(context, Source("twice.tw", R"(algorithm twice(N) {
  requires N == 8
  input x : f32[N]
  output y[i] = x[i] + x[i]
}
)"));
  ASSERT_TRUE(algorithm.ok());
  auto program = program::parse_program(context, Source("twice.twp", R"(program twice for twice {
  extent N
  requires N == 8
  input x : f32[N]
  output y : f32[N]
  vector i in 0 .. 8 {
    alloc t : f32[1] in stack {
      t[0] = x[i]
      y[i] = t[0] + x[i]
    }
  }
}
)"));
  ASSERT_TRUE(program.ok()) << laws::messages(program.diagnostics());
  auto proof = proof::prove(context, *algorithm, *program);
  ASSERT_TRUE(proof.ok());
  EXPECT_EQ(proof->verdict, proof::Verdict::Refuted);
}

}  // namespace
}  // namespace tilewright
