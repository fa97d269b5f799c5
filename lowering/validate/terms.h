// SPDX-License-Identifier: Apache-2.0
//
// Values as hash-consed terms over the elements of the inputs: what a run of the emitted code and a run of the
// Program both compute. `make` brings a term to a normal form by rewrites that change no bit; so code that LLVM has
// rewritten and the Program it came from mostly meet in one node. Law: for all values of the variables, a term has
// the value of the operation it was asked for; of a NaN neither sign nor payload is part of a value. Rewrites:
//   integers   constants, neutral elements, order of operands; shifts, masks, extensions and truncations by constants
//              become slices (slices.cpp); comparisons with constants become one form
//   floats     order of operands; x * 1, x + -0, x - c, x / 2^k; signs move out of products; a rounding of an
//              operation that was done in twice the precision and two bits more
//   selects    equal arms, constant conditions, negated conditions
// Tests: tests/unit/lowering/validate/terms_test.cpp evaluates both sides of each on random values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowering/validate/sort.h"

namespace tilewright::validate {

enum class TermOp : std::uint8_t {
#define TILEWRIGHT_TERM_OP(name, arity) name,
#include "lowering/validate/term_ops.def"
#undef TILEWRIGHT_TERM_OP
};
// In its first two operands.
bool is_commutative(TermOp op);
std::string_view term_op_text(TermOp op);
int arity_of(TermOp op);

using TermId = std::uint32_t;  // 0: none

struct Term {
  TermOp op = TermOp::Const;
  Sort sort;
  TermId a = 0, b = 0, c = 0;
  std::uint64_t extra = 0;  // bits of a Const, number of a Var, parameter of an operation
  friend bool operator==(const Term&, const Term&) = default;
};

// The value of an operation for these bits; none where it has no value (division by zero, a shift by the width or
// more, a conversion out of range). `from` is the sort of its first operand.
std::optional<std::uint64_t> fold(TermOp op, Sort sort, Sort from, std::uint64_t a, std::uint64_t b,
                                  std::uint64_t c, std::uint64_t extra);
bool is_nan(Sort sort, std::uint64_t bits);
// Every NaN is this one.
std::uint64_t quiet_nan(Sort sort);
double double_of(Sort sort, std::uint64_t bits);
std::uint64_t bits_of_double(Sort sort, double value);  // rounded to the sort

class Terms {
 public:
  Terms();
  const Term& operator[](TermId id) const { return nodes_[id]; }
  Sort sort(TermId id) const { return nodes_[id].sort; }
  std::size_t size() const { return nodes_.size(); }

  TermId constant(Sort sort, std::uint64_t bits);
  TermId real(Sort sort, double value) { return constant(sort, bits_of_double(sort, value)); }
  TermId var(Sort sort, std::uint64_t number);
  // 0: the operation has no value for constants.
  TermId make(TermOp op, Sort sort, TermId a, TermId b = 0, TermId c = 0, std::uint64_t extra = 0);

  // Short forms, whose sort follows from their operands.
  TermId same(TermOp op, TermId a, TermId b = 0, TermId c = 0) {
    return make(op, sort(a), a, b, c);
  }
  TermId extract(TermId a, int low, int width);
  TermId concat(TermId high, TermId low);
  TermId zext(TermId a, int width);
  TermId sext(TermId a, int width) { return make(TermOp::SExt, int_sort(width), a); }
  TermId eq(TermId a, TermId b) { return make(TermOp::Eq, kBit, a, b); }
  TermId ult(TermId a, TermId b) { return make(TermOp::Ult, kBit, a, b); }
  TermId slt(TermId a, TermId b) { return make(TermOp::Slt, kBit, a, b); }
  TermId negate(TermId a) { return make(TermOp::Not, sort(a), a); }
  TermId fcmp(unsigned outcomes, TermId a, TermId b) {
    return make(TermOp::FCmp, kBit, a, b, 0, outcomes);
  }
  TermId ite(TermId c, TermId a, TermId b) { return make(TermOp::Ite, sort(a), c, a, b); }
  TermId bits(TermId a) { return make(TermOp::AsBits, int_sort(sort(a).bits), a); }
  TermId as_float(Sort sort, TermId a) { return make(TermOp::AsFloat, sort, a); }

  std::optional<std::uint64_t> value(TermId id) const {
    if (nodes_[id].op != TermOp::Const) return std::nullopt;
    return nodes_[id].extra;
  }
  // As text, with at most so many operations.
  std::string text(TermId id, int most = 40) const;
  // The variables' names, for text.
  std::vector<std::string> var_names;

 private:
  friend class Rewriter;
  TermId intern(const Term& term);
  void grow();
  std::vector<Term> nodes_;
  std::vector<TermId> table_;
};

// For values of the variables (by number): the values of all terms that `root` needs. None: a part has no value.
class Evaluation {
 public:
  Evaluation(const Terms& terms, const std::vector<std::uint64_t>& variables)
      : terms_(terms), variables_(variables) {}
  std::optional<std::uint64_t> operator()(TermId root);

 private:
  const Terms& terms_;
  const std::vector<std::uint64_t>& variables_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint8_t> state_;  // 0: not known, 1: known, 2: has none
};

}  // namespace tilewright::validate
