// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/math_table.h"

#include <cmath>

#include "frontend/ir/math_scalar.h"

namespace tilewright::ir {

namespace {

double reference_rsqrt(double x) { return 1.0 / std::sqrt(x); }

// row(Op, name of the definition, reference, ulps)
#define TILEWRIGHT_MATH_ROWS(row)                                                               \
  row(Exp, exp, std::exp, 2) row(Exp2, exp2, std::exp2, 2) row(Expm1, expm1, std::expm1, 2)     \
      row(Log, log, std::log, 2) row(Log2, log2, std::log2, 2) row(Log1p, log1p, std::log1p, 2) \
          row(Tanh, tanh, std::tanh, 2) row(Erf, erf, std::erf, 2) row(Sin, sin, std::sin, 4)   \
              row(Cos, cos, std::cos, 4) row(Rsqrt, rsqrt, reference_rsqrt, 2)

// The functions of a row in each float type, as functions on the values that a Scalar holds.
#define TILEWRIGHT_MATH_ENTRY(op, name, system, ulps)                                       \
  double op##_in_f64(double x) { return math::name##_f64(x); }                              \
  double op##_in_f32(double x) {                                                            \
    return static_cast<double>(math::name##_f32(static_cast<float>(x)));                    \
  }                                                                                         \
  double op##_reference(double x) { return system(x); }                                     \
  double op##_in_bf16(double x) { return round_to_type(ScalarType::BF16, op##_in_f32(x)); } \
  double op##_in_f16(double x) { return round_to_type(ScalarType::F16, op##_in_f32(x)); }   \
  double op##_in_tf32(double x) { return round_to_type(ScalarType::TF32, op##_in_f32(x)); }
TILEWRIGHT_MATH_ROWS(TILEWRIGHT_MATH_ENTRY)
#undef TILEWRIGHT_MATH_ENTRY

struct Row {
  OpCode op;
  MathFunction in_bf16, in_f16, in_tf32, in_f32, in_f64, reference;
  double ulps;
};
constexpr Row kRows[] = {
#define TILEWRIGHT_MATH_ENTRY(op, name, reference, ulps)    \
  {OpCode::op,  op##_in_bf16, op##_in_f16,    op##_in_tf32, \
   op##_in_f32, op##_in_f64,  op##_reference, ulps},
    TILEWRIGHT_MATH_ROWS(TILEWRIGHT_MATH_ENTRY)
#undef TILEWRIGHT_MATH_ENTRY
};

const Row* find(OpCode op) {
  for (const Row& row : kRows)
    if (row.op == op) return &row;
  return nullptr;
}

}  // namespace

MathFunction math_function(OpCode op, ScalarType type) {
  const Row* row = find(op);
  if (!row) return nullptr;
  switch (type) {
    case ScalarType::BF16: return row->in_bf16;
    case ScalarType::F16: return row->in_f16;
    case ScalarType::TF32: return row->in_tf32;
    case ScalarType::F32: return row->in_f32;
    case ScalarType::F64: return row->in_f64;
    default: return nullptr;
  }
}

MathFunction reference_math(OpCode op) {
  const Row* row = find(op);
  return row ? row->reference : nullptr;
}

double evaluate_math(OpCode op, ScalarType type, double x) { return math_function(op, type)(x); }

double math_ulps(OpCode op) {
  const Row* row = find(op);
  return row ? row->ulps : 0;
}

}  // namespace tilewright::ir
