// SPDX-License-Identifier: Apache-2.0
//
// What the lessons share, so that each can be about its subject: a lesson that does not hold ends with exit status
// 1; descriptors and workspace around the call of a kernel (lesson 4 shows them in plain C).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "tilewright/runtime.h"

namespace lesson {

inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "this does not hold: %s\n", what);
  std::exit(1);
}

// A dense tensor of floats.
class Floats {
 public:
  explicit Floats(std::vector<std::int64_t> shape) : shape_(std::move(shape)) {
    std::size_t size = 1;
    for (const std::int64_t extent : shape_) size *= static_cast<std::size_t>(extent);
    values.resize(size);
  }
  tilewright_tensor* tensor() {
    const auto rank = static_cast<std::int32_t>(shape_.size());
    const auto f32 = tilewright_type(kDLFloat, 32);
    expect(tilewright_tensor_row_major(&tensor_, values.data(), f32, rank, shape_.data()) == 0,
           "a tensor can be described");
    return &tensor_;
  }
  std::vector<float> values;

 private:
  std::vector<std::int64_t> shape_;
  tilewright_tensor tensor_ = {};
};

// Numbers that are not all alike: -1, -0.75, ... 1.
inline void fill(Floats& tensor, int stride = 7) {
  for (std::size_t i = 0; i < tensor.values.size(); ++i)
    tensor.values[i] = static_cast<float>(static_cast<int>(i) * stride % 9 - 4) / 4;
}

// Asks for the workspace, gets it and calls; what went wrong is in `why`. Two threads, in case the
// schedule wants them.
template <class Query, class Run, class... Tensors>
std::int32_t call(std::string& why, Query query, Run run, Tensors&... tensors) {
  tilewright_pool* made = nullptr;
  expect(tilewright_pool_create(2, &made) == TILEWRIGHT_OK, "there are threads");
  const std::unique_ptr<tilewright_pool, void (*)(tilewright_pool*)> pool(made,
                                                                          tilewright_pool_destroy);
  tilewright_error error = {};
  error.struct_size = sizeof error;
  const tilewright_call context = tilewright_call_make(tilewright_pool_executor(made), &error);
  std::size_t size = 0;
  std::int32_t status = query(&context, tensors.tensor()..., &size);
  if (status == TILEWRIGHT_OK) {
    const std::align_val_t alignment{TILEWRIGHT_WORKSPACE_ALIGNMENT};
    void* workspace = ::operator new(size + 1, alignment);
    status = run(&context, tensors.tensor()..., workspace, size);
    ::operator delete(workspace, alignment);
  }
  char text[512] = "";
  if (status != TILEWRIGHT_OK) tilewright_error_text(&error, text, sizeof text);
  why = text;
  return status;
}

// The same, where nothing may go wrong.
template <class Query, class Run, class... Tensors>
void run(Query query, Run function, Tensors&... tensors) {
  std::string why;
  if (call(why, query, function, tensors...) == TILEWRIGHT_OK) return;
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

}  // namespace lesson
