// SPDX-License-Identifier: Apache-2.0
//
// From index expressions and conditions of the algorithm to quasi-affine values. Minimum, maximum,
// absolute value and `select` split into cases; division and modulus are by literals. Law: a translation
// never says less than the expression: cases and regions cover every value that is possible, and are
// `exact` where they hold no other. Symbols keep their names: extents and index variables by their text.
// Tests: tests/unit/schedules/polyhedra/index_test.cpp (against evaluation).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/ir/expr.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::poly {

// A union of conjunctions that holds every point where a condition can be true.
struct Region {
  std::vector<BasicSet> pieces;
  // It holds no other point.
  bool exact = true;
  static Region everywhere(bool exact = true) { return {{BasicSet()}, exact}; }
};

// More pieces than this are not kept: a region then gets larger, and is not exact; an index with more cases
// counts as not affine.
inline constexpr std::size_t kMaxPieces = 64;

// Too many pieces: `a` alone.
Region meet(const Region& a, const Region& b);
// Too many pieces: everywhere.
Region join(const Region& a, const Region& b);

// Under `condition` the index may be `value`.
struct IndexCase {
  BasicSet condition;
  AffineExpr value;
};
struct IndexCases {
  std::vector<IndexCase> cases;
  bool exact = true;
};

// The affine form of an Index expression without case splits, or nothing.
std::optional<AffineExpr> affine_of(ir::Expr index);
// The cases of an Index expression, or nothing when it is not quasi-affine (a product of symbols, a
// division by a symbol, a value read from a tensor).
std::optional<IndexCases> index_cases(ir::Expr index);
// Where lower <= dim < upper; a null `lower` is 0. A bound that is not affine is left out.
Region range_region(const std::string& dim, ir::Expr lower, ir::Expr upper);
// Where a Bool expression can equal `truth`. Parts that are not affine are taken to hold.
Region region_of(ir::Expr condition, bool truth = true);

}  // namespace tilewright::poly
