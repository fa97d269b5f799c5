// SPDX-License-Identifier: Apache-2.0
//
// The .npy files through which a benchmark hands inputs and results between processes: C order, little
// endian, and the types below. A bf16 is its bits in <u2, which numpy has. Law: a file that is not exactly that is refused with a reason, never guessed at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::bench {

enum class Element : std::uint8_t { F32, F64, BF16, U8, I8, I32 };

// One row per type: how numpy and our own lines spell it.
struct ElementInfo {
  Element element;
  std::string_view name;  // "bf16"
  std::string_view descr;  // "<u2"
  std::size_t bytes;
};
const ElementInfo& element_info(Element element);
// Null when there is no such name.
const ElementInfo* find_element(std::string_view name);

struct Array {
  std::vector<std::int64_t> shape;
  Element element = Element::F32;
  std::vector<std::byte> bytes;

  std::size_t size() const;
  std::size_t element_size() const { return element_info(element).bytes; }
  // An element of any type as a number.
  double number(std::size_t i) const;
  std::uint16_t* bf16() { return reinterpret_cast<std::uint16_t*>(bytes.data()); }
  const std::uint16_t* bf16() const { return reinterpret_cast<const std::uint16_t*>(bytes.data()); }
  std::uint8_t* u8() { return reinterpret_cast<std::uint8_t*>(bytes.data()); }
  const std::uint8_t* u8() const { return reinterpret_cast<const std::uint8_t*>(bytes.data()); }
  std::int8_t* i8() { return reinterpret_cast<std::int8_t*>(bytes.data()); }
  const std::int8_t* i8() const { return reinterpret_cast<const std::int8_t*>(bytes.data()); }
  const std::int32_t* i32() const { return reinterpret_cast<const std::int32_t*>(bytes.data()); }
  float* f32() { return reinterpret_cast<float*>(bytes.data()); }
  const float* f32() const { return reinterpret_cast<const float*>(bytes.data()); }
  double* f64() { return reinterpret_cast<double*>(bytes.data()); }
  const double* f64() const { return reinterpret_cast<const double*>(bytes.data()); }
};

Array make_array(std::vector<std::int64_t> shape, Element element);

// Both return the empty string, or what went wrong. A write goes to a temporary name and is renamed.
std::string read_npy(const std::string& path, Array& array);
std::string write_npy(const std::string& path, const Array& array);

}  // namespace tilewright::bench
