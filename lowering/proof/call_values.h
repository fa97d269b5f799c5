// SPDX-License-Identifier: Apache-2.0
//
// A call of an intrinsic as what it computes: for each cell of its outputs an expression over the cells of its operands,
// by the description alone. Law: it is what the interpreter's call writes, up to the rounding of steps.
#pragma once

#include <vector>

#include "frontend/base/result.h"
#include "lowering/program/program.h"

namespace tilewright::proof {

using ir::Expr;

// One output: `buffer[cell] = value` for all values of the lanes, which all read before any writes.
struct CallOutput {
  struct Lane {
    Symbol name;
    Expr length;
  };
  std::vector<Lane> lanes;
  Symbol buffer;
  std::vector<Expr> cell;
  Expr value;
};

// `prefix` makes the names of lanes unlike all others. Fails with E0820 where the description has something that the
// proof cannot write out: a fold of unknown length, a scan, an update.
Result<std::vector<CallOutput>> outputs_of(ir::Context& context, const program::Program& program,
                                           const program::Call& call, std::string_view prefix);

}  // namespace tilewright::proof
