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
  tensor.data.assign(static_cast<std::size_t>(tensor.size()), zero);
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

void put_scalar(ScalarType type, Scalar value, std::byte* out) {
  switch (type) {
    case ScalarType::Bool: return put(out, static_cast<std::uint8_t>(value.i != 0));
    case ScalarType::I8: return put(out, static_cast<std::int8_t>(value.i));
    case ScalarType::I32: return put(out, static_cast<std::int32_t>(value.i));
    case ScalarType::Index:
    case ScalarType::I64: return put(out, value.i);
    case ScalarType::BF16: return put(out, bf16_bits(static_cast<float>(value.f)));
    case ScalarType::F16: return put(out, f16_bits(static_cast<float>(value.f)));
    case ScalarType::F32: return put(out, static_cast<float>(value.f));
    case ScalarType::F64: return put(out, value.f);
  }
}

Scalar get_scalar(ScalarType type, const std::byte* in) {
  Scalar value;
  value.i = 0;
  switch (type) {
    case ScalarType::Bool: value.i = get<std::uint8_t>(in) != 0; break;
    case ScalarType::I8: value.i = get<std::int8_t>(in); break;
    case ScalarType::I32: value.i = get<std::int32_t>(in); break;
    case ScalarType::Index:
    case ScalarType::I64: value.i = get<std::int64_t>(in); break;
    case ScalarType::BF16: value.f = bf16_value(get<std::uint16_t>(in)); break;
    case ScalarType::F16: value.f = f16_value(get<std::uint16_t>(in)); break;
    case ScalarType::F32: value.f = get<float>(in); break;
    case ScalarType::F64: value.f = get<double>(in); break;
  }
  return value;
}

}  // namespace

std::vector<std::byte> tensor_bytes(const Tensor& tensor) {
  const auto width = static_cast<std::size_t>(size_bytes(tensor.type));
  std::vector<std::byte> out(tensor.data.size() * width);
  for (std::size_t i = 0; i < tensor.data.size(); ++i)
    put_scalar(tensor.type, tensor.data[i], out.data() + i * width);
  return out;
}

Tensor tensor_from_bytes(ScalarType type, std::vector<std::int64_t> shape,
                         std::span<const std::byte> bytes) {
  Tensor tensor = make_tensor(type, std::move(shape));
  const auto width = static_cast<std::size_t>(size_bytes(type));
  for (std::size_t i = 0; i < tensor.data.size() && (i + 1) * width <= bytes.size(); ++i)
    tensor.data[i] = get_scalar(type, bytes.data() + i * width);
  return tensor;
}

}  // namespace tilewright::ir
