// SPDX-License-Identifier: Apache-2.0
//
// What one lane of a value is: bits with a meaning, or a pointer. The values of this room have no vectors: a
// vector is its lanes, in order.
#pragma once

#include <cstdint>

namespace tilewright::validate {

enum class SortKind : std::uint8_t { Int, Half, Float, Double, Pointer };

struct Sort {
  SortKind kind = SortKind::Int;
  std::uint8_t bits = 64;  // of an Int at most 64
  friend bool operator==(Sort, Sort) = default;
};

inline constexpr Sort kBit{SortKind::Int, 1};
inline constexpr Sort kF16{SortKind::Half, 16};
inline constexpr Sort kF32{SortKind::Float, 32};
inline constexpr Sort kF64{SortKind::Double, 64};
inline constexpr Sort kPointer{SortKind::Pointer, 64};
constexpr Sort int_sort(int bits) { return {SortKind::Int, static_cast<std::uint8_t>(bits)}; }
constexpr bool is_float(Sort sort) {
  return sort.kind == SortKind::Half || sort.kind == SortKind::Float ||
         sort.kind == SortKind::Double;
}
constexpr int bytes_of(Sort sort) { return (sort.bits + 7) / 8; }
constexpr std::uint64_t mask_of(int bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}
// The value of `bits` bits as a signed number.
constexpr std::int64_t sign_extend(std::uint64_t value, int bits) {
  const int free = 64 - bits;
  return static_cast<std::int64_t>(value << free) >> free;
}

}  // namespace tilewright::validate
