// SPDX-License-Identifier: Apache-2.0
//
// What a call of an algorithm means: the equations of the callee, over the tensors and sizes of the caller, under
// path names: of `h = cell(x = xs, w = w)` the result is `h`, and a local equation `gate` of `cell` is `h.gate`.
// Law: the caller computes with the results what the callee computes for the arguments.
#pragma once

#include <vector>

#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"

namespace tilewright::ir {

// `x = xs`, `w = w[l]`: a tensor of the caller, of which the first dimensions are fixed.
struct Argument {
  Symbol input;
  Symbol tensor;
  std::vector<Expr> leading;
  Span span;
};

struct Call {
  const Algorithm* callee = nullptr;
  std::vector<Argument> arguments;
  std::vector<Symbol> results;  // of the callee's outputs, in order
  Span span;
};

struct Inlined {
  std::vector<Equation> equations;
  std::vector<Loop> loops;  // over these equations
  std::vector<Expr> requirements;  // of the callee, where the caller does not have them already
};

// E0243 when the arguments and results are not those of the callee.
Result<Inlined> inline_call(Context& context, const Algorithm& caller, const Call& call);

}  // namespace tilewright::ir
