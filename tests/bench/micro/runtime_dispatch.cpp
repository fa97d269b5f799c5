// SPDX-License-Identifier: Apache-2.0
//
// What it costs to hand an empty loop of two pieces to the built-in pool: median and fastest of
// many calls, back to back (workers still awake), after a pause (workers asleep), and on a pool of
// one. Prints one line per figure: name, nanoseconds. Takes the number of threads as its argument
// (2).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tilewright/runtime.h"

namespace {

using Clock = std::chrono::steady_clock;

tilewright_status nothing(void*, std::int32_t, std::int64_t, std::int64_t) { return TILEWRIGHT_OK; }

double nanoseconds(Clock::time_point from, Clock::time_point to, int calls) {
  return std::chrono::duration<double, std::nano>(to - from).count() / calls;
}

void report(const char* name, std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  std::printf("%-28s median %9.1f ns  p90 %9.1f ns  fastest %9.1f ns\n", name,
              samples[samples.size() / 2], samples[samples.size() * 9 / 10], samples.front());
}

// `calls` per sample, so that the clock's own cost does not count.
std::vector<double> measure(const tilewright_executor* executor, int samples, int calls,
                            std::chrono::microseconds pause) {
  std::vector<double> result;
  for (int i = 0; i < samples; ++i) {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    const Clock::time_point start = Clock::now();
    for (int k = 0; k < calls; ++k) {
      if (executor->parallel_for(executor, nullptr, 0, 2, 1, nothing, nullptr) != TILEWRIGHT_OK)
        std::abort();
    }
    result.push_back(nanoseconds(start, Clock::now(), calls));
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  for (const int threads : {1, argc > 1 ? std::atoi(argv[1]) : 2}) {
    tilewright_pool* pool = nullptr;
    if (tilewright_pool_create(threads, &pool) != TILEWRIGHT_OK) return 1;
    const tilewright_executor* const executor = tilewright_pool_executor(pool);
    std::printf("threads %d\n", executor->num_workers);
    report("  back to back, mean of 100",
           measure(executor, 2000, 100, std::chrono::microseconds(0)));
    report("  back to back, single", measure(executor, 20000, 1, std::chrono::microseconds(0)));
    report("  after 200 us of idling", measure(executor, 2000, 1, std::chrono::microseconds(200)));
    tilewright_pool_destroy(pool);
  }
  return 0;
}
