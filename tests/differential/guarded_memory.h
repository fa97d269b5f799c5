// SPDX-License-Identifier: Apache-2.0
//
// Memory for arguments of generated code. Exactly the bytes asked for, against a page that may not be
// touched: an access beyond that side faults, and a write on the other side changes guard bytes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

namespace tilewright::test {

class GuardedMemory {
 public:
  enum class Wall { Behind, Before };

  GuardedMemory(std::size_t size, Wall wall, unsigned char fill) : size_(size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t room = (size + kMargin + page - 1) / page * page;
    mapped_ = room + 2 * page;
    base_ = static_cast<unsigned char*>(
        mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED) std::abort();
    first_ = base_ + page;
    last_ = first_ + room;
    if (mprotect(first_, room, PROT_READ | PROT_WRITE) != 0) std::abort();
    begin_ = wall == Wall::Behind ? last_ - size : first_;
    std::memset(first_, kGuard, room);
    std::memset(begin_, fill, size);
  }
  ~GuardedMemory() {
    if (base_) munmap(base_, mapped_);
  }
  GuardedMemory(GuardedMemory&& other) noexcept
      : size_(other.size_),
        mapped_(other.mapped_),
        base_(std::exchange(other.base_, nullptr)),
        first_(other.first_),
        last_(other.last_),
        begin_(other.begin_) {}
  GuardedMemory& operator=(GuardedMemory&&) = delete;

  std::byte* data() { return reinterpret_cast<std::byte*>(begin_); }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(begin_); }
  std::size_t size() const { return size_; }
  // Nothing outside of the bytes asked for was written.
  bool guards_hold() const {
    for (const unsigned char* p = first_; p != begin_; ++p)
      if (*p != kGuard) return false;
    for (const unsigned char* p = begin_ + size_; p != last_; ++p)
      if (*p != kGuard) return false;
    return true;
  }

 private:
  static constexpr unsigned char kGuard = 0xc3;
  static constexpr std::size_t kMargin = 256;  // guard bytes on the side without a wall, at least
  std::size_t size_;
  std::size_t mapped_ = 0;
  unsigned char* base_ = nullptr;
  unsigned char* first_ = nullptr;
  unsigned char* last_ = nullptr;
  unsigned char* begin_ = nullptr;
};

// While it lives, a fault in generated code says which case ran before the process ends.
class FaultReport {
 public:
  explicit FaultReport(const std::string& text) {
    text_ = text.c_str();
    size_ = text.size();
    struct sigaction action{};
    action.sa_handler = [](int number) {
      static constexpr char kWords[] = "\ngenerated code faulted in\n";
      (void)!write(2, kWords, sizeof(kWords) - 1);
      (void)!write(2, text_, size_);
      signal(number, SIG_DFL);
      raise(number);
    };
    for (std::size_t i = 0; i < std::size(kSignals); ++i)
      sigaction(kSignals[i], &action, &before_[i]);
  }
  ~FaultReport() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i)
      sigaction(kSignals[i], &before_[i], nullptr);
  }
  FaultReport(const FaultReport&) = delete;
  FaultReport& operator=(const FaultReport&) = delete;

 private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  static inline const char* text_ = nullptr;
  static inline std::size_t size_ = 0;
  struct sigaction before_[std::size(kSignals)];
};

}  // namespace tilewright::test
