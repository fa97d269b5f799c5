// SPDX-License-Identifier: Apache-2.0
//
// Equality of terms: the difference is zero after it was multiplied by every sum in a denominator; or what is left
// are folds that differ in their domains alone, and the sets that must then be the same are the answer.
#include <algorithm>

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

// A summand as a set of points of `binder` with the same body: a sum, or one point. Of a maximum the body is the
// exponential of what is compared, which is a product too.
struct Use {
  Monomial body;
  TermStore::Impl::Binder binder;
  mpq_class times = 1;
  bool is_left = true;
};

constexpr std::size_t kMaxUses = 128;
constexpr long kMaxTimes = 64;

class SetFinder {
 public:
  explicit SetFinder(TermStore::Impl& impl) : impl_(impl) {}

  // The sets for which the sum is zero. Each factor of a sum is taken inside of it.
  bool find_of_sum(Term difference, std::vector<SameSets>* sets) {
    for (const Monomial& monomial : difference->monomials) require_factors(monomial);
    const Quiet no_conditions(impl_);
    for (const Monomial& monomial : difference->monomials)
      if (!add_summand(monomial)) return false;
    return group(sets, true);
  }

  // The sets for which the greatest of `left` is the greatest of `right`.
  bool find_of_maximum(Term left, Term right, std::vector<SameSets>* sets) {
    for (Term side : {left, right})
      for (const Monomial& monomial : side->monomials) {
        require_factors(monomial);
        for (const Factor& factor : monomial.factors)
          if (factor.atom->kind == AtomKind::Max)
            for (Term arg : factor.atom->args)
              for (const Monomial& inner : arg->monomials) require_factors(inner);
      }
    const Quiet no_conditions(impl_);
    for (Term arg : arguments(left))
      if (!add_argument(arg, true)) return false;
    for (Term arg : arguments(right))
      if (!add_argument(arg, false)) return false;
    return group(sets, false);
  }

 private:
  // Conditions that are affine belong to the set.
  void take_conditions(Use* use) {
    std::erase_if(use->body.factors, [&](const Factor& factor) {
      const AtomKind kind = factor.atom->kind;
      if (kind != AtomKind::AtLeast && kind != AtomKind::Zero) return false;
      use->binder.where.push_back({factor.atom->args[0], kind == AtomKind::Zero});
      return true;
    });
  }

  void require_factors(const Monomial& monomial) {
    for (const Factor& fold : monomial.factors) {
      if (fold.atom->kind != AtomKind::Sum && fold.atom->kind != AtomKind::MaxOver) continue;
      Monomial others = monomial;
      std::erase_if(others.factors, [&](const Factor& f) { return f.atom == fold.atom; });
      impl_.require_finite(others, impl_.of(fold.atom));
      if (fold.atom->kind == AtomKind::MaxOver)
        for (const Factor& other : others.factors)
          impl_.require(Condition::NonZero, impl_.of(other.atom));
    }
  }

  bool add_summand(const Monomial& monomial) {
    Use use;
    use.times = abs(monomial.coefficient);
    use.is_left = monomial.coefficient > 0;
    use.body = monomial;
    use.body.coefficient = 1;
    const auto fold =
        std::find_if(monomial.factors.begin(), monomial.factors.end(), [](const Factor& factor) {
          return factor.atom->kind == AtomKind::Sum && factor.power == 1;
        });
    if (fold != monomial.factors.end()) {
      std::erase_if(use.body.factors, [&](const Factor& f) { return f.atom == fold->atom; });
      auto [binder, args] = impl_.open(fold->atom);
      const Term product = impl_.multiply_finite(impl_.of(use.body), args[0]);
      if (product->monomials.size() != 1) return false;
      use.body = product->monomials[0];
      use.times *= use.body.coefficient;
      use.body.coefficient = 1;
      use.binder = std::move(binder);
    }
    take_conditions(&use);
    uses_.push_back(std::move(use));
    return uses_.size() <= kMaxUses;
  }

  // The terms whose greatest it is.
  std::vector<Term> arguments(Term term) {
    for (const Monomial& monomial : term->monomials) {
      if (monomial.coefficient < 0 || monomial.exponent || monomial.factors.size() != 1 ||
          monomial.factors[0].power != 1 || monomial.factors[0].atom->kind != AtomKind::Max)
        continue;
      const Term rest = impl_.add(term, impl_.scale(impl_.of(monomial), -1));
      std::vector<Term> out;
      for (Term arg : monomial.factors[0].atom->args)
        out.push_back(impl_.add(rest, impl_.scale(arg, monomial.coefficient)));
      return out;
    }
    return {term};
  }

  bool add_argument(Term arg, bool is_left) {
    Use use;
    use.is_left = is_left;
    Term compared = arg;
    for (const Monomial& monomial : arg->monomials) {
      const auto fold =
          std::find_if(monomial.factors.begin(), monomial.factors.end(), [](const Factor& factor) {
            return factor.atom->kind == AtomKind::MaxOver && factor.power == 1;
          });
      if (fold == monomial.factors.end()) continue;
      Monomial others = monomial;
      std::erase_if(others.factors, [&](const Factor& f) { return f.atom == fold->atom; });
      const Term factor = impl_.of(others);
      if (!impl_.is_non_negative(factor)) return false;
      auto [binder, args] = impl_.open(fold->atom);
      compared = impl_.add(impl_.add(arg, impl_.scale(impl_.of(monomial), -1)),
                           impl_.multiply_finite(factor, args[0]));
      use.binder = std::move(binder);
      break;
    }
    if (!compared->is_finite_form()) return false;
    use.body.exponent = impl_.is_zero(compared) ? Term() : compared;
    uses_.push_back(std::move(use));
    return uses_.size() <= kMaxUses;
  }

  // Takes the use of most variables, and all others whose body is its body at some points, until none is left.
  bool group(std::vector<SameSets>* sets, bool counted) {
    while (!uses_.empty()) {
      const auto widest =
          std::max_element(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) {
            return a.binder.variables.size() < b.binder.variables.size();
          });
      const Use pattern = *widest;
      if (pattern.binder.variables.empty()) return !counted && same_points();
      std::vector<std::pair<Use, Conjunction>> members;
      std::erase_if(uses_, [&](const Use& use) {
        std::optional<Conjunction> where = as_points_of(pattern, use);
        if (!where) return false;
        members.emplace_back(use, std::move(*where));
        return true;
      });
      SameSets out;
      out.counted = counted;
      for (Atom variable : pattern.binder.variables) out.variables.push_back(impl_.of(variable));
      mpz_class denominator = 1;
      mpz_class unit = 0;
      for (const auto& [use, where] : members) denominator = lcm(denominator, use.times.get_den());
      for (const auto& [use, where] : members)
        unit = gcd(unit, mpz_class(use.times.get_num() * (denominator / use.times.get_den())));
      for (const auto& [use, where] : members) {
        const mpq_class count = use.times * denominator / unit;
        if (count > kMaxTimes) return false;
        for (long i = 0; count > i; ++i) (use.is_left ? out.left : out.right).push_back(where);
      }
      sets->push_back(std::move(out));
    }
    return true;
  }

  // Of a maximum: what is left are single terms, and each is on both sides.
  bool same_points() const {
    return std::all_of(uses_.begin(), uses_.end(), [&](const Use& use) {
      return std::any_of(uses_.begin(), uses_.end(), [&](const Use& other) {
        return other.is_left != use.is_left && compare_keys(other.body, use.body) == 0;
      });
    });
  }

  // The set of the use in the variables of the pattern.
  std::optional<Conjunction> as_points_of(const Use& pattern, const Use& use) {
    const Term wanted = impl_.of(pattern.body);
    const Term there = impl_.of(use.body);
    std::vector<Term> unknowns;
    for (Atom variable : pattern.binder.variables) unknowns.push_back(impl_.of(variable));
    if (wanted == there && pattern.binder.variables == use.binder.variables)
      return use.binder.where;
    std::optional<Match> match = impl_.store.match(wanted, unknowns, there);
    if (!match || !impl_.is_one(match->factor)) return renamed(pattern, use);
    TermStore::Impl::Binder binder;
    binder.variables = use.binder.variables;
    binder.where = use.binder.where;
    for (const auto& [unknown, value] : match->values)
      binder.where.push_back({impl_.add(unknown, impl_.scale(value, -1)), true});
    // Each point of the use is one of the pattern: its own variables are determined by those.
    Term nothing = impl_.constant(1);
    if (!impl_.eliminate(binder, nothing)) return Conjunction{{impl_.constant(-1), false}};
    if (!binder.variables.empty()) return std::nullopt;
    return binder.where;
  }

  // With the variables in some order the same body.
  std::optional<Conjunction> renamed(const Use& pattern, const Use& use) {
    const std::size_t n = pattern.binder.variables.size();
    if (n != use.binder.variables.size() || n > 4) return std::nullopt;
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    do {
      Values values;
      for (std::size_t i = 0; i < n; ++i)
        values[use.binder.variables[i]] = impl_.of(pattern.binder.variables[order[i]]);
      if (!(impl_.substitute(impl_.of(use.body), values) == impl_.of(pattern.body))) continue;
      Conjunction out;
      for (const Constraint& constraint : use.binder.where)
        out.push_back({impl_.substitute(constraint.value, values), constraint.equality});
      return out;
    } while (std::next_permutation(order.begin(), order.end()));
    return std::nullopt;
  }

  TermStore::Impl& impl_;
  std::vector<Use> uses_;
};

// Folds that stand in the term, but not in another fold.
void collect_folds(Term term, std::vector<Atom>* out);
void collect_folds(Atom atom, std::vector<Atom>* out) {
  if (atom->num_bound == 0) {
    for (Term arg : atom->args) collect_folds(arg, out);
  } else if (!contains(*out, atom)) {
    out->push_back(atom);
  }
}
void collect_folds(Term term, std::vector<Atom>* out) {
  for (const Monomial& monomial : term->monomials) {
    for (const Factor& factor : monomial.factors) collect_folds(factor.atom, out);
    if (monomial.exponent) collect_folds(monomial.exponent, out);
  }
}

// A body on one side alone: no sets but empty ones would do.
bool is_refused(const Equality& equality) {
  if (equality.verdict != Verdict::IfSameSets) return equality.verdict == Verdict::NotShown;
  return std::any_of(equality.sets.begin(), equality.sets.end(),
                     [](const SameSets& sets) { return sets.left.empty() || sets.right.empty(); });
}

// `a` with its folds replaced by those of `b` which have the same bodies, given the sets; null when there are none.
Term align(TermStore::Impl& impl, Term a, Term b, std::vector<SameSets>* sets) {
  std::vector<Atom> ours;
  std::vector<Atom> theirs;
  collect_folds(a, &ours);
  collect_folds(b, &theirs);
  std::unordered_map<Atom, Term> replaced;
  for (Atom mine : ours) {
    if (contains(theirs, mine)) continue;
    for (Atom other : theirs) {
      if (contains(ours, other) || other->kind != mine->kind) continue;
      std::vector<SameSets> needed;
      const Quiet no_conditions(impl);
      const Term difference = impl.add(impl.of(mine), impl.scale(impl.of(other), -1));
      const bool found =
          mine->kind == AtomKind::Sum
              ? SetFinder(impl).find_of_sum(difference, &needed)
              : mine->kind == AtomKind::MaxOver &&
                    SetFinder(impl).find_of_maximum(impl.of(mine), impl.of(other), &needed);
      if (!found || needed.size() != 1 || needed[0].left.empty() || needed[0].right.empty())
        continue;
      replaced[mine] = impl.of(other);
      sets->push_back(std::move(needed[0]));
      break;
    }
  }
  if (replaced.empty()) return {};
  return impl.rebuild(a, [&](Atom atom) {
    const auto found = replaced.find(atom);
    return found == replaced.end() ? Term() : found->second;
  });
}

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

Equality TermStore::Impl::equal_as_they_are(Term a, Term b) {
  if (a == b) return {Verdict::Equal, {}, {}};
  Equality out;
  for (int i = 0; i < kNumSpecials; ++i) {
    const Term x = a->special[i] ? a->special[i] : constant(0);
    const Term y = b->special[i] ? b->special[i] : constant(0);
    if (!(x == y)) return out;
  }
  Term difference = add(finite_part(a), scale(finite_part(b), -1));
  difference = clear_denominators(difference);
  if (is_zero(difference)) return {Verdict::Equal, {}, {}};
  const std::size_t before = obligations.size();
  if (SetFinder(*this).find_of_sum(difference, &out.sets)) {
    out.verdict = Verdict::IfSameSets;
    return out;
  }
  out.sets.clear();
  obligations.resize(before);
  if (SetFinder(*this).find_of_maximum(finite_part(a), finite_part(b), &out.sets)) {
    out.verdict = Verdict::IfSameSets;
    return out;
  }
  out.sets.clear();
  out.difference = difference;
  return out;
}

// First as they are; then with folds in denominators and exponents taken for those of the other side.
Equality TermStore::equal(Term a, Term b) {
  Equality plain = impl_->equal_as_they_are(a, b);
  if (!is_refused(plain)) return plain;
  const std::size_t before = impl_->obligations.size();
  std::vector<SameSets> sets;
  if (const Term aligned = align(*impl_, a, b, &sets)) {
    Equality out = impl_->equal_as_they_are(aligned, b);
    if (!is_refused(out)) {
      out.verdict = Verdict::IfSameSets;
      out.sets.insert(out.sets.begin(), sets.begin(), sets.end());
      return out;
    }
    impl_->obligations.resize(before);
  }
  return plain;
}

}  // namespace tilewright::algebra
