// SPDX-License-Identifier: Apache-2.0
//
// Conditions under which laws of algebra were used: that a term is finite, positive, not zero. Input cells are
// finite, by hypothesis; a term is what its parts make it. Law: `true` is said only of a condition that holds at
// all values of the free variables which the Program's sizes allow.
#pragma once

#include "lowering/proof/translate.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::proof {

class Defined {
 public:
  Defined(TermStore& terms, Translator& translator, poly::Context& polyhedra, const poly::Set& sizes)
      : terms_(terms), translator_(translator), polyhedra_(polyhedra), sizes_(sizes) {}

  Result<bool> holds(const algebra::Obligation& obligation);

 private:
  TermStore& terms_;
  Translator& translator_;
  poly::Context& polyhedra_;
  const poly::Set& sizes_;
};

}  // namespace tilewright::proof
