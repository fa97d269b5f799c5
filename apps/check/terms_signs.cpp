// SPDX-License-Identifier: Apache-2.0
//
// What is known of a value at the points of a context: finite or -inf, finite, its sign. Inputs are finite.
#include <algorithm>
#include <array>

#include "apps/check/terms_parts.h"

namespace tilewright::checker {

namespace {

using K = TermKind;

constexpr unsigned kAnyFinite = kBelow | kFinite;
constexpr unsigned kNotNegative = kAnyFinite | kLeast0;
constexpr unsigned kAll = kNotNegative | kPositive | kNegative;

unsigned of_number(const Rational& value) {
  if (value < 0) return kAnyFinite | kNegative;
  return value == 0 ? kNotNegative : kNotNegative | kPositive;
}

// Of a sum with one more summand.
unsigned plus(unsigned a, unsigned b) {
  const unsigned some = (a & kLeast0) && (b & kLeast0) ? (a | b) & kPositive : 0U;
  return (a & b & ~unsigned{kPositive}) | some;
}

unsigned product(unsigned a, unsigned b) {
  if (!(a & b & kFinite)) return 0;
  unsigned out = kAnyFinite;
  const auto both = [&](unsigned x, unsigned y) { return (a & x) && (b & y); };
  if (both(kPositive, kPositive) || both(kNegative, kNegative)) out |= kLeast0 | kPositive;
  if (both(kLeast0, kLeast0)) out |= kLeast0;
  if (both(kPositive, kNegative) || both(kNegative, kPositive)) out |= kNegative;
  return out;
}

unsigned to_power(unsigned a, const Rational& exponent) {
  if (!(a & kFinite)) return 0;
  const bool root = !exponent.is_whole(), up = !(exponent < 0);
  if (root ? !(a & kPositive) && !(up && (a & kLeast0)) : !up && !(a & (kPositive | kNegative)))
    return 0;
  if (!root && exponent.over % 2 == 0)
    return kNotNegative | (a & (kPositive | kNegative) ? unsigned{kPositive} : 0U);
  return a;
}

}  // namespace

unsigned Terms::Impl::facts(Term t, At here) {
  const auto key = std::pair(t, here.id);
  if (const auto it = signs.find(key); it != signs.end()) return it->second;
  spend();
  signs[key] = 0;  // should a definition lead back here
  return signs[key] = known(t, here);
}

// Equal factors are squares.
unsigned Terms::Impl::of_product(const Key& factors, At here) {
  unsigned out = kNotNegative | kPositive;
  std::map<std::size_t, std::pair<Term, Rational>> powers;
  for (const auto& [atom, exponent] : factors) {
    const auto [it, is_new] = powers.emplace(atom->order, std::pair(atom, exponent));
    const bool natural = exponent.is_whole() && !(exponent < 0);
    if (!is_new && natural && it->second.second.is_whole() && !(it->second.second < 0))
      it->second.second = it->second.second + exponent;
    else if (!is_new)
      out = product(out, to_power(facts(atom, here), exponent));
  }
  for (const auto& [order, one] : powers)
    out = product(out, to_power(facts(one.first, here), one.second));
  return out;
}

unsigned Terms::Impl::known(Term t, At here) {
  constexpr std::array<Name, 5> kBounded = {"sin", "cos", "tanh", "erf", "rint"};
  const bool whole = t->type && t->type->kind != Class::Float;
  const auto of = [&](std::size_t i) { return facts(t->args[i], here); };
  switch (t->kind) {
    case K::Number: return of_number(t->number);
    case K::Infinity: return t->number < 0 ? unsigned{kBelow} : 0U;
    case K::Index:
      if (holds(t->linear - Linear(1), false, here)) return kNotNegative | kPositive;
      if (holds(t->linear, false, here)) return kNotNegative;
      return kAnyFinite | (holds(t->linear * -1 - Linear(1), false, here) ? unsigned{kNegative} : 0U);
    case K::Cell: {
      if (meaning.is_input(t->name) || whole) return kAnyFinite;
      const Term value = meaning.definition(t->name, t->args);
      return value ? facts(value, here) : 0U;
    }
    case K::Value: {
      const Term value = meaning.claim(t->id, t->args);
      return (value ? facts(value, here) : 0U) | (whole ? kAnyFinite : 0U);
    }
    case K::Call: {
      const bool bounded =
          t->args.size() == 1 && (of(0) & kFinite) &&
          std::find(kBounded.begin(), kBounded.end(), Name(t->name)) != kBounded.end();
      return whole || bounded ? kAnyFinite : 0U;
    }
    case K::Wrap:
    case K::Floor: return of(0) & kAnyFinite;
    case K::Sum:
    case K::Max: {
      unsigned out = of(0);
      for (std::size_t i = 1; i < t->args.size(); ++i) {
        const unsigned a = out, b = of(i);
        if (t->kind == K::Sum)
          out = plus(a, b);
        else  // none is inf, so the largest is finite where one is
          out = !(a & b & kBelow)
                    ? 0U
                    : ((a | b) & ~unsigned{kNegative}) | (a & b & kNegative);
      }
      return out;
    }
    case K::Product: {
      Key factors;
      for (Term arg : t->args) factors.emplace_back(arg, 1);
      return of_product(factors, here);
    }
    case K::Power: return to_power(of(0), t->number);
    case K::Exp: {
      const unsigned a = of(0);
      if (!(a & kBelow)) return 0;
      return kNotNegative | (a & kFinite ? unsigned{kPositive} : 0U);
    }
    case K::Log: {
      const bool above_one = t->args[0]->kind == K::Number && Rational(1) < t->args[0]->number;
      return !(of(0) & kPositive) ? 0U : above_one ? kNotNegative | kPositive : kAnyFinite;
    }
    case K::Select: {
      unsigned out = kAll;
      for (const std::size_t arm : {std::size_t{1}, std::size_t{2}}) {
        const auto when = cases(t->args[0], arm == 1);
        for (const Conjunction& one : when.value_or(std::vector{Conjunction()}))
          if (At there = within(here, one); !when || !empty(there.where))
            out &= facts(t->args[arm], there);
      }
      return out;
    }
    case K::AtLeast:
    case K::Zero:
    case K::Less:
    case K::Same:
    case K::Not:
    case K::And: return kNotNegative;
    case K::SumOver:
    case K::MaxOver: return of_fold(t, here);
    case K::Fold: return whole ? kAnyFinite : 0U;
  }
  return 0;
}

unsigned Terms::Impl::of_fold(Term fold, At here) {
  const Opened parts = open(fold, "%" + std::to_string(here.level));
  At inside = within(here, parts.domain, 1);
  if (empty(inside.where)) return fold->kind == K::SumOver ? kNotNegative : unsigned{kBelow};
  const unsigned each = facts(parts.args[0], inside);
  if (fold->kind == K::SumOver) {
    const bool signed_ = (each & (kPositive | kNegative)) != 0;
    const bool some = signed_ && point(parts, here, [](Term) { return true; });
    return some ? each : each & kNotNegative;
  }
  if (!(each & kBelow)) return 0;
  unsigned out = kBelow;
  point(parts, here, [&](Term body) {
    out = facts(body, here) & ~(each & kNegative ? 0U : unsigned{kNegative});
    return (out & kFinite) != 0;
  });
  return out | kBelow;
}

// A point of the fold as a function of the free names, with a body there that is `good`: least or greatest values.
std::optional<std::map<std::string, Linear>> Terms::Impl::point(
    const Opened& parts, At here, const std::function<bool(Term)>& good) {
  int tries = 0;
  std::map<std::string, Linear> values;
  const std::function<bool(std::size_t)> choose = [&](std::size_t next) -> bool {
    if (++tries > 64) return false;
    if (next == parts.names.size()) {
      for (const Linear& e : parts.domain.equal)
        if (!holds(e.substituted(values), true, here)) return false;
      for (const Linear& e : parts.domain.at_least)
        if (!holds(e.substituted(values), false, here)) return false;
      return good(substituted(parts.args[0], values));
    }
    const std::string& name = parts.names[next];
    const std::vector<std::string> later(parts.names.begin() + static_cast<std::ptrdiff_t>(next),
                                         parts.names.end());
    std::vector<Linear> candidates;
    for (const auto* list : {&parts.domain.equal, &parts.domain.at_least})
      for (const Linear& constraint : *list) {
        const Linear e = constraint.substituted(values);
        const auto it = e.terms().find({name, nullptr});
        if (it == e.terms().end() || (it->second != 1 && it->second != -1)) continue;
        const Linear value = (Linear::symbol(name) * it->second - e) * it->second;
        if (!mentions(value, later)) candidates.push_back(value);
      }
    candidates.emplace_back(0);
    for (const Linear& value : candidates) {
      values.insert_or_assign(name, value);
      if (choose(next + 1)) return true;
    }
    values.erase(name);
    return false;
  };
  if (!choose(0)) return std::nullopt;
  return values;
}

}  // namespace tilewright::checker
