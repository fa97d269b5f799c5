// SPDX-License-Identifier: Apache-2.0
//
// Lesson 3: several stages
//
// Equations read earlier equations. Each is a tensor of its own in the algorithm; whether it is ever a tensor in
// memory is the schedule's business. A reduction stands at the root of an equation, so that it has a name. Equations
// may also follow the order of an index, scatter, and be repeated in a loop.
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

static void filter_and_count() {
  Algorithm levels("levels");
  Extent T(levels, "T"), B(levels, "B");
  Input x(levels, "x", f32, {T}), bin(levels, "bin", i32, {T}, range(0, B));
  Output smooth(levels, "smooth"), so_far(levels, "so_far"), count(levels, "count");
  Var t("t"), b("b");
  RDom n("n", T);

  // A recurrence along an index of the equation names the value before, and says what it is at first. Where the value is
  // a reduction of all terms so far, `scan_sum` and the like say that.
  State before("before");
  smooth(t) = scan(t, {before.from(f32(0))}, before * 0.5 + x(t));
  so_far(t) = scan_max(t, x(t));

  // An update goes the other way: each term says to which cell it belongs. Every cell starts at the first value.
  count(b < B) = update(i32(0), sum(n, 1).at({bin(n)}));

  auto result =
      levels.evaluate({{"x", {{4}, {8, 0, 2, 4}}}, {"bin", {{4}, {2, 0, 2, 2}}}}, {{"B", 3}});
  lesson::expect(result.ok(), "it can be evaluated");
  lesson::expect(result->at("smooth").values == std::vector<double>{8, 4, 4, 6}, "half and half");
  lesson::expect(result->at("so_far").values == std::vector<double>{8, 8, 8, 8}, "the first wins");
  lesson::expect(result->at("count").values == std::vector<double>{1, 0, 3}, "three in the last");
}

static void layers() {
  Algorithm network("network");
  Extent D(network, "D"), L(network, "L");
  InOut x(network, "x", f32, {D});
  Input w(network, "w", f32, {L, D, D});
  Tensor next(network, "next");
  Output y(network, "y", x);
  Var i("i");
  RDom d("d", D);

  // A loop solves its equations once for each layer. `h` is what it carries from one to the next: at first `x`,
  // afterwards what `next` was. The result goes into the storage of the input.
  Loop l(network, "l", L);
  Tensor h = l.carry("h", x);
  next(i) = sum(d, w(l, i, d) * h(d));
  l.next(h, next);
  l.end();
  y(i) = max(h(i), 0);

  auto result =
      network.evaluate({{"x", {{2}, {1, 2}}}, {"w", {{2, 2, 2}, {0, 1, 1, 0, 1, 1, 0, -1}}}});
  lesson::expect(result.ok(), "it can be evaluated");
  lesson::expect(result->at("y").values == std::vector<double>{3, 0}, "swapped, then combined");
}

int main() {
  softmax();
  blur();
  filter_and_count();
  layers();
  std::puts("the stages hold");
  return 0;
}
