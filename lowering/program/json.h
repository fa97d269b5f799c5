// SPDX-License-Identifier: Apache-2.0
//
// JSON of programs, for tools. Law: from_json(to_json(x)) == x, also through the text of the JSON.
#pragma once

#include "frontend/base/json.h"
#include "lowering/program/program.h"

namespace tilewright::program {

Json to_json(const Program& program);
// E0106 names the path of a mistake; what is read is verified.
Result<Program> program_from_json(ir::Context& context, const Json& json);

}  // namespace tilewright::program
