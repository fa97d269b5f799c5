// SPDX-License-Identifier: Apache-2.0
#include "schedules/layout/banks.h"

#include <random>

#include <gtest/gtest.h>

namespace tilewright::layout {
namespace {

// By hand: how often each bank is asked for another word.
std::int64_t count(const std::vector<Bits>& bytes, const Banks& banks) {
  std::int64_t most = 0;
  for (Bits bank = 0; bank < Bits{1} << banks.bank_bits; ++bank) {
    std::vector<Bits> words;
    for (Bits address : bytes) {
      const Bits word = address / (Bits{1} << banks.word_bits);
      if (word % (Bits{1} << banks.bank_bits) != bank) continue;
      bool seen = false;
      for (Bits other : words) seen = seen || other == word;
      if (!seen) words.push_back(word);
    }
    most = std::max(most, static_cast<std::int64_t>(words.size()));
  }
  return most;
}

TEST(Banks, RanksCountWhatEnumerationCounts) {
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 1000; ++trial) {
    const int lane_bits = 1 + trial % 5;
    const int cell_bits = 3 + trial % 7;
    const Banks banks{1 + trial % 6, trial % 4};
    const int element_bits = trial % (banks.word_bits + 1);
    auto map = [&](int out, int in) {
      std::vector<Bits> columns;
      for (int i = 0; i < in; ++i) columns.push_back(random() & ((Bits{1} << out) - 1));
      return LinearMap(out, columns);
    };
    const LinearMap lanes = map(cell_bits, lane_bits);
    const LinearMap layout = map(cell_bits, cell_bits);
    std::vector<Bits> bytes;
    for (Bits lane = 0; lane < Bits{1} << lane_bits; ++lane)
      bytes.push_back(layout(lanes(lane)) << element_bits);
    ASSERT_EQ(turns(lanes, layout, element_bits, banks), count(bytes, banks));
    ASSERT_EQ(turns(bytes, banks), count(bytes, banks));
  }
  EXPECT_EQ(turns(std::vector<Bits>{}, Banks{}), 0);
}

// A tile of 32 x 32 words in rows: rows are free of conflicts, a column takes 32 turns; a swizzle of the column
// by the row frees both.
TEST(Banks, ASwizzleFreesColumns) {
  const Banks banks;
  std::vector<Bits> row;
  std::vector<Bits> column;
  for (int i = 0; i < 5; ++i) {
    row.push_back(Bits{1} << i);
    column.push_back(Bits{1} << (5 + i));
  }
  const LinearMap along_row(10, row);
  const LinearMap along_column(10, column);
  const LinearMap plain = LinearMap::identity(10);
  const LinearMap swizzled = LinearMap::swizzle(10, 0, 5, 5);
  EXPECT_EQ(turns(along_row, plain, 2, banks), 1);
  EXPECT_EQ(turns(along_column, plain, 2, banks), 32);
  EXPECT_EQ(turns(along_row, swizzled, 2, banks), 1);
  EXPECT_EQ(turns(along_column, swizzled, 2, banks), 1);
  EXPECT_EQ(turns(along_column, LinearMap::swizzle(10, 0, 5, 3), 2, banks), 4);
  // Elements of two bytes share words: a column of them lies in two banks.
  EXPECT_EQ(turns(along_column, plain, 1, banks), 16);
}

}  // namespace
}  // namespace tilewright::layout
