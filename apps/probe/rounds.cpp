// SPDX-License-Identifier: Apache-2.0
#include "apps/probe/rounds.h"

#include <algorithm>
#include <atomic>
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

// All threads leave it at the same moment. It spins, since a thread that sleeps is woken too late for a
// common start; the last to come runs `close` while the others wait.
class SpinBarrier {
 public:
  explicit SpinBarrier(unsigned threads) : threads_(threads) {}

  template <class Close>
  void wait(Close close) {
    const unsigned phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      close();
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
      return;
    }
    for (unsigned spins = 1; phase_.load(std::memory_order_acquire) == phase; ++spins) {
      // Lets others have the processor when there are fewer of them than threads.
      if (spins % 4096 == 0) std::this_thread::yield();
    }
  }

 private:
  const unsigned threads_;
  std::atomic<unsigned> arrived_ = 0;
  std::atomic<unsigned> phase_ = 0;
};

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

  // Runs on one thread while all others wait in the barrier, so it needs no lock.
  const double total = amount * static_cast<double>(repeats) * threads;
  auto close_round = [&] {
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
  SpinBarrier start(threads);
  SpinBarrier finish(threads);

  auto body = [&](unsigned thread) {
    while (!done) {
      start.wait([] {});
      stamps[thread].begin = Clock::now();
      work(thread, repeats);
      stamps[thread].end = Clock::now();
      finish.wait(close_round);
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
