// SPDX-License-Identifier: Apache-2.0
//
// The claims of a Program: what each store writes, as a term over the inputs (docs/decisions/proof.md). Law: a
// claim is either the evaluation of the store's right side with the claims of the stores that its reads come from,
// or a guess that this evaluation, which may use the guess for earlier instances, has confirmed; a store for
// which neither works is its own value, of which nothing is known.
#pragma once

#include "lowering/proof/algorithm_terms.h"
#include "lowering/proof/flow.h"

namespace tilewright::proof {

// A fold that a store holds so far: factor * sum of body over the points (maximum: factor + maximum).
struct FoldValue {
  bool is_maximum = false;
  const FoldTarget* target = nullptr;
  std::vector<Term> indices;  // of the target, over the loops of the store
  Term factor;  // over the loops of the store
  std::vector<Term> bound;
  Term body;  // over those loops and the bound variables
  poly::Set points;  // dimensions: the loops, then the bound variables

  FoldValue() : points(poly::Space{}) {}
};

// One field of what the steps of some points make of the start.
struct StepValue {
  const StepTarget* target = nullptr;
  std::size_t field = 0;
  std::vector<Term> indices;  // of the target, over the loops
  Term last;  // of a scan: the point that was added last, a guess
  poly::Set points;  // dimensions: the loops, then the bound variables

  StepValue() : points(poly::Space{}) {}
};

// What a store wrote where `where` holds.
struct Piece {
  poly::Set where;
  Term value;  // null of a fold and of steps
  std::optional<FoldValue> fold;
  std::optional<StepValue> steps;
  // Of a read at a cell that data name: what the names in the value stand for.
  std::vector<std::pair<std::string, Expr>> names = {};

  Piece() : where(poly::Space{}) {}
};

struct Claim {
  std::vector<Piece> pieces;  // disjoint; they cover the domain
  bool known = true;  // false: the store's own value
  std::string reason;  // why nothing is known, where something failed
};

// What must hold at all points of `where` for a claim to stand.
struct Condition {
  poly::Set where;
  algebra::Obligation holds;
};

// `left` is `right` at all points of `where`.
struct Goal {
  poly::Set where;
  Term left;
  Term right;

  Goal() : where(poly::Space{}) {}
};
enum class GoalState : std::uint8_t { Holds, NotShown };

class Claims {
 public:
  Claims(ir::Context& context, const Statements& statements, poly::Context& polyhedra,
         TermStore& terms, Translator& translator, AlgorithmTerms& algorithm,
         poly::Limits limits = {});
  ~Claims();
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  // `found` is called with each statement and its number of pieces.
  Result<Ok> find(const std::function<void(std::size_t, std::size_t)>& found = {});
  const Claim& of(std::size_t statement) const;
  const std::vector<Flow>& flows(std::size_t statement) const;  // of its reads, in order

  // What a reader finds, in pieces over its loops.
  Result<std::vector<Piece>> found_by(const Reader& reader);
  // Of a piece, with the fold written out.
  Result<Term> term(const Piece& piece);
  Result<std::string> text(const Piece& piece);  // for a person
  Result<std::string> spelled(
      const Piece& piece);  // for a certificate; empty: there are no words for it
  Result<GoalState> prove(const Goal& goal);
  // Whether read number `read` finds what a store wrote wherever a run evaluates it.
  Result<bool> finds_values(const Statement& one, std::size_t read);
  // Of all claims and of what was proved, without duplicates.
  std::vector<Condition> conditions() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::proof
