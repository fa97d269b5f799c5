// SPDX-License-Identifier: Apache-2.0
//
// Where a decision of a Program goes a given way: the set of extents and loop variables, from the loops, guards
// and lets around it, the declared ranges and what the Program requires. Law: the set is never too small, so
// an empty one means that no run takes the outcome; it is exact where `open` is empty, and its point then is
// one at which a run does. Bounded by isl's count of operations, so an answer does not depend on the machine.
// Tests: tests/unit/lowering/check/reach_test.cpp (against enumeration).
#pragma once

#include <string>
#include <vector>

#include "lowering/check/decisions.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::check {

struct Reach {
  enum class Kind : std::uint8_t { Impossible, Possible, Undecided };
  Kind kind = Kind::Undecided;
  // Possible: of all sizes in the set those whose sum is smallest, then first in order of declaration. Where
  // the search was cut short, some sizes.
  ir::Bindings sizes;
  // What keeps the set from being exact, or an undecided one from being decided; in words.
  std::string open;
  // `open` is about data: other inputs may go the other way at the same sizes.
  bool on_data = false;
};

class Reachability {
 public:
  // Of one operation; the outcomes of the applications take a fraction of it.
  static constexpr poly::Limits kLimits{10'000};

  Reachability(ir::Context& context, const program::Program& program,
               poly::Limits limits = kLimits);
  // In the order of program::Coverage.
  const std::vector<Decision>& decisions() const { return decisions_.list; }
  // Of the decision with this number, its first or second outcome.
  Reach find(std::size_t decision, bool first);

 private:
  ir::Context& context_;
  const program::Program& program_;
  Decisions decisions_;
  poly::Context isl_;
  poly::Limits limits_;
  int asked_ = 0;
  int cut_short_ = 0;
};

}  // namespace tilewright::check
