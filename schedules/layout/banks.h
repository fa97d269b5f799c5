// SPDX-License-Identifier: Apache-2.0
//
// Bank conflicts. A memory has 2^bank_bits banks; word w lies in bank w mod 2^bank_bits; one access of a set of
// lanes takes as many turns as the most wanted bank has different words to give. Law: for linear patterns the
// count by ranks is the one by enumeration (tests/unit/schedules/layout/banks_test.cpp).
#pragma once

#include <span>

#include "schedules/layout/linear_map.h"

namespace tilewright::layout {

struct Banks {
  int bank_bits = 5;  // 32 banks
  int word_bits = 2;  // of 4 bytes
};

// Turns that an access of these bytes takes: 1 without conflicts, 0 without lanes.
std::int64_t turns(std::span<const Bits> byte_addresses, const Banks& banks);

// The same where lane l wants the cell lanes(l), laid out by `layout` into elements of 2^element_bits bytes, from
// the ranks alone. The words that the lanes want are 2^rank many, and each bank that is wanted has equally many.
// Preconditions: lanes.out_bits() == layout.in_bits(); an element is no larger than a word.
std::int64_t turns(const LinearMap& lanes, const LinearMap& layout, int element_bits,
                   const Banks& banks);

}  // namespace tilewright::layout
