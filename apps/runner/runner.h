// SPDX-License-Identifier: Apache-2.0
//
// What the applications share: the command line, tensors from .npy files or a seed, the call of a generated
// kernel, and the comparison with a reference in double precision. An application states what is its own in
// an App and calls run_app(). Laws: a result is printed only after every number of the output was compared
// with the reference; memory of the output is poisoned before the run that is compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontend/ir/type.h"
#include "tilewright/runtime.h"

namespace tilewright::runner {

using Sizes = std::map<std::string, std::int64_t>;
using Shape = std::vector<std::int64_t>;

struct TensorSpec {
  std::string name;
  ir::ScalarType type = ir::ScalarType::F32;  // F32 or BF16
  Shape (*shape)(const Sizes& sizes) = nullptr;
  double low = -1;  // of the numbers that a seed gives
  double high = 1;
};

// The true result and how far a right program may be from it, number by number.
struct Expected {
  std::vector<double> value;
  std::vector<double> bound;
};

struct App {
  std::string name;
  Sizes sizes;  // where the command line names none
  std::vector<Sizes> small;  // zero, one and primes, for tests
  std::vector<TensorSpec> inputs;
  TensorSpec output;
  // The extents, from shapes of the right rank.
  Sizes (*sizes_of)(const std::vector<Shape>& inputs) = nullptr;
  // `tensors` holds the inputs, then the output.
  std::int32_t (*run)(const tilewright_call* call, tilewright_tensor* tensors, void* workspace,
                      std::size_t workspace_size) = nullptr;
  std::int32_t (*query)(const tilewright_call* call, tilewright_tensor* tensors,
                        std::size_t* workspace_size) = nullptr;
  Expected (*reference)(const Sizes& sizes,
                        const std::vector<std::vector<double>>& inputs) = nullptr;
  // Operations, or bytes that must move at least; divided by the time it is printed in `rate`.
  double (*work)(const Sizes& sizes) = nullptr;
  std::string rate = "GFLOP/s";
};

// The exit status: 0 the result is right, 1 it is not or the run failed, 2 the command line is wrong,
// 77 this processor lacks the instructions that the kernel was built for.
int run_app(const App& app, int argc, char** argv);

// n roundings of relative size u: n u / (1 - n u).
double gamma(double n);
inline constexpr double kUnitF32 = 0x1p-24;
inline constexpr double kUnitBf16 = 0x1p-8;
// Covers results below the smallest normal number, where rounding is absolute.
inline constexpr double kTiny = 0x1p-120;

}  // namespace tilewright::runner
