// SPDX-License-Identifier: Apache-2.0
//
// The bound follows the statement: an error e of the mean moves every difference by e, and their squares by
// at most 2 |d| e + e e; the root passes on half of the relative error of what it is taken of.
#include "apps/layernorm/reference.h"

#include <cmath>

namespace runner = tilewright::runner;

namespace {

constexpr double kEpsilon = 1e-5;

struct Row {
  double mean = 0;
  double mean_error = 0;
  double unit = 0;  // 1 / sqrt(variance + epsilon)
  double unit_error = 0;  // relative
};

Row statistics(const double* x, std::size_t columns) {
  const auto count = static_cast<double>(columns);
  double sum = 0;
  double magnitude = 0;
  for (std::size_t j = 0; j < columns; ++j) {
    sum += x[j];
    magnitude += std::fabs(x[j]);
  }
  Row row;
  row.mean = sum / count;
  row.mean_error = runner::gamma(count + 1) * magnitude / count;
  double squares = 0;
  double error = 0;
  for (std::size_t j = 0; j < columns; ++j) {
    const double d = x[j] - row.mean;
    const double moved = row.mean_error + runner::kUnitF32 * (std::fabs(d) + row.mean_error);
    squares += d * d;
    error += 2 * std::fabs(d) * moved + moved * moved;
  }
  error += runner::gamma(count + 1) * (squares + error);
  const double power = squares / count + kEpsilon;
  // A division, the constant, a sum; rsqrt within 2 ulp.
  const double relative = (error / count) / power + runner::gamma(3);
  row.unit = 1 / std::sqrt(power);
  row.unit_error = (relative < 0.5 ? 1 / std::sqrt(1 - relative) - 1 : 1e9) + 5 * runner::kUnitF32;
  return row;
}

}  // namespace

runner::Expected layernorm_reference(const runner::Sizes& sizes,
                                     const std::vector<std::vector<double>>& inputs) {
  const auto rows = static_cast<std::size_t>(sizes.at("R"));
  const auto columns = static_cast<std::size_t>(sizes.at("C"));
  const std::vector<double>& scale = inputs[1];
  const std::vector<double>& shift = inputs[2];
  runner::Expected out{std::vector<double>(rows * columns), std::vector<double>(rows * columns)};
  for (std::size_t i = 0; i < rows && columns > 0; ++i) {
    const double* x = inputs[0].data() + i * columns;
    const Row row = statistics(x, columns);
    for (std::size_t j = 0; j < columns; ++j) {
      const double d = x[j] - row.mean;
      const double normal = d * row.unit * scale[j];
      // The difference, two products and a sum round once each.
      const double moved = std::fabs(row.unit * scale[j]) * row.mean_error * (1 + row.unit_error);
      const double normal_error =
          moved + std::fabs(normal) * (row.unit_error + 4 * runner::kUnitF32);
      const double value = normal + shift[j];
      out.value[i * columns + j] = value;
      out.bound[i * columns + j] =
          normal_error + runner::kUnitF32 * (std::fabs(value) + normal_error) + runner::kTiny;
    }
  }
  return out;
}
