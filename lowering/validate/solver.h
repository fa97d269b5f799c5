// SPDX-License-Identifier: Apache-2.0
//
// What the normal form does not decide: whether two terms have the same bits, or a flag keeps its promise, whatever
// the values of the float operations inside. Z3 on bit-vectors, each query in a context of its own with a limit of
// work, not of time. Law: the verdict depends on the shape of the query alone, so a query of a shape that was seen
// is not asked again. Floats are bits here: sums, products, conversions are unknown values, equal ones where they
// are known to be equal; comparisons are unknown outcomes. That can only make fewer things provable.
#pragma once

#include <functional>
#include <unordered_map>

#include "lowering/validate/execute.h"

namespace tilewright::validate {

class Solver {
 public:
  explicit Solver(const Terms& terms) : terms_(terms) {}
  // `representative`: of a term that is not looked into, one that stands for all that are equal to it.
  bool equal(TermId a, TermId b, const std::function<TermId(TermId)>& representative);
  bool holds(const Claim& claim, const std::function<TermId(TermId)>& representative);

  int queries = 0;  // asked of Z3
  int answered = 0;  // all

 private:
  bool ask(Claim::Kind kind, bool is_equality, TermOp op, TermId a, TermId b,
           const std::function<TermId(TermId)>& representative);
  const Terms& terms_;
  std::unordered_map<std::string, bool> verdicts_;
};

// Bit-level operations, which the solver looks into.
bool is_bit_level(TermOp op);

}  // namespace tilewright::validate
