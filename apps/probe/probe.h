// SPDX-License-Identifier: Apache-2.0
//
// Measures what this machine reaches: the f32 multiply-add peak per vector width and the rate at which
// caches and memory deliver bytes. `tilewright machine probe` and tests/bench use the same code, so a
// machine file and a benchmark speak of the same peak.
// Law: a rate is work over the time from the first thread's start to the last thread's end, so it is never
// above what the machine did; an instruction set that the processor lacks is skipped with a reason.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::probe {

enum class VectorUnit { Avx2Fma, Avx512Fma, Avx512Bf16 };
enum class Traffic { Read, Copy, StreamCopy };

struct Options {
  unsigned threads = 1;
  // Time spent on one rate; rounds of about a millisecond fill it.
  double seconds = 0.2;
};

// Work per second over many short rounds. On a machine shared with others `best` is the closest to what the
// hardware can do and `median` is what was to be had while measuring.
struct Rate {
  double best = 0;
  double median = 0;
  unsigned rounds = 0;
  // Why nothing was measured; empty when something was.
  std::string skipped;
};

struct CacheSizes {
  std::size_t l1_data = 0;
  std::size_t l2 = 0;
  std::size_t l3 = 0;
};

// Data and unified caches of the first processor, in bytes; 0 where the system does not say.
CacheSizes cache_sizes();

struct CacheLevel {
  int level = 1;
  std::size_t bytes = 0;
  std::size_t line_bytes = 64;
  unsigned shared_by = 1;  // processors that the system lets share it
};
// Data and unified caches of the first processor, nearest first; what the system does not say is left out.
std::vector<CacheLevel> cache_levels();
// The same as the processor itself tells it, which knows no limits that the system sets; empty but on x86-64.
std::vector<CacheLevel> cache_levels_of_processor();

// What the system calls the processor; empty where it does not say.
std::string processor_name();
// Instruction sets beyond x86-64-v4 that are here, in LLVM's spelling, sorted.
std::vector<std::string> processor_features();
// Threads that may run at once.
unsigned processor_count();

std::string_view unit_name(VectorUnit unit);
// Why `unit` cannot run on this processor; empty when it can.
std::string why_unit_absent(VectorUnit unit);

// Floating-point operations per second, a multiply-add counting as two.
Rate multiply_add_rate(VectorUnit unit, const Options& options);

// Cycles per second, from a chain of additions that take one cycle each.
Rate core_frequency(const Options& options);
// Dependent multiply-adds per second: the reciprocal of their latency.
Rate multiply_add_chain_rate(VectorUnit unit, const Options& options);
// Dependent loads per second from a level that holds `bytes`, in an order that no prefetcher follows. Far levels
// include the cost of address translation with the pages that the system gives.
Rate load_chain_rate(std::size_t bytes, const Options& options);

std::string_view traffic_name(Traffic traffic);
// Bytes per second that cross between a core and the level that holds `bytes_per_thread`. A read counts
// what it loads, a copy what it loads and what it stores; ownership traffic is not counted.
Rate transfer_rate(Traffic traffic, std::size_t bytes_per_thread, const Options& options);

}  // namespace tilewright::probe
