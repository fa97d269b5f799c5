// SPDX-License-Identifier: Apache-2.0
//
// reorder c: k, i
//   for i { for j { for k { s } } }   becomes   for k { for j { for i { s } } }
// Loops that are not named keep their places.
#include <algorithm>

#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Reorder> Reorder::parse(Reader& reader) {
  Reorder out;
  auto nest = reader.path("a nest");
  if (!nest || !reader.cursor.expect(":", "after the nest", "write `reorder c: outer, ..., inner`"))
    return std::nullopt;
  auto loops = reader.names("a loop");
  if (!loops) return std::nullopt;
  out.nest = *nest;
  out.loops = *std::move(loops);
  return out;
}

std::string Reorder::print() const {
  std::string text = "reorder " + std::string(nest.text()) + ": ";
  for (std::size_t i = 0; i < loops.size(); ++i)
    text += (i ? ", " : "") + std::string(loops[i].text());
  return text;
}

Result<Ok> Reorder::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_nest(target, nest, nest.span));
  std::vector<std::size_t> places;
  std::vector<tree::Loop> moved;
  for (const Word& name : loops) {
    TILEWRIGHT_TRY(loop, find_loop(target, LoopName{nest, name, name.span}));
    if (std::find(places.begin(), places.end(), loop.index) != places.end())
      return refuse(name.span, "loop `" + std::string(name.text()) + "` is named twice",
                    "name each loop once", {{"loop", loop_path(*found, name)}});
    places.push_back(loop.index);
    moved.push_back(loop.loop());
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) found->loops[places[i]] = moved[i];
  return Ok{};
}

}  // namespace tilewright::directives
