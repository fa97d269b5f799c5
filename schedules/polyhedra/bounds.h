// SPDX-License-Identifier: Apache-2.0
//
// Bounds inference: the box around a set, parametric in its parameters, and the largest size of such a box
// over loops. Lower bounds are inclusive, upper bounds exclusive: a dimension lies in [lower, upper).
// Law: for all parameter values in `assumed`, every point of the set lies in the box; where `exact`, the
// box is the smallest one wherever the set is not empty.
// Tests: tests/unit/schedules/polyhedra/bounds_test.cpp (against enumeration).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/polyhedra/bound_expr.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::poly {

struct DimBounds {
  // Over the set's parameters. Usually affine or one level of min and max.
  BoundExpr lower;
  BoundExpr upper;
  // upper - lower, simplified; at least 0 where `may_be_empty`.
  BoundExpr extent;
  bool exact = false;
  // The set has no point for some parameter values in `assumed`.
  bool may_be_empty = false;
};

// The bounds of one dimension; the other dimensions are projected out. `assumed` holds facts about the
// parameters (no dimensions; its parameters may be more than the set's). Fails with E0704 where a side is
// unbounded. Turn outer loops into parameters with `dims_to_params` to get bounds in terms of them.
Result<DimBounds> dim_bounds(Context&, const Set& set, std::string_view dim, const Set& assumed,
                             const Limits& = {});
// The bounds of every dimension in order.
Result<std::vector<DimBounds>> box_hull(Context&, const Set& set, const Set& assumed,
                                        const Limits& = {});

// The largest value that `expr` takes over the points of `domain`, as an expression in the parameters of
// the domain: an upper bound, exact in the usual convex case. Names in `expr` that are neither dimension
// nor parameter of the domain are parameters of the result. min(96, M - 96*io) over { [io] : 0 <= 96*io < M }
// gives min(96, M).
Result<BoundExpr> max_over(Context&, const BoundExpr& expr, const Set& domain, const Limits& = {});
// The largest value over the domain and all its parameters, when it is bounded: for sizes of buffers.
Result<std::optional<std::int64_t>> max_value(Context&, const BoundExpr& expr, const Set& domain,
                                              const Limits& = {});

// The conjunction of `assumed` proves a >= b for all values.
Result<bool> proves_at_least(Context&, const Set& assumed, const BoundExpr& a, const BoundExpr& b,
                             const Limits& = {});
// Drops operands of min and max that `assumed` makes redundant.
Result<BoundExpr> simplify(Context&, const BoundExpr& expr, const Set& assumed, const Limits& = {});

}  // namespace tilewright::poly
