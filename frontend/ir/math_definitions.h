// SPDX-License-Identifier: Apache-2.0
//
// Every math function of Tilewright, defined once: NAME_f32(b, x) and NAME_f64(b, x) write the
// function as primitives of the builder b (math_primitives.h). docs/math.md states what each
// reaches; bf16 and f16 go through f32.
#pragma once

#include "frontend/ir/math_definitions_erf.h"
#include "frontend/ir/math_definitions_exp.h"
#include "frontend/ir/math_definitions_log.h"
#include "frontend/ir/math_definitions_trig.h"
#include "frontend/ir/math_definitions_trig_f64.h"

// The functions, for code that goes through all of them.
#define TILEWRIGHT_MATH_FUNCTIONS(X) \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log1p) X(tanh) X(erf) X(sin) X(cos) X(rsqrt) X(sqrt)

namespace tilewright::ir::math {

template <class Format, class B>
typename Format::Real sqrt(B& b, typename Format::Real x) {
  return b.sqrt(x);
}

template <class Format, class B>
typename Format::Real rsqrt(B& b, typename Format::Real x) {
  return b.div(Format::real(b, 1), b.sqrt(x));
}

template <class Format, class B>
typename Format::Real sin(B& b, typename Format::Real x) {
  const auto q = quadrant(b, Format{}, b.abs(x));
  return turned_sin<Format>(b, sin_and_cos<Format>(b, q.angle), q.turns, b.bitcast(x));
}

template <class Format, class B>
typename Format::Real cos(B& b, typename Format::Real x) {
  const auto q = quadrant(b, Format{}, b.abs(x));
  return turned_cos<Format>(b, sin_and_cos<Format>(b, q.angle), q.turns);
}

#define TILEWRIGHT_DEFINE(name)                         \
  template <MathBuilder B>                              \
  typename B::F32 name##_f32(B& b, typename B::F32 x) { \
    return name<Single<B>>(b, x);                       \
  }                                                     \
  template <MathBuilder B>                              \
  typename B::F64 name##_f64(B& b, typename B::F64 x) { \
    return name<Double<B>>(b, x);                       \
  }
TILEWRIGHT_MATH_FUNCTIONS(TILEWRIGHT_DEFINE)
#undef TILEWRIGHT_DEFINE

}  // namespace tilewright::ir::math
