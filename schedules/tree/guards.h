// SPDX-License-Identifier: Apache-2.0
//
// Whether the guards of a schedule leave sizes to build for. Every reader of schedules asks.
#pragma once

#include "schedules/tree/tree.h"

namespace tilewright::tree {

// E0307 at the first guard after which no sizes are left that the algorithm allows.
Result<Ok> verify_guards(const ir::Algorithm& algorithm, const Schedule& schedule);

}  // namespace tilewright::tree
