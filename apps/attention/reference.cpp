// SPDX-License-Identifier: Apache-2.0
//
// The bound: a logit is off by `logit_error`, a weight exp(logit - peak) by the relative error that its own
// and the peak's make, the sum of weights by the worst of them. The products with v add theirs, and the
// result is rounded to bf16.
#include "apps/attention/reference.h"

#include <algorithm>
#include <cmath>

namespace runner = tilewright::runner;

namespace {

// The row of queries `q` against all keys that it may see; then its weights, normalised.
struct Weights {
  std::vector<double> value;
  std::vector<double> error;  // relative
};

Weights weigh(const double* q, const double* k, std::size_t seen, std::size_t d) {
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  Weights out{std::vector<double>(seen), std::vector<double>(seen)};
  for (std::size_t t = 0; t < seen; ++t) {
    double dot = 0;
    double magnitude = 0;
    for (std::size_t i = 0; i < d; ++i) {
      dot += q[i] * k[t * d + i];
      magnitude += std::fabs(q[i] * k[t * d + i]);
    }
    out.value[t] = dot * scale;
    // rsqrt within 2 ulp, 4 u; a product.
    out.error[t] = runner::gamma(static_cast<double>(d) + 6) * magnitude * scale;
  }
  const double peak = *std::max_element(out.value.begin(), out.value.end());
  const double peak_error = *std::max_element(out.error.begin(), out.error.end());
  double total = 0;
  double worst = 0;
  for (std::size_t t = 0; t < seen; ++t) {
    const double moved = out.error[t] + peak_error;
    const double below = peak - out.value[t];
    // The difference rounds once; exp within 2 ulp.
    out.error[t] =
        std::expm1(moved + runner::kUnitF32 * (below + moved)) * 1.0001 + 5 * runner::kUnitF32;
    worst = std::max(worst, out.error[t]);
    out.value[t] = std::exp(-below);
    total += out.value[t];
  }
  const double total_error = worst + runner::gamma(static_cast<double>(seen)) * (1 + worst);
  for (std::size_t t = 0; t < seen; ++t) {
    out.value[t] /= total;
    out.error[t] = (1 + out.error[t]) / (1 - total_error) * (1 + runner::kUnitF32) - 1;
  }
  return out;
}

void attend(const Weights& weights, const double* v, std::size_t d, double* value, double* bound) {
  const double factor = runner::gamma(static_cast<double>(weights.value.size()));
  for (std::size_t t = 0; t < weights.value.size(); ++t) {
    const double error = weights.error[t] + factor * (1 + weights.error[t]);
    for (std::size_t i = 0; i < d; ++i) {
      const double term = weights.value[t] * v[t * d + i];
      value[i] += term;
      bound[i] += std::fabs(term) * error;
    }
  }
  for (std::size_t i = 0; i < d; ++i)
    bound[i] += runner::kUnitBf16 * (std::fabs(value[i]) + bound[i]) + runner::kTiny;
}

}  // namespace

runner::Expected attention_reference(const runner::Sizes& sizes,
                                     const std::vector<std::vector<double>>& inputs) {
  const auto heads = static_cast<std::size_t>(sizes.at("B") * sizes.at("H"));
  const auto queries = static_cast<std::size_t>(sizes.at("S"));
  const auto keys = static_cast<std::size_t>(sizes.at("T"));
  const auto d = static_cast<std::size_t>(sizes.at("D"));
  runner::Expected out{std::vector<double>(heads * queries * d),
                       std::vector<double>(heads * queries * d)};
  if (d == 0) return out;
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t s = 0; s < queries; ++s) {
      const std::size_t at = (head * queries + s) * d;
      const std::size_t seen = s + keys - queries + 1;
      const Weights weights =
          weigh(inputs[0].data() + at, inputs[1].data() + head * keys * d, seen, d);
      attend(weights, inputs[2].data() + head * keys * d, d, out.value.data() + at,
             out.bound.data() + at);
    }
  }
  return out;
}
