// SPDX-License-Identifier: Apache-2.0
//
// Rounding bounds as `prove --bounds` and `check` print them: formulas, what they come to at given sizes, and the
// error that runs show.
#pragma once

#include "apps/cli/work.h"
#include "frontend/base/json.h"
#include "lowering/check/check.h"

namespace tilewright::cli {

struct BoundsReport {
  std::string text;
  Json json;
};
// The formulas of a Program, with where it is the same bits; by the numeric behaviour of the machine, if it names one
// that is built in. A diagnostic where there are none.
Result<BoundsReport> bounds_report(Work& work, const program::Program& program,
                                   const std::string& machine);

// "error 1.2e-7 measured in f80, at most 3.4e-6 by its operations on these inputs", of runs that a check made; empty
// where no output is of floats.
std::string measured_line(Work& work, const program::Program& program, const check::Report& report);

}  // namespace tilewright::cli
