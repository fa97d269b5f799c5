// SPDX-License-Identifier: Apache-2.0
//
// The bound: each of the two steps rounds two sums and a division.
#include "apps/blur/reference.h"

#include <cmath>

namespace runner = tilewright::runner;

runner::Expected blur_reference(const runner::Sizes& sizes,
                                const std::vector<std::vector<double>>& inputs) {
  const auto height = static_cast<std::size_t>(sizes.at("H"));
  const auto width = static_cast<std::size_t>(sizes.at("W"));
  runner::Expected out{std::vector<double>(height * width), std::vector<double>(height * width)};
  for (std::size_t i = 0; i < height; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      double sum = 0;
      double magnitude = 0;
      for (std::size_t di = 0; di < 3; ++di) {
        for (std::size_t dj = 0; dj < 3; ++dj) {
          const double term = inputs[0][(i + di) * (width + 2) + j + dj];
          sum += term;
          magnitude += std::fabs(term);
        }
      }
      out.value[i * width + j] = sum / 9;
      out.bound[i * width + j] = runner::gamma(6) * magnitude / 9 + runner::kTiny;
    }
  }
  return out;
}
