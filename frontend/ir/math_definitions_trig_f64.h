// SPDX-License-Identifier: Apache-2.0
//
// How an f64 is brought to its quadrant, for every finite argument: 2/pi to 1200 bits, without a
// table look-up. The law of math_primitives.h holds.
//
// An f64 comes within 2^-61 of a multiple of pi/2, and must then be right to 53 bits more, so what
// is computed here is x * 2/pi modulo 4 to about 2^-116. That is two thirds of the cost of a sin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "frontend/ir/math_definitions_trig.h"

namespace tilewright::ir::math {

// sum + error = a + b exactly, and product + error = a * b exactly.
template <class B>
struct Exact {
  typename B::F64 value, error;
};
template <class B>
Exact<B> exact_sum(B& b, typename B::F64 x, typename B::F64 y) {
  const auto sum = b.add(x, y);
  const auto of_y = b.sub(sum, x);
  const auto of_x = b.sub(sum, of_y);
  return {sum, b.add(b.sub(x, of_x), b.sub(y, of_y))};
}
template <class B>
Exact<B> exact_product(B& b, typename B::F64 x, typename B::F64 y) {
  const auto product = b.mul(x, y);
  return {product, b.fma(x, y, b.neg(product))};
}

// x modulo 4, in [-2, 2], exactly.
template <class B>
typename B::F64 modulo_4(B& b, typename B::F64 x) {
  return b.fma(b.rint(b.mul(x, b.f64(0.25))), b.f64(-4), x);
}

// x = scaled * 2^(48 j) for a j that brings it below 2^101, and the six digits of 2/pi from number
// j on. Whenever j > 0, scaled is an integer, so earlier digits add whole turns only.
constexpr std::size_t kDigitsUsed = 6;
template <class B>
struct Window {
  typename B::F64 scaled;
  std::array<typename B::F64, kDigitsUsed> digits;
};

// One bit of j, the digits moved down by `Step` where it is set. Digits that no later step can move
// down, since x would not have been below 2^1024, stay where they are.
template <std::size_t Step, class B, std::size_t N>
auto narrow_window(B& b, typename B::F64& x, const std::array<typename B::F64, N>& digits) {
  constexpr std::size_t kLeft = kDigitsUsed + Step - 1;
  constexpr double kPower = static_cast<double>(std::uint64_t{1} << 48);
  double threshold = 0x1p53, factor = 1;
  for (std::size_t i = 0; i < Step; ++i) {
    threshold *= kPower;
    factor /= kPower;
  }
  const auto stays = b.lt(x, b.f64(threshold));
  x = b.select(stays, x, b.mul(x, b.f64(factor)));
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto pick = [&](std::size_t i) {
      return i + Step < N ? b.select(stays, digits[i], digits[i + Step]) : digits[i];
    };
    return std::array<typename B::F64, kLeft>{pick(I)...};
  }(std::make_index_sequence<kLeft>{});
}

template <class B>
Window<B> window(B& b, typename B::F64 x) {
  const auto digits = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<typename B::F64, sizeof...(I)>{b.f64(kTwoOverPiDigits[I])...};
  }(std::make_index_sequence<std::size(kTwoOverPiDigits)>{});
  const auto by_16 = narrow_window<16>(b, x, digits);
  const auto by_8 = narrow_window<8>(b, x, by_16);
  const auto by_4 = narrow_window<4>(b, x, by_8);
  const auto by_2 = narrow_window<2>(b, x, by_4);
  const auto by_1 = narrow_window<1>(b, x, by_2);
  return {x, by_1};
}

// The products of the scaled argument with the six digits, each with its weight 2^(-48 i), are
// summed from the largest down. Products 0 and 1 and the exact errors of both are first reduced
// modulo 4, product 2 too; their leading part is exact, and everything below 2^-43 goes into a
// second sum that is kept as a value and its error.
template <class B>
Quadrant<Double<B>> quadrant(B& b, Double<B>, typename B::F64 magnitude) {
  const Window<B> w = window(b, magnitude);
  std::array<Exact<B>, kDigitsUsed - 1> product;
  auto x = w.scaled;
  for (std::size_t i = 0; i + 1 < kDigitsUsed; ++i) {
    product[i] = exact_product(b, x, w.digits[i]);
    x = b.mul(x, b.f64(0x1p-48));
  }
  const auto last = b.mul(x, w.digits[kDigitsUsed - 1]);

  const auto whole = b.add(modulo_4(b, product[0].value), modulo_4(b, product[0].error));
  Exact<B> sum = {b.add(whole, modulo_4(b, product[1].value)), b.f64(0)};
  Exact<B> low = exact_sum(b, product[4].value, product[3].error);
  auto lowest = b.add(b.add(last, product[4].error), low.error);
  const std::array<typename B::F64, 4> terms = {modulo_4(b, product[1].error),
                                                modulo_4(b, product[2].value), product[2].error,
                                                product[3].value};
  for (const auto& term : terms) {
    sum = exact_sum(b, sum.value, term);
    low = exact_sum(b, low.value, sum.error);
    lowest = b.add(lowest, low.error);
  }

  const auto rounder = b.f64(0x1.8p52);
  const auto t = b.add(sum.value, rounder);
  const auto rest = b.sub(sum.value, b.sub(t, rounder));
  const auto quarters = exact_sum(b, rest, low.value);
  const auto tail = b.mul(b.add(quarters.error, lowest), b.f64(kPiOver2F64High));
  const auto angle = b.fma(quarters.value, b.f64(kPiOver2F64High),
                           b.fma(quarters.value, b.f64(kPiOver2F64Low), tail));
  const auto first = b.lt(magnitude, b.f64(0x1.9p-1));  // within the first quadrant: no rounding
  return {b.select(first, magnitude, angle), b.select(first, b.i64(0), b.bitcast(t))};
}

}  // namespace tilewright::ir::math
