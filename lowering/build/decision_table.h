// SPDX-License-Identifier: Apache-2.0
//
// Several schedules of one algorithm as a decision table: the first whose guard holds is the one that runs, and
// after them one without a guard. Laws: every row is the one that runs at some sizes which the algorithm allows,
// the last one excepted; each row's sizes are disjoint from the others', and all of them together are what the
// algorithm allows. Emptiness is shown by polyhedra over the guards, which must be affine.
// Tests: tests/unit/lowering/build/decision_table_test.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "frontend/base/result.h"
#include "schedules/polyhedra/context.h"
#include "schedules/tree/tree.h"

namespace tilewright::build {

struct DecisionTable {
  // By row, the last one included: the sizes at which it runs, for people: "M >= 5 and 32 >= M". "never" where the
  // rows before the last one take every size.
  std::vector<std::string> sizes;
  // Sizes on both sides of each condition of a guard, with the row that runs there.
  struct Boundary {
    ir::Bindings sizes;
    std::size_t row = 0;
  };
  std::vector<Boundary> boundaries;
};

// Of these schedules, in this order; the last one has no guard. A failure is about schedule number `at`, in whose
// text its places stand: E0641 a guard that is not affine, E0642 a schedule that
// never runs, E0643 a name that two schedules have.
Result<DecisionTable> decide(poly::Context& polyhedra, const ir::Algorithm& algorithm,
                             std::span<const tree::Schedule> schedules, std::size_t* at = nullptr);

}  // namespace tilewright::build
