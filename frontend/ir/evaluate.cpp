// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/evaluate.h"

#include "frontend/ir/kernels.h"

namespace tilewright::ir {

Scalar evaluate_op(OpCode op, ScalarType type, const Scalar* args, bool* undefined) {
  Scalar out;
  out.i = 0;
  if (op_kernel(op, type)(&out, args, args + 1, args + 2, 1, nullptr) >= 0) {
    *undefined = true;
    out.i = 0;
  }
  return out;
}

Scalar evaluate_cast(ScalarType from, ScalarType to, Scalar value, bool* undefined) {
  if (from == to) return value;
  Scalar out;
  out.i = 0;
  if (cast_kernel(from, to)(&out, &value, nullptr, nullptr, 1, nullptr) >= 0) *undefined = true;
  return out;
}

Scalar evaluate_saturate(ScalarType from, ScalarType to, Scalar value) {
  Scalar out;
  out.i = 0;
  saturate_kernel(from, to)(&out, &value, nullptr, nullptr, 1, nullptr);
  return out;
}

Scalar evaluate_round_to(ScalarType type, ScalarType grid, Scalar value) {
  Scalar out;
  out.f = round_to_type(type, round_to_type(grid, value.f));
  return out;
}

Scalar constant_value(Expr expr) {
  Scalar out;
  out.i = 0;
  if (const auto* whole = expr.as<IntConst>()) out.i = whole->value;
  if (const auto* real = expr.as<FloatConst>()) out.f = real->value;
  if (const auto* truth = expr.as<BoolConst>()) out.i = truth->value;
  return out;
}

}  // namespace tilewright::ir
