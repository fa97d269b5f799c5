// SPDX-License-Identifier: Apache-2.0
//
// erf as a sequence of primitives (math_primitives.h states the law it keeps).
#pragma once

#include "frontend/ir/math_primitives.h"

namespace tilewright::ir::math {

// Below the switch, x + x P(x^2). Above it, 1 - 2^h(|x|), where h = log2(erfc) is a smooth function
// of low degree: 1 dominates, so h and the power need little accuracy of their own.
template <class Format, class B>
typename Format::Real erf(B& b, typename Format::Real x) {
  const auto a = b.abs(x);
  const auto small = b.fma(a, horner<Format>(b, b.mul(a, a), Format::kErfSmall), a);
  const auto held = b.min(Format::real(b, Format::kErfMost), a);
  const auto h = horner<Format>(b, held, Format::kErfTail);
  const auto rounder = Format::real(b, Format::kRounder + Format::kBias);
  const auto t = b.add(h, rounder);
  const auto f = b.sub(h, b.sub(t, rounder));
  const auto minus_power = horner<Format>(b, f, Format::kErfPower);
  const auto large = b.fma(minus_power, power_of_two<Format>(b, b.bitcast(t)), Format::real(b, 1));
  const auto is_small = b.lt(a, Format::real(b, Format::kErfSwitch));
  return with_sign_of<Format>(b, b.select(is_small, small, large), x);
}

}  // namespace tilewright::ir::math
