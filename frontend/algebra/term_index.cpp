// SPDX-License-Identifier: Apache-2.0
//
// Integers: floor divisions, conditions on index terms, arithmetic modulo a width. A floor keeps nothing that is
// an integer by itself, and of its two readings, floor(x) and -floor(-x) one step lower, the one with the lesser
// coefficients. A condition `a >= 0` has coprime coefficients and stands for `not (-a-1 >= 0)` too.
#include <algorithm>
#include <map>

#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

namespace {

mpz_class floor_of(const mpq_class& value) {
  mpz_class out;
  mpz_fdiv_q(out.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
  return out;
}

bool is_number(const Monomial& monomial) { return monomial.factors.empty() && !monomial.exponent; }

// All factors are integers.
bool is_whole_product(const Monomial& monomial) {
  return !monomial.exponent &&
         std::all_of(monomial.factors.begin(), monomial.factors.end(), [](const Factor& factor) {
           return is_whole(factor.atom) && factor.power.get_den() == 1 && factor.power > 0;
         });
}

mpq_class constant_part(Term a) {
  for (const Monomial& monomial : a->monomials)
    if (is_number(monomial)) return monomial.coefficient;
  return 0;
}

mpq_class sum_of_coefficients(Term a) {
  mpq_class sum = 0;
  for (const Monomial& monomial : a->monomials)
    if (!is_number(monomial)) sum += monomial.coefficient;
  return sum;
}

mpz_class common_denominator(Term a, bool with_constant) {
  mpz_class out = 1;
  for (const Monomial& monomial : a->monomials)
    if (with_constant || !is_number(monomial)) out = lcm(out, monomial.coefficient.get_den());
  return out;
}

struct Range {
  mpz_class low;
  mpz_class high;
};

std::optional<Range> range_of_type(ir::ScalarType type) {
  if (type == ir::ScalarType::Bool) return Range{0, 1};
  if (!ir::is_integer(type)) return std::nullopt;
  const int width = ir::type_info(type).width;
  const mpz_class size = mpz_class(1) << static_cast<unsigned>(width);
  if (ir::is_unsigned(type)) return Range{0, size - 1};
  return Range{-size / 2, size / 2 - 1};
}

std::optional<Range> range_of(Term a) {
  Range sum{0, 0};
  for (const Monomial& monomial : a->monomials) {
    if (!is_whole_product(monomial) || monomial.coefficient.get_den() != 1) return std::nullopt;
    Range product{monomial.coefficient.get_num(), monomial.coefficient.get_num()};
    for (const Factor& factor : monomial.factors) {
      const std::optional<Range> one = range_of_type(factor.atom->type);
      if (!one || factor.power > 8) return std::nullopt;
      for (long i = 0; i < factor.power.get_num().get_si(); ++i) {
        const mpz_class corners[] = {product.low * one->low, product.low * one->high,
                                     product.high * one->low, product.high * one->high};
        product = {*std::min_element(corners, corners + 4),
                   *std::max_element(corners, corners + 4)};
      }
    }
    sum.low += product.low;
    sum.high += product.high;
  }
  return sum;
}

// A condition that holds for all values of extents, or for none.
std::optional<bool> known_sign(Term a) {
  bool all_positive = true;
  bool all_negative = true;
  for (const Monomial& monomial : a->monomials) {
    const bool known =
        std::all_of(monomial.factors.begin(), monomial.factors.end(), [](const Factor& factor) {
          return factor.atom->kind == AtomKind::Extent || ir::is_unsigned(factor.atom->type) ||
                 is_bool(factor.atom) || factor.power.get_num() % 2 == 0;
        });
    if (sgn(monomial.coefficient) < 0 || !known) all_positive = false;
    if (sgn(monomial.coefficient) > 0 || !known) all_negative = false;
  }
  if (all_positive) return true;
  if (all_negative && constant_part(a) < 0) return false;
  return std::nullopt;
}

}  // namespace

bool TermStore::Impl::is_whole(Term a) const {
  return a->is_finite_form() &&
         std::all_of(a->monomials.begin(), a->monomials.end(), [](const Monomial& monomial) {
           return monomial.coefficient.get_den() == 1 && is_whole_product(monomial);
         });
}

Term TermStore::Impl::floor(Term a) {
  if (!a->is_finite_form()) {
    const Term args[] = {a};
    return store.call("floor", args, ir::ScalarType::F64);
  }
  // What is an integer by itself leaves; what remains has coefficients in [0, 1).
  Term outside = make({});
  Term rest = make({});
  for (const Monomial& monomial : a->monomials) {
    if (!is_whole_product(monomial)) {
      rest = add(rest, of(monomial));
      continue;
    }
    Monomial part = monomial;
    part.coefficient = floor_of(monomial.coefficient);
    outside = add(outside, of(part));
    part.coefficient = monomial.coefficient - part.coefficient;
    rest = add(rest, of(std::move(part)));
  }
  const bool whole_products =
      std::all_of(rest->monomials.begin(), rest->monomials.end(), is_whole_product);
  if (!whole_products) {
    if (is_zero(rest)) return outside;
    AtomNode node;
    node.kind = AtomKind::Floor;
    node.type = ir::ScalarType::Index;
    node.args = {rest};
    return add(outside, of(atom(std::move(node))));
  }
  const mpz_class d = common_denominator(rest, false);
  if (d == 1) return outside;  // the constant is in [0, 1)
  // floor((floor(x) + y) / d) = floor((x + y) / d) for an integer y.
  const Monomial* inner = nullptr;
  int num_inner = 0;
  for (const Monomial& monomial : rest->monomials)
    if (monomial.coefficient == mpq_class(1, d) && monomial.factors.size() == 1 &&
        monomial.factors[0].power == 1 && monomial.factors[0].atom->kind == AtomKind::Floor) {
      inner = &monomial;
      ++num_inner;
    }
  const auto round_constant = [&](Term term) {
    const mpq_class constant_now = constant_part(term);
    const mpq_class rounded = mpq_class(floor_of(constant_now * d)) / d;
    return add(term, constant(rounded - constant_now));
  };
  rest = round_constant(rest);
  if (num_inner == 1) {
    const Term replaced = add(add(rest, scale(of(*inner), -1)),
                              scale(inner->factors[0].atom->args[0], mpq_class(1, d)));
    return add(outside, floor(replaced));
  }
  // floor(x) = -floor(-x + (d-1)/d), whose coefficients are 1 minus these.
  Term other = make({});
  Term other_outside = make({});
  for (const Monomial& monomial : rest->monomials) {
    if (is_number(monomial)) continue;
    Monomial part = monomial;
    part.coefficient = 1 - monomial.coefficient;
    other = add(other, of(part));
    part.coefficient = 1;
    other_outside = add(other_outside, of(std::move(part)));
  }
  const mpq_class other_constant = mpq_class(d - 1) / d - constant_part(rest);
  other = add(other, constant(other_constant));
  const mpq_class sum = sum_of_coefficients(rest);
  const mpq_class other_sum = sum_of_coefficients(other);
  const mpq_class here = constant_part(rest);
  const bool turn = sum != other_sum         ? other_sum < sum
                    : here != other_constant ? other_constant < here
                                             : leading_coefficient(other->monomials) <
                                                   leading_coefficient(rest->monomials);
  AtomNode node;
  node.kind = AtomKind::Floor;
  node.type = ir::ScalarType::Index;
  node.args = {turn ? other : rest};
  const Term inside = of(atom(std::move(node)));
  return turn ? add(add(outside, other_outside), scale(inside, -1)) : add(outside, inside);
}

// Inside of a wrap, wraps of at least this width do nothing.
Term TermStore::Impl::wrap(ir::ScalarType type, Term a) {
  const int width = ir::type_info(type).width;
  const auto strip = [&](Atom inner) -> Term {
    if (inner->kind == AtomKind::Wrap && ir::type_info(inner->type).width >= width)
      return inner->args[0];
    return of(inner);
  };
  Term inside = make({});
  for (const Monomial& monomial : a->monomials) {
    if (!is_whole_product(monomial) || monomial.coefficient.get_den() != 1) {
      inside = add(inside, of(monomial));
      continue;
    }
    mpz_class coefficient = monomial.coefficient.get_num();
    const mpz_class size = mpz_class(1) << static_cast<unsigned>(width);
    mpz_fdiv_r(coefficient.get_mpz_t(), coefficient.get_mpz_t(), size.get_mpz_t());
    if (coefficient > size / 2) coefficient -= size;
    if (coefficient == 0) continue;
    Term product = constant(mpq_class(coefficient));
    for (const Factor& factor : monomial.factors)
      product = multiply_finite(product, power(strip(factor.atom), factor.power));
    inside = add(inside, product);
  }
  const std::optional<Range> range = range_of(inside);
  const std::optional<Range> limits = range_of_type(type);
  if (range && limits && limits->low <= range->low && range->high <= limits->high) return inside;
  AtomNode node;
  node.kind = AtomKind::Wrap;
  node.type = type;
  node.args = {inside};
  return of(atom(std::move(node)));
}

Term TermStore::Impl::at_least_zero(Term a) {
  const Quiet no_conditions(*this);  // integers are finite
  if (const mpq_class* value = constant_of(a)) return constant(*value >= 0 ? 1 : 0);
  const mpz_class d = common_denominator(a, true);
  Term scaled = scale(a, mpq_class(d));
  mpz_class divisor = 0;
  for (const Monomial& monomial : scaled->monomials)
    if (!is_number(monomial)) divisor = gcd(divisor, monomial.coefficient.get_num());
  const bool whole = is_whole(scaled);
  if (whole) {
    const mpq_class c = constant_part(scaled);
    scaled = add(scaled, constant(-c));
    scaled = add(scale(scaled, mpq_class(1) / divisor), constant(floor_of(c / divisor)));
  }
  if (const std::optional<bool> known = known_sign(scaled)) return constant(*known ? 1 : 0);
  int balance = 0;
  for (const Monomial& monomial : scaled->monomials)
    if (!is_number(monomial)) balance += sgn(monomial.coefficient);
  const mpq_class sum = sum_of_coefficients(scaled);
  const bool turn = whole && (balance != 0 ? balance < 0
                              : sum != 0   ? sum < 0
                                           : leading_coefficient(scaled->monomials) < 0);
  AtomNode node;
  node.kind = AtomKind::AtLeast;
  node.type = ir::ScalarType::Bool;
  node.args = {turn ? add(scale(scaled, -1), constant(-1)) : scaled};
  const Term condition = of(atom(std::move(node)));
  return turn ? store.negation(condition) : condition;
}

Term TermStore::Impl::is_zero_condition(Term a) {
  const Quiet no_conditions(*this);
  if (const mpq_class* value = constant_of(a)) return constant(*value == 0 ? 1 : 0);
  Term scaled = scale(a, mpq_class(common_denominator(a, true)));
  mpz_class divisor = 0;
  for (const Monomial& monomial : scaled->monomials)
    if (!is_number(monomial)) divisor = gcd(divisor, monomial.coefficient.get_num());
  if (is_whole(scaled) && constant_part(scaled).get_num() % divisor != 0) return constant(0);
  scaled = scale(scaled, mpq_class(1) / divisor);
  const Term opposite = scale(scaled, -1);
  const mpq_class sum = sum_of_coefficients(scaled);
  const bool turn = sum != 0 ? sum < 0 : leading_coefficient(scaled->monomials) < 0;
  AtomNode node;
  node.kind = AtomKind::Zero;
  node.type = ir::ScalarType::Bool;
  node.args = {turn ? opposite : scaled};
  return of(atom(std::move(node)));
}

Term TermStore::Impl::less(Term a, Term b) {
  if (is_whole(a) && is_whole(b)) {
    const Quiet no_conditions(*this);
    return at_least_zero(add(add(b, scale(a, -1)), constant(-1)));
  }
  if (a == b) return constant(0);
  const mpq_class* x = constant_of(a);
  const mpq_class* y = constant_of(b);
  if (x && y) return constant(*x < *y ? 1 : 0);
  AtomNode node;
  node.kind = AtomKind::Less;
  node.type = ir::ScalarType::Bool;
  node.args = {a, b};
  return of(atom(std::move(node)));
}

Term TermStore::Impl::equal_to(Term a, Term b) {
  if (a == b) return constant(1);
  if (is_whole(a) && is_whole(b)) {
    const Quiet no_conditions(*this);
    return is_zero_condition(add(a, scale(b, -1)));
  }
  AtomNode node;
  node.kind = AtomKind::Call;
  node.text = "equal";
  node.type = ir::ScalarType::Bool;
  node.args = {a, b};
  if (term_less(node.args[1], node.args[0])) std::swap(node.args[0], node.args[1]);
  return of(atom(std::move(node)));
}

// Of constraints with the same linear part the strongest stays; opposite ones that leave one value are an equality.
std::optional<Conjunction> TermStore::Impl::tidy(const Conjunction& conjunction) {
  const Quiet no_conditions(*this);
  Conjunction equalities;
  std::vector<std::pair<Term, mpq_class>> bounds;  // linear part + constant >= 0
  for (const Constraint& constraint : conjunction) {
    const Term a = constraint.value;
    if (const mpq_class* value = constant_of(a)) {
      if (constraint.equality ? *value != 0 : *value < 0) return std::nullopt;
      continue;
    }
    if (constraint.equality) {
      const Term condition = is_zero_condition(a);
      if (is_zero(condition)) return std::nullopt;
      if (is_one(condition)) continue;
      equalities.push_back({single_atom(condition)->args[0], true});
      continue;
    }
    const Term condition = at_least_zero(a);
    if (is_zero(condition)) return std::nullopt;
    if (is_one(condition)) continue;
    Atom itself = single_atom(condition);
    Term value = itself ? itself->args[0] : Term();
    if (!itself) {  // not (b >= 0)
      const Atom opposite = single_atom(store.negation(condition));
      value = add(scale(opposite->args[0], -1), constant(-1));
    }
    const mpq_class c = constant_part(value);
    const Term linear = add(value, constant(-c));
    const auto same = std::find_if(bounds.begin(), bounds.end(),
                                   [&](const auto& bound) { return bound.first == linear; });
    if (same == bounds.end())
      bounds.emplace_back(linear, c);
    else if (c < same->second)
      same->second = c;
  }
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const Term opposite = scale(bounds[i].first, -1);
    for (std::size_t j = i + 1; j < bounds.size(); ++j) {
      if (!(bounds[j].first == opposite)) continue;
      const mpq_class room = bounds[i].second + bounds[j].second;
      if (room < 0) return std::nullopt;
      if (room > 0) break;
      const Term value = add(bounds[i].first, constant(bounds[i].second));
      equalities.push_back({single_atom(is_zero_condition(value))->args[0], true});
      bounds.erase(bounds.begin() + static_cast<std::ptrdiff_t>(j));
      bounds.erase(bounds.begin() + static_cast<std::ptrdiff_t>(i));
      --i;
      break;
    }
  }
  Conjunction out = std::move(equalities);
  for (const auto& [linear, c] : bounds) out.push_back({add(linear, constant(c)), false});
  std::sort(out.begin(), out.end(), [](const Constraint& a, const Constraint& b) {
    if (a.equality != b.equality) return a.equality;
    return term_less(a.value, b.value);
  });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace tilewright::algebra
