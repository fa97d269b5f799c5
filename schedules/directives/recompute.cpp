// SPDX-License-Identifier: Apache-2.0
//
// recompute e at y.i
//   for i { e }  for i { y }  for i { z }    becomes    for i { e }  for i { for i { y.e }  y }  for i { z }
// Where y and z both read e, y gets a copy of its own, y.e, computed inside its loop as far as that loop needs
// it; z reads e as before. When every reader has its own, e goes.
#include "schedules/directives/directive.h"
#include "schedules/tree/derive.h"

namespace tilewright::directives {

std::optional<Recompute> Recompute::parse(Reader& reader) {
  auto equation = reader.path("an equation");
  if (!equation || !reader.cursor.expect("at", "after the equation", "write `at nest.loop`"))
    return std::nullopt;
  auto at = reader.loop_name();
  if (!at) return std::nullopt;
  return Recompute{*equation, *at};
}

std::string Recompute::print() const {
  return "recompute " + std::string(equation.text()) + " at " + directives::print(at);
}

Result<Ok> Recompute::apply(Target& target) const {
  TILEWRIGHT_TRY(owner, find_loop(target, at));
  const tree::LoopRef place{owner.nest->name, owner.loop().name};
  if (owner.nest->stage)
    return refuse(at.span, "`" + std::string(place.nest.text()) + "` is a staged copy",
                  "name a loop of an equation that reads `" + std::string(equation.text()) + "`",
                  {{"nest", std::string(place.nest.text())}});
  TILEWRIGHT_CHECK_OK(tree::add_step(target.context, target.algorithm, target.tree,
                                     tree::RecomputeStep{equation, place.nest, {equation.span}}));
  // The new equation stands directly before its reader.
  const ir::Algorithm& derived = target.tree.algorithm(target.algorithm);
  for (std::size_t i = 0; i + 1 < derived.equations.size(); ++i) {
    if (!(derived.equations[i + 1].name == place.nest)) continue;
    tree::Nest& copy = *target.tree.find(derived.equations[i].name);
    copy.at = place;
    copy.placed = {at.span};
  }
  return Ok{};
}

}  // namespace tilewright::directives
