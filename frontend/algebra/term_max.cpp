// SPDX-License-Identifier: Apache-2.0
//
// Maxima of a few terms. Each monomial's least coefficient (0 where it is missing) stands outside, so that
// max(a + m, b + m) and m + max(a, b) meet, |x| is 2 max(x, 0) - x, and min(a, b) is a + b - max(a, b).
#include <algorithm>

#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

namespace {

constexpr std::size_t kMaxArguments = 256;

// A condition on which it depends whether, or what, an argument is.
Atom condition_in(const std::vector<Term>& args) {
  Atom first = nullptr;
  const auto look = [&](Term term) {
    for (const Monomial& monomial : term->monomials)
      for (const Factor& factor : monomial.factors)
        if (is_bool(factor.atom) && (!first || atom_less(factor.atom, first))) first = factor.atom;
  };
  for (Term arg : args) {
    look(arg);
    for (Term special : arg->special)
      if (special) look(special);
  }
  return first;
}

const Monomial* find_key(Term term, const Monomial& key) {
  for (const Monomial& monomial : term->monomials)
    if (compare_keys(monomial, key) == 0) return &monomial;
  return nullptr;
}

}  // namespace

Term TermStore::Impl::maximum(std::vector<Term> args) {
  // -inf and +inf, by cases of their conditions.
  if (const Atom condition = condition_in(args)) {
    std::vector<Term> yes;
    std::vector<Term> no;
    for (Term arg : args) {
      yes.push_back(assume(arg, condition, true));
      no.push_back(assume(arg, condition, false));
    }
    return store.select(of(condition), maximum(std::move(yes)), maximum(std::move(no)));
  }
  for (Term arg : args) {
    if (arg->special[kNan]) return store.nan();
    if (arg->special[kPosInf]) return store.infinity(false);
  }
  std::erase_if(args, [](Term arg) { return bool(arg->special[kNegInf]); });
  if (args.empty()) return store.infinity(true);
  // Maxima inside.
  for (std::size_t i = 0; i < args.size() && args.size() < kMaxArguments; ++i) {
    const Term arg = args[i];
    const auto inner =
        std::find_if(arg->monomials.begin(), arg->monomials.end(), [](const Monomial& monomial) {
          return monomial.coefficient > 0 && !monomial.exponent && monomial.factors.size() == 1 &&
                 monomial.factors[0].power == 1 && monomial.factors[0].atom->kind == AtomKind::Max;
        });
    if (inner == arg->monomials.end()) continue;
    const Term rest = add(arg, scale(of(*inner), -1));
    const Atom max = inner->factors[0].atom;
    for (std::size_t j = 0; j < max->args.size(); ++j) {
      const Term flat = add(rest, scale(max->args[j], inner->coefficient));
      if (j == 0)
        args[i] = flat;
      else
        args.push_back(flat);
    }
    --i;
  }
  std::sort(args.begin(), args.end(), term_less);
  args.erase(std::unique(args.begin(), args.end()), args.end());
  // Least coefficients.
  std::vector<Monomial> keys;
  for (Term arg : args)
    for (const Monomial& monomial : arg->monomials)
      if (std::none_of(keys.begin(), keys.end(),
                       [&](const Monomial& key) { return compare_keys(key, monomial) == 0; }))
        keys.push_back(monomial);
  Term common = make({});
  for (Monomial& key : keys) {
    for (Term arg : args) {
      const Monomial* found = find_key(arg, key);
      const mpq_class coefficient = found ? found->coefficient : mpq_class(0);
      if (coefficient < key.coefficient) key.coefficient = coefficient;
    }
    if (key.coefficient != 0) common = add(common, of(key));
  }
  if (args.size() == 1) return args[0];
  require_finite(common);
  mpz_class numerator = 0;
  mpz_class denominator = 1;
  {
    const Quiet no_conditions(*this);
    const Term minus = scale(common, -1);
    for (Term& arg : args) {
      arg = add(arg, minus);
      for (const Monomial& monomial : arg->monomials) {
        numerator = gcd(numerator, monomial.coefficient.get_num());
        denominator = lcm(denominator, monomial.coefficient.get_den());
      }
    }
  }
  // Of arguments that differ by a constant the greatest stays.
  std::vector<Term> kept;
  for (Term arg : args) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](Term other) {
      const Quiet no_conditions(*this);
      return constant_of(add(other, scale(arg, -1))) != nullptr;
    });
    if (same == kept.end())
      kept.push_back(arg);
    else if (const Quiet no_conditions(*this); *constant_of(add(arg, scale(*same, -1))) > 0)
      *same = arg;
  }
  if (kept.size() == 1) return add(common, kept[0]);
  mpq_class content(numerator, denominator);
  content.canonicalize();
  AtomNode node;
  node.kind = AtomKind::Max;
  bool whole = true;
  for (Term arg : kept) {
    node.args.push_back(scale(arg, mpq_class(1) / content));
    whole = whole && is_whole(node.args.back());
  }
  node.type = whole ? ir::ScalarType::Index : ir::ScalarType::F64;
  std::sort(node.args.begin(), node.args.end(), term_less);
  return add(common, scale(of(atom(std::move(node))), content));
}

}  // namespace tilewright::algebra
