// SPDX-License-Identifier: Apache-2.0
//
// The factors of a product. What an expression computes is `rest * product(over) / product(under)` in exact
// arithmetic, where the factors are those that a predicate accepts: through products, quotients and signs,
// and out of sums and selections whose parts all have them. Quotients are taken apart in floats alone; an
// integer product wraps, and so may be taken apart too. Law: over the reals (integers: modulo two to the
// width) the value is that of the expression wherever it is defined (tests/unit/frontend/algebra).
#pragma once

#include <functional>
#include <vector>

#include "frontend/ir/context.h"

namespace tilewright::algebra {

struct Factors {
  ir::Expr rest;
  std::vector<ir::Expr> over;
  std::vector<ir::Expr> under;
};

// `moves` says which expressions are factors to take out; it is asked for the largest first.
Factors take_factors(ir::Context& context, ir::Expr expr,
                     const std::function<bool(ir::Expr)>& moves);

// value * product(over) / product(under), in this order.
ir::Expr with_factors(ir::Context& context, ir::Expr value, const std::vector<ir::Expr>& over,
                      const std::vector<ir::Expr>& under);

}  // namespace tilewright::algebra
