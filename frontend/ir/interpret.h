// SPDX-License-Identifier: Apache-2.0
//
// What an algorithm means. Three readings of the same equations:
//   reals  - float equations over f64, a stand-in for the extended reals;
//   exact  - every operation in its declared type, folds in a stated order: what code with that
//   order gives
//            bit for bit;
//   bound  - the reals, and for each cell a bound on the error of any program that rounds each
//   operation in
//            its declared type and folds in any order: computed from the sum of |terms| and the
//            fold lengths, never a fixed tolerance. Near a discrete decision (compare, min, max,
//            rounding) the bound covers both outcomes.
// Undefined operations (0/0, inf-inf, reads out of bounds, integer division by zero) are
// diagnostics in reals mode where they reach an output as NaN only if the inputs hold none: see
// InterpretOptions.
#pragma once

#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/value.h"

namespace tilewright::ir {

enum class Reading : std::uint8_t { Reals, Exact };

// The order of every fold in an exact reading: lexicographic from the identity. With `fused`, a
// float sum whose body is a product adds it by one fma: acc = fma(x, y, acc).
struct FoldOrder {
  bool fused = true;
};

struct InterpretOptions {
  Reading reading = Reading::Reals;
  FoldOrder order;
  std::int64_t step_limit = std::int64_t{1} << 40;  // scalar operations before a diagnostic
};

// Every equation's tensor, locals included; of a loop's body what the last iteration gave, if there was one. Inputs must have the declared types and the bound
// shapes, and the bindings must satisfy ranges and `requires`; otherwise a diagnostic (E08xx).
Result<TensorMap> interpret(const Algorithm& algorithm, const Bindings& bindings,
                            const TensorMap& inputs, const InterpretOptions& options = {});

// A cell's real value and how far a conforming program may be from it (infinity: no claim).
struct BoundedTensor {
  Tensor value;  // in reals
  std::vector<double> bound;  // same layout, absolute
};
Result<std::map<Symbol, BoundedTensor>> interpret_with_bound(const Algorithm& algorithm,
                                                             const Bindings& bindings,
                                                             const TensorMap& inputs);

// The first cell of `got` further from `reference` than its bound, if any: index, values, bound.
struct BoundViolation {
  std::vector<std::int64_t> cell;
  double expected = 0;
  double got = 0;
  double bound = 0;
};
std::optional<BoundViolation> find_violation(const BoundedTensor& reference, const Tensor& got);

// Deterministic inputs for a seed: floats in [-1, 1] with some exact zeros, ones and (when `wide`)
// large magnitudes; integers small; bool fair.
TensorMap random_inputs(const Algorithm& algorithm, const Bindings& bindings, std::uint64_t seed,
                        bool wide = false);

}  // namespace tilewright::ir
