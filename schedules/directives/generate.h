// SPDX-License-Identifier: Apache-2.0
//
// Random schedules for property tests. Every directive of directives.def occurs, also in forms that are
// refused: those are left out. Laws: the same algorithm, seed and options give the same schedule on every
// machine; its tree passes tree::verify; applying `applied` to the default tree gives the tree.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/directives/directive.h"

namespace tilewright::directives {

struct GenerateOptions {
  int max_directives = 10;
  // The loop and nest names in directives are made of a letter and a number.
  std::string machine = "x86-64-v4";
};

struct RandomSchedule {
  tree::Schedule schedule;
  std::vector<Directive> applied;
  int refused = 0;  // directives that were tried and left out
};

RandomSchedule random_schedule(ir::Context& context, const ir::Algorithm& algorithm,
                               std::uint64_t seed, const GenerateOptions& options = {});

// The schedule as text in directives, in the order they were applied.
std::string print_directives(const RandomSchedule& random);

}  // namespace tilewright::directives
