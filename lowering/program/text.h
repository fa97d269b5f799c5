// SPDX-License-Identifier: Apache-2.0
//
// Text of programs (`.twp`). Laws: parse(print(x)) == x, and print(parse(t)) == t for canonical t.
#pragma once

#include <string>

#include "frontend/base/result.h"
#include "lowering/program/program.h"

namespace tilewright::program {

std::string print(Stmt stmt);
std::string print(const Program& program);
Result<Program> parse_program(ir::Context& context, const Source& source);

}  // namespace tilewright::program
