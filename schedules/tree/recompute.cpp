// SPDX-License-Identifier: Apache-2.0
//
// recompute e for y
//   e[i] = f(i)   y[i] = g(e[i])   z[i] = h(e[i])      becomes
//   e[i] = f(i)   y.e[i] = f(i)    y[i] = g(y.e[i])   z[i] = h(e[i])
// so that each reader has its producer where it wants it. e goes when nothing reads it any more.
#include <algorithm>

#include "frontend/ir/walk.h"
#include "schedules/tree/derive.h"

namespace tilewright::tree {

Result<Derivation> recompute(ir::Context& context, const ir::Algorithm& algorithm,
                             const RecomputeStep& step) {
  const ir::Equation* equation = algorithm.find_equation(step.equation);
  const ir::Equation* reader = algorithm.find_equation(step.reader);
  const std::string shown = "`" + std::string(step.equation.text()) + "`";
  if (!equation)
    return refuse_step(step.place.span, shown + " is not an equation", "recompute an equation",
                       {{"tensor", std::string(step.equation.text())}});
  if (equation->is_view)
    return refuse_step(step.place.span, shown + " is a view, which is never stored",
                       "recompute the equation that the view reads",
                       {{"view", std::string(step.equation.text())}});
  const auto reads_it = [&](const ir::Equation& e) {
    const auto reads = ir::reads(e.value);
    return std::any_of(reads.begin(), reads.end(),
                       [&](const ir::Read* read) { return equation->defines(read->tensor); });
  };
  if (!reader || !reads_it(*reader)) {
    std::vector<std::pair<std::string, std::string>> evidence;
    for (const ir::Equation& e : algorithm.equations)
      if (reads_it(e)) evidence.emplace_back("reader", std::string(e.name.text()));
    return refuse_step(step.place.span,
                       "`" + std::string(step.reader.text()) + "` does not read " + shown,
                       "name an equation that reads it", std::move(evidence));
  }
  Derivation out;
  out.algorithm = algorithm;
  ir::Equation copy = *equation;
  copy.name = path_below(context, algorithm, step.reader, step.equation.text());
  copy.is_output = false;
  copy.into = {};
  if (const ir::Fold* fold = equation->fold())
    copy.parts = parts_below(context, algorithm, copy.name, *fold);
  out.added = {copy.name};
  const auto position = std::find_if(out.algorithm.equations.begin(), out.algorithm.equations.end(),
                                     [&](const ir::Equation& e) { return e.name == step.reader; });
  position->value = ir::rewrite(context, position->value, [&](Expr e) -> Expr {
    const auto* read = e.as<ir::Read>();
    if (!read || !equation->defines(read->tensor)) return {};
    const auto own = equation->tensors();
    const auto part =
        std::find_if(own.begin(), own.end(), [&](const auto& p) { return p.name == read->tensor; });
    return context.read(copy.tensors()[static_cast<std::size_t>(part - own.begin())].name,
                        {read->indices.begin(), read->indices.end()}, read->type);
  });
  out.algorithm.insert_equations(
      static_cast<std::size_t>(position - out.algorithm.equations.begin()), {copy});
  if (!equation->is_output && !is_read(out.algorithm, *equation)) {
    out.removed = {step.equation};
    out.algorithm.erase_equation(step.equation);
  }
  return out;
}

}  // namespace tilewright::tree
