// SPDX-License-Identifier: Apache-2.0
//
// The rewrites of terms.h, private to this room: rewrite.cpp has those of integers and selects, rewrite_float.cpp
// those of floats, slices.cpp what moves bits about.
#pragma once

#include <span>

#include "lowering/validate/terms.h"

namespace tilewright::validate {

// So many bits of `base` from `low` on.
struct Slice {
  TermId base = 0;
  int low = 0;
  int width = 0;
};

class Rewriter {
 public:
  explicit Rewriter(Terms& terms) : t_(terms) {}
  // A normal form, or 0: the term as it stands is one.
  TermId rewrite(const Term& term);

 private:
  using Id = TermId;
  const Term& at(Id id) const { return t_[id]; }
  bool is(Id id, TermOp op) const { return t_[id].op == op; }
  bool is_const(Id id) const { return t_[id].op == TermOp::Const; }
  bool is_const(Id id, std::uint64_t bits) const { return is_const(id) && t_[id].extra == bits; }
  Id number(Sort sort, std::uint64_t bits) { return t_.constant(sort, bits & mask_of(sort.bits)); }

  Id integer(const Term& term);
  Id add(const Term& term);
  Id multiply(const Term& term);
  Id divide(const Term& term);
  Id compare(const Term& term);
  Id equal(const Term& term);
  Id select(const Term& term);
  Id select_minimum(const Term& term);

  Id real(const Term& term);
  Id float_sum(const Term& term);
  Id float_product(const Term& term);
  Id float_quotient(const Term& term);
  Id fused(const Term& term);
  Id negated(const Term& term);
  Id float_compare(const Term& term);
  Id rounding(const Term& term);
  Id conversion(const Term& term);
  Id from_bits(const Term& term);
  Id to_bits(const Term& term);
  // x of -x; 0 where it is no negation.
  Id negation_of(Id id) const { return is(id, TermOp::FNeg) ? t_[id].a : 0; }
  bool is_real(Id id, double value) const;

  // From the high end down.
  std::vector<Slice> slices(Id id);
  Id join(std::span<const Slice> slices);
  Id slice(const Slice& slice);
  Id bitwise(const Term& term);
  Id shift(const Term& term);
  Id extract(const Term& term);
  Id extend(const Term& term);
  void cut(std::vector<Slice>& a, std::vector<Slice>& b);
  int known_zeros(Id id);  // at the high end

  Terms& t_;
};

}  // namespace tilewright::validate
