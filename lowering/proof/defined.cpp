// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/defined.h"

#include "frontend/algebra/signs.h"
#include "lowering/proof/names.h"

namespace tilewright::proof {

using poly::Set;

Result<bool> Defined::has_point(const Set& where, std::span<const Term> variables,
                                const algebra::Conjunction& conjunction, bool all) {
  DataNames data;
  const auto constraints = translator_.basic_set(conjunction, &data);
  if (!constraints) return false;
  // For all values of the data that the algorithm's declarations allow; not of data that the variables choose.
  for (const auto& [name, term] : data.names)
    for (Term variable : variables)
      if (all && terms_.mentions(term, variable)) return false;
  Set given = where;
  if (!data.names.empty()) {
    poly::Space wider = where.space();
    for (const auto& [name, term] : data.names) wider.dims.push_back(name);
    given = Set(std::move(wider), both(where.pieces(), {algorithm_.declared(translator_, data)}));
  }
  poly::Space space = given.space();
  std::vector<std::string> bound;
  for (Term variable : variables) bound.push_back(terms_.print(variable));
  space.dims.insert(space.dims.end(), bound.begin(), bound.end());
  for (const auto* list : {&constraints->equalities, &constraints->inequalities})
    for (const AffineExpr& expr : *list) {
      std::vector<std::string> used;
      expr.collect_names(used);
      for (const std::string& name : used) {
        const bool known =
            std::find(space.dims.begin(), space.dims.end(), name) != space.dims.end() ||
            std::find(space.params.begin(), space.params.end(), name) != space.params.end();
        if (!known) return false;
      }
    }
  const Set points(space, both(given.pieces(), {*constraints}));
  if (!all) return poly::is_empty(polyhedra_, points);
  TILEWRIGHT_TRY(
      some, bound.empty() ? Result<Set>(points) : poly::project_out(polyhedra_, points, bound));
  return poly::is_subset(polyhedra_, given, some);
}

Result<bool> Defined::holds(const Condition& condition) {
  std::optional<Failure> failure;
  // The condition is for all values of its own variables too.
  Set where = condition.where;
  if (!condition.holds.variables.empty()) {
    const auto range = translator_.basic_set(condition.holds.where);
    if (!range) return false;
    poly::Space space = where.space();
    for (Term variable : condition.holds.variables) space.dims.push_back(terms_.print(variable));
    where = Set(std::move(space), both(where.pieces(), {*range}));
  }
  const auto ask = [&](bool all) {
    return [&, all](std::span<const Term> variables, const algebra::Conjunction& conjunction) {
      auto found = has_point(where, variables, conjunction, all);
      if (!found.ok()) failure = Failure{found.diagnostics()};
      return found.ok() && *found;
    };
  };
  const auto cell = [&](Symbol tensor, std::span<const Term> indices) {
    return algorithm_.is_input(tensor) ? Term() : algorithm_.expanded(tensor, indices);
  };
  const algebra::SignQuestions questions{ask(true), ask(false), cell};
  const bool out = algebra::holds(terms_, condition.holds, questions);
  if (failure) return *failure;
  return out;
}

}  // namespace tilewright::proof
