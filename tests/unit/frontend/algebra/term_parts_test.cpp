// SPDX-License-Identifier: Apache-2.0
#include "frontend/algebra/term_parts.h"

#include "tests/unit/frontend/algebra/term_cases.h"

namespace tilewright::algebra {
namespace {

TEST(WrittenOut, SumsAndMaximaOverConstantRangesAreTermsOneByOne) {
  Terms terms;
  const Term sum = terms.value("sum(k < 3) w[k] * x[i, k]");
  const Term terms_of_it = terms.value("w[0] * x[i, 0] + w[1] * x[i, 1] + w[2] * x[i, 2]");
  EXPECT_NE(sum, terms_of_it);
  EXPECT_EQ(written_out(terms.store, sum, 64), terms_of_it);
  EXPECT_EQ(written_out(terms.store, terms.value("s = sum(k < 2) x[k, j]; max(0, s[i, j])"), 64),
            terms.value("max(0, x[0, j] + x[1, j])"));
  EXPECT_EQ(written_out(terms.store, terms.value("max(k < 2) w[k]"), 64),
            terms.value("max(w[0], w[1])"));
}

TEST(WrittenOut, OthersStayAsTheyAre) {
  Terms terms;
  for (const char* text : {"sum(k < N) w[k]", "sum(k < 65) w[k]", "w[i] + w[j]"}) {
    const Term term = terms.value(text);
    EXPECT_EQ(written_out(terms.store, term, 64), term) << text;
  }
}

TEST(MaximumOperands, OfAMaximumAloneAreMoreThanItself) {
  Terms terms;
  EXPECT_EQ(maximum_operands(terms.store, terms.value("max(w[i], max(w[j], w[0]))")).size(), 3U);
  for (const char* text : {"w[i]", "max(w[i], w[j]) + w[0]", "2 * max(w[i], w[j])"}) {
    const Term term = terms.value(text);
    EXPECT_EQ(maximum_operands(terms.store, term), std::vector<Term>({term})) << text;
  }
}

}  // namespace
}  // namespace tilewright::algebra
