// SPDX-License-Identifier: Apache-2.0
//
// Deterministic inputs for a seed; the stream of a tensor depends on its name alone, so that adding
// an input leaves the others as they were.
#include <algorithm>
#include <cmath>

#include "frontend/base/hash.h"
#include "frontend/ir/interpret.h"

namespace tilewright::ir {

namespace {

// splitmix64 (Steele, Lea and Flood, 2014).
class Stream {
 public:
  explicit Stream(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  std::uint64_t below(std::uint64_t n) { return next() % n; }

 private:
  std::uint64_t state_;
};

double random_float(Stream& stream, ScalarType type, bool wide) {
  switch (stream.below(32)) {
    case 0: return 0.0;
    case 1: return stream.below(2) ? 1.0 : -1.0;
    case 2:
      // Up to the cube root of the largest value: products of three stay finite.
      if (wide) {
        const double top = std::log2(largest_finite(type)) / 3;
        const double size = std::exp2(stream.unit() * top);
        return stream.below(2) ? size : -size;
      }
      break;
    default: break;
  }
  return 2 * stream.unit() - 1;
}

// Values in the range, some of them at its ends; a clamped tensor has some beyond. Rows are sorted, and drawn
// without repetition, where that is declared. Where a range is too small no values are right, and these are not.
void fill_by_facts(const Facts& facts, const Bindings& bindings, Stream& stream, Tensor& tensor) {
  const std::int64_t lower = facts.lower ? evaluate_extents(facts.lower, bindings) : -8;
  const std::int64_t upper = facts.upper ? evaluate_extents(facts.upper, bindings) : 9;
  const auto span = static_cast<std::uint64_t>(std::max<std::int64_t>(upper - lower, 1));
  const auto row = static_cast<std::size_t>(tensor.shape.empty() ? 1 : tensor.shape.back());
  for (std::size_t first = 0; row > 0 && first < tensor.data.size(); first += row) {
    std::vector<std::int64_t> values(row);
    for (std::size_t i = 0; i < row; ++i) {
      values[i] = lower + static_cast<std::int64_t>(facts.injective ? i : stream.below(span));
      if (facts.clamp && stream.below(8) == 0) values[i] += stream.below(2) ? 20 : -20;
    }
    if (facts.injective)
      for (std::size_t i = row; i-- > 1;) std::swap(values[i], values[stream.below(i + 1)]);
    if (facts.monotone) std::sort(values.begin(), values.end());
    for (std::size_t i = 0; i < row; ++i)
      tensor.data[first + i].i = wrap_to_type(tensor.type, values[i]);
  }
}

}  // namespace

TensorMap random_inputs(const Algorithm& algorithm, const Bindings& bindings, std::uint64_t seed,
                        bool wide) {
  TensorMap out;
  for (const Input& input : algorithm.inputs) {
    std::vector<std::int64_t> shape;
    for (Expr extent : input.shape) shape.push_back(evaluate_extents(extent, bindings));
    Tensor tensor = make_tensor(input.type, std::move(shape));
    Stream stream(hash_combine(input.name.hash(), seed));
    if (input.facts.any()) {
      fill_by_facts(input.facts, bindings, stream, tensor);
      out.emplace(input.name, std::move(tensor));
      continue;
    }
    for (Scalar& cell : tensor.data) {
      if (holds_floats(input.type)) {
        const double x = random_float(stream, part_type(input.type), wide);
        const bool scale = type_info(input.type).specials == Specials::Scale;
        cell.f = round_to_type(part_type(input.type), scale ? std::fabs(x) + 0x1p-6 : x);
      } else if (input.type == ScalarType::Bool) {
        cell.i = static_cast<std::int64_t>(stream.below(2));
      } else {
        const auto small = static_cast<std::int64_t>(stream.below(17)) - 8;
        const bool clipped =
            small < lowest_integer(input.type) || small > greatest_integer(input.type);
        cell.i = is_unsigned(input.type) ? wrap_to_type(input.type, small + 8)
                 : clipped               ? wrap_to_type(input.type, small)
                                         : small;
      }
    }
    out.emplace(input.name, std::move(tensor));
  }
  return out;
}

}  // namespace tilewright::ir
