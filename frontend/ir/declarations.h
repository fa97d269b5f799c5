// SPDX-License-Identifier: Apache-2.0
//
// The declarations that algorithms and programs share, read and written one way: extents, `requires`,
// types with shapes.
#pragma once

#include <string>
#include <vector>

#include "frontend/ir/algorithm.h"
#include "frontend/ir/elaborate.h"

namespace tilewright::ir {

std::string print_extent(const ExtentDecl& extent);  // "N min 1 max 64"
std::string print_tensor_type(ScalarType type, std::span<const Expr> shape);  // "f32[M, K]"
std::string print_list(std::span<const Expr> exprs);  // "i, k + 1"

// The name has been seen and not been taken. Declares the extent in each scope.
std::optional<ExtentDecl> parse_extent(TextCursor& cursor, Context& context,
                                       std::span<Elaborator* const> elaborators);
std::optional<ScalarType> parse_scalar_type(TextCursor& cursor);

// A type and its shape: `f32[M, K]`.
struct TensorType {
  ScalarType type = ScalarType::F32;
  std::vector<Expr> shape;
};
// `elaborator` sees extents only.
std::optional<TensorType> parse_tensor_type(TextCursor& cursor, Elaborator& elaborator);
// `1 <= S, S <= T` after `requires`, appended to out; false after reporting.
bool parse_requirements(TextCursor& cursor, Elaborator& elaborator, std::vector<Expr>& out,
                        std::vector<Span>* spans = nullptr);

}  // namespace tilewright::ir
