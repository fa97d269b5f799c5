// SPDX-License-Identifier: Apache-2.0
//
// JSON of schedules, for tools. The nests stand in one list in the order of the tree, each with the loop that it
// stands in; what has its plain value is left out. Laws: from_json(to_json(x)) == x, also through the text of the
// JSON, and to_json of what is read from such a text gives the same bytes. Reading checks as much as the text reader
// does, so what is read can be written as text; a member that is not known is refused. Places are those of texts
// alone: a schedule from JSON has none.
#pragma once

#include "frontend/base/json.h"
#include "schedules/tree/tree.h"

namespace tilewright::tree {

Json to_json(const Schedule& schedule);
// E0106 names the path of a mistake in the form; what is read is derived and verified (E03xx).
Result<Schedule> schedule_from_json(ir::Context& context, const ir::Algorithm& algorithm,
                                    const Json& json);

}  // namespace tilewright::tree
