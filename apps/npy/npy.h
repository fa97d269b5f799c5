// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files, format 1.0, 2.0 and 3.0, as tensors of Tilewright. Laws: a file is read whole and
// right or refused with a diagnostic (E0920 to E0929); reading allocates no more than the file is long,
// whatever its header says; a write leaves the new file or what was there before, never a part.
//
// Element types: bool i8 i32 i64 f16 f32 f64 as NumPy spells them (|b1 |i1 <i4 <i8 <f2 <f4 <f8), little
// endian. NumPy has no bfloat16: it is written as `<V2`, two opaque bytes, which is what NumPy's
// extension ml_dtypes writes (`numpy.load(f).view(ml_dtypes.bfloat16)` gives it back), and read from
// `<V2`, `|V2` and `<u2`. Arrays in Fortran order are converted. Tests: tests/unit/apps/npy, tests/fuzz/fuzz_npy.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/base/result.h"
#include "frontend/ir/value.h"

namespace tilewright::npy {

// Memory that vector loads like, and that is not cleared before it is filled.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kAlignment); }
  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

using Bytes = std::vector<std::byte, AlignedAllocator<std::byte>>;

// Row-major; data.size() is the product of the shape times the size of an element.
struct Array {
  ir::ScalarType type = ir::ScalarType::F32;  // never Index
  std::vector<std::int64_t> shape;
  Bytes data;
};

// Reads a regular file.
Result<Array> read(const std::string& path);

// The same from bytes in memory; `name` stands in diagnostics.
Result<Array> parse(std::span<const std::byte> file, std::string_view name);

// The tensor of a declared type that an array holds. Types that NumPy lacks come in one of the same size: bf16 in
// uint16, floats of 8 bits and fewer in uint8, i4 in int8, u4 in uint8, tf32 in float32; an element that does not
// fit its type is refused. Any other array keeps its own type.
Result<ir::Tensor> tensor_as(const Array& array, ir::ScalarType declared, std::string_view name);

// Writes format 1.0 under a temporary name in the same folder, then renames. An existing file keeps its permissions;
// a symbolic link is followed; what is not a regular file is refused.
Result<Ok> write(const std::string& path, ir::ScalarType type, std::span<const std::int64_t> shape,
                 std::span<const std::byte> data);
// The bytes of such a file; `name` stands in diagnostics.
Result<std::string> encode(std::string_view name, ir::ScalarType type,
                           std::span<const std::int64_t> shape, std::span<const std::byte> data);
// Those before its data. Their number is a multiple of 64. At most 64 dimensions.
std::string header_bytes(ir::ScalarType type, std::span<const std::int64_t> shape);

}  // namespace tilewright::npy
