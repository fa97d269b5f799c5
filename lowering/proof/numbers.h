// SPDX-License-Identifier: Apache-2.0
//
// Integers of the search for evidence, private to this room. Law: nothing wraps. Every stored number is at
// most kMost in magnitude, so that a product of two and a sum of two products fit 128 bits; what leaves that
// range is reported by the operation, and the search ends as unknown.
#pragma once

#include <cstdint>

namespace tilewright::proof {

using Int = std::int64_t;
__extension__ typedef __int128 Wide;

inline constexpr Int kMost = static_cast<Int>(1) << 62;

inline bool fits(Wide value) { return value >= -static_cast<Wide>(kMost) && value <= kMost; }

// target += factor * value; false when the sum does not fit.
inline bool add_product(Int& target, Int factor, Int value) {
  Wide sum = static_cast<Wide>(factor) * value + target;
  target = static_cast<Int>(sum);
  return fits(sum);
}

// Both: precondition denominator > 0.
inline Int floored(Int numerator, Int denominator) {
  return numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
}
inline Int remainder_of(Int numerator, Int denominator) {
  Int rest = numerator % denominator;
  return rest < 0 ? rest + denominator : rest;
}

}  // namespace tilewright::proof
