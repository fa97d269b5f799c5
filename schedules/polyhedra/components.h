// SPDX-License-Identifier: Apache-2.0
//
// Splitting of a set into independent parts, private to this room. isl's work grows faster than the number
// of constraints, and most dimensions of a footprint have nothing to do with each other. Law: a point lies
// in the set and its parameters in `assumed` exactly when its parts lie in the `points` of all components.
#pragma once

#include <vector>

#include "schedules/polyhedra/set.h"

namespace tilewright::poly {

// Constraints that share no name with the others, so that their points can be studied alone: small sets
// are cheap. `points` holds the constraints of both.
struct Component {
  Set points;
  Set assumed;
};

// Splits single conjunctions; every dimension is in one component. Unions stay whole. A name that no space
// has stays in a constraint of some component, where conversion refuses it.
std::vector<Component> components_of(const Set& set, const Set& assumed);

}  // namespace tilewright::poly
