// SPDX-License-Identifier: Apache-2.0
//
// Text of algorithms and expressions. Laws: parse(print(x)) == x, and print(parse(t)) == t for
// canonical t. The reader also takes the short forms people write (index ranges, types and literal
// types left out where they follow from use); the printer writes them out. Grammar:
// docs/language.md.
#pragma once

#include <string>

#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"

namespace tilewright::ir {

std::string print(Expr expr);
std::string print(const Algorithm& algorithm);
Result<Algorithm> parse_algorithm(Context& context, const Source& source);

// 32 hex digits of the canonical text: what a schedule pins.
std::string algorithm_hash(const Algorithm& algorithm);

}  // namespace tilewright::ir
