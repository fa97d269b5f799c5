// SPDX-License-Identifier: Apache-2.0
//
// The C++ form of an algorithm is the value of its text: the algorithms of the applications and each form of the
// language.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "frontend/base/render.h"
#include "frontend/ir/text.h"
#include "frontend/language/build.h"

namespace tilewright::language {
namespace {

std::string canonical(const std::string& text) {
  ir::Context context;
  const Source source("expected.tw", text);
  auto parsed = ir::parse_algorithm(context, source);
  EXPECT_TRUE(parsed.ok()) << tilewright::render(parsed.diagnostics(), &source);
  return parsed.ok() ? ir::print(*parsed) : "";
}

std::string text_of(const Algorithm& algorithm) {
  auto text = algorithm.text();
  EXPECT_TRUE(text.ok()) << render(text.diagnostics());
  return text.ok() ? *text : "";
}

std::string of_app(const std::string& name) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ifstream file(std::string(root ? root : ".") + "/apps/" + name + "/" + name + ".tw");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return canonical(text.str());
}

TEST(SameAsText, Gemm) {
  Algorithm gemm("gemm");
  Extent M(gemm, "M"), N(gemm, "N"), K(gemm, "K");
  Input a(gemm, "a", f32, {M, K}), b(gemm, "b", f32, {K, N});
  Output c(gemm, "c");
  Var i("i"), j("j");
  RDom k("k", K);
  c(i, j) = sum(k, a(i, k) * b(k, j));
  EXPECT_EQ(text_of(gemm), of_app("gemm"));
}

TEST(SameAsText, GemmInTheSpellingOfText) {
  Algorithm gemm("gemm");
  Extent M(gemm, "M"), N(gemm, "N"), K(gemm, "K");
  Input a(gemm, "a", f32, {M, K}), b(gemm, "b", f32, {K, N});
  Output c(gemm, "c", f32);
  Var i("i"), j("j"), k("k");
  c(i < M, j < N) = sum(k < K, a(i, k) * b(k, j));
  EXPECT_EQ(text_of(gemm), of_app("gemm"));
}

TEST(SameAsText, GemmBf16) {
  Algorithm gemm("gemm_bf16");
  Extent M(gemm, "M"), N(gemm, "N"), K(gemm, "K");
  Input a(gemm, "a", bf16, {M, K}), b(gemm, "b", bf16, {K, N});
  Output c(gemm, "c", bf16);
  Var i("i"), j("j"), k("k");
  c(i, j) = sum(k < K, f32(a(i, k)) * f32(b(k, j)));
  EXPECT_EQ(text_of(gemm), of_app("gemm_bf16"));
}

TEST(SameAsText, Attention) {
  Algorithm attention("attention");
  Extent B(attention, "B"), H(attention, "H"), S(attention, "S"), T(attention, "T"),
      D(attention, "D");
  attention.require(1 <= S);
  attention.require(S <= T);
  Input q(attention, "q", bf16, {B, H, S, D}), k(attention, "k", bf16, {B, H, T, D}),
      v(attention, "v", bf16, {B, H, T, D});
  Var b("b"), h("h"), s("s"), t("t"), d("d");
  Tensor score(attention, "score"), logit(attention, "logit"), peak(attention, "peak"),
      e(attention, "e"), total(attention, "total"), p(attention, "p");
  Output o(attention, "o", bf16);
  score(b, h, s, t) = sum(d < D, f32(q(b, h, s, d)) * f32(k(b, h, t, d)));
  logit(b, h, s, t) = select(t <= s + T - S, score(b, h, s, t) * rsqrt(f32(D)), -inf);
  peak(b, h, s) = max(t < T, logit(b, h, s, t));
  e(b, h, s, t) = exp(logit(b, h, s, t) - peak(b, h, s));
  total(b, h, s) = sum(t < T, e(b, h, s, t));
  p(b, h, s, t) = e(b, h, s, t) / total(b, h, s);
  o(b, h, s, d) = sum(t < T, p(b, h, s, t) * f32(v(b, h, t, d)));
  EXPECT_EQ(text_of(attention), canonical(R"(
    algorithm attention(B, H, S, T, D) {
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
    })"));
}

TEST(SameAsText, Blur) {
  Algorithm blur("blur");
  Extent H(blur, "H"), W(blur, "W");
  Input x(blur, "x", f32, {H + 2, W + 2});
  Tensor rows(blur, "rows");
  Output out(blur, "out");
  Var y("y"), u("u");
  rows(y < H + 2, u < W) = (x(y, u) + x(y, u + 1) + x(y, u + 2)) / 3;
  out(y < H, u < W) = (rows(y, u) + rows(y + 1, u) + rows(y + 2, u)) / 3;
  EXPECT_EQ(text_of(blur), canonical(R"(
    algorithm blur(H, W) {
      input x : f32[H + 2, W + 2]
      rows[y < H + 2, u < W] = (x[y, u] + x[y, u + 1] + x[y, u + 2]) / 3
      output out[y < H, u < W] = (rows[y, u] + rows[y + 1, u] + rows[y + 2, u]) / 3
    })"));
}

TEST(SameAsText, DeclarationsInEveryForm) {
  Algorithm a("sizes");
  Extent M(a, "M"), N(a, "N", {.min = 1, .max = 4096, .multiple_of = 8});
  a.require((M <= N && N - M <= 64) || M == 0);
  Input x(a, "x", f32, {M, N + 2}), s(a, "s", f64, {}), flag(a, "flag", bool_, {3});
  Var i("i"), j("j");
  Tensor mid(a, "mid.part", f16);
  Output y(a, "y", f64), whole(a, "whole");
  mid(i < M, j < N) = x(i, j + 2);
  y(i, j) = f64(mid(i, j)) * s;
  whole() = select(flag(1) || !flag(2), s(), 0.5);
  EXPECT_EQ(text_of(a), canonical(R"(
    algorithm sizes(M, N min 1 max 4096 multiple_of 8) {
      requires M <= N && N - M <= 64 || M == 0
      input x : f32[M, N + 2]
      input s : f64[]
      input flag : bool[3]
      mid.part[i < M, j < N] : f16 = x[i, j + 2]
      output y[i, j] : f64 = f64(mid.part[i, j]) * s
      output whole = select(flag[1] || !flag[2], s, 0.5)
    })"));
}

TEST(SameAsText, FoldsOverSeveralVariablesAndBoundsThatDepend) {
  Algorithm a("folds");
  Extent S(a, "S"), T(a, "T");
  Input x(a, "x", f32, {S, T}), n(a, "n", i32, {T});
  Var i("i"), t("t");
  RDom s("s", 1, i + 1);
  Output y(a, "y"), least(a, "least"), product(a, "product"), wide(a, "wide"), lone(a, "lone");
  y(i < S) = max({s, t < T}, x(s, t));
  least(i < S) = min(1 <= t && t < i + 1, n(t));
  product() = prod(t < T, n(t));
  wide() = f64(sum({RDom("s", S), RDom("t", T)}, x(Var("s"), Var("t"))));
  lone() = min({RDom("t", 2, T)}, x(0, Var("t")));
  EXPECT_EQ(text_of(a), canonical(R"(
    algorithm folds(S, T) {
      input x : f32[S, T]
      input n : i32[T]
      output y[i < S] = max(1 <= s < i + 1, t < T) x[s, t]
      output least[i < S] = min(1 <= t < i + 1) n[t]
      output product[] = prod(t < T) n[t]
      output wide[] = f64(sum(s < S, t < T) x[s, t])
      output lone[] = min(2 <= t < T) x[0, t]
    })"));
}

TEST(SameAsText, EveryOperator) {
  Algorithm a("operators");
  Extent N(a, "N");
  Input x(a, "x", i32, {N}), y(a, "y", i32, {N});
  Var i("i");
  Output out(a, "out"), sign(a, "sign"), chain(a, "chain");
  out(i) = select(x(i) == y(i) || (x(i) != 1 && x(i) < 2) || !(x(i) <= 3),
                  x(i) + y(i) - x(i) * y(i) / 7 % 5, -x(i));
  sign(i) = select(x(i) > 0, 1, select(x(i) >= 0, 0, -y(i)));
  chain(i) = x(i) - (y(i) - (x(i) - y(i))) / (y(i) * 2);
  EXPECT_EQ(text_of(a), canonical(R"(
    algorithm operators(N) {
      input x : i32[N]
      input y : i32[N]
      output out[i] = select(x[i] == y[i] || x[i] != 1 && x[i] < 2 || !(x[i] <= 3),
                             x[i] + y[i] - x[i] * y[i] / 7 % 5, -x[i])
      output sign[i] = select(x[i] > 0, 1, select(x[i] >= 0, 0, -y[i]))
      output chain[i] = x[i] - (y[i] - (x[i] - y[i])) / (y[i] * 2)
    })"));
}

TEST(SameAsText, LiteralsTakeTheTypeOfTheirPlace) {
  Algorithm a("literals");
  Extent N(a, "N");
  Input x(a, "x", f32, {N}), y(a, "y", f64, {N}), z(a, "z", i64, {N}), b(a, "b", bool_, {N});
  Var i("i");
  Output f(a, "f"), g(a, "g"), h(a, "h"), c(a, "c"), d(a, "d");
  f(i) = x(i) * 2 + 0.1 - 1e-30 + 3.0 + 16777217.0;
  g(i) = y(i) * 0.1 + 0.1f + (-2) - inf;
  h(i) = z(i) + std::int64_t{INT64_MIN} + 9223372036854775807LL + 5U;
  c(i) = b(i) == true || b(i) == false;
  d(i) = max(x(i), 0) + fma(x(i), 2, 0.5) + min(f32(1e10), f32(i));
  EXPECT_EQ(text_of(a), canonical(R"(
    algorithm literals(N) {
      input x : f32[N]
      input y : f64[N]
      input z : i64[N]
      input b : bool[N]
      output f[i] = x[i] * 2 + 0.1 - 1e-30 + 3 + 16777217
      output g[i] = y[i] * 0.1 + 0.10000000149011612 + -2 - inf
      output h[i] = z[i] + -9223372036854775808 + 9223372036854775807 + 5
      output c[i] = b[i] == true || b[i] == false
      output d[i] = max(x[i], 0) + fma(x[i], 2, 0.5) + min(f32(1e10), f32(i))
    })"));
}

TEST(SameAsText, ConversionsAndRounding) {
  Algorithm a("conversions");
  Extent N(a, "N");
  Input x(a, "x", f32, {N});
  Var i("i");
  Output y(a, "y", bf16), z(a, "z"), w(a, "w"), n(a, "n"), o(a, "o");
  y(i) = x(i);
  z(i) = round_to(bf16, x(i)) + cast(f32, f16(x(i)));
  w(i < N) = i32(x(N - 1 - i)) + i32(i % 3) + i32(-(i / 2));
  n() = -(-f32(3)) * -(Expr(2));
  o() = f32(index_(3));
  EXPECT_EQ(text_of(a), canonical(R"(
    algorithm conversions(N) {
      input x : f32[N]
      output y[i] : bf16 = x[i]
      output z[i] = round_to(bf16, x[i]) + f32(f16(x[i]))
      output w[i < N] = i32(x[N - 1 - i]) + i32(i % 3) + i32(-(i / 2))
      output n = -(-f32(3)) * -(2)
      output o = f32(index(3))
    })"));
}

TEST(SameAsText, ManyIndices) {
  Algorithm a("ranks");
  Input x(a, "x", f32, {1, 2, 3, 4, 5, 6, 7});
  Var i("i"), j("j"), k("k"), l("l"), m("m"), n("n"), o("o");
  Tensor t(a, "t"), u(a, "u");
  Output y(a, "y");
  t(i, j, k, l, m) = x.at({i, j, k, l, m, 0, 1});
  u(i, j, k, l, m, n) = x.at({i, j, k, l, m, n, 6}) + t(i, j, k, l, m);
  y.at({i, j, k, l, m, n, o}) = x.at({i, j, k, l, m, n, o}) - u(i, j, k, l, m, n);
  EXPECT_EQ(text_of(a), canonical(R"(
    algorithm ranks() {
      input x : f32[1, 2, 3, 4, 5, 6, 7]
      t[i, j, k, l, m] = x[i, j, k, l, m, 0, 1]
      u[i, j, k, l, m, n] = x[i, j, k, l, m, n, 6] + t[i, j, k, l, m]
      output y[i, j, k, l, m, n, o] = x[i, j, k, l, m, n, o] - u[i, j, k, l, m, n]
    })"));
}

TEST(SameAsText, ComplexNumbers) {
  Algorithm a("turns");
  Extent N(a, "N");
  Input z(a, "z", c64, {N}), x(a, "x", f32, {N});
  Tensor all(a, "all");
  Output y(a, "y", c128), size(a, "size");
  Var i("i"), k("k");
  all() = prod(k < N, z(k) + c64(x(k)));
  y(i) = c128(conj(z(i)) * complex(0, -1) + 2 * all());
  size(i) = select(z(i) == 0, -1, abs(z(i)) + re(z(i)) - im(z(i)));
  EXPECT_EQ(text_of(a), canonical(R"(
    algorithm turns(N) {
      input z : c64[N]
      input x : f32[N]
      all = prod(k < N) z[k] + c64(x[k])
      output y[i] : c128 = c128(conj(z[i]) * complex(0, -1) + 2 * all)
      output size[i] = select(z[i] == 0, -1, abs(z[i]) + re(z[i]) - im(z[i]))
    })"));
  // 1 + 2i and -2i, then 3 and 1: all = (4 + 2i) (1 - 2i) = 8 - 6i; -i (1 - 2i) = -2 - i and -i (2i) = 2.
  auto run = a.evaluate({{"z", {{2}, {1, 2, 0, -2}}}, {"x", {{2}, {3, 1}}}});
  ASSERT_TRUE(run.ok()) << render(run.diagnostics());
  EXPECT_EQ(run->at("y").values, (std::vector<double>{14, -13, 18, -12}));
  EXPECT_EQ(run->at("size").values.at(1), 4);  // 2 + 0 + 2
  auto few = a.evaluate({{"z", {{2}, {1, 2}}}, {"x", {{2}, {3, 1}}}});
  ASSERT_FALSE(few.ok());
  EXPECT_EQ(few.diagnostics()[0].code, "E0802");
}

TEST(SameAsText, JsonAndContextOfTheCaller) {
  Algorithm a("twice");
  Extent N(a, "N");
  Input x(a, "x", f32, {N});
  Output y(a, "y");
  Var i("i");
  y(i) = x(i) * 2;
  ir::Context context;
  auto built = build(a, context);
  ASSERT_TRUE(built.ok()) << render(built.diagnostics());
  const Source source("twice.tw", "algorithm twice(N) { input x : f32[N] output y[i] = x[i] * 2 }");
  auto parsed = ir::parse_algorithm(context, source);
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(*built == *parsed);
  auto json = a.json();
  ASSERT_TRUE(json.ok());
  EXPECT_NE(json->find("\"twice\""), std::string::npos);
}

TEST(SameAsText, ExpressionsAreSharedBetweenDefinitionsAndCopiesAreTheSameAlgorithm) {
  Algorithm a("shared");
  Extent N(a, "N");
  Input x(a, "x", f32, {N});
  Output y(a, "y"), z(a, "z");
  Var i("i");
  const Expr half = x(i) / 2;
  Algorithm copy = a;
  y(i) = half;
  z(i) = half * half;
  EXPECT_EQ(text_of(copy), canonical(R"(
    algorithm shared(N) {
      input x : f32[N]
      output y[i] = x[i] / 2
      output z[i] = x[i] / 2 * (x[i] / 2)
    })"));
}

}  // namespace
}  // namespace tilewright::language
