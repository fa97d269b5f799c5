// SPDX-License-Identifier: Apache-2.0
//
// `p[i, k < K] = sort(j < N) x[i, j]`: where the k-th of the values in ascending order stands, of equal ones the
// first first, NaNs last. It is stated by what it means: the rank of each value is the number of those before it,
// and `p` is the inverse of the ranks.
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

// The equations `p.rank` and `p`. Precondition: the value is a number.
std::vector<Equation> sort_equations(Context& context, const Sort& sort);

}  // namespace tilewright::ir
