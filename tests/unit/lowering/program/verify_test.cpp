// SPDX-License-Identifier: Apache-2.0
//
// The verifier of programs on what only tools can make; what text can say is in tests/text/diagnostics.
#include "lowering/program/verify.h"

#include <gtest/gtest.h>

#include "lowering/program/text.h"

namespace tilewright::program {
namespace {

Program twice(ir::Context& context) {
  auto parsed = parse_program(context, Source("case.twp", R"(program twice for twice {
  extent N
  input x : f32[N]
  output y : f32[N]
  for n in 0 .. N { y[n] = x[n] * 2.0 }
})"));
  EXPECT_TRUE(parsed.ok());
  return parsed.ok() ? *parsed : Program{};
}

bool finds(const Program& program, Code code) {
  for (const Diagnostic& diagnostic : verify(program))
    if (diagnostic.code == code) return true;
  return false;
}

TEST(VerifyProgram, AMissingValueIsMalformed) {
  ir::Context context;
  Program program = twice(context);
  EXPECT_TRUE(verify(program).empty());
  program.body = make_store(context, context.symbol("y"), std::vector{context.index(0)}, Expr{},
                            OriginRole::Value, {}, {});
  EXPECT_TRUE(finds(program, Code::Malformed));
}

TEST(VerifyProgram, AFoldHasNoPlace) {
  ir::Context context;
  Program program = twice(context);
  const Symbol k = context.symbol("k");
  const Expr body = context.read(context.symbol("x"), std::vector{context.var(k)}, ScalarType::F32);
  const Expr fold = context.fold(ir::Monoid::Sum, std::vector{k}, std::vector{context.index(0)},
                                 std::vector{context.index(3)}, body);
  program.body = make_store(context, context.symbol("y"), std::vector{context.index(0)}, fold,
                            OriginRole::Value, {}, {});
  EXPECT_TRUE(finds(program, Code::FoldInProgram));
}

}  // namespace
}  // namespace tilewright::program
