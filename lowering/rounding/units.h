// SPDX-License-Identifier: Apache-2.0
//
// How far one operation of a target may be from the real one: what all bounds of this room are made of. The machine's
// file says whether a multiply-add rounds once and whether subnormals stay; the table of math functions says how
// many units in the last place each is off (docs/math.md: of f32 tested for every input).
#pragma once

#include "frontend/ir/expr.h"
#include "schedules/machine/machine.h"

namespace tilewright::rounding {

struct Units {
  bool fma_rounds_once = true;
  bool subnormals = true;
  double ulp_scale = 1;  // of math functions; only tests have another one
};
Units units_of(const machine::Machine& machine);

// |rounded - exact| <= relative * |rounded| + absolute for one operation done in the type, of which the exact result
// lies within its range.
struct Step {
  double relative = 0;
  double absolute = 0;
};
Step rounding_step(const Units& units, ir::ScalarType type);
// The same of a math function, whatever its result.
Step math_step(const Units& units, ir::OpCode op, ir::ScalarType type);

}  // namespace tilewright::rounding
