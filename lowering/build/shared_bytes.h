// SPDX-License-Identifier: Apache-2.0
//
// Law: in what `build` gives, no two iterations of a parallel loop store to one byte of an output whose elements
// share bytes. Shown from the form of the last index; what is not shown is refused (E0221).
#pragma once

#include "frontend/ir/simplify.h"
#include "lowering/build/build.h"

namespace tilewright::build {

Result<Ok> check_shared_bytes(ir::Context& context, const program::Program& program,
                              const ir::Ranges& ranges);

}  // namespace tilewright::build
