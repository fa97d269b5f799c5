// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of integers and selects.
#include "lowering/validate/rewriter.h"

namespace tilewright::validate {

namespace {

bool is_power_of_two(std::uint64_t x) { return x != 0 && (x & (x - 1)) == 0; }
int log2_of(std::uint64_t x) {
  int n = 0;
  while (x > 1) {
    x >>= 1;
    ++n;
  }
  return n;
}

}  // namespace

// Variables before constants, then by number.
TermId Rewriter::rewrite(const Term& term) {
  Term t = term;
  if (is_commutative(t.op) && (is_const(t.a) != is_const(t.b) ? is_const(t.a) : t.a > t.b)) {
    std::swap(t.a, t.b);
    return t_.make(t.op, t.sort, t.a, t.b, t.c, t.extra);
  }
  if (is_float(t.sort) || t.op == TermOp::FCmp || is_float(t_.sort(t.a))) {
    if (t.op == TermOp::Ite) return select(t);
    return real(t);
  }
  return integer(t);
}

TermId Rewriter::integer(const Term& t) {
  switch (t.op) {
    case TermOp::Add:
    case TermOp::Sub: return add(t);
    case TermOp::Mul: return multiply(t);
    case TermOp::UDiv:
    case TermOp::URem: return divide(t);
    case TermOp::Shl:
    case TermOp::LShr:
    case TermOp::AShr: return shift(t);
    case TermOp::And:
    case TermOp::Or:
    case TermOp::Xor:
      if (t.a == t.b) return t.op == TermOp::Xor ? number(t.sort, 0) : t.a;
      return bitwise(t);
    case TermOp::Not:
      if (is(t.a, TermOp::Not)) return at(t.a).a;
      if (is(t.a, TermOp::FCmp))
        return t_.make(TermOp::FCmp, kBit, at(t.a).a, at(t.a).b, 0, at(t.a).extra ^ 15U);
      if (is(t.a, TermOp::Concat)) {
        std::vector<Slice> out;
        for (const Slice& one : slices(t.a)) out.push_back({t_.negate(slice(one)), 0, one.width});
        return join(out);
      }
      return 0;
    case TermOp::Eq: return equal(t);
    case TermOp::Ult:
    case TermOp::Slt: return compare(t);
    case TermOp::UMin:
    case TermOp::UMax:
    case TermOp::SMin:
    case TermOp::SMax: return t.a == t.b ? t.a : 0;
    case TermOp::Ite: return select(t);
    case TermOp::Extract: return extract(t);
    case TermOp::Concat: {
      std::vector<Slice> all = slices(t.a);
      const std::vector<Slice> low = slices(t.b);
      all.insert(all.end(), low.begin(), low.end());
      return join(all);
    }
    case TermOp::SExt: return extend(t);
    default: return 0;
  }
}

// Constants stand outermost, added.
TermId Rewriter::add(const Term& t) {
  if (t.op == TermOp::Sub) {
    if (t.a == t.b) return number(t.sort, 0);
    if (is_const(t.b)) return t_.make(TermOp::Add, t.sort, t.a, number(t.sort, 0 - at(t.b).extra));
    if (is(t.b, TermOp::Add) && is_const(at(t.b).b))
      return t_.make(TermOp::Sub, t.sort,
                     t_.make(TermOp::Add, t.sort, t.a, number(t.sort, 0 - at(at(t.b).b).extra)),
                     at(t.b).a);
    if (is(t.a, TermOp::Add) && is_const(at(t.a).b))
      return t_.make(TermOp::Add, t.sort, t_.make(TermOp::Sub, t.sort, at(t.a).a, t.b), at(t.a).b);
    return 0;
  }
  if (is_const(t.b, 0)) return t.a;
  if (t.sort.bits == 1) return t_.make(TermOp::Xor, t.sort, t.a, t.b);
  if (t.a == t.b) return t_.make(TermOp::Shl, t.sort, t.a, number(t.sort, 1));
  const auto constant_of = [&](Id id) { return is(id, TermOp::Add) && is_const(at(id).b); };
  if (is_const(t.b)) {
    if (constant_of(t.a))
      return t_.make(TermOp::Add, t.sort, at(t.a).a,
                     number(t.sort, at(at(t.a).b).extra + at(t.b).extra));
    return 0;
  }
  if (constant_of(t.a))
    return t_.make(TermOp::Add, t.sort, t_.make(TermOp::Add, t.sort, at(t.a).a, t.b), at(t.a).b);
  if (constant_of(t.b))
    return t_.make(TermOp::Add, t.sort, t_.make(TermOp::Add, t.sort, t.a, at(t.b).a), at(t.b).b);
  return 0;
}

TermId Rewriter::multiply(const Term& t) {
  if (!is_const(t.b)) return 0;
  const std::uint64_t by = at(t.b).extra;
  if (by == 0) return t.b;
  if (by == 1) return t.a;
  if (is_power_of_two(by)) return t_.make(TermOp::Shl, t.sort, t.a, number(t.sort, log2_of(by)));
  if (is(t.a, TermOp::Mul) && is_const(at(t.a).b))
    return t_.make(TermOp::Mul, t.sort, at(t.a).a, number(t.sort, at(at(t.a).b).extra * by));
  return 0;
}

TermId Rewriter::divide(const Term& t) {
  if (!is_const(t.b) || !is_power_of_two(at(t.b).extra)) return 0;
  const int bits = log2_of(at(t.b).extra);
  if (t.op == TermOp::UDiv) return t_.make(TermOp::LShr, t.sort, t.a, number(t.sort, bits));
  return t_.make(TermOp::And, t.sort, t.a, number(t.sort, at(t.b).extra - 1));
}

TermId Rewriter::equal(const Term& t) {
  if (t.a == t.b) return number(kBit, 1);
  if (!is_const(t.b)) return 0;
  const std::uint64_t c = at(t.b).extra;
  if (t_.sort(t.a).bits == 1) return c != 0 ? t.a : t_.negate(t.a);
  // Constant parts agree or the whole does not; what is left is compared.
  if (is(t.a, TermOp::Concat)) {
    Id all = number(kBit, 1);
    int end = t_.sort(t.a).bits;
    for (const Slice& one : slices(t.a)) {
      end -= one.width;
      const Id part = t_.eq(slice(one), number(int_sort(one.width), c >> end));
      all = t_.make(TermOp::And, kBit, all, part);
    }
    return all;
  }
  if (is(t.a, TermOp::Not)) return t_.eq(at(t.a).a, number(t_.sort(t.a), ~c));
  if (is(t.a, TermOp::Add) && is_const(at(t.a).b))
    return t_.eq(at(t.a).a, number(t_.sort(t.a), c - at(at(t.a).b).extra));
  if (is(t.a, TermOp::SExt)) {
    const Sort inner = t_.sort(at(t.a).a);
    const std::uint64_t low = c & mask_of(inner.bits);
    const auto back =
        static_cast<std::uint64_t>(sign_extend(low, inner.bits)) & mask_of(t_.sort(t.a).bits);
    return back == c ? t_.eq(at(t.a).a, number(inner, low)) : number(kBit, 0);
  }
  return 0;
}

// A constant stands on the right: c < x is !(x < c + 1).
TermId Rewriter::compare(const Term& t) {
  const Sort sort = t_.sort(t.a);
  if (t.a == t.b) return number(kBit, 0);
  const bool is_signed = t.op == TermOp::Slt;
  const std::uint64_t sign = std::uint64_t{1} << (sort.bits - 1);
  const std::uint64_t most = is_signed ? sign - 1 : mask_of(sort.bits);
  const std::uint64_t least = is_signed ? sign : 0;
  if (is_const(t.a)) {
    if (at(t.a).extra == most) return number(kBit, 0);
    return t_.negate(t_.make(t.op, kBit, t.b, number(sort, at(t.a).extra + 1)));
  }
  // Without the signs' bits both are unsigned.
  if (is_signed && known_zeros(t.a) > 0 && known_zeros(t.b) > 0) return t_.ult(t.a, t.b);
  if (!is_const(t.b)) {
    const int zeros = std::min(known_zeros(t.a), known_zeros(t.b));
    if (!is_signed && zeros > 0 && zeros < sort.bits)
      return t_.ult(t_.extract(t.a, 0, sort.bits - zeros), t_.extract(t.b, 0, sort.bits - zeros));
    return 0;
  }
  const std::uint64_t c = at(t.b).extra;
  if (c == least) return number(kBit, 0);
  if (is_signed && c == 0) return t_.extract(t.a, sort.bits - 1, 1);
  if (c == ((least + 1) & mask_of(sort.bits))) return t_.eq(t.a, number(sort, least));
  if (c == most) return t_.negate(t_.eq(t.a, number(sort, most)));
  if (!is_signed) {
    if (is_power_of_two(c)) {
      const int low = log2_of(c);
      return t_.eq(t_.extract(t.a, low, sort.bits - low), number(int_sort(sort.bits - low), 0));
    }
    const int zeros = known_zeros(t.a);
    if (zeros > 0 && zeros < sort.bits) {
      if ((c >> (sort.bits - zeros)) != 0) return number(kBit, 1);
      return t_.ult(t_.extract(t.a, 0, sort.bits - zeros), number(int_sort(sort.bits - zeros), c));
    }
  }
  return 0;
}

TermId Rewriter::select(const Term& t) {
  const Term condition = at(t.a);
  if (condition.op == TermOp::Const) return condition.extra != 0 ? t.b : t.c;
  if (t.b == t.c) return t.b;
  if (condition.op == TermOp::Not) return t_.ite(condition.a, t.c, t.b);
  // Of a comparison and its opposite that which fails on unordered operands.
  if (condition.op == TermOp::FCmp && (condition.extra & 8U) != 0)
    return t_.ite(t_.negate(t.a), t.c, t.b);
  if (is(t.b, TermOp::Ite) && at(t.b).a == t.a) return t_.ite(t.a, at(t.b).b, t.c);
  if (is(t.c, TermOp::Ite) && at(t.c).a == t.a) return t_.ite(t.a, t.b, at(t.c).c);
  if (t.sort == kBit) {
    if (is_const(t.b)) {
      if (at(t.b).extra != 0) return t_.make(TermOp::Or, kBit, t.a, t.c);
      return t_.make(TermOp::And, kBit, t_.negate(t.a), t.c);
    }
    if (is_const(t.c)) {
      if (at(t.c).extra == 0) return t_.make(TermOp::And, kBit, t.a, t.b);
      return t_.make(TermOp::Or, kBit, t_.negate(t.a), t.b);
    }
  }
  if (t.sort.kind == SortKind::Int) return select_minimum(t);
  return 0;
}

// a < b ? a : b and its relatives.
TermId Rewriter::select_minimum(const Term& t) {
  const Term c = at(t.a);
  if (c.op != TermOp::Ult && c.op != TermOp::Slt) return 0;
  if (t_.sort(c.a) != t.sort) return 0;
  const TermOp least = c.op == TermOp::Ult ? TermOp::UMin : TermOp::SMin;
  const TermOp most = c.op == TermOp::Ult ? TermOp::UMax : TermOp::SMax;
  if (t.b == c.a && t.c == c.b) return t_.make(least, t.sort, t.b, t.c);
  if (t.b == c.b && t.c == c.a) return t_.make(most, t.sort, t.b, t.c);
  // x < k + 1 ? x : k, and x < k + 1 ? k : x.
  if (is_const(c.b)) {
    const std::uint64_t k = (at(c.b).extra - 1) & mask_of(t.sort.bits);
    if (t.b == c.a && is_const(t.c, k)) return t_.make(least, t.sort, t.b, t.c);
    if (t.c == c.a && is_const(t.b, k)) return t_.make(most, t.sort, t.b, t.c);
  }
  return 0;
}

}  // namespace tilewright::validate
