// SPDX-License-Identifier: Apache-2.0
//
// Equality of terms: the difference is zero after it was multiplied by every sum in a denominator; or what is left
// are folds that differ in their domains alone, and the sets that must then be the same are the answer.
#include <algorithm>
#include <map>

#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

namespace {

constexpr int kMaxRounds = 16;

// The sum with the most negative power, and that power.
Factor lowest_base(Term term) {
  Factor out;
  out.power = 0;
  for (const Monomial& monomial : term->monomials)
    for (const Factor& factor : monomial.factors)
      if (factor.atom->kind == AtomKind::Base && factor.power < 0 &&
          (!out.atom || atom_less(factor.atom, out.atom)))
        out.atom = factor.atom;
  if (!out.atom) return out;
  for (const Monomial& monomial : term->monomials)
    for (const Factor& factor : monomial.factors)
      if (factor.atom == out.atom && factor.power < out.power) out.power = factor.power;
  return out;
}

// A monomial with one fold to the power 1 as one that says what is folded and the set.
struct FoldUse {
  Monomial others;  // of coefficient 1
  Atom fold = nullptr;
  mpq_class times;
};

std::optional<FoldUse> fold_use(const Monomial& monomial) {
  FoldUse use;
  use.others = monomial;
  use.others.coefficient = 1;
  use.times = monomial.coefficient;
  for (const Factor& factor : monomial.factors) {
    if (factor.atom->kind != AtomKind::Sum) continue;
    if (use.fold || factor.power != 1) return std::nullopt;
    use.fold = factor.atom;
  }
  if (!use.fold) return std::nullopt;
  std::erase_if(use.others.factors, [&](const Factor& f) { return f.atom == use.fold; });
  return use;
}

class SetFinder {
 public:
  explicit SetFinder(TermStore::Impl& impl) : impl_(impl) {}

  // Whether sum of coefficients * [point in domain] is zero of each body, given the sets.
  bool find(Term difference, std::vector<SameSets>* sets) {
    struct Group {
      Monomial others;
      std::vector<std::pair<mpq_class, Atom>> folds;
    };
    std::vector<Group> groups;
    for (const Monomial& monomial : difference->monomials) {
      const std::optional<FoldUse> use = fold_use(monomial);
      if (!use) return false;
      const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
        return compare_keys(group.others, use->others) == 0 &&
               alike(group.folds[0].second, use->fold);
      });
      if (same == groups.end())
        groups.push_back({use->others, {{use->times, use->fold}}});
      else
        same->folds.emplace_back(use->times, use->fold);
    }
    for (const Group& group : groups)
      if (!same_sets(group.folds, sets)) return false;
    return true;
  }

 private:
  static bool alike(Atom a, Atom b) {
    return a->kind == b->kind && a->num_bound == b->num_bound && a->text == b->text && a->b == b->b;
  }

  // The domains with the variables of the first, whose bodies are then the same.
  bool same_sets(const std::vector<std::pair<mpq_class, Atom>>& folds,
                 std::vector<SameSets>* sets) {
    auto [first, first_args] = impl_.open(folds[0].second);
    SameSets out;
    mpz_class denominator = 1;
    for (const auto& [times, fold] : folds) denominator = lcm(denominator, times.get_den());
    mpz_class unit = 0;
    for (const auto& [times, fold] : folds)
      unit = gcd(unit, mpz_class(times.get_num() * (denominator / times.get_den())));
    for (const auto& [times, fold] : folds) {
      std::optional<Conjunction> where = with_variables(fold, first.variables, first_args);
      if (!where) return false;
      const mpq_class count = times * denominator / unit;
      if (abs(count) > 64) return false;
      for (long i = 0; i < abs(count); ++i) (count > 0 ? out.left : out.right).push_back(*where);
    }
    for (Atom variable : first.variables) out.variables.push_back(impl_.of(variable));
    sets->push_back(std::move(out));
    return true;
  }

  // The fold's domain over these variables, in the order in which its body is `args`.
  std::optional<Conjunction> with_variables(Atom fold, const std::vector<Atom>& variables,
                                            const std::vector<Term>& args) {
    const Quiet no_conditions(impl_);
    auto [binder, own_args] = impl_.open(fold);
    std::vector<std::size_t> order(variables.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (order.size() > 5) return std::nullopt;
    do {
      Values values;
      for (std::size_t i = 0; i < order.size(); ++i)
        values[binder.variables[i]] = impl_.of(variables[order[i]]);
      bool same = true;
      for (std::size_t i = 0; same && i < args.size(); ++i)
        same = impl_.substitute(own_args[i], values) == args[i];
      if (!same) continue;
      Conjunction out;
      for (const Constraint& constraint : binder.where)
        out.push_back({impl_.substitute(constraint.value, values), constraint.equality});
      return out;
    } while (std::next_permutation(order.begin(), order.end()));
    return std::nullopt;
  }

  TermStore::Impl& impl_;
};

}  // namespace

// The difference times every sum in a denominator; both must not be zero.
Term TermStore::Impl::clear_denominators(Term a) {
  for (int round = 0; round < kMaxRounds; ++round) {
    const Factor lowest = lowest_base(a);
    if (!lowest.atom) break;
    require(Condition::NonZero, lowest.atom->args[0]);
    require_finite(lowest.atom->args[0]);
    const Quiet was_required(*this);
    Term product = make({});
    for (const Monomial& monomial : a->monomials) {
      Monomial others = monomial;
      mpq_class power_there = 0;
      std::erase_if(others.factors, [&](const Factor& factor) {
        if (factor.atom == lowest.atom) power_there = factor.power;
        return factor.atom == lowest.atom;
      });
      product =
          add(product, multiply_finite(of(std::move(others)),
                                       power(lowest.atom->args[0], power_there - lowest.power)));
    }
    a = product;
  }
  return a;
}

Equality TermStore::equal(Term a, Term b) {
  if (a == b) return {Verdict::Equal, {}, {}};
  Equality out;
  for (int i = 0; i < kNumSpecials; ++i) {
    const Term x = a->special[i] ? a->special[i] : integer(0);
    const Term y = b->special[i] ? b->special[i] : integer(0);
    if (!(x == y)) {
      out.difference = impl_->unknown({});
      return out;
    }
  }
  Term difference = impl_->add(impl_->finite_part(a), negate(impl_->finite_part(b)));
  difference = impl_->clear_denominators(difference);
  if (impl_->is_zero(difference)) return {Verdict::Equal, {}, {}};
  if (SetFinder(*impl_).find(difference, &out.sets)) {
    out.verdict = Verdict::IfSameSets;
    return out;
  }
  out.sets.clear();
  out.difference = difference;
  return out;
}

}  // namespace tilewright::algebra
