// SPDX-License-Identifier: Apache-2.0
//
// The reader of declared reductions: `monoid lse(m : f32, s : f32) commutative { identity ...  combine(a, b) = ... }`.
#pragma once

#include <optional>

#include "frontend/base/text.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"

namespace tilewright::ir {

// The word `monoid` is next. Nothing after reporting.
std::optional<MonoidDecl> parse_monoid(TextCursor& cursor, Context& context);

}  // namespace tilewright::ir
