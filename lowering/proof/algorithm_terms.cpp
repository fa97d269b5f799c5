// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/algorithm_terms.h"

#include "frontend/algebra/from_expr.h"

namespace tilewright::proof {

Term algorithm_cell(TermStore& terms, const ir::Algorithm& algorithm, Symbol tensor,
                    std::span<const Term> indices) {
  const algebra::Leaves leaves = algebra::inline_equations(terms, algorithm);
  const ir::Read cell{{}, tensor, {}};
  const Term value = leaves.read(cell, indices);
  if (value) return value;
  return terms.read(tensor, indices, algorithm.type_of(tensor).value_or(ir::ScalarType::F64));
}

namespace {

// With names that are dimensions of sets too.
FoldTarget target_of(ir::Context& context, TermStore& terms, std::size_t number,
                     const std::vector<Term>& indices, const algebra::Domain& domain, Term body,
                     bool is_maximum) {
  FoldTarget target;
  target.is_maximum = is_maximum;
  std::vector<std::pair<Term, Term>> values;
  for (Term fresh : domain.variables) {
    const std::string name =
        "?" + std::to_string(number) + "." + std::to_string(target.bound.size());
    target.bound.push_back(terms.variable(context.symbol(name)));
    values.emplace_back(fresh, target.bound.back());
  }
  target.unknowns = indices;
  target.unknowns.insert(target.unknowns.end(), target.bound.begin(), target.bound.end());
  target.body = terms.substitute(body, values);
  for (algebra::Conjunction part : domain.parts) {
    for (algebra::Constraint& one : part) one.value = terms.substitute(one.value, values);
    target.domain.push_back(std::move(part));
  }
  return target;
}

FoldTarget as_stated(ir::Context& context, TermStore& terms, const ir::Algorithm& algorithm,
                     const ir::Equation& equation, const std::vector<Term>& indices,
                     std::size_t number) {
  const ir::Fold& fold = *equation.fold();
  algebra::Domain domain;
  algebra::Leaves leaves = algebra::inline_equations(terms, algorithm);
  leaves.variable = [&](Symbol name) -> Term {
    for (std::size_t i = 0; i < equation.indices.size(); ++i)
      if (equation.indices[i] == name) return indices[i];
    for (std::size_t i = 0; i < domain.variables.size(); ++i)
      if (fold.vars[i] == name) return domain.variables[i];
    return {};
  };
  algebra::Conjunction range;
  for (std::size_t i = 0; i < fold.vars.size(); ++i) {
    const Term lower = algebra::from_expr(terms, fold.lower[i], leaves);
    const Term last =
        terms.subtract(algebra::from_expr(terms, fold.upper[i], leaves), terms.integer(1));
    domain.variables.push_back(terms.fresh_variable());
    range.push_back({terms.subtract(domain.variables.back(), lower), false});
    range.push_back({terms.subtract(last, domain.variables.back()), false});
  }
  domain.parts.push_back(std::move(range));
  const Term body = algebra::from_expr(terms, fold.body[0], leaves);
  return target_of(context, terms, number, indices, domain, body, false);
}

}  // namespace

std::vector<FoldTarget> fold_targets(ir::Context& context, TermStore& terms,
                                     const ir::Algorithm& algorithm) {
  std::vector<FoldTarget> out;
  for (const ir::Equation& equation : algorithm.equations) {
    if (equation.fold() == nullptr || !algorithm.loops_around(equation).empty()) continue;
    std::vector<Term> indices;
    for (Symbol index : equation.indices)
      indices.push_back(terms.variable(context.symbol("?" + std::string(index.text()))));
    const Term value = algorithm_cell(terms, algorithm, equation.tensors()[0].name, indices);
    std::vector<TermStore::Opened> parts;
    for (const Term monomial : terms.monomials(value))
      if (auto opened = terms.open(monomial)) parts.push_back(std::move(*opened));
    // A sum of several terms as it stands, before linearity takes it apart.
    const bool is_sum =
        equation.fold()->monoid_kind() == ir::Monoid::Sum && equation.fold()->is_plain();
    if (is_sum) {
      FoldTarget whole = as_stated(context, terms, algorithm, equation, indices, out.size());
      if (terms.monomials(whole.body).size() > 1) out.push_back(std::move(whole));
    }
    for (const TermStore::Opened& part : parts)
      out.push_back(
          target_of(context, terms, out.size(), indices, part.domain, part.body, part.is_maximum));
  }
  return out;
}

}  // namespace tilewright::proof
