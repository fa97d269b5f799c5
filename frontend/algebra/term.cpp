// SPDX-License-Identifier: Apache-2.0
#include "frontend/algebra/term.h"

#include <algorithm>
#include <cmath>

#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

TermStore::TermStore() : impl_(std::make_unique<Impl>(*this)) {}
TermStore::~TermStore() = default;

Term TermStore::rational(std::int64_t numerator, std::int64_t denominator) {
  mpq_class value(numerator, denominator);
  value.canonicalize();
  return impl_->constant(value);
}

Term TermStore::real(double value) {
  if (std::isnan(value)) return nan();
  if (std::isinf(value)) return infinity(value < 0);
  return impl_->constant(mpq_class(value));
}

Term TermStore::infinity(bool negative) {
  const Term always = impl_->constant(1);
  return impl_->make({}, negative ? always : Term(), negative ? Term() : always);
}

Term TermStore::nan() { return impl_->make({}, {}, {}, impl_->constant(1)); }

namespace {

AtomNode leaf(AtomKind kind, ir::ScalarType type) {
  AtomNode node;
  node.kind = kind;
  node.type = type;
  return node;
}

}  // namespace

Term TermStore::variable(Symbol name) {
  AtomNode node = leaf(AtomKind::Variable, ir::ScalarType::Index);
  node.name = name;
  return impl_->of(impl_->atom(std::move(node)));
}

Term TermStore::fresh_variable() { return impl_->of(impl_->fresh()); }

Term TermStore::extent(Symbol name) {
  AtomNode node = leaf(AtomKind::Extent, ir::ScalarType::Index);
  node.name = name;
  return impl_->of(impl_->atom(std::move(node)));
}

Term TermStore::read(Symbol tensor, std::span<const Term> indices, ir::ScalarType type) {
  AtomNode node = leaf(AtomKind::Read, type);
  node.name = tensor;
  node.args.assign(indices.begin(), indices.end());
  return impl_->of(impl_->atom(std::move(node)));
}

Term TermStore::value(std::int64_t id, std::span<const Term> instance, ir::ScalarType type) {
  AtomNode node = leaf(AtomKind::Value, type);
  node.a = id;
  node.args.assign(instance.begin(), instance.end());
  return impl_->of(impl_->atom(std::move(node)));
}

Term TermStore::call(std::string_view function, std::span<const Term> arguments,
                     ir::ScalarType type) {
  AtomNode node = leaf(AtomKind::Call, type);
  node.text = function;
  node.args.assign(arguments.begin(), arguments.end());
  return impl_->of(impl_->atom(std::move(node)));
}

Term TermStore::unknown(std::span<const Term> of) {
  std::vector<Atom> free;
  for (Term term : of)
    for (Atom variable : term->free)
      if (!contains(free, variable)) free.push_back(variable);
  // Asked for, so no limit.
  const bool before = impl_->limit_reached;
  const Term out = impl_->unknown(free);
  impl_->limit_reached = before;
  return out;
}

Term TermStore::add(Term a, Term b) { return impl_->add(a, b); }
Term TermStore::negate(Term a) { return impl_->scale(a, -1); }
Term TermStore::multiply(Term a, Term b) { return impl_->multiply(a, b); }
Term TermStore::power(Term a, std::int64_t numerator, std::int64_t denominator) {
  mpq_class by(numerator, denominator);
  by.canonicalize();
  return impl_->power(a, by);
}
Term TermStore::exp(Term a) { return impl_->exp(a); }
Term TermStore::log(Term a) { return impl_->log(a); }
Term TermStore::maximum(Term a, Term b) { return impl_->maximum({a, b}); }
Term TermStore::floor(Term a) { return impl_->floor(a); }
Term TermStore::wrap(ir::ScalarType type, Term a) { return impl_->wrap(type, a); }

Term TermStore::less(Term a, Term b) { return impl_->less(a, b); }
Term TermStore::equal_to(Term a, Term b) { return impl_->equal_to(a, b); }
Term TermStore::at_least_zero(Term a) { return impl_->at_least_zero(a); }
Term TermStore::is_zero(Term a) { return impl_->is_zero_condition(a); }

Term TermStore::negation(Term a) {
  const Quiet no_conditions(*impl_);
  return impl_->add(impl_->constant(1), impl_->scale(a, -1));
}

Term TermStore::select(Term condition, Term then_value, Term else_value) {
  const Quiet no_conditions(*impl_);
  const Term a = guard(condition, then_value);
  const Term b = guard(negation(condition), else_value);
  Term special[kNumSpecials];
  for (int i = 0; i < kNumSpecials; ++i) {
    const Term x = a->special[i];
    const Term y = b->special[i];
    special[i] = !x ? y : !y ? x : impl_->add(x, y);
  }
  const Term sum = impl_->add(impl_->finite_part(a), impl_->finite_part(b));
  return impl_->make(sum->monomials, special[0], special[1], special[2]);
}

Term TermStore::guard(Term condition, Term value) { return impl_->guard(condition, value); }

Term TermStore::holds(const Conjunction& conjunction) {
  Term out = integer(1);
  for (const Constraint& constraint : conjunction)
    out = guard(constraint.equality ? is_zero(constraint.value) : at_least_zero(constraint.value),
                out);
  return out;
}

namespace {

TermStore::Impl::Binder binder_of(TermStore::Impl& impl, const Domain& domain,
                                  const Conjunction& part) {
  TermStore::Impl::Binder binder;
  for (Term variable : domain.variables)
    if (const Atom atom = impl.single_atom(variable)) binder.variables.push_back(atom);
  binder.where = part;
  return binder;
}

// What was logged of the variables holds on every part.
void bind_on_all_parts(TermStore::Impl& impl, const Domain& domain) {
  if (domain.parts.size() < 2) return;
  const std::vector<Obligation> before = std::move(impl.obligations);
  impl.obligations.clear();
  for (const Obligation& obligation : before)
    for (const Conjunction& part : domain.parts) {
      const std::vector<Obligation> others = std::move(impl.obligations);
      impl.obligations = {obligation};
      impl.bind_obligations(binder_of(impl, domain, part));
      const Obligation bound = impl.obligations[0];
      const bool same = bound.variables.size() == obligation.variables.size();
      impl.obligations = others;
      impl.obligations.push_back(bound);
      if (same) break;
    }
}

}  // namespace

Term TermStore::sum(const Domain& domain, Term body) {
  bind_on_all_parts(*impl_, domain);
  Term out = integer(0);
  for (const Conjunction& part : domain.parts)
    out = impl_->add(out, impl_->sum(binder_of(*impl_, domain, part), body));
  return out;
}

Term TermStore::maximum_over(const Domain& domain, Term body) {
  bind_on_all_parts(*impl_, domain);
  std::vector<Term> parts;
  for (const Conjunction& part : domain.parts)
    parts.push_back(impl_->maximum_over(binder_of(*impl_, domain, part), body));
  return impl_->maximum(std::move(parts));
}

Term TermStore::fold(std::string_view monoid, int component, const Domain& domain,
                     std::span<const Term> bodies, ir::ScalarType type) {
  bind_on_all_parts(*impl_, domain);
  AtomNode node = leaf(AtomKind::Fold, type);
  node.text = monoid;
  node.b = component;
  node.args.assign(bodies.begin(), bodies.end());
  // A domain of several parts is one condition, which the first argument then is.
  if (domain.parts.size() == 1)
    return impl_->fold(std::move(node), binder_of(*impl_, domain, domain.parts[0]));
  Term where = integer(0);
  for (const Conjunction& part : domain.parts) where = either(where, holds(part));
  node.text += " where";
  node.args.insert(node.args.begin(), where);
  return impl_->fold(std::move(node), binder_of(*impl_, domain, {}));
}

Term TermStore::substitute(Term term, std::span<const std::pair<Term, Term>> values) {
  Values by_atom;
  for (const auto& [variable, value] : values)
    if (const Atom atom = impl_->single_atom(variable)) by_atom[atom] = value;
  return impl_->substitute(term, by_atom);
}

Term TermStore::inline_values(Term term, const Inline& replacement) {
  return impl_->rebuild(term, [&](Atom atom) {
    return atom->kind == AtomKind::Value ? replacement(atom->a, atom->args) : Term();
  });
}

Term TermStore::inline_reads(Term term, const InlineRead& replacement) {
  return impl_->rebuild(term, [&](Atom atom) {
    return atom->kind == AtomKind::Read ? replacement(atom->name, atom->args) : Term();
  });
}

std::optional<TermStore::Opened> TermStore::open(Term term) {
  const Quiet no_conditions(*impl_);
  if (!term->is_finite_form()) return std::nullopt;
  const Monomial* with_fold = nullptr;
  Atom fold = nullptr;
  for (const Monomial& monomial : term->monomials)
    for (const Factor& factor : monomial.factors) {
      if (factor.atom->kind != AtomKind::Sum && factor.atom->kind != AtomKind::MaxOver) continue;
      // A sum that something is divided by is a factor like others.
      if (factor.power != 1) continue;
      if (fold) return std::nullopt;
      fold = factor.atom;
      with_fold = &monomial;
    }
  if (!fold) return std::nullopt;
  Opened out;
  out.is_maximum = fold->kind == AtomKind::MaxOver;
  if (out.is_maximum) {
    if (!(with_fold->coefficient == 1) || with_fold->factors.size() != 1 || with_fold->exponent)
      return std::nullopt;
    out.factor = impl_->add(term, impl_->scale(impl_->of(*with_fold), -1));
  } else {
    if (term->monomials.size() != 1) return std::nullopt;
    Monomial others = *with_fold;
    std::erase_if(others.factors, [&](const Factor& f) { return f.atom == fold; });
    out.factor = impl_->of(std::move(others));
  }
  auto [binder, args] = impl_->open(fold);
  for (Atom variable : binder.variables) out.domain.variables.push_back(impl_->of(variable));
  out.domain.parts.push_back(binder.where);
  out.body = args[0];
  return out;
}

std::vector<Term> TermStore::free_variables(Term term) const {
  std::vector<Atom> free = term->free;
  std::sort(free.begin(), free.end(), atom_less);
  std::vector<Term> out;
  for (Atom atom : free) out.push_back(impl_->of(atom));
  return out;
}

bool TermStore::mentions(Term term, Term variable) const {
  const Atom atom = impl_->single_atom(variable);
  return atom && contains(term->free, atom);
}

bool TermStore::is_constant(Term term) const { return impl_->constant_of(term) != nullptr; }

std::optional<std::int64_t> TermStore::integer_value(Term term) const {
  const mpq_class* value = impl_->constant_of(term);
  if (!value || value->get_den() != 1 || !value->get_num().fits_slong_p()) return std::nullopt;
  return value->get_num().get_si();
}

std::vector<Term> TermStore::monomials(Term term) {
  std::vector<Term> out;
  for (const Monomial& monomial : term->monomials) out.push_back(impl_->of(monomial));
  return out;
}

std::vector<Obligation> TermStore::take_obligations() {
  return std::exchange(impl_->obligations, {});
}

void TermStore::require(Condition condition, Term term) {
  if (condition == Condition::Finite) {
    for (Term special : term->special)
      if (special) impl_->require(Condition::Never, special);
    impl_->require_finite(term);
  } else if (condition == Condition::NotPosInf) {
    for (Special special : {kPosInf, kNan})
      if (term->special[special]) impl_->require(Condition::Never, term->special[special]);
    impl_->require_below_infinity(term);
  } else {
    impl_->require(condition, term);
  }
}

std::size_t TermStore::num_obligations() const { return impl_->obligations.size(); }
void TermStore::drop_obligations(std::size_t first) { impl_->obligations.resize(first); }

void TermStore::restrict_obligations(std::size_t first, Term condition) {
  for (std::size_t i = first; i < impl_->obligations.size(); ++i) {
    Obligation& obligation = impl_->obligations[i];
    obligation.when = obligation.when ? both(obligation.when, condition) : condition;
  }
}

bool TermStore::limit_reached() const { return impl_->limit_reached; }

}  // namespace tilewright::algebra
