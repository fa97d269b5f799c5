// SPDX-License-Identifier: Apache-2.0
//
// Where the parts of a Program stand in the text that it was read from: its statements, and the names that they
// and the parameters bind. No content. A pass keeps them, so that what names a loop or a buffer can still be
// shown in that text; a statement that a pass has changed is no longer found. Tests: tests/text/programs.
#pragma once

#include <unordered_map>

#include "lowering/program/program.h"

namespace tilewright::program {

struct Places {
  std::unordered_map<Stmt, Span> stmts;
  std::unordered_map<Symbol, Span> names;
};

// No place where nothing is known of it.
Span place_of(const Program& program, Stmt stmt);
Span place_of(const Program& program, Symbol name);

}  // namespace tilewright::program
