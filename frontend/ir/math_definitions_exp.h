// SPDX-License-Identifier: Apache-2.0
//
// exp, exp2, expm1 and tanh as sequences of primitives (math_primitives.h states the law they
// keep).
//
// All four split x = n ln 2 + r. n comes from adding 1.5 * 2^fraction, which leaves n in the low
// bits of the sum, so that 2^n needs one shift and no conversion. ln 2 stands as two floats; the
// product with the first is exact inside its fma, because what remains fits the format.
#pragma once

#include "frontend/ir/math_primitives.h"

namespace tilewright::ir::math {

// Takes n even, n = 2m: then 2^n = 2^m * 2^m, where 2^m is normal for every result that is neither
// zero nor infinite. One shift and two products scale right into overflow and into the subnormals
// (only the last product rounds), at the price of |r| <= ln 2 instead of half of it: two more fma,
// against four more integer operations.
template <class Format, class B>
typename Format::Real exp(B& b, typename Format::Real x0) {
  const auto x = clamp<Format>(b, x0, Format::kExpLeast, Format::kExpMost);
  const auto rounder = Format::real(b, Format::kRounder + Format::kBias);
  const auto t = b.fma(x, Format::real(b, Format::kLog2e / 2), rounder);
  const auto m = b.sub(t, rounder);
  auto r = b.fma(m, Format::real(b, -2 * Format::kLn2High), x);
  r = b.fma(m, Format::real(b, -2 * Format::kLn2Low), r);
  const auto one = Format::real(b, 1);
  const auto p = b.fma(b.fma(horner<Format>(b, r, Format::kExp), r, one), r, one);
  const auto scale = power_of_two<Format>(b, b.bitcast(t));
  return b.mul(b.mul(p, scale), scale);
}

// Takes every n, |r| <= 1/2, so that integers give exact powers. 2^n is the product of two powers
// of about n/2 each: the low bits of t hold n + 2 * bias, which is halved.
template <class Format, class B>
typename Format::Real exp2(B& b, typename Format::Real x0) {
  const auto x = clamp<Format>(b, x0, Format::kExp2Least, Format::kExp2Most);
  const auto rounder = Format::real(b, Format::kRounder + 2 * Format::kBias);
  const auto t = b.add(x, rounder);
  const auto r = b.sub(x, b.sub(t, rounder));
  const auto p = b.fma(horner<Format>(b, r, Format::kExp2), r, Format::real(b, 1));
  const auto whole = b.bitcast(t);
  const auto half = b.lshr(whole, Format::bits(b, 1));
  const auto first = power_of_two<Format>(b, half);
  const auto second = power_of_two<Format>(b, b.sub(whole, half));
  return b.mul(b.mul(p, first), second);
}

// e^r - 1 = r + r^2 P(r) for |r| <= ln(2) / 2.
template <class Format, class B>
typename Format::Real expm1_reduced(B& b, typename Format::Real r) {
  return b.fma(b.mul(r, r), horner<Format>(b, r, Format::kExpm1), r);
}

// e^x - 1 = 2^n q + (2^n - 1) with q = e^r - 1; computed at half its size, since n reaches the
// exponent that has no power of two. Around zero halving would lose a subnormal's last bit and the
// sum a zero's sign; there the result is x.
template <class Format, class B>
typename Format::Real expm1(B& b, typename Format::Real x0) {
  const auto x = clamp<Format>(b, x0, Format::kExpm1Least, Format::kExpMost);
  const auto rounder = Format::real(b, Format::kRounder + (Format::kBias - 1));
  const auto t = b.fma(x, Format::real(b, Format::kLog2e), rounder);
  const auto n = b.sub(t, rounder);
  auto r = b.fma(n, Format::real(b, -Format::kLn2High), x);
  r = b.fma(n, Format::real(b, -Format::kLn2Low), r);
  const auto scale = power_of_two<Format>(b, b.bitcast(t));
  const auto half = b.fma(scale, expm1_reduced<Format>(b, r), b.sub(scale, Format::real(b, 0.5)));
  const auto tiny = b.lt(b.abs(x0), Format::real(b, Format::kTiny));
  return b.select(tiny, x0, b.add(half, half));
}

// tanh |x| = q = h / (1 + h) with h = expm1(2 |x|) / 2, which damps h's error the more, the larger
// it is. For small h the rounding of 1 + h would cost most; there q = h - h q, where q's error
// counts only h times. The result is not negative, so x's sign can be set at the end.
template <class Format, class B>
typename Format::Real tanh(B& b, typename Format::Real x) {
  const auto half_of_one = Format::real(b, 0.5);
  const auto a = b.min(Format::real(b, Format::kTanhMost), b.abs(x));
  const auto u = b.add(a, a);
  const auto rounder = Format::real(b, Format::kRounder + (Format::kBias - 1));
  const auto t = b.fma(u, Format::real(b, Format::kLog2e), rounder);
  const auto n = b.sub(t, rounder);
  auto r = b.fma(n, Format::real(b, -Format::kLn2High), u);
  if constexpr (Format::kFraction == 52) {  // f32's ln 2 is off by 2^-29 of itself only
    r = b.fma(n, Format::real(b, -Format::kLn2Low), r);
  }
  const auto scale = power_of_two<Format>(b, b.bitcast(t));
  const auto h = b.fma(scale, expm1_reduced<Format>(b, r), b.sub(scale, half_of_one));
  const auto q = b.div(h, b.add(h, Format::real(b, 1)));
  const auto result = b.select(b.lt(h, half_of_one), b.fma(b.neg(h), q, h), q);
  return with_sign_of<Format>(b, result, x);
}

}  // namespace tilewright::ir::math
