// SPDX-License-Identifier: Apache-2.0
//
// compute_at e in y.i
//   for i { for j { e } }  for i { for j { y } }   becomes   for i { for j { e }  for j { y } }
// The region of e that one iteration needs is found from what its readers there read.
#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<ComputeAt> ComputeAt::parse(Reader& reader) {
  auto equation = reader.path("an equation");
  if (!equation || !reader.cursor.expect("in", "after the equation", "write `in nest.loop`"))
    return std::nullopt;
  auto at = reader.loop_name();
  if (!at) return std::nullopt;
  return ComputeAt{*equation, *at};
}

std::string ComputeAt::print() const {
  return "compute_at " + std::string(equation.text()) + " in " + directives::print(at);
}

Result<Ok> ComputeAt::apply(Target& target) const {
  TILEWRIGHT_TRY(nest, find_nest(target, equation, equation.span));
  TILEWRIGHT_TRY(owner, find_loop(target, at));
  if (nest->stage)
    return refuse(equation.span, "`" + std::string(equation.text()) + "` is a staged copy",
                  "a staged copy stands at the loop that its `stage` names",
                  {{"nest", std::string(equation.text())},
                   {"loop", loop_path(*owner.nest, owner.loop().name)}});
  if (nest == owner.nest)
    return refuse(at.span, "`" + std::string(equation.text()) + "` would stand in its own loop",
                  "name a loop of an equation that reads it",
                  {{"nest", std::string(equation.text())},
                   {"loop", loop_path(*owner.nest, owner.loop().name)}});
  const ir::Equation* e = target.algorithm.find_equation(equation);
  if (e && e->is_output)
    return refuse(
        equation.span,
        "`" + std::string(equation.text()) + "` is an output, of which every cell is needed",
        "place an equation that is not an output",
        with({{"nest", std::string(equation.text())},
              {"loop", loop_path(*owner.nest, owner.loop().name)}},
             tree::unread_cell(target.where(), *e,
                               target.algorithm.find_equation(owner.nest->name))));
  nest->at = tree::LoopRef{owner.nest->name, owner.loop().name};
  nest->placed = {at.span};
  return Ok{};
}

}  // namespace tilewright::directives
