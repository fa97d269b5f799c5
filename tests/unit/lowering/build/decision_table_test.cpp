// SPDX-License-Identifier: Apache-2.0
//
// Guards as a decision table: who runs where, the edges, and what is refused with its evidence.
#include "lowering/build/decision_table.h"

#include <gtest/gtest.h>

#include "frontend/ir/text.h"
#include "schedules/directives/text.h"

namespace tilewright::build {
namespace {

class Table : public ::testing::Test {
 protected:
  Table() : algorithm_(parse_algorithm()) {}

  ir::Algorithm parse_algorithm() {
    auto parsed = ir::parse_algorithm(context_, Source("a.tw", R"(algorithm a(M, N) {
  requires N <= M + 100
  input x : f32[M, N]
  output y[i, j] = x[i, j] + 1.0
})"));
    EXPECT_TRUE(parsed.ok());
    return *parsed;
  }
  // Guards; the last is empty.
  Result<DecisionTable> decide(const std::vector<std::string>& guards) {
    std::vector<tree::Schedule> schedules;
    for (std::size_t i = 0; i < guards.size(); ++i) {
      const std::string name = "s" + std::to_string(i);
      const std::string guard = guards[i].empty() ? "" : "  guard " + guards[i] + "\n";
      auto parsed = directives::parse_schedule(
          context_, algorithm_,
          Source(name + ".tws", "schedule " + name + " for a on x86-64-v3 {\n" + guard + "}\n"));
      EXPECT_TRUE(parsed.ok()) << guards[i];
      if (parsed.ok()) schedules.push_back(*std::move(parsed));
    }
    return build::decide(polyhedra_, algorithm_, schedules, &at_);
  }
  std::int64_t size(const DecisionTable::Boundary& boundary, const char* name) {
    return boundary.sizes.at(context_.symbol(name));
  }

  ir::Context context_;
  poly::Context polyhedra_;
  ir::Algorithm algorithm_;
  std::size_t at_ = 0;
};

TEST_F(Table, EachRowHasWhatTheRowsBeforeLeave) {
  const auto table = decide({"M <= 4", "M <= 32, N >= 16", ""});
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->sizes.size(), 3U);
  EXPECT_EQ(table->sizes[0], "4 >= M");
  EXPECT_NE(table->sizes[1].find("M >= 5"), std::string::npos) << table->sizes[1];
  EXPECT_NE(table->sizes[2].find("or"), std::string::npos) << table->sizes[2];
  // Both sides of each condition, and who runs there by the guards as they are written above.
  std::set<std::pair<std::int64_t, std::size_t>> edges;
  for (const DecisionTable::Boundary& b : table->boundaries) {
    const std::int64_t m = size(b, "M");
    const std::int64_t n = size(b, "N");
    EXPECT_EQ(b.row, m <= 4 ? 0U : m <= 32 && n >= 16 ? 1U : 2U) << m << ", " << n;
    EXPECT_LE(n, m + 100);
    edges.insert({m, b.row});
  }
  for (const auto& edge : {std::pair<std::int64_t, std::size_t>{4, 0}, {32, 1}, {33, 2}})
    EXPECT_TRUE(edges.contains(edge)) << edge.first;
}

TEST_F(Table, TheLastRowMayNeverRun) {
  const auto table = decide({"M <= 4", "M > 4", ""});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->sizes[2], "never");
}

TEST_F(Table, ARowThatTheRowsBeforeTakeWhollyIsRefusedWithSizes) {
  const auto table = decide({"M <= 10", "M >= 8", "M >= 4, M <= 40", ""});
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(at_, 2U);
  const Diagnostic& d = table.diagnostics()[0];
  EXPECT_EQ(d.code, Code::VariantShadowed);
  EXPECT_NE(d.message.find("`s0`, `s1`"), std::string::npos) << d.message;
  ASSERT_GE(d.evidence.size(), 2U);
  EXPECT_EQ(d.evidence[0].first, "runs s0 at");
  EXPECT_EQ(d.evidence[0].second, "M = 4, N = 0");
  EXPECT_EQ(d.evidence[1].first, "runs s1 at");
  EXPECT_EQ(d.evidence[1].second, "M = 8, N = 0");
}

TEST_F(Table, TwoOfOneNameAreRefused) {
  auto parsed = directives::parse_schedule(context_, algorithm_,
                                           Source("s.tws", "schedule s for a on x86-64-v3 {\n}\n"));
  ASSERT_TRUE(parsed.ok());
  const std::vector<tree::Schedule> twice{*parsed, *parsed};
  const auto table = build::decide(polyhedra_, algorithm_, twice, &at_);
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.diagnostics()[0].code, Code::VariantName);
  EXPECT_EQ(at_, 1U);
}

TEST_F(Table, AProductOfExtentsIsRefused) {
  const auto table = decide({"M <= 4", "M * N <= 100", ""});
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.diagnostics()[0].code, Code::GuardNotAffine);
  EXPECT_EQ(at_, 1U);
}

}  // namespace
}  // namespace tilewright::build
