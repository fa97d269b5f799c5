// SPDX-License-Identifier: Apache-2.0
//
// Points of folds in few pieces. For this room's own files. Law: the points within `around` stay the same.
#pragma once

#include "frontend/base/result.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::proof {

// `hints`: constraints that may hold of all points.
Result<poly::Set> compact(poly::Context& polyhedra, const poly::Set& points,
                          const poly::Set& around, const poly::BasicSet& hints,
                          const poly::Limits& limits);

}  // namespace tilewright::proof
