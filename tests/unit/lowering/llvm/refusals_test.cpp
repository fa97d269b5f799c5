// SPDX-License-Identifier: Apache-2.0
//
// What no program that passed the verifier can provoke: the code generator still answers with a diagnostic.
#include <gtest/gtest.h>

#include "lowering/llvm/compile.h"
#include "lowering/program/contract.h"
#include "lowering/program/text.h"

namespace tilewright::llvm_wall {
namespace {

constexpr const char* kTwice = R"(program twice for twice {
  extent N
  input x : f32[N]
  output y : f32[N]
  for n in 0 .. N { y[n] = x[n] * 2.0 }
})";

struct Case {
  ir::Context context;
  program::Program program;
  Case() {
    auto parsed = program::parse_program(context, Source("case.twp", kTwice));
    EXPECT_TRUE(parsed.ok());
    if (parsed.ok()) program = *parsed;
  }
  Result<Object> compile(const TargetOptions& target = {}) {
    auto dispatch = program::single_dispatch(context, program, "alone");
    EXPECT_TRUE(dispatch.ok());
    return compile_function(context, *dispatch, target);
  }
};

TEST(Refusals, AFoldIsUnsupportedByTarget) {
  Case c;
  const Symbol k = c.context.symbol("k");
  const ir::Expr zero = c.context.index(0);
  const ir::Expr body =
      c.context.read(c.context.symbol("x"), std::vector{c.context.var(k)}, ir::ScalarType::F32);
  const ir::Expr fold = c.context.fold(ir::Monoid::Sum, std::vector{k}, std::vector{zero},
                                       std::vector{c.context.index(3)}, body);
  c.program.body = program::make_store(c.context, c.context.symbol("y"), std::vector{zero}, fold,
                                       program::OriginRole::Value, {}, {});
  const auto object = c.compile();
  ASSERT_FALSE(object.ok());
  EXPECT_EQ(object.diagnostics()[0].code, Code::UnsupportedByTarget);
}

// The verifier refuses such a condition; a caller that skips it gets LLVM's own complaint as a diagnostic.
TEST(Refusals, AConditionThatIsNoBoolIsMalformedIr) {
  Case c;
  const ir::Expr extent = c.context.extent(c.context.symbol("N"));
  c.program.body = program::make_if(c.context, extent, c.program.body);
  const auto object = c.compile();
  ASSERT_FALSE(object.ok());
  EXPECT_EQ(object.diagnostics()[0].code, Code::CodeGeneration);
}

TEST(Refusals, AVectorLoopInsideAVectorLoop) {
  Case c;
  const Symbol y = c.context.symbol("y");
  const Symbol i = c.context.symbol("i");
  const Symbol j = c.context.symbol("j");
  auto vector = [&](Symbol var, program::Stmt body) {
    return program::make_for(c.context, program::LoopKind::Vector, var, c.context.index(0),
                             c.context.index(4), body);
  };
  const ir::Expr at = c.context.add(c.context.var(i), c.context.var(j));
  const program::Stmt store =
      program::make_store(c.context, y, std::vector{at}, c.context.constant(ir::ScalarType::F32, 1),
                          program::OriginRole::Value, {}, {});
  c.program.body = vector(i, vector(j, store));
  const auto object = c.compile();
  ASSERT_FALSE(object.ok());
  EXPECT_EQ(object.diagnostics()[0].code, Code::NestedVector);
}

TEST(Refusals, AnUnknownTripleIsNoTarget) {
  Case c;
  TargetOptions target;
  target.triple = "nonsense-unknown-unknown";
  const auto object = c.compile(target);
  ASSERT_FALSE(object.ok());
  EXPECT_EQ(object.diagnostics()[0].code, Code::UnknownTarget);
}

}  // namespace
}  // namespace tilewright::llvm_wall
