// SPDX-License-Identifier: Apache-2.0
//
// Programs with a plan: what well-formed ones are, that the two parts give what the whole gives, and that a run with a
// plan copies nothing.
#include "lowering/program/plan.h"

#include <gtest/gtest.h>

#include "lowering/program/dispatch.h"
#include "lowering/program/interpret.h"
#include "lowering/program/json.h"
#include "lowering/program/text.h"
#include "lowering/program/verify.h"

namespace tilewright::program {
namespace {

// c = a w, with w packed into panels of 4 columns.
constexpr const char* kProduct = R"(program product for product {
  extent M
  extent N
  extent K
  input a : f32[M, K]
  const input w : f32[K, N]
  output c : f32[M, N]
  alloc wp : f32[(N + 3) / 4, K, 4] in plan {
    for jo in 0 .. (N + 3) / 4 {
      for k in 0 .. K {
        for ji in 0 .. 4 {
          if jo * 4 + ji < N {
            wp[jo, k, ji] = w[k, jo * 4 + ji] @ copy w(k, jo * 4 + ji)
          } else {
            wp[jo, k, ji] = f32(0) @ pad w(k, jo * 4 + ji)
          }
        }
      }
    }
    for i in 0 .. M {
      for j in 0 .. N {
        c[i, j] = f32(0)
        for k2 in 0 .. K {
          c[i, j] = fma(a[i, k2], wp[j / 4, k2, j % 4], c[i, j])
        }
      }
    }
  }
})";

class Plan : public ::testing::Test {
 protected:
  Program parse(const std::string& text) {
    auto parsed = parse_program(context_, Source("test.twp", text));
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.diagnostics()[0].message);
    return parsed.ok() ? *parsed : Program{};
  }
  // The one finding of a program; `from` replaced by `to` in kProduct.
  std::string fault(const std::string& from, const std::string& to) {
    std::string text = kProduct;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    auto parsed = parse_program(context_, Source("test.twp", text));
    if (parsed.ok()) return "none";
    EXPECT_EQ(parsed.diagnostics()[0].code, Code::PlanBuffer);
    return parsed.diagnostics()[0].message;
  }
  static ir::Tensor ramp(std::vector<std::int64_t> shape, double step) {
    ir::Tensor out = ir::make_tensor(ir::ScalarType::F32, std::move(shape));
    for (std::size_t i = 0; i < out.data.size(); ++i)
      out.data[i].f = 1.0 + step * static_cast<double>(i);
    return out;
  }
  ir::Context context_;
};

TEST_F(Plan, RoundTripsAsTextAndJson) {
  const Program program = parse(kProduct);
  EXPECT_EQ(print(program), std::string(kProduct) + "\n");
  auto back = program_from_json(context_, to_json(program));
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(*back == program);
  EXPECT_TRUE(verify(program).empty());
}

TEST_F(Plan, TheTwoPartsGiveTheWholeAndTheSecondCopiesNothing) {
  const Program program = parse(kProduct);
  ASSERT_TRUE(has_plan(program));
  auto planned = split_plan(context_, program);
  ASSERT_TRUE(planned.ok());
  for (const std::int64_t n : {0, 1, 3, 4, 5, 9}) {
    const std::int64_t k = 3;
    ir::TensorMap inputs{{context_.symbol("w"), ramp({k, n}, 0.5)}};
    ir::Bindings sizes{
        {context_.symbol("M"), 0}, {context_.symbol("N"), n}, {context_.symbol("K"), k}};
    ir::TensorMap plan;
    std::int64_t copies_with_plans = 0;
    std::int64_t copies_without = 0;
    // Made at one M, used at others.
    for (const std::int64_t m : {16, 1, 2}) {
      sizes[context_.symbol("M")] = m;
      inputs[context_.symbol("a")] = ramp({m, k}, 0.25);
      if (plan.empty()) {
        auto made = interpret(context_, planned->plan, sizes, inputs);
        ASSERT_TRUE(made.ok()) << made.diagnostics()[0].message;
        EXPECT_EQ(made->copies, k * n);
        copies_with_plans += made->copies;
        plan = made->outputs;
      }
      ir::TensorMap with_plan = inputs;
      with_plan.insert(plan.begin(), plan.end());
      auto whole = interpret(context_, program, sizes, inputs);
      auto run = interpret(context_, planned->run, sizes, with_plan);
      ASSERT_TRUE(whole.ok() && run.ok());
      EXPECT_EQ(ir::tensor_bytes(run->outputs.at(context_.symbol("c"))),
                ir::tensor_bytes(whole->outputs.at(context_.symbol("c"))));
      EXPECT_EQ(run->copies, 0);
      copies_with_plans += run->copies;
      copies_without += whole->copies;
    }
    EXPECT_EQ(copies_with_plans, k * n);
    EXPECT_EQ(copies_without, 3 * k * n);
  }
}

TEST_F(Plan, ItDependsOnTheSizesOfItsBuffersAlone) {
  auto planned = split_plan(context_, parse(kProduct));
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned->depends_on, (std::vector<bool>{false, true, true}));
  ASSERT_EQ(planned->buffers.size(), 1U);
  const ir::Bindings sizes{
      {context_.symbol("M"), 5}, {context_.symbol("N"), 9}, {context_.symbol("K"), 3}};
  // 3 panels of 3 rows of 4 floats, up to a multiple of 64.
  EXPECT_EQ(ir::evaluate_extents(planned->bytes, sizes), 192);
  EXPECT_EQ(plan_head_bytes(parse(kProduct)), 64);
  // A guard makes no other plan; another layout does.
  std::string guarded = kProduct;
  guarded.insert(guarded.find("  input a"), "  requires M <= 4\n");
  auto same = split_plan(context_, parse(guarded));
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->hash[0], planned->hash[0]);
  std::string wider = kProduct;
  // One row more than is needed: other bytes for the same reader.
  wider.replace(wider.find("(N + 3) / 4, K, 4]"), 18, "(N + 7) / 4, K, 4]");
  wider.replace(wider.find("0 .. (N + 3) / 4"), 16, "0 .. (N + 7) / 4");
  auto other = split_plan(context_, parse(wider));
  ASSERT_TRUE(other.ok());
  EXPECT_NE(other->hash[0], planned->hash[0]);
}

// Values were checked against the bounds at which the plan was made.
TEST_F(Plan, ItDependsOnTheBoundsOfItsValues) {
  const std::string text = R"(program gather for gather {
  extent N
  extent T
  extent U
  const input row : i32[N] range 0 .. T
  const input other : i32[N] range 0 .. U
  input x : f32[T]
  input z : f32[U]
  output y : f32[N]
  alloc held : i32[N] in plan {
    for i in 0 .. N {
      held[i] = row[i]
    }
    for n in 0 .. N {
      y[n] = x[index(held[n])] + z[index(other[n])]
    }
  }
})";
  auto planned = split_plan(context_, parse(text));
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned->depends_on, (std::vector<bool>{true, true, false}));
  // Every call marks in its workspace what it has seen: a plan has none.
  std::string marked = text;
  marked.replace(marked.find("0 .. T"), 6, "0 .. T injective");
  auto refused = parse_program(context_, Source("test.twp", marked));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.diagnostics()[0].code, Code::PlanBuffer);
  EXPECT_EQ(refused.diagnostics()[0].message,
            "what fills `held` reads `row`, which every call checks to be injective");
  marked.replace(marked.find("injective"), 9, "injective assumed");
  EXPECT_TRUE(parse_program(context_, Source("test.twp", marked)).ok());
}

// What fills it is gone once loops that never run are.
TEST_F(Plan, ABufferWithoutCellsNeedsNoFill) {
  const Program program = parse(R"(program none for none {
  extent N
  const input w : f32[0]
  const input s : f32[]
  output y : f32[N]
  alloc wp : f32[0] in plan {
    alloc sp : f32[] in plan {
      sp[] = s[]
      for n in 0 .. N {
        y[n] = sp[]
      }
    }
  }
})");
  auto planned = split_plan(context_, program);
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned->buffers.size(), 2U);
  EXPECT_EQ(ir::evaluate_extents(planned->bytes, {}), 64);
}

TEST_F(Plan, WhatIsNoPlanIsRefused) {
  EXPECT_EQ(fault("const input w", "input w"), "what fills `wp` reads `w`, which is not constant");
  EXPECT_EQ(fault("w[k, jo * 4 + ji] @", "w[k, jo * 4 + ji] + a[0, k] @"),
            "what fills `wp` reads `a`, which is not constant");
  // What writes it directly after the fill counts as a part of it.
  EXPECT_EQ(fault("c[i, j] = f32(0)\n", "c[i, j] = f32(0)\n        wp[0, 0, 0] = 1.0\n"),
            "what fills `wp` stores to `c`");
  EXPECT_EQ(
      fault("    for i in 0 .. M {\n      for j in 0 .. N {\n",
            "    c[0, 0] = 1.0\n    for i in 0 .. M {\n      for j in 0 .. N {\n        wp[0, "
            "0, 0] = 1.0\n"),
      "a buffer of the plan, `wp`, is written after it was filled");
  EXPECT_EQ(fault("for k2 in 0 .. K {\n",
                  "alloc t : f32[N] in plan {\n          t[0] = 0.0\n        "
                  "}\n        for k2 in 0 .. K {\n"),
            "`t` is a buffer of the plan and does not stand at the root of the program");
  EXPECT_EQ(fault("    for jo in 0", "    c[0, 0] = 0.0\n    for jo in 0"),
            "nothing fills `wp` at the start of its body");
  EXPECT_EQ(fault("wp[jo, k, ji] = f32(0) @ pad w(k, jo * 4 + ji)",
                  "c[0, 0] = 0.0 @ pad w(k, jo * 4 + ji)"),
            "what fills `wp` stores to `c`");
}

TEST_F(Plan, ACallWithoutOneHasTheBuffersInItsWorkspace) {
  auto dispatch = single_dispatch(context_, parse(kProduct), "packed");
  ASSERT_TRUE(dispatch.ok());
  ASSERT_TRUE(dispatch->has_plan());
  const ir::Bindings sizes{
      {context_.symbol("M"), 5}, {context_.symbol("N"), 9}, {context_.symbol("K"), 3}};
  EXPECT_EQ(ir::evaluate_extents(dispatch->contract.workspace.total, sizes), 192);
  EXPECT_TRUE(dispatch->run_reads(dispatch->interface.parameters[0]));
  EXPECT_FALSE(dispatch->run_reads(dispatch->interface.parameters[1]));
  int plan_checks = 0;
  for (const Check& check : dispatch->contract.checks) plan_checks += is_plan_check(check.kind);
  // Size, alignment, three tensors and the workspace, magic, variant, N and K.
  EXPECT_EQ(plan_checks, 10);
}

}  // namespace
}  // namespace tilewright::program
