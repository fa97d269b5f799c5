// SPDX-License-Identifier: Apache-2.0
//
// The normal form of a term at the points of a context: a sum of products of powers, one exponential in each.
// What a law cannot be shown to hold for stays an unknown function of its operands.
#include <algorithm>
#include <cmath>

#include "apps/check/terms_parts.h"

namespace tilewright::checker {

namespace {

using K = TermKind;

constexpr std::size_t kMaxMonomials = 2000;

Linear linear_of_atom(const check::Atom& atom) {
  return atom.floor ? floor_div(atom.floor->numerator, atom.floor->denominator)
                    : Linear::symbol(atom.name);
}

bool fits(Type from, Type to) {
  if (!from || !to) return false;
  if (from->kind == Class::Bool) return true;
  if (!from->is_integer() || from->width > to->width) return false;
  return from->kind == to->kind || (from->kind == Class::Unsigned && from->width < to->width);
}

Poly single(Key key, const Rational& coefficient = 1) {
  Poly out;
  if (!(coefficient == 0)) out.of.emplace(std::move(key), coefficient);
  return out;
}

Poly scaled(Poly a, const Rational& by) {
  for (auto& [key, coefficient] : a.of) coefficient = coefficient * by;
  if (by < 0) a.infinite = -a.infinite;
  return a;
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

Conjunction Terms::Impl::joined(Conjunction a, const Conjunction& b) {
  a.equal.insert(a.equal.end(), b.equal.begin(), b.equal.end());
  a.at_least.insert(a.at_least.end(), b.at_least.begin(), b.at_least.end());
  return a;
}

At Terms::Impl::at(Conjunction where, int level) {
  std::set<std::string> texts;
  for (const Linear& e : where.equal) texts.insert("=" + e.text());
  for (const Linear& e : where.at_least)
    if (!e.terms().empty() || e.constant() < 0) texts.insert(">" + e.text());
  std::string key = std::to_string(level);
  for (const std::string& text : texts) key += ";" + text;
  const auto [it, is_new] = context_by_text.emplace(std::move(key), contexts.size());
  if (is_new) contexts.push_back({std::move(where), level, contexts.size()});
  return contexts[it->second];
}

bool Terms::Impl::empty(const Conjunction& set) {
  const std::size_t id = at(set, 0).id;
  const auto [it, is_new] = is_empty.emplace(std::to_string(id), false);
  if (!is_new) return it->second;
  spend(1 + set.equal.size() + set.at_least.size());
  const bool never =
      std::any_of(set.equal.begin(), set.equal.end(),
                  [](const Linear& e) { return e.terms().empty() && e.constant() != 0; }) ||
      std::any_of(set.at_least.begin(), set.at_least.end(),
                  [](const Linear& e) { return e.terms().empty() && e.constant() < 0; });
  const bool out = never || meaning.empty(set);
  return is_empty[std::to_string(id)] = out;
}

bool Terms::Impl::holds(const Linear& linear, bool equality, At here) {
  if (linear.terms().empty())
    return equality ? linear.constant() == 0 : linear.constant() >= 0;
  for (const Conjunction& other : opposite(linear, equality))
    if (!empty(joined(here.where, other))) return false;
  return true;
}

Poly Terms::Impl::poly(Term t) {
  Poly out;
  switch (t->kind) {
    case K::Infinity: out.infinite = t->number.over < 0 ? -1 : 1; return out;
    case K::Number: return single({}, t->number);
    case K::Index:
      for (const auto& [atom, coefficient] : t->linear.terms())
        out.of.emplace(Key{{terms.index(linear_of_atom(atom)), 1}}, coefficient);
      if (t->linear.terms().size() == 1 && t->linear.constant() == 0 &&
          t->linear.terms().begin()->second == 1)
        return single({{t, 1}});
      if (t->linear.constant() != 0) out.of.emplace(Key(), t->linear.constant());
      return out;
    case K::Sum:
      for (Term arg : t->args)
        for (const auto& [key, coefficient] : poly(arg).of) out.of.emplace(key, coefficient);
      return out;
    case K::Power: return single({{t->args[0], t->number}});
    case K::Product: {
      Key key;
      Rational coefficient = 1;
      for (Term arg : t->args) {
        if (arg->kind == K::Number)
          coefficient = arg->number;
        else
          key.push_back(arg->kind == K::Power ? std::pair(arg->args[0], arg->number)
                                              : std::pair(arg, Rational(1)));
      }
      return single(key, coefficient);
    }
    default: return single({{t, 1}});
  }
}

Term Terms::Impl::term(const Poly& p) {
  if (p.infinite != 0) return terms.real(p.infinite * HUGE_VAL);
  if (p.of.empty()) return terms.number(0);
  Linear linear;
  bool is_index = true;
  std::vector<Term> summands;
  for (const auto& [key, coefficient] : p.of) {
    const Int whole = static_cast<Int>(coefficient.over);
    is_index = is_index && coefficient.is_whole() && whole == coefficient.over && key.size() < 2 &&
               (key.empty() || (key[0].first->kind == K::Index && key[0].second == 1));
    if (is_index) linear = linear + (key.empty() ? Linear(1) : key[0].first->linear) * whole;
    std::vector<Term> factors;
    if (!(coefficient == 1) || key.empty()) factors.push_back(terms.number(coefficient));
    for (const auto& [atom, exponent] : key)
      factors.push_back(exponent == 1 ? atom : terms.power(atom, exponent));
    Node product;
    product.kind = K::Product;
    product.args = factors;
    summands.push_back(factors.size() == 1 ? factors[0] : make(std::move(product)));
  }
  if (is_index && !linear.broken()) return terms.index(linear);
  Node sum;
  sum.kind = K::Sum;
  sum.args = summands;
  return summands.size() == 1 ? summands[0] : make(std::move(sum));
}

bool Terms::Impl::all(const Poly& a, unsigned fact, At here) {
  return a.infinite == 0 && std::all_of(a.of.begin(), a.of.end(), [&](const auto& one) {
           return (of_product(one.first, here) & fact) != 0;
         });
}

// An unknown function of both, in whatever order.
static Poly unknown(Terms::Impl& impl, const char* name, const Poly& a, const Poly& b) {
  std::vector<Term> args = {impl.term(a), impl.term(b)};
  if (args[1]->order < args[0]->order) std::swap(args[0], args[1]);
  return single({{impl.terms.call(name, args, nullptr), 1}});
}

Poly Terms::Impl::add(const Poly& a, const Poly& b, At here) {
  if (a.infinite == 0 && b.infinite != 0) return add(b, a, here);
  if (a.infinite != 0) {
    const bool absorbed = b.infinite == a.infinite || all(b, kFinite, here) ||
                          (a.infinite < 0 && is(term(b), kBelow, here));
    return absorbed ? a : unknown(*this, "+", a, b);
  }
  Poly out = a;
  for (const auto& [key, coefficient] : b.of) {
    spend();
    const auto [it, is_new] = out.of.emplace(key, coefficient);
    if (is_new) continue;
    // inf - inf
    if ((it->second < 0) != (coefficient < 0) && !(of_product(key, here) & kFinite))
      return unknown(*this, "+", a, b);
    it->second = it->second + coefficient;
    if (it->second == 0) out.of.erase(it);
  }
  return out;
}

void Terms::Impl::times(Poly& one, Term atom, Rational exponent, At here) {
  if (one.of.size() != 1) {
    one = multiply(one, single({{atom, exponent}}), here);
    return;
  }
  Key key = one.of.begin()->first;
  Rational coefficient = one.of.begin()->second;
  const auto insert = [&](Term factor, const Rational& to) {
    if (factor->kind == K::Number && (to == 1)) {
      coefficient = coefficient * factor->number;
      return;
    }
    const auto before = [](const auto& x, const auto& y) { return KeyLess()(Key{x}, Key{y}); };
    const std::pair<Term, Rational> item(factor, to);
    key.insert(std::upper_bound(key.begin(), key.end(), item, before), item);
  };
  const auto found = std::find_if(key.begin(), key.end(), [&](const auto& factor) {
    return factor.first == atom || (factor.first->kind == K::Exp && atom->kind == K::Exp &&
                                    factor.second == 1 && exponent == 1);
  });
  if (found == key.end()) {
    insert(atom, exponent);
  } else if (atom->kind == K::Exp && exponent == 1 && found->second == 1) {
    const Poly both = add(poly(found->first->args[0]), poly(atom->args[0]), here);
    key.erase(found);
    one = multiply(single(key, coefficient), exp(both, here), here);
    return;
  } else {
    const Rational other = found->second;
    const bool whole = exponent.is_whole() && other.is_whole();
    const bool up = !(exponent < 0) && !(other < 0);
    const unsigned known = whole && up ? 0U : facts(atom, here);
    const bool allowed = (whole || (known & (up ? kLeast0 : kPositive))) &&
                         (up || (known & (kPositive | kNegative)));
    if (allowed) {
      key.erase(found);
      exponent = exponent + other;
    }
    if (!(exponent == 0)) insert(atom, exponent);
  }
  one = single(key, coefficient);
}

Poly Terms::Impl::multiply(const Poly& a, const Poly& b, At here) {
  for (const Poly* side : {&a, &b}) {
    const Rational* c = side->constant();
    const Poly& other = side == &a ? b : a;
    if (c && (!(*c == 0) || all(other, kFinite, here))) return scaled(*c == 0 ? Poly() : other, *c);
  }
  if (a.infinite != 0 || b.infinite != 0) {
    const unsigned sign = facts(term(a.infinite != 0 ? b : a), here);
    if (sign & (kPositive | kNegative))
      return scaled(a.infinite != 0 ? a : b, sign & kPositive ? 1 : -1);
    return unknown(*this, "*", a, b);
  }
  if (a.is_zero() || b.is_zero() || (a.of.size() > 1 && !all(b, kFinite, here)) ||
      (b.of.size() > 1 && !all(a, kFinite, here)))
    return unknown(*this, "*", a, b);
  if (a.of.size() * b.of.size() > kMaxMonomials) throw Refused("a product of too many terms");
  Poly out;
  for (const auto& [left, x] : a.of)
    for (const auto& [right, y] : b.of) {
      Poly one = single(left, x * y);
      for (const auto& [atom, exponent] : right) {
        if (one.of.size() == 1 && one.infinite == 0)
          times(one, atom, exponent, here);
        else
          one = multiply(one, single({{atom, exponent}}), here);
      }
      out = add(out, one, here);
    }
  return out;
}

Poly Terms::Impl::exp(const Poly& a, At) {
  if (a.infinite > 0) return a;
  if (a.infinite < 0) return {};
  if (a.of.empty()) return single({}, 1);
  return single({{terms.apply(K::Exp, {term(a)}), 1}});
}

Poly Terms::Impl::power(const Poly& base, const Rational& exponent, At here) {
  const Poly left = single({{term(base), exponent}});
  if (exponent == 1) return base;
  if (base.infinite != 0 || base.is_zero() || exponent == 0) return left;
  const bool up = exponent.is_whole() && !(exponent < 0);
  const Wide count = exponent.over < 0 ? -exponent.over : exponent.over;
  if (up && count <= 4 && base.of.size() > 1) {
    Poly out = base;
    for (Wide i = 1; i < count; ++i) out = multiply(out, base, here);
    return out;
  }
  // c (a + b) and exp(c) (a + b) are taken apart where the sum is known not to be 0, products where all factors are.
  const unsigned wanted = exponent.is_whole() ? kPositive | kNegative : unsigned{kPositive};
  const auto& [first, coefficient] = *base.of.begin();
  const bool plain = base.of.size() == 1 && first.size() == 1 && coefficient == 1;
  if (plain && first[0].second == 1 && first[0].first->kind != K::Exp) return single({{first[0].first, exponent}});
  if (!exponent.is_whole() && coefficient < 0) return left;
  if (!up && !is(term(base), wanted, here)) return left;
  Rational number = 1;
  if (exponent.is_whole() && count > 64) return left;
  if (exponent.is_whole())
    for (Wide i = 0; i < count; ++i)
      number = number * (up ? coefficient : Rational(coefficient.under, coefficient.over));
  Poly out = single({}, number);
  if (!exponent.is_whole() && !(coefficient == 1)) {
    out = single({{terms.number(coefficient), exponent}});
  }
  if (base.of.size() > 1) {
    const Poly rest = scaled(base, Rational(coefficient.under, coefficient.over));
    if (Rational(0) < coefficient) signs[std::pair(term(rest), here.id)] = facts(term(base), here);
    return multiply(out, single({{term(rest), exponent}}), here);
  }
  for (const auto& [atom, inner] : first) {
    if (!up && !is(inner == 1 ? atom : terms.power(atom, inner), wanted, here)) return left;
    const bool natural = inner.is_whole() && !(inner < 0);
    if (!(inner == 1) && !(up && natural) && !is(atom, kPositive, here)) return left;
    if (atom->kind == K::Exp && inner == 1)
      out = multiply(out, exp(scaled(poly(atom->args[0]), exponent), here), here);
    else
      out = multiply(out, single({{atom, inner * exponent}}), here);
  }
  return out;
}

Term Terms::Impl::largest(std::vector<Term> args) {
  std::vector<Term> out;
  const Node* number = nullptr;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Term arg = args[i];
    if (arg->kind == K::Max) args.insert(args.end(), arg->args.begin(), arg->args.end());
    if (arg->kind == K::Max || (arg->kind == K::Infinity && arg->number < 0)) continue;
    if (arg->kind == K::Number) {
      if (!number || number->number < arg->number) number = arg;
    } else if (std::find(out.begin(), out.end(), arg) == out.end()) {
      out.push_back(arg);
    }
  }
  if (number) out.push_back(number);
  if (out.empty()) return terms.real(-HUGE_VAL);
  std::sort(out.begin(), out.end(), [](Term a, Term b) { return a->order < b->order; });
  return out.size() == 1 ? out[0] : terms.apply(K::Max, out);
}

Term Terms::Impl::undecided(Term root, At here, const std::vector<std::string>* names) {
  std::set<Term> seen;
  const std::function<Term(Term)> visit = [&](Term t) -> Term {
    if (!seen.insert(t).second || (names && !mentions(t, *names))) return nullptr;
    if (t->kind == K::AtLeast || t->kind == K::Zero) {
      const bool inner = std::any_of(t->free.begin(), t->free.end(),
                                     [](const std::string& name) { return name[0] == '@'; });
      const bool equality = t->kind == K::Zero;
      if (inner || holds(t->linear, equality, here)) return nullptr;
      Conjunction with = here.where;
      (equality ? with.equal : with.at_least).push_back(t->linear);
      return empty(with) ? nullptr : t;
    }
    for (Term arg : t->args)
      if (const Term found = visit(arg)) return found;
    return nullptr;
  };
  return visit(root);
}

// Its values are integers.
static bool is_whole(Term t) {
  if (t->kind == K::Number) return t->number.is_whole();
  if (t->kind == K::Cell || t->kind == K::Value || t->kind == K::Call)
    return t->type && t->type->kind != Class::Float;
  if (t->kind == K::Sum || t->kind == K::Product || t->kind == K::SumOver)
    return std::all_of(t->args.begin(), t->args.end(), is_whole);
  return t->kind == K::Wrap || t->kind == K::Index;
}

// Modulo two to the width sums and products of wrapped values are those of the values.
static Term unwrapped(Terms::Impl& impl, Type type, Term t) {
  if (t->kind == K::Wrap && t->type == type && is_whole(t->args[0]))
    return unwrapped(impl, type, t->args[0]);
  const bool inside = t->kind == K::Sum || t->kind == K::Product || t->kind == K::SumOver;
  if (!inside || !is_whole(t)) return t;
  std::vector<Term> args = t->args;
  for (Term& arg : args) arg = unwrapped(impl, type, arg);
  return impl.rebuilt(t, args);
}

Term Terms::Impl::normal(Term t, At here) {
  const auto key = std::pair(t, here.id);
  if (const auto it = normals.find(key); it != normals.end()) return it->second;
  spend();
  const Term out = computed(t, here);
  normals[std::pair(out, here.id)] = out;
  return normals[key] = out;
}

Term Terms::Impl::computed(Term t, At here) {
  if (is_fold(t->kind)) return folded(t, open(t, "%" + std::to_string(here.level)), here);
  if (t->kind == K::AtLeast || t->kind == K::Zero) {
    const bool equality = t->kind == K::Zero;
    if (holds(t->linear, equality, here)) return terms.number(1);
    Conjunction with = here.where;
    (equality ? with.equal : with.at_least).push_back(t->linear);
    return empty(with) ? terms.number(0) : t;
  }
  if (t->kind == K::Select) {
    const Term c = normal(t->args[0], here);
    if (c->kind == K::Number) return normal(t->args[c->number == 0 ? 2 : 1], here);
    const auto yes = cases(c, true), no = cases(c, false);
    const auto arm = [&](std::size_t i, const std::optional<std::vector<Conjunction>>& cases) {
      return normal(t->args[i], cases && cases->size() == 1 ? within(here, cases->front()) : here);
    };
    const Term a = arm(1, yes), b = arm(2, no);
    return a == b ? a : terms.apply(K::Select, {c, a, b});
  }
  std::vector<Term> args = t->args;
  if (t->kind == K::Wrap) args[0] = unwrapped(*this, t->type, args[0]);
  for (Term& arg : args) arg = normal(arg, here);
  switch (t->kind) {
    case K::Sum:
    case K::Product: {
      Poly out = poly(args[0]);
      for (std::size_t i = 1; i < args.size(); ++i)
        out = t->kind == K::Sum ? add(out, poly(args[i]), here)
                                : multiply(out, poly(args[i]), here);
      return term(out);
    }
    case K::Power: {
      // What is known of the parts may not be seen any more once they are multiplied out.
      signs[std::pair(args[0], here.id)] = facts(args[0], here) | facts(t->args[0], here);
      return term(power(poly(args[0]), t->number, here));
    }
    case K::Exp: return term(exp(poly(args[0]), here));
    case K::Log:
      return args[0]->kind == K::Exp ? args[0]->args[0] : rebuilt(t, args);
    case K::Floor: return linear_of(args[0]) ? args[0] : rebuilt(t, args);
    case K::Max: return largest(args);
    case K::Wrap: {
      const bool typed = args[0]->kind == K::Cell || args[0]->kind == K::Value ||
                         args[0]->kind == K::Wrap || args[0]->kind == K::Call;
      return typed && fits(args[0]->type, t->type) ? args[0] : rebuilt(t, args);
    }
    case K::Not:
      if (args[0]->kind == K::Number) return terms.number(args[0]->number == 0);
      return negated(args[0]);
    case K::And: {
      std::vector<Term> out;
      for (Term arg : args) {
        if (arg->kind == K::Number && arg->number == 0) return arg;
        if (arg->kind != K::Number && std::find(out.begin(), out.end(), arg) == out.end())
          out.push_back(arg);
      }
      std::sort(out.begin(), out.end(), [](Term a, Term b) { return a->order < b->order; });
      return out.empty() ? terms.number(1) : out.size() == 1 ? out[0] : terms.apply(K::And, out);
    }
    case K::Less:
    case K::Same:
      if (args[0]->kind == K::Number && args[1]->kind == K::Number)
        return terms.number(t->kind == K::Less ? args[0]->number < args[1]->number
                                               : args[0]->number == args[1]->number);
      return rebuilt(t, args);
    default: return rebuilt(t, args);
  }
}

// Variables that an equality determines are written out: there is one point for each of the others.
static void eliminate(Terms::Impl& impl, Opened& parts) {
  for (std::size_t i = 0; i < parts.domain.equal.size(); ++i) {
    const Linear e = parts.domain.equal[i];
    for (const auto& [atom, coefficient] : e.terms()) {
      const auto name = std::find(parts.names.begin(), parts.names.end(), atom.name);
      if (name == parts.names.end() || (coefficient != 1 && coefficient != -1)) continue;
      const Linear rest = (Linear::symbol(*name) * coefficient - e) * coefficient;
      if (mentions(rest, {*name})) continue;
      const std::map<std::string, Linear> values = {{*name, rest}};
      for (Term& arg : parts.args) arg = impl.substituted(arg, values);
      for (auto* list : {&parts.domain.equal, &parts.domain.at_least})
        for (Linear& other : *list) other = other.substituted(values);
      parts.names.erase(name);
      return eliminate(impl, parts);
    }
  }
}

Term Terms::Impl::split(Term like, const Opened& parts, Term condition, At here) {
  std::vector<Term> pieces;
  for (const bool value : {true, false})
    for (const Conjunction& more : *cases(condition, value)) {
      Opened piece = parts;
      piece.domain = joined(parts.domain, more);
      pieces.push_back(folded(like, piece, here));
    }
  return normal(terms.apply(like->kind == K::SumOver ? K::Sum : K::Max, pieces), here);
}

Term Terms::Impl::folded(Term like, Opened parts, At here) {
  spend();
  const bool is_sum = like->kind == K::SumOver;
  if (like->kind == K::Fold) {
    At inside = within(here, parts.domain, 1);
    for (Term& arg : parts.args) arg = normal(arg, inside);
    return closed(like, parts);
  }
  eliminate(*this, parts);
  const auto decided = [&](const Linear& e, bool equality) {
    return !mentions(e, parts.names) && holds(e, equality, here);
  };
  std::erase_if(parts.domain.equal, [&](const Linear& e) { return decided(e, true); });
  std::erase_if(parts.domain.at_least, [&](const Linear& e) { return decided(e, false); });
  At inside = within(here, parts.domain, 1);
  if (empty(inside.where)) return is_sum ? terms.number(0) : terms.real(-HUGE_VAL);
  const bool always = parts.domain.equal.empty() && parts.domain.at_least.empty();
  if (parts.names.empty() && always) return normal(parts.args[0], here);
  if (const Term condition = undecided(parts.args[0], inside, &parts.names))
    return split(like, parts, condition, here);
  const Term body = normal(parts.args[0], inside);
  const Poly p = poly(body);
  if (is_sum) {
    if (p.infinite != 0) return closed(like, {parts.names, parts.domain, {body}});
    Poly out;
    for (const auto& [key, coefficient] : p.of)
      out = add(out, scaled(sum_of(like, parts, key, here, inside), coefficient), here);
    return term(out);
  }
  if (p.infinite < 0) return body;
  // What is finite and free of the variables is added outside; then what is positive is multiplied there.
  Poly outer, inner = p;
  if (p.infinite == 0)
    for (const auto& [key, coefficient] : p.of)
      if (const Term one = term(single(key, coefficient));
          !mentions(one, parts.names) && is(one, kFinite, here)) {
        outer.of.emplace(key, coefficient);
        inner.of.erase(key);
      }
  Poly factor = single({}, 1);
  if (inner.of.size() == 1 && Rational(0) < inner.of.begin()->second) {
    const auto [key, coefficient] = *inner.of.begin();
    Key kept;
    factor = single({}, coefficient);
    for (const auto& [atom, exponent] : key) {
      const Term one = exponent == 1 ? atom : terms.power(atom, exponent);
      if (!mentions(one, parts.names) && is(one, kPositive, here))
        times(factor, atom, exponent, here);
      else
        kept.emplace_back(atom, exponent);
    }
    inner = single(kept);
  }
  const Term most = closed(like, {parts.names, parts.domain, {term(inner)}});
  return term(add(outer, multiply(factor, single({{most, 1}}), here), here));
}

// The sum of one product.
Poly Terms::Impl::sum_of(Term like, const Opened& parts, const Key& body, At here, At inside) {
  for (std::size_t i = 0; i < body.size() && parts.names.size() < 6; ++i) {
    const Term fold = body[i].first;
    if (fold->kind != K::SumOver || !(body[i].second == 1) || !mentions(fold, parts.names)) continue;
    Key others = body;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (!(of_product(others, inside) & kFinite)) continue;
    Opened inner = open(fold, "%" + std::to_string(here.level) + "+" + std::to_string(parts.names.size()) + parts.names.back());
    Opened both = parts;
    both.names.insert(both.names.end(), inner.names.begin(), inner.names.end());
    both.domain = joined(both.domain, inner.domain);
    both.args = {terms.apply(K::Product, {term(single(others)), inner.args[0]})};
    return poly(folded(like, both, here));
  }
  Poly outer = single({}, 1), inner = single({}, 1);
  for (const auto& [atom, exponent] : body) {
    if (atom->kind == K::Exp && exponent == 1) {
      Poly free, bound;
      for (const auto& [key, coefficient] : poly(atom->args[0]).of)
        (mentions(term(single(key)), parts.names) ? bound : free).of.emplace(key, coefficient);
      const Poly factor = exp(free, here);
      if (all(factor, kFinite, here)) {
        outer = multiply(outer, factor, here);
        inner = multiply(inner, exp(bound, inside), inside);
        continue;
      }
    }
    const Term one = exponent == 1 ? atom : terms.power(atom, exponent);
    const bool leaves = !mentions(one, parts.names) && is(one, kFinite, here);
    times(leaves ? outer : inner, atom, exponent, leaves ? here : inside);
  }
  const Term rest = closed(like, {parts.names, parts.domain, {term(inner)}});
  return multiply(outer, single({{rest, 1}}), here);
}

}  // namespace tilewright::checker
