// SPDX-License-Identifier: Apache-2.0
//
// Equality: normal forms that are one term, or that differ in folds over sets which are the same. A sum is
// compared as uses of one body: at every point the weights on both sides are equal. A maximum: every point of one side is one of
// the other.
#include <algorithm>

#include "apps/check/terms_parts.h"

namespace tilewright::checker {

namespace {

using K = TermKind;

constexpr int kMaxSplits = 8;
constexpr std::size_t kMaxUses = 64;

// Cells and values with a name among `names`, or all.
std::vector<Term> leaves_of(Term root, const std::vector<std::string>* names) {
  std::vector<Term> out;
  std::set<Term> seen;
  const std::function<void(Term)> visit = [&](Term t) {
    if (!seen.insert(t).second || (names && !mentions(t, *names))) return;
    if (t->kind == K::Cell || t->kind == K::Value) out.push_back(t);
    for (Term arg : t->args) visit(arg);
  };
  visit(root);
  return out;
}

}  // namespace

// Greedy, since parts that are the same are so in every pairing.
bool Terms::Impl::same_factors(const Key& a, const Key& b, At here) {
  if (a.size() != b.size()) return false;
  Key left = b;
  return std::all_of(a.begin(), a.end(), [&](const auto& one) {
    const auto found = std::find_if(left.begin(), left.end(), [&](const auto& other) {
      return one.second == other.second && same(one.first, other.first, here);
    });
    if (found == left.end()) return false;
    left.erase(found);
    return true;
  });
}

bool Terms::Impl::same(Term a, Term b, At here) {
  if (a == b) return true;
  const auto key = std::tuple(a, b, here.id);
  if (const auto it = sames.find(key); it != sames.end()) return it->second;
  spend();
  sames[key] = false;  // should the question come back
  const Poly x = poly(a), y = poly(b);
  const auto atom = [](const Poly& p) {
    return p.infinite == 0 && p.of.size() == 1 && p.of.begin()->second == 1 &&
                   p.of.begin()->first.size() == 1 && p.of.begin()->first[0].second == 1
               ? p.of.begin()->first[0].first
               : nullptr;
  };
  if (x.infinite != 0 || y.infinite != 0) return false;
  bool out = false;
  const std::optional<Linear> i = linear_of(a), j = linear_of(b);
  if (i && j)
    out = holds(*i - *j, true, here);
  else if (atom(x) && atom(y))
    out = same_atom(atom(x), atom(y), here);
  else if (x.of.size() == 1 && y.of.size() == 1)
    out = x.of.begin()->second == y.of.begin()->second &&
          same_factors(x.of.begin()->first, y.of.begin()->first, here);
  if (!out) {
    std::vector<Use> left;
    for (const Poly* side : {&x, &y})
      for (const auto& [factors, weight] : side->of) {
        const auto& other = side == &x ? y.of : x.of;
        const auto twin = other.find(factors);
        if (twin != other.end() && twin->second == weight) continue;
        std::optional<Use> one = use(factors, weight, side == &x, here);
        if (!one) return false;
        left.push_back(std::move(*one));
      }
    out = matched(std::move(left), true, here);
  }
  return sames[key] = out;
}

bool Terms::Impl::same_atom(Term a, Term b, At here) {
  const bool maxima = (a->kind == K::Max || a->kind == K::MaxOver) &&
                      (b->kind == K::Max || b->kind == K::MaxOver);
  if (maxima) {
    std::vector<Use> uses;
    return uses_of_maximum(a, true, here, uses) && uses_of_maximum(b, false, here, uses) &&
           matched(std::move(uses), false, here);
  }
  if (a->kind != b->kind || a->name != b->name || a->id != b->id || a->type != b->type ||
      !(a->number == b->number) || a->args.size() != b->args.size() || !(a->linear == b->linear) ||
      a->bound.size() != b->bound.size() || a->kind == K::SumOver)
    return false;
  if (a->kind == K::Fold) {
    const std::string prefix = "%" + std::to_string(here.level);
    Use x{open(a, prefix), 1, true}, y{open(b, prefix), 1, false};
    At inside = within(here, x.fold.domain, 1);
    for (std::size_t i = 0; i < a->args.size(); ++i)
      if (!same(x.fold.args[i], y.fold.args[i], inside)) return false;
    return balanced(here.where, {x, y}, 0, 0);
  }
  for (std::size_t i = 0; i < a->args.size(); ++i)
    if (!same(a->args[i], b->args[i], here)) return false;
  return true;
}

// A product, with one of its sums taken apart.
std::optional<Terms::Impl::Use> Terms::Impl::use(const Key& key, const Rational& weight, bool left,
                                                 At here) {
  Use out{{{}, {}, {term({{{key, 1}}, 0})}}, weight, left};
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i].first->kind != K::SumOver || !(key[i].second == 1)) continue;
    Key others = key;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (!(of_product(others, here) & kFinite)) continue;
    Opened fold = open(key[i].first, "%" + std::to_string(here.level));
    At inside = within(here, fold.domain, 1);
    Poly body = poly(normal(fold.args[0], inside));
    Poly factor;
    factor.of.emplace(others, 1);
    body = multiply(factor, body, inside);
    if (body.of.size() != 1) continue;
    out.weight = out.weight * body.of.begin()->second;
    body.of.begin()->second = 1;
    fold.args = {term(body)};
    out.fold = std::move(fold);
    break;
  }
  return out;
}

// The terms whose greatest it is. What is added to a maximum belongs to each.
bool Terms::Impl::uses_of_maximum(Term t, bool left, At here, std::vector<Use>& out) {
  if (t->kind == K::Max)
    return std::all_of(t->args.begin(), t->args.end(),
                       [&](Term arg) { return uses_of_maximum(arg, left, here, out); });
  const Poly p = poly(t);
  Poly rest = p;
  Term fold = nullptr;
  for (const auto& [key, coefficient] : p.of)
    if (!fold && coefficient == 1 && key.size() == 1 && key[0].second == 1 &&
        key[0].first->kind == K::MaxOver) {
      fold = key[0].first;
      rest.of.erase(key);
    }
  Use one{{{}, {}, {t}}, 1, left};
  if (fold) {
    if (!all(rest, kFinite, here)) return false;
    one.fold = open(fold, "%" + std::to_string(here.level));
    At inside = within(here, one.fold.domain, 1);
    one.fold.args = {term(add(rest, poly(normal(one.fold.args[0], inside)), inside))};
  }
  out.push_back(std::move(one));
  return out.size() <= kMaxUses;
}

// Takes a use with most variables, and those whose body is its body at some points, until none is left.
bool Terms::Impl::matched(std::vector<Use> uses, bool counted, At here) {
  if (uses.size() > kMaxUses) return false;
  while (!uses.empty()) {
    const Use pattern = *std::max_element(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
      return a.fold.names.size() < b.fold.names.size();
    });
    std::vector<Use> group;
    std::erase_if(uses, [&](const Use& one) {
      std::optional<Conjunction> points = points_of(pattern, one, here);
      if (points) group.push_back({{pattern.fold.names, *points, {}}, one.weight, one.left});
      return points.has_value();
    });
    if (group.empty()) return false;
    if (!counted) {
      for (const Use& one : group)
        if (!covered(joined(here.where, one.fold.domain), group, 0, !one.left)) return false;
      continue;
    }
    // Weights of both signs would take infinite values from one another.
    const bool mixed = std::any_of(group.begin(), group.end(), [&](const Use& one) {
      return (one.weight < 0) != (group[0].weight < 0);
    });
    for (const Use& one : group)
      if (mixed && !is(pattern.fold.args[0], kFinite, within(here, one.fold.domain, 1)))
        return false;
    if (!balanced(here.where, group, 0, 0)) return false;
  }
  return true;
}

// At every point of the set the weights of both sides are equal.
bool Terms::Impl::balanced(const Conjunction& set, const std::vector<Use>& uses, std::size_t next,
                           const Rational& weight) {
  if (next == uses.size()) return weight == 0 || empty(set);
  if (empty(set)) return true;
  const Use& one = uses[next];
  const Rational more = one.left ? one.weight : one.weight * -1;
  if (!balanced(joined(set, one.fold.domain), uses, next + 1, weight + more)) return false;
  Conjunction before = set;
  for (const bool equality : {true, false})
    for (const Linear& e : equality ? one.fold.domain.equal : one.fold.domain.at_least) {
      for (const Conjunction& outside : opposite(e, equality))
        if (!balanced(joined(before, outside), uses, next + 1, weight)) return false;
      (equality ? before.equal : before.at_least).push_back(e);
    }
  return true;
}

// Every point of the set is one of a use of that side.
bool Terms::Impl::covered(const Conjunction& set, const std::vector<Use>& uses, std::size_t next,
                          bool left) {
  if (empty(set)) return true;
  while (next < uses.size() && uses[next].left != left) ++next;
  if (next == uses.size()) return false;
  Conjunction before = set;
  const Conjunction& domain = uses[next].fold.domain;
  for (const bool equality : {true, false})
    for (const Linear& e : equality ? domain.equal : domain.at_least) {
      for (const Conjunction& outside : opposite(e, equality))
        if (!covered(joined(before, outside), uses, next + 1, left)) return false;
      (equality ? before.equal : before.at_least).push_back(e);
    }
  return true;
}

// The points of the pattern's variables at which its body is the other's; each is one point of the other.
std::optional<Conjunction> Terms::Impl::points_of(const Use& pattern, const Use& other, At here) {
  const std::vector<std::string>& names = pattern.fold.names;
  const std::size_t n = names.size();
  const Term wanted = pattern.fold.args[0], given = other.fold.args[0];
  if (other.fold.names.size() == n && n <= 4) {
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    do {
      std::map<std::string, Linear> values;
      for (std::size_t i = 0; i < n; ++i)
        values.emplace(other.fold.names[i], Linear::symbol(names[order[i]]));
      Conjunction domain;
      for (const Linear& e : other.fold.domain.equal) domain.equal.push_back(e.substituted(values));
      for (const Linear& e : other.fold.domain.at_least)
        domain.at_least.push_back(e.substituted(values));
      At inside = within(here, domain, 1);
      if (same(wanted, normal(substituted(given, values), inside), inside)) return domain;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  if (!other.fold.names.empty() || n == 0) return std::nullopt;
  // A single point, where the other's domain allows it.
  At there = within(here, other.fold.domain);
  const auto found = solve(pattern, leaves_of(wanted, &names), leaves_of(given, nullptr), 0, {},
                           [&](const std::map<std::string, Linear>& values) {
                             return same(normal(substituted(wanted, values), there), given, there);
                           });
  if (!found) return std::nullopt;
  Conjunction out = other.fold.domain;
  for (const auto& [name, value] : *found) out.equal.push_back(Linear::symbol(name) - value);
  return out;
}

// Values of the pattern's variables that make its leaves those that are given. Only a guess: `right` tests it.
std::optional<std::map<std::string, Linear>> Terms::Impl::solve(
    const Use& pattern, const std::vector<Term>& wanted, const std::vector<Term>& given,
    std::size_t next, const std::map<std::string, Linear>& sofar,
    const std::function<bool(const std::map<std::string, Linear>&)>& right) {
  if (sofar.size() == pattern.fold.names.size())
    return right(sofar) ? std::optional(sofar) : std::nullopt;
  if (next == wanted.size()) return std::nullopt;
  for (Term leaf : given) {
    spend();
    if (leaf->kind != wanted[next]->kind || leaf->name != wanted[next]->name ||
        leaf->id != wanted[next]->id || leaf->args.size() != wanted[next]->args.size())
      continue;
    std::map<std::string, Linear> values = sofar;
    for (std::size_t i = 0; i < leaf->args.size(); ++i) {
      const auto a = linear_of(wanted[next]->args[i]), b = linear_of(leaf->args[i]);
      if (!a || !b) continue;
      const Linear e = a->substituted(values) - *b;
      for (const std::string& name : pattern.fold.names) {
        const auto it = e.terms().find({name, nullptr});
        if (it == e.terms().end() || (it->second != 1 && it->second != -1)) continue;
        const Linear value = (Linear::symbol(name) * it->second - e) * it->second;
        if (mentions(value, pattern.fold.names)) continue;
        values.emplace(name, value);
        break;
      }
    }
    if (values.size() == sofar.size()) continue;
    if (auto out = solve(pattern, wanted, given, next + 1, values, right)) return out;
  }
  return solve(pattern, wanted, given, next + 1, sofar, right);
}

Term Terms::Impl::unfolded(Term t, int depth) {
  if (depth > 64) throw Refused("equations unfold too deep");
  return terms.replaced(t, [&](Term leaf) -> Term {
    if (leaf->kind != K::Cell || meaning.is_input(leaf->name)) return nullptr;
    const Term value = meaning.definition(leaf->name, leaf->args);
    return value ? unfolded(value, depth + 1) : nullptr;
  });
}

bool Terms::Impl::equal(Term a, Term b, const Conjunction& where, bool unfold, int depth) {
  At here = at(where, 0);
  if (empty(where)) return true;
  const Term x = normal(a, here), y = normal(b, here);
  if (same(x, y, here)) return true;
  if (!unfold) return equal(unfolded(a, 0), unfolded(b, 0), where, true, depth);
  Term condition = undecided(x, here, nullptr);
  if (!condition) condition = undecided(y, here, nullptr);
  if (!condition || depth == kMaxSplits) return false;
  for (const bool value : {true, false})
    for (const Conjunction& more : *cases(condition, value))
      if (!equal(a, b, joined(where, more), true, depth + 1)) return false;
  return true;
}

// Names that an equality determines are written out, so that more terms look alike.
bool Terms::equal(Term a, Term b, const Conjunction& where) {
  if (a == b) return true;
  std::vector<Linear> equal = where.equal;
  for (std::size_t i = 0; i < equal.size(); ++i) {
    const Linear e = equal[i];
    for (const auto& [atom, coefficient] : e.terms()) {
      if (atom.floor || (coefficient != 1 && coefficient != -1)) continue;
      const Linear value = (Linear::symbol(atom.name) * coefficient - e) * coefficient;
      if (mentions(value, {atom.name})) continue;
      const std::map<std::string, Linear> by = {{atom.name, value}};
      a = substituted(a, by);
      b = substituted(b, by);
      for (Linear& other : equal) other = other.substituted(by);
      break;
    }
  }
  return impl_->equal(a, b, where, false, 0);
}

bool Terms::finite(Term a, const Conjunction& where) {
  return impl_->is(a, kFinite, impl_->at(where, 0));
}

}  // namespace tilewright::checker
