// SPDX-License-Identifier: Apache-2.0
//
// split_reduction c.k by 64 as ko, ki
//   for i { for k { c } }    becomes    for i { for ko { for ki { c.part } } }   for i { for ko { c } }
// c.part holds one partial result for each chunk, and c folds those: chunks in parallel (`parallel c.part.ko`),
// one after the other (`compute_at c.part in c.ko`), or as a tree (`split_reduction c.ko by ...`).
#include "schedules/directives/directive.h"
#include "schedules/tree/derive.h"

namespace tilewright::directives {

std::optional<SplitReduction> SplitReduction::parse(Reader& reader) {
  auto split = Split::parse(reader);
  if (!split) return std::nullopt;
  return SplitReduction{split->loop, split->factor, split->outer, split->inner};
}

std::string SplitReduction::print() const {
  return "split_reduction " + directives::print(loop) + " by " + std::to_string(factor) + " as " +
         std::string(outer.text()) + ", " + std::string(inner.text());
}

Result<Ok> SplitReduction::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_loop(target, loop));
  return tree::add_step(
      target.context, target.algorithm, target.tree,
      tree::SplitReductionStep{
          found.nest->name, found.loop().name, factor, outer, inner, {loop.span}});
}

}  // namespace tilewright::directives
