// SPDX-License-Identifier: Apache-2.0
//
// sin and cos as sequences of primitives (math_primitives.h states the law they keep): how an f32
// is brought to its quadrant, and what both formats do there. Right for every finite argument.
#pragma once

#include "frontend/ir/math_primitives.h"

namespace tilewright::ir::math {

template <class Format>
struct Quadrant {
  typename Format::Real angle;  // in [-pi/4, pi/4], a little beyond by rounding
  typename Format::Bits turns;  // its low two bits count quarter turns
};

// |x| = turns * pi/2 + angle, in f64. An argument whose last bit weighs 2^e or more does not see
// the part of 2/pi that is a multiple of 4 / 2^e, since that adds whole turns only. With that part
// left out for four bands of arguments, the product with the leading 53 bits of 2/pi stays below
// 2^51: adding the rounder gives its nearest integer, and an fma the exact rest. The next 53 bits
// give the rest to 2^-54 of a quarter turn, against 2^-30, the nearest that any f32 comes to a
// multiple.
template <class B>
Quadrant<Single<B>> quadrant(B& b, Single<B>, typename B::F32 magnitude) {
  const auto below_50 = b.lt(magnitude, b.f32(0x1p50f));
  const auto below_76 = b.lt(magnitude, b.f32(0x1p76f));
  const auto below_102 = b.lt(magnitude, b.f32(0x1p102f));
  const auto pick = [&](const double (&c)[4]) {
    const auto far = b.select(below_102, b.f64(c[2]), b.f64(c[3]));
    return b.select(below_50, b.f64(c[0]), b.select(below_76, b.f64(c[1]), far));
  };
  const auto x = b.to_f64(magnitude);
  const auto high = pick(kTwoOverPiF32High);
  const auto rounder = b.f64(0x1.8p52);
  const auto t = b.fma(x, high, rounder);
  const auto rest = b.fma(x, high, b.sub(rounder, t));
  const auto quarters = b.fma(x, pick(kTwoOverPiF32Low), rest);
  return {b.to_f32(b.mul(quarters, b.f64(kPiOver2F64High))), b.trunc(b.bitcast(t))};
}

template <class Format>
struct SinAndCos {
  typename Format::Real sin, cos;
};

template <class Format, class B>
SinAndCos<Format> sin_and_cos(B& b, typename Format::Real y) {
  const auto z = b.mul(y, y);
  const auto sin = b.fma(b.mul(y, z), horner<Format>(b, z, Format::kSin), y);
  const auto p = b.fma(horner<Format>(b, z, Format::kCos), z, Format::real(b, -0.5));
  return {sin, b.fma(z, p, Format::real(b, 1))};
}

// sin of the angle after so many quarter turns, with its sign flipped where `flip` has a sign bit.
template <class Format, class B>
typename Format::Real turned_sin(B& b, SinAndCos<Format> at, typename Format::Bits turns,
                                 typename Format::Bits flip) {
  const auto one = Format::bits(b, 1);
  const auto odd = b.ne(b.and_(turns, one), Format::bits(b, 0));
  const auto half_turn = b.shl(turns, Format::bits(b, Format::kFraction == 23 ? 30 : 62));
  const auto sign = b.and_(b.xor_(half_turn, flip), Format::bits(b, Format::kSign));
  return b.bitcast(b.xor_(b.bitcast(b.select(odd, at.cos, at.sin)), sign));
}

// cos of the angle after so many quarter turns: minus there where turns is 1 or 2 modulo 4.
template <class Format, class B>
typename Format::Real turned_cos(B& b, SinAndCos<Format> at, typename Format::Bits turns) {
  const auto one = Format::bits(b, 1);
  const auto odd = b.ne(b.and_(turns, one), Format::bits(b, 0));
  const auto half_turn =
      b.shl(b.add(turns, one), Format::bits(b, Format::kFraction == 23 ? 30 : 62));
  const auto sign = b.and_(half_turn, Format::bits(b, Format::kSign));
  return b.bitcast(b.xor_(b.bitcast(b.select(odd, at.sin, at.cos)), sign));
}

}  // namespace tilewright::ir::math
