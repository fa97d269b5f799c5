// SPDX-License-Identifier: Apache-2.0
//
// `p[i, k < K] = sort(j < N) x[i, j]`: where the k-th of the values in ascending order stands, of equal ones the
// first first, NaNs last. It is stated as a merge sort: a loop over runs that double, each of which a recurrence
// merges from two. Law: the places are those of a stable sort (tests/unit/frontend/ir/folds_test.cpp).
#pragma once

#include <vector>

#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"

namespace tilewright::ir {

struct Sort {
  Symbol name;
  std::vector<Symbol> indices;  // all but the last
  std::vector<Expr> shape;
  Symbol rank;  // the last index
  Expr length;  // its range
  Symbol var;  // of the values
  Expr upper;  // exclusive
  Expr value;  // over `indices` and `var`
  bool descending = false;
};

// A loop over runs that double, and `p`. Precondition: the value is a number.
struct SortedEquations {
  std::vector<Equation> equations;
  std::vector<Loop> loops;  // over these equations
};
SortedEquations sort_equations(Context& context, const Sort& sort);

}  // namespace tilewright::ir
