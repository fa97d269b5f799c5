// SPDX-License-Identifier: Apache-2.0
//
// Values that the interpreters compute with. A Scalar is interpreted by its ScalarType: floats in
// `f` (on the grid of their type), everything else in `i` (bool is 0 or 1); a complex number is two
// of them. Tensors are row-major and own their data.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "frontend/base/symbol.h"
#include "frontend/ir/expr.h"

namespace tilewright::ir {

union Scalar {
  double f;
  std::int64_t i;
};

struct Tensor {
  ScalarType type = ScalarType::F32;
  std::vector<std::int64_t> shape;
  std::vector<Scalar>
      data;  // product of shape elements; of complex numbers real and imaginary parts in turn

  std::int64_t size() const;
  // Precondition: in bounds.
  std::int64_t offset(std::span<const std::int64_t> indices) const;
};
// Zero-initialised.
Tensor make_tensor(ScalarType type, std::vector<std::int64_t> shape);
// The bytes of a compact row-major tensor of the caller, and back: bool 1 byte, index 8, types of 4
// bits packed by rows of the last axis, so that an odd row leaves its last high half unused.
std::vector<std::byte> tensor_bytes(const Tensor& tensor);
Tensor tensor_from_bytes(ScalarType type, std::vector<std::int64_t> shape,
                         std::span<const std::byte> bytes);
// How many those are; the extents are not negative and their product fits.
std::size_t num_tensor_bytes(ScalarType type, std::span<const std::int64_t> shape);
// The same with every element in bytes of its own, as files hold them.
std::vector<std::byte> element_bytes(const Tensor& tensor);
Tensor tensor_from_elements(ScalarType type, std::vector<std::int64_t> shape,
                            std::span<const std::byte> bytes);

using TensorMap = std::map<Symbol, Tensor>;

}  // namespace tilewright::ir
