// SPDX-License-Identifier: Apache-2.0
#include "apps/probe/rounds.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

namespace tilewright::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kRoundSeconds = 1e-3;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

// How often to repeat so that a round lasts kRoundSeconds. The fastest of three tries counts: a preempted
// one would make every round too short.
std::size_t calibrate(const ThreadWork& work) {
  std::size_t repeats = 1;
  while (true) {
    double best = 1e9;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto begin = Clock::now();
      work(0, repeats);
      best = std::min(best, seconds_between(begin, Clock::now()));
    }
    if (best >= kRoundSeconds / 2) {
      const double scaled = static_cast<double>(repeats) * kRoundSeconds / best;
      return std::max<std::size_t>(1, static_cast<std::size_t>(scaled));
    }
    repeats *= 2;
  }
}

struct alignas(64) Stamp {
  Clock::time_point begin;
  Clock::time_point end;
};

}  // namespace

Rate run_rounds(const Options& options, double amount, const ThreadWork& work) {
  const std::size_t repeats = calibrate(work);
  const unsigned threads = std::max(1U, options.threads);
  std::vector<Stamp> stamps(threads);
  std::vector<double> rates;
  bool done = false;
  const auto first = Clock::now();

  // Runs on one thread while all others wait in the barrier, so it needs no further lock.
  const double total = amount * static_cast<double>(repeats) * threads;
  auto close_round = [&]() noexcept {
    const auto begin = std::min_element(stamps.begin(), stamps.end(), [](auto& a, auto& b) {
                         return a.begin < b.begin;
                       })->begin;
    const auto end = std::max_element(stamps.begin(), stamps.end(), [](auto& a, auto& b) {
                       return a.end < b.end;
                     })->end;
    if (end > begin) rates.push_back(total / seconds_between(begin, end));
    done = seconds_between(first, end) >= options.seconds && rates.size() >= 3;
  };
  rates.reserve(static_cast<std::size_t>(options.seconds / kRoundSeconds) * 4 + 16);
  std::barrier start(threads);
  std::barrier finish(threads, close_round);

  auto body = [&](unsigned thread) {
    while (!done) {
      start.arrive_and_wait();
      stamps[thread].begin = Clock::now();
      work(thread, repeats);
      stamps[thread].end = Clock::now();
      finish.arrive_and_wait();
    }
  };
  std::vector<std::jthread> others;
  for (unsigned thread = 1; thread < threads; ++thread) others.emplace_back(body, thread);
  body(0);
  others.clear();

  Rate rate;
  rate.rounds = static_cast<unsigned>(rates.size());
  std::sort(rates.begin(), rates.end());
  rate.best = rates.back();
  const std::size_t middle = rates.size() / 2;
  rate.median = rates.size() % 2 ? rates[middle] : (rates[middle - 1] + rates[middle]) / 2;
  return rate;
}

}  // namespace tilewright::probe
