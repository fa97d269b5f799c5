// SPDX-License-Identifier: Apache-2.0
//
// The one table of math functions: which definition stands for an operation in a type. Every
// reading and every target computes these. bf16, f16 and tf32 use the f32 definition, rounded once more.
#pragma once

#include "frontend/ir/expr.h"

namespace tilewright::ir {

using MathFunction = double (*)(double);

// Null when `op` is no math function or `type` no float type. The result is on the grid of `type`.
MathFunction math_function(OpCode op, ScalarType type);
// The system's function over f64, in which no part of ours has a share: what the bound reading starts from.
MathFunction reference_math(OpCode op);
// Precondition: math_function(op, type) is not null.
double evaluate_math(OpCode op, ScalarType type, double x);
// Largest error of the function in units in the last place of f32 or f64; 0 when `op` is no math
// function. The bound reading relies on it, and so does the exhaustive test of the definitions.
double math_ulps(OpCode op);

}  // namespace tilewright::ir
