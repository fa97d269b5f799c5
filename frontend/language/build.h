// SPDX-License-Identifier: Apache-2.0
//
// From a recorded C++ algorithm to the value that every other room works on. Law: it is the value that its text
// has (tests/laws/cpp_language_test.cpp).
#pragma once

#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"
#include "tilewright/language.h"

namespace tilewright::language {

// The algorithm in this context, or every mistake with its C++ line.
Result<ir::Algorithm> build(const Algorithm& algorithm, ir::Context& context);

}  // namespace tilewright::language
