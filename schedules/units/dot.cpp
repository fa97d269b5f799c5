// SPDX-License-Identifier: Apache-2.0
#include "schedules/units/dot.h"

#include <utility>

namespace tilewright::units {

namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kQuiet = 0x00400000U;
constexpr std::uint32_t kInvalid = 0xFFC00000U;

bool is_nan(std::uint32_t bits) { return (bits & ~kSign) > kInfinity; }
bool is_infinity(std::uint32_t bits) { return (bits & ~kSign) == kInfinity; }
bool is_zero(std::uint32_t bits) { return (bits & ~kSign) == 0; }
std::uint32_t flush(std::uint32_t bits) { return (bits & kInfinity) == 0 ? bits & kSign : bits; }

int bit_length(std::uint64_t value) { return value == 0 ? 0 : 64 - __builtin_clzll(value); }

// A finite number as significand * 2^exponent.
struct Parts {
  std::uint64_t significand;
  int exponent;
};
Parts parts(std::uint32_t bits) {
  const int field = static_cast<int>((bits & kInfinity) >> 23);
  const std::uint64_t fraction = bits & 0x007FFFFFU;
  if (field == 0) return {fraction, -149};
  return {fraction | 0x00800000U, field - 150};
}

// The same number with a significand of 24 bits. Precondition: not zero, and 24 bits hold it.
Parts normalised(Parts p) {
  const int zeros = __builtin_ctzll(p.significand);
  p.significand >>= zeros;
  const int up = 24 - bit_length(p.significand);
  return {p.significand << up, p.exponent + zeros - up};
}

// sign * magnitude * 2^exponent rounded to the nearest f32, ties to even. `magnitude` is not zero.
std::uint32_t round(std::uint32_t sign, std::uint64_t magnitude, int exponent, bool subnormals) {
  // The unit in the last place: of 24 bits, or of the subnormal grid where that one is coarser.
  int last = exponent + bit_length(magnitude) - 24;
  if (subnormals && last < -149) last = -149;
  const int cut = last - exponent;
  std::uint64_t kept = magnitude;
  if (cut > 63) {
    kept = 0;
  } else if (cut > 0) {
    kept = magnitude >> cut;
    const std::uint64_t rest = magnitude - (kept << cut);
    const std::uint64_t half = std::uint64_t{1} << (cut - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  } else {
    kept = magnitude << -cut;
  }
  if (bit_length(kept) > 24) {
    kept >>= 1;
    ++last;
  }
  const auto significand = static_cast<std::uint32_t>(kept);
  if (significand < 0x00800000U) return sign | significand;  // subnormal: last is -149
  const int field = last + 150;
  if (field >= 255) return sign | kInfinity;
  if (field <= 0) return sign;  // tiny after rounding, flushed
  return sign | (static_cast<std::uint32_t>(field) << 23) | (significand & 0x007FFFFFU);
}

// a * b + c for finite operands.
std::uint32_t finite_step(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool subnormals) {
  const std::uint32_t sign = (a ^ b) & kSign;
  const Parts x = parts(a);
  const Parts y = parts(b);
  const Parts z = parts(c);
  // Exact: bf16 has 8 bits that count, so a product has 16.
  const Parts product{x.significand * y.significand, x.exponent + y.exponent};
  if (product.significand == 0) {
    if (z.significand == 0) return sign == (c & kSign) ? sign : 0;
    return c;
  }
  Parts high = normalised(product);
  if (z.significand == 0) return round(sign, high.significand, high.exponent, subnormals);
  Parts low = normalised(z);
  std::uint32_t high_sign = sign;
  std::uint32_t low_sign = c & kSign;
  if (low.exponent > high.exponent) {
    std::swap(high, low);
    std::swap(high_sign, low_sign);
  }
  // The larger moves up beside the smaller. One that lies wholly below the last bit that can matter is one
  // unit of the place `kReach` below, which rounds alike.
  constexpr int kReach = 38;
  if (high.exponent - low.exponent > kReach) low = {1, high.exponent - kReach};
  const std::uint64_t large = high.significand << (high.exponent - low.exponent);
  std::uint64_t sum = large + low.significand;
  if (high_sign != low_sign) {
    sum = large - low.significand;
    if (large < low.significand) {
      sum = low.significand - large;
      high_sign = low_sign;
    }
  }
  return sum == 0 ? 0 : round(high_sign, sum, low.exponent, subnormals);
}

std::uint32_t step(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool subnormals) {
  for (std::uint32_t operand : {a, b, c})
    if (is_nan(operand)) return operand | kQuiet;
  if (!subnormals) {
    a = flush(a);
    b = flush(b);
    c = flush(c);
  }
  const std::uint32_t sign = (a ^ b) & kSign;
  if (is_infinity(a) || is_infinity(b)) {
    if (is_zero(a) || is_zero(b)) return kInvalid;
    if (is_infinity(c) && (c & kSign) != sign) return kInvalid;
    return sign | kInfinity;
  }
  return is_infinity(c) ? c : finite_step(a, b, c, subnormals);
}

}  // namespace

std::string_view dot_kind_text(DotKind kind) {
  switch (kind) {
    case DotKind::FusedChain: return "fused_chain";
    case DotKind::Wrapping: return "wrapping";
  }
  __builtin_unreachable();
}

std::optional<DotKind> parse_dot_kind(std::string_view text) {
  for (DotKind kind : {DotKind::FusedChain, DotKind::Wrapping})
    if (dot_kind_text(kind) == text) return kind;
  return std::nullopt;
}

bool takes(DotKind kind, ir::ScalarType a, ir::ScalarType b, ir::ScalarType accumulator) {
  if (kind == DotKind::FusedChain)
    return a == ir::ScalarType::BF16 && b == a && accumulator == ir::ScalarType::F32;
  return ir::is_integer(a) && ir::is_integer(b) && ir::is_integer(accumulator);
}

std::uint32_t fused_step(std::uint16_t a, std::uint16_t b, std::uint32_t c, bool subnormals) {
  return step(static_cast<std::uint32_t>(a) << 16, static_cast<std::uint32_t>(b) << 16, c,
              subnormals);
}

std::int64_t dot(const DotUnit& unit, std::span<const std::int64_t> a,
                 std::span<const std::int64_t> b, std::int64_t c) {
  if (unit.kind == DotKind::Wrapping) {
    // Modulo 2^64, which every narrower width divides; the caller's type wraps the rest.
    auto sum = static_cast<std::uint64_t>(c);
    for (std::size_t t = 0; t < a.size(); ++t)
      sum += static_cast<std::uint64_t>(a[t]) * static_cast<std::uint64_t>(b[t]);
    return static_cast<std::int64_t>(sum);
  }
  auto accumulator = static_cast<std::uint32_t>(c);
  for (std::int64_t t : unit.order)
    accumulator = fused_step(static_cast<std::uint16_t>(a[static_cast<std::size_t>(t)]),
                             static_cast<std::uint16_t>(b[static_cast<std::size_t>(t)]),
                             accumulator, unit.subnormals);
  return accumulator;
}

}  // namespace tilewright::units
