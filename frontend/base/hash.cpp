// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/hash.h"

// Compiled in, so that the installed library needs no other.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tilewright {

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string content_hash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {hash.high64, hash.low64})
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 15U];
  return text;
}

}  // namespace tilewright
