// SPDX-License-Identifier: Apache-2.0
//
// Claims about reductions, proved by normal forms for all values (design: transported reductions). Nothing here finds
// a claim. A law that is not shown is no proof that it fails. What a law needs of the values is in the verdict: it
// stands where these obligations hold. Tests: tests/unit/frontend/algebra/claims_test.cpp.
#pragma once

#include "frontend/algebra/term.h"
#include "frontend/ir/algorithm.h"

namespace tilewright::algebra {

enum class Law : std::uint8_t {
  Moves,  // T1: moved(r -> r', g(r, c)) = g(r', c)
  Homomorphism,  // T2: moved(x (+) y) = moved(x) (+) moved(y), and the identity stays
  Composes,  // T3: moved(r -> r) = x, and moving twice is moving once
  Identity,
  Associative,
  Commutative,
};

struct LawVerdict {
  Law law = Law::Moves;
  int field = 0;  // of the value for which it was not shown
  bool shown = false;
  std::vector<Obligation> obligations;
};

// A transport of the fold of `bodies` g(r, c) by sums or maxima, one for each field of x. The symbols are value atoms
// without an instance, see symbol().
struct Transport {
  std::vector<Term> from;  // r
  std::vector<Term> to;  // r'
  std::vector<Term> state;  // x
  std::vector<Term> moved;  // of r, r', x
  std::vector<Term> bodies;  // of r, and of reads and variables
  std::vector<bool> by_maximum;  // of each field: its fold is a maximum, else a sum
};

// A real number without a name: number 0, 1, ... of those. Not to be mixed with the values of a proof.
Term symbol(TermStore& store, std::int64_t number);

// T1, T2, T3 in this order.
std::vector<LawVerdict> prove_transport(TermStore& store, const Transport& transport);

// That combine() of a declared reduction is associative, has the identity, and commutes where it is said to.
std::vector<LawVerdict> prove_monoid(TermStore& store, const ir::MonoidDecl& monoid);

}  // namespace tilewright::algebra
