// SPDX-License-Identifier: Apache-2.0
//
// A program that included DLPack's own header first: ours then uses its types. The stand-in below
// has that header's guard and the layout of its specification.
#define DLPACK_DLPACK_H_
#include <gtest/gtest.h>

#include <cstdint>

typedef enum : std::int32_t { kDLCPU = 1, kDLVulkan = 7 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  std::int32_t device_id;
} DLDevice;
typedef enum { kDLInt = 0U, kDLFloat = 2U } DLDataTypeCode;
typedef struct {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
} DLTensor;

#include "tilewright/runtime.h"

namespace {

TEST(Header, ForeignDLPackComesFirst) {
  float value = 0;
  tilewright_tensor tensor;
  ASSERT_EQ(tilewright_tensor_row_major(&tensor, &value, tilewright_type(kDLFloat, 32), 0, nullptr),
            TILEWRIGHT_OK);
  DLTensor* const as_dlpack = reinterpret_cast<DLTensor*>(&tensor);
  EXPECT_EQ(as_dlpack->data, &value);
  EXPECT_EQ(as_dlpack->device.device_type, kDLCPU);
}

}  // namespace
