// SPDX-License-Identifier: Apache-2.0
#include "schedules/layout/linear_map.h"

#include <bit>

namespace tilewright::layout {

namespace {

Bits bit(int at) { return Bits{1} << at; }

// Columns by elimination: each is kept with the combination of inputs that gives it, and has a highest bit that
// no other has. What comes to nothing is in the kernel.
struct Elimination {
  struct Row {
    Bits image = 0;
    Bits inputs = 0;
  };
  std::vector<Row> rows;
  std::optional<Bits> kernel;

  explicit Elimination(const LinearMap& map) {
    for (int i = 0; i < map.in_bits(); ++i) {
      Row row{map.column(i), bit(i)};
      reduce(row);
      if (row.image) {
        rows.push_back(row);
      } else if (!kernel) {
        kernel = row.inputs;
      }
    }
  }

  void reduce(Row& row) const {
    for (const Row& other : rows)
      if (row.image & std::bit_floor(other.image)) {
        row.image ^= other.image;
        row.inputs ^= other.inputs;
      }
  }
};

}  // namespace

LinearMap LinearMap::identity(int bits) {
  std::vector<Bits> columns;
  for (int i = 0; i < bits; ++i) columns.push_back(bit(i));
  return {bits, std::move(columns)};
}

LinearMap LinearMap::permutation(const std::vector<int>& from) {
  std::vector<Bits> columns(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    columns[static_cast<std::size_t>(from[i])] |= bit(static_cast<int>(i));
  return {static_cast<int>(from.size()), std::move(columns)};
}

LinearMap LinearMap::swizzle(int bits, int to, int from, int count) {
  LinearMap out = identity(bits);
  for (int i = 0; i < count; ++i) out.columns_[static_cast<std::size_t>(from + i)] ^= bit(to + i);
  return out;
}

LinearMap LinearMap::bit_range(int bits, int low, int count) {
  std::vector<Bits> columns(static_cast<std::size_t>(bits));
  for (int i = 0; i < count; ++i) columns[static_cast<std::size_t>(low + i)] = bit(i);
  return {count, std::move(columns)};
}

Bits LinearMap::operator()(Bits x) const {
  Bits out = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (x >> i & 1) out ^= columns_[i];
  return out;
}

int LinearMap::rank() const { return static_cast<int>(Elimination(*this).rows.size()); }

std::optional<Bits> LinearMap::kernel() const { return Elimination(*this).kernel; }

std::optional<LinearMap> LinearMap::inverse() const {
  if (!is_bijection()) return std::nullopt;
  const Elimination elimination(*this);
  std::vector<Bits> columns;
  for (int i = 0; i < out_bits_; ++i) {
    // Reduced from the highest bit on, so that each step clears one for good.
    Elimination::Row row{bit(i), 0};
    while (row.image)
      for (const Elimination::Row& other : elimination.rows)
        if (std::bit_floor(other.image) == std::bit_floor(row.image)) {
          row.image ^= other.image;
          row.inputs ^= other.inputs;
          break;
        }
    columns.push_back(row.inputs);
  }
  return LinearMap(out_bits_, std::move(columns));
}

LinearMap compose(const LinearMap& second, const LinearMap& first) {
  std::vector<Bits> columns;
  for (int i = 0; i < first.in_bits(); ++i) columns.push_back(second(first.column(i)));
  return {second.out_bits(), std::move(columns)};
}

LinearMap product(const LinearMap& high, const LinearMap& low) {
  std::vector<Bits> columns;
  for (int i = 0; i < low.in_bits(); ++i) columns.push_back(low.column(i));
  for (int i = 0; i < high.in_bits(); ++i) columns.push_back(high.column(i) << low.out_bits());
  return {low.out_bits() + high.out_bits(), std::move(columns)};
}

}  // namespace tilewright::layout
