// SPDX-License-Identifier: Apache-2.0
//
// Reading sources and writing results.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "apps/cli/session.h"
#include "frontend/base/format.h"
#include "frontend/base/text.h"

namespace tilewright::cli {

namespace {

Failure cannot_read(const std::string& path, const std::string& why, const std::string& remedy) {
  return fail(Code::FileRead, {}, in_backticks(path) + " cannot be read: " + why, remedy);
}

Failure cannot_write(const std::string& path, const std::string& why, Code code = Code::FileWrite) {
  return fail(code, {}, in_backticks(path) + " cannot be written: " + why,
              "choose a folder that you may write to, with room for the files");
}

constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

// Holds the signals back that end the tool, where files are between two states.
class Undisturbed {
 public:
  Undisturbed() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : kEndingSignals) ::sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;
  ~Undisturbed() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// Closes at the end.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd > STDERR_FILENO) ::close(fd);
  }
};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// What a signal has to remove: fixed memory, since a handler may neither allocate nor lock. A slot is in use
// from the moment its name is complete.
constexpr int kSlots = 256;
constexpr std::size_t kSlotBytes = 4096;
char slot_path[kSlots][kSlotBytes];
volatile std::sig_atomic_t slot_used[kSlots];

extern "C" void remove_temporaries(int signal) {
  for (int i = 0; i < kSlots; ++i)
    if (slot_used[i] != 0) ::unlink(slot_path[i]);
  // The handler is gone by now (SA_RESETHAND): this ends the tool as the signal would have.
  ::raise(signal);
}

// A temporary file's name while the file is there. Those beyond the slots stay after a signal.
class Noted {
 public:
  explicit Noted(const std::string& path) {
    if (path.size() >= kSlotBytes) return;
    for (int i = 0; i < kSlots && slot_ < 0; ++i)
      if (slot_used[i] == 0) slot_ = i;
    if (slot_ < 0) return;
    std::memcpy(slot_path[slot_], path.c_str(), path.size() + 1);
    std::atomic_signal_fence(std::memory_order_release);
    slot_used[slot_] = 1;
  }
  Noted(Noted&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}
  Noted& operator=(Noted&&) = delete;
  ~Noted() {
    if (slot_ >= 0) slot_used[slot_] = 0;
  }

 private:
  int slot_ = -1;
};

// Files under temporary names; those that were not renamed are removed at the end.
class Pending {
 public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() {
    for (const auto& [temporary, path] : files_) ::unlink(temporary.c_str());
  }

  // What is there must be a regular file that may be written; it keeps its mode, and a link to it stays one.
  Result<Ok> add(std::string path, std::string_view bytes, Code code) {
    // mkstemp gives 0600; what a new file gets is decided by the mask.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    mode_t mode = 0666 & ~mask;
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0) {
      if (!S_ISREG(status.st_mode))
        return cannot_write(path, "it is there and no regular file", code);
      if (::access(path.c_str(), W_OK) != 0) return cannot_write(path, std::strerror(errno), code);
      mode = status.st_mode & 07777;
      std::error_code error;
      const auto real = std::filesystem::canonical(path, error);
      if (!error) path = real.string();
    }
    std::string temporary = path + ".XXXXXX";
    Descriptor file;
    {
      const Undisturbed undisturbed;
      file.fd = ::mkstemp(temporary.data());
      if (file.fd < 0) return cannot_write(path, std::strerror(errno), code);
      files_.emplace_back(temporary, path);
      noted_.emplace_back(temporary);
    }
    if (!write_all(file.fd, bytes) || ::fchmod(file.fd, mode) != 0)
      return cannot_write(path, std::strerror(errno), code);
    return Ok{};
  }

  // All or, before the first, none.
  Result<Ok> rename_all() {
    const Undisturbed undisturbed;
    while (!files_.empty()) {
      const auto [temporary, path] = files_.back();
      if (::rename(temporary.c_str(), path.c_str()) != 0)
        return cannot_write(path, std::strerror(errno));
      files_.pop_back();
      noted_.pop_back();
    }
    return Ok{};
  }

 private:
  std::vector<std::pair<std::string, std::string>> files_;  // temporary, final
  std::vector<Noted> noted_;  // of each
};

}  // namespace

Result<Source> read_source(const std::string& path) {
  const bool standard_input = path == "-";
  Descriptor file{standard_input ? STDIN_FILENO
                                 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0)
    return cannot_read(path, std::strerror(errno), "check the name and the permissions");
  struct stat status{};
  if (::fstat(file.fd, &status) != 0)
    return cannot_read(path, std::strerror(errno), "check the file");
  if (S_ISDIR(status.st_mode)) return cannot_read(path, "it is a directory", "name a file in it");
  if (!standard_input && !S_ISREG(status.st_mode))
    return cannot_read(path, "it is no regular file",
                       "name a regular file, or `-` for standard input");
  std::string text;
  char block[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.fd, block, sizeof(block));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(path, std::strerror(errno), "check the file");
    if (count == 0) break;
    text.append(block, static_cast<std::size_t>(count));
    // The readers refuse what is longer; there is no use in holding it.
    if (text.size() > kMaxSourceBytes) break;
  }
  return Source(standard_input ? "<stdin>" : path, std::move(text));
}

Result<Ok> check_not_read(const std::string& path, const std::vector<std::string>& read) {
  struct stat written{};
  if (::stat(path.c_str(), &written) != 0) return Ok{};
  for (const std::string& input : read) {
    struct stat status{};
    const bool found =
        input == "-" ? ::fstat(STDIN_FILENO, &status) == 0 : ::stat(input.c_str(), &status) == 0;
    if (found && status.st_dev == written.st_dev && status.st_ino == written.st_ino)
      return fail(Code::FileWrite, {},
                  in_backticks(path) + " cannot be written: it is the input " + in_backticks(input),
                  "name another file or folder for what is written");
  }
  return Ok{};
}

void remove_temporaries_on_signals() {
  struct sigaction action{};
  action.sa_handler = remove_temporaries;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  for (const int signal : kEndingSignals) {
    struct sigaction before{};
    // A shell that starts a job in the background has it ignore SIGINT, nohup SIGHUP.
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
}

void hold_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0)
      // The lowest free descriptor is this one; the wrong way round, so that its use is an error.
      (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

Result<Ok> write_files(const std::string& folder, const std::vector<OutputFile>& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder))
    return cannot_write(folder, error ? error.message() : "it is there and no folder");
  Pending pending;
  for (const OutputFile& file : files)
    TILEWRIGHT_CHECK_OK(pending.add((std::filesystem::path(folder) / file.name).string(),
                                    file.bytes, Code::FileWrite));
  return pending.rename_all();
}

Result<Ok> write_paths(const std::vector<OutputFile>& files, Code code) {
  Pending pending;
  for (const OutputFile& file : files)
    TILEWRIGHT_CHECK_OK(pending.add(file.name, file.bytes, code));
  return pending.rename_all();
}

}  // namespace tilewright::cli
