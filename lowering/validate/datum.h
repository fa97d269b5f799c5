// SPDX-License-Identifier: Apache-2.0
//
// One lane at run time: bits that are known, a term, a pointer, or poison. Arithmetic on known bits makes no terms.
// Law: what is known is never held as a term, so control flow and addresses ask `is_bits` alone.
#pragma once

#include "lowering/validate/terms.h"

namespace tilewright::validate {

struct Datum {
  enum class Kind : std::uint8_t { Poison, Bits, Term, Pointer };
  Kind kind = Kind::Poison;
  std::uint32_t id = 0;  // of a term, or of the object that a pointer points into
  std::uint64_t bits = 0;  // or the offset in the object

  static Datum number(std::uint64_t bits) { return {Kind::Bits, 0, bits}; }
  static Datum pointer(std::uint32_t object, std::int64_t offset) {
    return {Kind::Pointer, object, static_cast<std::uint64_t>(offset)};
  }
  bool is_bits() const { return kind == Kind::Bits; }
  bool is_term() const { return kind == Kind::Term; }
  bool is_pointer() const { return kind == Kind::Pointer; }
  bool is_poison() const { return kind == Kind::Poison; }
  std::int64_t offset() const { return static_cast<std::int64_t>(bits); }
  friend bool operator==(const Datum&, const Datum&) = default;
};

// Operations on data.
class Arithmetic {
 public:
  explicit Arithmetic(Terms& terms) : terms_(terms) {}
  Terms& terms() { return terms_; }

  Datum of(TermId id) const {
    if (id == 0) return {};
    if (const auto bits = terms_.value(id)) return Datum::number(*bits);
    return {Datum::Kind::Term, id, 0};
  }
  TermId term(Sort sort, const Datum& datum) {
    return datum.is_bits() ? terms_.constant(sort, datum.bits) : datum.id;
  }
  // Poison where the operation has no value or an operand is poison. `from` is the sort of a and b, or of a alone
  // where they differ. Precondition: no pointers.
  Datum operator()(TermOp op, Sort sort, Sort from, const Datum& a,
                   const Datum& b = Datum::number(0), const Datum& c = Datum::number(0),
                   std::uint64_t extra = 0) {
    if (a.is_poison() || b.is_poison() || c.is_poison()) return {};
    if (a.is_bits() && b.is_bits() && c.is_bits()) {
      const auto bits = fold(op, sort, from, a.bits, b.bits, c.bits, extra);
      return bits ? Datum::number(*bits) : Datum{};
    }
    const int arity = arity_of(op);
    const Sort third = op == TermOp::FusedStep ? kF32 : from;
    return of(terms_.make(op, sort, term(from, a), arity > 1 ? term(from, b) : 0,
                          arity > 2 ? term(third, c) : 0, extra));
  }
  // An arm that is not chosen may be poison.
  Datum ite(Sort sort, const Datum& c, const Datum& a, const Datum& b) {
    if (c.is_poison()) return {};
    if (c.is_bits()) return c.bits != 0 ? a : b;
    if (a == b) return a;
    if (a.is_poison() || b.is_poison()) return {};
    return of(terms_.ite(c.id, term(sort, a), term(sort, b)));
  }
  Datum extract(Sort from, const Datum& a, int low, int width) {
    return (*this)(TermOp::Extract, int_sort(width), from, a, Datum::number(0), Datum::number(0),
                   static_cast<std::uint64_t>(low));
  }
  Datum zext(const Datum& a, int width) {
    if (a.is_term()) return of(terms_.zext(a.id, width));
    return a;
  }
  Datum concat(int high_bits, const Datum& high, int low_bits, const Datum& low) {
    if (high.is_poison() || low.is_poison()) return {};
    if (high.is_bits() && low.is_bits()) return Datum::number(high.bits << low_bits | low.bits);
    return of(terms_.concat(term(int_sort(high_bits), high), term(int_sort(low_bits), low)));
  }
  // The value in another sort of the same width.
  Datum recast(Sort from, Sort to, const Datum& a) {
    if (from == to || a.is_poison() || a.is_pointer()) return a;
    if (a.is_bits()) return a;
    TermId id = a.id;
    if (is_float(from)) id = terms_.bits(id);
    if (is_float(to)) id = terms_.as_float(to, id);
    return of(id);
  }

 private:
  Terms& terms_;
};

}  // namespace tilewright::validate
