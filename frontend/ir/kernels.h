// SPDX-License-Identifier: Apache-2.0
//
// One loop per operation and type over columns of scalars: the arithmetic of every interpreter, and
// of evaluate.h with one lane. Law: a lane's result does not depend on the other lanes.
#pragma once

#include <cstdint>

#include "frontend/ir/value.h"

namespace tilewright::ir {

// Lane masks: 0 is off; kPossible alone marks a lane whose result may matter but must not trap (an
// arm that rounding might choose); kActive marks a lane that runs.
inline constexpr std::uint8_t kPossible = 1;
inline constexpr std::uint8_t kChosen = 2;
inline constexpr std::uint8_t kActive = kPossible | kChosen;

// dst[l] = op(a[l], b[l], c[l]) for l < n; operands beyond the arity are not looked at. Returns the
// first chosen lane whose operation is undefined, or -1. A null mask means every lane. dst may be
// one of the operands.
using Kernel = int (*)(Scalar* dst, const Scalar* a, const Scalar* b, const Scalar* c, int n,
                       const std::uint8_t* mask);

// A column of floats as an array: compilers vectorise loops over these, not over unions.
static_assert(sizeof(Scalar) == sizeof(double));
inline const double* floats(const Scalar* column) { return &column->f; }
inline double* floats(Scalar* column) { return &column->f; }

// Null when the operation does not accept the type.
Kernel op_kernel(OpCode op, ScalarType type);
Kernel cast_kernel(ScalarType from, ScalarType to);
// Whether a cast has a value for every operand: not from floats to integers, nor from u64 to index.
constexpr bool cast_is_total(ScalarType from, ScalarType to) {
  const bool truncates = is_float(from) && !holds_floats(to) && to != ScalarType::Bool;
  return !truncates && !(from == ScalarType::U64 && to == ScalarType::Index);
}
// Null when there is no saturating conversion to the type. Limit: without rounding to a float type.
Kernel saturate_kernel(ScalarType from, ScalarType to);
Kernel limit_kernel(ScalarType from, ScalarType to);
Kernel round_kernel(ScalarType type, ScalarType grid);
// a[l] * b[l] + c[l] with both roundings in f64: the fold of the reals reading.
Kernel multiply_add_kernel();

// The value rounded to the grid of bf16, f16 or tf32, in one rounding.
double round_narrow(ScalarType type, double x);

}  // namespace tilewright::ir
