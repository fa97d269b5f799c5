// SPDX-License-Identifier: Apache-2.0
//
// Terms taken apart, for those who look for a fold in them. Law: what comes back, put together, is the term.
// Tests: tests/unit/frontend/algebra/term_parts_test.cpp.
#pragma once

#include "frontend/algebra/term.h"

namespace tilewright::algebra {

// What the term is the maximum of; else itself.
std::vector<Term> maximum_operands(TermStore& terms, Term term);
// The same with sums and maxima over one variable between constants, of at most so many values, written out.
Term written_out(TermStore& terms, Term term, std::int64_t most);

}  // namespace tilewright::algebra
