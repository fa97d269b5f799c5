// SPDX-License-Identifier: Apache-2.0
//
// Text of programs (`.twp`). Laws: parse(print(x)) == x, and print(parse(t)) == t for canonical t.
#pragma once

#include <string>
#include <vector>

#include "frontend/base/result.h"
#include "lowering/program/program.h"

namespace tilewright::program {

std::string print(Stmt stmt);
std::string print(const Program& program);
// The line in print(program) at which each statement begins, by its number in pre-order.
std::vector<int> statement_lines(const Program& program);
Result<Program> parse_program(ir::Context& context, const Source& source);

}  // namespace tilewright::program
