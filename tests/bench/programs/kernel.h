// SPDX-License-Identifier: Apache-2.0
//
// A generated kernel in a shared object, called through the C interface of the runtime with any number of
// tensors. All inputs and the output are f32 in compact row-major order, as .npy files hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/programs/npy.h"
#include "tilewright/runtime.h"

namespace tilewright::bench {

// Memory at the alignment of a cache line that keeps its place.
class AlignedBytes {
 public:
  bool allocate(std::size_t bytes);
  void* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* pointer) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t size_ = 0;
};

class Kernel {
 public:
  static constexpr std::size_t kMaxTensors = 8;

  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel();

  // Each returns the empty string, or what went wrong.
  std::string open(const std::string& library, const std::string& function, int threads);
  // Takes copies of the inputs, makes the output and asks the kernel for the size of its workspace.
  std::string bind(const std::vector<Array>& inputs, const std::vector<std::int64_t>& output_shape,
                   Element output);
  std::string run();

  bool bound() const { return !tensors_.empty(); }
  // Fills the output with NaN, or with a pattern that no sum has, so that an element that is not written shows.
  void poison();
  Array output() const;

 private:
  std::string failure(const std::string& what, std::int32_t status) const;
  std::string add_tensor(const std::vector<std::int64_t>& shape, Element element, const void* data);

  void* library_ = nullptr;
  void* run_ = nullptr;
  void* query_ = nullptr;
  tilewright_pool* pool_ = nullptr;
  tilewright_call call_ = {};
  tilewright_error error_ = {};
  std::vector<AlignedBytes> memory_;
  std::vector<std::unique_ptr<std::vector<std::int64_t>>> shapes_;
  std::vector<tilewright_tensor> tensors_;
  Element output_ = Element::F32;
  AlignedBytes workspace_;
  std::size_t workspace_size_ = 0;
};

}  // namespace tilewright::bench
