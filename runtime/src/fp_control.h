// SPDX-License-Identifier: Apache-2.0
//
// The floating-point control word of the running thread: rounding direction, flush-to-zero,
// exception masks; not the sticky flags. A parallel loop carries its caller's word to every worker.
#pragma once

#include <cstdint>

namespace tilewright::runtime {

#if defined(__x86_64__)

inline constexpr std::uint32_t kStickyFlags = 0x3f;
inline std::uint64_t fp_control() { return __builtin_ia32_stmxcsr() & ~kStickyFlags; }
inline void set_fp_control(std::uint64_t word) {
  __builtin_ia32_ldmxcsr(static_cast<std::uint32_t>(word));
}

#elif defined(__aarch64__)

inline std::uint64_t fp_control() {
  std::uint64_t word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
inline void set_fp_control(std::uint64_t word) { __asm__ volatile("msr fpcr, %0" ::"r"(word)); }

#else
#error "state how to read and write the floating-point control word of this processor"
#endif

}  // namespace tilewright::runtime
