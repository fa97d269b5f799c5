// SPDX-License-Identifier: Apache-2.0
//
// Lesson 5: loops
//
// One algorithm, four libraries: this program is built four times, with each of them. A schedule changes the loops and never the numbers. From here on algorithms are
// text, which is the shorter way where nothing is computed about them:
// file: lesson_05_loops.tw

// Without a schedule there is one loop per index, in the order written: `for i`, inside of it `for j`.
//
// `split` cuts a loop into tiles of constant size, `reorder` says which loop is outside. Here columns are walked 16
// at a time, all rows of one tile before the next. The last tile may be partial; that is taken care of:
// file: lesson_05_loops.split.tws

// `vectorize` makes the 16 iterations of the inner loop lanes of vectors. `peel` moves the partial tile into a loop
// of its own, so that the full ones need no guard:
// file: lesson_05_loops.vectors.tws

// `parallel` gives the rows to threads; `vectorize y.j by 16` is `split` and `vectorize` in one:
// file: lesson_05_loops.threads.tws
#include "apps/tutorial/lesson.h"
#include "scaled.h"

int main() {
  // 37 and 61 are no multiples of 16, so there are partial tiles.
  const std::size_t rows = 37, columns = 61;
  lesson::Floats x({rows, columns}), s({columns}), y({rows, columns});
  lesson::fill(x);
  lesson::fill(s, 5);
  lesson::run(scaled_query, scaled, x, s, y);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      lesson::expect(y.values[i * columns + j] == x.values[i * columns + j] * s.values[j],
                     "each schedule gives the same numbers");
  std::puts("the numbers are right");
  return 0;
}
