// SPDX-License-Identifier: Apache-2.0
//
// Reads the quota files. Nothing here may need libstdc++: no string_view::substr, no exceptions.
#include "runtime/src/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tilewright/runtime.h"

namespace tilewright::runtime {
namespace {

// Longer files are cut; their last, possibly incomplete line is then ignored.
constexpr std::size_t kFileCapacity = std::size_t{256} * 1024;
constexpr std::size_t kPathCapacity = 4352;
constexpr std::size_t kLongestName = 32;  // room for "/cpu.cfs_period_us"
// A CPU mask of 65536 bits, the kernel's limit being far below.
constexpr std::size_t kMaskWords = 1024;

std::ptrdiff_t read_system_file(void*, const char* path, char* buffer, std::size_t capacity) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  std::size_t size = 0;
  while (size < capacity) {
    const ssize_t got = read(fd, buffer + size, capacity - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  close(fd);
  return static_cast<std::ptrdiff_t>(size);
}

// Cuts the part before `separator` off `text`; the whole of it when there is none.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) {
    const std::string_view all = text;
    text = {};
    return all;
  }
  const std::string_view head(text.data(), at);
  text.remove_prefix(at + 1);
  return head;
}

// Cuts the next complete line; false at the end and at a line without its break.
bool cut_line(std::string_view& text, std::string_view& line) {
  if (text.find('\n') == std::string_view::npos) return false;
  line = cut(text, '\n');
  return true;
}

bool has_item(std::string_view comma_list, std::string_view item) {
  while (!comma_list.empty()) {
    if (cut(comma_list, ',') == item) return true;
  }
  return false;
}

// A decimal number without sign that fits, or -1. Trailing white space is allowed.
std::int64_t parse_count(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  if (text.empty()) return -1;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    if (value > (INT64_MAX - (c - '0')) / 10) return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

MilliCpus quota_of(std::int64_t quota, std::int64_t period) {
  if (quota <= 0 || period <= 0 || quota > INT64_MAX / 1000) return kNoQuota;
  return quota * 1000 / period;
}

// A path under construction, always terminated.
struct Path {
  char text[kPathCapacity];
  std::size_t size = 0;

  bool append(std::string_view part) {
    if (part.size() >= kPathCapacity - size) return false;
    if (!part.empty()) memcpy(text + size, part.data(), part.size());
    shorten(size + part.size());
    return true;
  }
  void shorten(std::size_t to) {
    size = to;
    text[size] = '\0';
  }
};

// mountinfo writes blanks, tabs, line breaks and backslashes as \ooo.
bool append_unescaped(Path& path, std::string_view part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    char c = part[i];
    if (c == '\\' && i + 3 < part.size()) {
      c = static_cast<char>((part[i + 1] - '0') * 64 + (part[i + 2] - '0') * 8 +
                            (part[i + 3] - '0'));
      i += 3;
    }
    if (!path.append(std::string_view(&c, 1))) return false;
  }
  return true;
}

struct Mount {
  std::string_view root;
  std::string_view point;
  bool version2 = false;
};

// "31 23 0:28 /root /point opts tags... - type source superopts"; false unless it can hold CPU
// quotas.
bool parse_mount(std::string_view line, Mount& mount) {
  for (int i = 0; i < 3; ++i) cut(line, ' ');
  mount.root = cut(line, ' ');
  mount.point = cut(line, ' ');
  while (!line.empty() && cut(line, ' ') != "-") {
  }
  const std::string_view type = cut(line, ' ');
  cut(line, ' ');
  mount.version2 = type == "cgroup2";
  return mount.version2 || (type == "cgroup" && has_item(line, "cpu"));
}

// The group of this process in the hierarchy of `mount`: from "0::/a/b" or "4:cpu,cpuacct:/a/b".
std::string_view group_path(std::string_view groups, bool version2) {
  std::string_view line;
  while (cut_line(groups, line)) {
    const std::string_view number = cut(line, ':');
    const std::string_view controllers = cut(line, ':');
    if (version2 ? number == "0" && controllers.empty() : has_item(controllers, "cpu")) return line;
  }
  return {};
}

// What of `group` lies below `root`. Empty (the mount point itself) when it does not: inside a
// namespace the two may be told from different roots.
std::string_view below(std::string_view group, std::string_view root) {
  if (group.find("/..") != std::string_view::npos) return {};
  if (root == "/") return group == "/" ? std::string_view() : group;
  if (!group.starts_with(root)) return {};
  group.remove_prefix(root.size());
  return group.empty() || group.front() == '/' ? group : std::string_view();
}

MilliCpus read_quota(const FileReader& files, Path& directory, bool version2) {
  const std::size_t size = directory.size;
  char first[128];
  char second[128];
  const auto read = [&](const char* name, char* buffer) {
    if (!directory.append(name)) return std::string_view();
    const std::ptrdiff_t got = files.read(files.state, directory.text, buffer, sizeof(first));
    directory.shorten(size);
    return got <= 0 ? std::string_view() : std::string_view(buffer, static_cast<std::size_t>(got));
  };
  if (version2) return parse_cpu_max(read("/cpu.max", first));
  const std::string_view quota = read("/cpu.cfs_quota_us", first);
  return parse_cfs(quota, read("/cpu.cfs_period_us", second));
}

MilliCpus mount_quota(const FileReader& files, const Mount& mount, std::string_view groups) {
  Path directory;
  if (!append_unescaped(directory, mount.point)) return kNoQuota;
  const std::size_t top = directory.size;
  const std::string_view group = below(group_path(groups, mount.version2), mount.root);
  if (group.size() + kLongestName >= kPathCapacity - top || !directory.append(group))
    return kNoQuota;
  MilliCpus least = kNoQuota;
  while (true) {
    const MilliCpus quota = read_quota(files, directory, mount.version2);
    if (quota < least) least = quota;
    if (directory.size <= top) return least;
    std::size_t parent = directory.size - 1;
    while (parent > top && directory.text[parent] != '/') --parent;
    directory.shorten(parent);
  }
}

}  // namespace

FileReader system_files() { return FileReader{nullptr, read_system_file}; }

MilliCpus parse_cpu_max(std::string_view text) {
  const std::string_view quota = cut(text, ' ');
  return quota_of(parse_count(quota), parse_count(text));
}

MilliCpus parse_cfs(std::string_view quota, std::string_view period) {
  return quota_of(parse_count(quota), parse_count(period));
}

MilliCpus cgroup_quota(const FileReader& files) {
  char* const buffer = static_cast<char*>(malloc(2 * kFileCapacity));
  if (buffer == nullptr) return kNoQuota;
  const std::ptrdiff_t groups_size =
      files.read(files.state, "/proc/self/cgroup", buffer, kFileCapacity);
  const std::ptrdiff_t mounts_size =
      files.read(files.state, "/proc/self/mountinfo", buffer + kFileCapacity, kFileCapacity);
  MilliCpus least = kNoQuota;
  if (groups_size > 0 && mounts_size > 0) {
    const std::string_view groups(buffer, static_cast<std::size_t>(groups_size));
    std::string_view mounts(buffer + kFileCapacity, static_cast<std::size_t>(mounts_size));
    std::string_view line;
    while (cut_line(mounts, line)) {
      Mount mount;
      if (!parse_mount(line, mount)) continue;
      const MilliCpus quota = mount_quota(files, mount, groups);
      if (quota < least) least = quota;
    }
  }
  free(buffer);
  return least;
}

std::int32_t affinity_cpus() {
  // The system call, not glibc's wrapper: it says how many bytes it wrote, and takes masks of any
  // size.
  unsigned long mask[kMaskWords];
  const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);
  if (bytes <= 0) return 1;
  std::int32_t cpus = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bytes) / sizeof(mask[0]); ++i) {
    cpus += __builtin_popcountl(mask[i]);
  }
  return cpus < 1 ? 1 : cpus;
}

std::int32_t threads_for(std::int32_t cpus, MilliCpus quota) {
  std::int64_t threads = cpus;
  if (quota / 1000 < threads) threads = quota / 1000;
  if (threads > TILEWRIGHT_MAX_THREADS) threads = TILEWRIGHT_MAX_THREADS;
  return threads < 1 ? 1 : static_cast<std::int32_t>(threads);
}

}  // namespace tilewright::runtime

extern "C" std::int32_t tilewright_available_threads(void) noexcept {
  using namespace tilewright::runtime;
  return threads_for(affinity_cpus(), cgroup_quota(system_files()));
}
