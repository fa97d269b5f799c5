// SPDX-License-Identifier: Apache-2.0
//
// algorithm + schedule -> Program. Walks the schedule tree; the region of a producer under a consumer's loop,
// buffer extents and guards of partial tiles come from polyhedral footprints. Total on well-formed trees: a
// Program for the checks to judge, or a refusal that names the nest and the reason. Nothing here knows any
// operator: only loops, reads and monoids. Laws: the Program's meaning is the algorithm's
// (tests/laws/build_test.cpp, random algorithms x random schedules).
#pragma once

#include "frontend/base/result.h"
#include "lowering/program/program.h"
#include "schedules/polyhedra/context.h"
#include "schedules/tree/tree.h"

namespace tilewright::build {

Result<program::Program> build(ir::Context& context, poly::Context& polyhedra,
                               const ir::Algorithm& algorithm, const tree::Schedule& schedule);

}  // namespace tilewright::build
