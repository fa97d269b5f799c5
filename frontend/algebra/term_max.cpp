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

// A maximum among the monomials, of positive coefficient.
const Monomial* maximum_in(Term term) {
  for (const Monomial& monomial : term->monomials)
    if (monomial.coefficient > 0 && !monomial.exponent && monomial.factors.size() == 1 &&
        monomial.factors[0].power == 1 && monomial.factors[0].atom->kind == AtomKind::Max)
      return &monomial;
  return nullptr;
}

bool has_maximum(const std::vector<Term>& args) {
  return std::any_of(args.begin(), args.end(), [](Term arg) { return maximum_in(arg); });
}

// max(a + c*max(b, d), ...) is max(a + c*b, a + c*d, ...). False: too many.
bool flatten(TermStore::Impl& impl, std::vector<Term>& args) {
  for (std::size_t i = 0; i < args.size();) {
    const Term arg = args[i];
    const Monomial* inner = maximum_in(arg);
    if (!inner) {
      ++i;
      continue;
    }
    const Quiet no_conditions(impl);
    const Term rest = impl.add(arg, impl.scale(impl.of(*inner), -1));
    args.erase(args.begin() + static_cast<std::ptrdiff_t>(i));
    for (Term each : inner->factors[0].atom->args)
      args.push_back(impl.add(rest, impl.scale(each, inner->coefficient)));
    if (args.size() > kMaxArguments) return false;
  }
  // Of arguments that differ by a constant the greatest stays.
  const Quiet no_conditions(impl);
  std::vector<Term> kept;
  for (Term arg : args) {
    const mpq_class* more = nullptr;
    const auto same = std::find_if(kept.begin(), kept.end(), [&](Term other) {
      more = impl.constant_of(impl.add(arg, impl.scale(other, -1)));
      return more != nullptr;
    });
    if (same == kept.end())
      kept.push_back(arg);
    else if (*more > 0)
      *same = arg;
  }
  args = std::move(kept);
  std::sort(args.begin(), args.end(), term_less);
  return true;
}

// The least coefficient of each monomial.
Term least_of(TermStore::Impl& impl, const std::vector<Term>& args) {
  const Quiet no_conditions(impl);
  std::vector<Monomial> keys;
  for (Term arg : args)
    for (const Monomial& monomial : arg->monomials)
      if (std::none_of(keys.begin(), keys.end(),
                       [&](const Monomial& key) { return compare_keys(key, monomial) == 0; }))
        keys.push_back(monomial);
  Term common = impl.make({});
  for (Monomial& key : keys) {
    for (Term arg : args) {
      const Monomial* found = find_key(arg, key);
      const mpq_class coefficient = found ? found->coefficient : mpq_class(0);
      if (coefficient < key.coefficient) key.coefficient = coefficient;
    }
    if (key.coefficient != 0) common = impl.add(common, impl.of(key));
  }
  return common;
}

std::vector<Atom> free_of_all(const std::vector<Term>& terms) {
  std::vector<Atom> free;
  for (Term term : terms)
    for (Atom atom : term->free)
      if (!contains(free, atom)) free.push_back(atom);
  return free;
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
  // What is outside may leave maxima of positive coefficient inside, and these flattened may have more outside.
  Term common = make({});
  do {
    if (!flatten(*this, args)) return unknown(free_of_all(args));
    const Term outside = least_of(*this, args);
    require_finite(outside);
    const Quiet no_conditions(*this);
    if (args.size() > 1)
      for (Term& arg : args) arg = add(arg, scale(outside, -1));
    if (args.size() == 1) break;
    common = add(common, outside);
  } while (has_maximum(args));
  if (args.size() == 1) return add(common, args[0]);
  mpz_class numerator = 0;
  mpz_class denominator = 1;
  for (Term arg : args)
    for (const Monomial& monomial : arg->monomials) {
      numerator = gcd(numerator, monomial.coefficient.get_num());
      denominator = lcm(denominator, monomial.coefficient.get_den());
    }
  mpq_class content(numerator, denominator);
  content.canonicalize();
  AtomNode node;
  node.kind = AtomKind::Max;
  bool whole = true;
  for (Term arg : args) {
    node.args.push_back(scale(arg, mpq_class(1) / content));
    whole = whole && is_whole(node.args.back());
  }
  node.type = whole ? ir::ScalarType::Index : ir::ScalarType::F64;
  std::sort(node.args.begin(), node.args.end(), term_less);
  return add(common, scale(of(atom(std::move(node))), content));
}

}  // namespace tilewright::algebra
