// SPDX-License-Identifier: Apache-2.0
//
// Conditions under which laws of algebra were used, at the points where they were: the sets in them are asked of
// polyhedra. Law: `true` is said only of a condition that holds at all of those points.
#pragma once

#include "lowering/proof/claims.h"

namespace tilewright::proof {

class Defined {
 public:
  Defined(TermStore& terms, Translator& translator, poly::Context& polyhedra,
          AlgorithmTerms& algorithm)
      : terms_(terms), translator_(translator), polyhedra_(polyhedra), algorithm_(algorithm) {}

  Result<bool> holds(const Condition& condition);

 private:
  // Whether at all (none) of the points there is a point of the conjunction.
  Result<bool> has_point(const poly::Set& where, std::span<const Term> variables,
                         const algebra::Conjunction& conjunction, bool all);

  TermStore& terms_;
  Translator& translator_;
  poly::Context& polyhedra_;
  AlgorithmTerms& algorithm_;
};

}  // namespace tilewright::proof
