// SPDX-License-Identifier: Apache-2.0
//
// Counter-based random bits: random_bits(key, counter) is Threefry-2x32 with 20 rounds (Salmon, Moraes,
// Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). Written once over a builder's
// 32-bit integers, as the math functions are (math_primitives.h), so that interpreters and code give
// the same bits. Of u64 operands the low halves are the first words of key and counter, and the result
// is the first word in the low half; u32 operands have second words of zero, and the result is the
// first word. Tests: random_bits_test.cpp holds it to the vectors that the authors published.
#pragma once

#include <cstdint>

namespace tilewright::ir {

template <class I32>
struct WordPair {
  I32 first;
  I32 second;
};

template <class B, class I32>
I32 rotate_left(B& b, I32 x, int count) {
  return b.or_(b.shl(x, b.i32(count)), b.lshr(x, b.i32(32 - count)));
}

template <class B, class I32>
WordPair<I32> threefry2x32(B& b, WordPair<I32> key, WordPair<I32> counter) {
  constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const auto parity = b.i32(static_cast<std::int32_t>(0x1bd11bdaU));
  const I32 keys[3] = {key.first, key.second, b.xor_(b.xor_(key.first, key.second), parity)};
  I32 x = b.add(counter.first, keys[0]);
  I32 y = b.add(counter.second, keys[1]);
  for (int group = 0; group < 5; ++group) {
    for (int round = 0; round < 4; ++round) {
      x = b.add(x, y);
      y = b.xor_(rotate_left(b, y, kRotations[(4 * group + round) % 8]), x);
    }
    x = b.add(x, keys[(group + 1) % 3]);
    y = b.add(b.add(y, keys[(group + 2) % 3]), b.i32(group + 1));
  }
  return {x, y};
}

}  // namespace tilewright::ir
