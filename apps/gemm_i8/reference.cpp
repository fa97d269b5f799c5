// SPDX-License-Identifier: Apache-2.0
#include "apps/gemm_i8/reference.h"

namespace runner = tilewright::runner;

// Whole numbers below 2^53: every right result is this one. The sums of the sizes here do not reach 2^31, where
// they would wrap.
runner::Expected gemm_i8_reference(const runner::Sizes& sizes,
                                   const std::vector<std::vector<double>>& inputs) {
  const auto m = static_cast<std::size_t>(sizes.at("M"));
  const auto n = static_cast<std::size_t>(sizes.at("N"));
  const auto k = static_cast<std::size_t>(sizes.at("K"));
  runner::Expected out{std::vector<double>(m * n), std::vector<double>(m * n, 0.5)};
  for (std::size_t i = 0; i < m; ++i) {
    double* value = out.value.data() + i * n;
    for (std::size_t l = 0; l < k; ++l) {
      const double a = inputs[0][i * k + l];
      const double* b = inputs[1].data() + l * n;
      for (std::size_t j = 0; j < n; ++j) value[j] += a * b[j];
    }
  }
  return out;
}
