// SPDX-License-Identifier: Apache-2.0
//
// The bound: a difference from the peak is rounded once, and exp makes a relative error of its magnitude d
// times u out of that; exp itself may be 2 ulp, 4 u, off. The sum has the worst of these and a fold of C
// terms; a division follows.
#include "apps/softmax/reference.h"

#include <algorithm>
#include <cmath>

namespace runner = tilewright::runner;

runner::Expected softmax_reference(const runner::Sizes& sizes,
                                   const std::vector<std::vector<double>>& inputs) {
  const auto rows = static_cast<std::size_t>(sizes.at("R"));
  const auto columns = static_cast<std::size_t>(sizes.at("C"));
  runner::Expected out{std::vector<double>(rows * columns), std::vector<double>(rows * columns)};
  if (columns == 0) return out;
  for (std::size_t i = 0; i < rows; ++i) {
    const double* x = inputs[0].data() + i * columns;
    const double peak = *std::max_element(x, x + columns);
    const double widest = peak - *std::min_element(x, x + columns);
    double total = 0;
    for (std::size_t j = 0; j < columns; ++j) total += std::exp(x[j] - peak);
    for (std::size_t j = 0; j < columns; ++j) {
      const double value = std::exp(x[j] - peak) / total;
      const double roundings = (peak - x[j]) + widest + 4 + 4 + static_cast<double>(columns) + 1;
      out.value[i * columns + j] = value;
      out.bound[i * columns + j] = runner::gamma(roundings) * value + runner::kTiny;
    }
  }
  return out;
}
