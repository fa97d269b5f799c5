// SPDX-License-Identifier: Apache-2.0
//
// The C interface of the runtime as offsets and numbers for generated code. Taken from its header, so that
// the two cannot drift apart. A `kSize` is the least struct_size that a kernel accepts: the size of version 1 of
// the ABI, frozen, so that a caller compiled with that version stays good when the structure grows.
#pragma once

#include <cstddef>

#include "runtime/include/tilewright/runtime.h"

namespace tilewright::llvm_wall::abi {

namespace call {
inline constexpr std::size_t kSize = 64;
static_assert(sizeof(tilewright_call) >= kSize);
inline constexpr std::size_t kFlags = offsetof(tilewright_call, flags);
inline constexpr std::size_t kExecutor = offsetof(tilewright_call, executor);
inline constexpr std::size_t kCancel = offsetof(tilewright_call, cancel);
inline constexpr std::size_t kError = offsetof(tilewright_call, error);
inline constexpr std::size_t kReserved = offsetof(tilewright_call, reserved);
}  // namespace call

namespace executor {
inline constexpr std::size_t kSize = 40;
static_assert(sizeof(tilewright_executor) >= kSize);
inline constexpr std::size_t kNumWorkers = offsetof(tilewright_executor, num_workers);
inline constexpr std::size_t kParallelFor = offsetof(tilewright_executor, parallel_for);
inline constexpr std::size_t kReserved = offsetof(tilewright_executor, reserved);
}  // namespace executor

namespace error {
inline constexpr std::size_t kSize = 512;
static_assert(sizeof(tilewright_error) >= kSize);
inline constexpr std::size_t kStatus = offsetof(tilewright_error, status);
inline constexpr std::size_t kArgument = offsetof(tilewright_error, argument);
inline constexpr std::size_t kDimension = offsetof(tilewright_error, dimension);
inline constexpr std::size_t kExpected = offsetof(tilewright_error, expected);
inline constexpr std::size_t kGot = offsetof(tilewright_error, got);
inline constexpr std::size_t kFunction = offsetof(tilewright_error, function);
inline constexpr std::size_t kFunctionSize = sizeof(tilewright_error::function);
inline constexpr std::size_t kMessage = offsetof(tilewright_error, message);
inline constexpr std::size_t kMessageSize = sizeof(tilewright_error::message);
}  // namespace error

namespace tensor {
inline constexpr std::size_t kData = offsetof(DLTensor, data);
inline constexpr std::size_t kDevice = offsetof(DLTensor, device);
inline constexpr std::size_t kRank = offsetof(DLTensor, ndim);
inline constexpr std::size_t kType = offsetof(DLTensor, dtype);
inline constexpr std::size_t kShape = offsetof(DLTensor, shape);
inline constexpr std::size_t kStrides = offsetof(DLTensor, strides);
inline constexpr std::size_t kByteOffset = offsetof(DLTensor, byte_offset);
inline constexpr std::size_t kSizeBytes = offsetof(tilewright_tensor, size_bytes);
inline constexpr std::size_t kFlags = offsetof(tilewright_tensor, flags);
}  // namespace tensor

}  // namespace tilewright::llvm_wall::abi
