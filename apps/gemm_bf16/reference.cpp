// SPDX-License-Identifier: Apache-2.0
#include "apps/gemm_bf16/reference.h"

#include <cmath>

namespace runner = tilewright::runner;

runner::Expected gemm_bf16_reference(const runner::Sizes& sizes,
                                     const std::vector<std::vector<double>>& inputs) {
  const auto m = static_cast<std::size_t>(sizes.at("M"));
  const auto n = static_cast<std::size_t>(sizes.at("N"));
  const auto k = static_cast<std::size_t>(sizes.at("K"));
  runner::Expected out{std::vector<double>(m * n), std::vector<double>(m * n)};
  const double factor = runner::gamma(static_cast<double>(k));
  for (std::size_t i = 0; i < m; ++i) {
    double* value = out.value.data() + i * n;
    double* bound = out.bound.data() + i * n;
    for (std::size_t l = 0; l < k; ++l) {
      const double a = inputs[0][i * k + l];
      const double* b = inputs[1].data() + l * n;
      for (std::size_t j = 0; j < n; ++j) {
        value[j] += a * b[j];
        bound[j] += std::fabs(a * b[j]);
      }
    }
    for (std::size_t j = 0; j < n; ++j) {
      const double sum = factor * bound[j];
      bound[j] = sum + runner::kUnitBf16 * (std::fabs(value[j]) + sum) + runner::kTiny;
    }
  }
  return out;
}
