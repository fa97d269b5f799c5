// SPDX-License-Identifier: Apache-2.0
//
// Result<T>: a value, or the diagnostics that say why there is none. No exception crosses a room:
// every fallible function of Tilewright returns one of these. Law: a failed Result holds at least
// one diagnostic of severity Error.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "frontend/base/diagnostic.h"

namespace tilewright {

// What a function returns when it only can fail.
struct Ok {};

// The failed state; converts to any Result<T>.
struct Failure {
  std::vector<Diagnostic> diagnostics;
};

// One diagnostic as a failure: `return fail(Code::X, span, "message", "remedy")`.
inline Failure fail(Diagnostic diagnostic) { return Failure{{std::move(diagnostic)}}; }
inline Failure fail(Code code, Span span, std::string message, std::string remedy) {
  return fail(Diagnostic{code, span, std::move(message), std::move(remedy), {}});
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Failure failure) : diagnostics_(std::move(failure.diagnostics)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  // Precondition of value access: ok().
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  // Empty when ok().
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  // Passes a failure on to a caller with another value type. Precondition: !ok().
  Failure failure() && { return Failure{std::move(diagnostics_)}; }
  Failure failure() const& { return Failure{diagnostics_}; }

 private:
  std::optional<T> value_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace tilewright

// TILEWRIGHT_TRY(name, expression): binds the value to `name`, or returns the failure.
#define TILEWRIGHT_TRY(name, ...)                                     \
  auto name##_result = (__VA_ARGS__);                                 \
  if (!name##_result.ok()) return std::move(name##_result).failure(); \
  auto name = std::move(name##_result).value()

// TILEWRIGHT_CHECK_OK(expression): returns the failure, drops the value.
#define TILEWRIGHT_CHECK_OK(...)                                            \
  do {                                                                      \
    auto check_ok_result = (__VA_ARGS__);                                   \
    if (!check_ok_result.ok()) return std::move(check_ok_result).failure(); \
  } while (false)
