// SPDX-License-Identifier: Apache-2.0
//
// Algorithms made by tools, which the text could not even say.
#include "frontend/ir/verify.h"

#include <gtest/gtest.h>

#include "frontend/base/render.h"
#include "frontend/ir/json.h"
#include "frontend/ir/text.h"

namespace tilewright::ir {
namespace {

class VerifyTest : public testing::Test {
 protected:
  VerifyTest() {
    algorithm.name = context.symbol("t");
    algorithm.extents.push_back({context.symbol("N"), 0, {}, 1, {}});
    n = context.extent(context.symbol("N"));
    i = context.symbol("i");
    algorithm.inputs.push_back({context.symbol("x"), ScalarType::F32, {n}, {}});
    Equation y;
    y.name = context.symbol("y");
    y.indices = {i};
    y.shape = {n};
    y.value = read("x", {context.var(i)});
    y.is_output = true;
    algorithm.equations.push_back(y);
  }

  Expr read(const char* name, std::vector<Expr> indices, ScalarType type = ScalarType::F32) {
    return context.read(context.symbol(name), indices, type);
  }
  std::string code() const {
    const auto findings = verify(algorithm);
    for (const Diagnostic& d : findings) EXPECT_FALSE(d.remedy.empty()) << d.message;
    return findings.empty() ? "" : std::string(code_text(findings[0].code));
  }
  Expr& value() { return algorithm.equations[0].value; }

  Context context;
  Algorithm algorithm;
  Expr n;
  Symbol i;
};

TEST_F(VerifyTest, AcceptsWhatIsWellFormed) { EXPECT_EQ(code(), ""); }

TEST_F(VerifyTest, RefusesNamesThatTextCannotSay) {
  for (const char* name : {"", "a b", "9", "sum", "f32", "input", "x.", "\xff"}) {
    algorithm.inputs[0].name = context.symbol(name);
    EXPECT_NE(code(), "") << name;
  }
}

TEST_F(VerifyTest, RefusesReadsOfLaterEquations) {
  value() = read("y", {context.var(i)});
  EXPECT_EQ(code(), "E0201");
}

TEST_F(VerifyTest, RefusesAWrongTypeOfARead) {
  algorithm.equations[0].type = ScalarType::F64;
  value() = read("x", {context.var(i)}, ScalarType::F64);
  EXPECT_EQ(code(), "E0203");
}

TEST_F(VerifyTest, RefusesUnboundAndWronglyTypedVariables) {
  value() = read("x", {context.var(context.symbol("j"))});
  EXPECT_EQ(code(), "E0201");
  value() = context.var(i, ScalarType::F32);
  EXPECT_EQ(code(), "E0201");
}

TEST_F(VerifyTest, RefusesUndeclaredExtents) {
  algorithm.equations[0].shape = {context.extent(context.symbol("Q"))};
  EXPECT_EQ(code(), "E0201");
}

TEST_F(VerifyTest, RefusesFoldsInsideExpressionsAndFolds) {
  const Symbol vars[] = {context.symbol("k")};
  const Expr lower[] = {context.index(0)};
  const Expr upper[] = {n};
  Expr fold = context.fold(Monoid::Sum, vars, lower, upper, value());
  value() = context.add(fold, fold);
  EXPECT_EQ(code(), "E0210");
  const Symbol outer[] = {context.symbol("j")};
  value() = context.fold(Monoid::Sum, outer, lower, upper, fold);
  EXPECT_NE(code(), "");
  value() = fold;
  EXPECT_EQ(code(), "");
  value() = context.cast(ScalarType::F64, fold);
  algorithm.equations[0].type = ScalarType::F64;
  EXPECT_EQ(code(), "");
  value() = context.cast(ScalarType::F64, context.cast(ScalarType::F16, fold));
  EXPECT_NE(code(), "");
}

TEST_F(VerifyTest, RefusesBoundsOverLaterVariables) {
  const Symbol vars[] = {context.symbol("j"), context.symbol("k")};
  const Expr lower[] = {context.index(0), context.index(0)};
  const Expr upper[] = {context.var(context.symbol("k")), n};
  value() = context.fold(Monoid::Sum, vars, lower, upper, value());
  EXPECT_EQ(code(), "E0201");
}

TEST_F(VerifyTest, RefusesAnIndexNamedLikeATensor) {
  algorithm.equations[0].indices = {context.symbol("x")};
  value() = context.real(ScalarType::F32, 1);
  EXPECT_EQ(code(), "E0202");
}

TEST_F(VerifyTest, RefusesMissingParts) {
  value() = Expr();
  EXPECT_EQ(code(), "E0219");
  value() = context.real(ScalarType::F32, 1);
  algorithm.equations[0].indices.clear();
  EXPECT_EQ(code(), "E0219");
}

TEST_F(VerifyTest, RefusesDeepExpressions) {
  Expr deep = value();
  for (int level = 0; level < 300; ++level) deep = context.op(OpCode::Exp, {deep});
  value() = deep;
  EXPECT_EQ(code(), "E0104");
}

TEST_F(VerifyTest, DepthUpToTheLimitIsPrintedAndRead) {
  // Right-nested, so that every level needs brackets.
  Expr deep = value();
  for (int level = 0; level < 250; ++level)
    deep = context.sub(context.op(OpCode::Neg, {context.real(ScalarType::F32, 1)}), deep);
  value() = deep;
  ASSERT_EQ(code(), "");
  const Source source("t.tw", print(algorithm));
  auto parsed = parse_algorithm(context, source);
  ASSERT_TRUE(parsed.ok()) << render(parsed.diagnostics(), nullptr);
  EXPECT_TRUE(*parsed == algorithm);
  auto json = parse_json(Source("t.json", to_json(algorithm).dump()));
  ASSERT_TRUE(json.ok());
  auto from_json = algorithm_from_json(context, *json);
  ASSERT_TRUE(from_json.ok());
  EXPECT_TRUE(*from_json == algorithm);
}

TEST_F(VerifyTest, NaNHasOneForm) {
  EXPECT_EQ(context.real(ScalarType::F32, -__builtin_nan("1")),
            context.real(ScalarType::F32, __builtin_nan("2")));
}

TEST(Affine, TellsIndicesFromOthers) {
  Context c;
  const Expr i = c.var(c.symbol("i"));
  const Expr n = c.extent(c.symbol("N"));
  EXPECT_TRUE(is_quasi_affine(c.add(c.mul(i, c.index(3)), c.floor_div(n, c.index(4)))));
  EXPECT_TRUE(is_quasi_affine(c.floor_mod(c.sub(i, n), c.index(4))));
  EXPECT_FALSE(is_quasi_affine(c.mul(i, n)));
  EXPECT_FALSE(is_quasi_affine(c.floor_div(i, n)));
  EXPECT_FALSE(is_quasi_affine(c.floor_div(i, c.index(-2))));
  EXPECT_FALSE(is_quasi_affine(c.min(i, n)));
  EXPECT_TRUE(is_piecewise_quasi_affine(c.min(i, c.max(n, c.index(1)))));
  EXPECT_FALSE(is_quasi_affine(c.var(c.symbol("v"), ScalarType::F32)));
}

TEST(AlgorithmJson, RefusesWithThePathOfTheMistake) {
  struct {
    const char* text;
    const char* path;
  } const cases[] = {
      {"[]", "the root"},
      {"{\"format\":\"tilewright.algorithm\",\"version\":2}", "the root"},
      {"{\"format\":\"tilewright.algorithm\",\"version\":1,\"name\":3}", "name"},
      {"{\"format\":\"tilewright.algorithm\",\"version\":1,\"name\":\"t\",\"extents\":[{\"name\":"
       "\"N\",\"min\":0,\"multiple_of\":1}],\"requirements\":[{\"kind\":\"Op\",\"type\":\"bool\","
       "\"op\":\"Lt\",\"args\":[{\"kind\":\"Extent\",\"type\":\"index\",\"name\":\"N\"},"
       "{\"kind\":\"FloatConst\",\"type\":\"f32\",\"value\":0.1}]}]}",
       "requirements.0.args.1"},
  };
  for (const auto& c : cases) {
    Context context;
    auto json = parse_json(Source("t", c.text));
    ASSERT_TRUE(json.ok()) << c.text;
    auto algorithm = algorithm_from_json(context, *json);
    ASSERT_FALSE(algorithm.ok()) << c.text;
    const Diagnostic& d = algorithm.diagnostics()[0];
    EXPECT_EQ(d.code, Code::BadJson);
    ASSERT_EQ(d.evidence.size(), 1U);
    EXPECT_EQ(d.evidence[0].second, c.path) << d.message;
  }
}

// A text has every loop around its equations, so these come from tools alone.
TEST_F(VerifyTest, RefusesLoopsThatCrossOrHoldNothing) {
  Equation next = algorithm.equations[0];
  next.name = context.symbol("a");
  next.is_output = false;
  Equation other = next;
  other.name = context.symbol("b");
  algorithm.equations = {next, other, algorithm.equations[0]};
  const auto loop = [&](const char* var, std::size_t first, std::size_t last, const char* to) {
    const std::string name = std::string("h") + var;
    Loop out;
    out.var = context.symbol(var);
    out.trips = context.index(2);
    out.carries = {{context.symbol(name), context.symbol("x"), context.symbol(to)}};
    out.first = first;
    out.last = last;
    return out;
  };
  algorithm.loops = {loop("l", 0, 2, "a"), loop("m", 1, 2, "b")};
  EXPECT_EQ(code(), "");
  for (const Loop& wrong : {loop("m", 1, 3, "y"), loop("m", 1, 1, "b"), loop("m", 2, 9, "y"),
                            loop("m", 0, 1, "b"), loop("l", 1, 2, "b"), loop("N", 1, 2, "b")}) {
    algorithm.loops[1] = wrong;
    EXPECT_NE(code(), "") << wrong.first << " " << wrong.last;
  }
  algorithm.loops = {loop("m", 1, 2, "b"), loop("l", 0, 1, "a")};
  EXPECT_EQ(code(), "E0261") << "out of order";
  algorithm.loops = {loop("l", 0, 2, "b")};
  algorithm.loops[0].trips = Expr();
  EXPECT_EQ(code(), "E0219");
}

}  // namespace
}  // namespace tilewright::ir
