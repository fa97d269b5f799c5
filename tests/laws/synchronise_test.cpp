// SPDX-License-Identifier: Apache-2.0
//
// Synchronisation that is derived: a Program that says what is asynchronous and synchronises nothing becomes one
// that gives the right numbers however its operations are timed, and of which the interpreter, which knows
// nothing of the derivation, refuses every version without one of its waits, syncs and fences.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include "frontend/base/render.h"
#include "frontend/ir/interpret.h"
#include "frontend/ir/text.h"
#include "lowering/build/build.h"
#include "lowering/build/synchronise.h"
#include "lowering/program/interpret.h"
#include "lowering/program/text.h"
#include "lowering/program/verify.h"
#include "schedules/directives/text.h"
#include "tests/laws/orders.h"
#include "tests/laws/padded_maker.h"
#include "tests/laws/random_case.h"
#include "tests/laws/round_trips.h"
#include "tests/laws/team_maker.h"

namespace tilewright {
namespace {

using build::Tells;
using Sizes = std::vector<std::pair<const char*, std::int64_t>>;

std::vector<ir::Bindings> bindings(ir::Context& context, const std::vector<Sizes>& all) {
  std::vector<ir::Bindings> out(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto& [name, value] : all[i]) out[i][context.symbol(name)] = value;
  return out;
}

std::string read_file(const std::string& name) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ifstream in(std::string(root ? root : ".") + "/tests/laws/" + name);
  EXPECT_TRUE(in.good()) << name << " is missing; run from the root of the source tree";
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

struct Case {
  const char* program;
  const char* algorithm;
  Tells tells;
  std::vector<Sizes> sizes;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.program; }

class Synchronised : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Source algorithm_source("algorithm", read_file(GetParam().algorithm));
    auto parsed = ir::parse_algorithm(context_, algorithm_source);
    ASSERT_TRUE(parsed.ok()) << render(parsed.diagnostics(), &algorithm_source);
    algorithm_ = *parsed;
    const Source source(GetParam().program,
                        read_file("flow/" + std::string(GetParam().program) + ".twp"));
    auto program = program::parse_program(context_, source);
    ASSERT_TRUE(program.ok()) << render(program.diagnostics(), &source);
    auto made = build::synchronise(context_, polyhedra_, *program, GetParam().tells);
    ASSERT_TRUE(made.ok()) << render(made.diagnostics(), nullptr);
    made_ = *made;
  }

  std::vector<ir::Bindings> all_sizes() { return bindings(context_, GetParam().sizes); }

  ir::Context context_;
  poly::Context polyhedra_;
  ir::Algorithm algorithm_;
  program::Program made_;
};

TEST_P(Synchronised, GivesTheRightNumbersInEveryOrder) {
  EXPECT_EQ(render(program::verify(made_), nullptr), "") << program::print(made_);
  for (const ir::Bindings& sizes : all_sizes())
    expect_right_in_every_order(context_, algorithm_, made_, sizes);
}

TEST_P(Synchronised, NeedsEachOfItsWaits) { expect_each_is_needed(context_, made_, all_sizes()); }

std::vector<Case> cases() {
  const auto gemm = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return Sizes{{"M", m}, {"N", n}, {"K", k}};
  };
  return {
      {"rows", "flow/rows.tw", Tells::Bytes, {{{"N", 32}}, {{"N", 4}}, {{"N", 0}}}},
      {"gemm_ring",
       "agents/gemm.tw",
       Tells::Bytes,
       {gemm(16, 16, 24), gemm(8, 24, 4), gemm(8, 8, 0)}},
      {"systolic_dma",
       "agents/linear_relu.tw",
       Tells::Tokens,
       {{{"M", 40}}, {{"M", 8}}, {{"M", 16}}}},
  };
}

INSTANTIATE_TEST_SUITE_P(Programs, Synchronised, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.program); });

// From an algorithm and a schedule in text.
struct Scheduled {
  const char* name;
  const char* algorithm;
  std::vector<Sizes> sizes;  // the first is that of the twins
};

void PrintTo(const Scheduled& one, std::ostream* out) { *out << one.name; }

class ScheduledForAgents : public testing::TestWithParam<Scheduled> {
 protected:
  void SetUp() override {
    const Source algorithm_source("algorithm", read_file(GetParam().algorithm));
    auto parsed = ir::parse_algorithm(context_, algorithm_source);
    ASSERT_TRUE(parsed.ok()) << render(parsed.diagnostics(), &algorithm_source);
    algorithm_ = *parsed;
    const Source source("schedule", read_file("flow/" + std::string(GetParam().name) + ".tws"));
    auto schedule = directives::parse_schedule(context_, algorithm_, source);
    ASSERT_TRUE(schedule.ok()) << render(schedule.diagnostics(), &source);
    EXPECT_EQ(laws::schedule_json_round_trip(context_, algorithm_, *schedule), "");
    auto made = build::build(context_, polyhedra_, algorithm_, *schedule);
    ASSERT_TRUE(made.ok()) << render(made.diagnostics(), &source);
    made_ = *made;
    arrange_ = [this](ir::TensorMap& inputs) { arrange_groups(context_, inputs); };
  }

  // Groups of 0 to 6 rows, the last up to the end.
  static void arrange_groups(ir::Context& context, ir::TensorMap& inputs) {
    const auto found = inputs.find(context.symbol("start"));
    if (found == inputs.end()) return;
    ir::Tensor& start = found->second;
    const std::int64_t rows = inputs.at(context.symbol("x")).shape[0];
    std::int64_t at = 0;
    for (std::size_t g = 0; g + 1 < start.data.size(); ++g) {
      start.data[g].i = std::min(at, rows);
      at += static_cast<std::int64_t>((g * 5 + 3) % 7);
    }
    start.data.back().i = rows;
  }

  std::vector<ir::Bindings> all_sizes() { return bindings(context_, GetParam().sizes); }

  ir::Context context_;
  poly::Context polyhedra_;
  ir::Algorithm algorithm_;
  program::Program made_;
  std::function<void(ir::TensorMap&)> arrange_;
};

TEST_P(ScheduledForAgents, GivesTheRightNumbersInEveryOrder) {
  EXPECT_EQ(render(program::verify(made_), nullptr), "") << program::print(made_);
  for (const ir::Bindings& sizes : all_sizes())
    expect_right_in_every_order(context_, algorithm_, made_, sizes, arrange_);
}

TEST_P(ScheduledForAgents, NeedsEachOfItsWaits) {
  expect_each_is_needed(context_, made_, all_sizes(), arrange_);
}

TEST_P(ScheduledForAgents, RefusesItsMutants) {
  expect_mutants_are_refused(context_, made_, all_sizes(), arrange_);
}

// The Program is the one in the text: what is derived is read by people too.
TEST_P(ScheduledForAgents, IsTheProgramInTheText) {
  const std::string wanted = read_file("flow/" + std::string(GetParam().name) + ".derived.twp");
  EXPECT_EQ("# SPDX-License-Identifier: Apache-2.0\n" + program::print(made_), wanted);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, ScheduledForAgents,
    testing::Values(
        Scheduled{"gemm_ring",
                  "flow/gemm.tw",
                  {{{"M", 16}, {"N", 16}, {"K", 24}},
                   {{"M", 8}, {"N", 24}, {"K", 4}},
                   {{"M", 8}, {"N", 8}, {"K", 0}},
                   {{"M", 0}, {"N", 8}, {"K", 8}}}},
        Scheduled{"warps",
                  "flow/gemm.tw",
                  {{{"M", 16}, {"N", 8}, {"K", 12}}, {{"M", 8}, {"N", 8}, {"K", 4}}}},
        Scheduled{"gemm_roles",
                  "flow/gemm.tw",
                  {{{"M", 16}, {"N", 8}, {"K", 28}},
                   {{"M", 8}, {"N", 8}, {"K", 44}},
                   {{"M", 8}, {"N", 16}, {"K", 0}},
                   {{"M", 0}, {"N", 8}, {"K", 8}}}},
        Scheduled{"consumers",
                  "flow/gemm.tw",
                  {{{"M", 16}, {"N", 8}, {"K", 20}}, {{"M", 8}, {"N", 8}, {"K", 4}}}},
        Scheduled{"persistent",
                  "flow/gemm.tw",
                  {{{"M", 8}, {"N", 24}, {"K", 16}},
                   {{"M", 16}, {"N", 32}, {"K", 4}},
                   {{"M", 8}, {"N", 40}, {"K", 8}},
                   {{"M", 8}, {"N", 24}, {"K", 12}},
                   {{"M", 8}, {"N", 16}, {"K", 0}},
                   {{"M", 0}, {"N", 8}, {"K", 8}}}},
        Scheduled{"persistent_warps",
                  "flow/gemm.tw",
                  {{{"M", 8}, {"N", 24}, {"K", 12}}, {{"M", 8}, {"N", 32}, {"K", 4}}}},
        Scheduled{"persistent_ring",
                  "flow/gemm.tw",
                  {{{"M", 8}, {"N", 24}, {"K", 16}}, {{"M", 8}, {"N", 32}, {"K", 4}}}},
        Scheduled{"padded",
                  "flow/tail.tw",
                  {{{"M", 4}, {"N", 12}, {"K", 13}},
                   {{"M", 3}, {"N", 1}, {"K", 4}},
                   {{"M", 1}, {"N", 7}, {"K", 0}}}},
        Scheduled{"padded_any",
                  "flow/tail.tw",
                  {{{"M", 4}, {"N", 6}, {"K", 13}},
                   {{"M", 3}, {"N", 1}, {"K", 4}},
                   {{"M", 1}, {"N", 8}, {"K", 0}}}},
        Scheduled{"padded_roles",
                  "flow/tail.tw",
                  {{{"M", 9}, {"N", 5}, {"K", 21}}, {{"M", 2}, {"N", 4}, {"K", 4}}}},
        Scheduled{"three_roles", "flow/chain.tw", {{{"M", 60}}, {{"M", 4}}, {{"M", 0}}}},
        Scheduled{"pipelined_roles", "flow/chain.tw", {{{"M", 60}}, {{"M", 4}}, {{"M", 0}}}},
        Scheduled{"dma_roles", "flow/chain.tw", {{{"M", 60}}, {{"M", 4}}, {{"M", 0}}}},
        Scheduled{"dma", "flow/linear_relu.tw", {{{"M", 40}}, {{"M", 8}}, {{"M", 16}}, {{"M", 0}}}},
        Scheduled{"grouped",
                  "flow/grouped.tw",
                  {{{"R", 31}, {"G", 6}},
                   {{"R", 1}, {"G", 1}},
                   {{"R", 9}, {"G", 4}},
                   {{"R", 0}, {"G", 2}}}}),
    [](const auto& each) { return std::string(each.param.name); });

// What is built from a random algorithm and schedule is right in every order, and no wait stands without need.
struct Counts {
  int built = 0;
  int waits = 0;
};

void expect_sound(const std::string& algorithm_text, const std::string& schedule_text,
                  const std::vector<Sizes>& all, bool each_is_needed, Counts& counts) {
  ir::Context context;
  poly::Context polyhedra;
  const Source algorithm_source("algorithm", algorithm_text);
  auto algorithm = ir::parse_algorithm(context, algorithm_source);
  ASSERT_TRUE(algorithm.ok()) << render(algorithm.diagnostics(), &algorithm_source);
  const Source source("schedule", schedule_text);
  auto schedule = directives::parse_schedule(context, *algorithm, source);
  ASSERT_TRUE(schedule.ok()) << render(schedule.diagnostics(), &source);
  auto made = build::build(context, polyhedra, *algorithm, *schedule);
  if (!made.ok()) {
    if (std::getenv("TILEWRIGHT_SHOW_REFUSALS"))
      std::cout << render(made.diagnostics(), &source) << schedule_text;
    return;
  }
  ++counts.built;
  ASSERT_EQ(render(program::verify(*made), nullptr), "") << program::print(*made);
  const std::vector<ir::Bindings> sizes = bindings(context, all);
  for (const ir::Bindings& one : sizes)
    expect_right_in_every_order(context, *algorithm, *made, one);
  if (each_is_needed) counts.waits += expect_each_is_needed(context, *made, sizes, {}, false);
}

TEST(RandomTeams, AreRightInEveryOrderAndNeedTheirWaits) {
  Counts counts;
  const std::uint64_t first = laws::first_seed();
  const int cases = laws::num_cases(40, 1500);
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(cases); ++seed) {
    const laws::TeamMaker maker(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + maker.algorithm + maker.schedule);
    // What synchronise.h says is left.
    const bool each = !maker.mixes_walking() || std::getenv("TILEWRIGHT_ALL_NEEDED");
    expect_sound(maker.algorithm, maker.schedule,
                 {{{"N", 17}}, {{"N", 5}}, {{"N", 3}}, {{"N", 2}}, {{"N", 1}}, {{"N", 0}}}, each,
                 counts);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(counts.built, cases * 9 / 10);
  EXPECT_GE(counts.waits, cases);
}

// Teams of more lanes than columns.
TEST(RandomTeams, MayHaveIdleMembers) {
  Counts counts;
  const std::uint64_t first = laws::first_seed();
  const int cases = laws::num_cases(12, 1500);
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(cases); ++seed) {
    const laws::PaddedMaker maker(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + maker.schedule);
    std::mt19937_64 random(seed);
    // Without columns there are copies, and nobody who uses them.
    std::vector<Sizes> sizes = {{{"M", 4}, {"N", 6}, {"K", 13}}, {{"M", 4}, {"N", 0}, {"K", 13}}};
    for (int i = 0; i < 2; ++i)
      sizes.push_back({{"M", static_cast<std::int64_t>(random() % 6)},
                       {"N", static_cast<std::int64_t>(random() % 12)},
                       {"K", static_cast<std::int64_t>(random() % 10)}});
    expect_sound(laws::PaddedMaker::kAlgorithm, maker.schedule, sizes, true, counts);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(counts.built, cases * 9 / 10);
  EXPECT_GE(counts.waits, cases);
}

}  // namespace
}  // namespace tilewright
