// SPDX-License-Identifier: Apache-2.0
//
// JSON of expressions and algorithms, for tools. Law: from_json(to_json(x)) == x, also through the text of
// the JSON. A node is an object: its kind, its type, its fields by name. Reading checks as much as the
// text reader does; E0106 names the path of the mistake.
#pragma once

#include "frontend/base/json.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"

namespace tilewright::ir {

Json to_json(Expr expr);

Json to_json(const Algorithm& algorithm);
Result<Algorithm> algorithm_from_json(Context& context, const Json& json);

}  // namespace tilewright::ir
