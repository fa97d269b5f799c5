// SPDX-License-Identifier: Apache-2.0
//
// specialize c.i when N % 8 == 0
//   for i { ... }    becomes    if N % 8 == 0 { for i { ... } } else { for i { ... } }
// In each version its condition is known, so tails that it excludes are gone. Several conditions, after commas
// or by several directives, are tried in order.
#include <algorithm>

#include "frontend/ir/declarations.h"
#include "frontend/ir/text.h"
#include "schedules/directives/directive.h"

namespace tilewright::directives {

bool Reader::conditions(std::vector<ir::Expr>& out, std::vector<Span>& spans) {
  ir::Scope scope;
  if (algorithm)
    for (const ir::ExtentDecl& extent : algorithm->extents)
      scope.declare(extent.name, {ir::Meaning::Kind::Extent, ir::ScalarType::Index, 0, {}});
  ir::Elaborator elaborator(context, scope, cursor);
  return ir::parse_requirements(cursor, elaborator, out, &spans);
}

std::optional<Specialize> Specialize::parse(Reader& reader) {
  Specialize out;
  auto loop = reader.loop_name();
  if (!loop ||
      !reader.cursor.expect("when", "after the loop", "write `when` and a condition on sizes"))
    return std::nullopt;
  out.loop = *loop;
  if (!reader.conditions(out.conditions, out.places.spans)) return std::nullopt;
  return out;
}

std::string print_conditions(const std::vector<ir::Expr>& conditions) {
  std::string text;
  for (ir::Expr condition : conditions) text += (text.empty() ? "" : ", ") + ir::print(condition);
  return text;
}

std::string Specialize::print() const {
  return "specialize " + directives::print(loop) + " when " + print_conditions(conditions);
}

Result<Ok> Specialize::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_loop(target, loop));
  tree::Loop& at = found.loop();
  if (at.kind == tree::LoopKind::Vector || at.kind == tree::LoopKind::Unrolled)
    return refuse(loop.span, "loop `" + std::string(at.name.text()) + "` is vectorized or unrolled",
                  "specialize a loop outside of it", {{"loop", loop_path(*found.nest, at.name)}});
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (std::find(at.versions.begin(), at.versions.end(), conditions[i]) != at.versions.end())
      return refuse(
          places.of(i),
          "loop `" + std::string(at.name.text()) + "` has a version for this condition already",
          "write each condition once",
          {{"loop", loop_path(*found.nest, at.name)}, {"condition", ir::print(conditions[i])}});
    at.version_places.spans.resize(at.versions.size());
    at.versions.push_back(conditions[i]);
    at.version_places.spans.push_back(places.of(i));
  }
  return Ok{};
}

}  // namespace tilewright::directives
