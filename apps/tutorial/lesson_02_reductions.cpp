// SPDX-License-Identifier: Apache-2.0
//
// Lesson 2: reductions
//
// A reduction folds a value over variables of its own with `sum`, `prod`, `min` or `max`, conditions with `all` or
// `any`, and with `argmin` or `argmax` it says where the value was found.
#include "apps/tutorial/lesson.h"
#include "tilewright/language.h"

using namespace tilewright::language;

static void matrix_product() {
  Algorithm gemm("gemm");
  Extent M(gemm, "M"), N(gemm, "N"), K(gemm, "K");
  Input a(gemm, "a", f32, {M, K}), b(gemm, "b", f32, {K, N});
  Output c(gemm, "c");
  Var i("i"), j("j");

  // `RDom` is a variable of a fold with its range: `k` runs from 0 to below `K`.
  RDom k("k", K);
  c(i, j) = sum(k, a(i, k) * b(k, j));

  auto result = gemm.evaluate({{"a", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"b", {{3, 1}, {1, 10, 100}}}});
  lesson::expect(result.ok(), "it can be evaluated");
  lesson::expect(result->at("c").values == std::vector<double>{321, 654}, "c is a * b");
}

static void running_maximum() {
  Algorithm running("running");
  Extent N(running, "N");
  Input x(running, "x", f32, {N});
  Output y(running, "y"), least(running, "least"), pairs(running, "pairs");
  Var i("i"), k("k");

  // A range can also be said in place, as a condition on a `Var`. It may depend on the indices of the equation:
  // here every element looks at itself and those before it. The range of `i` must be written, because `i` does
  // not stand alone as an index of anything.
  y(i < N) = max(k < i + 1, x(k));

  // `min(a, b)` and `max(a, b)` of two values are functions; with a range they are reductions. Without indices
  // the result is one number, and an empty fold is the identity: here infinity.
  least() = min(k < N, max(x(k), 0));

  // Several variables are a list. Later ranges may use earlier variables; a lower bound stands before the upper.
  RDom p("p", N), q("q", p + 1, N);
  pairs() = sum({p, q}, x(p) * x(q));

  auto result = running.evaluate({{"x", {{4}, {3, -1, 4, 1}}}});
  lesson::expect(result.ok(), "it can be evaluated");
  lesson::expect(result->at("y").values == std::vector<double>{3, 3, 4, 4}, "the running maximum");
  lesson::expect(result->at("least").values == std::vector<double>{0},
                 "no negative number is left");
  lesson::expect(result->at("pairs").values == std::vector<double>{11},
                 "-3 + 12 + 3 - 4 - 1 + 4 is 11");
}

static void best_of_the_valid() {
  Algorithm best("best");
  Extent M(best, "M"), N(best, "N");
  Input x(best, "x", f32, {M, N}), length(best, "length", i32, {M}, range(0, N + 1));
  Tensor top(best, "top");
  Output value(best, "value"), place(best, "place"), positive(best, "positive");
  Var i("i");
  RDom j("j", N);

  // `where` leaves terms out, and `on_empty` says what a row without terms is worth. The values of `length` are used
  // as a bound, so its range is declared, and a library checks it. `argmax` gives two tensors, which have names.
  top(i) = argmax(j, x(i, j)).where(j < index_(length(i))).on_empty({0, -1});
  value(i) = top["value"](i);
  place(i) = top["index"](i);
  positive(i) = all(j, x(i, j) > 0);

  auto result =
      best.evaluate({{"x", {{3, 3}, {1, 5, 9, 7, 7, 7, 2, 3, -1}}}, {"length", {{3}, {2, 3, 0}}}});
  lesson::expect(result.ok(), "it can be evaluated");
  lesson::expect(result->at("value").values == std::vector<double>{5, 7, 0}, "9 is left out");
  lesson::expect(result->at("place").values == std::vector<double>{1, 0, -1},
                 "of equal ones the first");
  lesson::expect(result->at("positive").values == std::vector<double>{1, 1, 0}, "but for the last");
}

int main() {
  matrix_product();
  running_maximum();
  best_of_the_valid();
  std::puts("all reductions hold");
  return 0;
}
