// SPDX-License-Identifier: Apache-2.0
//
// What the system says about the machine, without measuring.
#include <algorithm>
#include <fstream>
#include <thread>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "apps/probe/probe.h"

namespace tilewright::probe {
namespace {

// Size as the system writes it: "32K", "1024K", "32768K" or "32M".
std::size_t parse_size(const std::string& text) {
  std::size_t value = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') value = value * 10 + static_cast<std::size_t>(c - '0');
    if (c == 'K') return value << 10;
    if (c == 'M') return value << 20;
  }
  return value;
}

// How many processors a list such as "0-3,8" names; 1 for what is none.
unsigned parse_list(const std::string& text) {
  unsigned count = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::size_t dash = part.find('-');
    const std::size_t low = parse_size(part.substr(0, dash));
    const std::size_t high = dash == std::string::npos ? low : parse_size(part.substr(dash + 1));
    if (high >= low) count += static_cast<unsigned>(high - low + 1);
    at = end + 1;
  }
  return std::max(1U, count);
}

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

}  // namespace

std::vector<CacheLevel> cache_levels_of_processor() {
  std::vector<CacheLevel> levels;
#if defined(__x86_64__)
  // Intel's leaf and AMD's, which have one layout.
  for (const unsigned leaf : {0x4U, 0x8000001dU}) {
    if (__get_cpuid_max(leaf & 0x80000000U, nullptr) < leaf) continue;
    for (unsigned index = 0; index < 8; ++index) {
      unsigned a = 0, b = 0, c = 0, d = 0;
      __cpuid_count(leaf, index, a, b, c, d);
      constexpr unsigned kNone = 0, kInstructions = 2;
      if ((a & 31) == kNone) break;
      if ((a & 31) == kInstructions) continue;
      CacheLevel found;
      found.level = static_cast<int>((a >> 5) & 7);
      found.line_bytes = (b & 0xfff) + 1;
      const std::size_t partitions = ((b >> 12) & 0x3ff) + 1;
      const std::size_t ways = (b >> 22) + 1;
      found.bytes = found.line_bytes * partitions * ways * (std::size_t{c} + 1);
      found.shared_by = std::min(((a >> 14) & 0xfff) + 1, processor_count());
      levels.push_back(found);
    }
    if (!levels.empty()) break;
  }
#endif
  return levels;
}

std::vector<CacheLevel> cache_levels() {
  std::vector<CacheLevel> levels;
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string level = first_word(folder + "level");
    if (level.empty()) break;
    if (first_word(folder + "type") == "Instruction") continue;
    CacheLevel found;
    found.level = static_cast<int>(parse_size(level));
    found.bytes = parse_size(first_word(folder + "size"));
    if (const std::size_t line = parse_size(first_word(folder + "coherency_line_size")); line > 0)
      found.line_bytes = line;
    found.shared_by = parse_list(first_word(folder + "shared_cpu_list"));
    if (found.bytes > 0) levels.push_back(found);
  }
  // A container may have no /sys.
  if (levels.empty()) levels = cache_levels_of_processor();
  std::sort(levels.begin(), levels.end(),
            [](const CacheLevel& a, const CacheLevel& b) { return a.level < b.level; });
  return levels;
}

CacheSizes cache_sizes() {
  CacheSizes sizes;
  for (const CacheLevel& level : cache_levels()) {
    if (level.level == 1) sizes.l1_data = level.bytes;
    if (level.level == 2) sizes.l2 = level.bytes;
    if (level.level == 3) sizes.l3 = level.bytes;
  }
  return sizes;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "";
}

std::vector<std::string> processor_features() {
  std::vector<std::string> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bf16")) found.emplace_back("avx512bf16");
  if (__builtin_cpu_supports("avx512ifma")) found.emplace_back("avx512ifma");
  if (__builtin_cpu_supports("avx512vbmi")) found.emplace_back("avx512vbmi");
  if (__builtin_cpu_supports("avx512vnni")) found.emplace_back("avx512vnni");
  if (__builtin_cpu_supports("gfni")) found.emplace_back("gfni");
#endif
  return found;
}

unsigned processor_count() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace tilewright::probe
