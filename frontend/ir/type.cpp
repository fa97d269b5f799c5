// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/type.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright::ir {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// To the nearest power of two from 2^-bias on; of two that are equally near, the one with even code.
double round_to_scale(const TypeInfo& info, double x) {
  if (std::isnan(x) || x < 0) return kNan;
  const double least = std::ldexp(1.0, -info.bias());
  if (x <= 1.5 * least) return least;
  if (x == kInfinity) return kInfinity;
  const int exponent = std::ilogb(x);
  const double part = std::ldexp(x, -exponent);
  const bool odd = ((exponent + info.bias()) & 1) != 0;
  return std::ldexp(1.0, exponent + (part > 1.5 || (part == 1.5 && odd) ? 1 : 0));
}

// By scaling to an integer: one rounding, so no double rounding through f32. What is too large stays so.
double round_to_places(const TypeInfo& info, double x) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  const int place = std::max(std::ilogb(x) - info.mantissa_bits, info.min_place());
  return std::ldexp(std::nearbyint(std::ldexp(x, -place)), place);
}

double round_finite(ScalarType type, double x, bool saturates) {
  const TypeInfo& info = type_info(type);
  const double largest = largest_finite(type);
  if (std::isnan(x)) return has_nan(type) ? x : largest;
  const double rounded =
      info.specials == Specials::Scale ? round_to_scale(info, x) : round_to_places(info, x);
  if (!(std::fabs(rounded) > largest)) return rounded;
  if (saturates || info.specials == Specials::Finite) return std::copysign(largest, x);
  return has_infinity(type) ? std::copysign(kInfinity, x) : kNan;
}

}  // namespace

std::optional<ScalarType> parse_type(std::string_view text) {
  for (int i = 0; i < kNumScalarTypes; ++i)
    if (kTypeInfo[i].text == text) return static_cast<ScalarType>(i);
  return std::nullopt;
}

double unit_roundoff(ScalarType type) {
  return is_float(type) ? std::ldexp(1.0, -type_info(type).digits()) : 0.0;
}

double smallest_subnormal(ScalarType type) {
  return is_float(type) ? std::ldexp(1.0, type_info(type).min_place()) : 0.0;
}

double largest_finite(ScalarType type) {
  if (!is_float(type)) return 0.0;
  const TypeInfo& info = type_info(type);
  return std::ldexp(static_cast<double>(info.largest_units()),
                    info.max_exponent() - info.mantissa_bits);
}

bool holds_all(ScalarType wide, ScalarType narrow) {
  const TypeInfo& a = type_info(wide);
  const TypeInfo& b = type_info(narrow);
  if (wide == narrow) return true;
  if (a.specials == Specials::Scale) return false;
  const bool special =
      (has_nan(wide) || !has_nan(narrow)) && (has_infinity(wide) || !has_infinity(narrow));
  return special && a.digits() >= b.digits() && a.min_place() <= b.min_place() &&
         largest_finite(wide) >= largest_finite(narrow);
}

double round_to_type(ScalarType type, double x) {
  switch (type) {
    case ScalarType::F64: return x;
    case ScalarType::F32: return static_cast<double>(static_cast<float>(x));
    default: return is_float(type) ? round_finite(type, x, false) : x;
  }
}

double saturate_to_type(ScalarType type, double x) {
  return is_float(type) ? round_finite(type, x, true) : x;
}

std::int64_t wrap_to_type(ScalarType type, std::int64_t x) {
  if (type == ScalarType::Bool) return x != 0;
  const int unused = 64 - type_info(type).width;
  if (!is_integer(type) || unused == 0) return x;
  const std::uint64_t high = static_cast<std::uint64_t>(x) << unused;
  return is_unsigned(type) ? static_cast<std::int64_t>(high >> unused)
                           : static_cast<std::int64_t>(high) >> unused;
}

std::int64_t lowest_integer(ScalarType type) {
  if (is_unsigned(type) || type == ScalarType::Bool) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - type_info(type).width);
}

std::int64_t greatest_integer(ScalarType type) {
  if (is_unsigned(type) || type == ScalarType::Bool) return wrap_to_type(type, -1);
  return ~lowest_integer(type);
}

std::uint16_t float_bits(ScalarType type, double value) {
  const TypeInfo& info = type_info(type);
  const double x = round_to_type(type, value);
  const std::uint32_t ones = (std::uint32_t{1} << (info.exponent_bits + info.mantissa_bits)) - 1;
  if (info.specials == Specials::Scale)
    return static_cast<std::uint16_t>(
        std::isnan(x) ? ones : static_cast<std::uint32_t>(std::ilogb(x) + info.bias()));
  const std::uint32_t sign = std::signbit(x) ? ones + 1 : 0;
  const std::uint32_t infinity = ones & ~((std::uint32_t{1} << info.mantissa_bits) - 1);
  if (std::isnan(x))
    return static_cast<std::uint16_t>(
        sign | (info.specials == Specials::Fn ? ones : infinity | 1U << (info.mantissa_bits - 1)));
  if (std::isinf(x)) return static_cast<std::uint16_t>(sign | infinity);
  if (x == 0) return static_cast<std::uint16_t>(sign);
  const int exponent = std::max(std::ilogb(x), 1 - info.bias());
  const auto units = static_cast<std::uint32_t>(
      std::ldexp(std::fabs(x), info.mantissa_bits - exponent));  // hidden bit included
  // A subnormal has the exponent of the smallest normal but no hidden bit: the addition carries it.
  const auto below = static_cast<std::uint32_t>(exponent + info.bias() - 1) << info.mantissa_bits;
  return static_cast<std::uint16_t>(sign | (below + units));
}

double float_value(ScalarType type, std::uint16_t bits) {
  const TypeInfo& info = type_info(type);
  const std::uint32_t ones = (std::uint32_t{1} << (info.exponent_bits + info.mantissa_bits)) - 1;
  const std::uint32_t magnitude = bits & ones;
  if (info.specials == Specials::Scale)
    return magnitude == ones ? kNan : std::ldexp(1.0, static_cast<int>(magnitude) - info.bias());
  const std::uint32_t top = (std::uint32_t{1} << info.exponent_bits) - 1;
  const std::uint32_t exponent = magnitude >> info.mantissa_bits;
  const std::uint32_t fraction = magnitude & ((std::uint32_t{1} << info.mantissa_bits) - 1);
  double value = 0;
  if (info.specials == Specials::Ieee && exponent == top) {
    value = fraction ? kNan : kInfinity;
  } else if (info.specials == Specials::Fn && magnitude == ones) {
    value = kNan;
  } else {
    const std::uint32_t units =
        exponent == 0 ? fraction : fraction | std::uint32_t{1} << info.mantissa_bits;
    const int normal = static_cast<int>(exponent == 0 ? 1 : exponent);
    value = std::ldexp(static_cast<double>(units), normal - info.bias() - info.mantissa_bits);
  }
  return (bits & (ones + 1)) != 0 ? -value : value;
}

}  // namespace tilewright::ir
