// SPDX-License-Identifier: Apache-2.0
//
// Normal forms of folds: a sum over one conjunction of one product, from which all is taken that does not depend on its
// variables; sums in sums are one sum, and affine conditions in a body are part of the domain.
#include <algorithm>
#include <cmath>

#include "apps/check/terms.h"

namespace tilewright::checker {

using K = TermKind;

// Variables that an equality determines are written out: there is one point for each of the others.
void Terms::eliminate(Opened& parts) {
  for (const Linear& e : parts.domain.equal)
    for (const std::string& name : parts.names) {
      const std::optional<Linear> value = solved(e, name, {});
      if (!value) continue;
      const Values values = {{name, *value}};
      parts.domain = checker::substituted(parts.domain, values);
      for (Term& arg : parts.args) arg = substituted(arg, values);
      parts.names.erase(std::find(parts.names.begin(), parts.names.end(), name));
      return eliminate(parts);
    }
}

Term Terms::folded(Term like, Opened parts, At here) {
  spend();
  if (like->kind == K::Fold) {
    for (Term& arg : parts.args) arg = normal(arg, inside(here, parts));
    return closed(like, parts);
  }
  eliminate(parts);
  const auto always = [&](const Linear& e, bool equality) {
    return !mentions(names_in(e), parts.names) && holds(e, equality, here);
  };
  std::erase_if(parts.domain.equal, [&](const Linear& e) { return always(e, true); });
  std::erase_if(parts.domain.at_least, [&](const Linear& e) { return always(e, false); });
  At within = inside(here, parts);
  const bool is_sum = like->kind == K::SumOver;
  if (empty(within.where)) return is_sum ? number(0) : real(-HUGE_VAL);
  if (parts.names.empty() && parts.domain.equal.empty() && parts.domain.at_least.empty())
    return normal(parts.args[0], here);
  if (const Term condition = undecided(parts.args[0], within, &parts.names))
    return split(like, parts, condition, here);
  const Poly body = poly(normal(parts.args[0], within));
  if (is_sum && body.infinite == 0) {
    Poly out;
    for (const auto& [key, coefficient] : body.of)
      out = add(out, scaled(sum_of(like, parts, key, here), coefficient), here);
    return term(out);
  }
  if (!is_sum && body.infinite < 0) return term(body);
  if (!is_sum && body.infinite == 0) return term(maximum_of(like, parts, body, here));
  return closed(like, {parts.names, parts.domain, {term(body)}});
}

Term Terms::split(Term like, const Opened& parts, Term condition, At here) {
  std::vector<Term> pieces;
  for (const bool value : {true, false}) {
    const auto all = cases(condition, value);
    for (const Conjunction& more : *all) {
      const Opened piece{parts.names, joined(parts.domain, more), parts.args};
      pieces.push_back(folded(like, piece, here));
    }
  }
  return normal(apply(like->kind == K::SumOver ? K::Sum : K::Max, pieces), here);
}

Poly Terms::sum_of(Term like, const Opened& parts, const Key& body, At here) {
  At within = inside(here, parts);
  for (std::size_t i = 0; i < body.size() && parts.names.size() < 6; ++i) {
    const Term fold = body[i].first;
    if (fold->kind != K::SumOver || !(body[i].second == 1) || !mentions(fold->free, parts.names))
      continue;
    Key others = body;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (!(of_product(others, within) & kFinite)) continue;
    const Opened inner = open(fold, "%u" + std::to_string(num_opened_++));
    Opened both = parts;
    both.names.insert(both.names.end(), inner.names.begin(), inner.names.end());
    both.domain = joined(both.domain, inner.domain);
    both.args = {apply(K::Product, {term(product_of(others)), inner.args[0]})};
    // The names of a closed sum depend on its level alone.
    const Term merged = closed(like, both);
    return poly(folded(like, open(merged, here), here));
  }
  Poly outer = product_of({}, 1), inner = outer;
  for (const auto& [atom, exponent] : body) {
    Poly free, bound = product_of({{atom, exponent}});
    if (atom->kind == K::Exp && exponent == 1) {
      Poly sum;
      for (const auto& [key, coefficient] : poly(atom->args[0]).of)
        (mentions(term(product_of(key))->free, parts.names) ? sum : free)
            .of.emplace(key, coefficient);
      bound = exp(sum);
      free = exp(free);
    } else if (!mentions(atom->free, parts.names)) {
      std::swap(free, bound);
      bound = product_of({}, 1);
    } else {
      free = product_of({}, 1);
    }
    // m times a sum is the sum of m times its summands.
    const bool leaves = all(free, kFinite, here);
    if (leaves) outer = multiply(outer, free, here);
    inner = multiply(inner, leaves ? bound : product_of({{atom, exponent}}), within);
  }
  const Term rest = closed(like, {parts.names, parts.domain, {term(inner)}});
  return multiply(outer, product_of({{rest, 1}}), here);
}

// What is finite and free of the variables is added outside; then what is positive is multiplied there.
Poly Terms::maximum_of(Term like, const Opened& parts, Poly body, At here) {
  Poly outer;
  std::erase_if(body.of, [&](const auto& one) {
    const Term summand = term(product_of(one.first));
    const bool leaves = !mentions(summand->free, parts.names) && is(summand, kFinite, here);
    if (leaves) outer.of.insert(one);
    return leaves;
  });
  Poly factor = product_of({}, 1);
  if (body.of.size() == 1 && Rational(0) < body.of.begin()->second) {
    Key kept;
    factor = product_of({}, body.of.begin()->second);
    for (const auto& [atom, exponent] : body.of.begin()->first) {
      const Term one = exponent == 1 ? atom : power(atom, exponent);
      if (!mentions(one->free, parts.names) && is(one, kPositive, here))
        factor = multiply(factor, product_of({{atom, exponent}}), here);
      else
        kept.emplace_back(atom, exponent);
    }
    body = product_of(kept);
  }
  const Term most = closed(like, {parts.names, parts.domain, {term(body)}});
  return add(outer, multiply(factor, product_of({{most, 1}}), here), here);
}

}  // namespace tilewright::checker
