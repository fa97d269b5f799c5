// SPDX-License-Identifier: Apache-2.0
//
// peel c.it      after `split c.i by 6 as it, ii`
//   for it in 0 .. (M + 5) / 6 { guarded }   becomes   for it in 0 .. M / 6 { full tiles }
//                                                      for it in M / 6 .. (M + 5) / 6 { guarded }
#include <algorithm>

#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Peel> Peel::parse(Reader& reader) {
  auto loop = reader.loop_name();
  if (!loop) return std::nullopt;
  return Peel{*loop};
}

std::string Peel::print() const { return "peel " + directives::print(loop); }

Result<Ok> Peel::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_loop(target, loop));
  const auto& steps = found.nest->steps;
  const bool is_outer = std::any_of(steps.begin(), steps.end(), [&](const tree::Step& step) {
    const auto* split = std::get_if<tree::SplitStep>(&step);
    return split && split->outer == found.loop().name;
  });
  if (!is_outer)
    return refuse(loop.span,
                  "`" + directives::print(loop) +
                      "` is not the outer loop of a split, so it has no partial tile",
                  "peel the outer loop of a split",
                  {{"loop", loop_path(*found.nest, found.loop().name)}});
  if (found.loop().kind == tree::LoopKind::Vector || found.loop().kind == tree::LoopKind::Unrolled)
    return refuse(loop.span, "loop `" + directives::print(loop) + "` is vectorized or unrolled",
                  "peel a serial or parallel loop",
                  {{"loop", loop_path(*found.nest, found.loop().name)}});
  found.loop().peel = true;
  found.loop().peeled = {loop.span};
  return Ok{};
}

}  // namespace tilewright::directives
