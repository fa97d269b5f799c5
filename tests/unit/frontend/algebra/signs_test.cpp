// SPDX-License-Identifier: Apache-2.0
//
// What may be said of signs, by hand: each condition that holds stands beside one that looks like it and does not.
#include "frontend/algebra/signs.h"

#include <gtest/gtest.h>
#include "frontend/ir/context.h"

namespace tilewright::algebra {
namespace {

class Signs : public ::testing::Test {
 protected:
  // `has_points`: whether every domain that is asked for has one.
  bool says(Condition condition, Term term, bool has_points = true) {
    const SignQuestions questions{
        [&](std::span<const Term>, const Conjunction&) { return has_points; },
        [&](std::span<const Term>, const Conjunction&) { return !has_points; }};
    store_.take_obligations();
    return holds(store_, {condition, term, {}, {}, {}, {}}, questions);
  }
  Term x(Term index) {
    const Term at[] = {index};
    return store_.read(context_.symbol("x"), at, ir::ScalarType::F32);
  }
  // Over 0 <= k < n.
  Domain range() {
    const Term k = store_.variable(context_.symbol("k"));
    const Term last = store_.subtract(n(), store_.integer(1));
    return {{k}, {{{k, false}, {store_.subtract(last, k), false}}}};
  }
  Term n() { return store_.extent(context_.symbol("n")); }
  Term k() { return store_.variable(context_.symbol("k")); }

  ir::Context context_;
  TermStore store_;
};

TEST_F(Signs, CellsAreFiniteAndHaveNoSign) {
  EXPECT_TRUE(says(Condition::Finite, x(k())));
  EXPECT_FALSE(says(Condition::Positive, x(k())));
  EXPECT_FALSE(says(Condition::NonZero, x(k())));
  EXPECT_TRUE(says(Condition::NonNegative, store_.multiply(x(k()), x(k()))));
  EXPECT_FALSE(says(Condition::NonNegative, x(k())));
}

TEST_F(Signs, RootsAndQuotients) {
  EXPECT_FALSE(says(Condition::Finite, store_.power(x(k()), -1)));
  EXPECT_FALSE(says(Condition::Finite, store_.power(x(k()), 1, 2)));
  EXPECT_TRUE(says(Condition::Finite, store_.power(store_.exp(x(k())), -1)));
  const Term above = store_.add(store_.multiply(x(k()), x(k())), store_.integer(1));
  EXPECT_TRUE(says(Condition::Finite, store_.power(above, -1, 2)));
  const Term below = store_.subtract(store_.multiply(x(k()), x(k())), store_.integer(1));
  EXPECT_FALSE(says(Condition::Finite, store_.power(below, -1, 2)));
}

TEST_F(Signs, SumsWithAndWithoutPoints) {
  const Term sum = store_.sum(range(), store_.exp(x(k())));
  EXPECT_TRUE(says(Condition::Positive, sum, true));
  EXPECT_FALSE(says(Condition::Positive, sum, false));
  EXPECT_TRUE(says(Condition::NonNegative, sum, false));
  EXPECT_FALSE(says(Condition::Positive, store_.sum(range(), x(k())), true));
}

TEST_F(Signs, AMaximumOverNothingIsLow) {
  const Term top = store_.maximum_over(range(), x(k()));
  EXPECT_TRUE(says(Condition::Finite, top, true));
  EXPECT_FALSE(says(Condition::Finite, top, false));
  EXPECT_TRUE(says(Condition::NotPosInf, top, false));
  EXPECT_FALSE(says(Condition::NotPosInf, store_.negate(top), false));
}

// n * sum of x^2 is at least the square of the sum of x; half of that need not be.
TEST_F(Signs, SquaresOfSums) {
  const Term sum = store_.sum(range(), x(k()));
  const Term squares = store_.sum(range(), store_.multiply(x(k()), x(k())));
  const Term spread = store_.subtract(store_.multiply(n(), squares), store_.multiply(sum, sum));
  EXPECT_TRUE(says(Condition::NonNegative, spread));
  EXPECT_FALSE(says(Condition::Positive, spread));
  EXPECT_TRUE(says(Condition::Positive, store_.add(spread, store_.integer(1))));
  const Term half = store_.subtract(store_.multiply(n(), squares),
                                    store_.multiply(store_.integer(2), store_.multiply(sum, sum)));
  EXPECT_FALSE(says(Condition::NonNegative, half));
}

}  // namespace
}  // namespace tilewright::algebra
