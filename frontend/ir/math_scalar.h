// SPDX-License-Identifier: Apache-2.0
//
// Tilewright's math functions as C++ functions, for interpreters and tests: for each NAME of
// TILEWRIGHT_MATH_FUNCTIONS
//   float  NAME_f32(float x);     void NAME_f32(const float* x, float* y, std::size_t n);
//   double NAME_f64(double x);    void NAME_f64(const double* x, double* y, std::size_t n);
// The array forms compute y[i] = NAME(x[i]) with the widest vectors of this machine; x and y are
// the same array or do not overlap. Law: both forms, on every machine, give the bits of the
// definition.
#pragma once

#include <cstddef>

#include "frontend/ir/math_definitions.h"

namespace tilewright::ir::math {

#define TILEWRIGHT_DECLARE(name)                            \
  float name##_f32(float x);                                \
  double name##_f64(double x);                              \
  void name##_f32(const float* x, float* y, std::size_t n); \
  void name##_f64(const double* x, double* y, std::size_t n);
TILEWRIGHT_MATH_FUNCTIONS(TILEWRIGHT_DECLARE)
#undef TILEWRIGHT_DECLARE

}  // namespace tilewright::ir::math
