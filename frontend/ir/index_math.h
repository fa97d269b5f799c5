// SPDX-License-Identifier: Apache-2.0
//
// Exact arithmetic on indices: the folds that the builders apply, and floor division. Law: a folded
// expression has the value of the unfolded one for every binding (tests/laws/index_math_test.cpp).
#pragma once

#include "frontend/ir/context.h"

namespace tilewright::ir {

// Floor division and modulus. Precondition: b != 0.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - floor_div(a, b) * b; }

// The folded form of an operation on Index or Bool operands, or null when it stays as it is.
Expr fold_index_op(Context& context, OpCode op, std::span<const Expr> args);

}  // namespace tilewright::ir
