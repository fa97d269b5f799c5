// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/value.h"

#include <bit>
#include <cstring>

namespace tilewright::ir {

std::int64_t Tensor::size() const {
  std::int64_t n = 1;
  for (std::int64_t extent : shape) n *= extent;
  return n;
}

std::int64_t Tensor::offset(std::span<const std::int64_t> indices) const {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + indices[d];
  return at;
}

Tensor make_tensor(ScalarType type, std::vector<std::int64_t> shape) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape = std::move(shape);
  Scalar zero;
  zero.i = 0;  // the bits of 0.0 as well
  tensor.data.assign(static_cast<std::size_t>(tensor.size() * scalars_of(type)), zero);
  return tensor;
}

namespace {

template <class T>
void put(std::byte* out, T value) {
  std::memcpy(out, &value, sizeof value);
}
template <class T>
T get(const std::byte* in) {
  T value;
  std::memcpy(&value, in, sizeof value);
  return value;
}

// Integers and the bits of floats, from the low byte on.
void put_scalar(ScalarType type, Scalar value, std::byte* out) {
  if (type == ScalarType::F64) return put(out, value.f);
  if (type == ScalarType::F32 || type == ScalarType::TF32)
    return put(out, static_cast<float>(value.f));
  const std::uint64_t bits =
      is_float(type) ? float_bits(type, value.f) : static_cast<std::uint64_t>(value.i);
  for (int b = 0; b < size_bytes(type); ++b) out[b] = static_cast<std::byte>(bits >> (8 * b));
}

Scalar get_scalar(ScalarType type, const std::byte* in) {
  Scalar value;
  if (type == ScalarType::F64) {
    value.f = get<double>(in);
  } else if (type == ScalarType::F32 || type == ScalarType::TF32) {
    value.f = round_to_type(type, static_cast<double>(get<float>(in)));
  } else {
    std::uint64_t bits = 0;
    for (int b = 0; b < size_bytes(type); ++b)
      bits |= std::to_integer<std::uint64_t>(in[b]) << (8 * b);
    if (is_float(type))
      value.f = float_value(type, static_cast<std::uint16_t>(bits));
    else
      value.i = wrap_to_type(type, static_cast<std::int64_t>(bits));
  }
  return value;
}

}  // namespace

std::size_t num_tensor_bytes(ScalarType type, std::span<const std::int64_t> shape) {
  auto bytes = static_cast<std::size_t>(size_bytes(type));
  const int per_byte = elements_per_byte(type);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t extent = shape[d];
    const bool packed = d + 1 == shape.size() && per_byte > 1;
    bytes *= static_cast<std::size_t>(packed ? (extent + per_byte - 1) / per_byte : extent);
  }
  return bytes;
}

namespace {

// Where element `i` of a packed tensor lies: its byte and the shift in it.
struct PackedPlace {
  std::size_t byte;
  int shift;
};
PackedPlace packed_place(const Tensor& tensor, std::size_t i) {
  const int per_byte = elements_per_byte(tensor.type);
  const std::size_t row = tensor.shape.empty() ? 1 : static_cast<std::size_t>(tensor.shape.back());
  const auto width = static_cast<std::size_t>(per_byte);
  const std::size_t row_bytes = (row + width - 1) / width;
  const std::size_t column = i % row;
  return {i / row * row_bytes + column / width,
          static_cast<int>(column % width) * type_info(tensor.type).storage_bits};
}

std::byte low_bits(ScalarType type) {
  return static_cast<std::byte>((1U << type_info(type).storage_bits) - 1);
}

}  // namespace

std::vector<std::byte> tensor_bytes(const Tensor& tensor) {
  if (!is_packed(tensor.type)) return element_bytes(tensor);
  std::vector<std::byte> out(num_tensor_bytes(tensor.type, tensor.shape));
  for (std::size_t i = 0; i < tensor.data.size(); ++i) {
    const PackedPlace place = packed_place(tensor, i);
    std::byte element{};
    put_scalar(tensor.type, tensor.data[i], &element);
    out[place.byte] |= (element & low_bits(tensor.type)) << place.shift;
  }
  return out;
}

Tensor tensor_from_bytes(ScalarType type, std::vector<std::int64_t> shape,
                         std::span<const std::byte> bytes) {
  if (!is_packed(type)) return tensor_from_elements(type, std::move(shape), bytes);
  Tensor tensor = make_tensor(type, std::move(shape));
  for (std::size_t i = 0; i < tensor.data.size(); ++i) {
    const PackedPlace place = packed_place(tensor, i);
    if (place.byte >= bytes.size()) break;
    const std::byte element = bytes[place.byte] >> place.shift & low_bits(type);
    tensor.data[i] = get_scalar(type, &element);
  }
  return tensor;
}

std::vector<std::byte> element_bytes(const Tensor& tensor) {
  const ScalarType part = part_type(tensor.type);
  const auto width = static_cast<std::size_t>(size_bytes(part));
  std::vector<std::byte> out(tensor.data.size() * width);
  for (std::size_t i = 0; i < tensor.data.size(); ++i)
    put_scalar(part, tensor.data[i], out.data() + i * width);
  return out;
}

Tensor tensor_from_elements(ScalarType type, std::vector<std::int64_t> shape,
                            std::span<const std::byte> bytes) {
  Tensor tensor = make_tensor(type, std::move(shape));
  const ScalarType part = part_type(type);
  const auto width = static_cast<std::size_t>(size_bytes(part));
  for (std::size_t i = 0; i < tensor.data.size() && (i + 1) * width <= bytes.size(); ++i)
    tensor.data[i] = get_scalar(part, bytes.data() + i * width);
  return tensor;
}

}  // namespace tilewright::ir
