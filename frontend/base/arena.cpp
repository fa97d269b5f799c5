// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/arena.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tilewright {

namespace {
constexpr std::size_t kChunkSize = 64 * 1024;
}

void* Arena::allocate(std::size_t size, std::size_t alignment) {
  auto aligned = [&](std::byte* p) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    return p + ((alignment - address % alignment) % alignment);
  };
  if (next_ == nullptr || aligned(next_) + size > limit_) {
    const std::size_t chunk = std::max(kChunkSize, size + alignment);
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk));
    next_ = chunks_.back().get();
    limit_ = next_ + chunk;
  }
  std::byte* begin = aligned(next_);
  next_ = begin + size;
  return begin;
}

std::string_view Arena::copy(std::string_view text) {
  if (text.empty()) return {};
  char* begin = static_cast<char*>(allocate(text.size(), 1));
  std::memcpy(begin, text.data(), text.size());
  return {begin, text.size()};
}

}  // namespace tilewright
