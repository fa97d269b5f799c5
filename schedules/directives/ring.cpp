// SPDX-License-Identifier: Apache-2.0
//
// ring bp by 3
//   for k { copy bp   use bp }    iteration k has buffer k % 3, so that copies may run ahead of their use
#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Ring> Ring::parse(Reader& reader) {
  auto nest = reader.path("a staged copy or a placed equation");
  if (!nest || !reader.cursor.expect("by", "after the name", "write `by` and a number of buffers"))
    return std::nullopt;
  auto depth = reader.factor();
  if (!depth) return std::nullopt;
  return Ring{*nest, *depth};
}

std::string Ring::print() const {
  return "ring " + std::string(nest.text()) + " by " + std::to_string(depth);
}

Result<Ok> Ring::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_nest(target, nest, nest.span));
  if (!found->at)
    return refuse(
        nest.span,
        "`" + std::string(nest.text()) + "` stands at the root, where it is computed once",
        "place it in a loop, or stage a copy of it", {{"nest", std::string(nest.text())}});
  found->ring = depth;
  found->ringed = {nest.span};
  return Ok{};
}

}  // namespace tilewright::directives
