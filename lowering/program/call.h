// SPDX-License-Identifier: Apache-2.0
//
// What a call computes. An intrinsic that is a described instruction (schedules/machine) gives the bits of its
// numeric unit; any other is its meaning in the exact reading of algorithms. Private to the interpreter.
#pragma once

#include <optional>

#include "frontend/base/result.h"
#include "frontend/ir/value.h"
#include "lowering/program/program.h"
#include "schedules/machine/instruction.h"

namespace tilewright::program {

class IntrinsicUnit {
 public:
  IntrinsicUnit(ir::Context& context, const Intrinsic& intrinsic);
  // Values of the outputs for these of the inputs. `sizes` binds the extents of the meaning.
  Result<ir::TensorMap> run(const ir::TensorMap& inputs, const ir::Bindings& sizes) const;

 private:
  const Intrinsic* intrinsic_;
  std::optional<machine::Meaning> described_;
};

// The description of an intrinsic, if it is one of the described instructions and means the same.
std::optional<machine::Meaning> description_of(ir::Context& context, const Intrinsic& intrinsic);

}  // namespace tilewright::program
