// SPDX-License-Identifier: Apache-2.0
//
// Which sizes a Program can be called with: what its entry checks (lowering/program/contract.h) let through, and
// nothing else, so that what is shown for these sizes holds at every call. Extents have their declared ranges; no
// parameter has 2^61 bytes or more, also without the zeros among its extents; requirements hold, and no formula of a
// check leaves 64 bits on the way. Law: `allows` is what the generated entries do for one worker.
// Tests: tests/unit/lowering/proof/width_test.cpp.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lowering/program/program.h"

namespace tilewright::proof {

__extension__ typedef __int128 WideIndex;

inline constexpr WideIndex kLeastIndex = static_cast<WideIndex>(INT64_MIN);
inline constexpr WideIndex kMostIndex = static_cast<WideIndex>(INT64_MAX);
inline bool fits_index(WideIndex value) { return value >= kLeastIndex && value <= kMostIndex; }
std::string index_text(WideIndex value);

// Values of names, beyond 64 bits too.
using IndexValues = std::unordered_map<Symbol, WideIndex>;
// The value of an index or a condition over names alone; none where an operation leaves 64 bits, divides by zero,
// reads a buffer or a name without a value.
std::optional<WideIndex> exact_value(ir::Expr expr, const IndexValues& names);

// A product of extents, sorted; empty: 1.
using Product = std::vector<Symbol>;

class SizeLimits {
 public:
  SizeLimits(ir::Context& context, const program::Program& program);

  struct Range {
    WideIndex low = 0;
    WideIndex high = 0;
    std::int64_t multiple_of = 1;
  };
  const Range& of(Symbol extent) const { return ranges_.at(extent); }
  bool knows(Symbol extent) const { return ranges_.contains(extent); }
  // No product of these extents is larger.
  WideIndex most(const Product& product) const;
  bool allows(const IndexValues& sizes) const;
  // The parameters alone fit.
  bool fits(const IndexValues& sizes) const;

 private:
  // Of a parameter: its elements are at most `elements`, and at least the product of `extents`.
  struct Capacity {
    Product extents;
    WideIndex elements = 0;
  };
  const program::Program& program_;
  std::map<Symbol, Range> ranges_;
  std::vector<Capacity> capacities_;
  ir::Expr workspace_;  // bytes; null where there is no formula
  Symbol workers_;
};

}  // namespace tilewright::proof
