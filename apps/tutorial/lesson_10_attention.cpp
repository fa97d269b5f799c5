// SPDX-License-Identifier: Apache-2.0
//
// Lesson 10: a small attention
//
// Everything together: attention of one head with a causal mask, stated without any trick. Scores, mask, maximum,
// exponential, sum, weights, values: seven equations. `T` may be longer than `S`, as it is when keys are cached: the
// last query sees all keys.
#include "tilewright/generator.h"
#include "tilewright/language.h"

using namespace tilewright::language;

static Algorithm attention() {
  Algorithm attention("attention_head");
  Extent S(attention, "S"), T(attention, "T"), D(attention, "D");
  // Where this holds, every query sees at least one key, and nothing is divided by zero.
  attention.require(1 <= S);
  attention.require(S <= T);
  Input q(attention, "q", f32, {S, D}), k(attention, "k", f32, {T, D}),
      v(attention, "v", f32, {T, D});
  Tensor score(attention, "score"), logit(attention, "logit"), peak(attention, "peak"),
      e(attention, "e"), total(attention, "total"), p(attention, "p");
  Output o(attention, "o");
  Var s("s"), t("t"), d("d");

  score(s, t) = sum(d < D, q(s, d) * k(t, d));
  logit(s, t) = select(t <= s + T - S, score(s, t) * rsqrt(f32(D)), -inf);
  peak(s) = max(t < T, logit(s, t));
  e(s, t) = exp(logit(s, t) - peak(s));
  total(s) = sum(t < T, e(s, t));
  p(s, t) = e(s, t) / total(s);
  o(s, d) = sum(t < T, p(s, t) * v(t, d));
  return attention;
}

int main(int argc, char** argv) { return tilewright::generator_main(argc, argv, {attention()}); }

// The schedule takes four queries at a time and computes what they need inside of that loop, so that scores are never
// more than four rows. Queries go to threads; values are folded 8 lanes at a time.
// file: lesson_10_attention.tws

// The program that calls it compares with the same computation in double precision:
// file: lesson_10_call.cpp
