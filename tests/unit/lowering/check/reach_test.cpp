// SPDX-License-Identifier: Apache-2.0
//
// Which outcomes of decisions can happen and where, on Programs written by hand, and on random ones against
// what the interpreter does at every size that they allow.
#include "lowering/check/reach.h"

#include <gtest/gtest.h>

#include <random>

#include "frontend/ir/text.h"
#include "lowering/check/check.h"
#include "lowering/program/text.h"

namespace tilewright::check {
namespace {

using program::DecisionKind;

struct Loaded {
  ir::Context context;
  program::Program program;

  explicit Loaded(const std::string& text) {
    auto parsed = program::parse_program(context, Source("case.twp", text));
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? text : parsed.diagnostics()[0].message + text);
    if (parsed.ok()) program = *parsed;
  }
  // A body over extents N and M, an input x and an output y of one cell.
  static std::string around(const std::string& body, const std::string& extents) {
    return "program p for p {\n" + extents +
           "  input x : f32[N]\n  output y : f32[1]\n  y[0] = f32(0)\n" + body + "}\n";
  }
  Reach find(std::size_t decision, bool first) {
    return Reachability(context, program).find(decision, first);
  }
  std::int64_t size(const Reach& reach, std::string_view name) {
    const auto it = reach.sizes.find(context.symbol(name));
    return it == reach.sizes.end() ? -1 : it->second;
  }
};

constexpr const char* kOpen = "  extent N\n  extent M\n";

TEST(Reach, AnElseArmThatALoopRulesOutIsImpossible) {
  Loaded p(Loaded::around(
      "  for n in 0 .. N { if n < N { y[0] = f32(1) } else { y[0] = f32(2) } }\n", kOpen));
  EXPECT_EQ(p.find(1, false).kind, Reach::Kind::Impossible);
  const Reach taken = p.find(1, true);
  EXPECT_EQ(taken.kind, Reach::Kind::Possible);
  EXPECT_EQ(taken.open, "");
  EXPECT_EQ(p.size(taken, "N"), 1);
  EXPECT_EQ(p.size(taken, "M"), 0);
}

TEST(Reach, ALoopUnderAGuardThatKeepsItBusyIsNeverEmpty) {
  // 16 * n < N leaves at least one of the 16 in the tile.
  Loaded p(
      Loaded::around("  for n in 0 .. (N + 15) / 16 { for i in 0 .. min(16, N - n * 16) { y[0] = "
                     "f32(1) } }\n",
                     kOpen));
  ASSERT_EQ(Reachability(p.context, p.program).decisions().size(), 3u);
  EXPECT_EQ(p.find(1, true).kind, Reach::Kind::Impossible);
  EXPECT_EQ(p.find(1, false).kind, Reach::Kind::Possible);
  // The first operand is smaller from 17 on, the second up to 15.
  EXPECT_EQ(p.size(p.find(2, true), "N"), 17);
  EXPECT_EQ(p.size(p.find(2, false), "N"), 1);
}

TEST(Reach, ATailAtOneResidueIsFoundAtItsSmallestSize) {
  Loaded p(Loaded::around("  if N % 97 == 55 && N > 200 { y[0] = f32(1) }\n", kOpen));
  const Reach reach = p.find(0, true);
  EXPECT_EQ(reach.kind, Reach::Kind::Possible);
  EXPECT_EQ(p.size(reach, "N"), 2 * 97 + 55);
}

TEST(Reach, DeclaredRangesAndRequirementsCount) {
  Loaded p(
      Loaded::around("  if N < M { y[0] = f32(1) }\n  if N == 12 { y[0] = f32(1) }\n",
                     "  extent N min 3 max 40 multiple_of 8\n  extent M\n  requires M <= N\n"));
  EXPECT_EQ(p.find(0, true).kind, Reach::Kind::Impossible);
  EXPECT_EQ(p.find(1, true).kind, Reach::Kind::Impossible);
  const Reach other = p.find(1, false);
  EXPECT_EQ(other.kind, Reach::Kind::Possible);
  EXPECT_EQ(p.size(other, "N"), 8);
}

TEST(Reach, LetsAndSelectsAreSeenThrough) {
  Loaded p(Loaded::around(R"(  let half = select(N < 10, N, 10) / 2 {
    let few = half < 5 {
      if few { if N >= 10 { y[0] = f32(1) } }
      if half > 5 { y[0] = f32(1) }
      if half == 4 { y[0] = f32(1) }
    }
  }
)",
                          kOpen));
  EXPECT_EQ(p.find(0, true).kind, Reach::Kind::Possible);
  EXPECT_EQ(p.find(1, true).kind, Reach::Kind::Impossible);
  EXPECT_EQ(p.find(2, true).kind, Reach::Kind::Impossible);
  EXPECT_EQ(p.size(p.find(3, true), "N"), 8);
}

TEST(Reach, WhatIsNotAffineIsNamedUnlessItsRangeDecides) {
  Loaded p(
      Loaded::around("  if N * M == 391 { y[0] = f32(1) }\n  if N * M < 0 { y[0] = f32(1) }\n"
                     "  if N * M > 5 { if N * M > 4 { y[0] = f32(1) } else { y[0] = f32(2) } }\n",
                     kOpen));
  const Reach product = p.find(0, true);
  EXPECT_EQ(product.kind, Reach::Kind::Possible);
  EXPECT_EQ(product.open, "`N * M` is not affine");
  EXPECT_FALSE(product.on_data);
  EXPECT_EQ(p.find(1, true).kind, Reach::Kind::Impossible);
  // The same product has the same value, whatever that is.
  EXPECT_EQ(p.find(3, false).kind, Reach::Kind::Impossible);
}

TEST(Reach, AConditionOnDataHasOneValueWhileTheDataStays) {
  Loaded p(Loaded::around(R"(  for n in 0 .. N {
    if x[n] > f32(0) { if x[n] > f32(0) { y[0] = f32(1) } else { y[0] = f32(2) } }
    let v = x[n] { if v > f32(0) && n > N { y[0] = f32(1) } }
  }
)",
                          kOpen));
  EXPECT_EQ(p.find(2, false).kind, Reach::Kind::Impossible);
  EXPECT_EQ(p.find(3, true).kind, Reach::Kind::Impossible);
  const Reach on_data = p.find(1, true);
  EXPECT_EQ(on_data.kind, Reach::Kind::Possible);
  EXPECT_TRUE(on_data.on_data);
  EXPECT_EQ(on_data.open, "it depends on the inputs: `x[n] > f32(0)`");
  EXPECT_EQ(p.size(on_data, "N"), 1);
}

TEST(Reach, DataThatTheProgramWritesMayChangeInBetween) {
  Loaded p(Loaded::around(R"(  alloc t : f32[1] in stack {
    t[0] = f32(1)
    if t[0] > f32(0) { if t[0] > f32(0) { y[0] = f32(1) } else { y[0] = f32(2) } }
  }
)",
                          kOpen));
  EXPECT_EQ(p.find(1, false).kind, Reach::Kind::Possible);
  EXPECT_TRUE(p.find(1, false).on_data);
}

TEST(Reach, SizesBeyondAllRunsAreSaidToBeSo) {
  Loaded p(Loaded::around("  if N > 3000000000 { y[0] = f32(1) }\n", kOpen));
  const Reach reach = p.find(0, true);
  EXPECT_EQ(reach.kind, Reach::Kind::Undecided);
  EXPECT_EQ(reach.open, "it happens only at sizes beyond 2147483648");
}

TEST(Reach, ALimitOfOperationsIsAReason) {
  Loaded p(Loaded::around("  if N % 97 == 55 && M % 89 == N % 83 && N > 2000 { y[0] = f32(1) }\n",
                          kOpen));
  const Reach cut = Reachability(p.context, p.program, poly::Limits{20}).find(0, true);
  EXPECT_EQ(cut.kind, Reach::Kind::Undecided);
  EXPECT_NE(cut.open.find("operations"), std::string::npos) << cut.open;
  EXPECT_EQ(p.find(0, true).kind, Reach::Kind::Possible);
}

// Programs of loops, guards and lets over extents of at most 6.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    std::string extents;
    for (const char* name : {"N", "M"}) {
      names_.emplace_back(name);
      const int low = pick(0, 2);
      extents += "  extent " + std::string(name) + " min " + std::to_string(low) + " max " +
                 std::to_string(pick(std::max(low, 2), 6)) +
                 (pick(0, 4) == 0 ? " multiple_of 2\n" : "\n");
    }
    if (pick(0, 2) == 0) extents += "  requires N <= M + " + std::to_string(pick(0, 2)) + "\n";
    std::string body;
    for (int i = pick(1, 2); i > 0; --i) body += statement(4);
    return Loaded::around(body, extents);
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::string name() {
    return names_[static_cast<std::size_t>(pick(0, static_cast<int>(names_.size()) - 1))];
  }
  std::string literal(int low, int high) { return std::to_string(pick(low, high)); }

  std::string index(int depth) {
    if (depth == 0) return pick(0, 3) == 0 ? literal(0, 5) : name();
    const std::string a = index(depth - 1);
    switch (pick(0, 9)) {
      case 0:
      case 1: return "(" + a + " + " + index(depth - 1) + ")";
      case 2:
      case 3: return "(" + a + " - " + index(depth - 1) + ")";
      case 4: return "(" + a + " / " + literal(2, 4) + ")";
      case 5: return "(" + a + " % " + literal(2, 4) + ")";
      case 6: return "min(" + a + ", " + index(depth - 1) + ")";
      case 7: return "max(" + a + ", " + index(depth - 1) + ")";
      case 8: return "(" + a + " * " + (pick(0, 4) == 0 ? name() : literal(2, 3)) + ")";
      default: return "select(" + condition(0) + ", " + a + ", " + index(depth - 1) + ")";
    }
  }
  std::string condition(int depth) {
    const char* comparisons[] = {"<", "<=", ">", ">=", "==", "!="};
    const std::string one =
        "(" + index(pick(0, 2)) + " " + comparisons[pick(0, 5)] + " " + index(pick(0, 1)) + ")";
    if (depth == 0) return one;
    switch (pick(0, 3)) {
      case 0: return "(" + one + " && " + condition(depth - 1) + ")";
      case 1: return "(" + one + " || " + condition(depth - 1) + ")";
      case 2: return "!" + one;
      default: return one;
    }
  }
  std::string block(int depth) {
    std::string body;
    for (int i = pick(1, 2); i > 0; --i) body += statement(depth - 1);
    return " {\n" + body + "}\n";
  }
  std::string statement(int depth) {
    if (depth == 0) return "y[0] = f32(1)\n";
    const std::string var = "v" + std::to_string(made_++);
    switch (pick(0, 4)) {
      case 0:
      case 1: {
        std::string head = "for " + var + " in " + index(pick(0, 1)) + " .. " + index(pick(0, 2));
        return head + within(var, depth);
      }
      case 2: {
        std::string head = "let " + var + " = " + index(pick(1, 2));
        return head + within(var, depth);
      }
      default: {
        std::string out = "if " + condition(1) + block(depth);
        if (pick(0, 1) == 0) out += "else" + block(depth);
        return out;
      }
    }
  }
  std::string within(const std::string& var, int depth) {
    names_.push_back(var);
    std::string out = block(depth);
    names_.pop_back();
    return out;
  }

  std::mt19937 random_;
  std::vector<std::string> names_;
  int made_ = 0;
};

struct Exhausted {
  program::Coverage all;
  std::vector<std::pair<ir::Bindings, program::Coverage>> runs;
};

Exhausted exhaust(Loaded& p) {
  Exhausted out;
  const auto& extents = p.program.extents;
  for (std::int64_t n = extents[0].min; n <= *extents[0].max; ++n)
    for (std::int64_t m = extents[1].min; m <= *extents[1].max; ++m) {
      const ir::Bindings sizes{{extents[0].name, n}, {extents[1].name, m}};
      ir::Tensor x;
      x.type = ir::ScalarType::F32;
      x.shape = {n};
      x.data.resize(static_cast<std::size_t>(n));
      auto result = program::interpret(p.context, p.program, sizes, {{p.context.symbol("x"), x}});
      if (!result.ok()) {
        EXPECT_EQ(result.diagnostics()[0].code, Code::BindingMismatch);
        continue;
      }
      out.all.merge(result->coverage);
      out.runs.emplace_back(sizes, std::move(result->coverage));
    }
  return out;
}

bool has(const program::Coverage& coverage, std::size_t decision, bool first) {
  const program::Coverage::Decision& one = coverage.decisions[decision];
  return first ? one.first : one.second;
}

std::int64_t total(const ir::Bindings& sizes) {
  std::int64_t out = 0;
  for (const auto& [name, size] : sizes) out += size;
  return out;
}

TEST(Reach, AgreesWithEverySizeOnRandomPrograms) {
  int impossible = 0;
  int possible = 0;
  int open = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const std::string text = RandomProgram(seed).text();
    Loaded p(text);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    const Exhausted seen = exhaust(p);
    if (seen.runs.empty()) continue;
    Reachability reach(p.context, p.program);
    ASSERT_EQ(reach.decisions().size(), seen.all.decisions.size()) << text;
    for (std::size_t i = 0; i < reach.decisions().size(); ++i) {
      ASSERT_EQ(reach.decisions()[i].kind, seen.all.decisions[i].kind) << text;
      for (const bool first : {true, false}) {
        const Reach found = reach.find(i, first);
        const std::string what = "seed " + std::to_string(seed) + ", " +
                                 seen.all.decisions[i].text + (first ? ", first" : ", second") +
                                 "\n" + text;
        if (found.kind == Reach::Kind::Undecided) {
          ++open;
          continue;
        }
        if (found.kind == Reach::Kind::Impossible) {
          ++impossible;
          ASSERT_FALSE(has(seen.all, i, first)) << what;
          continue;
        }
        if (!found.open.empty()) {
          ++open;
          continue;
        }
        ++possible;
        bool there = false;
        for (const auto& [sizes, coverage] : seen.runs) {
          if (!has(coverage, i, first)) continue;
          there = there || sizes == found.sizes;
          ASSERT_LE(total(found.sizes), total(sizes)) << what;
        }
        ASSERT_TRUE(there) << what;
      }
    }
  }
  // The law is about something.
  EXPECT_GT(impossible, 250);
  EXPECT_GT(possible, 800);
  EXPECT_LT(open, possible / 4);
}

}  // namespace
}  // namespace tilewright::check
