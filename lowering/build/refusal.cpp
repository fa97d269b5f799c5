// SPDX-License-Identifier: Apache-2.0
//
// Refusals of `build`: each points at the word of the schedule that asked for what cannot be done, and names
// sizes that show it where there are such.
#include "frontend/ir/text.h"
#include "lowering/build/builder.h"

namespace tilewright::build {

Failure refuse(Span place, std::string message, std::string remedy, Evidence evidence) {
  return fail(Diagnostic{Code::ScheduleRefused,
                         place,
                         std::move(message),
                         std::move(remedy),
                         {},
                         std::move(evidence)});
}

Evidence Builder::varying(std::string_view what, const std::vector<Expr>& values) const {
  Evidence out;
  for (Expr value : values) out.emplace_back(what, ir::print(value));
  const poly::AllowedSizes allowed(algorithm, schedule.guards);
  for (Expr value : values) {
    std::optional<std::int64_t> first;
    const auto one = allowed.find([&](const poly::Values& sizes) {
      first = poly::evaluate_index(value, sizes);
      return first.has_value();
    });
    std::optional<std::int64_t> second;
    const auto another = allowed.find([&](const poly::Values& sizes) {
      second = poly::evaluate_index(value, sizes);
      return second && second != first;
    });
    if (!one || !another) continue;
    out.emplace_back("one", std::to_string(*first) + " at " + allowed.text(*one));
    out.emplace_back("another", std::to_string(*second) + " at " + allowed.text(*another));
    break;
  }
  return out;
}

Evidence Builder::larger(Expr value, Expr other) const {
  if (value.as<ir::IntConst>() && other.as<ir::IntConst>()) return {};
  const poly::AllowedSizes allowed(algorithm, schedule.guards);
  const auto sizes = allowed.find([&](const poly::Values& at) {
    const auto one = poly::evaluate_index(value, at);
    const auto two = poly::evaluate_index(other, at);
    return one && two && *one > *two;
  });
  return sizes ? Evidence{{"sizes", allowed.text(*sizes)}} : Evidence{};
}

}  // namespace tilewright::build
