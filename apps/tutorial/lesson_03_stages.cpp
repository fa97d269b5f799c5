// SPDX-License-Identifier: Apache-2.0
//
// Lesson 3: several stages
//
// Equations read earlier equations. Each is a tensor of its own in the algorithm; whether it is ever a tensor in
// memory is the schedule's business. A reduction stands at the root of an equation, so that it has a name.
#include <cmath>

#include "apps/tutorial/lesson.h"
#include "tilewright/language.h"

using namespace tilewright::language;

static void softmax() {
  Algorithm softmax("softmax");
  Extent R(softmax, "R"), C(softmax, "C");
  Input x(softmax, "x", f32, {R, C});
  Tensor peak(softmax, "peak"), e(softmax, "e"), total(softmax, "total");
  Output y(softmax, "y");
  Var r("r"), c("c");

  // The largest number of the row is taken away first, so that no exponential overflows.
  peak(r) = max(c < C, x(r, c));
  e(r, c) = exp(x(r, c) - peak(r));
  total(r) = sum(c < C, e(r, c));
  y(r, c) = e(r, c) / total(r);

  auto result = softmax.evaluate({{"x", {{1, 3}, {1000, 1000, -1000}}}});
  lesson::expect(result.ok(), "it can be evaluated");
  lesson::expect(result->at("y").values == std::vector<double>{0.5, 0.5, 0},
                 "two halves and nothing");
}

static void blur() {
  Algorithm blur("blur");
  Extent N(blur, "N");
  blur.require(1 <= N);
  Input x(blur, "x", f32, {N});
  Tensor clamped(blur, "clamped");
  Output y(blur, "y");
  Var i("i");

  // What lies beyond the ends is a decision, so it is written: here the last element goes on. An index may use
  // `min` and `max`; `select` would do, too, since the arm that is not chosen is not evaluated.
  clamped(i < N + 2) = x(max(min(i - 1, N - 1), 0));
  y(i < N) = (clamped(i) + clamped(i + 1) + clamped(i + 2)) / 3;

  auto result = blur.evaluate({{"x", {{4}, {3, 3, 9, 0}}}});
  lesson::expect(result.ok(), "it can be evaluated");
  lesson::expect(result->at("y").values == std::vector<double>{3, 5, 4, 3}, "the mean of three");
}

int main() {
  softmax();
  blur();
  std::puts("the stages hold");
  return 0;
}
