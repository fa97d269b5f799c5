// SPDX-License-Identifier: Apache-2.0
//
// Declared monoids for random algorithms. Law: each keeps the laws of monoids, so broken_law() finds nothing.
#pragma once

#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"

namespace tilewright::ir {

// `maps`: affine maps over i32 under composition, which do not commute. `span`: the least and the greatest of f32.
// `mean`: a sum of c64 with the number of its terms.
MonoidDecl sample_monoid(Context& context, std::string_view name);
// Those of the language, of one field, that fold numbers of this type.
std::vector<Monoid> numeric_monoids(ScalarType type);

}  // namespace tilewright::ir
