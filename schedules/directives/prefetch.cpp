// SPDX-License-Identifier: Apache-2.0
//
// prefetch b at c.k by 4
//   for k { c }    becomes    for k { ask for the cells of b that iteration k + 4 reads   c }
#include <algorithm>

#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Prefetch> Prefetch::parse(Reader& reader) {
  auto tensor = reader.path("a tensor");
  if (!tensor || !reader.cursor.expect("at", "after the tensor", "write `at nest.loop`"))
    return std::nullopt;
  auto at = reader.loop_name();
  if (!at || !reader.cursor.expect("by", "after the loop", "write `by` and a number of iterations"))
    return std::nullopt;
  auto distance = reader.factor();
  if (!distance) return std::nullopt;
  return Prefetch{*tensor, *at, *distance};
}

std::optional<Prefetch> Prefetch::parse_in_tree(Reader& reader) {
  auto tensor = reader.path("a tensor");
  if (!tensor ||
      !reader.cursor.expect("by", "after the tensor", "write `by` and a number of iterations"))
    return std::nullopt;
  auto distance = reader.factor();
  if (!distance) return std::nullopt;
  return Prefetch{*tensor, {}, *distance};
}

std::string Prefetch::print() const {
  return "prefetch " + std::string(tensor.text()) + " at " + directives::print(at) + " by " +
         std::to_string(distance);
}

Result<Ok> Prefetch::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_loop(target, at));
  auto& prefetches = found.loop().prefetches;
  if (std::any_of(prefetches.begin(), prefetches.end(),
                  [&](const tree::Prefetch& p) { return p.tensor == tensor.symbol; }))
    return refuse(tensor.span,
                  "`" + std::string(tensor.text()) + "` is prefetched in `" +
                      directives::print(at) + "` already",
                  "prefetch a tensor once in a loop",
                  {{"loop", loop_path(*found.nest, found.loop().name)},
                   {"tensor", std::string(tensor.text())}});
  prefetches.push_back({tensor, distance, {tensor.span}});
  return Ok{};
}

}  // namespace tilewright::directives
