// SPDX-License-Identifier: Apache-2.0
//
// What is known of a value at the points of a context: finite or -inf, finite, its sign. Inputs are finite.
#include <algorithm>
#include <array>

#include "apps/check/terms.h"

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

// One variable after the other has a least and a greatest value: there are finitely many points.
bool is_bounded(const Opened& parts) {
  std::vector<std::string> left = parts.names;
  const auto bounds = [&](const Linear& e, const std::string& name, bool from_below) {
    std::vector<std::string> others = left;
    std::erase(others, name);
    const auto it = e.terms().find({name, nullptr});
    if (it == e.terms().end() || (it->second > 0) != from_below) return false;
    return !mentions(names_in(e - Linear::symbol(name) * it->second), {name}) &&
           !mentions(names_in(e), others);
  };
  for (bool found = true; found;) {
    found = false;
    for (const std::string& name : std::vector(left)) {
      bool sides[] = {false, false};
      for (const bool from_below : {false, true}) {
        for (const Linear& e : parts.domain.at_least)
          sides[from_below] |= bounds(e, name, from_below);
        for (const Linear& e : parts.domain.equal)
          if (bounds(e, name, from_below)) sides[0] = sides[1] = true;
      }
      if (sides[0] && sides[1]) found = std::erase(left, name) > 0;
    }
  }
  return left.empty();
}

}  // namespace

unsigned Terms::facts(Term t, At here) {
  const auto key = std::pair(t, here.id);
  if (const auto it = signs_.find(key); it != signs_.end()) return it->second;
  spend();
  signs_[key] = 0;  // should a definition lead back here
  return signs_[key] = known(t, here);
}

// A factor that stands there twice is a square.
unsigned Terms::of_product(const Key& factors, At here) {
  unsigned out = kNotNegative | kPositive;
  Key left = factors;
  while (!left.empty()) {
    auto [atom, exponent] = left.back();
    left.pop_back();
    const auto twin = std::find(left.begin(), left.end(), std::pair(atom, exponent));
    if (twin != left.end() && exponent == 1) {
      left.erase(twin);
      exponent = 2;
    }
    out = product(out, to_power(facts(atom, here), exponent));
  }
  return out;
}

unsigned Terms::known(Term t, At here) {
  constexpr std::array<Name, 5> kBounded = {"sin", "cos", "tanh", "erf", "rint"};
  const bool whole = t->type && t->type->kind != Class::Float;
  const auto of = [&](std::size_t i) { return facts(t->args[i], here); };
  switch (t->kind) {
    case K::Number: return of_number(t->number);
    case K::Infinity: return t->number < 0 ? unsigned{kBelow} : 0U;
    case K::Index:
      if (holds(t->linear - Linear(1), false, here)) return kNotNegative | kPositive;
      if (holds(t->linear, false, here)) return kNotNegative;
      return kAnyFinite |
             (holds(t->linear * -1 - Linear(1), false, here) ? unsigned{kNegative} : 0U);
    case K::Cell: {
      if (meaning_.is_input(t->name) || whole) return kAnyFinite;
      const Term value = meaning_.definition(t->name, t->args);
      return value ? facts(value, here) : 0U;
    }
    case K::Value: {
      const Term value = meaning_.claim(t->id, t->args);
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
          out = !(a & b & kBelow) ? 0U : ((a | b) & ~unsigned{kNegative}) | (a & b & kNegative);
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
    case K::Select: return of_select(t, here);
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

unsigned Terms::of_select(Term t, At here) {
  unsigned out = kAll;
  for (const std::size_t arm : {std::size_t{1}, std::size_t{2}}) {
    const auto when = cases(t->args[0], arm == 1);
    for (const Conjunction& one : when.value_or(std::vector{Conjunction()})) {
      At there = within(here, one);
      if (!when || !empty(there.where)) out &= facts(t->args[arm], there);
    }
  }
  return out;
}

unsigned Terms::of_fold(Term fold, At here) {
  const Opened parts = open(fold, here);
  At within = inside(here, parts);
  if (empty(within.where)) return fold->kind == K::SumOver ? kNotNegative : unsigned{kBelow};
  const unsigned each = is_bounded(parts) ? facts(parts.args[0], within) : 0U;
  int tries = 0;
  Values values;
  if (fold->kind == K::SumOver) {
    const bool some = (each & (kPositive | kNegative)) != 0 &&
                      point(parts, values, 0, tries, here, [](Term) { return true; });
    return some ? each : each & kNotNegative;
  }
  unsigned out = 0;
  const bool finite = (each & kBelow) && point(parts, values, 0, tries, here, [&](Term body) {
                        out = facts(body, here);
                        return (out & kFinite) != 0;
                      });
  return finite ? (out & kNotNegative) | (out & kPositive) | (each & kNegative) : each & kBelow;
}

bool Terms::all(const Poly& a, unsigned fact, At here) {
  return a.infinite == 0 && std::all_of(a.of.begin(), a.of.end(), [&](const auto& one) {
           return (of_product(one.first, here) & fact) != 0;
         });
}

// Whether there is a point of the fold, for all values of the free names, with a body there that is `good`: least
// and greatest values of one variable after the other.
bool Terms::point(const Opened& parts, Values& values, std::size_t next, int& tries, At here,
                  const std::function<bool(Term)>& good) {
  if (++tries > 64) return false;
  const Conjunction rest = checker::substituted(parts.domain, values);
  if (next == parts.names.size()) {
    const auto at_least = [&](const Linear& e) { return holds(e, false, here); };
    const auto equal = [&](const Linear& e) { return holds(e, true, here); };
    return std::all_of(rest.equal.begin(), rest.equal.end(), equal) &&
           std::all_of(rest.at_least.begin(), rest.at_least.end(), at_least) &&
           good(substituted(parts.args[0], values));
  }
  const std::string& name = parts.names[next];
  const std::vector<std::string> later(parts.names.begin() + static_cast<std::ptrdiff_t>(next),
                                       parts.names.end());
  std::vector<Linear> candidates;
  for (const auto* list : {&rest.equal, &rest.at_least})
    for (const Linear& e : *list)
      if (const auto value = solved(e, name, later)) candidates.push_back(*value);
  candidates.emplace_back(0);
  return std::any_of(candidates.begin(), candidates.end(), [&](const Linear& value) {
    values.insert_or_assign(name, value);
    if (point(parts, values, next + 1, tries, here, good)) return true;
    values.erase(name);
    return false;
  });
}

}  // namespace tilewright::checker
