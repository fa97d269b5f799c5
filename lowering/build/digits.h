// SPDX-License-Identifier: Apache-2.0
//
// Numbers that count on over loops: `it * n + ko`, where a loop over ko stands in one over it and n is a symbol. The
// product is not affine, but how far two such numbers are apart is: by digits, of which each but the first is at least
// 0 and below its length.
//
// The lemma. With 0 <= x, y < n, the distance of two numbers of two digits is m n + (y - x), where m is the distance
// of the first digits. It lies between (m - 1) n + 1 and (m + 1) n - 1. So it is the literal d only where m is one of
// 0, ..., d, and it is d or more just where m is at least d, or one of 0, ..., d - 1 with m n + (y - x) >= d: finitely
// many cases, affine in all symbols. With more digits m is itself such a distance.
// Tests: tests/unit/lowering/build/digits_test.cpp, by enumeration.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/polyhedra/affine.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::build {

struct Digits {
  std::vector<poly::AffineExpr> digit;  // the slowest first
  std::vector<poly::AffineExpr>
      length;  // of each, over parameters alone; of the first: of no meaning
};

// Whether both are numbers of the same loops, so that their distance can be told.
bool are_comparable(const Digits& a, const Digits& b);
// That each digit but the first is in its range.
poly::BasicSet in_range(const Digits& number);

// The pairs of numbers, each with its digits in range, of which the second is the first plus n; n >= 0.
std::vector<poly::BasicSet> later_by(const Digits& a, const Digits& b, std::int64_t n);
// Plus n or more; n >= 1.
std::vector<poly::BasicSet> later_by_at_least(const Digits& a, const Digits& b, std::int64_t n);

}  // namespace tilewright::build
