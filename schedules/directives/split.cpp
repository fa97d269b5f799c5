// SPDX-License-Identifier: Apache-2.0
//
// split c.i by 6 as io, ii
//   for i in 0 .. M { s(i) }   becomes   for io { for ii in 0 .. 6 { s(io * 6 + ii) } }
// The last tile may be partial: serial loops end with the data, vector and unrolled ones are guarded.
#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Split> Split::parse(Reader& reader) {
  auto loop = reader.loop_name();
  if (!loop || !reader.cursor.expect("by", "after the loop", "write `by` and the size of a tile"))
    return std::nullopt;
  auto factor = reader.factor();
  if (!factor || !reader.cursor.expect("as", "after the factor", "write `as outer, inner`"))
    return std::nullopt;
  auto outer = reader.name("a name for the outer loop");
  if (!outer || !reader.cursor.expect(",", "between the names", "write `as outer, inner`"))
    return std::nullopt;
  auto inner = reader.name("a name for the inner loop");
  if (!inner) return std::nullopt;
  return Split{*loop, *factor, *outer, *inner};
}

std::string Split::print() const {
  return "split " + directives::print(loop) + " by " + std::to_string(factor) + " as " +
         std::string(outer.text()) + ", " + std::string(inner.text());
}

Result<Ok> Split::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_loop(target, loop));
  return split_loop(target, found, factor, outer, inner, loop.span);
}

}  // namespace tilewright::directives
