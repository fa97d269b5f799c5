// SPDX-License-Identifier: Apache-2.0
#include "schedules/tree/guards.h"

#include "frontend/ir/text.h"
#include "schedules/polyhedra/instances.h"

namespace tilewright::tree {

Result<Ok> verify_guards(const ir::Algorithm& algorithm, const Schedule& schedule) {
  const std::vector<Expr>& guards = schedule.guards;
  const auto first = poly::first_contradiction(algorithm, guards);
  if (!first) return Ok{};
  Diagnostic d{Code::GuardContradiction,
               *first < schedule.guard_spans.size() ? schedule.guard_spans[*first] : schedule.span,
               "no sizes that the algorithm allows satisfy the guard `" +
                   ir::print(guards[*first]) + "`" + (*first ? " and those before it" : ""),
               "widen the guard, or drop it",
               {},
               {}};
  for (std::size_t i = 0; i < *first; ++i) d.evidence.emplace_back("guard", ir::print(guards[i]));
  for (Expr requirement : algorithm.requirements)
    d.evidence.emplace_back("requires", ir::print(requirement));
  // Sizes that all the others allow, and this one does not.
  const std::vector<Expr> before(guards.begin(),
                                 guards.begin() + static_cast<std::ptrdiff_t>(*first));
  const poly::AllowedSizes allowed(algorithm, before);
  if (const auto sizes = allowed.find([](const poly::Values&) { return true; }))
    d.evidence.emplace_back("fails at", allowed.text(*sizes));
  return fail(std::move(d));
}

}  // namespace tilewright::tree
