// SPDX-License-Identifier: Apache-2.0
//
// tile c.i, c.j by 6, 64 as it, jt, ii, jj
//   for i { for j { s } }   becomes   for it { for jt { for ii in 0 .. 6 { for jj in 0 .. 64 { s } } } }
// The loops between the two stay between the tile's outer and inner loops.
#include <algorithm>

#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Tile> Tile::parse(Reader& reader) {
  Tile out;
  TextCursor& cursor = reader.cursor;
  auto first = reader.loop_name();
  if (!first || !cursor.expect(",", "after the first loop", "write `tile c.i, c.j by ...`"))
    return std::nullopt;
  auto second = reader.loop_name();
  if (!second || !cursor.expect("by", "after the loops", "write `by` and two sizes"))
    return std::nullopt;
  auto a = reader.factor();
  if (!a || !cursor.expect(",", "between the sizes", "write two sizes")) return std::nullopt;
  auto b = reader.factor();
  const Span at = cursor.peek().span;
  if (!b || !cursor.expect("as", "after the sizes", "write `as` and four names"))
    return std::nullopt;
  auto names = reader.names("a name for a loop");
  if (!names) return std::nullopt;
  if (names->size() != 4) {
    cursor.report(Code::UnexpectedToken, at,
                  "a tile with " + std::to_string(names->size()) + " names",
                  "write four names: both outer loops, then both inner loops");
    return std::nullopt;
  }
  return Tile{*first, *second, *a, *b, *std::move(names)};
}

std::string Tile::print() const {
  std::string text = "tile " + directives::print(first) + ", " + directives::print(second) +
                     " by " + std::to_string(first_factor) + ", " + std::to_string(second_factor) +
                     " as ";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i ? ", " : "") + std::string(names[i].text());
  return text;
}

Result<Ok> Tile::apply(Target& target) const {
  TILEWRIGHT_TRY(a, find_loop(target, first));
  TILEWRIGHT_CHECK_OK(split_loop(target, a, first_factor, names[0], names[2], first.span));
  TILEWRIGHT_TRY(b, find_loop(target, second));
  if (b.nest != a.nest)
    return refuse(
        second.span, "the two loops belong to different nests", "tile two loops of one nest",
        {{"first", loop_path(*a.nest, first.loop)}, {"second", loop_path(*b.nest, second.loop)}});
  TILEWRIGHT_CHECK_OK(split_loop(target, b, second_factor, names[1], names[3], second.span));
  // The first inner loop moves to just outside the second inner loop.
  auto& loops = a.nest->loops;
  auto find = [&](Symbol name) {
    return std::find_if(loops.begin(), loops.end(),
                        [&](const tree::Loop& l) { return l.name == name; });
  };
  const auto inner = find(names[2]);
  const auto last = find(names[3]);
  if (inner > last)
    return refuse(
        first.span,
        "loop `" + directives::print(first) + "` is inside `" + directives::print(second) + "`",
        "name the outer loop first",
        {{"first", loop_path(*a.nest, first.loop)}, {"second", loop_path(*a.nest, second.loop)}});
  std::rotate(inner, inner + 1, last);
  return Ok{};
}

}  // namespace tilewright::directives
