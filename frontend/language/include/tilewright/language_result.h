// SPDX-License-Identifier: Apache-2.0
//
// What the C++ language answers with: a value, or diagnostics that point at lines of the program that stated the
// algorithm. Nothing is thrown, printed or aborted. Law: a failed Result holds at least one diagnostic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::language {

// A place in a C++ source file. Column 0: only the line is known; line 0: no place is known.
struct Place {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// A further place with a short remark ("declared first here").
struct Note {
  Place place;
  std::string text;
};

struct Diagnostic {
  std::string code;  // stable: "E0203"; `tilewright help diagnostics` lists them
  std::string message;  // what was seen
  std::string remedy;  // what would help
  Place place;
  std::vector<Note> notes;
};

// Lines of text: "gemm.cpp:12:14: error: `*` of `f32` and `index` [E0203]", then notes and the remedy.
std::string render(const std::vector<Diagnostic>& diagnostics);

// The failed state; converts to any Result<T>.
struct Failed {
  std::vector<Diagnostic> diagnostics;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Failed failed) : diagnostics_(std::move(failed.diagnostics)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  // Precondition of value access: ok().
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  // In order of places in the definitions; empty when ok().
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::optional<T> value_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace tilewright::language
