// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers in the algorithm's interpreter against the formulas of complex.h written out here for plain
// floats, and against std::complex where only rounding may differ.
#include "frontend/ir/complex.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "frontend/base/render.h"
#include "frontend/base/source.h"
#include "frontend/ir/interpret.h"
#include "frontend/ir/text.h"

namespace tilewright::ir {
namespace {

class Complex : public ::testing::Test {
 protected:
  // The output `y` for the inputs z and w, four numbers each.
  Tensor run(const std::string& value, const std::string& type = "c64") {
    const std::string text = "algorithm a(N) {\n  input z : c64[N]\n  input w : c64[N]\n  output y[i < N] : " +
                             type + " = " + value + "\n}\n";
    const Source source("a.tw", text);
    auto algorithm = parse_algorithm(context, source);
    EXPECT_TRUE(algorithm.ok()) << render(algorithm.diagnostics(), &source);
    if (!algorithm.ok()) return {};
    TensorMap inputs{{context.symbol("z"), z}, {context.symbol("w"), w}};
    auto out = interpret(*algorithm, {{context.symbol("N"), 5}}, inputs, {Reading::Exact, {}, 1 << 20});
    EXPECT_TRUE(out.ok()) << render(out.diagnostics(), &source);
    return out.ok() ? out->at(context.symbol("y")) : Tensor{};
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

}  // namespace
}  // namespace tilewright::ir
