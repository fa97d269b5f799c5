// SPDX-License-Identifier: Apache-2.0
//
// The sets of an algorithm: allowed sizes, iteration domains, index ranges of tensors. Parameters are the
// extents in order of declaration. Facts about sizes are kept apart from the domains (`assumptions`), so
// that domains stay small; operations that need them take them as an argument.
// Tests: tests/unit/schedules/polyhedra/domain_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "frontend/ir/algorithm.h"
#include "schedules/polyhedra/index.h"

namespace tilewright::poly {

// The sizes that declared ranges and `requires` allow, as a set without dimensions.
struct Assumptions {
  Set sizes;
  // False when a `requires` was not affine and was left out: more sizes are then taken as allowed.
  bool exact = true;
};
Assumptions assumptions(const ir::Algorithm& algorithm);

// The points at which an equation is evaluated: its indices, then its fold variables.
struct IterationDomain {
  Set points;
  std::size_t num_indices = 0;
  // False when a bound was not affine and was left out.
  bool exact = true;
};
IterationDomain iteration_domain(const ir::Algorithm& algorithm, const ir::Equation& equation);

// Names of the dimensions of a tensor's cells: `d0`, `d1`, ..., with primes where `taken` has the name.
std::vector<std::string> cell_names(std::size_t rank, const std::vector<std::string>& taken);

// The index range of an input or equation over the given dimensions. Not exact where an extent of its
// shape is not affine. Precondition: dims.size() is the tensor's rank.
struct TensorDomain {
  Set cells;
  bool exact = true;
};
TensorDomain tensor_domain(const ir::Algorithm& algorithm, Symbol tensor,
                           const std::vector<std::string>& dims);

// The range of a variable of a fold; where a bound depends on data, the widest that the facts allow.
Region variable_region(const ir::Algorithm& algorithm, const ir::Fold& fold, std::size_t variable);

std::vector<std::string> extent_names(const ir::Algorithm& algorithm);

}  // namespace tilewright::poly
