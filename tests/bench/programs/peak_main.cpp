// SPDX-License-Identifier: Apache-2.0
//
// bench-peak: prints what the machine reaches now as one JSON object; run beside every benchmark, so that
// a share of the peak never compares two different hours.
//   bench-peak [--seconds S per figure] [--threads N]...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "apps/probe/probe.h"

namespace {

using namespace tilewright::probe;

struct Level {
  const char* name;
  std::size_t bytes;  // Per thread.
};

class Printer {
 public:
  void figure(const std::string& name, unsigned threads, const char* unit, const Rate& rate) {
    std::printf("%s\n  {\"name\": \"%s\", \"threads\": %u, \"unit\": \"%s\", ", first_ ? "" : ",",
                name.c_str(), threads, unit);
    first_ = false;
    if (rate.skipped.empty()) {
      std::printf("\"best\": %.2f, \"median\": %.2f, \"rounds\": %u}", rate.best / 1e9,
                  rate.median / 1e9, rate.rounds);
    } else {
      std::printf("\"best\": null, \"median\": null, \"skipped\": \"%s\"}", rate.skipped.c_str());
    }
  }

 private:
  bool first_ = true;
};

void measure(Printer& printer, unsigned threads, double seconds) {
  const Options options{threads, seconds};
  for (const VectorUnit unit :
       {VectorUnit::Avx512Fma, VectorUnit::Avx2Fma, VectorUnit::Avx512Bf16}) {
    printer.figure("peak_" + std::string(unit_name(unit)), threads, "GFLOP/s",
                   multiply_add_rate(unit, options));
  }
  const CacheSizes caches = cache_sizes();
  const std::size_t l2 = caches.l2 ? caches.l2 : std::size_t{1} << 20;
  const std::size_t l3 = caches.l3 ? caches.l3 : std::size_t{16} << 20;
  // Half of a private level; a quarter of the shared one over all threads; well beyond the last.
  const Level levels[] = {{"l2", l2 / 2},
                          {"l3", std::max(2 * l2, l3 / 4 / threads)},
                          {"memory", std::max<std::size_t>(4 * l3, 128U << 20) / threads}};
  for (const Level& level : levels) {
    for (const Traffic traffic : {Traffic::Read, Traffic::Copy, Traffic::StreamCopy}) {
      const bool memory = std::string(level.name) == "memory";
      if (traffic == Traffic::StreamCopy && !memory) continue;
      printer.figure(std::string(level.name) + "_" + std::string(traffic_name(traffic)), threads,
                     "GB/s", transfer_rate(traffic, level.bytes, options));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0.1;
  std::vector<unsigned> threads;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    char* end = nullptr;
    const double value = i + 1 < argc ? std::strtod(argv[i + 1], &end) : -1;
    const bool good = end != nullptr && *end == '\0' && value > 0 && value <= 1024;
    if (good && flag == "--seconds") {
      seconds = value;
    } else if (good && flag == "--threads") {
      threads.push_back(static_cast<unsigned>(value));
    } else {
      std::fprintf(stderr, "usage: bench-peak [--seconds S] [--threads N]...\n");
      return 2;
    }
  }
  if (threads.empty()) threads = {1, 2};
  const CacheSizes caches = cache_sizes();
  std::printf("{\"l1_data\": %zu, \"l2\": %zu, \"l3\": %zu, \"figures\": [", caches.l1_data,
              caches.l2, caches.l3);
  Printer printer;
  for (const unsigned count : threads) measure(printer, count, seconds);
  std::printf("\n]}\n");
  return 0;
}
