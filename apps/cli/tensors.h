// SPDX-License-Identifier: Apache-2.0
//
// Inputs and sizes for the verbs that run an algorithm: from .npy files, from -D, or made from a seed.
#pragma once

#include "apps/cli/kernel.h"
#include "frontend/ir/interpret.h"

namespace tilewright::cli {

struct GivenTensors {
  ir::Bindings sizes;
  ir::TensorMap inputs;
};

// `files` are NAME=FILE.npy for inputs; the others are filled from the seed. Sizes come from -D and from the
// dimensions of the files. None after reporting.
std::optional<GivenTensors> gather_tensors(Session& session, Work& work,
                                           const std::vector<std::string>& files,
                                           std::uint64_t seed);

// Largest error and largest error over bound of one output.
struct Accuracy {
  double error = 0;
  double ratio = 0;
  std::int64_t without_bound = 0;
  std::optional<ir::BoundViolation> violation;
};
Accuracy measure_accuracy(const ir::BoundedTensor& reference, const ir::Tensor& got);

}  // namespace tilewright::cli
