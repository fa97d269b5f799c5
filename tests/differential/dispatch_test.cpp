// SPDX-License-Identifier: Apache-2.0
//
// One function with several variants, as object code and as C: at the edges of each guard the variant that ran is
// the one that the guards, written out again here, say, and the one that NAME_explain names; the workspace that
// NAME_query tells is that variant's. Each variant stores its own number, so the output says who ran.
#include "lowering/program/dispatch.h"

#include <limits>

#include "frontend/ir/text.h"
#include "tests/differential/compiled_program.h"

namespace tilewright::test {
namespace {

// `y[0]` is the number; the second variant has a buffer of M floats in the workspace.
std::string program_text(int number, const std::string& guard, bool with_workspace) {
  std::string text =
      "program which for which {\n"
      "  extent M min 0 max 4611686018427387904\n"
      "  extent N min 1\n" +
      (guard.empty() ? std::string() : "  requires " + guard + "\n") +
      "  input x : u8[M]\n"
      "  input w : u8[N]\n"
      "  output y : i32[1]\n";
  const std::string store = "y[0] = " + std::to_string(number) + "\n";
  if (!with_workspace) return text + "  " + store + "}\n";
  return text +
         "  alloc t : f32[M] in workspace {\n    for i in 0 .. M {\n      t[i] = 1.0\n    }\n    " +
         store + "  }\n}\n";
}

class Dispatched : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr std::size_t kVariants = 4;
  // The same as in `expected`.
  static constexpr const char* kGuards[] = {"M <= 4", "M <= N * 8, N % 8 == 0",
                                            "M >= 100 || N == 7", ""};
  static std::size_t expected(std::int64_t m, std::int64_t n) {
    if (m <= 4) return 0;
    if (m <= 8 * n && n % 8 == 0) return 1;
    if (m >= 100 || n == 7) return 2;
    return 3;
  }

  Dispatched() : error_{} {
    std::vector<program::Variant> variants;
    for (std::size_t i = 0; i < kVariants; ++i) {
      program::Variant variant;
      variant.name = "v" + std::to_string(i);
      variant.program = parse(context_, program_text(static_cast<int>(i), kGuards[i], i == 1));
      variant.guard = variant.program.requirements;
      variants.push_back(std::move(variant));
    }
    auto dispatch = program::derive_dispatch(context_, std::move(variants));
    EXPECT_TRUE(dispatch.ok()) << messages(dispatch.diagnostics());
    if (!dispatch.ok()) return;
    dispatch_ = *std::move(dispatch);
    const host::Target target = std::string_view(GetParam()) == c_target::kName
                                    ? c_stand_in()
                                    : *host::find_target(GetParam());
    library_.emplace(context_, dispatch_, target);
    error_.struct_size = sizeof error_;
    call_ = tilewright_call_make(nullptr, &error_);
  }

  // One byte stands for all of x and w: no variant reads them.
  void shape(std::int64_t m, std::int64_t n) {
    extents_[0] = m;
    extents_[1] = n;
    extents_[2] = 1;
    const DLDataType types[] = {{kDLUInt, 8, 1}, {kDLUInt, 8, 1}, {kDLInt, 32, 1}};
    for (int i = 0; i < 3; ++i) {
      tensors_[i] = {};
      tensors_[i].dl.data = i == 2 ? static_cast<void*>(&result_) : bytes_ + 64 * i;
      tensors_[i].dl.device.device_type = kDLCPU;
      tensors_[i].dl.ndim = 1;
      tensors_[i].dl.dtype = types[i];
      tensors_[i].dl.shape = &extents_[i];
    }
  }
  std::vector<tilewright_tensor*> tensors() { return {&tensors_[0], &tensors_[1], &tensors_[2]}; }

  ir::Context context_;
  program::Dispatch dispatch_;
  std::optional<CompiledProgram> library_;
  tilewright_error error_;
  tilewright_call call_{};
  std::int64_t extents_[3] = {};
  tilewright_tensor tensors_[3] = {};
  std::int32_t result_ = -1;
  alignas(64) unsigned char workspace_[4096] = {};
  // Last: what begins here may be said to be longer than it is.
  unsigned char bytes_[1024] = {};
};

TEST_P(Dispatched, WhatRanIsWhatTheGuardsAndExplainSay) {
  ASSERT_TRUE(library_ && library_->ready());
  std::set<std::size_t> seen;
  for (std::int64_t m :
       {0, 1, 3, 4, 5, 6, 7, 13, 14, 15, 16, 17, 31, 32, 33, 98, 99, 100, 101, 399})
    for (std::int64_t n : {1, 2, 3, 6, 7, 8, 9, 15, 16, 17, 24}) {
      shape(m, n);
      const std::size_t wanted = expected(m, n);
      seen.insert(wanted);
      std::size_t size = 1;
      ASSERT_EQ(library_->query(&call_, tensors(), &size), TILEWRIGHT_OK);
      EXPECT_EQ(size, wanted == 1 ? (static_cast<std::size_t>(m) * 4 + 63) / 64 * 64 : 0U);
      result_ = -1;
      ASSERT_EQ(library_->run(&call_, tensors(), workspace_, size), TILEWRIGHT_OK);
      EXPECT_EQ(result_, static_cast<std::int32_t>(wanted)) << m << ", " << n;
      const auto [status, text] = library_->explain(&call_, tensors());
      EXPECT_EQ(status, TILEWRIGHT_OK);
      EXPECT_NE(text.find("\nv" + std::to_string(wanted) + ": runs: "), std::string::npos) << text;
      EXPECT_EQ(text.find(": runs: "), text.rfind(": runs: ")) << text;
      EXPECT_EQ(program::choose(dispatch_, {{context_.symbol("M"), m}, {context_.symbol("N"), n}}),
                wanted);
      if (size == 0) continue;
      result_ = -1;
      EXPECT_EQ(library_->run(&call_, tensors(), workspace_, size - 1),
                TILEWRIGHT_WORKSPACE_TOO_SMALL);
      EXPECT_EQ(result_, -1);
    }
  EXPECT_EQ(seen.size(), kVariants);
}

TEST_P(Dispatched, TheTextSaysWhyWithTheNumbers) {
  ASSERT_TRUE(library_ && library_->ready());
  shape(20, 16);
  EXPECT_EQ(library_->explain(&call_, tensors()).second,
            "which: M = 20, N = 16\n"
            "v0: no: `M <= 4` fails (20 <= 4)\n"
            "v1: runs: `M <= N * 8` holds (20 <= 128), `N % 8 == 0` holds (0 == 0)\n"
            "v2: comes later: `M >= 100 || N == 7` fails\n"
            "v3: comes later: every size\n"
            "workspace: 128 bytes\n");
  // The checks of a call come before; the table stays where its sizes are known.
  tensors_[2].flags = TILEWRIGHT_TENSOR_READ_ONLY;
  const auto [status, text] = library_->explain(&call_, tensors());
  EXPECT_EQ(status, TILEWRIGHT_READ_ONLY);
  EXPECT_EQ(
      text.substr(text.find("workspace")),
      "workspace: 128 bytes\nrefused: TILEWRIGHT_READ_ONLY: y: an output is marked read-only\n");
  shape(20, 0);
  EXPECT_EQ(library_->explain(&call_, tensors()).second,
            "refused: TILEWRIGHT_WRONG_SHAPE: w[0]: the extent is below its declared minimum: "
            "expected 1, got 0\n");
  EXPECT_EQ(library_->explain(nullptr, tensors()),
            (std::pair<std::int32_t, std::string>(
                TILEWRIGHT_NULL_ARGUMENT,
                "refused: TILEWRIGHT_NULL_ARGUMENT: the call context, its executor or its error "
                "detail is malformed\n")));
}

// 8 * N leaves 64 bits: the guard does not hold, and nothing wraps around into another variant.
TEST_P(Dispatched, AGuardThatOverflowsDoesNotHold) {
  ASSERT_TRUE(library_ && library_->ready());
  shape(50, (std::int64_t{1} << 61) - 8);  // about the most that a parameter may have
  EXPECT_EQ(extents_[1] % 8, 0);
  EXPECT_EQ(library_->run(&call_, tensors(), workspace_, 0), TILEWRIGHT_OK) << error_.message;
  EXPECT_EQ(result_, 3);
  EXPECT_NE(library_->explain(&call_, tensors()).second.find("\nv3: runs: every size\n"),
            std::string::npos);
}

// A formula of the workspace that only a variant which does not run cannot compute is no error.
TEST_P(Dispatched, OnlyTheChosenVariantsWorkspaceMustFit) {
  ASSERT_TRUE(library_ && library_->ready());
  const std::int64_t huge = (std::int64_t{1} << 61) - 1;  // the most that a parameter may have
  shape(huge, 7);
  std::size_t size = 1;
  EXPECT_EQ(library_->query(&call_, tensors(), &size), TILEWRIGHT_OK) << error_.message;
  EXPECT_EQ(size, 0U);
  shape(huge, std::int64_t{1} << 59);
  EXPECT_EQ(library_->query(&call_, tensors(), &size), TILEWRIGHT_OUT_OF_BOUNDS);
  const auto [status, text] = library_->explain(&call_, tensors());
  EXPECT_EQ(status, TILEWRIGHT_OUT_OF_BOUNDS) << text;
  EXPECT_NE(text.find("workspace: more bytes than 64 bits count\nrefused: "), std::string::npos)
      << text;
}

INSTANTIATE_TEST_SUITE_P(Targets, Dispatched, ::testing::Values("x86-64-v3", "c"),
                         [](const auto& param) {
                           return std::string(param.param) == "c" ? "C" : "X86";
                         });

}  // namespace
}  // namespace tilewright::test
