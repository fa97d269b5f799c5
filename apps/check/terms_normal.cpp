// SPDX-License-Identifier: Apache-2.0
//
// The normal form of a term at the points of a context: a sum of products of powers, with one exponential in each.
// Where a law cannot be shown to hold, the operation stays, as an unknown function of its operands.
#include <algorithm>
#include <cmath>

#include "apps/check/terms.h"

namespace tilewright::checker {

namespace {

using K = TermKind;

constexpr std::size_t kMaxMonomials = 2000;

bool fits(Type from, Type to) {
  if (!from || !to || from->kind == Class::Float || from->width > to->width) return false;
  return from->kind == Class::Bool || from->kind == to->kind ||
         (from->kind == Class::Unsigned && from->width < to->width);
}

bool is_natural(const Rational& value) { return value.is_whole() && !(value < 0); }

// Its values are integers.
bool is_whole(Term t) {
  if (t->kind == K::Number) return t->number.is_whole();
  if (t->kind == K::Sum || t->kind == K::Product || t->kind == K::SumOver)
    return std::all_of(t->args.begin(), t->args.end(), is_whole);
  return t->kind == K::Index || (t->type && t->type->kind != Class::Float);
}

void sort(std::vector<Term>& args) {
  std::sort(args.begin(), args.end(), [](Term a, Term b) { return a->order < b->order; });
  args.erase(std::unique(args.begin(), args.end()), args.end());
}

}  // namespace

bool KeyLess::operator()(const Key& a, const Key& b) const {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first ? x.second < y.second : x.first->order < y.first->order;
      });
}

const Rational* Poly::constant() const {
  static const Rational kZero;
  if (infinite != 0 || of.size() > 1) return nullptr;
  if (of.empty()) return &kZero;
  return of.begin()->first.empty() ? &of.begin()->second : nullptr;
}

Poly product_of(Key key, const Rational& coefficient) {
  Poly out;
  if (!(coefficient == 0)) out.of.emplace(std::move(key), coefficient);
  return out;
}

Poly scaled(Poly a, const Rational& by) {
  for (auto& [key, coefficient] : a.of) coefficient = coefficient * by;
  if (by < 0) a.infinite = -a.infinite;
  return a;
}

At Terms::at(Conjunction where, int level) {
  spend(1 + where.equal.size() + where.at_least.size());
  std::set<std::string> texts;
  for (const Linear& e : where.equal) texts.insert("=" + e.text());
  for (const Linear& e : where.at_least) texts.insert(">" + e.text());
  std::string key = std::to_string(level);
  for (const std::string& text : texts) key += ";" + text;
  const auto [it, is_new] = context_by_text_.emplace(std::move(key), contexts_.size());
  if (is_new) contexts_.push_back({std::move(where), level, contexts_.size()});
  return contexts_[it->second];
}

bool Terms::empty(const Conjunction& set) {
  const std::size_t id = at(set, 0).id;
  if (const auto it = empty_.find(id); it != empty_.end()) return it->second;
  const auto never = [](const Linear& e, bool equality) {
    return e.terms().empty() && (e.constant() < 0 || (equality && e.constant() > 0));
  };
  for (const Linear& e : set.equal)
    if (never(e, true)) return empty_[id] = true;
  for (const Linear& e : set.at_least)
    if (never(e, false)) return empty_[id] = true;
  return empty_[id] = meaning_.empty(set);
}

bool Terms::holds(const Linear& linear, bool equality, At here) {
  const Conjunction set = equality ? Conjunction{{linear}, {}} : Conjunction{{}, {linear}};
  for (const Conjunction& other : outside(set))
    if (!empty(joined(here.where, other))) return false;
  return true;
}

std::optional<bool> Terms::decided(Term condition, At here) {
  if (holds(condition->linear, condition->kind == K::Zero, here)) return true;
  if (empty(joined(here.where, cases(condition, true)->front()))) return false;
  return std::nullopt;
}

Poly Terms::poly(Term t) {
  Poly out;
  switch (t->kind) {
    case K::Infinity: out.infinite = t->number < 0 ? -1 : 1; return out;
    case K::Number: return product_of({}, t->number);
    case K::Index:
      for (const auto& [atom, coefficient] : t->linear.terms()) {
        const auto& floor = atom.floor;
        const Linear one =
            floor ? floor_div(floor->numerator, floor->denominator) : Linear::symbol(atom.name);
        out.of.emplace(Key{{index(one), 1}}, coefficient);
      }
      if (t->linear.constant() != 0) out.of.emplace(Key(), t->linear.constant());
      return out;
    case K::Sum:
      for (Term arg : t->args) out.of.merge(poly(arg).of);
      return out;
    case K::Power: return product_of({{t->args[0], t->number}});
    case K::Product: {
      Key key;
      Rational coefficient = 1;
      for (Term arg : t->args) {
        if (arg->kind == K::Number)
          coefficient = arg->number;
        else if (arg->kind == K::Power)
          key.emplace_back(arg->args[0], arg->number);
        else
          key.emplace_back(arg, 1);
      }
      return product_of(key, coefficient);
    }
    default: return product_of({{t, 1}});
  }
}

Term Terms::term(const Poly& p) {
  if (p.infinite != 0) return real(p.infinite * HUGE_VAL);
  std::optional<Linear> linear = Linear(0);
  std::vector<Term> summands;
  for (const auto& [key, coefficient] : p.of) {
    std::vector<Term> factors;
    if (!(coefficient == 1) || key.empty()) factors.push_back(number(coefficient));
    for (const auto& [atom, exponent] : key)
      factors.push_back(exponent == 1 ? atom : power(atom, exponent));
    const bool affine = std::all_of(factors.begin(), factors.end(), linear_of);
    summands.push_back(factors.size() == 1 ? factors[0] : make(Node(K::Product, factors)));
    const std::optional<Linear> one =
        affine && key.size() < 2 ? linear_of(apply(K::Product, factors)) : std::nullopt;
    if (linear && one)
      linear = *linear + *one;
    else
      linear.reset();
  }
  if (linear && !linear->broken()) return index(*linear);
  return summands.size() == 1 ? summands[0] : make(Node(K::Sum, summands));
}

Poly Terms::unknown(const char* name, const Poly& a, const Poly& b) {
  std::vector<Term> args = {term(a), term(b)};
  if (args[1]->order < args[0]->order) std::swap(args[0], args[1]);
  return product_of({{call(name, args, nullptr), 1}});
}

Poly Terms::add(const Poly& a, const Poly& b, At here) {
  if (a.infinite == 0 && b.infinite != 0) return add(b, a, here);
  if (a.infinite != 0) {
    const bool absorbed = b.infinite == a.infinite || all(b, kFinite, here) ||
                          (a.infinite < 0 && is(term(b), kBelow, here));
    return absorbed ? a : unknown("+", a, b);
  }
  Poly out = a;
  for (const auto& [key, coefficient] : b.of) {
    spend();
    const auto [it, is_new] = out.of.emplace(key, coefficient);
    if (is_new) continue;
    // inf - inf
    if ((it->second < 0) != (coefficient < 0) && !(of_product(key, here) & kFinite))
      return unknown("+", a, b);
    it->second = it->second + coefficient;
    if (it->second == 0) out.of.erase(it);
  }
  return out;
}

// A product with one more factor.
Poly Terms::times(const Key& factors, const Rational& by, Term atom, Rational exponent, At here) {
  Key key = factors;
  const auto found = std::find_if(key.begin(), key.end(), [&](const auto& factor) {
    const bool exponentials = factor.first->kind == K::Exp && atom->kind == K::Exp;
    return factor.first == atom || (exponentials && factor.second == 1 && exponent == 1);
  });
  if (found != key.end() && atom->kind == K::Exp && exponent == 1 && found->second == 1) {
    const Poly both = add(poly(found->first->args[0]), poly(atom->args[0]), here);
    key.erase(found);
    return multiply(product_of(key, by), exp(both), here);
  }
  if (found != key.end()) {
    const bool whole = exponent.is_whole() && found->second.is_whole();
    const bool up = !(exponent < 0) && !(found->second < 0);
    const unsigned known = whole && up ? 0U : facts(atom, here);
    // Roots meet where nothing is negative, quotients where nothing is 0.
    if ((whole || (known & (up ? kLeast0 : kPositive))) &&
        (up || (known & (kPositive | kNegative)))) {
      exponent = exponent + found->second;
      key.erase(found);
    }
  }
  if (exponent == 0) return product_of(key, by);
  if (exponent == 1 && atom->kind == K::Number) return product_of(key, by * atom->number);
  const auto before = [](const auto& x, const auto& y) { return KeyLess()(Key{x}, Key{y}); };
  const std::pair<Term, Rational> item(atom, exponent);
  key.insert(std::upper_bound(key.begin(), key.end(), item, before), item);
  return product_of(key, by);
}

Poly Terms::multiply(const Poly& a, const Poly& b, At here) {
  if (b.constant() && !a.constant()) return multiply(b, a, here);
  if (const Rational* c = a.constant()) {
    if (!(*c == 0)) return scaled(b, *c);
    return all(b, kFinite, here) ? Poly() : unknown("*", a, b);
  }
  if (b.infinite != 0 && a.infinite == 0) return multiply(b, a, here);
  if (a.infinite != 0) {
    const unsigned sign = b.infinite != 0 ? 0U : facts(term(b), here);
    if (!(sign & (kPositive | kNegative))) return unknown("*", a, b);
    return scaled(a, sign & kPositive ? 1 : -1);
  }
  if ((a.of.size() > 1 && !all(b, kFinite, here)) || (b.of.size() > 1 && !all(a, kFinite, here)))
    return unknown("*", a, b);
  if (a.of.size() * b.of.size() > kMaxMonomials) throw Refused("a product of too many terms");
  Poly out;
  for (const auto& [left, x] : a.of)
    for (const auto& [right, y] : b.of) {
      Poly one = product_of(left, x * y);
      for (const auto& [atom, exponent] : right) {
        const bool single = one.infinite == 0 && one.of.size() == 1;
        one = single ? times(one.of.begin()->first, one.of.begin()->second, atom, exponent, here)
                     : multiply(one, product_of({{atom, exponent}}), here);
      }
      out = add(out, one, here);
    }
  return out;
}

Poly Terms::exp(const Poly& a) {
  if (a.infinite != 0) return a.infinite > 0 ? a : Poly();
  return a.of.empty() ? product_of({}, 1) : product_of({{apply(K::Exp, {term(a)}), 1}});
}

// What all products have in their exponentials.
Poly Terms::shared_exponent(const Poly& a) {
  std::optional<Poly> out;
  for (const auto& [key, coefficient] : a.of) {
    Poly here;
    for (const auto& [atom, exponent] : key)
      if (atom->kind == K::Exp && exponent == 1) here = poly(atom->args[0]);
    if (out)
      std::erase_if(out->of, [&](const auto& one) {
        const auto it = here.of.find(one.first);
        return it == here.of.end() || !(it->second == one.second);
      });
    else
      out = here;
  }
  return *out;
}

Poly Terms::power(const Poly& base, const Rational& exponent, At here) {
  const Poly left = product_of({{term(base), exponent}});
  const Wide count = exponent.over < 0 ? -exponent.over : exponent.over;
  if (base.infinite != 0 || base.is_zero() || exponent == 0 || count > 64) return left;
  const bool up = is_natural(exponent);
  if (up && (count == 1 || base.of.size() > 1)) {
    if (count > 4) return left;
    Poly out = base;
    for (Wide i = 1; i < count; ++i) out = multiply(out, base, here);
    return out;
  }
  const auto& [first, coefficient] = *base.of.begin();
  if (base.of.size() == 1 && coefficient == 1 && first.size() == 1 && first[0].second == 1 &&
      first[0].first->kind != K::Exp)
    return left;
  // A product is taken apart where no factor is 0, of a root where all are positive; of a sum the first coefficient.
  const unsigned wanted = exponent.is_whole() ? kPositive | kNegative : unsigned{kPositive};
  if (!up && (!is(term(base), wanted, here) || (!exponent.is_whole() && coefficient < 0)))
    return left;
  Poly out = product_of({}, 1);
  if (!exponent.is_whole() && !(coefficient == 1))
    out = product_of({{number(coefficient), exponent}});
  for (Wide i = 0; exponent.is_whole() && i < count; ++i)
    out = scaled(out, up ? coefficient : Rational(coefficient.under, coefficient.over));
  if (base.of.size() > 1) {
    const Poly shared = scaled(shared_exponent(base), -1);
    const bool some = !shared.of.empty() && all(shared, kFinite, here);
    const Poly rest = some ? multiply(base, exp(shared), here)
                           : scaled(base, Rational(coefficient.under, coefficient.over));
    if (some || Rational(0) < coefficient) signs_[{term(rest), here.id}] = facts(term(base), here);
    const Poly factor = some ? exp(scaled(shared, exponent * -1)) : out;
    return multiply(
        factor, some ? power(rest, exponent, here) : product_of({{term(rest), exponent}}), here);
  }
  for (const auto& [atom, inner] : first) {
    if (!up && !is(inner == 1 ? atom : power(atom, inner), wanted, here)) return left;
    if (!(inner == 1) && !(up && is_natural(inner)) && !is(atom, kPositive, here)) return left;
    const Poly one = atom->kind == K::Exp && inner == 1 ? exp(scaled(poly(atom->args[0]), exponent))
                                                        : product_of({{atom, inner * exponent}});
    out = multiply(out, one, here);
  }
  return out;
}

Term Terms::largest(std::vector<Term> args) {
  std::vector<Term> out;
  Term most = nullptr;  // of the numbers
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Term arg = args[i];
    if (arg->kind == K::Max)
      args.insert(args.end(), arg->args.begin(), arg->args.end());
    else if (arg->kind == K::Number)
      most = most && arg->number < most->number ? most : arg;
    else if (arg->kind != K::Infinity || !(arg->number < 0))
      out.push_back(arg);
  }
  if (most) out.push_back(most);
  sort(out);
  if (out.empty()) return real(-HUGE_VAL);
  return out.size() == 1 ? out[0] : apply(K::Max, out);
}

Term Terms::undecided(Term root, At here, const std::vector<std::string>* names) {
  std::set<Term> seen;
  const std::function<Term(Term)> visit = [&](Term t) -> Term {
    if (!seen.insert(t).second || (names && !mentions(t->free, *names))) return nullptr;
    if (t->kind == K::AtLeast || t->kind == K::Zero) {
      const bool inner = std::any_of(t->free.begin(), t->free.end(),
                                     [](const std::string& name) { return name[0] == '@'; });
      return inner || decided(t, here) ? nullptr : t;
    }
    for (Term arg : t->args)
      if (const Term found = visit(arg)) return found;
    return nullptr;
  };
  return visit(root);
}

// Modulo two to the width sums and products of wrapped integers are those of the integers.
Term Terms::unwrapped(Type type, Term t) {
  if (t->kind == K::Wrap && t->type == type && is_whole(t->args[0]))
    return unwrapped(type, t->args[0]);
  const bool inner = t->kind == K::Sum || t->kind == K::Product || t->kind == K::SumOver;
  std::vector<Term> args = t->args;
  if (inner && is_whole(t))
    for (Term& arg : args) arg = unwrapped(type, arg);
  return rebuilt(t, std::move(args));
}

Term Terms::normal(Term t, At here) {
  const auto key = std::pair(t, here.id);
  if (const auto it = normals_.find(key); it != normals_.end()) return it->second;
  spend();
  const Term out = computed(t, here);
  normals_[{out, here.id}] = out;
  return normals_[key] = out;
}

Term Terms::computed(Term t, At here) {
  if (is_fold(t->kind)) return folded(t, open(t, here), here);
  if (t->kind == K::AtLeast || t->kind == K::Zero) {
    const std::optional<bool> value = decided(t, here);
    return value ? number(*value) : t;
  }
  std::vector<Term> args = t->args;
  if (t->kind == K::Select) {
    args[0] = normal(args[0], here);
    if (args[0]->kind == K::Number) return normal(args[args[0]->number == 0 ? 2 : 1], here);
    for (const std::size_t arm : {std::size_t{1}, std::size_t{2}}) {
      const auto when = cases(args[0], arm == 1);
      args[arm] = normal(args[arm], when && when->size() == 1 ? within(here, when->front()) : here);
    }
    return args[1] == args[2] ? args[1] : apply(K::Select, args);
  }
  if (t->kind == K::Wrap) args[0] = unwrapped(t->type, args[0]);
  for (Term& arg : args) arg = normal(arg, here);
  const bool constant =
      std::all_of(args.begin(), args.end(), [](Term arg) { return arg->kind == K::Number; });
  switch (t->kind) {
    case K::Sum:
    case K::Product: {
      Poly out = poly(args[0]);
      for (std::size_t i = 1; i < args.size(); ++i)
        out =
            t->kind == K::Sum ? add(out, poly(args[i]), here) : multiply(out, poly(args[i]), here);
      return term(out);
    }
    case K::Power:
      // Multiplied out, a square is not seen to be one.
      signs_[{args[0], here.id}] = facts(args[0], here) | facts(t->args[0], here);
      return term(power(poly(args[0]), t->number, here));
    case K::Exp: return term(exp(poly(args[0])));
    case K::Log: return args[0]->kind == K::Exp ? args[0]->args[0] : rebuilt(t, args);
    case K::Floor: return linear_of(args[0]) ? args[0] : rebuilt(t, args);
    case K::Max: return largest(args);
    case K::Wrap: {
      const bool typed = args[0]->kind == K::Cell || args[0]->kind == K::Value ||
                         args[0]->kind == K::Wrap || args[0]->kind == K::Call;
      return typed && fits(args[0]->type, t->type) ? args[0] : rebuilt(t, args);
    }
    case K::Not:
      if (constant) return number(args[0]->number == 0);
      if (args[0]->kind == K::AtLeast) return condition(args[0]->linear * -1 - Linear(1), false);
      return args[0]->kind == K::Not ? args[0]->args[0] : rebuilt(t, args);
    case K::And:
      for (Term arg : args)
        if (arg->kind == K::Number && arg->number == 0) return arg;
      std::erase_if(args, [](Term arg) { return arg->kind == K::Number; });
      sort(args);
      return args.empty() ? number(1) : args.size() == 1 ? args[0] : apply(K::And, args);
    case K::Less: return constant ? number(args[0]->number < args[1]->number) : rebuilt(t, args);
    case K::Same: return constant ? number(args[0]->number == args[1]->number) : rebuilt(t, args);
    default: return rebuilt(t, args);
  }
}

}  // namespace tilewright::checker
