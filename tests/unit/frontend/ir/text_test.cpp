// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/text.h"

#include <gtest/gtest.h>

#include "frontend/base/render.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {
namespace {

std::string canonical(const std::string& text) {
  Context context;
  const Source source("t.tw", text);
  auto algorithm = parse_algorithm(context, source);
  return algorithm.ok() ? print(*algorithm) : render(algorithm.diagnostics(), &source);
}

// The canonical form of the right side of an equation `output y[i] : <type> = <value>` over N, f32 x[N],
// g f64[N], i32 n[N], bool m[N].
std::string canonical_value(const std::string& value, const std::string& declared = "") {
  const std::string text = canonical(
      "algorithm t(N) {\n input x : f32[N]\n input g : f64[N]\n input n : i32[N]\n"
      " input m : bool[N]\n output y[i < N]" +
      (declared.empty() ? "" : " : " + declared) + " = " + value + "\n}");
  const std::size_t at = text.find("output y[i < N] : ");
  if (at == std::string::npos) return text;
  const std::size_t equals = text.find(" = ", at);
  return text.substr(equals + 3, text.find('\n', equals) - equals - 3);
}

// The statement of attention in docs/language.md, which leaves out ranges, types and literal types.
constexpr char kAttention[] = R"(algorithm attention(B, H, S, T, D) {
  requires 1 <= S, S <= T
  input q : bf16[B, H, S, D]
  input k : bf16[B, H, T, D]
  input v : bf16[B, H, T, D]
  score[b,h,s,t] = sum(d < D) f32(q[b,h,s,d]) * f32(k[b,h,t,d])
  logit[b,h,s,t] = select(t <= s + T - S, score[b,h,s,t] * rsqrt(f32(D)), -inf)
  peak[b,h,s]    = max(t < T) logit[b,h,s,t]
  e[b,h,s,t]     = exp(logit[b,h,s,t] - peak[b,h,s])
  total[b,h,s]   = sum(t < T) e[b,h,s,t]
  p[b,h,s,t]     = e[b,h,s,t] / total[b,h,s]
  output o[b,h,s,d] : bf16 = sum(t < T) p[b,h,s,t] * f32(v[b,h,t,d])
}
)";

TEST(AlgorithmText, AttentionGetsItsRangesAndTypes) {
  EXPECT_EQ(canonical(kAttention), R"(algorithm attention(B, H, S, T, D) {
  requires 1 <= S
  requires S <= T
  input q : bf16[B, H, S, D]
  input k : bf16[B, H, T, D]
  input v : bf16[B, H, T, D]
  score[b < B, h < H, s < S, t < T] : f32 = sum(d < D) f32(q[b, h, s, d]) * f32(k[b, h, t, d])
  logit[b < B, h < H, s < S, t < T] : f32 = select(t <= s + T - S, score[b, h, s, t] * rsqrt(f32(D)), f32(-inf))
  peak[b < B, h < H, s < S] : f32 = max(t < T) logit[b, h, s, t]
  e[b < B, h < H, s < S, t < T] : f32 = exp(logit[b, h, s, t] - peak[b, h, s])
  total[b < B, h < H, s < S] : f32 = sum(t < T) e[b, h, s, t]
  p[b < B, h < H, s < S, t < T] : f32 = e[b, h, s, t] / total[b, h, s]
  output o[b < B, h < H, s < S, d < D] : bf16 = bf16(sum(t < T) p[b, h, s, t] * f32(v[b, h, t, d]))
}
)");
  EXPECT_EQ(canonical(canonical(kAttention)), canonical(kAttention));
}

TEST(AlgorithmText, ExtentsKeepTheirDeclarations) {
  const std::string text =
      "algorithm t(M, N min 1 max 4096 multiple_of 8, K max 7) {\n"
      "  output y[i < M] : index = i\n"
      "}\n";
  EXPECT_EQ(canonical(text), text);
}

TEST(AlgorithmText, LayoutAndCommentsDoNotMatter) {
  EXPECT_EQ(
      canonical("# c\nalgorithm t ( M ) { input x:f32[M] # c\n output y[i]=x[i] output z[i]=\n"
                "x\n[i]}"),
      "algorithm t(M) {\n"
      "  input x : f32[M]\n"
      "  output y[i < M] : f32 = x[i]\n"
      "  output z[i < M] : f32 = x[i]\n"
      "}\n");
}

TEST(AlgorithmText, ScalarsHaveNoIndices) {
  EXPECT_EQ(canonical("algorithm t(N) {\n input x : f32[N]\n input a : f32[]\n"
                      " s = sum(i < N) x[i] * a\n output y[i] = x[i] / s\n}"),
            "algorithm t(N) {\n"
            "  input x : f32[N]\n"
            "  input a : f32[]\n"
            "  s[] : f32 = sum(i < N) x[i] * a[]\n"
            "  output y[i < N] : f32 = x[i] / s[]\n"
            "}\n");
}

TEST(AlgorithmText, SpansAreThoseOfTheDeclaration) {
  Context context;
  const std::string text = "algorithm t(M) {\n  input x : f32[M]\n  output y[i] = x[i]\n}\n";
  auto algorithm = parse_algorithm(context, Source("t", text));
  ASSERT_TRUE(algorithm.ok());
  auto shown = [&](Span span) { return text.substr(span.begin, span.end - span.begin); };
  EXPECT_EQ(shown(algorithm->extents[0].span), "M");
  EXPECT_EQ(shown(algorithm->inputs[0].span), "input x : f32[M]");
  EXPECT_EQ(shown(algorithm->equations[0].span), "output y[i] = x[i]");
}

TEST(AlgorithmText, HashDependsOnContentAlone) {
  Context context;
  auto a = parse_algorithm(context, Source("a", kAttention));
  auto b = parse_algorithm(context, Source("b", canonical(kAttention)));
  auto c =
      parse_algorithm(context, Source("c", canonical("algorithm t(M) { output y[i < M] = i }")));
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_EQ(algorithm_hash(*a), algorithm_hash(*b));
  EXPECT_NE(algorithm_hash(*a), algorithm_hash(*c));
  EXPECT_EQ(algorithm_hash(*a).size(), 32U);
}

struct ValueCase {
  const char* text;
  const char* canonical;
};

TEST(ExprText, ParenthesesStandOnlyWhereTheyGroup) {
  const ValueCase cases[] = {
      {"(x[i] + x[i]) + x[i]", "x[i] + x[i] + x[i]"},
      {"x[i] + (x[i] + x[i])", "x[i] + (x[i] + x[i])"},
      {"x[i] - (x[i] - x[i])", "x[i] - (x[i] - x[i])"},
      {"(x[i] * x[i]) / x[i]", "x[i] * x[i] / x[i]"},
      {"x[i] / (x[i] * x[i])", "x[i] / (x[i] * x[i])"},
      {"(x[i] + x[i]) * x[i]", "(x[i] + x[i]) * x[i]"},
      {"-(x[i] * x[i])", "-(x[i] * x[i])"},
      {"-x[i] * x[i]", "-x[i] * x[i]"},
      {"(-x[i]) * x[i]", "-x[i] * x[i]"},
      {"--x[i]", "-(-x[i])"},
      {"x[i] - -x[i]", "x[i] - -x[i]"},
      {"(((x[i])))", "x[i]"},
      {"!(m[i] && m[i] == true || !m[i])", "!(m[i] && m[i] == true || !m[i])"},
      {"(m[i] || x[i] < 1) && m[i]", "(m[i] || x[i] < f32(1)) && m[i]"},
      {"(x[i] < 1) == m[i]", "x[i] < f32(1) == m[i]"},
      {"x[i] < 1 == (m[i] == m[i])", "x[i] < f32(1) == (m[i] == m[i])"},
      {"min(x[i], max(x[i], 2))", "min(x[i], max(x[i], f32(2)))"},
      {"fma(x[i], 2, 0.5)", "fma(x[i], f32(2), f32(0.5))"},
      {"n[i] % 3 / 2 * 5", "n[i] % i32(3) / i32(2) * i32(5)"},
      {"n[i] % (3 / n[i])", "n[i] % (i32(3) / n[i])"},
  };
  for (const ValueCase& c : cases) {
    EXPECT_EQ(canonical_value(c.text), c.canonical) << c.text;
    EXPECT_EQ(canonical_value(c.canonical), c.canonical) << c.canonical;
  }
}

TEST(ExprText, LiteralsTakeTheTypeOfTheirNeighbours) {
  const ValueCase cases[] = {
      {"x[i] + 1", "x[i] + f32(1)"},
      {"1 + x[i]", "f32(1) + x[i]"},
      {"g[i] * 0.1", "g[i] * f64(0.1)"},
      {"select(m[i], 0, x[i])", "select(m[i], f32(0), x[i])"},
      {"select(m[i], -inf, g[i])", "select(m[i], f64(-inf), g[i])"},
      {"select(1 < n[i], nan, x[i])", "select(i32(1) < n[i], f32(nan), x[i])"},
      {"x[i] * (1 + 2)", "x[i] * (f32(1) + f32(2))"},
      {"x[i] + 123456789012345678901234567890", "x[i] + f32(1.2345679e+29)"},
      {"max(1, 2) + n[i]", "max(i32(1), i32(2)) + n[i]"},
      {"f32(0.1)", "f32(0.1)"},
      {"f32(f64(0.1))", "f32(f64(0.1))"},
      {"f32(-0.5)", "f32(-0.5)"},
      {"-f32(0.5)", "-f32(0.5)"},
      {"f32(-0.0)", "f32(-0)"},
      {"f32(7)", "f32(7)"},
      {"f32(index(16777217))", "f32(index(16777217))"},
      {"f32(16777217)", "f32(16777216)"},
      {"f32(i + 1)", "f32(i + 1)"},
      {"f32(true)", "f32(true)"},
      {"i8(-128)", "i8(-128)"},
      {"index(n[i])", "index(n[i])"},
      {"i64(-9223372036854775808)", "i64(-9223372036854775808)"},
      {"round_to(bf16, x[i] * 3)", "round_to(bf16, x[i] * f32(3))"},
      {"i - 3", "i - 3"},
      {"i + -3", "i - 3"},
      {"i - -3", "i + 3"},
      {"3 + i", "i + 3"},
      {"-(i) + 2 * N", "-i + N * 2"},
      {"-9223372036854775808 * i", "i * -9223372036854775808"},
      {"i < 3 && 1 < 2", "i < 3"},
  };
  for (const ValueCase& c : cases) {
    EXPECT_EQ(canonical_value(c.text), c.canonical) << c.text;
    EXPECT_EQ(canonical_value(c.canonical), c.canonical) << c.canonical;
  }
  EXPECT_EQ(canonical_value("1", "f16"), "f16(1)");
  EXPECT_EQ(canonical_value("0.1", "f16"), "f16(0.099975586)");
  EXPECT_EQ(canonical_value("select(m[i], 1, 0)", "i8"), "select(m[i], i8(1), i8(0))");
  EXPECT_EQ(canonical_value("f64(select(m[i], 1, 0))"), "f64(select(m[i], 1, 0))");
}

TEST(ExprText, FoldsReachToTheEnd) {
  const ValueCase cases[] = {
      {"sum(k < N) x[k] * x[i] + x[i]", "sum(k < N) x[k] * x[i] + x[i]"},
      {"(sum(k < N) x[k])", "sum(k < N) x[k]"},
      {"max(1 <= k < N) x[k]", "max(1 <= k < N) x[k]"},
      {"prod(0 <= k < i + 1, j < k) x[j]", "prod(k < i + 1, j < k) x[j]"},
      {"min(k < N) -x[k]", "min(k < N) -x[k]"},
      {"bf16(sum(k < 3) x[i])", "bf16(sum(k < 3) x[i])"},
      {"sum(k < 3) min(x[i], x[i])", "sum(k < 3) min(x[i], x[i])"},
      {"sum(max(i, 1) <= k < min(i + 3, N)) x[k]", "sum(max(i, 1) <= k < min(i + 3, N)) x[k]"},
  };
  for (const ValueCase& c : cases) {
    EXPECT_EQ(canonical_value(c.text), c.canonical) << c.text;
    EXPECT_EQ(canonical_value(c.canonical), c.canonical) << c.canonical;
  }
  EXPECT_EQ(canonical_value("sum(k < 3) x[i]", "f64"), "f64(sum(k < 3) x[i])");
  EXPECT_EQ(canonical_value("sum(k < 3) 1", "i64"), "sum(k < 3) i64(1)");
}

TEST(ExprText, FoldInsideAnExpressionIsPrintedInBrackets) {
  Context context;
  const Symbol vars[] = {context.symbol("k")};
  const Expr zero[] = {context.index(0)};
  const Expr upper[] = {context.extent(context.symbol("K"))};
  Expr fold = context.fold(Monoid::Sum, vars, zero, upper, context.real(ScalarType::F32, 1));
  EXPECT_EQ(print(context.mul(fold, fold)), "(sum(k < K) f32(1)) * (sum(k < K) f32(1))");
}

TEST(ExprText, EveryFunctionOfTheTableIsReadByItsName) {
  for (int i = 0; i < kNumOps; ++i) {
    const OpInfo& info = op_info(static_cast<OpCode>(i));
    if (info.syntax != OpSyntax::Function) continue;
    // Of complex numbers alone: complex_test.cpp.
    if (!op_accepts(static_cast<OpCode>(i), ScalarType::F32) &&
        !op_accepts(static_cast<OpCode>(i), ScalarType::U32))
      continue;
    const bool takes_floats = op_accepts(static_cast<OpCode>(i), ScalarType::F32);
    const std::string operand = takes_floats ? "x[i]" : "u32(i)";
    std::string call = std::string(info.text) + "(" + operand;
    for (int arg = 1; arg < info.arity; ++arg) call += ", " + operand;
    call += ")";
    EXPECT_EQ(canonical_value(call), call);
  }
}

}  // namespace
}  // namespace tilewright::ir
