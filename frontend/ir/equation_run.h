// SPDX-License-Identifier: Apache-2.0
//
// Runs one equation over its domain: what every reading of an algorithm shares.
#pragma once

#include "frontend/ir/cells.h"

namespace tilewright::ir {

struct EquationContext {
  const Algorithm& algorithm;
  const Equation& equation;
  const Bindings& bindings;
  const CellStore& store;
};

struct EquationMode {
  bool reals = true;       // f64 in place of every float type
  bool fused = true;       // exact readings add products by one fma
  bool intervals = false;  // low and high as well
};

struct EquationResult {
  Tensor* value;
  std::vector<Scalar>* low;
  std::vector<Scalar>* high;
  bool certain;  // whether every interval is a point
};

// Fills the result, whose tensor has the bound shape. Takes the operations done off *steps_left.
Result<Ok> run_equation(const EquationContext& context, const EquationMode& mode,
                        EquationResult* result, std::int64_t* steps_left);

}  // namespace tilewright::ir
