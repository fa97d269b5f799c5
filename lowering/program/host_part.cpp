// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/host_part.h"

#include "frontend/base/format.h"
#include "lowering/program/places.h"
#include "schedules/machine/instruction.h"

namespace tilewright::program {

namespace {

bool on_host(const Program& program, Stmt stmt) {
  // Described instructions: whether the target has this one is for its back end to say.
  if (const auto* call = stmt.as<Call>()) {
    const Intrinsic* intrinsic = program.find_intrinsic(call->callee);
    return intrinsic && !intrinsic->is_library &&
           machine::find_instruction(call->callee.text()).ok();
  }
  if (const auto* alloc = stmt.as<Alloc>())
    return alloc->space <= Space::Register || alloc->space == Space::Plan;
  return stmt.kind() <= StmtKind::Store || stmt.kind() == StmtKind::Prefetch;
}

}  // namespace

std::optional<Diagnostic> find_beyond_host(const Program& program) {
  std::optional<Diagnostic> out;
  walk(program.body, [&](Stmt stmt) {
    if (out || on_host(program, stmt)) return;
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
