// SPDX-License-Identifier: Apache-2.0
//
// unroll c.ii            for ii in 0 .. 2 { s(ii) }   becomes   s(0)  s(1)
// unroll c.i by 4        splits i into i_o and i_u first
#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Unroll> Unroll::parse(Reader& reader) {
  auto loop = reader.loop_name();
  if (!loop) return std::nullopt;
  Unroll out{*loop, std::nullopt};
  if (reader.cursor.accept("by")) {
    out.factor = reader.factor();
    if (!out.factor) return std::nullopt;
  }
  return out;
}

std::string Unroll::print() const {
  return "unroll " + directives::print(loop) + (factor ? " by " + std::to_string(*factor) : "");
}

Result<Ok> Unroll::apply(Target& target) const {
  return mark_constant_loop(target, loop, factor, tree::LoopKind::Unrolled, "_u");
}

}  // namespace tilewright::directives
