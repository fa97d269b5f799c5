// SPDX-License-Identifier: Apache-2.0
//
// Which phase of its barrier each arrival is of, as a function of its loops. A guess: what reaches a slot of a ring
// in lap n is of phase n; of a barrier alone, what iteration n does. Law: where `wrong_phases` is empty, in every run
// each phase ends with exactly the arrivals, and the bytes, that are said to be of it (docs/decisions/proof.md).
#pragma once

#include "lowering/proof/order.h"

namespace tilewright::proof {

// Something that is not shown of an event.
struct Unshown {
  std::size_t event = kNone;
  std::string what;
  poly::Set where;  // instances

  Unshown() : where(poly::Space{}) {}
};

using Phases = std::vector<std::optional<AffineExpr>>;  // of each event
Result<Phases> guess_phases(const Statements& statements, poly::Context& polyhedra,
                            poly::Limits limits = {});

// The phases of an object that are complete some time: over the loops around it, then `e0`, ... and `p`. Fewer, where
// a count is not shown.
struct Completed {
  poly::Set phases;
  std::vector<Unshown> wrong;

  Completed() : phases(poly::Space{}) {}
};
Result<Completed> completed_phases(const Statements& statements, poly::Context& polyhedra,
                                   const Order& order, std::size_t object,
                                   poly::Limits limits = {});

}  // namespace tilewright::proof
