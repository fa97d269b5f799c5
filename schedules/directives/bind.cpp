// SPDX-License-Identifier: Apache-2.0
//
// bind c.it to block
//   for it { ... }    becomes    for it bind block { ... }: each iteration is run by an agent of that scope
// bind c.jj to lane by 32
//   the same, with as many agents as whole teams of 32 have: those beyond the last iteration have none
#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Bind> Bind::parse(Reader& reader) {
  auto loop = reader.loop_name();
  if (!loop || !reader.cursor.expect("to", "after the loop", "write `to block`, `to warp`, ..."))
    return std::nullopt;
  auto scope = reader.scope();
  if (!scope) return std::nullopt;
  if (!reader.cursor.accept("by")) return Bind{*loop, *scope};
  auto agents_by = reader.factor();
  if (!agents_by) return std::nullopt;
  return Bind{*loop, *scope, *agents_by};
}

std::string Bind::print() const {
  return "bind " + directives::print(loop) + " to " + std::string(tree::scope_text(scope)) +
         (agents_by == 1 ? "" : " by " + std::to_string(agents_by));
}

Result<Ok> Bind::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_loop(target, loop));
  tree::Loop& at = found.loop();
  if (at.kind != tree::LoopKind::Serial || at.scope != tree::Scope::None)
    return refuse(loop.span, "loop `" + std::string(at.name.text()) + "` is marked already",
                  "mark a loop once; split it to mark its parts",
                  {{"loop", loop_path(*found.nest, at.name)}});
  at.scope = scope;
  at.agents_by = agents_by;
  at.bound = {loop.span};
  return Ok{};
}

}  // namespace tilewright::directives
