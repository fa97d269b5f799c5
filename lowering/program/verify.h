// SPDX-License-Identifier: Apache-2.0
//
// What makes a Program well formed, however it was made: by text, build or a pass. Law: every pass keeps
// it, and the interpreter and the back ends rely on it.
#pragma once

#include <unordered_map>
#include <vector>

#include "frontend/base/diagnostic.h"
#include "frontend/ir/elaborate.h"
#include "lowering/program/program.h"

namespace tilewright::program {

// Places of statements and expressions, where the program came from a text.
struct ProgramSpans {
  ir::ExprSpans exprs;
  std::unordered_map<Stmt, Span> stmts;
};

// Empty when the program is well formed. The invariants stand at the top of verify.cpp.
std::vector<Diagnostic> verify(const Program& program, const ProgramSpans* spans = nullptr);

}  // namespace tilewright::program
