// SPDX-License-Identifier: Apache-2.0
//
// One parallel loop in flight, in a slot that belongs to the pool. Laws:
//  - Every piece is claimed once, by fetch_add on `next`; who gets none below `num_pieces` never
//  looks at
//    the caller's memory (closure, call).
//  - `finished` becomes kDone when every piece is done or left out, and only then may the caller
//  return.
//    It does not wait for workers that joined and found nothing: the slot, not the caller, outlives
//    them.
//  - `state` is 0 exactly while the slot is free. kOwned from taking to closing, kOpen while
//  workers may
//    join, plus kMember per worker inside. Whoever makes it 0 has freed the slot.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/src/fp_control.h"
#include "runtime/src/park.h"
#include "tilewright/runtime.h"

namespace tilewright::runtime {

inline bool is_cancelled(const tilewright_call* call) {
  return call != nullptr && call->cancel != nullptr &&
         __atomic_load_n(call->cancel, __ATOMIC_RELAXED) != 0;
}

// The loop, cut into pieces of `grain` iterations. Unsigned arithmetic: end - begin may exceed
// 2^63.
struct Loop {
  const tilewright_call* call = nullptr;
  tilewright_task task = nullptr;
  void* closure = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t grain = 1;
  std::uint64_t num_pieces = 0;

  tilewright_status run(std::uint64_t piece, std::int32_t worker) const {
    const std::uint64_t from = begin + piece * grain;
    const std::uint64_t to = end - from > grain ? from + grain : end;
    return task(closure, worker, static_cast<std::int64_t>(from), static_cast<std::int64_t>(to));
  }
};

struct alignas(64) JobSlot {
  static constexpr std::uint32_t kOwned = 1;
  static constexpr std::uint32_t kOpen = 2;
  static constexpr std::uint32_t kMember = 4;
  static constexpr std::uint32_t kRunning = 0;
  static constexpr std::uint32_t kAwaited = 1;
  static constexpr std::uint32_t kDone = 2;

  std::atomic<std::uint32_t> state{0};
  std::atomic<std::uint32_t> finished{kRunning};
  std::atomic<std::int32_t> status{TILEWRIGHT_OK};
  Loop loop;
  std::uint64_t fp_word = 0;
  alignas(64) std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> settled{0};  // pieces done or left out

  bool take() {
    std::uint32_t expected = 0;
    return state.load(std::memory_order_relaxed) == 0 &&
           state.compare_exchange_strong(expected, kOwned, std::memory_order_acquire);
  }

  // After take(). What join() acquires.
  void open(const Loop& with) {
    loop = with;
    fp_word = fp_control();
    finished.store(kRunning, std::memory_order_relaxed);
    status.store(TILEWRIGHT_OK, std::memory_order_relaxed);
    next.store(0, std::memory_order_relaxed);
    settled.store(0, std::memory_order_relaxed);
    state.store(kOwned | kOpen, std::memory_order_release);
  }

  bool join() {
    std::uint32_t seen = state.load(std::memory_order_relaxed);
    while ((seen & kOpen) != 0) {
      if (state.compare_exchange_weak(seen, seen + kMember, std::memory_order_acquire)) return true;
    }
    return false;
  }

  void leave() { state.fetch_sub(kMember, std::memory_order_release); }
  void close() { state.fetch_and(~(kOwned | kOpen), std::memory_order_release); }

  // Claims and runs pieces until none is left.
  void work(std::int32_t worker) {
    std::uint64_t mine = 0;
    while (true) {
      const std::uint64_t piece = next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= loop.num_pieces) break;
      ++mine;
      const tilewright_status result =
          is_cancelled(loop.call) ? TILEWRIGHT_CANCELLED : loop.run(piece, worker);
      if (result < 0) mine += leave_out_rest(result);
    }
    if (mine != 0) settle(mine);
  }

  // For the caller, after its own work().
  void await() {
    const auto done = [this] { return finished.load(std::memory_order_acquire) == kDone; };
    if (spin_until(done, kAwaitSpinNanoseconds)) return;
    std::uint32_t expected = kRunning;
    finished.compare_exchange_strong(expected, kAwaited, std::memory_order_acquire);
    while (!done()) sleep_while(finished, kAwaited);
  }

 private:
  // Takes every piece that nobody has claimed; returns how many.
  std::uint64_t leave_out_rest(tilewright_status why) {
    std::int32_t expected = TILEWRIGHT_OK;
    status.compare_exchange_strong(expected, why, std::memory_order_relaxed);
    const std::uint64_t claimed = next.exchange(loop.num_pieces, std::memory_order_relaxed);
    return claimed < loop.num_pieces ? loop.num_pieces - claimed : 0;
  }

  // Release makes this thread's pieces visible to whoever settles last, acquire makes the last see
  // all.
  void settle(std::uint64_t pieces) {
    if (settled.fetch_add(pieces, std::memory_order_acq_rel) + pieces != loop.num_pieces) return;
    if (finished.exchange(kDone, std::memory_order_acq_rel) == kAwaited) wake(finished, 1);
  }
};

}  // namespace tilewright::runtime
