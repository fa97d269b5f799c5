// SPDX-License-Identifier: Apache-2.0
//
// The vectors for threefry2x32 with 20 rounds that come with the authors' library (Random123, kat_vectors).
#include "frontend/ir/random_bits.h"

#include <gtest/gtest.h>

#include <set>

#include "frontend/ir/evaluate.h"

namespace tilewright::ir {
namespace {

std::uint64_t random_bits(ScalarType type, std::uint64_t key, std::uint64_t counter) {
  const Scalar args[3] = {
      {.i = static_cast<std::int64_t>(key)}, {.i = static_cast<std::int64_t>(counter)}, {.i = 0}};
  bool undefined = false;
  return static_cast<std::uint64_t>(evaluate_op(OpCode::RandomBits, type, args, &undefined).i);
}

TEST(RandomBits, PublishedVectors) {
  // counter and key as (second word, first word); result likewise.
  EXPECT_EQ(random_bits(ScalarType::U64, 0, 0), 0x99ba4efe6b200159U);
  EXPECT_EQ(random_bits(ScalarType::U64, 0xffffffffffffffffU, 0xffffffffffffffffU),
            0xbb002be71cb996fcU);
  EXPECT_EQ(random_bits(ScalarType::U64, 0x0370734413198a2eU, 0x85a308d3243f6a88U),
            0x483df7a0c4923a9cU);
}

TEST(RandomBits, NarrowOperandsGiveTheFirstWord) {
  EXPECT_EQ(random_bits(ScalarType::U32, 0, 0), 0x6b200159U);
  EXPECT_EQ(random_bits(ScalarType::U32, 7, 9), random_bits(ScalarType::U64, 7, 9) & 0xffffffffU);
}

TEST(RandomBits, CountersGiveBitsOfTheirOwn) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t counter = 0; counter < 10000; ++counter)
    seen.insert(random_bits(ScalarType::U64, 42, counter));
  EXPECT_EQ(seen.size(), 10000U);
}

}  // namespace
}  // namespace tilewright::ir
