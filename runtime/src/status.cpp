// SPDX-License-Identifier: Apache-2.0
//
// Statuses and error details as text, into storage of the caller. Law: no allocation, no locale, no
// stdio. Tests: tests/unit/runtime/status_test.cpp.
#include <cstddef>
#include <cstdint>

#include "tilewright/runtime.h"

namespace {

// Index: minus the status.
constexpr const char* kTexts[] = {
    "ok",
    "null argument",
    "wrong rank",
    "wrong element type",
    "wrong device",
    "wrong extent",
    "unsupported strides",
    "tensor reaches beyond its memory",
    "misaligned data",
    "output is read-only",
    "requirement violated",
    "output overlaps another argument",
    "workspace too small",
    "misaligned workspace",
    "malformed call context",
    "cancelled",
    "executor failed",
    "unsupported cpu",
    "invalid argument",
    "out of memory",
    "system refused a thread",
    "values break a declared fact",
    "plan too small",
    "plan of other sizes or another function",
};
static_assert(sizeof(kTexts) / sizeof(kTexts[0]) == -TILEWRIGHT_STATUS_END);

// Appends to a buffer of fixed size and counts what would have been written.
struct Line {
  char* buffer;
  std::size_t capacity;
  std::size_t length = 0;

  void add(char c) {
    if (length + 1 < capacity) buffer[length] = c;
    ++length;
  }
  // Stops at `limit`, since the text may come from a structure that someone filled badly.
  void add(const char* text, std::size_t limit) {
    for (std::size_t i = 0; i < limit && text[i] != '\0'; ++i) add(text[i]);
  }
  void add(std::int64_t number) {
    char digits[20];
    int count = 0;
    std::uint64_t rest =
        number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (number < 0) add('-');
    while (count > 0) add(digits[--count]);
  }
  std::size_t finish() {
    if (capacity > 0) buffer[length < capacity ? length : capacity - 1] = '\0';
    return length;
  }
};

}  // namespace

extern "C" const char* tilewright_status_text(tilewright_status status) noexcept {
  if (status > 0 || status <= TILEWRIGHT_STATUS_END) return "unknown status";
  return kTexts[-status];
}

extern "C" std::size_t tilewright_error_text(const tilewright_error* error, char* buffer,
                                             std::size_t buffer_size) noexcept {
  Line line{buffer, buffer == nullptr ? 0 : buffer_size};
  if (error == nullptr) return line.finish();
  if (error->function[0] != '\0') {
    line.add(error->function, sizeof(error->function));
    line.add(": ", 2);
  }
  if (error->status != TILEWRIGHT_OK && error->argument >= 0) {
    line.add("argument ", 9);
    line.add(std::int64_t{error->argument});
    if (error->dimension >= 0) {
      line.add(", dimension ", 12);
      line.add(std::int64_t{error->dimension});
    }
    line.add(": ", 2);
  }
  line.add(tilewright_status_text(error->status), SIZE_MAX);
  if (error->expected != error->got) {
    line.add(": expected ", 11);
    line.add(error->expected);
    line.add(", got ", 6);
    line.add(error->got);
  }
  if (error->message[0] != '\0') {
    line.add("; ", 2);
    line.add(error->message, sizeof(error->message));
  }
  return line.finish();
}
