// SPDX-License-Identifier: Apache-2.0
//
// The quota reader on texts of machines that the tests do not run on.
#include "runtime/src/cgroup.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "tilewright/runtime.h"

namespace tilewright::runtime {
namespace {

// A file tree in memory. Paths that are not in it cannot be read.
class Tree {
 public:
  explicit Tree(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  FileReader reader() { return FileReader{this, read}; }

 private:
  static std::ptrdiff_t read(void* state, const char* path, char* buffer, std::size_t capacity) {
    const auto& files = static_cast<Tree*>(state)->files_;
    const auto found = files.find(path);
    if (found == files.end()) return -1;
    const std::size_t size = std::min(capacity, found->second.size());
    std::memcpy(buffer, found->second.data(), size);
    return static_cast<std::ptrdiff_t>(size);
  }
  std::map<std::string, std::string> files_;
};

MilliCpus quota_in(std::map<std::string, std::string> files) {
  Tree tree(std::move(files));
  return cgroup_quota(tree.reader());
}

TEST(Cgroup, CpuMax) {
  EXPECT_EQ(parse_cpu_max("max 100000\n"), kNoQuota);
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1500);
  EXPECT_EQ(parse_cpu_max("20000 50000\n"), 400);
  EXPECT_EQ(parse_cpu_max("1000 100000\n"), 10);
}

TEST(Cgroup, MalformedCountsAsNoQuota) {
  for (const char* text :
       {"", "\n", "100000", "100000 ", "100000 0\n", "0 100000\n", "-1 100000\n", "abc 100000\n",
        "100000 10x\n", "99999999999999999999 100000\n", "9223372036854775807 100000\n"}) {
    EXPECT_EQ(parse_cpu_max(text), kNoQuota) << text;
  }
}

TEST(Cgroup, CfsFiles) {
  EXPECT_EQ(parse_cfs("-1\n", "100000\n"), kNoQuota);
  EXPECT_EQ(parse_cfs("250000\n", "100000\n"), 2500);
  EXPECT_EQ(parse_cfs("250000\n", ""), kNoQuota);
}

constexpr const char* kMount2 =
    "24 30 0:22 / /proc rw,nosuid - proc proc rw\n"
    "35 24 0:29 / /sys/fs/cgroup rw,nosuid shared:9 master:2 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(Cgroup, Version2TakesTheLeastOfAllAncestors) {
  EXPECT_EQ(quota_in({{"/proc/self/cgroup", "0::/user.slice/job.service\n"},
                      {"/proc/self/mountinfo", kMount2},
                      {"/sys/fs/cgroup/user.slice/job.service/cpu.max", "800000 100000\n"},
                      {"/sys/fs/cgroup/user.slice/cpu.max", "300000 100000\n"}}),
            3000);
}

TEST(Cgroup, Version2InsideANamespace) {
  EXPECT_EQ(quota_in({{"/proc/self/cgroup", "0::/\n"},
                      {"/proc/self/mountinfo", kMount2},
                      {"/sys/fs/cgroup/cpu.max", "400000 100000\n"}}),
            4000);
}

TEST(Cgroup, GroupToldFromAnotherRootFallsBackToTheMount) {
  EXPECT_EQ(quota_in({{"/proc/self/cgroup", "0::/../other\n"},
                      {"/proc/self/mountinfo", kMount2},
                      {"/sys/fs/cgroup/cpu.max", "400000 100000\n"},
                      {"/sys/fs/cgroup/../other/cpu.max", "100000 100000\n"}}),
            4000);
}

TEST(Cgroup, Version1ContainerMountsItsOwnGroup) {
  EXPECT_EQ(
      quota_in({{"/proc/self/cgroup", "5:memory:/docker/ab\n4:cpuacct,cpu:/docker/ab\n"},
                {"/proc/self/mountinfo",
                 "40 39 0:30 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
                 "41 39 0:31 /docker/ab /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpuacct,cpu\n"},
                {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n"},
                {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
                {"/sys/fs/cgroup/memory/cpu.cfs_quota_us", "1\n"}}),
      1500);
}

TEST(Cgroup, CpusetIsNotCpu) {
  EXPECT_EQ(quota_in({{"/proc/self/cgroup", "4:cpuset:/a\n"},
                      {"/proc/self/mountinfo", "41 39 0:31 / /c rw - cgroup cgroup rw,cpuset\n"},
                      {"/c/a/cpu.cfs_quota_us", "1000\n"},
                      {"/c/a/cpu.cfs_period_us", "1000\n"}}),
            kNoQuota);
}

TEST(Cgroup, Version1WithUnifiedAside) {
  EXPECT_EQ(quota_in({{"/proc/self/cgroup", "1:cpu:/x\n0::/y\n"},
                      {"/proc/self/mountinfo",
                       "32 31 0:29 / /g/cpu rw,relatime - cgroup cgroup rw,cpu\n"
                       "41 31 0:38 / /g/unified rw,relatime - cgroup2 cgroup2 rw\n"},
                      {"/g/cpu/x/cpu.cfs_quota_us", "-1\n"},
                      {"/g/cpu/x/cpu.cfs_period_us", "100000\n"},
                      {"/g/cpu/cpu.cfs_quota_us", "200000\n"},
                      {"/g/cpu/cpu.cfs_period_us", "100000\n"}}),
            2000);
}

TEST(Cgroup, EscapedMountPoint) {
  EXPECT_EQ(quota_in({{"/proc/self/cgroup", "0::/\n"},
                      {"/proc/self/mountinfo", "35 24 0:29 / /my\\040cg rw - cgroup2 none rw\n"},
                      {"/my cg/cpu.max", "700000 100000\n"}}),
            7000);
}

TEST(Cgroup, HostileTextsAreHarmless) {
  const std::string deep = "0::" + std::string(100000, '/') + "\n";
  EXPECT_EQ(quota_in({{"/proc/self/cgroup", deep}, {"/proc/self/mountinfo", kMount2}}), kNoQuota);
  EXPECT_EQ(quota_in({{"/proc/self/cgroup", "0::/a"}, {"/proc/self/mountinfo", "1 2 3"}}),
            kNoQuota);
  EXPECT_EQ(quota_in({{"/proc/self/cgroup", "::\n:\n\n"}, {"/proc/self/mountinfo", "\n - \n-\n"}}),
            kNoQuota);
  EXPECT_EQ(quota_in({}), kNoQuota);
}

TEST(Cgroup, WholeCpusOnlyAndAtLeastOne) {
  EXPECT_EQ(threads_for(8, kNoQuota), 8);
  EXPECT_EQ(threads_for(8, 2500), 2);
  EXPECT_EQ(threads_for(2, 64000), 2);
  EXPECT_EQ(threads_for(8, 100), 1);
  EXPECT_EQ(threads_for(100000, kNoQuota), TILEWRIGHT_MAX_THREADS);
}

TEST(Cgroup, ThisProcess) {
  const std::int32_t threads = tilewright_available_threads();
  EXPECT_GE(threads, 1);
  EXPECT_LE(threads, affinity_cpus());
}

}  // namespace
}  // namespace tilewright::runtime
