// SPDX-License-Identifier: Apache-2.0
//
// The algorithm-level bounds check: for all allowed sizes every shape is at least 0 (E0705) and every read
// lies in its tensor's range (E0703). Law: what passes has no out-of-bounds read at any allowed size; a
// refusal that does not say `may` names sizes and indices at which the interpreter traps.
// Tests: tests/unit/schedules/polyhedra/check_reads_test.cpp.
#pragma once

#include "schedules/polyhedra/access.h"

namespace tilewright::poly {

// One diagnostic for each read that is not in bounds, with sizes, indices and cell as evidence.
Result<Ok> check_reads(Context&, const ir::Algorithm& algorithm, const Limits& = {});

}  // namespace tilewright::poly
