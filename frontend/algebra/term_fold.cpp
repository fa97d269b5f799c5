// SPDX-License-Identifier: Apache-2.0
//
// Folds. A sum atom has one monomial as its body, one conjunction as its domain, and variables that hang together
// through factors and constraints: sums of sums are split, sums in sums are merged, what is free of the variables
// leaves, and independent variables part. Conditions of a selection that are affine are part of the domain.
#include <algorithm>
#include <numeric>

#include "frontend/algebra/nodes_wall.h"
#include "frontend/base/hash.h"

namespace tilewright::algebra {

namespace {

constexpr int kMaxMerged = 4;  // the power up to which a sum in a sum is multiplied out
constexpr std::size_t kMaxOrders = 24;  // of variables that look the same
constexpr int kMaxVariables = 12;

bool is_affine_condition(Atom atom, const std::vector<Atom>& variables) {
  return (atom->kind == AtomKind::AtLeast || atom->kind == AtomKind::Zero) &&
         intersects(atom->free, variables);
}

Atom affine_condition(Term term, const std::vector<Atom>& variables) {
  Atom first = nullptr;
  if (!term) return first;
  for (const Monomial& monomial : term->monomials)
    for (const Factor& factor : monomial.factors)
      if (is_affine_condition(factor.atom, variables) &&
          (!first || factor.atom->shape < first->shape ||
           (factor.atom->shape == first->shape && atom_less(factor.atom, first))))
        first = factor.atom;
  return first;
}

// The conjunctions, without common points, in which the condition has a value.
std::vector<Constraint> constraints_of(TermStore::Impl& impl, Atom condition, bool value) {
  const Term a = condition->args[0];
  const bool equality = condition->kind == AtomKind::Zero;
  if (value) return {{a, equality}};
  const Term less = impl.add(impl.scale(a, -1), impl.constant(-1));  // a <= -1
  if (!equality) return {{less, false}};
  return {{less, false}, {impl.add(a, impl.constant(-1)), false}};
}

// Takes out of the weight, a polynomial of conditions, those that hold, or do not, wherever it is not 0.
Term take_literals(TermStore::Impl& impl, Term weight, const std::vector<Atom>& variables,
                   Conjunction* where) {
  std::vector<Atom> conditions;
  for (const Monomial& monomial : weight->monomials)
    for (const Factor& factor : monomial.factors)
      if (is_affine_condition(factor.atom, variables) && !contains(conditions, factor.atom))
        conditions.push_back(factor.atom);
  for (Atom condition : conditions) {
    const Term yes = impl.assume(weight, condition, true);
    const Term no = impl.assume(weight, condition, false);
    const bool is_negative = impl.is_zero(yes) && condition->kind == AtomKind::AtLeast;
    if (!is_negative && !impl.is_zero(no)) continue;
    where->push_back(constraints_of(impl, condition, !is_negative)[0]);
    weight = is_negative ? no : yes;
  }
  return weight;
}

void append(Conjunction& to, const Conjunction& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Number of the component of each variable.
class Components {
 public:
  explicit Components(const std::vector<Atom>& variables)
      : variables_(variables), parent_(variables.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  void join(const std::vector<Atom>& free) {
    std::size_t first = parent_.size();
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (!contains(free, variables_[i])) continue;
      if (first == parent_.size())
        first = find(i);
      else
        parent_[find(i)] = find(first);
    }
  }
  std::size_t find(std::size_t i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  // Of anything with these free variables; the number of variables when it has none of them.
  std::size_t of(const std::vector<Atom>& free) const {
    for (std::size_t i = 0; i < variables_.size(); ++i)
      if (contains(free, variables_[i])) return find(i);
    return parent_.size();
  }

 private:
  const std::vector<Atom>& variables_;
  std::vector<std::size_t> parent_;
};

}  // namespace

Atom TermStore::Impl::fresh() {
  AtomNode node;
  node.kind = AtomKind::Variable;
  node.type = ir::ScalarType::Index;
  node.text = "fresh";
  node.a = num_fresh++;
  return atom(std::move(node));
}

void TermStore::Impl::bind_obligations(const Binder& binder) {
  for (Obligation& obligation : obligations) {
    for (Atom variable : binder.variables) {
      if (!contains(obligation.term->free, variable) &&
          !(obligation.when && contains(obligation.when->free, variable)))
        continue;
      const bool known = std::any_of(obligation.variables.begin(), obligation.variables.end(),
                                     [&](Term v) { return single_atom(v) == variable; });
      if (known) break;
      for (Atom each : binder.variables) obligation.variables.push_back(of(each));
      append(obligation.where, binder.where);
      break;
    }
  }
}

// Removes variables that an equality determines. False: no point satisfies the constraints.
bool TermStore::Impl::eliminate(Binder& binder, Term& body) {
  while (true) {
    std::optional<Conjunction> tidied = tidy(binder.where);
    if (!tidied) return false;
    binder.where = std::move(*tidied);
    Atom determined = nullptr;
    Term value;
    for (const Constraint& constraint : binder.where) {
      if (!constraint.equality) continue;
      for (const Monomial& monomial : constraint.value->monomials) {
        if (abs(monomial.coefficient) != 1 || monomial.factors.size() != 1 ||
            monomial.factors[0].power != 1 || !contains(binder.variables, monomial.factors[0].atom))
          continue;
        const Atom variable = monomial.factors[0].atom;
        const Quiet no_conditions(*this);
        const Term rest = add(constraint.value, scale(of(monomial), -1));
        if (contains(rest->free, variable)) continue;
        determined = variable;
        value = scale(rest, -monomial.coefficient);
        break;
      }
      if (determined) break;
    }
    if (!determined) return true;
    const Values values = {{determined, value}};
    body = substitute(body, values);
    for (Constraint& constraint : binder.where)
      constraint.value = substitute(constraint.value, values);
    std::erase(binder.variables, determined);
  }
}

std::pair<TermStore::Impl::Binder, std::vector<Term>> TermStore::Impl::open(Atom fold) {
  const Quiet no_conditions(*this);
  Binder binder;
  Values values;
  for (int i = 0; i < fold->num_bound; ++i) {
    AtomNode node;
    node.kind = AtomKind::Variable;
    node.type = ir::ScalarType::Index;
    node.text = "bound";
    node.a = fold->height;
    node.b = i;
    binder.variables.push_back(fresh());
    values[atom(std::move(node))] = of(binder.variables.back());
  }
  for (const Constraint& constraint : fold->constraints)
    binder.where.push_back({substitute(constraint.value, values), constraint.equality});
  std::vector<Term> args;
  for (Term arg : fold->args) args.push_back(substitute(arg, values));
  return {std::move(binder), std::move(args)};
}

// The atom with the variables bound: named by their place in an order that depends on how they are used alone.
Atom TermStore::Impl::close(AtomNode node, const Binder& binder) {
  const Quiet no_conditions(*this);
  int height = 0;
  for (Term arg : node.args) height = std::max(height, arg->height);
  for (const Constraint& constraint : binder.where)
    height = std::max(height, constraint.value->height);
  ++height;
  const auto bound = [&](std::size_t i) {
    AtomNode variable;
    variable.kind = AtomKind::Variable;
    variable.type = ir::ScalarType::Index;
    variable.text = "bound";
    variable.a = height;
    variable.b = static_cast<std::int64_t>(i);
    return of(atom(std::move(variable)));
  };
  const auto renamed = [&](const std::vector<Term>& names) {
    AtomNode out = node;
    Values values;
    for (std::size_t i = 0; i < names.size(); ++i) values[binder.variables[i]] = names[i];
    for (Term& arg : out.args) arg = substitute(arg, values);
    out.constraints = binder.where;
    for (Constraint& constraint : out.constraints)
      constraint.value = substitute(constraint.value, values);
    std::sort(out.constraints.begin(), out.constraints.end(),
              [](const Constraint& a, const Constraint& b) {
                if (a.equality != b.equality) return a.equality;
                return term_less(a.value, b.value);
              });
    return out;
  };
  const std::size_t n = binder.variables.size();
  node.num_bound = static_cast<int>(n);
  std::vector<std::uint64_t> use(n, 0);
  if (n > 1)
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<Term> names(n, bound(1));
      names[i] = bound(0);
      const AtomNode marked = renamed(names);
      for (Term arg : marked.args) use[i] = hash_combine(use[i], arg->hash);
      for (const Constraint& constraint : marked.constraints)
        use[i] = hash_combine(use[i], constraint.value->hash);
    }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return use[a] < use[b]; });
  Atom least = nullptr;
  const std::vector<std::uint64_t> keys = [&] {
    std::vector<std::uint64_t> sorted;
    for (std::size_t i : order) sorted.push_back(use[i]);
    return sorted;
  }();
  // All orders that keep the sequence of uses.
  std::size_t num_orders = 0;
  std::vector<std::size_t> trial = order;
  std::sort(trial.begin(), trial.end());
  const auto consider = [&](const std::vector<std::size_t>& places) {
    std::vector<Term> names(n);
    for (std::size_t i = 0; i < n; ++i) names[places[i]] = bound(i);
    const Atom candidate = atom(renamed(names));
    if (!least || atom_less(candidate, least)) least = candidate;
  };
  const bool all_differ = std::adjacent_find(keys.begin(), keys.end()) == keys.end();
  consider(order);
  if (!all_differ && n <= 4) do {
      bool keeps = true;
      for (std::size_t i = 0; i < n; ++i) keeps = keeps && use[trial[i]] == keys[i];
      if (keeps && ++num_orders <= kMaxOrders) consider(trial);
    } while (std::next_permutation(trial.begin(), trial.end()));
  return least;
}

Term TermStore::Impl::fold(AtomNode node, Binder binder) {
  bind_obligations(binder);
  std::optional<Conjunction> tidied = tidy(binder.where);
  if (tidied) binder.where = std::move(*tidied);
  return of(close(std::move(node), binder));
}

Term TermStore::Impl::sum(Binder binder, Term body) {
  bind_obligations(binder);
  if (!eliminate(binder, body) || is_zero(body)) return make({});
  if (!body->is_finite_form()) {
    AtomNode node;
    node.kind = AtomKind::Fold;
    node.text = "sum";
    node.args = {body};
    return fold(std::move(node), std::move(binder));
  }
  // Monomials that differ in affine conditions alone, together: a function on parts of the domain.
  std::vector<std::pair<Monomial, Term>> groups;
  for (const Monomial& monomial : body->monomials) {
    Monomial rest = monomial;
    Monomial conditions;
    conditions.coefficient = monomial.coefficient;
    rest.coefficient = 1;
    std::erase_if(rest.factors, [&](const Factor& factor) {
      if (!is_affine_condition(factor.atom, binder.variables)) return false;
      conditions.factors.push_back(factor);
      return true;
    });
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return compare_keys(group.first, rest) == 0;
    });
    if (same == groups.end()) {
      groups.emplace_back(std::move(rest), of(std::move(conditions)));
    } else {
      const Quiet no_conditions(*this);
      same->second = add(same->second, of(std::move(conditions)));
    }
  }
  Term out = make({});
  for (auto& [rest, weight] : groups) {
    // What every point with a weight satisfies is part of the domain; of the rest each product of conditions is.
    Binder inside = binder;
    weight = take_literals(*this, weight, binder.variables, &inside.where);
    if (weight->monomials.size() > 1) require_finite(rest);  // what is counted twice is subtracted
    for (const Monomial& part : weight->monomials) {
      Binder narrowed = inside;
      Monomial scaled = rest;
      scaled.coefficient = part.coefficient;
      for (const Factor& factor : part.factors)
        narrowed.where.push_back({factor.atom->args[0], factor.atom->kind == AtomKind::Zero});
      out = add(out, sum_monomial(std::move(narrowed), std::move(scaled)));
    }
  }
  bind_obligations(binder);
  return out;
}

Term TermStore::Impl::sum_monomial(Binder binder, Monomial monomial) {
  const mpq_class coefficient = monomial.coefficient;
  monomial.coefficient = 1;
  const Term before = of(monomial);
  Term body = before;
  if (!eliminate(binder, body)) return make({});
  if (!(body == before)) return scale(sum(std::move(binder), body), coefficient);
  if (binder.variables.size() > kMaxVariables) return unknown(free_of(monomial));
  if (binder.variables.empty()) return guard(store.holds(binder.where), scale(body, coefficient));
  // Sums inside that use the variables.
  for (const Factor& factor : monomial.factors) {
    if (factor.atom->kind != AtomKind::Sum || !intersects(factor.atom->free, binder.variables) ||
        factor.power.get_den() != 1 || factor.power < 1 || factor.power > kMaxMerged)
      continue;
    Monomial others = monomial;
    std::erase_if(others.factors, [&](const Factor& f) { return f.atom == factor.atom; });
    Term product = of(std::move(others));
    for (int i = 0; factor.power > i; ++i) {
      auto [inner, args] = open(factor.atom);
      product = multiply_finite(product, args[0]);
      binder.variables.insert(binder.variables.end(), inner.variables.begin(),
                              inner.variables.end());
      append(binder.where, inner.where);
    }
    return scale(sum(std::move(binder), product), coefficient);
  }
  Components components(binder.variables);
  for (const Factor& factor : monomial.factors) components.join(factor.atom->free);
  for (const Constraint& constraint : binder.where) components.join(constraint.value->free);
  std::vector<Monomial> exponents;
  if (monomial.exponent) exponents = monomial.exponent->monomials;
  for (const Monomial& part : exponents) components.join(free_of(part));
  const std::size_t n = binder.variables.size();
  std::vector<Monomial> parts(n + 1);
  std::vector<Binder> binders(n + 1);
  std::vector<std::vector<Monomial>> part_exponents(n + 1);
  for (const Factor& factor : monomial.factors)
    parts[components.of(factor.atom->free)].factors.push_back(factor);
  for (const Monomial& part : exponents)
    part_exponents[components.of(free_of(part))].push_back(part);
  for (const Constraint& constraint : binder.where)
    binders[components.of(constraint.value->free)].where.push_back(constraint);
  for (std::size_t i = 0; i < n; ++i)
    binders[components.find(i)].variables.push_back(binder.variables[i]);
  Term out = constant(1);
  for (std::size_t i = 0; i <= n; ++i) {
    if (!part_exponents[i].empty()) parts[i].exponent = make(std::move(part_exponents[i]));
    if (i == n || binders[i].variables.empty()) continue;
    out = multiply_finite(out, sum_component(binders[i], parts[i]));
  }
  require_finite(parts[n], out);
  const Quiet was_required(*this);
  out = multiply_finite(of(parts[n]), out);
  return guard(store.holds(binders[n].where), scale(out, coefficient));
}

// One sum whose variables hang together.
Term TermStore::Impl::sum_component(const Binder& binder, const Monomial& body) {
  if (body.factors.empty() && !body.exponent && binder.variables.size() == 1)
    if (const Term count = num_points(binder)) return count;
  AtomNode node;
  node.kind = AtomKind::Sum;
  node.args = {of(body)};
  node.type = is_whole(node.args[0]) ? ir::ScalarType::Index : ir::ScalarType::F64;
  return of(close(std::move(node), binder));
}

// Of one variable between two bounds; null for others.
Term TermStore::Impl::num_points(const Binder& binder) {
  const Quiet no_conditions(*this);
  if (binder.where.size() != 2) return {};
  Term above;  // the number of values is above + below + 1
  Term below;
  for (const Constraint& constraint : binder.where) {
    if (constraint.equality) return {};
    for (const Monomial& monomial : constraint.value->monomials) {
      if (!contains(free_of(monomial), binder.variables[0])) continue;
      if (monomial.factors.size() != 1 || monomial.factors[0].atom != binder.variables[0])
        return {};
      const Term rest = add(constraint.value, scale(of(monomial), -1));
      if (monomial.factors[0].power != 1 || contains(rest->free, binder.variables[0])) return {};
      const Term steps = floor(scale(rest, mpq_class(1) / abs(monomial.coefficient)));
      (monomial.coefficient > 0 ? below : above) = steps;
    }
  }
  if (!above || !below) return {};
  const Term count = add(add(above, below), constant(1));
  return guard(at_least_zero(count), count);
}

Term TermStore::Impl::maximum_over(Binder binder, Term body) {
  bind_obligations(binder);
  if (!eliminate(binder, body)) return store.infinity(true);
  if (binder.variables.empty())
    return store.select(store.holds(binder.where), body, store.infinity(true));
  // Affine conditions, in the finite part or of being -inf.
  Atom condition = affine_condition(body, binder.variables);
  for (Term special : body->special)
    if (!condition) condition = affine_condition(special, binder.variables);
  if (condition) {
    std::vector<Term> parts;
    for (const bool value : {true, false})
      for (const Constraint& constraint : constraints_of(*this, condition, value)) {
        Binder narrowed = binder;
        narrowed.where.push_back(constraint);
        parts.push_back(maximum_over(std::move(narrowed), assume(body, condition, value)));
      }
    return maximum(std::move(parts));
  }
  if (const Term never = body->special[kNegInf]; never && !body->special[kPosInf] &&
                                                 !body->special[kNan] &&
                                                 !intersects(never->free, binder.variables))
    return store.select(never, store.infinity(true),
                        maximum_over(std::move(binder), finite_part(body)));
  // Conditions that the variables have no part in.
  Conjunction outside;
  std::erase_if(binder.where, [&](const Constraint& constraint) {
    if (intersects(constraint.value->free, binder.variables)) return false;
    outside.push_back(constraint);
    return true;
  });
  if (!outside.empty())
    return store.select(store.holds(outside), maximum_over(std::move(binder), body),
                        store.infinity(true));
  if (body->is_finite_form()) {
    for (const Monomial& monomial : body->monomials) {
      if (monomial.coefficient < 0 || monomial.exponent || monomial.factors.size() != 1 ||
          monomial.factors[0].power != 1)
        continue;
      const Atom inner = monomial.factors[0].atom;
      if (!intersects(inner->free, binder.variables)) continue;
      if (inner->kind != AtomKind::MaxOver && inner->kind != AtomKind::Max) continue;
      const Term rest = add(body, scale(of(monomial), -1));
      std::vector<Term> parts;
      auto [more, args] = open(inner);
      append(more.where, binder.where);
      more.variables.insert(more.variables.begin(), binder.variables.begin(),
                            binder.variables.end());
      if (more.variables.size() > kMaxVariables) break;
      for (Term arg : args)
        parts.push_back(maximum_over(more, add(rest, scale(arg, monomial.coefficient))));
      return maximum(std::move(parts));
    }
  }
  return maximum_atom(binder, body);
}

// max of (m + c*p*b) = m + c*p * (max of b), p positive and free of the variables.
Term TermStore::Impl::maximum_atom(const Binder& binder, Term body) {
  Term outside = make({});
  Term factor = constant(1);
  if (body->is_finite_form()) {
    std::vector<Monomial> apart;
    std::vector<Monomial> inside;
    for (const Monomial& monomial : body->monomials)
      (intersects(free_of(monomial), binder.variables) ? inside : apart).push_back(monomial);
    outside = make(std::move(apart));
    body = make(std::move(inside));
    if (!is_zero(body)) {
      auto [common, rest] = take_common(body, true);
      Monomial free;
      free.coefficient = common.coefficient;
      std::erase_if(common.factors, [&](const Factor& f) {
        if (intersects(f.atom->free, binder.variables)) return false;
        free.factors.push_back(f);
        return true;
      });
      if (common.exponent) {
        std::vector<Monomial> bound_exponent;
        std::vector<Monomial> free_exponent;
        for (const Monomial& part : common.exponent->monomials)
          (intersects(free_of(part), binder.variables) ? bound_exponent : free_exponent)
              .push_back(part);
        common.exponent = bound_exponent.empty() ? Term() : make(std::move(bound_exponent));
        if (!free_exponent.empty()) free.exponent = make(std::move(free_exponent));
      }
      common.coefficient = 1;
      const Quiet no_conditions(*this);
      body = multiply_finite(of(common), rest);
      factor = of(std::move(free));
    }
  }
  AtomNode node;
  node.kind = AtomKind::MaxOver;
  node.args = {body};
  node.type = is_whole(body) ? ir::ScalarType::Index : ir::ScalarType::F64;
  const Term itself = of(close(std::move(node), binder));
  require_finite(outside, itself);
  require_finite(factor, itself);
  for (const Factor& each : factor->monomials[0].factors)  // 0 * -inf
    require(Condition::NonZero, of(each.atom), itself);
  const Quiet was_required(*this);
  return add(outside, multiply_finite(factor, itself));
}

}  // namespace tilewright::algebra
