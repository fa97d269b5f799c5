// SPDX-License-Identifier: Apache-2.0
//
// What the operations of a Program mean, as operations on data: frontend/ir/evaluate.h in the vocabulary of terms. A
// float narrower than f32 is the f32 on its grid; a bool is one bit; an index has 64. Law: on known values each gives
// what evaluate.h gives. Tests: tests/unit/lowering/validate/operations_test.cpp.
#pragma once

#include <span>

#include "frontend/ir/expr.h"
#include "lowering/validate/datum.h"

namespace tilewright::validate {

// Of a value, and of an element in memory.
Sort value_sort(ir::ScalarType type);
Sort storage_sort(ir::ScalarType type);

class Operations {
 public:
  explicit Operations(Arithmetic& arithmetic) : do_(arithmetic) {}

  // None: there is no meaning here for the operation on this type.
  std::optional<Datum> op(ir::OpCode code, ir::ScalarType type, std::span<const Datum> args);
  std::optional<Datum> cast(ir::ScalarType from, ir::ScalarType to, const Datum& value);
  std::optional<Datum> saturate(ir::ScalarType from, ir::ScalarType to, const Datum& value);
  std::optional<Datum> round_to(ir::ScalarType type, ir::ScalarType grid, const Datum& value);
  Datum constant(ir::ScalarType type, const ir::ExprNode& node);
  std::optional<Datum> load(ir::ScalarType type, const Datum& stored);
  std::optional<Datum> store(ir::ScalarType type, const Datum& value);
  Datum select(Sort sort, const Datum& condition, const Datum& a, const Datum& b);

 private:
  Datum real(double value) { return Datum::number(bits_of_double(kF32, value)); }
  Datum bits(const Datum& f32) { return do_.recast(kF32, int_sort(32), f32); }
  Datum float_of(const Datum& word) { return do_.recast(int_sort(32), kF32, word); }
  Datum compare(unsigned outcomes, Sort sort, const Datum& a, const Datum& b) {
    return do_(TermOp::FCmp, kBit, sort, a, b, Datum::number(0), outcomes);
  }
  Datum inverted(const Datum& bit) { return do_(TermOp::Not, kBit, kBit, bit); }
  std::optional<Datum> float_op(ir::OpCode code, ir::ScalarType type, std::span<const Datum> args);
  std::optional<Datum> math(ir::OpCode code, Sort sort, const Datum& x);
  std::optional<Datum> integer_op(ir::OpCode code, ir::ScalarType type,
                                  std::span<const Datum> args);
  Datum divide(ir::ScalarType type, bool modulus, const Datum& a, const Datum& b);
  std::optional<Datum> bit_op(ir::OpCode code, ir::ScalarType type, std::span<const Datum> args);
  Datum comparison(ir::OpCode code, ir::ScalarType type, const Datum& a, const Datum& b);

  // conversions.cpp. `from` is f32 or f64.
  std::optional<Datum> round(const Datum& value, Sort from, ir::ScalarType grid, bool saturates);
  Datum round_upper(const Datum& f32, int dropped);
  Datum round_small(const Datum& f32, ir::ScalarType grid, bool saturates);
  Datum round_scale(const Datum& f32, bool saturates);
  Datum to_odd(const Datum& f64);
  Datum within_limits(const Datum& value, ir::ScalarType type);
  Datum small_bits(const Datum& f32, ir::ScalarType type);
  Datum small_value(const Datum& code, ir::ScalarType type);
  Datum word(TermOp op, const Datum& a, const Datum& b) {
    return do_(op, int_sort(32), int_sort(32), a, b);
  }
  Datum below(bool is_signed, const Datum& a, const Datum& b) {
    return do_(is_signed ? TermOp::Slt : TermOp::Ult, kBit, int_sort(32), a, b);
  }

  Arithmetic& do_;
};

}  // namespace tilewright::validate
