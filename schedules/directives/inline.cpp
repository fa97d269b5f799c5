// SPDX-License-Identifier: Apache-2.0
//
// inline e
//   e[i] = f(x[i])   y[i] = g(e[i])   becomes   y[i] = g(f(x[i]))
#include <algorithm>

#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Inline> Inline::parse(Reader& reader) {
  Inline out;
  do {
    auto name = reader.path("an equation");
    if (!name) return std::nullopt;
    out.equations.push_back(*name);
  } while (reader.cursor.accept(","));
  return out;
}

std::string Inline::print() const {
  std::string text = "inline ";
  for (std::size_t i = 0; i < equations.size(); ++i)
    text += (i ? ", " : "") + std::string(equations[i].text());
  return text;
}

Result<Ok> Inline::apply(Target& target) const {
  for (const Word& name : equations) {
    const ir::Equation* e = target.algorithm.find_equation(name);
    TILEWRIGHT_TRY(nest, find_nest(target, name, name.span));
    if (!e || e->is_output || e->fold())
      return refuse(
          name.span,
          "`" + std::string(name.text()) + "` is " +
              (!e             ? "a staged copy"
               : e->is_output ? "an output"
                              : "a reduction") +
              " and cannot be inlined",
          "inline an elementwise equation that is not an output; use `compute_at` for a reduction",
          with({{"nest", std::string(name.text())}},
               !e             ? Evidence{}
               : e->is_output ? tree::unread_cell(target.where(), *e, nullptr)
                              : tree::reduction_read(target.where(), target.tree, *e)));
    for (const tree::Nest& other : target.tree.nests)
      if (other.at && other.at->nest == name.symbol)
        return refuse(name.span,
                      "`" + std::string(other.name.text()) + "` is placed in a loop of `" +
                          std::string(name.text()) + "`",
                      "place it in a loop of the reader instead",
                      {{"loop", directives::print(LoopName{other.at->nest, other.at->loop, {}})},
                       {"placed", std::string(other.name.text())}});
    auto& nests = target.tree.nests;
    nests.erase(nests.begin() + (nest - nests.data()));
    auto& inlined = target.tree.inlined;
    inlined.insert(std::upper_bound(inlined.begin(), inlined.end(), name.symbol), name.symbol);
  }
  return Ok{};
}

}  // namespace tilewright::directives
