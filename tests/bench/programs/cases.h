// SPDX-License-Identifier: Apache-2.0
//
// The benchmark cases: seeded inputs, a float64 reference and, per element, the error that any f32
// evaluation in any fold order may have. The bounds are computed from the magnitudes of the terms and the
// lengths of the folds, so they hold for candidate and peers alike and are not tuned to either.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/programs/npy.h"

namespace tilewright::bench {

using Sizes = std::map<std::string, std::int64_t>;

// What a run of a case costs at least: arithmetic, and bytes of inputs and output.
struct Work {
  double flops = 0;
  double bytes = 0;
  // How many times the operations of an f32 multiply-add its fastest unit does in one step.
  double rate = 1;
};

struct Case {
  std::string_view name;
  // In the order of an argument list: `gemm M N K`.
  std::vector<std::string_view> extents;
  std::vector<Array> (*inputs)(const Sizes&, std::uint64_t seed);
  // Fills `reference` and `bound`, both f64 and of the output's shape.
  void (*reference)(const Sizes&, const std::vector<Array>& inputs, Array& reference, Array& bound);
  Work (*work)(const Sizes&);
  Element output;
};

const std::vector<Case>& all_cases();
const Case* find_case(std::string_view name);

}  // namespace tilewright::bench
