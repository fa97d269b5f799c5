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

std::vector<FoldTarget> fold_targets(ir::Context& context, TermStore& terms,
                                     const ir::Algorithm& algorithm) {
  std::vector<FoldTarget> out;
  for (const ir::Equation& equation : algorithm.equations) {
    if (equation.fold() == nullptr || !algorithm.loops_around(equation).empty()) continue;
    std::vector<Term> indices;
    for (Symbol index : equation.indices)
      indices.push_back(terms.variable(context.symbol("?" + std::string(index.text()))));
    const Term value = algorithm_cell(terms, algorithm, equation.tensors()[0].name, indices);
    for (const Term monomial : terms.monomials(value)) {
      const auto opened = terms.open(monomial);
      if (!opened) continue;
      FoldTarget target;
      target.is_maximum = opened->is_maximum;
      // Names that are dimensions of sets too.
      std::vector<std::pair<Term, Term>> values;
      for (Term fresh : opened->domain.variables) {
        const std::string name =
            "?" + std::to_string(out.size()) + "." + std::to_string(target.bound.size());
        target.bound.push_back(terms.variable(context.symbol(name)));
        values.emplace_back(fresh, target.bound.back());
      }
      target.unknowns = indices;
      target.unknowns.insert(target.unknowns.end(), target.bound.begin(), target.bound.end());
      target.body = terms.substitute(opened->body, values);
      for (algebra::Conjunction part : opened->domain.parts) {
        for (algebra::Constraint& one : part) one.value = terms.substitute(one.value, values);
        target.domain.push_back(std::move(part));
      }
      out.push_back(std::move(target));
    }
  }
  return out;
}

}  // namespace tilewright::proof
