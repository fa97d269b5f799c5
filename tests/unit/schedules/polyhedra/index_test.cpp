// SPDX-License-Identifier: Apache-2.0
//
// Translation of indices and conditions against their plain value on a small box.
#include "schedules/polyhedra/index.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/schedules/polyhedra/enumeration.h"
#include "tests/unit/schedules/polyhedra/index_evaluator.h"

namespace tilewright::poly {
namespace {

using ir::Expr;
using ir::OpCode;

struct Generator {
  ir::Context& context;
  std::mt19937 random;
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

  Expr index(int depth) {
    if (depth == 0) {
      switch (pick(0, 3)) {
        case 0: return context.index(pick(-3, 3));
        case 1: return context.extent(context.symbol("N"));
        case 2: return context.var(context.symbol("i"));
        default: return context.var(context.symbol("j"));
      }
    }
    Expr a = index(depth - 1);
    switch (pick(0, 9)) {
      case 0: return context.add(a, index(depth - 1));
      case 1: return context.sub(a, index(depth - 1));
      case 2: return context.mul(a, context.index(pick(-3, 3)));
      case 3: return context.mul(context.index(pick(-3, 3)), a);
      case 4: return context.op(OpCode::Div, {a, context.index(divisor())});
      case 5: return context.op(OpCode::Mod, {a, context.index(divisor())});
      case 6: return context.op(pick(0, 1) ? OpCode::Min : OpCode::Max, {a, index(depth - 1)});
      case 7: return context.op(OpCode::Abs, {a});
      case 8: return context.op(OpCode::Neg, {a});
      default: return context.select(condition(depth - 1), a, index(depth - 1));
    }
  }
  int divisor() { return pick(0, 3) == 0 ? -pick(1, 4) : pick(1, 4); }

  Expr condition(int depth) {
    if (depth == 0 || pick(0, 2) == 0) {
      const OpCode ops[] = {OpCode::Lt, OpCode::Le, OpCode::Gt, OpCode::Ge, OpCode::Eq, OpCode::Ne};
      int inner = depth == 0 ? 0 : depth - 1;
      return context.op(ops[pick(0, 5)], {index(inner), index(inner)});
    }
    Expr a = condition(depth - 1);
    switch (pick(0, 3)) {
      case 0: return context.op(OpCode::Not, {a});
      case 1: return context.op(OpCode::And, {a, condition(depth - 1)});
      case 2: return context.op(OpCode::Or, {a, condition(depth - 1)});
      default: return context.select(condition(depth - 1), a, condition(depth - 1));
    }
  }
};

TEST(IndexLaw, CasesHoldExactlyTheValue) {
  ir::Context context;
  Generator generate{context, std::mt19937(21)};
  int translated = 0;
  for (int round = 0; round < 400; ++round) {
    Expr index = generate.index(3);
    std::optional<IndexCases> cases = index_cases(index);
    if (!cases) continue;
    ++translated;
    ASSERT_TRUE(cases->exact) << ir::print(index);
    std::optional<AffineExpr> affine = affine_of(index);
    for_each_point({"N", "i", "j"}, [&](const Binding& at) {
      std::int64_t expected = plain_value(index, at);
      int holding = 0;
      for (const IndexCase& one : cases->cases) {
        if (!one.condition.contains(at).value()) continue;
        ++holding;
        ASSERT_EQ(one.value.evaluate(at), expected) << ir::print(index);
      }
      ASSERT_GE(holding, 1) << ir::print(index);
      if (affine) {
        ASSERT_EQ(affine->evaluate(at), expected) << ir::print(index);
      }
    });
  }
  EXPECT_GT(translated, 200);
}

TEST(IndexLaw, RegionsHoldExactlyWhereTheConditionHas) {
  ir::Context context;
  Generator generate{context, std::mt19937(22)};
  int exact = 0;
  for (int round = 0; round < 400; ++round) {
    Expr condition = generate.condition(3);
    for (bool truth : {true, false}) {
      Region region = region_of(condition, truth);
      Set set({{"N"}, {"i", "j"}}, region.pieces);
      exact += region.exact ? 1 : 0;
      for_each_point({"N", "i", "j"}, [&](const Binding& at) {
        bool holds = (plain_value(condition, at) != 0) == truth;
        if (region.exact) {
          ASSERT_EQ(inside(set, at), holds) << ir::print(condition);
        } else {
          ASSERT_TRUE(inside(set, at) || !holds) << ir::print(condition);
        }
      });
    }
  }
  EXPECT_GT(exact, 600);
}

TEST(Index, WhatIsNotAffineIsNotTranslated) {
  ir::Context context;
  Expr i = context.var(context.symbol("i"));
  Expr n = context.extent(context.symbol("N"));
  EXPECT_FALSE(index_cases(context.mul(i, n)).has_value());
  EXPECT_FALSE(index_cases(context.floor_div(i, n)).has_value());
  EXPECT_FALSE(affine_of(context.max(i, context.index(0))).has_value());
  EXPECT_EQ(affine_of(context.mul(context.index(2), i)), AffineExpr::variable("i") * 2);
}

TEST(Index, AConditionOverDataIsEverywhereAndNotExact) {
  ir::Context context;
  Expr i = context.var(context.symbol("i"));
  Expr data = context.read(context.symbol("x"), std::vector<Expr>{i}, ir::ScalarType::F32);
  Expr positive = context.op(OpCode::Gt, {data, context.real(ir::ScalarType::F32, 0)});
  Region alone = region_of(positive, true);
  EXPECT_FALSE(alone.exact);
  EXPECT_EQ(alone.pieces, Region::everywhere().pieces);
  Region both = region_of(context.both(positive, context.lt(i, context.index(3))), true);
  EXPECT_FALSE(both.exact);
  Set set({{}, {"i"}}, both.pieces);
  EXPECT_EQ(set.contains({{"i", 2}}), true);
  EXPECT_EQ(set.contains({{"i", 3}}), false);
}

TEST(Index, RangesTakeMinimaAsConjunctions) {
  ir::Context context;
  Expr n = context.extent(context.symbol("N"));
  Region range = range_region("i", Expr(), context.min(n, context.index(8)));
  ASSERT_EQ(range.pieces.size(), 1u);
  EXPECT_EQ(range.pieces[0].inequalities.size(), 3u);
}

}  // namespace
}  // namespace tilewright::poly
