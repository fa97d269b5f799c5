// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/host_part.h"

#include "frontend/base/format.h"
#include "lowering/program/places.h"

namespace tilewright::program {

namespace {

bool on_host(Stmt stmt) {
  if (const auto* alloc = stmt.as<Alloc>()) return alloc->space <= Space::Register;
  return stmt.kind() <= StmtKind::Store;
}

}  // namespace

std::optional<Diagnostic> find_beyond_host(const Program& program) {
  std::optional<Diagnostic> out;
  walk(program.body, [&](Stmt stmt) {
    if (out || on_host(stmt)) return;
    out = Diagnostic{Code::UnsupportedByTarget,
                     place_of(program, stmt),
                     in_backticks(headline(stmt)) + " is for targets with agents of their own",
                     "run it in the interpreter, or lower the program for such a target",
                     {},
                     {}};
    out->evidence.emplace_back("statement", headline(stmt));
  });
  return out;
}

}  // namespace tilewright::program
