// SPDX-License-Identifier: Apache-2.0
//
// Error terms follow the standard model: each operation adds a relative error of at most u = 2^-24, a fold
// of n terms in any order gamma(n) = n u / (1 - n u) times the sum of the terms' magnitudes.
#include "tests/bench/programs/cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

namespace tilewright::bench {
namespace {

constexpr double kUnit = 0x1p-24;
// Below this a result may be flushed or rounded to a denormal step.
constexpr double kTiny = 0x1p-126;
constexpr double kLayerNormEpsilon = 1e-5;

double gamma(double operations) { return operations * kUnit / (1 - operations * kUnit); }

// SplitMix64: small, stated, and the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform(double low, double high) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z ^= z >> 31;
    return low + (high - low) * (static_cast<double>(z >> 11) * 0x1p-53);
  }

 private:
  std::uint64_t state_;
};

Array uniform_array(std::vector<std::int64_t> shape, Random& random, double low, double high) {
  Array array = make_array(std::move(shape), Element::F32);
  for (std::size_t i = 0; i < array.size(); ++i) {
    array.f32()[i] = static_cast<float>(random.uniform(low, high));
  }
  return array;
}

// Magnitudes in [0.5, 1) with either sign: every product weighs more than the bound of a fold of a few
// thousand terms, so one lost or doubled term shows.
Array signed_array(std::vector<std::int64_t> shape, Random& random) {
  Array array = make_array(std::move(shape), Element::F32);
  for (std::size_t i = 0; i < array.size(); ++i) {
    const double value = random.uniform(-0.5, 0.5);
    array.f32()[i] = static_cast<float>(value < 0 ? value - 0.5 : value + 0.5);
  }
  return array;
}

// Calls `row(i)` for every i below `count` on all processors.
template <class Row>
void for_rows(std::int64_t count, Row row) {
  const auto workers = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    threads.emplace_back([=] {
      for (std::int64_t i = worker; i < count; i += workers) row(i);
    });
  }
}

std::vector<Array> gemm_inputs(const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  std::vector<Array> inputs;
  inputs.push_back(signed_array({sizes.at("M"), sizes.at("K")}, random));
  inputs.push_back(signed_array({sizes.at("K"), sizes.at("N")}, random));
  return inputs;
}

void gemm_reference(const Sizes& sizes, const std::vector<Array>& inputs, Array& reference,
                    Array& bound) {
  const std::int64_t m = sizes.at("M");
  const std::int64_t n = sizes.at("N");
  const std::int64_t k = sizes.at("K");
  reference = make_array({m, n}, Element::F64);
  bound = make_array({m, n}, Element::F64);
  const double factor = gamma(static_cast<double>(k));
  for_rows(m, [&](std::int64_t i) {
    double* sum = reference.f64() + i * n;
    double* magnitude = bound.f64() + i * n;
    for (std::int64_t l = 0; l < k; ++l) {
      const double a = inputs[0].f32()[i * k + l];
      const float* b = inputs[1].f32() + l * n;
      for (std::int64_t j = 0; j < n; ++j) {
        const double term = a * b[j];
        sum[j] += term;
        magnitude[j] += std::fabs(term);
      }
    }
    for (std::int64_t j = 0; j < n; ++j) magnitude[j] = factor * magnitude[j] + kTiny;
  });
}

Work gemm_work(const Sizes& sizes) {
  const auto m = static_cast<double>(sizes.at("M"));
  const auto n = static_cast<double>(sizes.at("N"));
  const auto k = static_cast<double>(sizes.at("K"));
  return {2 * m * n * k, 4 * (m * k + k * n + m * n)};
}

// The bits of the bf16 nearest to a number of ordinary size.
std::uint16_t bf16_bits(double value) {
  const auto single = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &single, sizeof bits);
  bits += 0x7FFFU + ((bits >> 16) & 1U);
  return static_cast<std::uint16_t>(bits >> 16);
}

Array signed_bf16(std::vector<std::int64_t> shape, Random& random) {
  Array array = make_array(std::move(shape), Element::BF16);
  for (std::size_t i = 0; i < array.size(); ++i) {
    const double value = random.uniform(-0.5, 0.5);
    array.bf16()[i] = bf16_bits(value < 0 ? value - 0.5 : value + 0.5);
  }
  return array;
}

std::vector<Array> gemm_bf16_inputs(const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  std::vector<Array> inputs;
  inputs.push_back(signed_bf16({sizes.at("M"), sizes.at("K")}, random));
  inputs.push_back(signed_bf16({sizes.at("K"), sizes.at("N")}, random));
  return inputs;
}

// Sum of products and of their magnitudes, each exact or nearly so in f64.
void product_sums(const Sizes& sizes, const std::vector<Array>& inputs, Array& sums,
                  Array& magnitudes) {
  const std::int64_t m = sizes.at("M");
  const std::int64_t n = sizes.at("N");
  const std::int64_t k = sizes.at("K");
  sums = make_array({m, n}, Element::F64);
  magnitudes = make_array({m, n}, Element::F64);
  std::vector<double> right(static_cast<std::size_t>(k * n));
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = inputs[1].number(i);
  for_rows(m, [&](std::int64_t i) {
    double* sum = sums.f64() + i * n;
    double* magnitude = magnitudes.f64() + i * n;
    for (std::int64_t l = 0; l < k; ++l) {
      const double a = inputs[0].number(static_cast<std::size_t>(i * k + l));
      const double* b = right.data() + l * n;
      for (std::int64_t j = 0; j < n; ++j) {
        sum[j] += a * b[j];
        magnitude[j] += std::fabs(a * b[j]);
      }
    }
  });
}

// Summed in f32 in any order, from exact products; then rounded to bf16, whose unit is 2^-8.
void gemm_bf16_reference(const Sizes& sizes, const std::vector<Array>& inputs, Array& reference,
                         Array& bound) {
  product_sums(sizes, inputs, reference, bound);
  const double factor = gamma(static_cast<double>(sizes.at("K")));
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const double error = factor * bound.f64()[i];
    bound.f64()[i] = error + 0x1p-8 * (std::fabs(reference.f64()[i]) + error) + kTiny;
  }
}

Work gemm_bf16_work(const Sizes& sizes) {
  const auto m = static_cast<double>(sizes.at("M"));
  const auto n = static_cast<double>(sizes.at("N"));
  const auto k = static_cast<double>(sizes.at("K"));
  // A unit of bf16 does twice what one of f32 does.
  return {2 * m * n * k, 2 * (m * k + k * n + m * n), 2};
}

std::vector<Array> gemm_i8_inputs(const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  std::vector<Array> inputs;
  inputs.push_back(make_array({sizes.at("M"), sizes.at("K")}, Element::U8));
  inputs.push_back(make_array({sizes.at("K"), sizes.at("N")}, Element::I8));
  // Seven bits of the unsigned side: a peer that multiplies signed bytes then computes the same.
  for (std::size_t i = 0; i < inputs[0].size(); ++i)
    inputs[0].u8()[i] = static_cast<std::uint8_t>(random.uniform(0, 128));
  for (std::size_t i = 0; i < inputs[1].size(); ++i)
    inputs[1].i8()[i] = static_cast<std::int8_t>(std::floor(random.uniform(-128, 128)));
  return inputs;
}

// Whole numbers: every right result is the reference.
void gemm_i8_reference(const Sizes& sizes, const std::vector<Array>& inputs, Array& reference,
                       Array& bound) {
  product_sums(sizes, inputs, reference, bound);
  for (std::size_t i = 0; i < bound.size(); ++i) bound.f64()[i] = 0.5;
}

Work gemm_i8_work(const Sizes& sizes) {
  const auto m = static_cast<double>(sizes.at("M"));
  const auto n = static_cast<double>(sizes.at("N"));
  const auto k = static_cast<double>(sizes.at("K"));
  return {2 * m * n * k, m * k + k * n + 4 * m * n, 4};
}

std::vector<Array> softmax_inputs(const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  std::vector<Array> inputs;
  inputs.push_back(uniform_array({sizes.at("R"), sizes.at("C")}, random, -8, 8));
  return inputs;
}

// exp(x - m) / sum: the difference is rounded once, which exp turns into |x - m| u, and exp itself may be
// 2 ulp (4 u) off; the sum folds C such terms; one division and one rounding follow.
void softmax_reference(const Sizes& sizes, const std::vector<Array>& inputs, Array& reference,
                       Array& bound) {
  const std::int64_t rows = sizes.at("R");
  const std::int64_t columns = sizes.at("C");
  reference = make_array({rows, columns}, Element::F64);
  bound = make_array({rows, columns}, Element::F64);
  for_rows(rows, [&](std::int64_t i) {
    const float* x = inputs[0].f32() + i * columns;
    double* p = reference.f64() + i * columns;
    double* b = bound.f64() + i * columns;
    const double peak = *std::max_element(x, x + columns);
    double total = 0;
    double widest = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      p[j] = std::exp(x[j] - peak);
      total += p[j];
      widest = std::max(widest, peak - x[j]);
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      p[j] /= total;
      const double operations = (peak - x[j]) + widest + 8 + static_cast<double>(columns - 1) + 3;
      b[j] = gamma(operations) * p[j] + kTiny;
    }
  });
}

// Maximum, difference, exponential (taken as ten), sum and division per element.
Work softmax_work(const Sizes& sizes) {
  const double count = static_cast<double>(sizes.at("R")) * static_cast<double>(sizes.at("C"));
  return {14 * count, 8 * count};
}

std::vector<Array> layernorm_inputs(const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  std::vector<Array> inputs;
  inputs.push_back(uniform_array({sizes.at("R"), sizes.at("C")}, random, -1, 3));
  inputs.push_back(uniform_array({sizes.at("C")}, random, 0.5, 1.5));
  inputs.push_back(uniform_array({sizes.at("C")}, random, -0.5, 0.5));
  return inputs;
}

// Allows the variance as a second pass over x - mean or as E[x^2] - mean^2 in one pass: the second is the
// worse, its error is that of two folds of the size of E[x^2].
void layernorm_reference(const Sizes& sizes, const std::vector<Array>& inputs, Array& reference,
                         Array& bound) {
  const std::int64_t rows = sizes.at("R");
  const std::int64_t columns = sizes.at("C");
  reference = make_array({rows, columns}, Element::F64);
  bound = make_array({rows, columns}, Element::F64);
  const auto count = static_cast<double>(columns);
  for_rows(rows, [&](std::int64_t i) {
    const float* x = inputs[0].f32() + i * columns;
    const float* scale = inputs[1].f32();
    const float* shift = inputs[2].f32();
    double sum = 0;
    double magnitude = 0;
    double squares = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      sum += x[j];
      magnitude += std::fabs(x[j]);
      squares += static_cast<double>(x[j]) * x[j];
    }
    const double mean = sum / count;
    double variance = 0;
    for (std::int64_t j = 0; j < columns; ++j) variance += (x[j] - mean) * (x[j] - mean);
    variance /= count;
    const double root = 1 / std::sqrt(variance + kLayerNormEpsilon);
    const double mean_error = gamma(count + 1) * magnitude / count;
    const double variance_error =
        gamma(count + 3) * 2 * squares / count + 2 * std::fabs(mean) * mean_error;
    const double root_error = root * (0.5 * variance_error * root * root * 1.01 + 4 * kUnit);
    for (std::int64_t j = 0; j < columns; ++j) {
      const double difference = x[j] - mean;
      const double normal = difference * root;
      const double normal_error = mean_error * root + std::fabs(difference) * root_error +
                                  3 * kUnit * (std::fabs(normal) + std::fabs(mean) * root);
      double* y = reference.f64() + i * columns;
      y[j] = normal * scale[j] + shift[j];
      const double size = std::fabs(normal * scale[j]) + std::fabs(shift[j]);
      bound.f64()[i * columns + j] = std::fabs(scale[j]) * normal_error + 3 * kUnit * size + kTiny;
    }
  });
}

Work layernorm_work(const Sizes& sizes) {
  const auto rows = static_cast<double>(sizes.at("R"));
  const auto columns = static_cast<double>(sizes.at("C"));
  return {8 * rows * columns, 8 * rows * columns + 8 * columns};
}

std::vector<Array> blur_inputs(const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  std::vector<Array> inputs;
  inputs.push_back(uniform_array({sizes.at("H") + 2, sizes.at("W") + 2}, random, 0.5, 1));
  return inputs;
}

// out[y,x] = the mean over three rows of the mean over three columns; the input is two wider and higher.
void blur_reference(const Sizes& sizes, const std::vector<Array>& inputs, Array& reference,
                    Array& bound) {
  const std::int64_t height = sizes.at("H");
  const std::int64_t width = sizes.at("W");
  reference = make_array({height, width}, Element::F64);
  bound = make_array({height, width}, Element::F64);
  for_rows(height, [&](std::int64_t y) {
    for (std::int64_t x = 0; x < width; ++x) {
      double sum = 0;
      double magnitude = 0;
      for (std::int64_t dy = 0; dy < 3; ++dy) {
        for (std::int64_t dx = 0; dx < 3; ++dx) {
          const double term = inputs[0].f32()[(y + dy) * (width + 2) + x + dx];
          sum += term;
          magnitude += std::fabs(term);
        }
      }
      reference.f64()[y * width + x] = sum / 9;
      // Two sums and a scaling per stage; a scaling by a rounded 1/3 is two roundings.
      bound.f64()[y * width + x] = gamma(8) * magnitude / 9 + kTiny;
    }
  });
}

Work blur_work(const Sizes& sizes) {
  const auto height = static_cast<double>(sizes.at("H"));
  const auto width = static_cast<double>(sizes.at("W"));
  return {6 * height * width, 4 * (height * width + (height + 2) * (width + 2))};
}

}  // namespace

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = {
      {"gemm", {"M", "N", "K"}, gemm_inputs, gemm_reference, gemm_work, Element::F32},
      {"gemm_bf16",
       {"M", "N", "K"},
       gemm_bf16_inputs,
       gemm_bf16_reference,
       gemm_bf16_work,
       Element::BF16},
      {"gemm_i8", {"M", "N", "K"}, gemm_i8_inputs, gemm_i8_reference, gemm_i8_work, Element::I32},
      {"softmax", {"R", "C"}, softmax_inputs, softmax_reference, softmax_work, Element::F32},
      {"layernorm",
       {"R", "C"},
       layernorm_inputs,
       layernorm_reference,
       layernorm_work,
       Element::F32},
      {"blur", {"H", "W"}, blur_inputs, blur_reference, blur_work, Element::F32},
  };
  return cases;
}

const Case* find_case(std::string_view name) {
  for (const Case& item : all_cases()) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

}  // namespace tilewright::bench
