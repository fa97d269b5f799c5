// SPDX-License-Identifier: Apache-2.0
//
// vectorize c.jj         for jj in 0 .. 16 { s }   becomes   vector jj in 0 .. 16 { s }: one lane each
// vectorize c.j by 16    splits j into j_o and j_v first
// A vectorized reduction keeps a partial result per lane and merges them pairwise at the end.
#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Vectorize> Vectorize::parse(Reader& reader) {
  auto loop = reader.loop_name();
  if (!loop) return std::nullopt;
  Vectorize out{*loop, std::nullopt};
  if (reader.cursor.accept("by")) {
    out.factor = reader.factor();
    if (!out.factor) return std::nullopt;
  }
  return out;
}

std::string Vectorize::print() const {
  return "vectorize " + directives::print(loop) + (factor ? " by " + std::to_string(*factor) : "");
}

Result<Ok> Vectorize::apply(Target& target) const {
  return mark_constant_loop(target, loop, factor, tree::LoopKind::Vector, "_v");
}

}  // namespace tilewright::directives
