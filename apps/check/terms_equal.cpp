// SPDX-License-Identifier: Apache-2.0
//
// Equality: normal forms that are one term, or that differ in folds over sets which are the same. A sum is
// compared as uses of one body: at every point the weights on both sides are equal. A maximum: every point of one side is one of
// the other.
#include <algorithm>

#include "apps/check/terms.h"

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
    if (!seen.insert(t).second || (names && !mentions(t->free, *names))) return;
    if (t->kind == K::Cell || t->kind == K::Value) out.push_back(t);
    for (Term arg : t->args) visit(arg);
  };
  visit(root);
  return out;
}

}  // namespace

bool Terms::same(Term a, Term b, At here) {
  if (a == b) return true;
  const auto key = std::tuple(a, b, here.id);
  if (const auto it = sames_.find(key); it != sames_.end()) return it->second;
  spend();
  sames_[key] = false;  // should the question come back
  const bool out = same_parts(a, b, here);
  return sames_[key] = out;
}

bool Terms::same_parts(Term a, Term b, At here) {
  const Poly x = poly(a), y = poly(b);
  if (x.infinite != 0 || y.infinite != 0) return false;
  const std::optional<Linear> i = linear_of(a), j = linear_of(b);
  if (i && j) return holds(*i - *j, true, here);
  if (x.of.size() == 1 && y.of.size() == 1 && x.of.begin()->second == y.of.begin()->second) {
    const Key &p = x.of.begin()->first, &q = y.of.begin()->first;
    const bool atoms = p.size() == 1 && q.size() == 1 && p[0].second == 1 && q[0].second == 1;
    if (atoms ? same_atom(p[0].first, q[0].first, here) : same_factors(p, q, here)) return true;
  }
  return same_sums(x, y, here) || same_maxima(a, b, here);
}

// Greedy: what is the same as two others makes those the same.
bool Terms::same_factors(const Key& a, Key b, At here) {
  for (const auto& [atom, exponent] : a) {
    const auto found = std::find_if(b.begin(), b.end(), [&](const auto& other) {
      return other.second == exponent && same(other.first, atom, here);
    });
    if (found == b.end()) return false;
    b.erase(found);
  }
  return b.empty();
}

bool Terms::same_sums(const Poly& a, const Poly& b, At here) {
  std::map<Term, int> seen;  // in how many products
  for (const Poly* side : {&a, &b})
    for (const auto& [factors, weight] : side->of)
      for (const auto& [atom, exponent] : factors) ++seen[atom];
  std::vector<Use> uses;
  for (const Poly* side : {&a, &b})
    for (const auto& [factors, weight] : side->of) {
      const auto& other = side == &a ? b.of : a.of;
      const auto twin = other.find(factors);
      if (twin == other.end() || !(twin->second == weight))
        uses.push_back(use(factors, weight, side == &a, seen, here));
    }
  return matched(std::move(uses), true, here);
}

bool Terms::same_maxima(Term a, Term b, At here) {
  const auto is_maximum = [](Term t) { return t->kind == K::Max || t->kind == K::MaxOver; };
  std::vector<Use> uses;
  return (is_maximum(a) || is_maximum(b)) && uses_of_maximum(a, true, here, uses) &&
         uses_of_maximum(b, false, here, uses) && matched(std::move(uses), false, here);
}

bool Terms::same_atom(Term a, Term b, At here) {
  if (same_maxima(a, b, here)) return true;
  if (a->kind != b->kind || a->name != b->name || a->id != b->id || a->type != b->type ||
      !(a->number == b->number) || a->args.size() != b->args.size() || !(a->linear == b->linear) ||
      a->bound.size() != b->bound.size() || a->kind == K::SumOver || a->kind == K::MaxOver)
    return false;
  const Opened x = open(a, here), y = open(b, here);
  At within = inside(here, x);
  for (std::size_t i = 0; i < x.args.size(); ++i)
    if (!same(x.args[i], y.args[i], within)) return false;
  return a->kind != K::Fold || balanced(here.where, {{x, 1, true}, {y, 1, false}}, 0, 0);
}

// A product, with one of its sums taken apart: that which the least of the others have too.
Terms::Use Terms::use(const Key& key, const Rational& weight, bool left,
                      const std::map<Term, int>& seen, At here) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < key.size(); ++i)
    if (key[i].first->kind == K::SumOver && key[i].second == 1) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return seen.at(key[i].first) < seen.at(key[j].first);
  });
  for (const std::size_t i : order) {
    Key others = key;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (!(of_product(others, here) & kFinite)) continue;
    Opened fold = open(key[i].first, here);
    At within = inside(here, fold);
    Poly body = multiply(product_of(others), poly(normal(fold.args[0], within)), within);
    if (body.of.size() != 1) continue;
    const Rational times = body.of.begin()->second;
    fold.args = {term(product_of(body.of.begin()->first))};
    return {fold, weight * times, left};
  }
  return {{{}, {}, {term(product_of(key))}}, weight, left};
}

// The terms whose greatest it is. What is added to a maximum belongs to each.
bool Terms::uses_of_maximum(Term t, bool left, At here, std::vector<Use>& out) {
  if (t->kind == K::Max)
    return std::all_of(t->args.begin(), t->args.end(),
                       [&](Term arg) { return uses_of_maximum(arg, left, here, out); });
  Poly rest = poly(t);
  const auto fold = std::find_if(rest.of.begin(), rest.of.end(), [](const auto& one) {
    return one.second == 1 && one.first.size() == 1 && one.first[0].second == 1 &&
           one.first[0].first->kind == K::MaxOver;
  });
  Use one{{{}, {}, {t}}, 1, left};
  if (fold != rest.of.end()) {
    one.fold = open(fold->first[0].first, here);
    rest.of.erase(fold);
    At within = inside(here, one.fold);
    if (!all(rest, kFinite, here)) return false;
    one.fold.args = {term(add(rest, poly(normal(one.fold.args[0], within)), within))};
  }
  out.push_back(std::move(one));
  return true;
}

// Takes a use with most variables, and those whose body is its body at some points, until none is left.
bool Terms::matched(std::vector<Use> uses, bool counted, At here) {
  if (uses.size() > kMaxUses) return false;
  std::vector<Values> known;  // points of groups before
  while (!uses.empty()) {
    const Use pattern = *std::max_element(uses.begin(), uses.end(), [](auto& a, auto& b) {
      const auto rank = [](const Opened& fold) {
        return std::pair(fold.names.size(), mentions(fold.args[0]->free, fold.names));
      };
      return rank(a.fold) < rank(b.fold);
    });
    std::vector<Use> group;
    std::erase_if(uses, [&](const Use& one) {
      std::optional<Conjunction> points = points_of(pattern, one, known, here);
      if (points) group.push_back({{pattern.fold.names, *points, {}}, one.weight, one.left});
      return points.has_value();
    });
    // Weights of both signs would take infinite values from one another.
    const bool mixed = std::any_of(group.begin(), group.end(), [&](const Use& one) {
      return (one.weight < 0) != (group[0].weight < 0);
    });
    const bool good = std::all_of(group.begin(), group.end(), [&](const Use& one) {
      if (!counted) return covered(joined(here.where, one.fold.domain), group, 0, !one.left);
      return !mixed || is(pattern.fold.args[0], kFinite, inside(here, one.fold));
    });
    if (group.empty() || !good || (counted && !balanced(here.where, group, 0, 0))) return false;
  }
  return true;
}

// At every point of the set the weights of both sides are equal.
bool Terms::balanced(const Conjunction& set, const std::vector<Use>& uses, std::size_t next,
                     const Rational& weight) {
  if (next == uses.size()) return weight == 0 || empty(set);
  if (empty(set)) return true;
  const Use& one = uses[next];
  const Rational more = one.left ? one.weight : one.weight * -1;
  if (!balanced(joined(set, one.fold.domain), uses, next + 1, weight + more)) return false;
  for (const Conjunction& other : outside(one.fold.domain))
    if (!balanced(joined(set, other), uses, next + 1, weight)) return false;
  return true;
}

// Every point of the set is one of a use of that side.
bool Terms::covered(const Conjunction& set, const std::vector<Use>& uses, std::size_t next,
                    bool left) {
  if (empty(set)) return true;
  while (next < uses.size() && uses[next].left != left) ++next;
  if (next == uses.size()) return false;
  for (const Conjunction& other : outside(uses[next].fold.domain))
    if (!covered(joined(set, other), uses, next + 1, left)) return false;
  return true;
}

// The points of the pattern's variables at which its body is the other's; each is one point of the other.
std::optional<Conjunction> Terms::points_of(const Use& pattern, const Use& other,
                                            std::vector<Values>& known, At here) {
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
      const Conjunction domain = checker::substituted(other.fold.domain, values);
      At there = inside(here, {names, domain, {}});
      if (same(wanted, normal(substituted(given, values), there), there)) return domain;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  if (!other.fold.names.empty() || n == 0) return std::nullopt;
  // A single point, where the other's domain allows it.
  At there = within(here, other.fold.domain);
  const auto right = [&](const Values& values) {
    return values.size() == n && same(normal(substituted(wanted, values), there), given, there);
  };
  // A body without its variables has a point all the same: where the other summands of one step have theirs.
  const auto guess = std::find_if(known.begin(), known.end(), right);
  const auto found = guess != known.end() ? std::optional(*guess)
                                          : solve(names, leaves_of(wanted, &names),
                                                  leaves_of(given, nullptr), 0, {}, right);
  if (!found) return std::nullopt;
  if (guess == known.end()) known.push_back(*found);
  Conjunction out = other.fold.domain;
  for (const auto& [name, value] : *found) out.equal.push_back(Linear::symbol(name) - value);
  return out;
}

// Values of the pattern's variables that make its leaves those that are given. Only a guess: `right` tests it.
std::optional<Values> Terms::solve(const std::vector<std::string>& names,
                                   const std::vector<Term>& wanted, const std::vector<Term>& given,
                                   std::size_t next, const Values& sofar,
                                   const std::function<bool(const Values&)>& right) {
  if (sofar.size() == names.size()) return right(sofar) ? std::optional(sofar) : std::nullopt;
  if (next == wanted.size()) return std::nullopt;
  const Term leaf = wanted[next];
  for (Term other : given) {
    spend();
    if (other->kind != leaf->kind || other->name != leaf->name || other->id != leaf->id) continue;
    Values values = sofar;
    for (std::size_t i = 0; i < std::min(leaf->args.size(), other->args.size()); ++i) {
      const auto a = linear_of(leaf->args[i]), b = linear_of(other->args[i]);
      for (const std::string& name : names)
        if (const auto value =
                a && b ? solved(a->substituted(values) - *b, name, names) : std::nullopt)
          values.emplace(name, *value);
    }
    if (values.size() == sofar.size()) continue;
    if (auto out = solve(names, wanted, given, next + 1, values, right)) return out;
  }
  return solve(names, wanted, given, next + 1, sofar, right);
}

Term Terms::unfolded(Term t, int depth) {
  if (depth > 64) throw Refused("equations unfold too deep");
  return replaced(t, [&](Term leaf) -> Term {
    if (leaf->kind != K::Cell || meaning_.is_input(leaf->name)) return nullptr;
    const Term value = meaning_.definition(leaf->name, leaf->args);
    return value ? unfolded(value, depth + 1) : nullptr;
  });
}

bool Terms::equal(Term a, Term b, const Conjunction& where, bool unfold, int depth) {
  At here = at(where, 0);
  if (empty(where)) return true;
  const Term x = normal(a, here), y = normal(b, here);
  if (same(x, y, here)) return true;
  if (!unfold) return equal(unfolded(a, 0), unfolded(b, 0), where, true, depth);
  Term condition = undecided(x, here, nullptr);
  if (!condition) condition = undecided(y, here, nullptr);
  if (!condition || depth == kMaxSplits) return false;
  for (const bool value : {true, false}) {
    const auto all = cases(condition, value);
    for (const Conjunction& more : *all)
      if (!equal(a, b, joined(where, more), true, depth + 1)) return false;
  }
  return true;
}

// Names that an equality determines are written out, so that more terms look alike.
bool Terms::equal(Term a, Term b, const Conjunction& where) {
  if (a == b) return true;
  std::vector<Linear> equalities = where.equal;
  for (const Linear& e : equalities)
    for (const std::string& name : names_in(e))
      if (const std::optional<Linear> value = solved(e, name, {})) {
        const Values by = {{name, *value}};
        a = substituted(a, by);
        b = substituted(b, by);
        for (Linear& other : equalities) other = other.substituted(by);
        break;
      }
  return equal(a, b, where, false, 0);
}

bool Terms::finite(Term a, const Conjunction& where) { return is(a, kFinite, at(where, 0)); }

}  // namespace tilewright::checker
