// SPDX-License-Identifier: Apache-2.0
//
// One value of a Program as it is computed: the machine's number, the number that exact operations on exact operands
// give, and a bound on their distance that was carried along. Law: |machine - exact| <= error after every
// operation, whatever the operands. The bound looks at the machine's numbers, never at the exact ones, which are
// there to be measured against; they are kept to 64 bits, which is what `kExactSlack` allows for.
// A discrete decision (a comparison, a rounding to integers or to a stated grid) is the machine's for both; one that
// operands within their bounds could have made otherwise is counted (`near_ties`).
// Tests: tests/unit/lowering/rounding/running_test.cpp.
#pragma once

#include <cstdint>

#include "frontend/ir/expr.h"
#include "frontend/ir/value.h"
#include "lowering/rounding/units.h"

namespace tilewright::rounding {

struct Tracked {
  ir::Scalar machine{.i = 0};
  long double exact = 0;  // of a float
  double error = 0;  // of a float; infinite: nothing is known
};

// Relative to the size of everything that was added up, about: far below any unit roundoff but that of f64.
inline constexpr double kExactSlack = 0x1p-58;

class Arithmetic {
 public:
  explicit Arithmetic(const Units& units) : units_(units) {}

  Tracked constant(ir::Expr expr) const;
  Tracked apply(ir::OpCode op, ir::ScalarType type, const Tracked* args);
  Tracked cast(ir::ScalarType from, ir::ScalarType to, const Tracked& value);
  Tracked saturate(ir::ScalarType from, ir::ScalarType to, const Tracked& value);
  Tracked round_to(ir::ScalarType type, ir::ScalarType grid, const Tracked& value);

  std::int64_t near_ties() const { return near_ties_; }
  bool undefined() const { return undefined_; }  // an integer operation had no value

 private:
  Tracked float_op(ir::OpCode op, ir::ScalarType type, const Tracked* a);
  Tracked math(ir::OpCode op, ir::ScalarType type, const Tracked& a);
  // What a step function makes of it; the same for all within the bound, or a near tie.
  template <class F>
  Tracked decided(const Tracked& value, F&& step, ir::Scalar outcome);

  Units units_;
  std::int64_t near_ties_ = 0;
  bool undefined_ = false;
};

}  // namespace tilewright::rounding
