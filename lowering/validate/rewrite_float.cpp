// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of floats. Each holds for every operand, infinities, subnormals, both zeros and NaN; of a NaN neither
// sign nor payload is meant.
#include <cmath>

#include "lowering/validate/rewriter.h"

namespace tilewright::validate {

namespace {

unsigned swapped(std::uint64_t outcomes) {
  const auto o = static_cast<unsigned>(outcomes);
  return (o & 9U) | (o & 2U) << 1U | (o & 4U) >> 1U;
}

int digits_of(Sort sort) { return sort == kF16 ? 11 : sort == kF32 ? 24 : 53; }

}  // namespace

// The same zero, where the value is one.
bool Rewriter::is_real(Id id, double value) const {
  if (!is_const(id)) return false;
  const double x = double_of(t_.sort(id), t_[id].extra);
  return x == value && std::signbit(x) == std::signbit(value);
}

TermId Rewriter::real(const Term& t) {
  switch (t.op) {
    case TermOp::FAdd:
    case TermOp::FSub: return float_sum(t);
    case TermOp::FMul: return float_product(t);
    case TermOp::FDiv: return float_quotient(t);
    case TermOp::Fma: return fused(t);
    case TermOp::FNeg: return negated(t);
    case TermOp::FAbs:
      if (is(t.a, TermOp::FAbs)) return t.a;
      return negation_of(t.a) != 0 ? t_.same(TermOp::FAbs, negation_of(t.a)) : 0;
    case TermOp::FCmp: return float_compare(t);
    case TermOp::FExt:
      if (t_.sort(t.a) == t.sort) return t.a;
      return is(t.a, TermOp::FExt) ? t_.make(TermOp::FExt, t.sort, at(t.a).a) : 0;
    case TermOp::FRound: return rounding(t);
    case TermOp::SIToF:
    case TermOp::UIToF: return conversion(t);
    case TermOp::AsFloat: return from_bits(t);
    case TermOp::AsBits: return to_bits(t);
    default: return 0;
  }
}

TermId Rewriter::float_sum(const Term& t) {
  if (t.op == TermOp::FSub) {
    if (const Id b = negation_of(t.b)) return t_.same(TermOp::FAdd, t.a, b);
    if (is_const(t.b)) return t_.same(TermOp::FAdd, t.a, t_.same(TermOp::FNeg, t.b));
    // -0 - x is -x, of zeros too.
    if (is_real(t.a, -0.0)) return t_.same(TermOp::FNeg, t.b);
    return 0;
  }
  if (is_real(t.b, -0.0)) return t.a;
  if (t.a == t.b) return t_.same(TermOp::FMul, t.a, t_.real(t.sort, 2));
  if (const Id b = negation_of(t.b)) return t_.same(TermOp::FSub, t.a, b);
  if (const Id a = negation_of(t.a)) return t_.same(TermOp::FSub, t.b, a);
  return 0;
}

TermId Rewriter::float_product(const Term& t) {
  const Id a = negation_of(t.a);
  if (is_const(t.b)) {
    if (is_real(t.b, 1)) return t.a;
    if (is_real(t.b, -1)) return t_.same(TermOp::FNeg, t.a);
    return a ? t_.same(TermOp::FMul, a, t_.same(TermOp::FNeg, t.b)) : 0;
  }
  const Id b = negation_of(t.b);
  if (a && b) return t_.same(TermOp::FMul, a, b);
  if (a || b) return t_.same(TermOp::FNeg, t_.same(TermOp::FMul, a ? a : t.a, b ? b : t.b));
  return 0;
}

TermId Rewriter::float_quotient(const Term& t) {
  const Id a = negation_of(t.a);
  const Id b = negation_of(t.b);
  if (a && b) return t_.same(TermOp::FDiv, a, b);
  if (is_const(t.b)) {
    // By a power of two whose inverse is a normal number.
    const double d = double_of(t.sort, at(t.b).extra);
    int exponent = 0;
    const int bias = t.sort == kF16 ? 15 : t.sort == kF32 ? 127 : 1023;
    if (std::isfinite(d) && std::fabs(std::frexp(d, &exponent)) == 0.5 && exponent - 1 < bias &&
        1 - exponent <= bias)
      return t_.same(TermOp::FMul, t.a, t_.real(t.sort, 1 / d));
    return a ? t_.same(TermOp::FDiv, a, t_.same(TermOp::FNeg, t.b)) : 0;
  }
  if (is_const(t.a)) return b ? t_.same(TermOp::FDiv, t_.same(TermOp::FNeg, t.a), b) : 0;
  if (a || b) return t_.same(TermOp::FNeg, t_.same(TermOp::FDiv, a ? a : t.a, b ? b : t.b));
  return 0;
}

TermId Rewriter::fused(const Term& t) {
  if (is_real(t.c, -0.0)) return t_.same(TermOp::FMul, t.a, t.b);
  const Id a = negation_of(t.a);
  if (is_const(t.b)) {
    if (is_real(t.b, 1)) return t_.same(TermOp::FAdd, t.a, t.c);
    return a ? t_.same(TermOp::Fma, a, t_.same(TermOp::FNeg, t.b), t.c) : 0;
  }
  const Id b = negation_of(t.b);
  if (a && b) return t_.same(TermOp::Fma, a, b, t.c);
  // One sign stands at the operand of the smaller number.
  if (a || b) {
    const Id x = a ? a : t.a;
    const Id y = b ? b : t.b;
    const Id wanted = t_.same(TermOp::FNeg, std::min(x, y));
    if (wanted != t.a && wanted != t.b) return t_.same(TermOp::Fma, wanted, std::max(x, y), t.c);
  }
  return 0;
}

TermId Rewriter::negated(const Term& t) {
  if (is(t.a, TermOp::FNeg)) return at(t.a).a;
  if ((is(t.a, TermOp::FMul) || is(t.a, TermOp::FDiv)) && is_const(at(t.a).b))
    return t_.same(at(t.a).op, at(t.a).a, t_.same(TermOp::FNeg, at(t.a).b));
  if (is(t.a, TermOp::FDiv) && is_const(at(t.a).a))
    return t_.same(TermOp::FDiv, t_.same(TermOp::FNeg, at(t.a).a), at(t.a).b);
  return 0;
}

TermId Rewriter::float_compare(const Term& t) {
  const Sort sort = t_.sort(t.a);
  const auto outcomes = static_cast<unsigned>(t.extra);
  if (outcomes == 0 || outcomes == 15) return number(kBit, outcomes != 0);
  if (t.a == t.b && (outcomes & 6U) != 0 && (outcomes & 6U) != 6U)
    return t_.fcmp(outcomes & 9U, t.a, t.b);
  if (t.a == t.b && (outcomes & 6U) == 6U) return t_.fcmp(outcomes & 9U, t.a, t.b);
  if (is_const(t.a) != is_const(t.b) ? is_const(t.a) : t.a > t.b)
    return t_.fcmp(swapped(outcomes), t.b, t.a);
  if (is_const(t.b)) {
    if (is_nan(sort, at(t.b).extra)) return number(kBit, (outcomes & 8U) != 0);
    // Whether x is a NaN: compared with itself.
    if (outcomes == 8 || outcomes == 7) return t_.fcmp(outcomes & 9U, t.a, t.a);
    if (is_real(t.b, -0.0)) return t_.fcmp(outcomes, t.a, number(sort, 0));
    if (const Id a = negation_of(t.a))
      return t_.fcmp(swapped(outcomes), a, t_.same(TermOp::FNeg, t.b));
    if (is(t.a, TermOp::FExt)) {
      const Sort narrow = t_.sort(at(t.a).a);
      const double value = double_of(sort, at(t.b).extra);
      const std::uint64_t bits = bits_of_double(narrow, value);
      if (double_of(narrow, bits) == value)
        return t_.fcmp(outcomes, at(t.a).a, number(narrow, bits));
    }
    return 0;
  }
  const Id a = negation_of(t.a);
  const Id b = negation_of(t.b);
  if (a && b) return t_.fcmp(swapped(outcomes), a, b);
  if (is(t.a, TermOp::FExt) && is(t.b, TermOp::FExt) && t_.sort(at(t.a).a) == t_.sort(at(t.b).a))
    return t_.fcmp(outcomes, at(t.a).a, at(t.b).a);
  if (t.a == t.b && (is(t.a, TermOp::FNeg) || is(t.a, TermOp::FAbs) || is(t.a, TermOp::FExt)))
    return t_.fcmp(outcomes, at(t.a).a, at(t.a).a);
  return 0;
}

// Of what was exact: nothing. Of a sum, product, quotient or root of numbers of the narrow sort, done with 2p + 2
// digits: the operation of the narrow sort (Figueroa, "When is double rounding innocuous?", 1995).
TermId Rewriter::rounding(const Term& t) {
  const Term of = at(t.a);
  if (of.sort == t.sort) return t.a;
  if (of.op == TermOp::FExt) {
    const Sort inner = t_.sort(of.a);
    if (inner == t.sort) return of.a;
    if (digits_of(inner) < digits_of(t.sort)) return t_.make(TermOp::FExt, t.sort, of.a);
    return t_.make(TermOp::FRound, t.sort, of.a);
  }
  if (of.op == TermOp::FNeg || of.op == TermOp::FAbs)
    return t_.same(of.op, t_.make(TermOp::FRound, t.sort, of.a));
  if (digits_of(of.sort) < 2 * digits_of(t.sort) + 2) return 0;
  const auto narrow = [&](Id id) -> Id {
    if (is(id, TermOp::FExt) && t_.sort(at(id).a) == t.sort) return at(id).a;
    if (!is_const(id)) return 0;
    const double value = double_of(of.sort, at(id).extra);
    const std::uint64_t bits = bits_of_double(t.sort, value);
    return double_of(t.sort, bits) == value ? t_.constant(t.sort, bits) : 0;
  };
  switch (of.op) {
    case TermOp::FAdd:
    case TermOp::FSub:
    case TermOp::FMul:
    case TermOp::FDiv: {
      const Id a = narrow(of.a);
      const Id b = narrow(of.b);
      return a && b ? t_.same(of.op, a, b) : 0;
    }
    case TermOp::Sqrt: {
      const Id a = narrow(of.a);
      return a ? t_.same(of.op, a) : 0;
    }
    default: return 0;
  }
}

// Of a number that is not negative: as unsigned, without its leading zeros.
TermId Rewriter::conversion(const Term& t) {
  const int zeros = known_zeros(t.a);
  const int bits = t_.sort(t.a).bits;
  if (zeros > 0 && zeros < bits)
    return t_.make(TermOp::UIToF, t.sort, t_.extract(t.a, 0, bits - zeros));
  if (t.op == TermOp::SIToF && is(t.a, TermOp::SExt))
    return t_.make(TermOp::SIToF, t.sort, at(t.a).a);
  return 0;
}

TermId Rewriter::from_bits(const Term& t) {
  const Term of = at(t.a);
  if (of.op == TermOp::AsBits && t_.sort(of.a) == t.sort) return of.a;
  if (of.op == TermOp::Ite)
    return t_.ite(of.a, t_.as_float(t.sort, of.b), t_.as_float(t.sort, of.c));
  if (of.op != TermOp::Concat) return 0;
  // All but the sign of y.
  const std::vector<Slice> parts = slices(t.a);
  const int width = t.sort.bits;
  if (parts.size() != 2 || parts[1].low != 0 || parts[1].width != width - 1 ||
      !is(parts[1].base, TermOp::AsBits))
    return 0;
  const Id y = at(parts[1].base).a;
  if (t_.sort(y) != t.sort) return 0;
  if (is_const(parts[0].base, 0)) return t_.same(TermOp::FAbs, y);
  if (is_const(parts[0].base)) return t_.same(TermOp::FNeg, t_.same(TermOp::FAbs, y));
  if (is(parts[0].base, TermOp::Not) && at(parts[0].base).a == t_.extract(t_.bits(y), width - 1, 1))
    return t_.same(TermOp::FNeg, y);
  return 0;
}

TermId Rewriter::to_bits(const Term& t) {
  const Term of = at(t.a);
  const int width = t.sort.bits;
  switch (of.op) {
    case TermOp::AsFloat: return of.a;
    case TermOp::Ite: return t_.ite(of.a, t_.bits(of.b), t_.bits(of.c));
    case TermOp::FNeg: {
      const Id inner = t_.bits(of.a);
      return t_.concat(t_.negate(t_.extract(inner, width - 1, 1)), t_.extract(inner, 0, width - 1));
    }
    case TermOp::FAbs: return t_.concat(number(kBit, 0), t_.extract(t_.bits(of.a), 0, width - 1));
    default: return 0;
  }
}

}  // namespace tilewright::validate
