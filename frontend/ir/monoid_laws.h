// SPDX-License-Identifier: Apache-2.0
//
// The laws of a declared reduction, tested on sampled values: the identity changes nothing, grouping does not
// matter, and neither does order where it is declared `commutative`. Floats are read over the reals (f64, with
// a margin for its rounding); integers are exact. A sample where an operation has no value is skipped.
#pragma once

#include <optional>

#include "frontend/base/diagnostic.h"
#include "frontend/ir/algorithm.h"

namespace tilewright::ir {

// The law that a sample breaks (E0238), with the values as evidence. Precondition: verify() takes the parts.
std::optional<Diagnostic> broken_law(const MonoidDecl& declared);

}  // namespace tilewright::ir
