// SPDX-License-Identifier: Apache-2.0
//
// Content hashes (XXH3 behind a wall). 64 bits for tables; 128 bits, printed as 32 hex digits,
// where a hash stands for content in a file. Stable between runs and machines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0);
// 32 lower-case hex digits.
std::string content_hash(std::string_view bytes);

// Order-dependent combination of 64-bit hashes (splitmix64 finaliser).
constexpr std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace tilewright
