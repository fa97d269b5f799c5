// SPDX-License-Identifier: Apache-2.0
//
// A Program without complex types: each buffer and variable of a complex type becomes two, each store two; what
// operations mean is frontend/ir/complex.h. The Program interpreter and code generation run this. Law: the
// parts of every buffer are the parts of the given Program's, and its loops and guards are the same.
#pragma once

#include "lowering/program/program.h"

namespace tilewright::program {

bool has_complex(const Program& program);
// Parameters too: x : c64[N] gives x're and x'im : f32[N], side by side.
Program split_complex(ir::Context& context, const Program& program);

}  // namespace tilewright::program
