// SPDX-License-Identifier: Apache-2.0
//
// What is declared of the tensors that a caller gives: the form of facts, and outputs in the storage of inputs. Parts
// of verify().
#pragma once

#include <optional>

#include "frontend/base/diagnostic.h"
#include "frontend/ir/algorithm.h"

namespace tilewright::ir {

// E0240; the bounds of a range are shapes, which are the caller's to verify.
std::optional<Diagnostic> wrong_facts(const Input& input);
// E0260.
std::optional<Diagnostic> wrong_into(const Algorithm& algorithm, const Equation& equation);

}  // namespace tilewright::ir
