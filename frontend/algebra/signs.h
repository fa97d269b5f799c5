// SPDX-License-Identifier: Apache-2.0
//
// Signs of terms: the conditions under which laws of algebra were used (term.h). Cells are finite, by hypothesis,
// unless somebody says what they are; everything else is what its parts make it. Law: `true` is said only of what holds at all values of
// the free variables; `false` says nothing. Tests: tests/unit/frontend/algebra/signs_test.cpp.
#pragma once

#include "frontend/algebra/term.h"

namespace tilewright::algebra {

struct SignQuestions {
  // The conjunction has a point in the variables, whatever the values of the others are.
  std::function<bool(std::span<const Term> variables, const Conjunction& where)> has_point;
  // It has none.
  std::function<bool(std::span<const Term> variables, const Conjunction& where)> has_none;
  // What a cell stands for; null of an input. The function may be empty.
  std::function<Term(Symbol tensor, std::span<const Term> indices)> cell = {};
};

// Whether the obligation holds.
bool holds(TermStore& store, const Obligation& obligation, const SignQuestions& questions);

}  // namespace tilewright::algebra
