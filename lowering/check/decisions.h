// SPDX-License-Identifier: Apache-2.0
//
// The decisions of a Program and what leads to each: the loops, guards and lets around it, as the expressions
// that stand there. Law: decisions have the order and kinds of program::Coverage.
// Tests: tests/unit/lowering/check/reach_test.cpp.
#pragma once

#include <vector>

#include "lowering/program/interpret.h"

namespace tilewright::check {

using ir::Expr;

// One thing that holds where control is. Range: a <= var < b. Holds, Fails: the condition a. Value: var is a.
struct Step {
  enum class Kind : std::uint8_t { Range, Holds, Fails, Value };
  Kind kind = Kind::Holds;
  Symbol var;
  Expr a;
  Expr b;
  int outer = -1;  // the step around it; -1: none
};

// Branch: the condition a. Loop: from a to b. Minimum: of a and b.
struct Decision {
  program::DecisionKind kind = program::DecisionKind::Branch;
  Expr a;
  Expr b;
  int step = -1;  // the innermost one around it
};

struct Decisions {
  std::vector<Step> steps;
  std::vector<Decision> list;
  // From the outermost to the innermost.
  std::vector<Step> path(const Decision& decision) const;
};
Decisions decisions_of(ir::Context& context, const program::Program& program);

}  // namespace tilewright::check
