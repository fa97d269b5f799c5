// SPDX-License-Identifier: Apache-2.0
//
// Transfer rates: each thread streams through its own buffer, whose size chooses the level that answers.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "apps/probe/probe.h"
#include "apps/probe/rounds.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilewright::probe {
namespace {

// A multiple of what every kernel handles per step.
constexpr std::size_t kBlock = 1024;
constexpr std::size_t kPage = 4096;

struct FreeBuffer {
  void operator()(std::byte* pointer) const { std::free(pointer); }
};
using Buffer = std::unique_ptr<std::byte[], FreeBuffer>;

Buffer make_buffer(std::size_t bytes) {
  const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage;
  Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(kPage, rounded)));
  if (buffer) std::memset(buffer.get(), 1, rounded);
  return buffer;
}

#if defined(__x86_64__)

__attribute__((target("avx512f"), noinline)) void read_avx512(const std::byte* source,
                                                              std::size_t bytes) {
  __m512i sum[8] = {};
  for (std::size_t at = 0; at < bytes; at += 512) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 8; ++i)
      sum[i] = _mm512_or_si512(sum[i], _mm512_load_si512(source + at + i * 64));
  }
  for (auto& value : sum) asm volatile("" : : "x"(value));
}

__attribute__((target("avx2"), noinline)) void read_avx2(const std::byte* source,
                                                         std::size_t bytes) {
  __m256i sum[8] = {};
  const auto* vectors = reinterpret_cast<const __m256i*>(source);
  for (std::size_t at = 0; at < bytes / 32; at += 8) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 8; ++i)
      sum[i] = _mm256_or_si256(sum[i], _mm256_load_si256(vectors + at + i));
  }
  for (auto& value : sum) asm volatile("" : : "x"(value));
}

__attribute__((target("avx512f"), noinline)) void copy_avx512(std::byte* target,
                                                              const std::byte* source,
                                                              std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 256) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i)
      _mm512_store_si512(target + at + i * 64, _mm512_load_si512(source + at + i * 64));
  }
}

// Stores past the caches: what a kernel gets that knows that its result will not be read again soon.
__attribute__((noinline)) void copy_streaming(std::byte* target, const std::byte* source,
                                              std::size_t bytes) {
  auto* to = reinterpret_cast<__m128i*>(target);
  const auto* from = reinterpret_cast<const __m128i*>(source);
  for (std::size_t at = 0; at < bytes / 16; at += 4) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i)
      _mm_stream_si128(to + at + i, _mm_load_si128(from + at + i));
  }
  _mm_sfence();
}

void read_all(const std::byte* source, std::size_t bytes) {
  if (__builtin_cpu_supports("avx512f")) return read_avx512(source, bytes);
  if (__builtin_cpu_supports("avx2")) return read_avx2(source, bytes);
  const auto* words = reinterpret_cast<const std::uint64_t*>(source);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes / 8; ++i) sum |= words[i];
  asm volatile("" : : "r"(sum));
}

void copy_all(std::byte* target, const std::byte* source, std::size_t bytes) {
  if (__builtin_cpu_supports("avx512f")) return copy_avx512(target, source, bytes);
  std::memcpy(target, source, bytes);
  asm volatile("" : : "r"(target) : "memory");
}

#else

void read_all(const std::byte* source, std::size_t bytes) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(source);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes / 8; ++i) sum |= words[i];
  asm volatile("" : : "r"(sum));
}

void copy_all(std::byte* target, const std::byte* source, std::size_t bytes) {
  std::memcpy(target, source, bytes);
  asm volatile("" : : "r"(target) : "memory");
}

#endif

}  // namespace

std::string_view traffic_name(Traffic traffic) {
  switch (traffic) {
    case Traffic::Read: return "read";
    case Traffic::Copy: return "copy";
    case Traffic::StreamCopy: return "stream_copy";
  }
  return "";
}

Rate transfer_rate(Traffic traffic, std::size_t bytes_per_thread, const Options& options) {
  Rate rate;
#if !defined(__x86_64__)
  if (traffic == Traffic::StreamCopy) {
    rate.skipped = "streaming stores are measured on x86-64 only";
    return rate;
  }
#endif
  // A copy holds source and target in the same level, so each is half.
  const bool copies = traffic != Traffic::Read;
  const std::size_t span = copies ? bytes_per_thread / 2 : bytes_per_thread;
  const std::size_t bytes = std::max(kBlock, span / kBlock * kBlock);
  std::vector<Buffer> sources;
  std::vector<Buffer> targets;
  for (unsigned thread = 0; thread < std::max(1U, options.threads); ++thread) {
    sources.push_back(make_buffer(bytes));
    targets.push_back(make_buffer(copies ? bytes : kBlock));
    if (!sources.back() || !targets.back()) {
      rate.skipped = "no memory for a buffer of " + std::to_string(bytes) + " bytes";
      return rate;
    }
  }
  // A round is a slice of the buffer, not all of it: slices of large buffers stay short, and the best one
  // is free of preemption. Each thread goes on where its last slice ended.
  const std::size_t slice = std::min<std::size_t>(bytes, std::size_t{64} << 10);
  std::vector<std::size_t> offsets(sources.size() * 16, 0);
  return run_rounds(options, static_cast<double>(slice) * (copies ? 2 : 1),
                    [&](unsigned thread, std::size_t repeats) {
                      std::size_t& offset = offsets[thread * std::size_t{16}];
                      for (std::size_t i = 0; i < repeats; ++i) {
                        if (offset + slice > bytes) offset = 0;
                        const std::byte* source = sources[thread].get() + offset;
                        std::byte* target = copies ? targets[thread].get() + offset : nullptr;
                        if (traffic == Traffic::Read) read_all(source, slice);
                        if (traffic == Traffic::Copy) copy_all(target, source, slice);
#if defined(__x86_64__)
                        if (traffic == Traffic::StreamCopy) copy_streaming(target, source, slice);
#endif
                        offset += slice;
                      }
                    });
}

}  // namespace tilewright::probe
