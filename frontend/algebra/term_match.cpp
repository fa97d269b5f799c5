// SPDX-License-Identifier: Apache-2.0
//
// Matching: index terms for the unknowns of a pattern, which make it a factor of a term. Pairs of atoms of the same
// shape give linear equations; what they determine is put in, and the pattern is then compared as a whole, so
// nothing rests on how the equations were found.
#include <algorithm>

#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

namespace {

constexpr int kMaxTries = 4096;

// pattern == term, of indices.
using Equation = std::pair<Term, Term>;

class Matcher {
 public:
  Matcher(TermStore::Impl& impl, std::vector<Atom> unknowns, const Monomial& pattern,
          const Monomial& term)
      : impl_(impl), unknowns_(std::move(unknowns)), pattern_(pattern), term_(term) {}

  std::optional<Match> find() {
    const Quiet no_conditions(impl_);
    collect(pattern_, &wanted_);
    collect(term_, &there_);
    return assign({});
  }

 private:
  // Atoms with index arguments: reads and values, wherever they stand.
  static void collect(const Monomial& monomial, std::vector<Atom>* out) {
    for (const Factor& factor : monomial.factors) collect(factor.atom, out);
    if (monomial.exponent) collect(monomial.exponent, out);
  }
  static void collect(Term term, std::vector<Atom>* out) {
    for (const Monomial& monomial : term->monomials) collect(monomial, out);
    for (Term special : term->special)
      if (special) collect(special, out);
  }
  static void collect(Atom atom, std::vector<Atom>* out) {
    if (atom->kind == AtomKind::Read || atom->kind == AtomKind::Value) {
      if (!contains(*out, atom)) out->push_back(atom);
    }
    for (Term arg : atom->args) collect(arg, out);
  }

  bool is_open(Term term) const { return intersects(term->free, unknowns_); }

  // Puts one unknown after the other: an index of a wanted atom in which one unknown is linear and no other stands
  // equals the index of some atom that is there.
  std::optional<Match> assign(Values values) {
    if (++tries_ > kMaxTries) return std::nullopt;
    if (values.size() == unknowns_.size()) return check(values);
    std::vector<Equation> tried;
    for (Atom wanted : wanted_)
      for (std::size_t i = 0; i < wanted->args.size(); ++i) {
        const Term index = impl_.substitute(wanted->args[i], values);
        Atom unknown = nullptr;
        mpq_class slope;
        if (!linear_in_one(index, &unknown, &slope)) continue;
        for (Atom there : there_) {
          if (there->kind != wanted->kind || there->name.text() != wanted->name.text() ||
              there->a != wanted->a || there->args.size() != wanted->args.size() ||
              has_bound(there->args[i]))
            continue;
          // unknown = (there - rest) / slope
          const Term rest = impl_.add(index, impl_.scale(impl_.of(unknown), -slope));
          const Term value =
              impl_.scale(impl_.add(there->args[i], impl_.scale(rest, -1)), mpq_class(1) / slope);
          const Equation equation(impl_.of(unknown), value);
          if (!impl_.is_whole(value) ||
              std::find(tried.begin(), tried.end(), equation) != tried.end())
            continue;
          tried.push_back(equation);
          Values next = values;
          next[unknown] = value;
          if (std::optional<Match> match = assign(std::move(next))) return match;
        }
      }
    return std::nullopt;
  }

  static bool has_bound(Term term) {
    return std::any_of(term->free.begin(), term->free.end(),
                       [](Atom atom) { return atom->text == "bound"; });
  }

  // slope * unknown + what has no unknown and no bound variable in it.
  bool linear_in_one(Term index, Atom* unknown, mpq_class* slope) const {
    if (has_bound(index)) return false;
    for (const Monomial& monomial : index->monomials) {
      const std::vector<Atom> free = free_of(monomial);
      if (!intersects(free, unknowns_)) continue;
      if (*unknown || monomial.factors.size() != 1 || monomial.factors[0].power != 1 ||
          !contains(unknowns_, monomial.factors[0].atom))
        return false;
      *unknown = monomial.factors[0].atom;
      *slope = monomial.coefficient;
    }
    return *unknown != nullptr;
  }

  // The term divided by the pattern, if every factor of the pattern is there with at least its power and the sign
  // of it, and of the exponent every monomial.
  std::optional<Match> check(const Values& values) {
    const Term instance = impl_.substitute(impl_.of(pattern_), values);
    if (!instance->is_finite_form() || instance->monomials.size() != 1) return std::nullopt;
    const Monomial& found = instance->monomials[0];
    Monomial rest = term_;
    rest.coefficient = term_.coefficient / found.coefficient;
    for (const Factor& factor : found.factors) {
      const auto there = std::find_if(rest.factors.begin(), rest.factors.end(),
                                      [&](const Factor& f) { return f.atom == factor.atom; });
      if (there == rest.factors.end()) return std::nullopt;
      there->power -= factor.power;
      if (is_bool(factor.atom)) there->power = 0;
      if (sgn(there->power) * sgn(factor.power) < 0) return std::nullopt;
      if (there->power == 0) rest.factors.erase(there);
    }
    if (found.exponent) {
      if (!term_.exponent) return std::nullopt;
      for (const Monomial& part : found.exponent->monomials)
        if (std::none_of(term_.exponent->monomials.begin(), term_.exponent->monomials.end(),
                         [&](const Monomial& m) {
                           return compare_keys(m, part) == 0 && m.coefficient == part.coefficient;
                         }))
          return std::nullopt;
      const Term left = impl_.add(term_.exponent, impl_.scale(found.exponent, -1));
      rest.exponent = impl_.is_zero(left) ? Term() : left;
    }
    Match out;
    for (Atom unknown : unknowns_) out.values.emplace_back(impl_.of(unknown), values.at(unknown));
    out.factor = impl_.of(std::move(rest));
    return out;
  }

  TermStore::Impl& impl_;
  std::vector<Atom> unknowns_;
  const Monomial pattern_;
  const Monomial term_;
  std::vector<Atom> wanted_;
  std::vector<Atom> there_;
  int tries_ = 0;
};

}  // namespace

std::optional<Match> TermStore::match(Term pattern, std::span<const Term> unknowns, Term term) {
  if (!pattern->is_finite_form() || !term->is_finite_form() || pattern->monomials.size() != 1 ||
      term->monomials.size() != 1)
    return std::nullopt;
  // Every factor of the pattern must have one of its form; conditions may be decided by the unknowns.
  const Monomial& wanted = pattern->monomials[0];
  const Monomial& there = term->monomials[0];
  if (wanted.exponent && !there.exponent) return std::nullopt;
  for (const Factor& factor : wanted.factors)
    if (!is_bool(factor.atom) &&
        std::none_of(there.factors.begin(), there.factors.end(), [&](const Factor& other) {
          return other.atom->kind == factor.atom->kind && other.atom->name == factor.atom->name &&
                 other.atom->text == factor.atom->text;
        }))
      return std::nullopt;
  std::vector<Atom> atoms;
  for (Term unknown : unknowns)
    if (const Atom atom = impl_->single_atom(unknown)) atoms.push_back(atom);
  return Matcher(*impl_, std::move(atoms), pattern->monomials[0], term->monomials[0]).find();
}

}  // namespace tilewright::algebra
