// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/reduction.h"

#include "frontend/ir/walk.h"

namespace tilewright::ir {

Reduction reduction_of(const Algorithm& algorithm, const Fold& fold) {
  Reduction out;
  out.kind = fold.monoid_kind();
  if (out.kind == Monoid::Declared) out.declared = algorithm.find_monoid(fold.monoid);
  for (Expr term : fold.body) out.types.push_back(term.type());
  out.commutative = out.declared ? out.declared->commutative : out.kind != Monoid::Last;
  return out;
}

std::vector<std::string> part_names(const Algorithm& algorithm, const Fold& fold) {
  std::vector<std::string> out;
  if (fold.body.size() == 1) return out;
  if (!fold.state.empty()) {
    for (Symbol name : fold.state) out.emplace_back(name.text());
  } else if (const MonoidDecl* declared = algorithm.find_monoid(fold.monoid)) {
    for (Symbol name : declared->fields) out.emplace_back(name.text());
  } else {
    out = {"value", "index"};
  }
  return out;
}

std::vector<Expr> identity(Context& context, const Reduction& reduction) {
  if (reduction.declared) return reduction.declared->identity;
  std::vector<Expr> out = {context.monoid_identity(reduction.kind, reduction.types[0])};
  // No index is larger, so any element wins against it.
  if (monoid_form(reduction.kind) == MonoidForm::Indexed)
    out.push_back(context.monoid_identity(Monoid::Min, reduction.types[1]));
  return out;
}

std::vector<Expr> combine(Context& context, const Reduction& reduction,
                          std::span<const Expr> before, std::span<const Expr> term) {
  switch (monoid_form(reduction.kind)) {
    case MonoidForm::Simple: return {context.op(monoid_op(reduction.kind), {before[0], term[0]})};
    case MonoidForm::Last: return {term.begin(), term.end()};
    case MonoidForm::Indexed: {
      // The better value, and of equal ones the smaller index. A NaN is neither.
      const Expr better = context.op(monoid_op(reduction.kind), {term[0], before[0]});
      const Expr equal = context.op(OpCode::Eq, {term[0], before[0]});
      const Expr takes =
          context.op(OpCode::Or, {better, context.both(equal, context.lt(term[1], before[1]))});
      return {context.select(takes, term[0], before[0]), context.select(takes, term[1], before[1])};
    }
    case MonoidForm::Declared: break;
  }
  // By text: the names of the two sides need not be of this context.
  const MonoidDecl& declared = *reduction.declared;
  Substitution values;
  for (Expr value : declared.combine)
    for (Symbol var : free_vars(value))
      for (std::size_t i = 0; i < declared.fields.size(); ++i) {
        const std::string field = "." + std::string(declared.fields[i].text());
        if (var.text() == std::string(declared.left.text()) + field) values[var] = before[i];
        if (var.text() == std::string(declared.right.text()) + field) values[var] = term[i];
      }
  std::vector<Expr> out;
  for (Expr value : declared.combine) out.push_back(substitute(context, value, values));
  return out;
}

std::vector<Expr> next_values(Context& context, const Reduction& reduction, const Fold& fold,
                              std::span<const Expr> before) {
  if (fold.state.empty()) return combine(context, reduction, before, fold.body);
  Substitution values;
  for (std::size_t i = 0; i < fold.state.size(); ++i) values[fold.state[i]] = before[i];
  std::vector<Expr> out;
  for (Expr value : fold.body) out.push_back(substitute(context, value, values));
  return out;
}

}  // namespace tilewright::ir
