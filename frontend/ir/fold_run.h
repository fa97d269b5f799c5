// SPDX-License-Identifier: Apache-2.0
//
// Runs an equation whose fold is more than a plain reduction: conditions, `on_empty`, several fields, declared
// monoids, scans and updates. One cell and one term at a time, in the order that the fold states, whatever
// its form. The bound of a sum or product of one value holds for any order; that of any other monoid whose
// terms are uncertain for the stated order.
#pragma once

#include "frontend/ir/equation_run.h"

namespace tilewright::ir {

// One result for each tensor of the equation.
Result<Ok> run_fold(const EquationContext& context, const EquationMode& mode,
                    std::span<EquationResult> results, std::int64_t* steps_left);

}  // namespace tilewright::ir
