// SPDX-License-Identifier: Apache-2.0
//
// What docs/language.md says of operations on complex numbers, from operations on reals: for evaluators in tests that
// do not split them.
#pragma once

#include <array>
#include <cmath>
#include <utility>

#include "frontend/ir/evaluate.h"

namespace tilewright::laws {

// A number, or both parts of a complex one.
using Cell = std::array<ir::Scalar, 2>;

inline Cell get_cell(const ir::Tensor& tensor, std::size_t i) {
  const auto parts = static_cast<std::size_t>(ir::scalars_of(tensor.type));
  return {tensor.data.at(parts * i), tensor.data.at(parts * i + parts - 1)};
}
inline void put_cell(ir::Tensor& tensor, std::size_t i, const Cell& cell) {
  const auto parts = static_cast<std::size_t>(ir::scalars_of(tensor.type));
  for (std::size_t p = 0; p < parts; ++p) tensor.data.at(parts * i + p) = cell[p];
}

// Operations on the parts, which have this type.
class ComplexArithmetic {
 public:
  explicit ComplexArithmetic(ir::ScalarType part) : part_(part) {}

  // + - * / of two, of which `w` is not looked at for - and conj of one.
  Cell apply(ir::OpCode op, const Cell& z, const Cell& w) const {
    using enum ir::OpCode;
    const auto [a, b] = z;
    const auto [c, d] = w;
    switch (op) {
      case Neg: return {of(Neg, a), of(Neg, b)};
      case Conj: return {a, of(Neg, b)};
      case Mul: return {sub(mul(a, c), mul(b, d)), add(mul(a, d), mul(b, c))};
      case Div: break;
      default: return {of(op, a, c), of(op, b, d)};
    }
    if (of(Ge, of(Abs, c), of(Abs, d)).i != 0) {
      const ir::Scalar r = div(d, c);
      const ir::Scalar e = add(c, mul(d, r));
      return {div(add(a, mul(b, r)), e), div(sub(b, mul(a, r)), e)};
    }
    const ir::Scalar r = div(c, d);
    const ir::Scalar e = add(mul(c, r), d);
    return {div(add(mul(a, r), b), e), div(sub(mul(b, r), a), e)};
  }

  // re, im, abs, == and !=.
  ir::Scalar real(ir::OpCode op, const Cell& z, const Cell& w) const {
    using enum ir::OpCode;
    if (op == Re) return z[0];
    if (op == Im) return z[1];
    if (op == Abs) return size(z);
    const bool equal = of(Eq, z[0], w[0]).i != 0 && of(Eq, z[1], w[1]).i != 0;
    return {.i = equal == (op == Eq)};
  }

 private:
  ir::Scalar of(ir::OpCode op, ir::Scalar a, ir::Scalar b = {}) const {
    const ir::Scalar args[] = {a, b};
    bool undefined = false;  // no operation on floats is
    return ir::evaluate_op(op, part_, args, &undefined);
  }
  ir::Scalar mul(ir::Scalar a, ir::Scalar b) const { return of(ir::OpCode::Mul, a, b); }
  ir::Scalar add(ir::Scalar a, ir::Scalar b) const { return of(ir::OpCode::Add, a, b); }
  ir::Scalar sub(ir::Scalar a, ir::Scalar b) const { return of(ir::OpCode::Sub, a, b); }
  ir::Scalar div(ir::Scalar a, ir::Scalar b) const { return of(ir::OpCode::Div, a, b); }

  ir::Scalar size(const Cell& z) const {
    ir::Scalar large = of(ir::OpCode::Abs, z[0]);
    ir::Scalar small = of(ir::OpCode::Abs, z[1]);
    if (of(ir::OpCode::Ge, large, small).i == 0) std::swap(large, small);
    if (small.f == 0 || std::isinf(large.f)) return large;
    const ir::Scalar ratio = div(small, large);
    ir::Scalar one;
    one.f = 1;
    return mul(large, of(ir::OpCode::Sqrt, add(one, mul(ratio, ratio))));
  }

  ir::ScalarType part_;
};

}  // namespace tilewright::laws
