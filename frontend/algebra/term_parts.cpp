// SPDX-License-Identifier: Apache-2.0
//
// Index terms taken apart, for those who have another form of them.
#include "frontend/algebra/term_parts.h"

#include <algorithm>
#include <numeric>

#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

static std::optional<std::int64_t> small(const mpq_class& value) {
  if (value.get_den() != 1 || !value.get_num().fits_slong_p()) return {};
  return value.get_num().get_si();
}

std::optional<TermStore::Cell> TermStore::cell_of(Term term) const {
  const Atom atom = impl_->single_atom(term);
  if (atom == nullptr || atom->kind != AtomKind::Read) return {};
  return Cell{atom->name, atom->args};
}

std::vector<Term> TermStore::cells(Term term) {
  const Quiet no_conditions(*impl_);
  std::vector<Term> out;
  impl_->rebuild(term, [&](Atom atom) -> Term {
    if (atom->kind == AtomKind::Read) {
      const Term cell = impl_->of(atom);
      if (std::find(out.begin(), out.end(), cell) == out.end()) out.push_back(cell);
    }
    return atom->num_bound > 0 ? impl_->of(atom) : Term();
  });
  return out;
}

bool TermStore::has_value(Term term, Term value) {
  const Quiet no_conditions(*impl_);
  const Atom wanted = impl_->single_atom(value);
  bool found = false;
  impl_->rebuild(term, [&](Atom atom) -> Term {
    found = found || atom == wanted;
    return {};
  });
  return found;
}

bool TermStore::has_fold(Term term) const { return term->height > 0; }

Term TermStore::exchanged(Term term, Term atom, Term by) {
  const Quiet no_conditions(*impl_);
  const Atom wanted = impl_->single_atom(atom);
  if (wanted == nullptr) return term;
  return impl_->rebuild(term, [&](Atom each) { return each == wanted ? by : Term(); });
}

std::optional<Term> TermStore::some_condition(Term term) {
  const auto in = [&](Term each) -> std::optional<Term> {
    if (!each) return {};
    for (const Monomial& monomial : each->monomials)
      for (const Factor& factor : monomial.factors)
        if (is_bool(factor.atom)) return impl_->of(factor.atom);
    return {};
  };
  if (const auto found = in(term)) return found;
  for (Term special : term->special)
    if (const auto found = in(special)) return found;
  return {};
}

Term TermStore::assume(Term term, Term condition, bool holds) {
  const Quiet no_conditions(*impl_);
  const Atom wanted = impl_->single_atom(condition);
  return impl_->rebuild(
      term, [&](Atom atom) -> Term { return atom == wanted ? integer(holds ? 1 : 0) : Term(); });
}

Term TermStore::within(Term condition, Term term) {
  const Quiet no_conditions(*impl_);
  std::vector<Atom> atoms;
  for (const Monomial& monomial : condition->monomials)
    for (const Factor& factor : monomial.factors)
      if (is_bool(factor.atom) && std::find(atoms.begin(), atoms.end(), factor.atom) == atoms.end())
        atoms.push_back(factor.atom);
  for (Atom atom : atoms) {
    const bool must_fail = impl_->is_zero(impl_->assume(condition, atom, true));
    const bool must_hold = impl_->is_zero(impl_->assume(condition, atom, false));
    if (must_fail == must_hold || !has_value(term, impl_->of(atom))) continue;
    term = assume(term, impl_->of(atom), must_hold);
  }
  return term;
}

bool TermStore::is_condition(Term term) const {
  const Quiet no_conditions(*impl_);
  for (Term each : {term, impl_->add(impl_->constant(1), impl_->scale(term, -1))}) {
    if (each->monomials.size() != 1 || !each->is_finite_form()) continue;
    const Monomial& only = each->monomials[0];
    const bool all =
        std::all_of(only.factors.begin(), only.factors.end(),
                    [](const Factor& factor) { return is_bool(factor.atom) && factor.power == 1; });
    if (all && only.coefficient == 1 && !only.exponent && !only.factors.empty()) return true;
  }
  return false;
}

bool TermStore::is_name(Term term) const {
  const Atom atom = impl_->single_atom(term);
  return atom != nullptr && (atom->kind == AtomKind::Variable || atom->kind == AtomKind::Extent);
}

std::optional<Term> TermStore::unwrapped(ir::ScalarType type, Term term) const {
  const Atom atom = impl_->single_atom(term);
  if (atom == nullptr || atom->kind != AtomKind::Wrap || atom->type != type) return {};
  return atom->args[0];
}

std::vector<Term> maximum_operands(TermStore& terms, Term term) {
  const Atom atom = terms.impl().single_atom(term);
  if (atom == nullptr || atom->kind != AtomKind::Max) return {term};
  return atom->args;
}

Term written_out(TermStore& terms, Term term, std::int64_t most) {
  return terms.impl().rebuild(term, [&](Atom atom) -> Term {
    if ((atom->kind != AtomKind::Sum && atom->kind != AtomKind::MaxOver) || atom->num_bound != 1)
      return {};
    const auto fold = terms.open(terms.impl().of(atom));
    if (!fold || fold->domain.parts.size() != 1) return {};
    const Term variable = fold->domain.variables[0];
    std::optional<std::int64_t> least;
    std::optional<std::int64_t> greatest;
    for (const Constraint& constraint : fold->domain.parts[0]) {
      const auto parts = terms.index_parts(constraint.value);
      if (!parts || constraint.equality) return {};
      std::int64_t step = 0;
      std::int64_t rest = 0;
      for (const IndexPart& part : *parts) {
        if (part.denominator != 0 || (part.of && !(part.of == variable))) return {};
        (part.of ? step : rest) = part.coefficient;
      }
      if (step == 1)
        least = std::max(least.value_or(-rest), -rest);
      else if (step == -1)
        greatest = std::min(greatest.value_or(rest), rest);
      else
        return {};
    }
    if (!least || !greatest || *greatest - *least >= most) return {};
    Term out = fold->is_maximum ? terms.infinity(true) : terms.integer(0);
    for (std::int64_t value = *least; value <= *greatest; ++value) {
      const std::pair<Term, Term> by(variable, terms.integer(value));
      const Term one = written_out(terms, terms.substitute(fold->body, {&by, 1}), most);
      out = fold->is_maximum ? terms.maximum(out, one) : terms.add(out, one);
    }
    return out;
  });
}

Term TermStore::decide(Term term,
                       const std::function<std::optional<bool>(const Constraint&)>& decided) {
  return impl_->rebuild(term, [&](Atom atom) -> Term {
    if (atom->kind != AtomKind::AtLeast && atom->kind != AtomKind::Zero) return {};
    const auto known = decided({atom->args[0], atom->kind == AtomKind::Zero});
    return known ? integer(*known ? 1 : 0) : Term();
  });
}

std::optional<std::vector<IndexPart>> TermStore::index_parts(Term term, bool values) {
  if (!term->is_finite_form()) return {};
  std::vector<IndexPart> out;
  for (const Monomial& monomial : term->monomials) {
    const auto coefficient = small(monomial.coefficient);
    if (!coefficient || monomial.exponent || monomial.factors.size() > 1) return {};
    if (monomial.factors.empty()) {
      out.push_back({*coefficient, {}, 0});
      continue;
    }
    const Factor& factor = monomial.factors[0];
    if (factor.power != 1) return {};
    if (factor.atom->kind == AtomKind::Variable || factor.atom->kind == AtomKind::Extent) {
      out.push_back({*coefficient, impl_->of(factor.atom), 0});
      continue;
    }
    if (factor.atom->kind != AtomKind::Floor) {
      if (!values || !algebra::is_whole(factor.atom)) return {};
      out.push_back({*coefficient, impl_->of(factor.atom), 0});
      continue;
    }
    // The common denominator of what the floor is of.
    mpz_class denominator = 1;
    for (const Monomial& inner : factor.atom->args[0]->monomials)
      mpz_lcm(denominator.get_mpz_t(), denominator.get_mpz_t(),
              inner.coefficient.get_den().get_mpz_t());
    if (!denominator.fits_slong_p()) return {};
    out.push_back({*coefficient, impl_->scale(factor.atom->args[0], mpq_class(denominator)),
                   denominator.get_si()});
  }
  return out;
}

}  // namespace tilewright::algebra
