// SPDX-License-Identifier: Apache-2.0
//
// Lesson 9: sizes
//
// One library serves all sizes that its extents allow. What is known of them is declared: ranges, multiples, and
// conditions between them. The compiler uses it, and every call is checked against it before anything is written.
// file: lesson_09_sizes.tw

// Rows go in groups of four to threads. `M` need not be a multiple of four:
// file: lesson_09_sizes.tws
#include <array>

#include "apps/tutorial/lesson.h"
#include "blocks.h"

static std::string refusal_of(std::size_t m, std::size_t n, std::size_t rows) {
  lesson::Floats x({static_cast<std::int64_t>(m), static_cast<std::int64_t>(n)});
  lesson::Floats y({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(n / 8)});
  lesson::fill(x);
  std::string why;
  const std::int32_t status = lesson::call(why, blocks_query, blocks, x, y);
  lesson::expect((status == TILEWRIGHT_OK) == why.empty(), "a refusal has a reason");
  for (std::size_t i = 0; i < rows && status == TILEWRIGHT_OK; ++i)
    for (std::size_t b = 0; b < n / 8; ++b) {
      float sum = 0;
      for (std::size_t r = 0; r < 8; ++r) sum += x.values[i * n + 8 * b + r];
      lesson::expect(y.values[i * (n / 8) + b] == sum, "the numbers are right at every size");
    }
  return why;
}

int main() {
  // Allowed: primes, one group and less, many.
  for (const std::size_t m : {4, 7, 31, 64})
    lesson::expect(refusal_of(m, 8, m).empty(), "this size is allowed");
  lesson::expect(refusal_of(64, 128, 64).empty(), "N is twice M, which is allowed");

  // Refused, each with a reason: N is no multiple of 8; N is below its minimum; `requires` does not hold; two
  // tensors that share an extent differ in it.
  for (const auto& [m, n, rows] :
       {std::array<std::size_t, 3>{64, 12, 64}, {64, 0, 64}, {7, 16, 7}, {64, 8, 63}}) {
    const std::string why = refusal_of(m, n, rows);
    lesson::expect(!why.empty(), "this size is refused");
    std::printf("%s\n", why.c_str());
  }
  return 0;
}
