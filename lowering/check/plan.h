// SPDX-License-Identifier: Apache-2.0
//
// Which sizes to check a Program at. Candidates come from 0, 1, small primes and the neighbourhood of the
// constants that meet each extent in the Program; a dry run of control flow alone tells which outcomes of
// guards, loops and `min` bounds a candidate reaches and about how much it costs. Cheap candidates that reach
// something new are taken, then those that later ones made superfluous are dropped. The dry run looks at the
// first and last iterations of a loop only, so the interpreter's own coverage has the last word.
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "lowering/program/program.h"

namespace tilewright::check {

struct Candidate {
  ir::Bindings sizes;
  std::int64_t cost = 0;  // estimated steps
};

// Sizes in the order in which to run them: the plain ones first. Empty when none satisfy the declarations;
// may cost more than the budget only where even the cheapest does.
std::vector<Candidate> choose_sizes(const program::Program& program, std::int64_t step_budget,
                                    int min_runs);

// Values worth trying for one extent, ascending, and the largest constant that it meets (0: none).
struct CandidateValues {
  std::vector<std::int64_t> values;
  std::int64_t largest_constant = 0;
  // Around constants, of any size, that a comparison, division or minimum sets against the extent: a program
  // may change there, so each is tried if a run at it fits the budget.
  std::vector<std::int64_t> thresholds;
};
// For each extent in order of declaration (sizes.cpp).
std::vector<CandidateValues> candidate_values(const program::Program& program);
bool satisfies(const program::Program& program, const ir::Bindings& sizes);

// The control flow of a Program at one binding: what it reaches and costs (dry_run.cpp). Outcomes are keys
// that are stable for one Program.
struct DryRun {
  std::vector<std::uint64_t> outcomes;  // sorted
  std::int64_t cost = 0;
};
DryRun dry_run(const program::Program& program, const ir::Bindings& sizes);
// About how many steps one run takes, its inputs and outputs included.
std::int64_t cost_of_run(const program::Program& program, const ir::Bindings& sizes);

}  // namespace tilewright::check
