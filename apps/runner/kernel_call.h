// SPDX-License-Identifier: Apache-2.0
//
// One call of an application's kernel: it owns tensors, workspace and threads, as the caller of a generated
// library does. Law: memory of the output has the values of the last run, or poison.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/npy/npy.h"
#include "apps/runner/runner.h"

namespace tilewright::runner {

// Uniform numbers in each input's range, rounded to its type. The same seed gives the same bits.
std::vector<npy::Array> seeded_inputs(const App& app, const Sizes& sizes, std::uint64_t seed);

class KernelCall {
 public:
  KernelCall(const App& app, std::vector<npy::Array> inputs, const Sizes& sizes);
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;
  ~KernelCall();

  // Starts `threads` threads (0: as many as this process may use) and gets workspace. TILEWRIGHT_OK or
  // why not; so does run().
  std::int32_t prepare(std::int32_t threads);
  std::int32_t run();
  // Median seconds of a run after prepare(); the output is that of the last.
  double time();
  void poison();
  // One line that begins with the name of the function.
  std::string failure(std::int32_t status) const;

  const npy::Array& output() const { return arrays_.back(); }
  std::vector<std::vector<double>> input_values() const;
  std::vector<double> output_values() const;

 private:
  const App& app_;
  std::vector<npy::Array> arrays_;  // inputs, then the output
  std::vector<tilewright_tensor> tensors_;
  tilewright_pool* pool_ = nullptr;
  tilewright_error error_ = {};
  tilewright_call call_ = {};
  npy::Bytes workspace_;
};

}  // namespace tilewright::runner
