// SPDX-License-Identifier: Apache-2.0
//
// Ranges of integers of any type in 128 bits, and what operations make of them before a type wraps the
// result. Law: the range of a result holds the result of any operands in theirs. Private to intervals.cpp.
#pragma once

#include <algorithm>
#include <limits>

#include "frontend/ir/expr.h"

namespace tilewright::ir {

__extension__ using Wide = __int128;
struct IntRange {
  Wide low;
  Wide high;
};
inline constexpr IntRange kAnyInt{std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::max()};

inline Wide wide(ScalarType type, std::int64_t x) {
  return type == ScalarType::U64 ? static_cast<Wide>(static_cast<std::uint64_t>(x))
                                 : static_cast<Wide>(x);
}

// Products of the largest u64 do not fit 128 bits with a sign: then all that a type may make of them.
inline IntRange int_product(IntRange a, IntRange b) {
  constexpr Wide kFar = Wide{1} << 126;
  const Wide factors[4][2] = {{a.low, b.low}, {a.low, b.high}, {a.high, b.low}, {a.high, b.high}};
  Wide p[4];
  for (int i = 0; i < 4; ++i)
    if (__builtin_mul_overflow(factors[i][0], factors[i][1], &p[i])) return {-kFar, kFar};
  return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}

inline Wide floor_quotient(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

inline IntRange int_range(OpCode op, IntRange a, IntRange b, IntRange c) {
  switch (op) {
    case OpCode::Add: return {a.low + b.low, a.high + b.high};
    case OpCode::Sub: return {a.low - b.high, a.high - b.low};
    case OpCode::Mul: return int_product(a, b);
    case OpCode::Fma: {
      const IntRange p = int_product(a, b);
      return {p.low + c.low, p.high + c.high};
    }
    case OpCode::Neg: return {-a.high, -a.low};
    case OpCode::Abs:
      if (a.low >= 0) return a;
      return {a.high <= 0 ? -a.high : Wide{0}, std::max(-a.low, a.high)};
    case OpCode::Min: return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case OpCode::Max: return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case OpCode::Div: {
      if (b.low <= 0 && b.high >= 0) return kAnyInt;
      const Wide q[] = {floor_quotient(a.low, b.low), floor_quotient(a.low, b.high),
                        floor_quotient(a.high, b.low), floor_quotient(a.high, b.high)};
      return {*std::min_element(q, q + 4), *std::max_element(q, q + 4)};
    }
    case OpCode::Mod:
      if (b.low <= 0 && b.high >= 0) return kAnyInt;
      if (a.low == a.high && b.low == b.high) {
        const Wide r = a.low - floor_quotient(a.low, b.low) * b.low;
        return {r, r};
      }
      return {std::min(b.low + 1, Wide{0}), std::max(b.high - 1, Wide{0})};
    default: return kAnyInt;
  }
}

inline IntRange limits_of(ScalarType type) {
  if (!is_integer(type)) return kAnyInt;
  return {wide(type, lowest_integer(type)), wide(type, greatest_integer(type))};
}

}  // namespace tilewright::ir
