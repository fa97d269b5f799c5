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

// What has nothing in it is refused, inside agents and operations too, and never followed.
TEST(VerifyProgram, EmptyNodesOfEveryKindAreRefused) {
  ir::Context context;
  Program program = twice(context);
  std::vector<Stmt> empty;
#define TILEWRIGHT_STMT(Kind) empty.push_back(make(context, Kind{}));
#include "lowering/program/stmt_kinds.def"
#undef TILEWRIGHT_STMT
  for (Stmt stmt : empty) {
    // These mean something without contents.
    if (stmt.as<Block>() || stmt.as<Concurrent>() || stmt.as<Fence>()) continue;
    program.body = stmt;
    EXPECT_FALSE(verify(program).empty()) << stmt_kind_text(stmt.kind());
    Role role;
    role.name = context.symbol("r");
    role.body = stmt;
    const Stmt roles[] = {make(context, role)};
    Concurrent set;
    set.roles = roles;
    program.body = make(context, set);
    EXPECT_FALSE(verify(program).empty()) << stmt_kind_text(stmt.kind());
  }
}

TEST(VerifyProgram, AnAtomicHasANameAndABodyOrNeither) {
  ir::Context context;
  Program program = twice(context);
  Atomic atomic;
  const Expr at[] = {context.index(0)};
  atomic.buffer = context.symbol("y");
  atomic.indices = at;
  atomic.value = context.real(ScalarType::F32, 1);
  program.body = make(context, atomic);
  EXPECT_TRUE(verify(program).empty());
  atomic.old = context.symbol("old");
  program.body = make(context, atomic);
  EXPECT_TRUE(finds(program, Code::Malformed));
}

// No text says these, a tree in memory may.
TEST(VerifyProgram, WhatIsConstantIsNoOutputAndWhatIsInOutIsOne) {
  ir::Context context;
  for (const auto member : {&Parameter::is_const, &Parameter::is_inout}) {
    Program program = twice(context);
    Parameter& output = program.parameters.back();
    Parameter& input = program.parameters.front();
    ASSERT_TRUE(output.is_output && !input.is_output);
    const bool of_inputs = member == &Parameter::is_const;
    (of_inputs ? input : output).*member = true;
    EXPECT_TRUE(verify(program).empty());
    (of_inputs ? input : output).*member = false;
    (of_inputs ? output : input).*member = true;
    EXPECT_TRUE(finds(program, Code::Malformed));
  }
}

}  // namespace
}  // namespace tilewright::program
