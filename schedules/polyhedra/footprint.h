// SPDX-License-Identifier: Apache-2.0
//
// The cells that a set of points touches: what bounds inference asks under a consumer's loops. Write the
// points of one tile as the iteration domain constrained by the loops around it, with the outer loop
// variables as parameters (`constrained` in set.h), and ask for the box.
// Tests: tests/unit/schedules/polyhedra/footprint_test.cpp.
#pragma once

#include <optional>
#include <vector>

#include "schedules/polyhedra/access.h"
#include "schedules/polyhedra/bounds.h"

namespace tilewright::poly {

// The cells that one access touches from the given points of its equation's iteration domain.
Result<Set> footprint(Context&, const Access& access, const Set& points, const Limits& = {});

struct TensorFootprint {
  Symbol tensor;
  // Within the tensor's index range.
  Set cells;
  bool exact = true;
};
// The union over all accesses of one tensor, for each tensor in order of first occurrence.
Result<std::vector<TensorFootprint>> footprints(Context&, const ir::Algorithm& algorithm,
                                                const std::vector<Access>& accesses,
                                                const Set& points, const Limits& = {});

// The smallest point that is needed, not available, and possible under the assumptions (facts about the
// parameters); nothing when all is covered.
Result<std::optional<Point>> first_uncovered(Context&, const Set& needed, const Set& available,
                                             const Set& assumed, const Limits& = {});

}  // namespace tilewright::poly
