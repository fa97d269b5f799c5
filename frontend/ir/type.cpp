// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/type.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>

namespace tilewright::ir {

namespace {

struct TypeRow {
  std::string_view text;
  int bytes;
  int significand_bits;  // of a float, hidden bit included; 0 otherwise
  double smallest_subnormal;
  double largest_finite;
};

constexpr TypeRow kTypes[kNumScalarTypes] = {
    {"bool", 1, 0, 0, 0},
    {"index", 8, 0, 0, 0},
    {"i8", 1, 0, 0, 0},
    {"i32", 4, 0, 0, 0},
    {"i64", 8, 0, 0, 0},
    {"bf16", 2, 8, 0x1p-133, 0x1.fep127},
    {"f16", 2, 11, 0x1p-24, 65504.0},
    {"f32", 4, 24, 0x1p-149, FLT_MAX},
    {"f64", 8, 53, 0x1p-1074, DBL_MAX},
};

const TypeRow& row(ScalarType type) { return kTypes[static_cast<int>(type)]; }

}  // namespace

std::string_view type_text(ScalarType type) { return row(type).text; }

std::optional<ScalarType> parse_type(std::string_view text) {
  for (int i = 0; i < kNumScalarTypes; ++i)
    if (kTypes[i].text == text) return static_cast<ScalarType>(i);
  return std::nullopt;
}

bool is_float(ScalarType type) { return row(type).significand_bits != 0; }
bool is_integer(ScalarType type) {
  return type == ScalarType::I8 || type == ScalarType::I32 || type == ScalarType::I64;
}
int size_bytes(ScalarType type) { return row(type).bytes; }
double unit_roundoff(ScalarType type) {
  return is_float(type) ? std::ldexp(1.0, -row(type).significand_bits) : 0.0;
}
double smallest_subnormal(ScalarType type) { return row(type).smallest_subnormal; }
double largest_finite(ScalarType type) { return row(type).largest_finite; }

std::uint16_t bf16_bits(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (std::isnan(x)) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

float bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t f16_bits(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  if (std::isnan(x)) return static_cast<std::uint16_t>(sign | 0x7e00U | ((bits >> 13) & 0x3ffU));
  const float magnitude = std::fabs(x);
  if (magnitude >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00U);
  // Adding and subtracting 2^(e+13) rounds to the f16 grid of the binade in round to nearest even.
  const int exponent = magnitude < 0x1p-14F ? -14 : std::ilogb(magnitude);
  const float grid = std::ldexp(1.0F, exponent - 10);
  const float scaled = std::nearbyint(magnitude / grid);
  if (scaled == 0.0F) return sign;
  const auto value = static_cast<std::uint32_t>(scaled);  // 1 .. 2048
  // For subnormals the biased exponent is 0; a carry into the next binade falls out of the
  // addition.
  const auto biased = static_cast<std::uint32_t>(exponent + 14) << 10U;
  return static_cast<std::uint16_t>(sign | (biased + value));
}

float f16_value(std::uint16_t bits) {
  const bool negative = (bits & 0x8000U) != 0;
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 0x3ff;
  float value = 0;
  if (exponent == 31) {
    value = mantissa
                ? std::bit_cast<float>(0x7f800000U | static_cast<std::uint32_t>(mantissa) << 13U)
                : std::numeric_limits<float>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    value = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  }
  return negative ? -value : value;
}

namespace {

// Rounds a double to `bits` significant bits with least exponent `min_exponent` of the last place,
// by scaling to an integer: one rounding, so no double rounding through f32.
double round_to_grid(double x, int bits, int min_exponent, double largest) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  int exponent = std::ilogb(x) - (bits - 1);
  if (exponent < min_exponent) exponent = min_exponent;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
  if (std::fabs(rounded) > largest)
    return std::copysign(std::numeric_limits<double>::infinity(), x);
  return rounded;
}

}  // namespace

double round_to_type(ScalarType type, double x) {
  switch (type) {
    case ScalarType::F64: return x;
    case ScalarType::F32: return static_cast<double>(static_cast<float>(x));
    case ScalarType::F16: return round_to_grid(x, 11, -24, 65504.0);
    case ScalarType::BF16: return round_to_grid(x, 8, -133, 0x1.fep127);
    default: return x;
  }
}

std::int64_t wrap_to_type(ScalarType type, std::int64_t x) {
  switch (type) {
    case ScalarType::Bool: return x != 0;
    case ScalarType::I8: return static_cast<std::int8_t>(x);
    case ScalarType::I32: return static_cast<std::int32_t>(x);
    default: return x;
  }
}

}  // namespace tilewright::ir
