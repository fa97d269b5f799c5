// SPDX-License-Identifier: Apache-2.0
//
// parallel c.i
//   for i { s }   becomes   parallel i { s }: iterations on all workers, in any order.
#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Parallel> Parallel::parse(Reader& reader) {
  auto loop = reader.loop_name();
  if (!loop) return std::nullopt;
  return Parallel{*loop};
}

std::string Parallel::print() const { return "parallel " + directives::print(loop); }

Result<Ok> Parallel::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_loop(target, loop));
  if (found.loop().kind != tree::LoopKind::Serial || found.loop().scope != tree::Scope::None)
    return refuse(loop.span, "loop `" + directives::print(loop) + "` is marked already",
                  "mark a loop once; split it to mark its parts",
                  {{"loop", loop_path(*found.nest, found.loop().name)}});
  found.loop().kind = tree::LoopKind::Parallel;
  found.loop().marked = {loop.span};
  return Ok{};
}

}  // namespace tilewright::directives
