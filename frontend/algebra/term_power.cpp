// SPDX-License-Identifier: Apache-2.0
//
// Powers, exponentials, logarithms, and the cases of a term by the conditions in it. A sum under a power other than
// a natural number is taken apart into a common monomial and a Base, whose monomials have nothing in common: the
// least power of each atom and the least multiple of each part of the exponents, which do not depend on what the
// sum was multiplied with.
#include <algorithm>

#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

namespace {

constexpr int kMaxCases = 8;
constexpr long kMaxPower = 32;

mpq_class natural_power(const mpq_class& value, long by) {
  mpq_class out;
  const auto up = static_cast<unsigned long>(by < 0 ? -by : by);
  mpz_pow_ui(out.get_num_mpz_t(), value.get_num_mpz_t(), up);
  mpz_pow_ui(out.get_den_mpz_t(), value.get_den_mpz_t(), up);
  return by < 0 ? mpq_class(1 / out) : out;
}

bool fits(const mpq_class& value, long limit) { return abs(value) <= limit; }

// Takes every factor `prime` out of the value.
long take_prime(mpz_class& value, unsigned long prime) {
  const mpz_class p = prime;
  return static_cast<long>(mpz_remove(value.get_mpz_t(), value.get_mpz_t(), p.get_mpz_t()));
}

const mpq_class* power_in(const Monomial& monomial, Atom atom) {
  for (const Factor& factor : monomial.factors)
    if (factor.atom == atom) return &factor.power;
  return nullptr;
}

const mpq_class* coefficient_in(Term sum, const Monomial& key) {
  if (!sum) return nullptr;
  for (const Monomial& monomial : sum->monomials)
    if (compare_keys(monomial, key) == 0) return &monomial.coefficient;
  return nullptr;
}

// Greatest common divisor of the coefficients.
mpq_class content(const std::vector<Monomial>& monomials) {
  mpz_class numerator = 0;
  mpz_class denominator = 1;
  for (const Monomial& monomial : monomials) {
    numerator = gcd(numerator, monomial.coefficient.get_num());
    denominator = lcm(denominator, monomial.coefficient.get_den());
  }
  mpq_class out(numerator, denominator);
  out.canonicalize();
  return out;
}

// Whether the sum is turned so that more of it is positive.
bool is_mostly_negative(const std::vector<Monomial>& monomials) {
  long balance = 0;
  mpq_class sum = 0;
  for (const Monomial& monomial : monomials) {
    balance += sgn(monomial.coefficient);
    sum += monomial.coefficient;
  }
  if (balance != 0) return balance < 0;
  if (sum != 0) return sum < 0;
  return leading_coefficient(monomials) < 0;
}

Atom first_condition(Term a) {
  Atom first = nullptr;
  for (const Monomial& monomial : a->monomials)
    for (const Factor& factor : monomial.factors)
      if (is_bool(factor.atom) && (!first || atom_less(factor.atom, first))) first = factor.atom;
  return first;
}

int num_conditions(Term a) {
  std::vector<Atom> seen;
  for (const Monomial& monomial : a->monomials)
    for (const Factor& factor : monomial.factors)
      if (is_bool(factor.atom) && !contains(seen, factor.atom)) seen.push_back(factor.atom);
  return static_cast<int>(seen.size());
}

}  // namespace

Term TermStore::Impl::assume(Term a, Atom condition, bool value) {
  const Quiet no_conditions(*this);
  Term out = make({});
  std::vector<Monomial> kept;
  for (const Monomial& monomial : a->monomials) {
    if (!power_in(monomial, condition)) {
      kept.push_back(monomial);
      continue;
    }
    if (!value) continue;
    Monomial without = monomial;
    std::erase_if(without.factors, [&](const Factor& f) { return f.atom == condition; });
    out = add(out, of(std::move(without)));
  }
  out = add(out, make(std::move(kept)));
  Term special[kNumSpecials];
  for (int i = 0; i < kNumSpecials; ++i)
    if (a->special[i]) special[i] = assume(a->special[i], condition, value);
  return make(out->monomials, special[0], special[1], special[2]);
}

Term TermStore::Impl::by_cases(Term a, const std::function<Term(Term)>& f) {
  const Atom condition = first_condition(a);
  if (!condition || num_conditions(a) > kMaxCases) return f(a);
  const Term yes = by_cases(assume(a, condition, true), f);
  const Term no = by_cases(assume(a, condition, false), f);
  return store.select(of(condition), yes, no);
}

bool TermStore::Impl::is_non_negative(const Factor& factor) const {
  const Atom atom = factor.atom;
  if (factor.power.get_den() % 2 == 0) return true;  // a root, where there is one
  if (factor.power.get_num() % 2 == 0) return true;
  switch (atom->kind) {
    case AtomKind::Extent:
    case AtomKind::Constant:
    case AtomKind::AtLeast:
    case AtomKind::Zero:
    case AtomKind::Less: return true;
    case AtomKind::Base:
    case AtomKind::Sum: return is_non_negative(atom->args[0]);
    case AtomKind::Max:
      return std::any_of(atom->args.begin(), atom->args.end(),
                         [&](Term arg) { return is_non_negative(arg); });
    default: return is_bool(atom) || ir::is_unsigned(atom->type);
  }
}

bool TermStore::Impl::is_non_negative(Term a) const {
  if (!a->is_finite_form()) return false;
  return std::all_of(a->monomials.begin(), a->monomials.end(), [&](const Monomial& monomial) {
    return sgn(monomial.coefficient) > 0 &&
           std::all_of(monomial.factors.begin(), monomial.factors.end(),
                       [&](const Factor& factor) { return is_non_negative(factor); });
  });
}

Term TermStore::Impl::root(const mpq_class& value, const mpq_class& by) {
  Monomial out;
  mpz_class numerator = value.get_num();
  mpz_class denominator = value.get_den();
  const auto place = [&](const mpz_class& base, const mpq_class& exponent) {
    mpz_class whole;
    mpz_fdiv_q(whole.get_mpz_t(), exponent.get_num_mpz_t(), exponent.get_den_mpz_t());
    out.coefficient *= natural_power(mpq_class(base), whole.get_si());
    const mpq_class rest = exponent - whole;
    if (rest == 0) return;
    AtomNode node;
    if (base.fits_slong_p()) {
      node.kind = AtomKind::Constant;
      node.a = base.get_si();
    } else {
      node.kind = AtomKind::Base;
      node.args = {constant(mpq_class(base))};
    }
    out.factors.push_back({atom(std::move(node)), rest});
  };
  for (unsigned long prime = 2; prime < 1000; ++prime) {
    const long times = take_prime(numerator, prime) - take_prime(denominator, prime);
    if (times != 0) place(mpz_class(prime), by * times);
  }
  if (numerator == denominator) numerator = denominator = 1;
  if (numerator != 1) place(numerator, by);
  if (denominator != 1) place(denominator, -by);
  std::sort(out.factors.begin(), out.factors.end(),
            [](const Factor& a, const Factor& b) { return atom_less(a.atom, b.atom); });
  return of(std::move(out));
}

Term TermStore::Impl::power_of(Monomial monomial, const mpq_class& by) {
  const bool natural = by.get_den() == 1;
  Term out = constant(1);
  Monomial rest;  // has no known sign
  const mpq_class size = abs(monomial.coefficient);
  if (natural) {
    out = constant(natural_power(monomial.coefficient, by.get_num().get_si()));
  } else {
    out = root(size, by);
    rest.coefficient = sgn(monomial.coefficient);
  }
  for (const Factor& factor : monomial.factors) {
    if (!natural && !is_non_negative(factor)) {
      rest.factors.push_back(factor);
      continue;
    }
    mpq_class total = factor.power * by;
    if (is_bool(factor.atom)) total = 1;
    if (factor.power.get_den() != 1 && total.get_den() == 1)
      require(Condition::NonNegative, of(factor.atom));
    if (!natural && factor.power.get_num() % 2 == 0 && factor.power.get_den() == 1 &&
        !is_non_negative(Factor{factor.atom, 1})) {
      rest.factors.push_back(factor);  // |a|, not a
      continue;
    }
    Term part;
    if (factor.atom->kind == AtomKind::Base && total >= 1) {
      part = power(factor.atom->args[0], total);
    } else if (factor.atom->kind == AtomKind::Constant && factor.atom->a != 0) {
      part = root(mpq_class(factor.atom->a), total);
    } else {
      Monomial alone;
      alone.factors.push_back({factor.atom, total});
      part = of(std::move(alone));
    }
    out = multiply_finite(out, part);
  }
  if (monomial.exponent) {
    Monomial alone;
    alone.exponent = scale(monomial.exponent, by);
    out = multiply_finite(out, of(std::move(alone)));
  }
  if (rest.factors.empty() && rest.coefficient == 1) return out;
  Monomial under;
  if (rest.coefficient == 1 && rest.factors.size() == 1 && abs(rest.factors[0].power) == 1) {
    under.factors.push_back({rest.factors[0].atom, by * rest.factors[0].power});
  } else {
    AtomNode node;
    node.kind = AtomKind::Base;
    node.args = {of(std::move(rest))};
    under.factors.push_back({atom(std::move(node)), by});
  }
  return multiply_finite(out, of(std::move(under)));
}

std::pair<Monomial, Term> TermStore::Impl::take_common(Term a, bool positive) {
  const Quiet no_conditions(*this);
  const std::vector<Monomial>& monomials = a->monomials;
  Monomial common;
  common.coefficient = content(monomials);
  // An atom that some monomial lacks has power 0 there.
  std::vector<Factor> least;
  std::vector<Monomial> exponents;
  for (const Monomial& monomial : monomials) {
    for (const Factor& factor : monomial.factors)
      if (std::none_of(least.begin(), least.end(),
                       [&](const Factor& f) { return f.atom == factor.atom; }))
        least.push_back(factor);
    if (!monomial.exponent) continue;
    for (const Monomial& part : monomial.exponent->monomials)
      if (std::none_of(exponents.begin(), exponents.end(),
                       [&](const Monomial& e) { return compare_keys(e, part) == 0; }))
        exponents.push_back(part);
  }
  for (Factor& factor : least) {
    for (const Monomial& monomial : monomials) {
      const mpq_class* found = power_in(monomial, factor.atom);
      const mpq_class power = found ? *found : mpq_class(0);
      if (power < factor.power) factor.power = power;
    }
    if (factor.power == 0 || is_bool(factor.atom)) continue;
    if (!positive || is_non_negative(Factor{factor.atom, 1})) common.factors.push_back(factor);
  }
  std::sort(common.factors.begin(), common.factors.end(),
            [](const Factor& x, const Factor& y) { return atom_less(x.atom, y.atom); });
  Term exponent = make({});
  for (Monomial& part : exponents) {
    for (const Monomial& monomial : monomials) {
      const mpq_class* found = coefficient_in(monomial.exponent, part);
      const mpq_class coefficient = found ? *found : mpq_class(0);
      if (coefficient < part.coefficient) part.coefficient = coefficient;
    }
    if (part.coefficient != 0) exponent = add(exponent, of(part));
  }
  if (!is_zero(exponent)) common.exponent = exponent;
  Monomial inverse;
  inverse.coefficient = 1 / common.coefficient;
  for (const Factor& factor : common.factors)
    inverse.factors.push_back({factor.atom, -factor.power});
  if (common.exponent) inverse.exponent = scale(common.exponent, -1);
  Term rest = multiply_finite(a, of(inverse));
  if (!positive && is_mostly_negative(rest->monomials)) {
    rest = scale(rest, -1);
    common.coefficient = -common.coefficient;
  }
  return {std::move(common), rest};
}

Term TermStore::Impl::power(Term a, const mpq_class& by) {
  if (by == 1) return a;
  if (by == 0) return constant(1);
  if (!a->is_finite_form() || !fits(mpq_class(by.get_num()), kMaxPower) ||
      !fits(mpq_class(by.get_den()), kMaxPower)) {
    const Term args[] = {a, constant(by)};
    return store.call("power", args, ir::ScalarType::F64);
  }
  if (is_zero(a)) {
    if (by < 0) require(Condition::NonZero, a);
    return a;
  }
  if (by.get_den() == 1 && by > 1) {
    const Term half = power(a, mpq_class(by.get_num() / 2));
    const Term even = multiply_finite(half, half);
    return by.get_num() % 2 == 0 ? even : multiply_finite(even, a);
  }
  if (first_condition(a)) {
    if (by < 0) require(Condition::NonZero, a);
    return by_cases(a, [&](Term one_case) {
      return first_condition(one_case) ? unknown(one_case->free) : power(one_case, by);
    });
  }
  if (a->monomials.size() == 1) return power_of(a->monomials[0], by);
  const bool positive = by.get_den() != 1;
  auto [common, rest] = take_common(a, positive);
  for (const Factor& factor : common.factors)
    if (factor.power < 0) require(Condition::NonZero, of(factor.atom));
  const Term outside = power_of(std::move(common), by);
  Term inside;
  if (rest->monomials.size() == 1) {
    inside = power_of(rest->monomials[0], by);
  } else {
    AtomNode node;
    node.kind = AtomKind::Base;
    node.args = {rest};
    Monomial under;
    under.factors.push_back({atom(std::move(node)), by});
    inside = of(std::move(under));
  }
  return multiply_finite(outside, inside);
}

Term TermStore::Impl::exp(Term a) {
  Term out = by_cases(finite_part(a), [&](Term one_case) {
    Term result = constant(1);
    std::vector<Monomial> exponent;
    for (const Monomial& part : one_case->monomials) {
      const bool is_log =
          !part.exponent && part.factors.size() == 1 && part.factors[0].power == 1 &&
          part.factors[0].atom->kind == AtomKind::Call && part.factors[0].atom->text == "log";
      if (is_log && abs(part.coefficient) <= kMaxPower) {
        require(Condition::Positive, part.factors[0].atom->args[0]);
        result = multiply_finite(result, power(part.factors[0].atom->args[0], part.coefficient));
      } else {
        exponent.push_back(part);
      }
    }
    if (exponent.empty()) return result;
    Monomial alone;
    alone.exponent = make(std::move(exponent));
    return multiply_finite(result, of(std::move(alone)));
  });
  if (a->is_finite_form()) return out;
  for (Term condition : a->special)
    if (condition) out = guard(store.negation(condition), out);
  return make(out->monomials, {}, a->special[kPosInf], a->special[kNan]);
}

Term TermStore::Impl::log(Term a) {
  const auto opaque = [&](Term of_term) {
    const Term args[] = {of_term};
    return store.call("log", args, ir::ScalarType::F64);
  };
  if (!a->is_finite_form() || num_conditions(a) > kMaxCases) return opaque(a);
  return by_cases(a, [&](Term one_case) {
    if (is_zero(one_case)) return store.infinity(true);
    Monomial common = one_case->monomials[0];
    Term rest = constant(1);
    if (one_case->monomials.size() > 1) std::tie(common, rest) = take_common(one_case, true);
    Term out = common.exponent ? common.exponent : make({});
    mpq_class size = abs(common.coefficient);
    mpz_class numerator = size.get_num();
    mpz_class denominator = size.get_den();
    const long twos = take_prime(numerator, 2) - take_prime(denominator, 2);
    if (twos != 0) {
      AtomNode node;
      node.kind = AtomKind::Constant;
      out = add(out, scale(of(atom(std::move(node))), twos));
    }
    if (numerator != 1) out = add(out, opaque(constant(mpq_class(numerator))));
    if (denominator != 1) out = add(out, scale(opaque(constant(mpq_class(denominator))), -1));
    Monomial unknown_sign;
    unknown_sign.coefficient = sgn(common.coefficient);
    for (const Factor& factor : common.factors) {
      if (is_non_negative(Factor{factor.atom, 1}))
        out = add(out, scale(opaque(of(factor.atom)), factor.power));
      else
        unknown_sign.factors.push_back(factor);
    }
    const bool flip = is_one(rest) && unknown_sign.coefficient > 0 &&
                      unknown_sign.factors.size() == 1 && unknown_sign.factors[0].power == -1;
    if (flip) unknown_sign.factors[0].power = 1;
    if (!unknown_sign.factors.empty() || unknown_sign.coefficient < 0)
      rest = multiply_finite(of(std::move(unknown_sign)), rest);
    if (!is_one(rest)) out = add(out, scale(opaque(rest), flip ? -1 : 1));
    return out;
  });
}

}  // namespace tilewright::algebra
