// SPDX-License-Identifier: Apache-2.0
//
// The exact meaning of each operation in its declared type: what compiled code computes, bit for
// bit. f32 and f64 are IEEE; operations of bf16, f16 and tf32 are the f32 operation rounded once more
// (for + - * / sqrt that is the correctly rounded result); so is their fma. Math functions are the definitions of math_definitions.h. NaN results are
// compared as NaN, not by payload.
#pragma once

#include "frontend/ir/value.h"

namespace tilewright::ir {

// `type` is the type of the operands. Precondition: the operation accepts it. Integer division by
// zero and float to integer casts out of range set *undefined and return 0.
Scalar evaluate_op(OpCode op, ScalarType type, const Scalar* args, bool* undefined);
Scalar evaluate_cast(ScalarType from, ScalarType to, Scalar value, bool* undefined);
Scalar evaluate_saturate(ScalarType from, ScalarType to, Scalar value);
Scalar evaluate_round_to(ScalarType type, ScalarType grid, Scalar value);
// The value of an IntConst, FloatConst or BoolConst.
Scalar constant_value(Expr expr);

}  // namespace tilewright::ir
