// SPDX-License-Identifier: Apache-2.0
//
// Each form is built anew from the other: both are canonical.
#include "lowering/proof/translate.h"

#include <algorithm>

namespace tilewright::proof {

using algebra::Conjunction;

Term Translator::variable(std::string_view name) {
  const Symbol symbol = context_.symbol(name);
  const bool extent = std::find(extents_.begin(), extents_.end(), name) != extents_.end();
  return extent ? terms_.extent(symbol) : terms_.variable(symbol);
}

Term Translator::term(const AffineExpr& expr) {
  Term out = terms_.integer(expr.constant());
  for (const poly::LinearTerm& one : expr.terms())
    out = terms_.add(out, terms_.multiply(terms_.integer(one.coefficient), variable(one.name)));
  for (const poly::FloorTerm& floor : expr.floors()) {
    const Term quotient =
        terms_.floor_divide(term(floor.numerator), terms_.integer(floor.denominator));
    out = terms_.add(out, terms_.multiply(terms_.integer(floor.coefficient), quotient));
  }
  return out;
}

std::vector<Term> Translator::instance(const std::vector<AffineExpr>& exprs) {
  std::vector<Term> out;
  for (const AffineExpr& expr : exprs) out.push_back(term(expr));
  return out;
}

Conjunction Translator::conjunction(const poly::BasicSet& set) {
  Conjunction out;
  for (const AffineExpr& expr : set.equalities) out.push_back({term(expr), true});
  for (const AffineExpr& expr : set.inequalities) out.push_back({term(expr), false});
  return out;
}

std::optional<AffineExpr> Translator::affine(Term term, DataNames* data) {
  const auto parts = terms_.index_parts(term, data != nullptr);
  if (!parts) return {};
  AffineExpr out;
  for (const algebra::IndexPart& part : *parts) {
    if (part.denominator != 0) {
      const auto numerator = affine(part.of, data);
      if (!numerator) return {};
      out = out + poly::floor_div(*numerator, part.denominator) * part.coefficient;
    } else if (part.of && terms_.is_name(part.of)) {
      out = out + AffineExpr::variable(terms_.print(part.of), part.coefficient);
    } else if (part.of) {
      auto [at, is_new] = data_names_.try_emplace(part.of.node());
      if (is_new) at->second = "?t" + std::to_string(data_names_.size());
      const auto known = std::any_of(data->names.begin(), data->names.end(),
                                     [&](const auto& name) { return name.second == part.of; });
      if (!known) data->names.emplace_back(at->second, part.of);
      out = out + AffineExpr::variable(at->second, part.coefficient);
    } else {
      out = out + AffineExpr(part.coefficient);
    }
  }
  if (out.overflowed()) return {};
  return out;
}

std::optional<poly::BasicSet> Translator::basic_set(const Conjunction& conjunction,
                                                    DataNames* data) {
  poly::BasicSet out;
  for (const algebra::Constraint& one : conjunction) {
    const auto value = affine(one.value, data);
    if (!value) return {};
    (one.equality ? out.equalities : out.inequalities).push_back(*value);
  }
  return out;
}

}  // namespace tilewright::proof
