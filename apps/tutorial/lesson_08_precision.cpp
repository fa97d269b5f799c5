// SPDX-License-Identifier: Apache-2.0
//
// Lesson 8: mixed precision
//
// Types are part of the algorithm: they say how each operation rounds. A schedule never changes them.
#include "apps/tutorial/lesson.h"
#include "tilewright/language.h"

using namespace tilewright::language;

static double sum_of_ones(bool wide, std::int64_t count) {
  Algorithm ones("ones");
  Extent N(ones, "N");
  Input x(ones, "x", bf16, {N});
  // An output with a declared float type rounds its value to it, once, at the end.
  Output total(ones, "total", bf16);
  RDom n("n", N);
  // The type of a fold is the type of what it folds. `f32(x)` converts each element, which is exact; the sum is then
  // made in f32.
  if (wide) {
    total() = sum(n, f32(x(n)));
  } else {
    total() = sum(n, x(n));
  }
  const std::vector<double> input(static_cast<std::size_t>(count), 1.0);
  auto result = ones.evaluate({{"x", {{count}, input}}});
  lesson::expect(result.ok(), "it can be evaluated");
  return result->at("total").values[0];
}

static void literals_and_rounding() {
  Algorithm a("rounding");
  Extent N(a, "N");
  Input x(a, "x", f32, {N}), k(a, "k", i8, {N});
  Output y(a, "y"), z(a, "z"), q(a, "q");
  Var i("i");
  // A literal takes the type of its neighbour: `0.1` is an f32 here, rounded once.
  y(i) = x(i) + 0.1;
  // `round_to` rounds to the grid of another type and keeps the type. It is part of the meaning: no schedule may
  // move it or leave it out, as it may a conversion that only costs precision.
  z(i) = round_to(bf16, x(i));
  // Integers wrap at their width, so a product of bytes is converted first.
  q(i) = i32(k(i)) * i32(k(i));
  auto result = a.evaluate({{"x", {{1}, {1.00390625}}}, {"k", {{1}, {100}}}});
  lesson::expect(result.ok(), "it can be evaluated");
  lesson::expect(result->at("y").values[0] == static_cast<double>(1.00390625F + 0.1F),
                 "one rounding");
  lesson::expect(result->at("z").values[0] == 1.0,
                 "bf16 has 8 bits: 1 + 1/256 is a tie and goes to even");
  lesson::expect(result->at("q").values[0] == 10000, "no byte holds this");
}

int main() {
  // In bf16, 256 + 1 is 256: the sum stands still.
  lesson::expect(sum_of_ones(false, 1000) == 256, "a sum in bf16 ends at 256");
  lesson::expect(sum_of_ones(true, 1000) == 1000, "a sum in f32 does not");
  literals_and_rounding();
  std::puts("precision is what the algorithm says");
  return 0;
}
