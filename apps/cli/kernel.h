// SPDX-License-Identifier: Apache-2.0
//
// A program as a function of this process: compiled, linked by the system's C compiler into a shared object in
// a temporary folder, loaded, called through the C interface of the runtime. For `run` and `bench`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/work.h"
#include "apps/npy/npy.h"
#include "frontend/ir/value.h"
#include "lowering/targets/host/target.h"

namespace tilewright::cli {

// Arguments of a call, in the order of the parameters.
using Arrays = std::vector<npy::Array>;

class Kernel {
 public:
  // E0906 when the system cannot link; whatever code generation refuses.
  static Result<std::unique_ptr<Kernel>> make(Work& work, const host::Target& target);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // Sets up descriptors, workspace and pool; the arrays are borrowed until the next bind. E0907.
  Result<Ok> bind(Arrays& arrays, int threads);
  Result<Ok> call();

 private:
  Kernel();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Outputs of these sizes, filled with a pattern that no kernel leaves by chance; inputs moved in.
Arrays make_arrays(const program::Program& program, const ir::Bindings& sizes,
                   const ir::TensorMap& inputs);
ir::Tensor tensor_of(const npy::Array& array);

}  // namespace tilewright::cli
