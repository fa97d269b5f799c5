// SPDX-License-Identifier: Apache-2.0
//
// The state that polyhedral operations run in, and how much work one of them may do. A Context owns one
// isl context behind a pointer; the caller makes one per thread and passes it on, there is no global one.
// Law: an operation never aborts, prints or runs past its limit: it fails with E0701 (limit) or E0702.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tilewright::poly {

// The most work one operation may do, in isl's own count of elementary steps (not time, so that a verdict
// does not depend on the machine). 0 means no limit.
struct Limits {
  std::uint64_t max_operations = 1'000'000;
};

class Context {
 public:
  Context();
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;

  // Private to this room: the isl context, defined in isl_wall.h.
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Of the polyhedral library, as it names itself: "isl-0.25-GMP".
std::string library_version();

}  // namespace tilewright::poly
