// SPDX-License-Identifier: Apache-2.0
//
// Intervals of indices in 128 bits, each with a polynomial in the extents that bounds its size, by which products of
// symbols stay within what a tensor can have. For the files of this room. Law: the range of a result holds the
// result of all operands in theirs. Tests: tests/unit/lowering/proof/width_test.cpp.
#pragma once

#include "lowering/proof/size_limits.h"

namespace tilewright::proof {

// Sum of coefficient * product of extents, coefficients rounded up.
using SizePolynomial = std::map<Product, double>;

struct IndexRange {
  WideIndex low = kLeastIndex;
  WideIndex high = kMostIndex;
  std::optional<SizePolynomial> size;  // the value is at most this, and at least its negative
};

IndexRange exactly(WideIndex value);
// Of an extent.
IndexRange range_of(const SizeLimits& limits, Symbol extent);
IndexRange hull(const IndexRange& a, const IndexRange& b);
// Of an operation on indices; the interval is cut to what the polynomial says.
IndexRange operate(const SizeLimits& limits, ir::OpCode op, const std::vector<IndexRange>& args);
// lower <= value < upper; none where there is no such value.
std::optional<IndexRange> between(const IndexRange& lower, const IndexRange& upper);

}  // namespace tilewright::proof
