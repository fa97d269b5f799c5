// SPDX-License-Identifier: Apache-2.0
//
// The C header as C++: layouts told by DLPack's specification and by the calling contract, and
// filling a descriptor. Strict C99 is held by from_c.c, a foreign dlpack.h by
// dlpack_first_test.cpp.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "tilewright/runtime.h"

namespace {

TEST(Header, DLPackLayout) {
  EXPECT_EQ(offsetof(DLTensor, data), 0u);
  EXPECT_EQ(offsetof(DLTensor, device), 8u);
  EXPECT_EQ(offsetof(DLTensor, ndim), 16u);
  EXPECT_EQ(offsetof(DLTensor, dtype), 20u);
  EXPECT_EQ(offsetof(DLTensor, shape), 24u);
  EXPECT_EQ(offsetof(DLTensor, strides), 32u);
  EXPECT_EQ(offsetof(DLTensor, byte_offset), 40u);
  EXPECT_EQ(sizeof(DLDevice), 8u);
  EXPECT_EQ(sizeof(DLDataType), 4u);
  EXPECT_EQ(offsetof(DLDataType, lanes), 2u);
}

TEST(Header, RowMajor) {
  std::vector<float> data(24);
  std::int64_t shape[] = {2, 3, 4};
  tilewright_tensor tensor;
  std::memset(&tensor, 0xff, sizeof(tensor));
  ASSERT_EQ(
      tilewright_tensor_row_major(&tensor, data.data(), tilewright_type(kDLFloat, 32), 3, shape),
      TILEWRIGHT_OK);
  EXPECT_EQ(tensor.dl.data, data.data());
  EXPECT_EQ(tensor.dl.device.device_type, kDLCPU);
  EXPECT_EQ(tensor.dl.ndim, 3);
  EXPECT_EQ(tensor.dl.dtype.code, 2);
  EXPECT_EQ(tensor.dl.dtype.bits, 32);
  EXPECT_EQ(tensor.dl.dtype.lanes, 1);
  EXPECT_EQ(tensor.dl.shape, shape);
  EXPECT_EQ(tensor.dl.strides, nullptr);
  EXPECT_EQ(tensor.dl.byte_offset, 0u);
  EXPECT_EQ(tensor.size_bytes, 96u);
  EXPECT_EQ(tensor.flags, 0u);
  for (const std::uint64_t word : tensor.reserved) EXPECT_EQ(word, 0u);
}

TEST(Header, ScalarAndEmpty) {
  double value = 0;
  tilewright_tensor tensor;
  ASSERT_EQ(tilewright_tensor_row_major(&tensor, &value, tilewright_type(kDLFloat, 64), 0, nullptr),
            TILEWRIGHT_OK);
  EXPECT_EQ(tensor.size_bytes, 8u);
  std::int64_t shape[] = {0, 5};
  ASSERT_EQ(tilewright_tensor_row_major(&tensor, nullptr, tilewright_type(kDLInt, 8), 2, shape),
            TILEWRIGHT_OK);
  EXPECT_EQ(tensor.size_bytes, 0u);
}

TEST(Header, RowMajorRefusesAndLeavesTheTensorAlone) {
  char byte = 0;
  std::int64_t ok[] = {1};
  std::int64_t negative[] = {-1};
  std::int64_t huge[] = {std::numeric_limits<std::int64_t>::max(), 2};
  std::int64_t huge_but_empty[] = {0, std::int64_t{1} << 62, 4};
  const DLDataType i8 = tilewright_type(kDLInt, 8);
  tilewright_tensor tensor;
  std::memset(&tensor, 0x5a, sizeof(tensor));
  const tilewright_tensor before = tensor;
  EXPECT_EQ(tilewright_tensor_row_major(nullptr, &byte, i8, 1, ok), TILEWRIGHT_NULL_ARGUMENT);
  EXPECT_EQ(tilewright_tensor_row_major(&tensor, nullptr, i8, 1, ok), TILEWRIGHT_NULL_ARGUMENT);
  EXPECT_EQ(tilewright_tensor_row_major(&tensor, &byte, i8, 1, nullptr), TILEWRIGHT_NULL_ARGUMENT);
  EXPECT_EQ(tilewright_tensor_row_major(&tensor, &byte, i8, -1, ok), TILEWRIGHT_WRONG_RANK);
  EXPECT_EQ(tilewright_tensor_row_major(&tensor, &byte, tilewright_type(kDLInt, 3), 1, ok),
            TILEWRIGHT_WRONG_TYPE);
  EXPECT_EQ(tilewright_tensor_row_major(&tensor, &byte, tilewright_type(kDLInt, 0), 1, ok),
            TILEWRIGHT_WRONG_TYPE);
  EXPECT_EQ(tilewright_tensor_row_major(&tensor, &byte, i8, 1, negative), TILEWRIGHT_WRONG_SHAPE);
  EXPECT_EQ(tilewright_tensor_row_major(&tensor, &byte, i8, 2, huge), TILEWRIGHT_WRONG_SHAPE);
  EXPECT_EQ(tilewright_tensor_row_major(&tensor, nullptr, i8, 3, huge_but_empty),
            TILEWRIGHT_WRONG_SHAPE);
  EXPECT_EQ(std::memcmp(&tensor, &before, sizeof(tensor)), 0);
}

}  // namespace
