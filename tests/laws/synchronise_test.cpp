// SPDX-License-Identifier: Apache-2.0
//
// Synchronisation that is derived: a Program that says what is asynchronous and synchronises nothing becomes one
// that gives the right numbers however its operations are timed, and of which the interpreter, which knows
// nothing of the derivation, refuses every version without one of its waits, syncs and fences.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "frontend/base/render.h"
#include "frontend/ir/interpret.h"
#include "frontend/ir/text.h"
#include "lowering/build/synchronise.h"
#include "lowering/program/interpret.h"
#include "lowering/program/text.h"
#include "lowering/program/verify.h"
#include "tests/laws/orders.h"

namespace tilewright {
namespace {

using build::Tells;
using Sizes = std::vector<std::pair<const char*, std::int64_t>>;

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
    const Source source(GetParam().program, read_file("flow/" + std::string(GetParam().program) + ".twp"));
    auto program = program::parse_program(context_, source);
    ASSERT_TRUE(program.ok()) << render(program.diagnostics(), &source);
    auto made = build::synchronise(context_, polyhedra_, *program, GetParam().tells);
    ASSERT_TRUE(made.ok()) << render(made.diagnostics(), nullptr);
    made_ = *made;
  }

  ir::Bindings bindings(const Sizes& sizes) {
    ir::Bindings out;
    for (const auto& [name, value] : sizes) out[context_.symbol(name)] = value;
    return out;
  }

  ir::Context context_;
  poly::Context polyhedra_;
  ir::Algorithm algorithm_;
  program::Program made_;
};

TEST_P(Synchronised, GivesTheRightNumbersInEveryOrder) {
  EXPECT_EQ(render(program::verify(made_), nullptr), "") << program::print(made_);
  for (const Sizes& sizes : GetParam().sizes)
    expect_right_in_every_order(context_, algorithm_, made_, bindings(sizes));
}

TEST_P(Synchronised, NeedsEachOfItsWaits) {
  expect_each_is_needed(context_, made_, bindings(GetParam().sizes[0]));
}

std::vector<Case> cases() {
  const auto gemm = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return Sizes{{"M", m}, {"N", n}, {"K", k}};
  };
  return {
      {"rows", "flow/rows.tw", Tells::Bytes, {{{"N", 32}}, {{"N", 4}}, {{"N", 0}}}},
      {"gemm_ring", "agents/gemm.tw", Tells::Bytes, {gemm(16, 16, 24), gemm(8, 24, 4), gemm(8, 8, 0)}},
      {"systolic_dma", "agents/linear_relu.tw", Tells::Tokens, {{{"M", 40}}, {{"M", 8}}, {{"M", 16}}}},
  };
}

INSTANTIATE_TEST_SUITE_P(Programs, Synchronised, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.program); });

}  // namespace
}  // namespace tilewright
