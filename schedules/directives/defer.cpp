// SPDX-License-Identifier: Apache-2.0
//
// defer total out of o
//   p[t] = e[t] / total    o = sum(t) p[t] * v[t]    becomes    o.sum = sum(t) e[t] * v[t]    o = o.sum / total
#include "schedules/directives/directive.h"
#include "schedules/tree/derive.h"

namespace tilewright::directives {

std::optional<Defer> Defer::parse(Reader& reader) {
  auto tensor = reader.path("a tensor");
  if (!tensor || !reader.cursor.expect("out", "after the tensor", "write `out of` and a sum") ||
      !reader.cursor.expect("of", "after `out`", "write `out of` and a sum"))
    return std::nullopt;
  auto equation = reader.path("a sum");
  if (!equation) return std::nullopt;
  return Defer{*tensor, *equation};
}

std::string Defer::print() const {
  return "defer " + std::string(tensor.text()) + " out of " + std::string(equation.text());
}

Result<Ok> Defer::apply(Target& target) const {
  TILEWRIGHT_CHECK_OK(find_nest(target, equation, equation.span));
  return tree::add_step(target.context, target.algorithm, target.tree,
                        tree::DeferStep{tensor, equation, {tensor.span}});
}

}  // namespace tilewright::directives
