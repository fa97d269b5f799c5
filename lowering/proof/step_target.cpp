// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/step_target.h"

#include "frontend/algebra/from_expr.h"
#include "frontend/ir/walk.h"

namespace tilewright::proof {

Term StepTerms::of(Expr expr, const Fields& indices, const Fields& point, const Fields& before,
                   const Fields& other) const {
  algebra::Leaves leaves;
  leaves.must_be_defined = true;
  leaves.variable = [&](Symbol name) -> Term {
    const auto in = [&](const auto& names, const Fields& values) -> Term {
      for (std::size_t i = 0; i < values.size(); ++i)
        if (names[i] == name) return values[i];
      return {};
    };
    for (const Term found : {in(target_.index_names, indices), in(target_.fold->vars, point),
                             in(target_.before, before), in(target_.other, other)})
      if (found) return found;
    return {};
  };
  return algebra::from_expr(terms_, expr, leaves);
}

Term StepTerms::holds(const Fields& indices, const Fields& point) const {
  const ir::Fold& fold = *target_.fold;
  Term out = terms_.integer(1);
  for (std::size_t i = 0; i < fold.lower.size(); ++i)
    for (const bool upper : {false, true}) {
      const Term end = of(upper ? fold.upper[i] : fold.lower[i], indices, point, {}, {});
      if (terms_.index_parts(end)) continue;  // of the domain
      const Term room = upper ? terms_.subtract(terms_.subtract(end, point[i]), terms_.integer(1))
                              : terms_.subtract(point[i], end);
      out = terms_.both(out, terms_.at_least_zero(room));
    }
  for (std::size_t d = 0; d < fold.at.size(); ++d)
    out = terms_.both(out, terms_.equal_to(of(fold.at[d], indices, point, {}, {}), indices[d]));
  if (!fold.where.empty()) out = terms_.both(out, of(fold.where[0], indices, point, {}, {}));
  return out;
}

Term StepTerms::next(std::size_t field, const Fields& before, const Fields& indices,
                     const Fields& point) const {
  return of(target_.next[field], indices, point, before, {});
}

Term StepTerms::merged(std::size_t field, const Fields& before, const Fields& other) const {
  return of(target_.merged[field], {}, {}, before, other);
}

Term StepTerms::start(std::size_t field, const Fields& indices) const {
  return of(target_.start[field], indices, {}, {}, {});
}

Term StepTerms::body(std::size_t field, const Fields& indices, const Fields& point) const {
  return of(target_.fold->body[field], indices, point, {}, {});
}

std::vector<Term> StepTerms::patterns() const {
  std::vector<Term> out;
  std::vector<Expr> parts;
  if (!target_.merged.empty())
    for (Expr body : target_.fold->body) parts.push_back(body);
  std::vector<Expr> whole(target_.fold->body.begin(), target_.fold->body.end());
  whole.insert(whole.end(), target_.fold->where.begin(), target_.fold->where.end());
  whole.insert(whole.end(), target_.fold->at.begin(), target_.fold->at.end());
  for (Expr each : whole)
    for (const ir::Read* read : ir::reads(each)) parts.emplace_back(Expr(read));
  for (Expr part : parts) {
    const Term term = of(part, target_.indices, target_.bound, {}, {});
    bool says = false;
    for (Term variable : target_.bound) says = says || terms_.mentions(term, variable);
    if (says && terms_.monomials(term).size() == 1) out.push_back(term);
  }
  terms_.take_obligations();
  return out;
}

}  // namespace tilewright::proof
