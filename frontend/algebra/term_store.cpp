// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "frontend/algebra/nodes_wall.h"
#include "frontend/base/hash.h"

namespace tilewright::algebra {

namespace {

constexpr std::size_t kMaxMonomials = 20000;
constexpr std::size_t kMaxBits = 1U << 16U;

std::uint64_t hash_of(const mpz_class& value) {
  std::uint64_t hash = static_cast<std::uint64_t>(sgn(value) + 1);
  for (std::size_t i = 0; i < mpz_size(value.get_mpz_t()); ++i)
    hash = hash_combine(hash, mpz_getlimbn(value.get_mpz_t(), static_cast<mp_size_t>(i)));
  return hash;
}

std::uint64_t hash_of(const mpq_class& value) {
  return hash_combine(hash_of(value.get_num()), hash_of(value.get_den()));
}

std::uint64_t hash_of(Term term) { return term ? term->hash : 0; }

std::uint64_t hash_of(const Constraint& constraint) {
  return hash_combine(constraint.equality ? 1 : 0, constraint.value->hash);
}

std::uint64_t content_hash(const AtomNode& atom) {
  std::uint64_t hash =
      hash_combine(static_cast<std::uint64_t>(atom.kind), static_cast<std::uint64_t>(atom.type));
  hash = hash_combine(hash, atom.name.hash());
  hash = hash_combine(hash, hash_bytes(atom.text));
  hash = hash_combine(hash, static_cast<std::uint64_t>(atom.a));
  hash = hash_combine(hash, static_cast<std::uint64_t>(atom.b));
  hash = hash_combine(hash, static_cast<std::uint64_t>(atom.num_bound));
  for (Term arg : atom.args) hash = hash_combine(hash, arg->hash);
  for (const Constraint& constraint : atom.constraints)
    hash = hash_combine(hash, hash_of(constraint));
  return hash;
}

std::uint64_t shape_of_atom(const AtomNode& atom) {
  if (atom.kind == AtomKind::Variable) return 1;
  std::uint64_t hash =
      hash_combine(static_cast<std::uint64_t>(atom.kind), static_cast<std::uint64_t>(atom.type));
  hash = hash_combine(hash, atom.name.hash());
  hash = hash_combine(hash, hash_bytes(atom.text));
  hash = hash_combine(hash, static_cast<std::uint64_t>(atom.a));
  hash = hash_combine(hash, static_cast<std::uint64_t>(atom.b));
  std::uint64_t sum = 0;  // of what has no order
  for (const Constraint& constraint : atom.constraints) sum += constraint.value->shape;
  const bool is_set = atom.kind == AtomKind::Max;
  for (Term arg : atom.args) {
    if (is_set)
      sum += arg->shape;
    else
      hash = hash_combine(hash, arg->shape);
  }
  return hash_combine(hash, sum);
}

std::uint64_t shape_of_term(const TermNode& term) {
  std::uint64_t sum = 0;
  for (const Monomial& monomial : term.monomials)
    sum += hash_combine(shape_of(monomial), hash_of(monomial.coefficient));
  for (Term special : term.special) sum = hash_combine(sum, special ? special->shape : 0);
  return sum;
}

bool same_content(const AtomNode& a, const AtomNode& b) {
  return a.kind == b.kind && a.type == b.type && a.name == b.name && a.text == b.text &&
         a.a == b.a && a.b == b.b && a.num_bound == b.num_bound && a.args == b.args &&
         a.constraints == b.constraints;
}

std::uint64_t content_hash(const TermNode& term) {
  std::uint64_t hash = term.monomials.size();
  for (const Monomial& monomial : term.monomials) {
    hash = hash_combine(hash, hash_of(monomial.coefficient));
    for (const Factor& factor : monomial.factors)
      hash = hash_combine(hash_combine(hash, factor.atom->hash), hash_of(factor.power));
    hash = hash_combine(hash, hash_of(monomial.exponent));
  }
  for (Term special : term.special) hash = hash_combine(hash, hash_of(special));
  return hash;
}

bool same_content(const TermNode& a, const TermNode& b) {
  if (a.monomials.size() != b.monomials.size()) return false;
  for (int i = 0; i < kNumSpecials; ++i)
    if (!(a.special[i] == b.special[i])) return false;
  for (std::size_t i = 0; i < a.monomials.size(); ++i)
    if (compare_keys(a.monomials[i], b.monomials[i]) != 0 ||
        a.monomials[i].coefficient != b.monomials[i].coefficient)
      return false;
  return true;
}

void insert_all(std::vector<Atom>& into, const std::vector<Atom>& more) {
  for (Atom atom : more)
    if (!contains(into, atom)) into.push_back(atom);
}

void insert_free(std::vector<Atom>& into, int& height, Term term) {
  if (!term) return;
  insert_all(into, term->free);
  height = std::max(height, term->height);
}

bool is_bound_here(Atom variable, int height) {
  return variable->b >= 0 && !variable->name.valid() && variable->a == height &&
         variable->text == "bound";
}

bool has_condition(const Monomial& monomial) {
  return std::any_of(monomial.factors.begin(), monomial.factors.end(),
                     [](const Factor& factor) { return is_bool(factor.atom); });
}

bool has_condition(Term term) {
  return std::any_of(term->monomials.begin(), term->monomials.end(),
                     [](const Monomial& monomial) { return has_condition(monomial); });
}

std::uint64_t hash_without_conditions(const Monomial& monomial) {
  std::uint64_t hash = hash_of(monomial.exponent);
  for (const Factor& factor : monomial.factors)
    if (!is_bool(factor.atom))
      hash = hash_combine(hash_combine(hash, factor.atom->hash), hash_of(factor.power));
  return hash;
}

}  // namespace

bool atom_less(Atom a, Atom b) {
  return a->hash != b->hash ? a->hash < b->hash : a->index < b->index;
}

bool term_less(Term a, Term b) {
  if (a == b) return false;
  if (!a || !b) return !a;
  return a->hash != b->hash ? a->hash < b->hash : a->index < b->index;
}

bool contains(const std::vector<Atom>& free, Atom variable) {
  return std::find(free.begin(), free.end(), variable) != free.end();
}

bool intersects(const std::vector<Atom>& a, const std::vector<Atom>& b) {
  return std::any_of(a.begin(), a.end(), [&](Atom atom) { return contains(b, atom); });
}

std::uint64_t shape_of(const Monomial& monomial) {
  std::uint64_t sum = 0;
  for (const Factor& factor : monomial.factors)
    sum += hash_combine(factor.atom->shape, hash_of(factor.power));
  return hash_combine(sum, monomial.exponent ? monomial.exponent->shape : 0);
}

mpq_class leading_coefficient(const std::vector<Monomial>& monomials) {
  const Monomial* first = nullptr;
  for (const Monomial& monomial : monomials)
    if ((!monomial.factors.empty() || monomial.exponent) &&
        (!first || shape_of(monomial) < shape_of(*first)))
      first = &monomial;
  return first ? first->coefficient : mpq_class(0);
}

std::vector<Atom> free_of(const Monomial& monomial) {
  std::vector<Atom> free;
  for (const Factor& factor : monomial.factors) insert_all(free, factor.atom->free);
  if (monomial.exponent) insert_all(free, monomial.exponent->free);
  return free;
}

int compare_keys(const Monomial& a, const Monomial& b) {
  const std::size_t common = std::min(a.factors.size(), b.factors.size());
  for (std::size_t i = 0; i < common; ++i) {
    const Factor& x = a.factors[i];
    const Factor& y = b.factors[i];
    if (x.atom != y.atom) return atom_less(x.atom, y.atom) ? -1 : 1;
    if (x.power != y.power) return x.power < y.power ? -1 : 1;
  }
  if (a.factors.size() != b.factors.size()) return a.factors.size() < b.factors.size() ? -1 : 1;
  if (a.exponent == b.exponent) return 0;
  return term_less(a.exponent, b.exponent) ? -1 : 1;
}

Atom TermStore::Impl::atom(AtomNode node) {
  node.hash = content_hash(node);
  auto [it, end] = atom_by_hash.equal_range(node.hash);
  for (; it != end; ++it)
    if (same_content(node, *it->second)) return it->second;
  for (Term arg : node.args) insert_free(node.free, node.height, arg);
  for (const Constraint& constraint : node.constraints)
    insert_free(node.free, node.height, constraint.value);
  if (node.num_bound > 0) {
    ++node.height;
    std::erase_if(node.free, [&](Atom v) { return is_bound_here(v, node.height); });
  }
  node.shape = shape_of_atom(node);
  node.index = static_cast<std::uint32_t>(atoms.size());
  atoms.push_back(std::move(node));
  AtomNode& kept = atoms.back();
  if (kept.kind == AtomKind::Variable) kept.free = {&kept};
  atom_by_hash.emplace(kept.hash, &kept);
  return &kept;
}

// Precondition: sorted by key, keys distinct, no coefficient zero.
Term TermStore::Impl::make(std::vector<Monomial> monomials, Term neg, Term pos, Term not_a_number) {
  TermNode node;
  node.monomials = std::move(monomials);
  const Term special[] = {neg, pos, not_a_number};
  for (int i = 0; i < kNumSpecials; ++i)
    node.special[i] = special[i] && !is_zero(special[i]) ? special[i] : Term();
  node.hash = content_hash(node);
  auto [it, end] = term_by_hash.equal_range(node.hash);
  for (; it != end; ++it)
    if (same_content(node, *it->second)) return Term(it->second);
  for (const Monomial& monomial : node.monomials) {
    for (const Factor& factor : monomial.factors) {
      insert_all(node.free, factor.atom->free);
      node.height = std::max(node.height, factor.atom->height);
    }
    insert_free(node.free, node.height, monomial.exponent);
  }
  for (Term term : node.special) insert_free(node.free, node.height, term);
  if (node.monomials.size() > kMaxMonomials) return unknown(node.free);
  for (const Monomial& monomial : node.monomials)
    if (mpz_sizeinbase(monomial.coefficient.get_num_mpz_t(), 2) > kMaxBits ||
        mpz_sizeinbase(monomial.coefficient.get_den_mpz_t(), 2) > kMaxBits)
      return unknown(node.free);
  node.shape = shape_of_term(node);
  node.index = static_cast<std::uint32_t>(terms.size());
  terms.push_back(std::move(node));
  term_by_hash.emplace(terms.back().hash, &terms.back());
  return Term(&terms.back());
}

Term TermStore::Impl::unknown(const std::vector<Atom>& of_atoms) {
  limit_reached = true;
  AtomNode node;
  node.kind = AtomKind::Unknown;
  node.a = num_unknown++;
  for (Atom variable : of_atoms) node.args.push_back(of(variable));
  return of(atom(std::move(node)));
}

Term TermStore::Impl::of(Atom atom) {
  Monomial monomial;
  monomial.factors.push_back({atom, 1});
  return make({std::move(monomial)});
}

Term TermStore::Impl::of(Monomial monomial) {
  if (monomial.coefficient == 0) return make({});
  return make({std::move(monomial)});
}

Term TermStore::Impl::constant(const mpq_class& value) {
  Monomial monomial;
  monomial.coefficient = value;
  return of(std::move(monomial));
}

const mpq_class* TermStore::Impl::constant_of(Term a) const {
  static const mpq_class zero = 0;
  if (!a->is_finite_form()) return nullptr;
  if (a->monomials.empty()) return &zero;
  const Monomial& first = a->monomials[0];
  return a->monomials.size() == 1 && first.factors.empty() && !first.exponent ? &first.coefficient
                                                                              : nullptr;
}

bool TermStore::Impl::is_one(Term a) const {
  const mpq_class* value = constant_of(a);
  return value && *value == 1;
}

Atom TermStore::Impl::single_atom(Term a) const {
  if (!a->is_finite_form() || a->monomials.size() != 1) return nullptr;
  const Monomial& first = a->monomials[0];
  return first.coefficient == 1 && !first.exponent && first.factors.size() == 1 &&
                 first.factors[0].power == 1
             ? first.factors[0].atom
             : nullptr;
}

Term TermStore::Impl::finite_part(Term a) { return a->is_finite_form() ? a : make(a->monomials); }

Term TermStore::Impl::add(Term a, Term b) {
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  if (!a->is_finite_form() || !b->is_finite_form()) {
    Term special[kNumSpecials];
    for (int i = 0; i < kNumSpecials; ++i) {
      const Term x = a->special[i];
      const Term y = b->special[i];
      special[i] = !x ? y : !y ? x : store.either(x, y);
    }
    if (special[kNegInf] && special[kPosInf])
      require(Condition::Never, guard(special[kNegInf], special[kPosInf]));
    if (a->special[kNegInf]) require_below_infinity(finite_part(b));
    if (b->special[kNegInf]) require_below_infinity(finite_part(a));
    if (a->special[kPosInf]) require_finite(finite_part(b));
    if (b->special[kPosInf]) require_finite(finite_part(a));
    Term sum = add(finite_part(a), finite_part(b));
    for (Term condition : special)
      if (condition) sum = guard(store.negation(condition), sum);
    return make(sum->monomials, special[kNegInf], special[kPosInf], special[kNan]);
  }
  std::vector<Monomial> out;
  auto i = a->monomials.begin();
  auto j = b->monomials.begin();
  while (i != a->monomials.end() || j != b->monomials.end()) {
    const int order = i == a->monomials.end()   ? 1
                      : j == b->monomials.end() ? -1
                                                : compare_keys(*i, *j);
    if (order != 0) {
      out.push_back(order < 0 ? *i++ : *j++);
      continue;
    }
    Monomial sum = *i++;
    sum.coefficient += (j++)->coefficient;
    if (sum.coefficient != 0) {
      out.push_back(std::move(sum));
    } else if (quiet == 0) {
      require_finite(sum);
    }
  }
  // What cancels under some conditions only.
  if (quiet == 0 && (has_condition(a) || has_condition(b)))
    for (const Monomial& x : a->monomials)
      for (const Monomial& y : b->monomials)
        if ((has_condition(x) || has_condition(y)) && sgn(x.coefficient) != sgn(y.coefficient) &&
            hash_without_conditions(x) == hash_without_conditions(y))
          require_finite(x);
  return make(std::move(out));
}

Term TermStore::Impl::scale(Term a, const mpq_class& by) {
  std::vector<Monomial> monomials = a->monomials;
  for (Monomial& monomial : monomials) monomial.coefficient *= by;
  const bool turn = by < 0;
  return make(std::move(monomials), a->special[turn ? kPosInf : kNegInf],
              a->special[turn ? kNegInf : kPosInf], a->special[kNan]);
}

// a + b. What cancels stood beside a factor that may be an empty sum.
Term TermStore::Impl::add_exponents(Term a, Term b, Term unless) {
  if (!a || !b) return a ? a : b;
  Term sum;
  {
    const Quiet no_conditions(*this);
    sum = add(a, b);
  }
  if (quiet == 0)
    for (const Monomial& x : a->monomials)
      for (const Monomial& y : b->monomials)
        if (sgn(x.coefficient) != sgn(y.coefficient) &&
            hash_without_conditions(x) == hash_without_conditions(y))
          require_finite(x, unless);
  return is_zero(sum) ? Term() : sum;
}

// May be a sum: roots that meet, powers of sums that become natural, exp of logarithms.
Term TermStore::Impl::multiply(const Monomial& a, const Monomial& b) {
  Monomial out;
  out.coefficient = a.coefficient * b.coefficient;
  std::vector<std::pair<Atom, mpq_class>> powers_of_bases;
  Term unless;  // a sum that, when it is empty, makes the product 0 whatever cancels
  for (const Monomial* each : {&a, &b})
    for (const Factor& factor : each->factors)
      if (factor.atom->kind == AtomKind::Sum && factor.power == 1) unless = of(factor.atom);
  auto i = a.factors.begin();
  auto j = b.factors.begin();
  while (i != a.factors.end() || j != b.factors.end()) {
    const bool left = j == b.factors.end() ||
                      (i != a.factors.end() && i->atom != j->atom && atom_less(i->atom, j->atom));
    const bool meet = i != a.factors.end() && j != b.factors.end() && i->atom == j->atom;
    if (!meet) {
      out.factors.push_back(left ? *i++ : *j++);
      continue;
    }
    Factor factor = *i;
    const mpq_class& x = i++->power;
    const mpq_class& y = j++->power;
    factor.power = is_bool(factor.atom) ? mpq_class(1) : mpq_class(x + y);
    const Term itself = of(factor.atom);
    if (sgn(x) != sgn(y)) {
      require(Condition::NonZero, itself, unless == itself ? Term() : unless);
      require_finite(Factor{factor.atom, 1}, unless == itself ? Term() : unless);
    }
    if ((x.get_den() != 1 || y.get_den() != 1) && factor.power.get_den() == 1)
      require(Condition::NonNegative, itself);
    if (factor.power == 0) continue;
    const bool is_root = factor.atom->kind == AtomKind::Constant && factor.atom->a != 0;
    if ((factor.atom->kind == AtomKind::Base && factor.power >= 1) ||
        (is_root && (factor.power >= 1 || factor.power < 0)))
      powers_of_bases.emplace_back(factor.atom, factor.power);
    else
      out.factors.push_back(factor);
  }
  out.exponent = add_exponents(a.exponent, b.exponent, unless);
  Term result = of(std::move(out));
  for (const auto& [atom, by] : powers_of_bases) {
    const Term more =
        atom->kind == AtomKind::Base ? power(atom->args[0], by) : root(mpq_class(atom->a), by);
    result = multiply_finite(result, more);
  }
  return result;
}

Term TermStore::Impl::multiply_finite(Term a, Term b) {
  if (a->monomials.size() > 1 && b->monomials.size() > 1 &&
      a->monomials.size() * b->monomials.size() > kMaxMonomials) {
    std::vector<Atom> free = a->free;
    insert_all(free, b->free);
    return unknown(free);
  }
  if (quiet == 0) {
    if (a->monomials.size() > 1) require_finite(b);
    if (b->monomials.size() > 1) require_finite(a);
    if (a->monomials.empty()) require_finite(b);
    if (b->monomials.empty()) require_finite(a);
  }
  // Pairs first: additions of long sums one by one are quadratic.
  std::vector<Term> parts;
  for (const Monomial& x : a->monomials)
    for (const Monomial& y : b->monomials) parts.push_back(multiply(x, y));
  while (parts.size() > 1) {
    std::vector<Term> next;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
      next.push_back(add(parts[i], parts[i + 1]));
    if (parts.size() % 2 == 1) next.push_back(parts.back());
    parts = std::move(next);
  }
  return parts.empty() ? make({}) : parts[0];
}

Term TermStore::Impl::multiply(Term a, Term b) {
  if (const mpq_class* c = constant_of(a); c && *c != 0) return scale(b, *c);
  if (const mpq_class* c = constant_of(b); c && *c != 0) return scale(a, *c);
  if (a->is_finite_form() && b->is_finite_form()) return multiply_finite(a, b);
  if (a->is_finite_form()) std::swap(a, b);
  if (!b->is_finite_form() || !is_non_negative(b)) {
    const Term args[] = {a, b};
    return store.call("product", args, ir::ScalarType::F64);
  }
  require(Condition::Positive, b);
  const Term product = multiply_finite(finite_part(a), b);
  return make(product->monomials, a->special[kNegInf], a->special[kPosInf], a->special[kNan]);
}

Term TermStore::Impl::guard(Term condition, Term value) {
  const Quiet no_conditions(*this);
  if (is_one(condition)) return value;
  if (is_zero(condition)) return condition;
  const Term product = multiply_finite(condition, finite_part(value));
  if (value->is_finite_form()) return product;
  Term special[kNumSpecials];
  for (int i = 0; i < kNumSpecials; ++i)
    if (value->special[i]) special[i] = multiply_finite(condition, value->special[i]);
  return make(product->monomials, special[0], special[1], special[2]);
}

void TermStore::Impl::require(Condition condition, Term term, Term unless) {
  if (quiet > 0) return;
  if (const mpq_class* value = constant_of(term)) {
    const int sign = sgn(*value);
    if (condition == Condition::Finite || condition == Condition::NotPosInf) return;
    if (condition == Condition::NonZero && sign != 0) return;
    if (condition == Condition::NonNegative && sign >= 0) return;
    if (condition == Condition::Positive && sign > 0) return;
    if (condition == Condition::Never && sign == 0) return;
  }
  if (condition == Condition::NonNegative && is_non_negative(term)) return;
  if (Atom atom = single_atom(term); atom && atom->kind == AtomKind::Constant) return;
  for (const Obligation& known : obligations)
    if (known.condition == condition && known.term == term && known.unless_empty == unless &&
        known.variables.empty() && !known.when)
      return;
  obligations.push_back({condition, term, unless, {}, {}, {}});
}

void TermStore::Impl::require_finite(const Factor& factor, Term unless) {
  if (factor.atom->kind == AtomKind::Constant) return;
  if (!algebra::is_whole(factor.atom)) require(Condition::Finite, of(factor.atom), unless);
  if (factor.power < 0) require(Condition::NonZero, of(factor.atom), unless);
}

// A product with an empty sum is 0, whatever else stands in it.
void TermStore::Impl::require_finite(const Monomial& monomial, Term unless) {
  if (quiet > 0) return;
  for (const Factor& factor : monomial.factors)
    if (!unless && factor.atom->kind == AtomKind::Sum && factor.power == 1)
      unless = of(factor.atom);
  for (const Factor& factor : monomial.factors) require_finite(factor, unless);
  if (monomial.exponent) require_below_infinity(monomial.exponent, unless);
}

// A summand that is an atom may be -inf.
void TermStore::Impl::require_below_infinity(Term term, Term unless) {
  for (const Monomial& part : term->monomials) {
    const bool may_be_low = sgn(part.coefficient) > 0 && !part.exponent &&
                            part.factors.size() == 1 && part.factors[0].power == 1;
    if (!may_be_low)
      require_finite(part, unless);
    else if (const Atom atom = part.factors[0].atom;
             !algebra::is_whole(atom) && atom->kind != AtomKind::Constant)
      require(Condition::NotPosInf, of(atom), unless);
  }
}

void TermStore::Impl::require_finite(Term term, Term unless) {
  for (const Monomial& monomial : term->monomials) require_finite(monomial, unless);
}

}  // namespace tilewright::algebra
