// SPDX-License-Identifier: Apache-2.0
//
// Intrinsics that are described instructions (schedules/machine). Law: such a call gives the bits of the
// instruction's numeric unit; any other is its meaning in the exact reading of algorithms.
#pragma once

#include <optional>

#include "frontend/ir/value.h"
#include "lowering/program/program.h"
#include "schedules/machine/instruction.h"

namespace tilewright::program {

// The description of an intrinsic, if it is one of the described instructions and means the same.
std::optional<machine::Meaning> description_of(ir::Context& context, const Intrinsic& intrinsic);

// The output of a described instruction for its inputs, by name.
ir::TensorMap run_described(const machine::Meaning& meaning, const ir::TensorMap& inputs);

}  // namespace tilewright::program
