// SPDX-License-Identifier: Apache-2.0
//
// The facts that evidence starts from: a conjunction as linear constraints over numbered variables, private to
// this room. Each floor q = floor(e / d) becomes a variable with e - d*q >= 0 and d*q + d - 1 - e >= 0. Law:
// the same facts in the same order as the checker, which builds them from its own expressions (docs/proofs.md):
// variables sorted by name, that of a floor being its text; each fact divided by the common divisor of its
// coefficients, the constant of an inequality rounded down; the first coefficient of an equality positive;
// what always holds left out; equalities first, then sorted by coefficients and constant, without duplicates.
#pragma once

#include <string>
#include <vector>

#include "lowering/proof/numbers.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::proof {

// sum of coefficient * variable + constant, which is 0 (equality) or at least 0.
struct Fact {
  bool equality = false;
  // One for each variable, then the constant.
  std::vector<Int> row;
};

struct Facts {
  // Symbols by name, floors by text.
  std::vector<std::string> variables;
  std::vector<Fact> facts;
  // Not empty when there are no facts that the checker would read: why.
  std::string refusal;
};

Facts facts_of(const poly::BasicSet& set);

}  // namespace tilewright::proof
