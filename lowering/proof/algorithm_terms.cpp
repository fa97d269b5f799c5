// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/algorithm_terms.h"

#include <algorithm>

#include "frontend/algebra/from_expr.h"

namespace tilewright::proof {

std::vector<Term> FoldTarget::unknowns() const {
  std::vector<Term> out = indices;
  out.insert(out.end(), bound.begin(), bound.end());
  return out;
}

AlgorithmTerms::AlgorithmTerms(ir::Context& context, TermStore& terms,
                               const ir::Algorithm& algorithm)
    : context_(context), terms_(terms), algorithm_(algorithm) {
  for (const ir::Equation& equation : algorithm.equations)
    if (algorithm.loops_around(equation).empty() && equation.parts.empty()) add(equation);
  const auto size = [&](const FoldTarget& one) {
    return std::tuple(one.is_stated, terms_.monomials(one.body).size(),
                      terms_.print(one.body).size());
  };
  std::stable_sort(targets_.begin(), targets_.end(),
                   [&](const FoldTarget& a, const FoldTarget& b) { return size(a) > size(b); });
}

Term AlgorithmTerms::cell(Symbol tensor, std::span<const Term> indices) {
  return terms_.read(tensor, indices, algorithm_.type_of(tensor).value_or(ir::ScalarType::F64));
}

Term AlgorithmTerms::expanded(Symbol tensor, std::span<const Term> indices) {
  ir::Read read;
  read.tensor = tensor;
  const Term value = algebra::inline_equations(terms_, algorithm_).read(read, indices);
  return value ? value : cell(tensor, indices);
}

Term AlgorithmTerms::expand(Term term) {
  return terms_.inline_reads(term, [&](Symbol tensor, std::span<const Term> indices) {
    return is_input(tensor) ? Term() : expanded(tensor, indices);
  });
}

// With names that are dimensions of sets too.
FoldTarget AlgorithmTerms::target(const std::vector<Term>& indices, const algebra::Domain& domain,
                                  Term body, bool is_maximum) {
  FoldTarget out;
  out.is_maximum = is_maximum;
  out.indices = indices;
  std::vector<std::pair<Term, Term>> values;
  for (Term variable : domain.variables) {
    const std::string name =
        "?" + std::to_string(targets_.size()) + "." + std::to_string(out.bound.size());
    out.bound.push_back(terms_.variable(context_.symbol(name)));
    values.emplace_back(variable, out.bound.back());
  }
  out.body = terms_.substitute(body, values);
  for (algebra::Conjunction part : domain.parts) {
    for (algebra::Constraint& one : part) one.value = terms_.substitute(one.value, values);
    out.domain.push_back(std::move(part));
  }
  return out;
}

void AlgorithmTerms::add(const ir::Equation& equation) {
  std::vector<Term> indices;
  for (Symbol index : equation.indices)
    indices.push_back(terms_.variable(context_.symbol("?" + std::string(index.text()))));
  if (equation.fold() != nullptr) return add_fold(equation, indices);
  algebra::Leaves leaves;
  leaves.variable = [&](Symbol name) -> Term {
    for (std::size_t i = 0; i < equation.indices.size(); ++i)
      if (equation.indices[i] == name) return indices[i];
    return {};
  };
  const Term value = algebra::from_expr(terms_, equation.value, leaves);
  // Another name for a cell says nothing of it.
  if (!terms_.is_read(value) && !terms_.is_constant(value))
    patterns_.push_back({equation.name, indices, value});
}

void AlgorithmTerms::add_fold(const ir::Equation& equation, const std::vector<Term>& indices) {
  const ir::Fold& fold = *equation.fold();
  const ir::Monoid monoid = fold.monoid_kind();
  if (!fold.is_plain() || (monoid != ir::Monoid::Sum && monoid != ir::Monoid::Max)) return;
  const bool is_maximum = monoid == ir::Monoid::Max;
  for (const bool stated : {true, false}) {
    algebra::Domain domain;
    algebra::Leaves leaves;
    if (!stated) leaves = algebra::inline_equations(terms_, algorithm_);
    leaves.variable = [&](Symbol name) -> Term {
      for (std::size_t i = 0; i < equation.indices.size(); ++i)
        if (equation.indices[i] == name) return indices[i];
      for (std::size_t i = 0; i < domain.variables.size(); ++i)
        if (fold.vars[i] == name) return domain.variables[i];
      return {};
    };
    algebra::Conjunction range;
    for (std::size_t i = 0; i < fold.vars.size(); ++i) {
      const Term lower = algebra::from_expr(terms_, fold.lower[i], leaves);
      const Term upper = algebra::from_expr(terms_, fold.upper[i], leaves);
      domain.variables.push_back(terms_.fresh_variable());
      const Term variable = domain.variables.back();
      range.push_back({terms_.subtract(variable, lower), false});
      range.push_back(
          {terms_.subtract(terms_.subtract(upper, variable), terms_.integer(1)), false});
    }
    domain.parts.push_back(std::move(range));
    const Term body_value = algebra::from_expr(terms_, fold.body[0], leaves);
    // A sum of wrapped terms is the sum wrapped once.
    const Term body = terms_.unwrapped(fold.body[0].type(), body_value).value_or(body_value);
    if (!stated && body == targets_.back().body) return;
    FoldTarget whole = target(indices, domain, body, is_maximum);
    whole.is_stated = stated;
    whole.type = fold.body[0].type();
    if (stated) whole.tensor = equation.name;
    targets_.push_back(std::move(whole));
  }
  if (ir::is_integer(fold.body[0].type())) return;
  const Term value = expanded(equation.name, indices);
  for (const Term monomial : terms_.monomials(value)) {
    const auto opened = terms_.open(monomial);
    if (!opened) continue;
    FoldTarget part = target(indices, opened->domain, opened->body, opened->is_maximum);
    part.is_stated = false;
    targets_.push_back(std::move(part));
  }
}

}  // namespace tilewright::proof
