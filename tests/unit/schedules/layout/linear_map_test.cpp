// SPDX-License-Identifier: Apache-2.0
#include "schedules/layout/linear_map.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace tilewright::layout {
namespace {

LinearMap random_map(std::mt19937_64& random, int out_bits, int in_bits) {
  std::vector<Bits> columns;
  for (int i = 0; i < in_bits; ++i) columns.push_back(random() & ((Bits{1} << out_bits) - 1));
  return {out_bits, columns};
}

std::set<Bits> image(const LinearMap& map) {
  std::set<Bits> out;
  for (Bits x = 0; x < Bits{1} << map.in_bits(); ++x) out.insert(map(x));
  return out;
}

TEST(LinearMap, IsLinearAndItsRankCountsTheImage) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const LinearMap map = random_map(random, 1 + trial % 7, trial % 8);
    for (Bits x = 0; x < Bits{1} << map.in_bits(); ++x)
      for (Bits y = 0; y < Bits{1} << map.in_bits(); y += 3) ASSERT_EQ(map(x ^ y), map(x) ^ map(y));
    EXPECT_EQ(image(map).size(), std::size_t{1} << map.rank());
    const auto kernel = map.kernel();
    EXPECT_EQ(kernel.has_value(), map.rank() < map.in_bits());
    if (kernel) {
      EXPECT_NE(*kernel, 0u);
      EXPECT_EQ(map(*kernel), 0u);
    }
  }
}

TEST(LinearMap, BijectionsHaveInverses) {
  std::mt19937_64 random(2);
  int bijections = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const int bits = 1 + trial % 6;
    const LinearMap map = random_map(random, bits, trial % 5 ? bits : bits + 1);
    const bool one_to_one = map.in_bits() == bits && image(map).size() == std::size_t{1} << bits;
    ASSERT_EQ(map.is_bijection(), one_to_one);
    const auto inverse = map.inverse();
    ASSERT_EQ(inverse.has_value(), one_to_one);
    if (!inverse) continue;
    ++bijections;
    EXPECT_EQ(compose(*inverse, map), LinearMap::identity(bits));
    EXPECT_EQ(compose(map, *inverse), LinearMap::identity(bits));
  }
  EXPECT_GT(bijections, 100);
}

TEST(LinearMap, CompositionIsAssociativeAndRunsInOrder) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const LinearMap a = random_map(random, 1 + trial % 5, 4);
    const LinearMap b = random_map(random, 4, 1 + trial % 6);
    const LinearMap c = random_map(random, b.in_bits(), 5);
    EXPECT_EQ(compose(compose(a, b), c), compose(a, compose(b, c)));
    EXPECT_EQ(compose(a, LinearMap::identity(4)), a);
    for (Bits x = 0; x < 32; ++x) ASSERT_EQ(compose(a, compose(b, c))(x), a(b(c(x))));
  }
}

TEST(LinearMap, NamedMaps) {
  const LinearMap swizzle = LinearMap::swizzle(8, 2, 5, 3);
  const LinearMap range = LinearMap::bit_range(8, 3, 4);
  const LinearMap transpose = LinearMap::permutation({3, 4, 5, 6, 7, 0, 1, 2});
  const LinearMap both = product(LinearMap::swizzle(4, 0, 2, 2), LinearMap::identity(4));
  for (Bits x = 0; x < 256; ++x) {
    EXPECT_EQ(swizzle(x), x ^ ((x >> 5 & 7) << 2));
    EXPECT_EQ(range(x), x / 8 % 16);
    EXPECT_EQ(transpose(x), x / 8 + x % 8 * 32);
    EXPECT_EQ(both(x), ((x >> 4) ^ (x >> 6)) << 4 | x % 16);
  }
  EXPECT_TRUE(swizzle.is_bijection());
  // A swizzle whose bits do not meet undoes itself; one of bits by themselves loses them.
  EXPECT_EQ(compose(swizzle, swizzle), LinearMap::identity(8));
  EXPECT_EQ(LinearMap::swizzle(4, 1, 1, 2).rank(), 2);
  EXPECT_EQ(LinearMap::swizzle(4, 1, 1, 2).kernel(), 2u);
}

TEST(LinearMap, TheWidestMaps) {
  const LinearMap swizzle = LinearMap::swizzle(64, 0, 61, 3);
  EXPECT_EQ(swizzle(Bits{7} << 61), (Bits{7} << 61) + 7);
  EXPECT_EQ(swizzle.rank(), 64);
  EXPECT_EQ(*swizzle.inverse(), swizzle);
}

}  // namespace
}  // namespace tilewright::layout
