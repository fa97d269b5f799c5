// SPDX-License-Identifier: Apache-2.0
//
// Rounding-error intervals: for each value, the hull of what any conforming program may compute for
// it, whether an operation was rounded to its type or kept exact inside a fused one. Law: the
// interval of a result holds every result that operands in their intervals can give. The interval
// [-inf, inf] means no claim; it also stands for a possible NaN.
#pragma once

#include "frontend/ir/tape.h"

namespace tilewright::ir {

// Intervals of the result of a Compute step.
void interval_step(const Instr& instr, TapeFrame& frame, int n);
// One conversion of `n` values.
void interval_cast(ScalarType from, ScalarType to, const Scalar* low, const Scalar* high,
                   Scalar* out_low, Scalar* out_high, int n);
void no_claim(ScalarType type, Scalar* low, Scalar* high);
bool claims(double low, double high);

// The interval of a fold in any order, with or without fused products, over lanes.
class FoldIntervals {
 public:
  void start(Monoid monoid, ScalarType type, int lanes);
  // Lane l takes the term with this interval.
  void add(const Scalar* low, const Scalar* high, int n, const std::uint8_t* mask);
  // All `n` values are terms of lane 0.
  void add_to_one(const Scalar* low, const Scalar* high, int n, const std::uint8_t* mask);
  void finish(Scalar* low, Scalar* high, int n) const;

 private:
  void add_term(std::size_t lane, double low, double high);
  void finish_sum(std::size_t lane, double* low, double* high) const;
  void finish_product(std::size_t lane, double* low, double* high) const;
  Monoid monoid_ = Monoid::Sum;
  ScalarType type_ = ScalarType::F32;
  // Of the terms so far: sum or product of lows and of highs; sum of magnitudes, or for a product
  // that of the magnitudes above 1; for a product that of the magnitudes below 1; least low and
  // greatest high; count.
  std::vector<double> low_, high_, magnitude_, shrink_, least_, greatest_, count_;
};

}  // namespace tilewright::ir
