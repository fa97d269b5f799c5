// SPDX-License-Identifier: Apache-2.0
//
// What a library does with values that break what is declared of them: a status and a place, before anything is
// written; or the clamp. Each buffer has a wall around it, so a stray read or write shows under the sanitizer
// and in the poison.
#include "frontend/ir/interpret.h"
#include "frontend/ir/text.h"
#include "lowering/build/build.h"
#include "lowering/program/interpret.h"
#include "schedules/tree/tree.h"
#include "tests/differential/compiled_program.h"

namespace tilewright::test {
namespace {

constexpr const char* kAlgorithm = R"(algorithm facts(N, M, D) {
  input x : f32[N, D]
  input row : i32[M] range 0 .. N
  input near : i64[M] range 0 .. N clamp
  input rising : i32[M] range 0 .. M + 1 monotone
  input once : i32[2, M] range 0 .. 2 * M injective
  input trusted : i32[M] range 0 .. N assumed
  input far : u8[M] range 0 .. 256 monotone
  input code : u4[M]
  input table : f32[16]
  output y[i < M, d] = x[row[i], d] + x[near[i], d] + x[trusted[i], d]
  output z[i < M] = sum(k < rising[i]) f32(k) on_empty -1
  output v[i < M] = f32(far[i]) * table[code[i]]
  output w[p < 2 * M] = update i32(-1) last(r < 2, i < M) at [once[r, i]] i32(row[i])
})";

class Facts : public ::testing::Test {
 protected:
  Facts() : target_(*host::find_target("x86-64-v3")) {
    const Source source("facts", kAlgorithm);
    algorithm_ = *ir::parse_algorithm(context_, source);
    tree::Schedule schedule;
    schedule.name = context_.symbol("plain");
    schedule.algorithm = algorithm_.name;
    schedule.tree = tree::default_tree(algorithm_);
    poly::Context polyhedra;
    program_ = *build::build(context_, polyhedra, algorithm_, schedule);
    library_.emplace(context_, program_, target_);
    error_.struct_size = sizeof(error_);
    call_ = tilewright_call_make(nullptr, &error_);
    bindings_ = {{context_.symbol("N"), 5}, {context_.symbol("M"), 4}, {context_.symbol("D"), 3}};
    inputs_ = ir::random_inputs(algorithm_, bindings_, 1);
  }

  ir::Tensor& input(const char* name) { return inputs_.at(context_.symbol(name)); }

  std::int32_t run() {
    arguments_.clear();
    arguments_.reserve(program_.parameters.size());
    std::vector<tilewright_tensor*> tensors;
    for (const program::Parameter& parameter : program_.parameters) {
      arguments_.emplace_back(parameter, bindings_);
      std::mt19937_64 random(3);
      arguments_.back().fill(parameter.is_output ? random_tensor(parameter, bindings_, random, true)
                                                 : inputs_.at(parameter.name));
      tensors.push_back(&arguments_.back().descriptor);
    }
    before_.clear();
    for (const Argument& argument : arguments_) before_.push_back(argument.read());
    error_ = {};
    error_.struct_size = sizeof(error_);
    return library_->run(&call_, tensors, workspace_, sizeof(workspace_));
  }

  void expect_refused(const char* name, std::int64_t position) {
    EXPECT_EQ(run(), TILEWRIGHT_BAD_VALUES) << error_.message;
    EXPECT_EQ(program_.parameters[static_cast<std::size_t>(error_.argument)].name.text(), name);
    EXPECT_EQ(error_.got, position);
    for (std::size_t p = 0; p < arguments_.size(); ++p) {
      const ir::Tensor after = arguments_[p].read();
      for (std::size_t i = 0; i < after.data.size(); ++i)
        EXPECT_TRUE(same_bits(before_[p], after, i)) << "nothing is written";
    }
    // The interpreters refuse the same call.
    auto algorithm = ir::interpret(algorithm_, bindings_, inputs_);
    ASSERT_FALSE(algorithm.ok());
    EXPECT_EQ(algorithm.diagnostics()[0].code, Code::FactBroken);
    auto program = program::interpret(context_, program_, bindings_, inputs_);
    ASSERT_FALSE(program.ok());
    EXPECT_EQ(program.diagnostics()[0].code, Code::FactBroken);
  }

  void expect_right() {
    ASSERT_EQ(run(), TILEWRIGHT_OK) << error_.message;
    auto expected =
        ir::interpret(algorithm_, bindings_, inputs_, {ir::Reading::Exact, {}, 1000000});
    ASSERT_TRUE(expected.ok());
    for (std::size_t p = 0; p < arguments_.size(); ++p) {
      if (!program_.parameters[p].is_output) continue;
      const ir::Tensor got = arguments_[p].read();
      const ir::Tensor& wanted = expected->at(program_.parameters[p].name);
      for (std::size_t i = 0; i < got.data.size(); ++i)
        EXPECT_TRUE(same_bits(wanted, got, i)) << program_.parameters[p].name.text() << " " << i;
    }
  }

  ir::Context context_;
  host::Target target_;
  ir::Algorithm algorithm_;
  program::Program program_;
  std::optional<CompiledProgram> library_;
  ir::Bindings bindings_;
  ir::TensorMap inputs_;
  std::vector<Argument> arguments_;
  std::vector<ir::Tensor> before_;
  tilewright_error error_{};
  tilewright_call call_{};
  alignas(64) unsigned char workspace_[4096] = {};
};

TEST_F(Facts, RightValues) { expect_right(); }

TEST_F(Facts, OutsideOfTheRange) {
  for (const std::int64_t value :
       {std::int64_t{-1}, std::int64_t{5}, std::int64_t{2147483647}, std::int64_t{-2147483648}}) {
    const ir::Scalar kept = input("row").data[3];
    input("row").data[3].i = value;
    expect_refused("row", 3);
    input("row").data[3] = kept;
  }
  expect_right();
}

TEST_F(Facts, ClampedFromFarOutside) {
  input("near").data[0].i = std::numeric_limits<std::int64_t>::min();
  input("near").data[1].i = std::numeric_limits<std::int64_t>::max();
  input("near").data[2].i = 5;
  input("near").data[3].i = -1;
  expect_right();
}

// The upper half of an unsigned type is large, not negative; four bits are in 0 .. 16 and need no fact.
TEST_F(Facts, UnsignedValues) {
  for (std::size_t i = 0; i < 4; ++i) {
    input("far").data[i].i = 100 + 50 * static_cast<std::int64_t>(i);
    input("code").data[i].i = 15 - 5 * static_cast<std::int64_t>(i);
  }
  expect_right();
  input("far").data[3].i = 199;
  expect_refused("far", 3);
}

TEST_F(Facts, Falling) {
  for (std::size_t i = 0; i < 4; ++i) input("rising").data[i].i = static_cast<std::int64_t>(i);
  expect_right();
  input("rising").data[2].i = 0;
  expect_refused("rising", 2);
}

TEST_F(Facts, TwiceInARow) {
  // Twice in the tensor is right where it is in two rows.
  for (std::size_t i = 0; i < 8; ++i) input("once").data[i].i = static_cast<std::int64_t>(i % 4);
  expect_right();
  input("once").data[6].i = 0;
  expect_refused("once", 6);
}

TEST_F(Facts, NothingToClampTo) {
  bindings_[context_.symbol("N")] = 0;
  inputs_ = ir::random_inputs(algorithm_, bindings_, 1);
  EXPECT_EQ(run(), TILEWRIGHT_BAD_VALUES);
  // Without values nothing is clamped.
  bindings_[context_.symbol("M")] = 0;
  inputs_ = ir::random_inputs(algorithm_, bindings_, 1);
  expect_right();
}

}  // namespace
}  // namespace tilewright::test
