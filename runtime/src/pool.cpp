// SPDX-License-Identifier: Apache-2.0
//
// The built-in executor. A loop is put in a slot, its bit in `busy` is set, `epoch` goes up, and
// sleeping workers are woken. Nothing is locked: a thread that loses its CPU at any point delays
// only the pieces that it has claimed. Laws:
//  - A set bit of `busy` means "may have unclaimed pieces". Only the owner sets it, and it is
//  cleared only
//    by threads that hold the slot (owner or member), so never for the slot's next loop.
//  - No wake-up is lost: a worker counts itself in `sleepers` before the kernel compares `epoch`, a
//  caller
//    changes `epoch` before it reads `sleepers`, all sequentially consistent.
// Memory is allocated in tilewright_pool_create only. Needs no libstdc++. Tests:
// tests/unit/runtime/pool_test.cpp.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "runtime/src/job.h"
#include "tilewright/runtime.h"

namespace tilewright::runtime {
namespace {

// Loops in flight at one time; a caller that finds no slot runs its loop alone.
constexpr int kNumSlots = 32;
constexpr std::size_t kCacheLine = 64;

// Says, per thread and pool, under which worker number the thread runs a task of the pool.
struct Frame {
  std::int32_t worker;
};

struct Worker {
  tilewright_pool* pool;
  pthread_t thread;
  std::int32_t index;
};

}  // namespace
}  // namespace tilewright::runtime

struct tilewright_pool {
  tilewright_executor executor;
  pthread_key_t frame_key;
  pid_t process;
  std::int32_t num_started = 0;
  tilewright::runtime::Worker* workers = nullptr;
  alignas(64) std::atomic<std::uint32_t> epoch{0};
  std::atomic<std::uint32_t> busy{0};
  std::atomic<bool> stopping{false};
  alignas(64) std::atomic<std::int32_t> sleepers{0};
  tilewright::runtime::JobSlot slots[tilewright::runtime::kNumSlots];
};

namespace tilewright::runtime {
namespace {

class FrameScope {
 public:
  FrameScope(const tilewright_pool& pool, std::int32_t worker)
      : key_(pool.frame_key), frame_{worker} {
    entered_ = pthread_setspecific(key_, &frame_) == 0;
  }
  ~FrameScope() {
    if (entered_) pthread_setspecific(key_, nullptr);
  }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;
  // False if the system had no memory for the key's value: a nested loop would not be recognised.
  bool entered() const { return entered_; }

 private:
  pthread_key_t key_;
  Frame frame_;
  bool entered_ = false;
};

tilewright_status run_serially(const Loop& loop, std::int32_t worker) {
  for (std::uint64_t piece = 0; piece < loop.num_pieces; ++piece) {
    if (is_cancelled(loop.call)) return TILEWRIGHT_CANCELLED;
    const tilewright_status status = loop.run(piece, worker);
    if (status < 0) return status;
  }
  return TILEWRIGHT_OK;
}

int take_slot(tilewright_pool& pool) {
  for (int i = 0; i < kNumSlots; ++i) {
    if (pool.slots[i].take()) return i;
  }
  return -1;
}

void announce(tilewright_pool& pool, int slot, std::uint64_t num_pieces) {
  pool.busy.fetch_or(1u << slot, std::memory_order_relaxed);
  pool.epoch.fetch_add(1, std::memory_order_seq_cst);
  if (pool.sleepers.load(std::memory_order_seq_cst) == 0) return;
  const std::int32_t others = pool.executor.num_workers - 1;
  const std::uint64_t wanted = num_pieces - 1;
  wake(pool.epoch,
       wanted < static_cast<std::uint64_t>(others) ? static_cast<std::int32_t>(wanted) : others);
}

tilewright_status run_shared(tilewright_pool& pool, const Loop& loop, int index) {
  JobSlot& slot = pool.slots[index];
  slot.open(loop);
  announce(pool, index, loop.num_pieces);
  slot.work(0);
  pool.busy.fetch_and(~(1u << index), std::memory_order_relaxed);
  slot.await();
  const tilewright_status status = slot.status.load(std::memory_order_relaxed);
  slot.close();
  return status;
}

tilewright_status parallel_for(const tilewright_executor* self, const tilewright_call* call,
                               std::int64_t begin, std::int64_t end, std::int64_t grain,
                               tilewright_task task, void* closure) {
  if (self == nullptr || task == nullptr) return TILEWRIGHT_NULL_ARGUMENT;
  if (begin >= end) return TILEWRIGHT_OK;
  tilewright_pool& pool = *static_cast<tilewright_pool*>(self->state);
  Loop loop;
  loop.call = call;
  loop.task = task;
  loop.closure = closure;
  loop.begin = static_cast<std::uint64_t>(begin);
  loop.end = static_cast<std::uint64_t>(end);
  loop.grain = grain < 1 ? 1 : static_cast<std::uint64_t>(grain);
  loop.num_pieces = (loop.end - loop.begin - 1) / loop.grain + 1;

  const Frame* const outer = static_cast<const Frame*>(pthread_getspecific(pool.frame_key));
  if (outer != nullptr) return run_serially(loop, outer->worker);
  const FrameScope frame(pool, 0);
  if (frame.entered() && loop.num_pieces > 1 && pool.num_started > 0) {
    const int slot = take_slot(pool);
    if (slot >= 0) return run_shared(pool, loop, slot);
  }
  return run_serially(loop, 0);
}

// Works on every loop that has unclaimed pieces. Begins at another slot in each worker, so that
// loops of several callers share the pool.
void help(tilewright_pool& pool, std::int32_t worker) {
  std::uint32_t busy;
  while ((busy = pool.busy.load(std::memory_order_relaxed)) != 0) {
    const int turn = worker % kNumSlots;
    const std::uint32_t turned = turn == 0 ? busy : (busy >> turn) | (busy << (kNumSlots - turn));
    const int index = (__builtin_ctz(turned) + turn) % kNumSlots;
    JobSlot& slot = pool.slots[index];
    if (!slot.join()) {
      // Closed by its owner, who has cleared the bit: look again.
      relax_cpu();
      continue;
    }
    if (fp_control() != slot.fp_word) set_fp_control(slot.fp_word);
    slot.work(worker);
    pool.busy.fetch_and(~(1u << index), std::memory_order_relaxed);
    slot.leave();
  }
}

void* worker_main(void* argument) {
  const Worker& self = *static_cast<Worker*>(argument);
  tilewright_pool& pool = *self.pool;
  const FrameScope frame(pool, self.index);
  // Without the frame a nested loop could reuse a worker number; the pool then goes on without this
  // thread.
  const bool useful = frame.entered();
  while (true) {
    const std::uint32_t epoch = pool.epoch.load(std::memory_order_seq_cst);
    if (pool.stopping.load(std::memory_order_acquire)) return nullptr;
    if (useful) help(pool, self.index);
    const auto changed = [&] { return pool.epoch.load(std::memory_order_seq_cst) != epoch; };
    if (useful && spin_until(changed, kIdleSpinNanoseconds)) continue;
    pool.sleepers.fetch_add(1, std::memory_order_seq_cst);
    sleep_while(pool.epoch, epoch);
    pool.sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }
}

void stop_and_join(tilewright_pool& pool) {
  pool.stopping.store(true, std::memory_order_release);
  pool.epoch.fetch_add(1, std::memory_order_seq_cst);
  wake(pool.epoch);
  for (std::int32_t i = 0; i < pool.num_started; ++i) pthread_join(pool.workers[i].thread, nullptr);
}

// Starts all workers with every signal blocked, or none.
bool start_workers(tilewright_pool& pool, std::int32_t count) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  bool started = true;
  while (started && pool.num_started < count) {
    Worker& worker = pool.workers[pool.num_started];
    worker.pool = &pool;
    worker.index = pool.num_started + 1;
    started = pthread_create(&worker.thread, nullptr, worker_main, &worker) == 0;
    if (started) ++pool.num_started;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) stop_and_join(pool);
  return started;
}

void free_pool(tilewright_pool* pool) {
  free(pool->workers);
  pool->~tilewright_pool();
  free(pool);
}

tilewright_status create(std::int32_t num_threads, tilewright_pool** result) {
  void* memory = nullptr;
  if (posix_memalign(&memory, kCacheLine, sizeof(tilewright_pool)) != 0) {
    return TILEWRIGHT_OUT_OF_MEMORY;
  }
  tilewright_pool* const pool = new (memory) tilewright_pool;
  pool->executor = {};
  pool->executor.struct_size = sizeof(tilewright_executor);
  pool->executor.num_workers = num_threads;
  pool->executor.state = pool;
  pool->executor.parallel_for = parallel_for;
  pool->process = getpid();
  if (num_threads > 1) {
    pool->workers =
        static_cast<Worker*>(calloc(static_cast<std::size_t>(num_threads - 1), sizeof(Worker)));
    if (pool->workers == nullptr) {
      free_pool(pool);
      return TILEWRIGHT_OUT_OF_MEMORY;
    }
  }
  if (pthread_key_create(&pool->frame_key, nullptr) != 0) {
    free_pool(pool);
    return TILEWRIGHT_NO_THREADS;
  }
  if (!start_workers(*pool, num_threads - 1)) {
    pthread_key_delete(pool->frame_key);
    free_pool(pool);
    return TILEWRIGHT_NO_THREADS;
  }
  *result = pool;
  return TILEWRIGHT_OK;
}

}  // namespace
}  // namespace tilewright::runtime

extern "C" tilewright_status tilewright_pool_create(std::int32_t num_threads,
                                                    tilewright_pool** pool) noexcept {
  if (pool == nullptr) return TILEWRIGHT_NULL_ARGUMENT;
  *pool = nullptr;
  if (num_threads < 0 || num_threads > TILEWRIGHT_MAX_THREADS) return TILEWRIGHT_INVALID_ARGUMENT;
  return tilewright::runtime::create(
      num_threads == 0 ? tilewright_available_threads() : num_threads, pool);
}

extern "C" void tilewright_pool_destroy(tilewright_pool* pool) noexcept {
  if (pool == nullptr) return;
  // The workers of a parent process do not exist in a forked child.
  if (pool->process == getpid()) tilewright::runtime::stop_and_join(*pool);
  pthread_key_delete(pool->frame_key);
  tilewright::runtime::free_pool(pool);
}

extern "C" const tilewright_executor* tilewright_pool_executor(
    const tilewright_pool* pool) noexcept {
  return pool == nullptr ? nullptr : &pool->executor;
}
