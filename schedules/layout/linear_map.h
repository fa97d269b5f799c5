// SPDX-License-Identifier: Apache-2.0
//
// Bit-linear maps: a number is the vector of its bits, and a map is a matrix over the field of two elements, so
// map(x ^ y) = map(x) ^ map(y). Layouts whose sizes are powers of two, permutations of bits, swizzles and the
// maps from lanes to cells are of this form. Laws: composition is associative with the identity; a map is a
// bijection exactly when it is square and its rank is its size, and then inverse composed with it is the
// identity (tests/unit/schedules/layout/linear_map_test.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::layout {

using Bits = std::uint64_t;
inline constexpr int kMaxBits = 64;

class LinearMap {
 public:
  // The image of each bit, the lowest first. Precondition: at most kMaxBits of each; images below 2^out_bits.
  LinearMap(int out_bits, std::vector<Bits> columns)
      : out_bits_(out_bits), columns_(std::move(columns)) {}
  static LinearMap identity(int bits);
  // Bit i of the result is bit from[i] of the argument.
  static LinearMap permutation(const std::vector<int>& from);
  // Bits [to, to + count) are changed by those from `from` on: x ^ ((x >> from) % 2^count << to).
  static LinearMap swizzle(int bits, int to, int from, int count);
  // The bits from `low` on, `count` of them.
  static LinearMap bit_range(int bits, int low, int count);

  int in_bits() const { return static_cast<int>(columns_.size()); }
  int out_bits() const { return out_bits_; }
  Bits column(int bit) const { return columns_[static_cast<std::size_t>(bit)]; }
  Bits operator()(Bits x) const;

  int rank() const;
  bool is_bijection() const { return in_bits() == out_bits_ && rank() == out_bits_; }
  // Something other than 0 that it takes to 0, if there is: it takes x and x ^ kernel to one place.
  std::optional<Bits> kernel() const;
  std::optional<LinearMap> inverse() const;  // of a bijection

  friend bool operator==(const LinearMap&, const LinearMap&) = default;

 private:
  int out_bits_ = 0;
  std::vector<Bits> columns_;
};

// first, then second. Precondition: first.out_bits() == second.in_bits().
LinearMap compose(const LinearMap& second, const LinearMap& first);
// The low bits through `low`, the others through `high`, side by side. Precondition: at most kMaxBits in all.
LinearMap product(const LinearMap& high, const LinearMap& low);

}  // namespace tilewright::layout
