// SPDX-License-Identifier: Apache-2.0
//
// Random well-formed algorithms for property tests. Every expression kind, monoid and row of ops.def occurs;
// a new row takes part by itself. Laws: the same seed and options give the same algorithm on every machine;
// verify() finds nothing; every read is in bounds for every binding.
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"

namespace tilewright::ir {

struct GenerateOptions {
  int max_equations = 4;
  int max_inputs = 3;
  int max_rank = 3;
  int max_depth = 4;  // of operations in one value
  int max_fold_vars = 2;
  // Keeps operands inside the domain of what is applied to them (no division by zero, no logarithm of a
  // negative number, no float beyond an integer type, bounded exponents), so that the reading in the reals
  // is defined for inputs of moderate size.
  bool defined = true;
  // Extents with ranges, `requires`, names with dots: off where a test binds sizes of its own choice.
  bool declarations = true;
  bool loops = true;
  bool in_place = true;
  // Types of tensors; empty: all but index.
  std::vector<ScalarType> types;
};

Algorithm random_algorithm(Context& context, std::uint64_t seed,
                           const GenerateOptions& options = {});

// Sizes up to about `limit` that satisfy ranges and requirements; 0, 1 and primes are frequent. Empty when
// none were found.
std::optional<Bindings> random_bindings(const Algorithm& algorithm, std::uint64_t seed,
                                        std::int64_t limit);

}  // namespace tilewright::ir
