// SPDX-License-Identifier: Apache-2.0
//
// Simplification of Index and Bool expressions by linear normal form and constant ranges. Law: the result
// has the value of the input for every binding within the ranges (tests/laws/simplify_test.cpp); twice is
// once. Float operations are never touched.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "frontend/ir/context.h"

namespace tilewright::ir {

// Inclusive; an absent end is unbounded.
struct Interval {
  std::optional<std::int64_t> lo;
  std::optional<std::int64_t> hi;
};

// What is known of variables and extents, by name.
using Ranges = std::unordered_map<Symbol, Interval>;

// sum of coefficient * atom, plus a constant. Atoms are Index expressions that are not sums, by falling
// magnitude of their coefficient, then by hash; coefficients are not zero.
struct LinearForm {
  std::vector<std::pair<Expr, std::int64_t>> terms;
  std::int64_t constant = 0;

  std::int64_t coefficient(Expr atom) const;
};

// No value when a coefficient overflows.
std::optional<LinearForm> linear_form(Expr expr);
Expr to_expr(Context& context, const LinearForm& form);

Interval interval(Expr expr, const Ranges& ranges);
Expr simplify(Context& context, Expr expr, const Ranges& ranges);
// Decides a Bool expression by ranges alone.
std::optional<bool> decide(Context& context, Expr condition, const Ranges& ranges);

}  // namespace tilewright::ir
