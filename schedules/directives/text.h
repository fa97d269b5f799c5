// SPDX-License-Identifier: Apache-2.0
//
// Text of schedules (`.tws`): directives, or the canonical tree that they resolve to. Laws:
// parse(print(s)) == s, print(parse(t)) == t for canonical t, and a schedule written in directives equals
// the one written as the tree it prints. Grammar: docs/schedules.md.
#pragma once

#include <string>

#include "frontend/base/result.h"
#include "schedules/directives/directive.h"

namespace tilewright::directives {

Result<tree::Schedule> parse_schedule(ir::Context& context, const ir::Algorithm& algorithm,
                                      const Source& source);
// The canonical tree form.
std::string print(const tree::Schedule& schedule);
// The schedule that leaves every equation at the root with serial loops, for a machine.
tree::Schedule default_schedule(ir::Context& context, const ir::Algorithm& algorithm,
                                std::string_view machine);

}  // namespace tilewright::directives
