// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/programs/kernel.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tilewright::bench {
namespace {

template <std::size_t>
using Tensor = tilewright_tensor*;

// A kernel takes its tensors as separate arguments. Inputs are pointers to const there, which does not
// change how they are passed.
template <std::size_t... Index>
std::int32_t call_run(void* function, const tilewright_call* call, tilewright_tensor* tensors,
                      void* workspace, std::size_t size, std::index_sequence<Index...>) {
  using Function = std::int32_t (*)(const tilewright_call*, Tensor<Index>..., void*, std::size_t);
  return reinterpret_cast<Function>(function)(call, (tensors + Index)..., workspace, size);
}

template <std::size_t... Index>
std::int32_t call_query(void* function, const tilewright_call* call, tilewright_tensor* tensors,
                        std::size_t* size, std::index_sequence<Index...>) {
  using Function = std::int32_t (*)(const tilewright_call*, Tensor<Index>..., std::size_t*);
  return reinterpret_cast<Function>(function)(call, (tensors + Index)..., size);
}

DLDataType dl_type(Element element) {
  switch (element) {
    case Element::F32: return tilewright_type(kDLFloat, 32);
    case Element::F64: return tilewright_type(kDLFloat, 64);
    case Element::BF16: return tilewright_type(kDLBfloat, 16);
    case Element::U8: return tilewright_type(kDLUInt, 8);
    case Element::I8: return tilewright_type(kDLInt, 8);
    case Element::I32: return tilewright_type(kDLInt, 32);
  }
  return tilewright_type(kDLFloat, 32);
}

// Calls `visit` with an index_sequence of `count` numbers.
template <std::size_t Count = 1, class Visit>
std::int32_t with_count(std::size_t count, Visit visit) {
  if constexpr (Count > Kernel::kMaxTensors) {
    return TILEWRIGHT_INVALID_ARGUMENT;
  } else {
    if (count == Count) return visit(std::make_index_sequence<Count>());
    return with_count<Count + 1>(count, visit);
  }
}

}  // namespace

void AlignedBytes::Free::operator()(std::byte* pointer) const { std::free(pointer); }

bool AlignedBytes::allocate(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + kAlignment - 1) & ~(kAlignment - 1);
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  size_ = bytes;
  if (memory_) std::memset(memory_.get(), 0, rounded);
  return memory_ != nullptr;
}

Kernel::~Kernel() {
  tilewright_pool_destroy(pool_);
  if (library_ != nullptr) dlclose(library_);
}

std::string Kernel::open(const std::string& library, const std::string& function, int threads) {
  library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return dlerror();
  run_ = dlsym(library_, function.c_str());
  query_ = dlsym(library_, (function + "_query").c_str());
  if (run_ == nullptr || query_ == nullptr) {
    return library + ": no `" + function + (run_ ? "_query`" : "`");
  }
  const tilewright_status status = tilewright_pool_create(threads, &pool_);
  if (status != TILEWRIGHT_OK) return tilewright_status_text(status);
  error_.struct_size = sizeof error_;
  call_ = tilewright_call_make(tilewright_pool_executor(pool_), &error_);
  return "";
}

std::string Kernel::add_tensor(const std::vector<std::int64_t>& shape, Element element,
                               const void* data) {
  shapes_.push_back(std::make_unique<std::vector<std::int64_t>>(shape));
  std::size_t bytes = element_info(element).bytes;
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  memory_.emplace_back();
  if (!memory_.back().allocate(bytes)) return "no memory for a tensor";
  if (data != nullptr) std::memcpy(memory_.back().data(), data, bytes);
  tilewright_tensor tensor = {};
  const tilewright_status status =
      tilewright_tensor_row_major(&tensor, memory_.back().data(), dl_type(element),
                                  static_cast<std::int32_t>(shape.size()), shapes_.back()->data());
  if (status != TILEWRIGHT_OK) return tilewright_status_text(status);
  tensors_.push_back(tensor);
  return "";
}

std::string Kernel::bind(const std::vector<Array>& inputs,
                         const std::vector<std::int64_t>& output_shape, Element output) {
  tensors_.clear();
  memory_.clear();
  shapes_.clear();
  if (inputs.size() >= kMaxTensors) return "too many inputs";
  for (const Array& input : inputs) {
    if (auto reason = add_tensor(input.shape, input.element, input.bytes.data()); !reason.empty())
      return reason;
  }
  if (auto reason = add_tensor(output_shape, output, nullptr); !reason.empty()) return reason;
  output_ = output;
  const std::int32_t status = with_count(tensors_.size(), [&](auto indices) {
    return call_query(query_, &call_, tensors_.data(), &workspace_size_, indices);
  });
  if (status != TILEWRIGHT_OK) {
    tensors_.clear();
    return failure("query", status);
  }
  return workspace_.allocate(workspace_size_) ? "" : "no memory for the workspace";
}

std::string Kernel::run() {
  const std::int32_t status = with_count(tensors_.size(), [&](auto indices) {
    return call_run(run_, &call_, tensors_.data(), workspace_.data(), workspace_size_, indices);
  });
  return status == TILEWRIGHT_OK ? "" : failure("run", status);
}

std::string Kernel::failure(const std::string& what, std::int32_t status) const {
  if (error_.status != status) return what + ": " + tilewright_status_text(status);
  char text[512];
  tilewright_error_text(&error_, text, sizeof text);
  return what + ": " + text;
}

void Kernel::poison() {
  // All ones is a NaN of every float type.
  std::memset(memory_.back().data(), output_ == Element::I32 ? 0xA5 : 0xFF, memory_.back().size());
}

Array Kernel::output() const {
  Array array = make_array(*shapes_.back(), output_);
  std::memcpy(array.bytes.data(), memory_.back().data(), array.bytes.size());
  return array;
}

}  // namespace tilewright::bench
