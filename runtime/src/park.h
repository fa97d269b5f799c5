// SPDX-License-Identifier: Apache-2.0
//
// Waiting: a short bounded spin, then sleep in the kernel on a 32-bit word. Linux's futex; a system
// without one needs another body here and nothing else.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace tilewright::runtime {

// How long to look before sleeping. A worker without work: long enough to bridge the gap between two
// kernels of a model, too short to be seen in CPU use. A caller whose last pieces run elsewhere: longer,
// since they are about to end and being woken costs about 10 us.
inline constexpr std::int64_t kIdleSpinNanoseconds = 5000;
inline constexpr std::int64_t kAwaitSpinNanoseconds = 20000;

inline void relax_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

inline std::int64_t monotonic_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

// Waits until done() holds, but not longer than `nanoseconds`. Returns whether it held.
template <class Done>
bool spin_until(const Done& done, std::int64_t nanoseconds) {
  constexpr int kLooksPerClockRead = 16;
  std::int64_t deadline = 0;
  while (true) {
    for (int i = 0; i < kLooksPerClockRead; ++i) {
      if (done()) return true;
      relax_cpu();
    }
    const std::int64_t now = monotonic_nanoseconds();
    if (deadline == 0) deadline = now + nanoseconds;
    if (now >= deadline) return false;
  }
}

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 &&
              std::atomic<std::uint32_t>::is_always_lock_free);

// Sleeps while `word` is `seen`. May return early; callers look again.
inline void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

inline void wake(std::atomic<std::uint32_t>& word, std::int32_t count = INT_MAX) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace tilewright::runtime
