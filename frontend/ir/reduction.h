// SPDX-License-Identifier: Apache-2.0
//
// What a fold combines, as expressions: one place that says what each monoid does, for the interpreter, the
// bound, lowering and the test of laws. Nothing else knows a monoid by name.
#pragma once

#include <string>
#include <vector>

#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"

namespace tilewright::ir {

struct Reduction {
  Monoid kind = Monoid::Sum;
  const MonoidDecl* declared = nullptr;
  std::vector<ScalarType> types;  // of the fields
  bool commutative = true;
};

// Precondition: the fold is one that verify() takes.
Reduction reduction_of(const Algorithm& algorithm, const Fold& fold);
// The names of the tensors' parts; empty for one value.
std::vector<std::string> part_names(const Algorithm& algorithm, const Fold& fold);

// The value of each field before the first term.
std::vector<Expr> identity(Context& context, const Reduction& reduction);
// `before` combined with `term`, field by field.
std::vector<Expr> combine(Context& context, const Reduction& reduction,
                          std::span<const Expr> before, std::span<const Expr> term);
// The next values of a fold of any form: `before` combined with the terms, or the body of a recurrence.
std::vector<Expr> next_values(Context& context, const Reduction& reduction, const Fold& fold,
                              std::span<const Expr> before);

}  // namespace tilewright::ir
