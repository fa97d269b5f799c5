// SPDX-License-Identifier: Apache-2.0
//
// The thread pool: every iteration once, worker numbers, errors, cancelling, nesting, several
// callers, failing creation, idle cost, fork. Run under the tsan preset as well.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tilewright/runtime.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TILEWRIGHT_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define TILEWRIGHT_TEST_SANITIZED 1
#endif
#endif

namespace {

struct Destroy {
  void operator()(tilewright_pool* pool) const { tilewright_pool_destroy(pool); }
};
using Pool = std::unique_ptr<tilewright_pool, Destroy>;

Pool make_pool(std::int32_t threads) {
  tilewright_pool* pool = nullptr;
  EXPECT_EQ(tilewright_pool_create(threads, &pool), TILEWRIGHT_OK);
  return Pool(pool);
}

// Hands a lambda (worker, begin, end) -> status to the C interface.
template <class Body>
tilewright_status run(const tilewright_executor* executor, const tilewright_call* call,
                      std::int64_t begin, std::int64_t end, std::int64_t grain, Body& body) {
  const tilewright_task task = [](void* closure, std::int32_t worker, std::int64_t from,
                                  std::int64_t to) -> tilewright_status {
    return (*static_cast<Body*>(closure))(worker, from, to);
  };
  return executor->parallel_for(executor, call, begin, end, grain, task, &body);
}

template <class Body>
tilewright_status run(const Pool& pool, std::int64_t begin, std::int64_t end, std::int64_t grain,
                      Body body, const tilewright_call* call = nullptr) {
  return run(tilewright_pool_executor(pool.get()), call, begin, end, grain, body);
}

TEST(Pool, EveryIterationOnceInWholePieces) {
  for (const std::int32_t threads : {1, 2, 3, 7}) {
    const Pool pool = make_pool(threads);
    EXPECT_EQ(tilewright_pool_executor(pool.get())->num_workers, threads);
    for (const std::int64_t size : {0, 1, 2, 13, 1000}) {
      for (const std::int64_t grain : {-5, 0, 1, 3, 1000, 5000}) {
        const std::int64_t begin = -7;
        const std::int64_t whole = std::max<std::int64_t>(grain, 1);
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(size));
        std::atomic<int> wrong{0};
        const auto body = [&](std::int32_t worker, std::int64_t from, std::int64_t to) {
          if (worker < 0 || worker >= threads || from >= to || (from - begin) % whole != 0 ||
              ((to - from) % whole != 0 && to != begin + size)) {
            ++wrong;
          }
          for (std::int64_t i = from; i < to; ++i) ++seen[static_cast<std::size_t>(i - begin)];
          return TILEWRIGHT_OK;
        };
        ASSERT_EQ(run(pool, begin, begin + size, grain, body), TILEWRIGHT_OK);
        EXPECT_EQ(wrong, 0);
        for (const auto& count : seen) ASSERT_EQ(count, 1);
      }
    }
  }
}

TEST(Pool, ExtremeRangesDoNotOverflow) {
  const Pool pool = make_pool(2);
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::mutex mutex;
  std::set<std::pair<std::int64_t, std::int64_t>> pieces;
  const auto note = [&](std::int32_t, std::int64_t from, std::int64_t to) {
    const std::lock_guard lock(mutex);
    pieces.emplace(from, to);
    return TILEWRIGHT_OK;
  };
  ASSERT_EQ(run(pool, kMin, kMax, kMax, note), TILEWRIGHT_OK);
  EXPECT_EQ(pieces, (std::set<std::pair<std::int64_t, std::int64_t>>{
                        {kMin, -1}, {-1, kMax - 1}, {kMax - 1, kMax}}));
  pieces.clear();
  ASSERT_EQ(run(pool, kMax - 3, kMax, 2, note), TILEWRIGHT_OK);
  EXPECT_EQ(pieces, (std::set<std::pair<std::int64_t, std::int64_t>>{{kMax - 3, kMax - 1},
                                                                     {kMax - 1, kMax}}));
  ASSERT_EQ(run(pool, kMax, kMin, 1, note), TILEWRIGHT_OK);
  EXPECT_EQ(pieces.size(), 2u);
}

TEST(Pool, WorkersRunAtTheSameTime) {
  const Pool pool = make_pool(2);
  std::atomic<int> inside{0};
  // Each piece waits for the other. Kernels may not; here it shows that two threads take part.
  const auto meet = [&](std::int32_t, std::int64_t, std::int64_t) {
    ++inside;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (inside < 2 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    return inside == 2 ? TILEWRIGHT_OK : TILEWRIGHT_EXECUTOR_FAILED;
  };
  EXPECT_EQ(run(pool, 0, 2, 1, meet), TILEWRIGHT_OK);
}

// Calls at every distance around the moment at which a worker goes from looking to sleeping. A worker that
// missed one would leave its caller waiting at the meeting point.
TEST(Pool, NoWakeUpIsLost) {
  const Pool pool = make_pool(2);
  for (int round = 0; round < 1500; ++round) {
    const auto call_at =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(round % 150 * 100);
    while (std::chrono::steady_clock::now() < call_at) {
    }
    std::atomic<int> inside{0};
    const auto meet = [&](std::int32_t, std::int64_t, std::int64_t) {
      ++inside;
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (inside < 2 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      return inside == 2 ? TILEWRIGHT_OK : TILEWRIGHT_EXECUTOR_FAILED;
    };
    ASSERT_EQ(run(pool, 0, 2, 1, meet), TILEWRIGHT_OK) << round;
  }
}

TEST(Pool, AWorkerNumberIsHeldByOnePieceAtATime) {
  const Pool pool = make_pool(4);
  std::atomic<int> held[4] = {};
  std::atomic<int> clashes{0};
  const auto body = [&](std::int32_t worker, std::int64_t, std::int64_t) {
    if (held[worker].exchange(1) != 0) ++clashes;
    std::this_thread::yield();
    held[worker] = 0;
    return TILEWRIGHT_OK;
  };
  for (int i = 0; i < 50; ++i) ASSERT_EQ(run(pool, 0, 100, 1, body), TILEWRIGHT_OK);
  EXPECT_EQ(clashes, 0);
}

TEST(Pool, PlainWritesAreVisibleAfterwards) {
  const Pool pool = make_pool(3);
  std::vector<std::int64_t> values(4096);
  for (int round = 0; round < 200; ++round) {
    const auto body = [&](std::int32_t, std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) values[static_cast<std::size_t>(i)] += i;
      return TILEWRIGHT_OK;
    };
    ASSERT_EQ(run(pool, 0, 4096, 64, body), TILEWRIGHT_OK);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], 200 * static_cast<std::int64_t>(i));
  }
}

TEST(Pool, FirstErrorIsReturnedAndTheRestLeftOut) {
  for (const std::int32_t threads : {1, 2}) {
    const Pool pool = make_pool(threads);
    std::atomic<std::int64_t> ran{0};
    const auto body = [&](std::int32_t, std::int64_t from, std::int64_t) -> tilewright_status {
      ++ran;
      return from == 5 ? TILEWRIGHT_REQUIRES_VIOLATED : TILEWRIGHT_OK;
    };
    EXPECT_EQ(run(pool, 0, 1000000000000, 1, body), TILEWRIGHT_REQUIRES_VIOLATED);
    EXPECT_LT(ran, 1000000000);
    EXPECT_EQ(run(pool, 6, 100, 1, body), TILEWRIGHT_OK);
  }
}

TEST(Pool, CancelFromInsideAndBefore) {
  for (const std::int32_t threads : {1, 2}) {
    const Pool pool = make_pool(threads);
    std::uint32_t cancel = 0;
    tilewright_call call = tilewright_call_make(tilewright_pool_executor(pool.get()), nullptr);
    call.cancel = &cancel;
    std::atomic<std::int64_t> ran{0};
    const auto body = [&](std::int32_t, std::int64_t from, std::int64_t) {
      ++ran;
      if (from == 3) __atomic_store_n(&cancel, 1u, __ATOMIC_RELAXED);
      return TILEWRIGHT_OK;
    };
    EXPECT_EQ(run(pool, 0, 1000000000000, 1, body, &call), TILEWRIGHT_CANCELLED);
    ran = 0;
    EXPECT_EQ(run(pool, 0, 10, 1, body, &call), TILEWRIGHT_CANCELLED);
    EXPECT_EQ(ran, 0);
  }
}

TEST(Pool, NestedLoopsRunSeriallyUnderTheSameWorker) {
  const Pool pool = make_pool(3);
  std::atomic<int> wrong{0};
  std::atomic<int> inner_iterations{0};
  const auto outer = [&](std::int32_t worker, std::int64_t, std::int64_t) {
    const std::thread::id here = std::this_thread::get_id();
    const auto inner = [&](std::int32_t inner_worker, std::int64_t from, std::int64_t to) {
      if (inner_worker != worker || std::this_thread::get_id() != here) ++wrong;
      inner_iterations += static_cast<int>(to - from);
      return TILEWRIGHT_OK;
    };
    return run(pool, 0, 5, 2, inner);
  };
  for (int i = 0; i < 20; ++i) ASSERT_EQ(run(pool, 0, 12, 1, outer), TILEWRIGHT_OK);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(inner_iterations, 20 * 12 * 5);
}

TEST(Pool, TwoPoolsNestWithoutDeadlock) {
  const Pool first = make_pool(2);
  const Pool second = make_pool(2);
  std::atomic<int> leaves{0};
  const auto leaf = [&](std::int32_t, std::int64_t, std::int64_t) {
    ++leaves;
    return TILEWRIGHT_OK;
  };
  const auto middle = [&](std::int32_t, std::int64_t, std::int64_t) {
    return run(first, 0, 3, 1, leaf);
  };
  const auto outer = [&](std::int32_t, std::int64_t, std::int64_t) {
    return run(second, 0, 4, 1, middle);
  };
  ASSERT_EQ(run(first, 0, 5, 1, outer), TILEWRIGHT_OK);
  EXPECT_EQ(leaves, 60);
}

// More callers than job slots, so that some run alone.
TEST(Pool, ManyCallersAtOnce) {
  const Pool pool = make_pool(3);
  constexpr int kCallers = 40;
  constexpr int kRounds = 100;
  std::atomic<int> failures{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < kRounds; ++round) {
        std::vector<std::int64_t> sums(3 * 8);
        const std::int64_t size = (caller * 31 + round * 7) % 257;
        const auto body = [&](std::int32_t worker, std::int64_t from, std::int64_t to) {
          for (std::int64_t i = from; i < to; ++i) sums[static_cast<std::size_t>(worker) * 8] += i;
          return TILEWRIGHT_OK;
        };
        const tilewright_status status = run(pool, 0, size, 1 + round % 5, body);
        if (status != TILEWRIGHT_OK || sums[0] + sums[8] + sums[16] != size * (size - 1) / 2)
          ++failures;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failures, 0);
}

TEST(Pool, CreateAndDestroyManyTimes) {
  for (int i = 0; i < 300; ++i) {
    const Pool pool = make_pool(1 + i % 5);
    if (i % 2 == 0) continue;
    std::atomic<int> ran{0};
    const auto body = [&](std::int32_t, std::int64_t, std::int64_t) {
      ++ran;
      return TILEWRIGHT_OK;
    };
    ASSERT_EQ(run(pool, 0, 9, 1, body), TILEWRIGHT_OK);
    ASSERT_EQ(ran, 9);
  }
}

TEST(Pool, BadArguments) {
  tilewright_pool* pool = reinterpret_cast<tilewright_pool*>(&pool);
  EXPECT_EQ(tilewright_pool_create(-1, &pool), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(pool, nullptr);
  EXPECT_EQ(tilewright_pool_create(TILEWRIGHT_MAX_THREADS + 1, &pool), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_pool_create(2, nullptr), TILEWRIGHT_NULL_ARGUMENT);
  tilewright_pool_destroy(nullptr);
  EXPECT_EQ(tilewright_pool_executor(nullptr), nullptr);
  const Pool good = make_pool(2);
  const tilewright_executor* const executor = tilewright_pool_executor(good.get());
  EXPECT_EQ(executor->parallel_for(executor, nullptr, 0, 1, 1, nullptr, nullptr),
            TILEWRIGHT_NULL_ARGUMENT);
}

TEST(Pool, DefaultWidthFollowsTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_SET(cpu, &one);
    break;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const Pool pool = make_pool(0);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(tilewright_pool_executor(pool.get())->num_workers, 1);
}

// Room for a few thread stacks only: creation fails, says so, and takes nothing along.
TEST(Pool, RefusedThreadsAreAStatus) {
#if defined(TILEWRIGHT_TEST_SANITIZED)
  GTEST_SKIP() << "a limit on address space does not fit sanitizers";
#else
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = rlim_t{512} * 1024 * 1024;
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(10);
    for (int i = 0; i < 50; ++i) {
      tilewright_pool* pool = nullptr;
      const tilewright_status status = tilewright_pool_create(TILEWRIGHT_MAX_THREADS, &pool);
      if (status != TILEWRIGHT_NO_THREADS || pool != nullptr) _exit(11);
    }
    tilewright_pool* pool = nullptr;
    if (tilewright_pool_create(2, &pool) != TILEWRIGHT_OK) _exit(12);
    tilewright_pool_destroy(pool);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
#endif
}

TEST(Pool, AForkedChildRunsAloneAndCanDestroy) {
#if defined(TILEWRIGHT_TEST_SANITIZED)
  GTEST_SKIP() << "sanitizers do not follow a fork of a process with threads";
#else
  Pool pool = make_pool(3);
  std::atomic<int> ran{0};
  const auto body = [&](std::int32_t, std::int64_t, std::int64_t) {
    ++ran;
    return TILEWRIGHT_OK;
  };
  ASSERT_EQ(run(pool, 0, 50, 1, body), TILEWRIGHT_OK);
  ran = 0;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (run(pool, 0, 50, 1, body) != TILEWRIGHT_OK || ran != 50) _exit(10);
    pool.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
#endif
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(Pool, IdlePoolUsesNoCpuTime) {
  const Pool pool = make_pool(8);
  const auto body = [](std::int32_t, std::int64_t, std::int64_t) { return TILEWRIGHT_OK; };
  ASSERT_EQ(run(pool, 0, 64, 1, body), TILEWRIGHT_OK);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  // One spinning worker alone would use 0.5 s or its share of a busy machine; sleeping ones use
  // none.
  EXPECT_LT(cpu_seconds() - before, 0.01);
}

// Workers that find nothing left to claim sleep, though the caller's last piece still runs.
TEST(Pool, WorkersSleepWhileTheLastPiecesRun) {
  const Pool pool = make_pool(4);
  const double before = cpu_seconds();
  const auto body = [](std::int32_t worker, std::int64_t, std::int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(worker == 0 ? 300 : 5));
    return TILEWRIGHT_OK;
  };
  ASSERT_EQ(run(pool, 0, 12, 1, body), TILEWRIGHT_OK);
  EXPECT_LT(cpu_seconds() - before, 0.02);
}

TEST(Pool, SignalsAreNotDeliveredToWorkers) {
  const Pool pool = make_pool(2);
  std::atomic<int> inside{0};
  std::atomic<int> unblocked{0};
  const std::thread::id caller = std::this_thread::get_id();
  const auto body = [&](std::int32_t, std::int64_t, std::int64_t) {
    ++inside;
    while (inside < 2) std::this_thread::yield();
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    if (std::this_thread::get_id() != caller && sigismember(&mask, SIGALRM) != 1) ++unblocked;
    return TILEWRIGHT_OK;
  };
  ASSERT_EQ(run(pool, 0, 2, 1, body), TILEWRIGHT_OK);
  EXPECT_EQ(unblocked, 0);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGALRM), 0);
}

#if defined(__x86_64__)
TEST(Pool, EveryPieceRunsUnderTheCallersFloatingPointControl) {
  const Pool pool = make_pool(3);
  const unsigned int before = __builtin_ia32_stmxcsr();
  std::atomic<int> wrong{0};
  for (int round = 0; round < 40; ++round) {
    // Flush-to-zero in every other round.
    const bool flush = round % 2 == 1;
    __builtin_ia32_ldmxcsr(flush ? before | 0x8000u : before & ~0x8000u);
    const auto body = [&](std::int32_t, std::int64_t, std::int64_t) {
      volatile float tiny = 1.5e-38f;
      volatile float denormal = tiny * 0.25f;
      if ((denormal == 0.0f) != flush) ++wrong;
      std::this_thread::yield();
      return TILEWRIGHT_OK;
    };
    ASSERT_EQ(run(pool, 0, 40, 1, body), TILEWRIGHT_OK);
  }
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(wrong, 0);
}
#endif

}  // namespace
