// SPDX-License-Identifier: Apache-2.0
//
// keep c[ii, jj] in register     the tile of results over ii, jj stays in registers while the loops over the
//                                reduction run inside it: loaded or started before, stored after
// keep e in register             the whole region of a placed equation lives in registers
// keep bp in shared              that of a placed equation or a staged copy lives in another memory
#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Keep> Keep::parse(Reader& reader) {
  Keep out;
  TextCursor& cursor = reader.cursor;
  auto nest = reader.path("an equation");
  if (!nest) return std::nullopt;
  out.nest = *nest;
  if (cursor.accept("[")) {
    auto loops = reader.names("a loop");
    if (!loops || !cursor.expect("]", "after the loops")) return std::nullopt;
    out.loops = *std::move(loops);
  }
  if (!cursor.expect("in", "after what is kept", "write `in register`")) return std::nullopt;
  // Partial results stay in registers; a whole region may live elsewhere.
  if (!out.loops.empty()) {
    if (!cursor.expect("register", "after `in`", "write `in register`")) return std::nullopt;
    return out;
  }
  auto space = reader.space();
  if (!space) return std::nullopt;
  out.space = *space;
  return out;
}

std::string Keep::print() const {
  std::string text = "keep " + std::string(nest.text());
  for (std::size_t i = 0; i < loops.size(); ++i)
    text += (i ? ", " : "[") + std::string(loops[i].text());
  return text + (loops.empty() ? "" : "]") + " in " + std::string(tree::space_text(space));
}

Result<Ok> Keep::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_nest(target, nest, nest.span));
  const ir::Equation* e = target.algorithm.find_equation(nest);
  if (loops.empty() && space != tree::Space::Register) {
    if (!found->at)
      return refuse(
          nest.span,
          "`" + std::string(nest.text()) + "` stands at the root, where it is a whole tensor",
          "place it in a loop, or stage a copy of it", {{"nest", std::string(nest.text())}});
    found->space = space;
    found->registered = {nest.span};
    return Ok{};
  }
  if (loops.empty()) {
    if (e && e->is_output)
      return refuse(
          nest.span,
          "`" + std::string(nest.text()) + "` is an output and lives in the caller's memory",
          "keep a tile of it: `keep " + std::string(nest.text()) + "[loops] in register`",
          {{"nest", std::string(nest.text())}});
    found->in_register = true;
    found->registered = {nest.span};
    return Ok{};
  }
  if (!e || tree::fold_variables(*e).empty())
    return refuse(nest.span,
                  "`" + std::string(nest.text()) +
                      "` is not a reduction, so there are no partial results to keep",
                  "keep the results of a reduction", {{"nest", std::string(nest.text())}});
  for (const Word& name : loops)
    TILEWRIGHT_CHECK_OK(find_loop(target, LoopName{nest, name, name.span}));
  found->keep = symbols(loops);
  found->kept = places(loops);
  return Ok{};
}

}  // namespace tilewright::directives
