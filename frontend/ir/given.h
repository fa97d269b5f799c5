// SPDX-License-Identifier: Apache-2.0
//
// Checks of what a caller gives an interpreter: sizes and tensors against their declarations.
#pragma once

#include <string>
#include <vector>

#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/value.h"

namespace tilewright::ir {

// E0801 unless every extent has a value in its range and every requirement holds; `spans` of the requirements
// where there are any.
Result<Ok> check_bindings(const std::vector<ExtentDecl>& extents,
                          const std::vector<Expr>& requirements, const Bindings& bindings,
                          const std::vector<Span>& spans = {});
// The extents' values; E0801 for a negative one, E0806 for more cells than an interpreter holds.
Result<std::vector<std::int64_t>> bound_shape(Symbol name, const std::vector<Expr>& shape,
                                              const Bindings& bindings, Span span);
// E0802 unless `inputs` holds a tensor of this name, type and shape.
Result<Ok> check_tensor(Symbol symbol, ScalarType type, const std::vector<Expr>& declared_shape,
                        const Bindings& bindings, const TensorMap& inputs, Span span);

// The cells of all inputs and equations, or without the local ones; E0801, and E0806 for one tensor, or all of
// them together, of more than `most`.
Result<std::int64_t> count_cells(const Algorithm& algorithm, const Bindings& bindings, bool locals,
                                 std::int64_t most);

std::string shape_text(const std::vector<std::int64_t>& shape);  // "[3, 4]"

}  // namespace tilewright::ir
