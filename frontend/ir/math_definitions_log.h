// SPDX-License-Identifier: Apache-2.0
//
// log, log2 and log1p as sequences of primitives (math_primitives.h states the law they keep).
//
// Each writes its argument as 2^k (1 + f) with 2/3 <= 1 + f < 4/3, so |f| <= 1/3 and k = 0 around
// one, where the result must be right relative to f. The split is integer arithmetic on the bits.
#pragma once

#include <limits>

#include "frontend/ir/math_primitives.h"

namespace tilewright::ir::math {

// Constants of the split.
template <class Format>
struct LogLayout {
  using Word = typename Format::Word;
  static constexpr double kPower = static_cast<double>(Word{1} << Format::kFraction);
  static constexpr Word kFractionMask = (Word{1} << Format::kFraction) - 1;
  static constexpr Word exponent_field(int e) { return static_cast<Word>(e) << Format::kFraction; }
};

// The bits of u > 0, moved so that the exponent field steps at 2/3 * 2^k: the field then holds
// k + bias, and the fraction field the distance of u / 2^k from 2/3.
template <class Format, class B>
typename Format::Bits log_split(B& b, typename Format::Real u) {
  using Word = typename Format::Word;
  constexpr Word kOne = LogLayout<Format>::exponent_field(Format::kBias);
  return b.add(b.bitcast(u), Format::bits(b, static_cast<Word>(kOne - Format::kTwoThirds)));
}

// The exponent field as a float, less `origin`: the field stands in the low bits of 2^fraction.
template <class Format, class B>
typename Format::Real log_exponent(B& b, typename Format::Bits split,
                                   typename Format::Real origin) {
  constexpr auto kPowerBits = LogLayout<Format>::exponent_field(Format::kBias + Format::kFraction);
  const auto field = b.lshr(split, Format::bits(b, Format::kFraction));
  return b.sub(b.bitcast(b.or_(field, Format::bits(b, kPowerBits))), origin);
}

// log(1 + f) for |f| <= 1/3.
template <class Format, class B>
typename Format::Real log_reduced(B& b, typename Format::Real f) {
  const auto p = b.fma(horner<Format>(b, f, Format::kLog), f, Format::real(b, -0.5));
  return b.fma(b.mul(f, f), p, f);
}

// k ln 2 + log(1 + f). ln 2 rounded to f32 is off by 2^-29 of itself only; f64 takes both halves.
template <class Format, class B>
typename Format::Real log_sum(B& b, typename Format::Real k, typename Format::Real reduced) {
  auto sum = reduced;
  if constexpr (Format::kFraction == 52) {
    sum = b.fma(k, Format::real(b, Format::kLn2Low), sum);
  }
  return b.fma(k, Format::real(b, Format::kLn2High), sum);
}

// The result where `position`, the argument as seen from the pole, is not a positive finite number:
// -inf at the pole, NaN below it, x itself at inf and NaN.
template <class Format, class B>
typename Format::Real log_edges(B& b, typename Format::Real position, typename Format::Real x,
                                typename Format::Real result) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto zero = Format::real(b, 0);
  const auto nan = Format::real(b, std::numeric_limits<double>::quiet_NaN());
  const auto low = b.select(b.lt(position, zero), nan, Format::real(b, -kInfinity));
  const auto inner = b.select(b.lt(x, Format::real(b, kInfinity)), result, x);
  return b.select(b.le(position, zero), low, inner);
}

template <class Format>
struct LogParts {
  typename Format::Real exponent;  // k
  typename Format::Real reduced;  // log(1 + f)
};

// Subnormals are first multiplied by 2^fraction, which makes them normal and raises k as much.
template <class Format, class B>
LogParts<Format> log_parts(B& b, typename Format::Real x) {
  using Layout = LogLayout<Format>;
  const auto tiny = b.lt(x, Format::real(b, Format::kLeastNormal));
  const auto u = b.select(tiny, b.mul(x, Format::real(b, Layout::kPower)), x);
  const auto split = log_split<Format>(b, u);
  const auto origin =
      b.select(tiny, Format::real(b, Layout::kPower + Format::kBias + Format::kFraction),
               Format::real(b, Layout::kPower + Format::kBias));
  const auto above = b.and_(split, Format::bits(b, Layout::kFractionMask));
  const auto mantissa = b.bitcast(b.add(above, Format::bits(b, Format::kTwoThirds)));
  const auto f = b.sub(mantissa, Format::real(b, 1));
  return {log_exponent<Format>(b, split, origin), log_reduced<Format>(b, f)};
}

template <class Format, class B>
typename Format::Real log(B& b, typename Format::Real x) {
  const auto parts = log_parts<Format>(b, x);
  return log_edges<Format>(b, x, x, log_sum<Format>(b, parts.exponent, parts.reduced));
}

template <class Format, class B>
typename Format::Real log2(B& b, typename Format::Real x) {
  const auto parts = log_parts<Format>(b, x);
  const auto result = b.fma(parts.reduced, Format::real(b, Format::kLog2e), parts.exponent);
  return log_edges<Format>(b, x, x, result);
}

// k is read off u = 1 + x as rounded, but f = (1 + x) / 2^k - 1 comes from x itself: x / 2^k plus
// 2^-k - 1, rounded once. It takes x / 4 times 2^(2-k), since 2^-k need not be a normal number.
// What x / 4 loses of a subnormal does not show: around zero the result is x, which keeps its sign
// too.
template <class Format, class B>
typename Format::Real log1p(B& b, typename Format::Real x) {
  using Layout = LogLayout<Format>;
  using Word = typename Format::Word;
  constexpr auto kTwiceBiasAndTwo = Layout::exponent_field(2 * Format::kBias + 2);
  const auto quarter = Format::real(b, 0.25);
  const auto u = b.add(x, Format::real(b, 1));
  const auto split = log_split<Format>(b, u);
  const auto k = log_exponent<Format>(b, split, Format::real(b, Layout::kPower + Format::kBias));
  const auto field = b.and_(split, Format::bits(b, static_cast<Word>(~Layout::kFractionMask)));
  const auto scale = b.bitcast(b.sub(Format::bits(b, kTwiceBiasAndTwo), field));
  const auto rest = b.fma(quarter, scale, Format::real(b, -1));
  const auto f = b.fma(b.mul(x, quarter), scale, rest);
  const auto result = log_sum<Format>(b, k, log_reduced<Format>(b, f));
  const auto tiny = b.lt(b.abs(x), Format::real(b, Format::kTiny));
  return b.select(tiny, x, log_edges<Format>(b, u, x, result));
}

}  // namespace tilewright::ir::math
