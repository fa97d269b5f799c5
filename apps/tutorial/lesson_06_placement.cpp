// SPDX-License-Identifier: Apache-2.0
//
// Lesson 6: where things are computed, and where they lie
//
// Two equations: rows are smoothed, then multiplied by a matrix.
// file: lesson_06_placement.tw

// Without a schedule all of `smooth` is computed before `c`, into memory of its own. `compute_at` moves it into a
// loop of its reader: what four rows of `c` read is computed just before them and is still in cache when it is read.
// How much that is follows from the reads; nothing says it twice.
// file: lesson_06_placement.inside.tws

// `stage` copies what a loop reads into a layout of its own: here `b` in panels of 8 columns, so that the inner loop
// walks memory in order. `keep` holds a tile of results in registers while `k` runs: 4 rows of 8 lanes. This is the
// skeleton of every fast matrix product.
// file: lesson_06_placement.packed.tws
#include <cmath>

#include "apps/tutorial/lesson.h"
#include "smooth_product.h"

int main() {
  const std::size_t rows = 13, columns = 21, depth = 17;
  lesson::Floats a({rows, depth + 2}), b({depth, columns}), c({rows, columns});
  lesson::fill(a);
  lesson::fill(b, 5);
  lesson::run(smooth_product_query, smooth_product, a, b, c);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < depth; ++k) {
        const float* from = &a.values[i * (depth + 2) + k];
        sum += 0.25 * (from[0] + from[1] + from[2]) * b.values[k * columns + j];
      }
      // The inputs are quarters, so every product and every sum is exact, in any order.
      lesson::expect(c.values[i * columns + j] == sum, "each schedule gives the same numbers");
    }
  std::puts("the numbers are right");
  return 0;
}
