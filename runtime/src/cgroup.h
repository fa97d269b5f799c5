// SPDX-License-Identifier: Apache-2.0
//
// The CPU quota that control groups put on this process, version 1 or 2. Law: anything that cannot
// be read or understood counts as "no quota" - a pool that is too wide is slower, a guess is not
// better. Files are read through FileReader, so that tests hand in the texts of machines they do
// not run on. Tests: tests/unit/runtime/cgroup_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilewright::runtime {

// CPU time per wall time in thousandths.
using MilliCpus = std::int64_t;
inline constexpr MilliCpus kNoQuota = INT64_MAX;

struct FileReader {
  void* state = nullptr;
  // Fills `buffer` with the start of a file; returns the bytes read, or -1.
  std::ptrdiff_t (*read)(void* state, const char* path, char* buffer,
                         std::size_t capacity) = nullptr;
};

// The kernel's files.
FileReader system_files();

// The text of cpu.max: "max 100000" or "150000 100000".
MilliCpus parse_cpu_max(std::string_view text);
// The texts of cpu.cfs_quota_us ("-1" means none) and cpu.cfs_period_us.
MilliCpus parse_cfs(std::string_view quota, std::string_view period);

// The least quota of the groups that hold this process and of all groups above them that it can
// see, found by /proc/self/cgroup and /proc/self/mountinfo.
MilliCpus cgroup_quota(const FileReader& files);

// CPUs in the calling thread's affinity mask, at least 1.
std::int32_t affinity_cpus();

// Threads worth having: quotas round down, because a thread that is throttled in the middle of a
// loop holds up all of it for the rest of the period. At least 1, at most TILEWRIGHT_MAX_THREADS.
std::int32_t threads_for(std::int32_t cpus, MilliCpus quota);

}  // namespace tilewright::runtime
