// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers in the algorithm's interpreter against the formulas of complex.h written out here for plain
// floats, and against std::complex where only rounding may differ.
#include "frontend/ir/complex.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/base/render.h"
#include "frontend/base/source.h"
#include "frontend/ir/interpret.h"
#include "frontend/ir/json.h"
#include "frontend/ir/text.h"
#include "frontend/ir/verify.h"

namespace tilewright::ir {
namespace {

class Complex : public ::testing::Test {
 protected:
  std::optional<Algorithm> parse(const std::string& text) {
    const Source source("a.tw", text);
    auto algorithm = parse_algorithm(context, source);
    EXPECT_TRUE(algorithm.ok()) << render(algorithm.diagnostics(), &source);
    return algorithm.ok() ? std::optional(*algorithm) : std::nullopt;
  }
  TensorMap inputs() { return {{context.symbol("z"), z}, {context.symbol("w"), w}}; }
  Bindings sizes() { return {{context.symbol("N"), 5}}; }
  // The output `y` for the inputs z and w, of five numbers each.
  Tensor run_all(const std::string& monoids, const std::string& equations,
                 const std::string& output = "y") {
    const auto algorithm = parse(
        monoids + "algorithm a(N) {\n  input z : c64[N]\n  input w : c64[N]\n" + equations + "}\n");
    if (!algorithm) return make_tensor(ScalarType::C64, {5});
    auto out = interpret(*algorithm, sizes(), inputs(), {Reading::Exact, {}, 1 << 20});
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.diagnostics()[0].message);
    return out.ok() ? out->at(context.symbol(output)) : make_tensor(ScalarType::C64, {5});
  }
  Tensor run(const std::string& value, const std::string& type = "c64") {
    return run_all("", "  output y[i < N] : " + type + " = " + value + "\n");
  }
  static Tensor tensor(std::initializer_list<float> values) {
    Tensor out = make_tensor(ScalarType::C64, {5});
    std::size_t at = 0;
    for (float v : values) out.data[at++].f = static_cast<double>(v);
    return out;
  }
  std::complex<float> at(const Tensor& t, std::size_t i) const {
    return {static_cast<float>(t.data[2 * i].f), static_cast<float>(t.data[2 * i + 1].f)};
  }

  Context context;
  Tensor z = tensor({1.5F, -2.25F, 0.1F, 0.7F, -3.0F, 0.0F, 1e19F, 1e18F, 0.3F, -0.4F});
  Tensor w = tensor({0.5F, 3.0F, -0.9F, 0.2F, 0.0F, 2.0F, 1e19F, -1e19F, 7.0F, 7.0F});
};

TEST_F(Complex, FieldOperationsRoundEachStep) {
  const Tensor sum = run("z[i] + w[i]");
  const Tensor product = run("z[i] * w[i]");
  const Tensor quotient = run("z[i] / w[i]");
  const Tensor conjugate = run("conj(-z[i])");
  for (std::size_t i = 0; i < 5; ++i) {
    const float a = at(z, i).real(), b = at(z, i).imag(), c = at(w, i).real(), d = at(w, i).imag();
    EXPECT_EQ(at(sum, i), std::complex<float>(a + c, b + d));
    const float ac = a * c, bd = b * d, ad = a * d, bc = b * c;
    EXPECT_EQ(at(product, i), std::complex<float>(ac - bd, ad + bc));
    EXPECT_EQ(at(conjugate, i), std::complex<float>(-a, b));
    const auto expected = std::complex<double>(at(z, i)) / std::complex<double>(at(w, i));
    EXPECT_NEAR(quotient.data[2 * i].f, expected.real(), std::abs(expected) * 0x1p-21);
    EXPECT_NEAR(quotient.data[2 * i + 1].f, expected.imag(), std::abs(expected) * 0x1p-21);
  }
  // Where the squares of the parts are beyond f32 the quotient is not.
  EXPECT_TRUE(std::isfinite(quotient.data[6].f));
}

TEST_F(Complex, PartsSizesAndComparisons) {
  const Tensor size = run("abs(z[i])", "f32");
  const Tensor parts = run("re(z[i]) - im(w[i])", "f32");
  const Tensor same = run("complex(re(z[i]), im(z[i])) == z[i] && z[i] != w[i]", "bool");
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(size.data[i].f, std::abs(std::complex<double>(at(z, i))), size.data[i].f * 0x1p-21);
    EXPECT_EQ(parts.data[i].f, static_cast<double>(at(z, i).real() - at(w, i).imag()));
    EXPECT_EQ(same.data[i].i, 1);
  }
}

TEST_F(Complex, SumsConversionsAndLiterals) {
  const Tensor total = run("sum(k < N) z[k] * complex(f32(i), 1)");
  std::complex<float> expected = 0;
  for (std::size_t k = 0; k < 5; ++k) {
    const float a = at(z, k).real(), b = at(z, k).imag();
    const float re1 = a * 2.0F, re2 = b * 1.0F, im1 = a * 1.0F, im2 = b * 2.0F;
    expected += std::complex<float>(re1 - re2, im1 + im2);
  }
  EXPECT_EQ(at(total, 2), expected);
  EXPECT_EQ(at(run("c64(c128(z[i]) * 2 + c128(re(z[i])))"), 0), std::complex<float>(4.5F, -4.5F));
  EXPECT_EQ(at(run("select(re(z[i]) > 1, 2, w[i])"), 0), std::complex<float>(2, 0));
}

// The product of complex numbers as complex.h states it, in f32.
std::complex<float> times(std::complex<float> z, std::complex<float> w) {
  const float ac = z.real() * w.real(), bd = z.imag() * w.imag();
  const float ad = z.real() * w.imag(), bc = z.imag() * w.real();
  return {ac - bd, ad + bc};
}

TEST_F(Complex, QuotientsAreSmiths) {
  const Tensor quotient = run("z[i] / w[i]");
  // w[0] = 0.5 + 3i: |c| < |d|.
  const float c = 0.5F, d = 3, r = c / d, cr = c * r, e = cr + d;
  const float ar = 1.5F * r, br = -2.25F * r;
  EXPECT_EQ(at(quotient, 0), std::complex<float>((ar + -2.25F) / e, (br - 1.5F) / e));
  // w[1] = -0.9 + 0.2i: |c| >= |d|.
  const float c1 = -0.9F, d1 = 0.2F, r1 = d1 / c1, dr1 = d1 * r1, e1 = c1 + dr1;
  const float br1 = 0.7F * r1, ar1 = 0.1F * r1;
  EXPECT_EQ(at(quotient, 1), std::complex<float>((0.1F + br1) / e1, (0.7F - ar1) / e1));
}

TEST_F(Complex, ProductsConditionsAndEmptyFolds) {
  std::complex<float> product = 1, chosen = 1;
  for (std::size_t k = 0; k < 5; ++k) {
    if (k != 3) product = times(product, at(z, k));
    if (at(z, k).real() > 0 && k != 3) chosen = times(chosen, at(z, k));
  }
  EXPECT_EQ(at(run("prod(k < N where k != 3) z[k]"), 1), product);
  EXPECT_EQ(at(run("prod(k < N where re(z[k]) > 0 && k != 3) z[k]"), 1), chosen);
  EXPECT_EQ(at(run("prod(k < N where k > N) z[k]"), 0), std::complex<float>(1, 0));
  EXPECT_EQ(at(run("prod(k < N where k > N) z[k] on_empty complex(2, 3)"), 0),
            std::complex<float>(2, 3));
  EXPECT_EQ(at(run("sum(k < N where k > N) z[k] on_empty w[i]"), 1), at(w, 1));
  // A conversion of the result, which is exact.
  const Tensor wide = run("c128(prod(k < N where k < 2) z[k])", "c128");
  EXPECT_EQ(wide.type, ScalarType::C128);
  const auto two = times(times(1, at(z, 0)), at(z, 1));
  EXPECT_EQ(wide.data[0].f, static_cast<double>(two.real()));
  EXPECT_EQ(wide.data[1].f, static_cast<double>(two.imag()));
}

// A sum adds a product of reals by one fma; the parts of a complex sum are not fused.
TEST_F(Complex, SumsOfPartsThatAreProductsRoundTwice) {
  const Tensor sum = run("sum(k < N) complex(re(z[k]) * re(w[k]), im(z[k]))");
  volatile float re = 0;
  for (std::size_t k = 0; k < 5; ++k) {
    volatile float product = at(z, k).real() * at(w, k).real();
    re = re + product;
  }
  EXPECT_EQ(at(sum, 0).real(), re);
}

TEST_F(Complex, ScansRecurrencesAndUpdates) {
  const Tensor scan = run("scan prod(i) w[i]");
  const Tensor state = run("scan(i, h = complex(0, 1)) h * w[i] + z[0]");
  const Tensor pair =
      run_all("",
              "  p[i < N] = scan(i, h = z[0], n = f32(0)) (h * complex(0, 1), n + abs(h))\n"
              "  output y[i] = p.h[i] + complex(p.n[i], 0)\n");
  std::complex<float> all = 1, h = {0, 1}, turning = at(z, 0);
  for (std::size_t i = 0; i < 3; ++i) {
    all = times(all, at(w, i));
    EXPECT_EQ(at(scan, i), all);
    const auto product = times(h, at(w, i));
    h = {product.real() + 1.5F, product.imag() + -2.25F};
    EXPECT_EQ(at(state, i), h);
    turning = times(turning, {0, 1});
    // Four turns by i give the number again; each has the size of the first, 2.704...
    EXPECT_EQ(at(pair, i).imag(), turning.imag());
    EXPECT_NEAR(at(pair, i).real(), turning.real() + 2.7041634F * static_cast<float>(i + 1), 1e-5);
  }
  const Tensor update = run("update w[i] sum(k < N) at [k % 2] z[k]");
  std::complex<float> even = at(w, 0);
  for (std::size_t k = 0; k < 5; k += 2) even += at(z, k);
  EXPECT_EQ(at(update, 0), even);
  EXPECT_EQ(at(update, 4), at(w, 4));
  EXPECT_EQ(at(run("update w[i] last(k < N) at [N - 1 - k] z[k]"), 4), at(z, 0));
}

// Affine maps z -> s z + o under composition.
constexpr const char* kMaps =
    "monoid maps(s : c64, o : c64) {\n  identity 1, 0\n  combine(a, b) = a.s * b.s, b.s * a.o + "
    "b.o\n}\n";

TEST_F(Complex, DeclaredMonoidsHaveComplexFields) {
  const Tensor got = run_all(
      kMaps,
      "  m = maps(k < N where k < 2) (w[k], z[k])\n  output y[i < N] = m.s[] * z[i] + m.o[]\n");
  const auto s = times(times(1, at(w, 0)), at(w, 1));
  const auto none = times(at(w, 0), 0);
  const std::complex<float> first = {none.real() + at(z, 0).real(), none.imag() + at(z, 0).imag()};
  const auto moved = times(at(w, 1), first);
  const std::complex<float> o = {moved.real() + at(z, 1).real(), moved.imag() + at(z, 1).imag()};
  const auto scaled = times(s, at(z, 0));
  EXPECT_EQ(at(got, 0), std::complex<float>(scaled.real() + o.real(), scaled.imag() + o.imag()));
}

TEST_F(Complex, LawsOfDeclaredMonoidsAreTested) {
  const Source source("a.tw",
                      "monoid odd(s : c64) {\n  identity 0\n  combine(a, b) = a.s + conj(b.s)\n}\n"
                      "algorithm a(N) {\n  input z : c64[N]\n  output y = odd(k < N) z[k]\n}\n");
  auto algorithm = parse_algorithm(context, source);
  ASSERT_FALSE(algorithm.ok());
  EXPECT_EQ(algorithm.diagnostics()[0].code, Code::MonoidLaw);
}

// Equations before and in the loop that become several, a carried tensor of reals between two of complex numbers, and a
// condition on a size.
TEST_F(Complex, LoopsCarryBothParts) {
  const std::string body =
      "  one = c128(prod(k < N where k < 2) z[k])\n  n0 = f32(0)\n"
      "  loop l < N while abs(p[0]) < 100 carry p = z then q, n = n0 then m, before = w then p {\n"
      "    twice = prod(k < 2) p[0]\n"
      "    loop t < l carry s = p then u { u[i] = s[i] + complex(0, 1) }\n"
      "    q[i] = s[i] * before[i]\n"
      "    m = n[] + re(twice[])\n"
      "  }\n"
      "  output y[i] = p[i]\n  output o = c64(one[])\n  output r = n[]\n"
      "  output b[i] = before[i]\n";
  std::vector<std::complex<float>> p, before;
  for (std::size_t i = 0; i < 5; ++i) p.push_back(at(z, i)), before.push_back(at(w, i));
  float n = 0;
  int trips = 0;
  for (int l = 0; l < 5 && std::abs(p[0]) < 100; ++l, ++trips) {
    n = n + times(times(1, p[0]), p[0]).real();
    std::vector<std::complex<float>> q = p;
    for (std::size_t i = 0; i < 5; ++i) {
      for (int t = 0; t < l; ++t) q[i] += std::complex<float>(0, 1);
      q[i] = times(q[i], before[i]);
    }
    before = std::exchange(p, q);
  }
  ASSERT_EQ(trips, 3) << "the condition, and not the range, ends the loop";
  const Tensor y = run_all("", body);
  const Tensor b = run_all("", body, "b");
  for (std::size_t i = 0; i < 5; ++i) {
    if (i == 3) continue;  // beyond f32
    EXPECT_EQ(at(y, i), p[i]) << i;
    EXPECT_EQ(at(b, i), before[i]) << i;
  }
  EXPECT_EQ(run_all("", body, "r").data[0].f, static_cast<double>(n));
  EXPECT_EQ(at(run_all("", body, "o"), 0), times(times(1, at(z, 0)), at(z, 1)));
}

TEST_F(Complex, LoopsWithoutIterationsAndCases) {
  const std::string arms =
      "  loop l < 0 carry p = z then q { q[i] = p[i] * p[i] }\n  mode = i32(N) - 4\n"
      "  case mode[] carry y = p {\n    when 0 then a { a[i] = -p[i] }\n"
      "    when 1 then b { b[i] = conj(p[i]) }\n    else then c { c[i] = w[i] }\n  }\n"
      "  output r[i] = y[i]\n";
  const Tensor got = run_all("", arms, "r");
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(at(got, i), std::conj(at(z, i)));
}

TEST_F(Complex, OutputsInTheStorageOfInputs) {
  const auto algorithm = parse(
      "algorithm a(N) {\n  inout z : c64[N]\n  inout w : c64[N]\n"
      "  output y[i] into z = w[i] - z[i]\n  output t[i < N] into w = scan prod(i) w[i]\n}\n");
  ASSERT_TRUE(algorithm);
  const Algorithm parts = split_complex(context, *algorithm);
  EXPECT_FALSE(has_complex(parts));
  for (const char* pair : {"y're z're", "y'im z'im", "t're w're", "t'im w'im"}) {
    const std::string_view names = pair;
    const Equation* equation = parts.find_equation(context.symbol(names.substr(0, 4)));
    ASSERT_TRUE(equation) << pair;
    EXPECT_TRUE(equation->is_output);
    EXPECT_EQ(equation->into.text(), names.substr(5));
  }
  auto out = interpret(*algorithm, sizes(), inputs(), {Reading::Exact, {}, 1 << 20});
  ASSERT_TRUE(out.ok());
  std::complex<float> all = 1;
  for (std::size_t i = 0; i < 5; ++i) {
    const std::complex<float> a = at(z, i), b = at(w, i);
    EXPECT_EQ(at(out->at(context.symbol("y")), i),
              std::complex<float>(b.real() - a.real(), b.imag() - a.imag()));
    all = times(all, b);
    EXPECT_EQ(at(out->at(context.symbol("t")), i), all);
  }
}

// Loops hold what became of the equations that they held.
TEST_F(Complex, LoopsOfWhatIsSplit) {
  const auto algorithm = parse(
      "algorithm a(N, L) {\n  input z : c64[N]\n  input w : c128[N]\n  input n : i32[N] range 0 .. "
      "N\n"
      "  first = c128(prod(k < N) z[k])\n"
      "  loop l < L while re(h[0]) > 0 carry h = z then g {\n"
      "    best = argmax(k < N) abs(h[k])\n"
      "    loop m < 2 carry f = h then e { e[i] = f[i] * c64(l) }\n"
      "    all = c64(prod(k < N) w[k] * first[])\n"
      "    g[i] = f[n[i]] + all[] * c64(best.index[])\n  }\n"
      "  output y[i] = h[i]\n}\n");
  ASSERT_TRUE(algorithm);
  const Algorithm parts = split_complex(context, *algorithm);
  EXPECT_FALSE(has_complex(parts));
  ASSERT_EQ(parts.loops.size(), 2U);
  const auto names = [&](const Loop& loop) {
    std::string out;
    for (std::size_t i = loop.first; i < loop.last; ++i)
      out += std::string(parts.equations[i].name.text()) + " ";
    return out;
  };
  EXPECT_EQ(names(parts.loops[0]), "best e're e'im all'fold all're all'im g're g'im ");
  EXPECT_EQ(names(parts.loops[1]), "e're e'im ");
  ASSERT_EQ(parts.loops[0].carries.size(), 2U);
  EXPECT_EQ(parts.loops[0].carries[1].name.text(), "h'im");
  EXPECT_EQ(parts.loops[0].carries[1].start.text(), "z'im");
  EXPECT_EQ(parts.loops[0].carries[1].next.text(), "g'im");
}

TEST_F(Complex, BoundsCoverTheRoundedValues) {
  const auto algorithm = parse(
      "algorithm a(N) {\n  input z : c64[N]\n  input w : c64[N]\n"
      "  output s = sum(k < N where k != 3) z[k] * w[k] / complex(0.3, 0.1)\n"
      "  output p = prod(k < N where k != 3) z[k] - w[k]\n  output m[i] = abs(z[i] * w[i])\n}\n");
  ASSERT_TRUE(algorithm);
  auto bounded = interpret_with_bound(*algorithm, sizes(), inputs());
  auto exact = interpret(*algorithm, sizes(), inputs(), {Reading::Exact, {}, 1 << 20});
  ASSERT_TRUE(bounded.ok() && exact.ok());
  for (const char* name : {"s", "p", "m"}) {
    const BoundedTensor& reference = bounded->at(context.symbol(name));
    EXPECT_EQ(reference.bound.size(), reference.value.data.size());
    Tensor got = exact->at(context.symbol(name));
    EXPECT_FALSE(find_violation(reference, got)) << name;
    EXPECT_TRUE(std::isfinite(reference.bound[0])) << name;
    // Far beyond what rounding explains: the imaginary part of s and p, the size m.
    got.data[got.data.size() > 2 ? 0 : 1].f += 1;
    EXPECT_TRUE(find_violation(reference, got)) << name;
  }
}

TEST_F(Complex, TextAndJsonReturn) {
  const auto algorithm = parse(std::string(kMaps) + R"(algorithm a(N) {
  input z : c64[N]
  input w : c128[N]
  m = maps(k < N) (z[k], c64(w[k]))
  view v[i] = select(i == 0, complex(1, -2), z[i])
  output y[i] = m.s[] * conj(v[i]) / 2 - complex(abs(z[i]), im(z[i]))
  output t = prod(i < N) w[i]
}
)");
  ASSERT_TRUE(algorithm);
  EXPECT_TRUE(verify(*algorithm).empty());
  const auto again = parse(print(*algorithm));
  ASSERT_TRUE(again);
  EXPECT_TRUE(*again == *algorithm);
  const Source source("a.json", to_json(*algorithm).dump(-1));
  auto json = parse_json(source);
  ASSERT_TRUE(json.ok());
  auto from = algorithm_from_json(context, *json);
  ASSERT_TRUE(from.ok()) << render(from.diagnostics(), &source);
  EXPECT_TRUE(*from == *algorithm);
}

}  // namespace
}  // namespace tilewright::ir
