// SPDX-License-Identifier: Apache-2.0
//
// What an algorithm declares of the values of its inputs, and what follows from that for indices and bounds that
// depend on data. Facts are checked where a call enters, made true by `clamp`, or assumed; the manifest lists
// them. Law: a value that the interpreter reads lies in its range.
#pragma once

#include <optional>

#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"
#include "frontend/ir/value.h"

namespace tilewright::ir {

// low <= value <= high, both Index expressions over extents, indices and variables: no reads.
struct ValueRange {
  Expr low;
  Expr high;
};

// The range of an Index expression, or none when nothing says one. Without reads it is the value itself.
std::optional<ValueRange> value_range(Context& context, const Algorithm& algorithm, Expr expr);
bool depends_on_data(Expr expr);

// E0250 unless the tensor has what is declared of it, or is only assumed to; a clamp needs a range that is
// not empty.
Result<Ok> check_facts(Symbol name, const Facts& facts, const Bindings& bindings,
                       const Tensor& tensor, Span span);
// The tensor as the algorithm reads it.
Tensor clamped(const Facts& facts, const Bindings& bindings, Tensor tensor);
// A read of a clamped tensor, as an expression of the values that are there.
Expr clamped_read(Context& context, const Facts& facts, Expr read);

}  // namespace tilewright::ir
