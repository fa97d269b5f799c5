// SPDX-License-Identifier: Apache-2.0
//
// Described instructions (schedules/machine) on data. The emitted code calls them by LLVM's name and gives
// registers, the Program by their own and gives tiles; both take the values from here, in the order of the
// description's numeric unit.
#pragma once

#include <functional>

#include "lowering/validate/datum.h"
#include "schedules/machine/instruction.h"

namespace tilewright::validate {

// The instruction that LLVM's intrinsic of this name is, with full registers as operands.
std::optional<machine::Meaning> find_emission(ir::Context& context, std::string_view intrinsic);

// Cells of the result in row-major order. `element(operand, i)`: cell i of an operand, as the bits of its type.
std::vector<Datum> execute_described(
    Arithmetic& arithmetic, const machine::Meaning& meaning,
    const std::function<Datum(std::size_t, std::int64_t)>& element);

}  // namespace tilewright::validate
