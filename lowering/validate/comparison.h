// SPDX-License-Identifier: Apache-2.0
//
// Whether two terms have the same value: they are one node; or the same operation on operands of the same value; or
// the solver proves it. Law: true is a proof for all values of the variables; of NaNs sign and payload do not count.
#pragma once

#include "lowering/validate/solver.h"

namespace tilewright::validate {

class Comparison {
 public:
  explicit Comparison(const Terms& terms) : terms_(terms), solver_(terms) {}
  bool same(TermId a, TermId b);
  bool holds(const Claim& claim);
  const Solver& solver() const { return solver_; }

 private:
  bool compare(TermId a, TermId b);
  // The first leaf of the query that a leaf is equal to.
  bool solve(TermId a, TermId b);

  const Terms& terms_;
  Solver solver_;
  std::unordered_map<std::uint64_t, bool> known_;
  int depth_ = 0;
};

}  // namespace tilewright::validate
