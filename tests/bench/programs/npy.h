// SPDX-License-Identifier: Apache-2.0
//
// The .npy files through which a benchmark hands inputs and results between processes: C order, little
// endian, f4 and f8. Law: a file that is not exactly that is refused with a reason, never guessed at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::bench {

struct Array {
  std::vector<std::int64_t> shape;
  // Bytes of one element: 4 (float) or 8 (double).
  std::size_t element_size = 4;
  std::vector<std::byte> bytes;

  std::size_t size() const;
  float* f32() { return reinterpret_cast<float*>(bytes.data()); }
  const float* f32() const { return reinterpret_cast<const float*>(bytes.data()); }
  double* f64() { return reinterpret_cast<double*>(bytes.data()); }
  const double* f64() const { return reinterpret_cast<const double*>(bytes.data()); }
};

Array make_array(std::vector<std::int64_t> shape, std::size_t element_size);

// Both return the empty string, or what went wrong. A write goes to a temporary name and is renamed.
std::string read_npy(const std::string& path, Array& array);
std::string write_npy(const std::string& path, const Array& array);

}  // namespace tilewright::bench
