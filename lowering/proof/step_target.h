// SPDX-License-Identifier: Apache-2.0
//
// Reductions of every kind, scans, recurrences and updates as steps: what one more point makes of the values so far.
// For a set of points, the values are what the steps of its points make of the start, in lexicographic order; a point
// at which the condition does not hold is left out. Law: at all points of the domain that is the cell of the
// equation.
#pragma once

#include "frontend/ir/reduction.h"
#include "lowering/proof/translate.h"

namespace tilewright::proof {

struct StepTarget {
  std::string name;
  const ir::Equation* equation = nullptr;
  const ir::Fold* fold = nullptr;
  ir::Reduction reduction;
  std::vector<Symbol> tensors;  // of each field
  // Symbols of the equation for its cell, without the one that a scan runs along.
  std::vector<Symbol> index_names;
  std::vector<Term> indices;  // stand for any cell
  int scanned = -1;  // position among the equation's indices
  std::vector<Term> bound;  // stand for any point
  std::vector<algebra::Conjunction> domain;  // of the points; a scan's ends at the cell
  // Of them, those that bounds on data imply: beyond, the condition of a step does not hold.
  algebra::Conjunction implied;
  std::vector<Expr> next;  // over `before`, indices, and the fold's variables
  std::vector<Expr> merged;  // over `before` and `other`; none of a recurrence
  std::vector<Symbol> before;
  std::vector<Symbol> other;
  std::vector<Expr> start;  // over indices

  std::size_t num_fields() const { return tensors.size(); }
  bool commutes() const { return !merged.empty() && reduction.commutative; }
  // From the identity: what two sets of points give can be combined.
  bool merges() const { return !merged.empty() && !fold->is_update(); }
};

// At a cell and a point, over terms for what was before.
class StepTerms {
 public:
  StepTerms(TermStore& terms, const StepTarget& target) : terms_(terms), target_(target) {}

  using Fields = std::vector<Term>;
  // The condition: `where`, bounds on data, of an update that the term goes to the cell.
  Term holds(const Fields& indices, const Fields& point) const;
  Term next(std::size_t field, const Fields& before, const Fields& indices,
            const Fields& point) const;
  Term merged(std::size_t field, const Fields& before, const Fields& other) const;
  Term start(std::size_t field, const Fields& indices) const;
  // The term of a reduction at a point.
  Term body(std::size_t field, const Fields& indices, const Fields& point) const;
  // What a step reads, over `indices` and `bound` of the target: where one is found, so is the point.
  std::vector<Term> patterns() const;

 private:
  Term of(Expr expr, const Fields& indices, const Fields& point, const Fields& before,
          const Fields& other) const;

  TermStore& terms_;
  const StepTarget& target_;
};

}  // namespace tilewright::proof
