// SPDX-License-Identifier: Apache-2.0
//
// Chunked bump allocation for values that live as long as their context. Only trivially
// destructible objects go in: nothing is destroyed one by one.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tilewright {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Uninitialised memory, aligned; valid while the arena lives.
  void* allocate(std::size_t size, std::size_t alignment);

  template <class T, class... Args>
  T* create(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  template <class T>
  std::span<const T> copy(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    if (values.empty()) return {};
    T* begin = static_cast<T*>(allocate(sizeof(T) * values.size(), alignof(T)));
    std::uninitialized_copy(values.begin(), values.end(), begin);
    return {begin, values.size()};
  }

  std::string_view copy(std::string_view text);

 private:
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* next_ = nullptr;
  std::byte* limit_ = nullptr;
};

}  // namespace tilewright
