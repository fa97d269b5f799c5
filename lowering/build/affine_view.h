// SPDX-License-Identifier: Apache-2.0
//
// Index expressions as polyhedral values and back. Names are passed through `rename`, so that a dimension
// and a loop of the same name stay apart.
#pragma once

#include <functional>
#include <optional>

#include "frontend/ir/context.h"
#include "schedules/polyhedra/bound_expr.h"

namespace tilewright::build {

using Rename = std::function<std::string(ir::Expr name)>;  // of a Var or Extent

// No value when the expression is not quasi-affine (products of symbols, reads, selects).
std::optional<poly::BoundExpr> to_bound(ir::Expr expr, const Rename& rename);

// `name` says what expression a symbol stands for.
using Resolve = std::function<ir::Expr(const std::string& name)>;
// No value for a selection on a condition.
std::optional<ir::Expr> to_ir(ir::Context& context, const poly::BoundExpr& expr,
                              const Resolve& resolve);

// Adds value < bound (value >= bound) where it is a conjunction; a disjunction is left out, which only
// enlarges the set.
void add_less(poly::BasicSet& set, const poly::AffineExpr& value, const poly::BoundExpr& bound);
void add_at_least(poly::BasicSet& set, const poly::AffineExpr& value, const poly::BoundExpr& bound);
// Adds an affine comparison or a conjunction of them; anything else is left out.
void add_condition(poly::BasicSet& set, ir::Expr condition, const Rename& rename);

}  // namespace tilewright::build
