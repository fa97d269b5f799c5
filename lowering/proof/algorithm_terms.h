// SPDX-License-Identifier: Apache-2.0
//
// What an algorithm says, as terms: each equation as it stands, over the cells of the tensors that it reads, and
// expanded, over inputs alone. Laws: `expand` keeps the value; a cell of an equation is equal to what the equation
// says of it.
#pragma once

#include <map>
#include <set>

#include "frontend/algebra/from_expr.h"
#include "frontend/ir/algorithm.h"
#include "lowering/proof/lifted.h"
#include "lowering/proof/step_target.h"
#include "lowering/proof/translate.h"

namespace tilewright::proof {

// An equation without a fold: `value` over the variables `indices`.
struct Pattern {
  Symbol tensor;
  std::vector<Term> indices;
  Term value;
};

// A sum or maximum of the algorithm. All of `indices` and `bound` are free in the body; `bound` are those of the
// fold.
struct FoldTarget {
  bool is_maximum = false;
  bool is_stated =
      true;  // false: the body is expanded, and may be a part of what linearity made of it
  Symbol tensor;  // of a stated one: that the equation defines
  ir::ScalarType type = ir::ScalarType::F64;  // an integer one: the sum wraps
  std::vector<Term> indices;
  std::vector<Term> bound;
  Term body;
  std::vector<algebra::Conjunction> domain;  // of the bound variables
  // Of them, those that a condition on data in the body implies: beyond, it is the identity.
  algebra::Conjunction implied;

  std::vector<Term> unknowns() const;
};

class AlgorithmTerms {
 public:
  AlgorithmTerms(ir::Context& context, TermStore& terms, const ir::Algorithm& algorithm);

  // A cell as one reads it.
  Term cell(Symbol tensor, std::span<const Term> indices);
  // The same over inputs alone. Where the algebra has no words for an equation, an unknown.
  Term expanded(Symbol tensor, std::span<const Term> indices);
  Term expand(Term term);
  // What the algorithm declares of cells that have names, which a call checks: constraints on the names. Nothing is
  // known of other values.
  poly::BasicSet declared(Translator& translator, const DataNames& data);
  bool is_input(Symbol tensor) const { return algorithm_.definition(tensor) == nullptr; }

  const ir::Equation* definition(Symbol tensor) const { return algorithm_.definition(tensor); }

  const std::vector<Pattern>& patterns() const { return patterns_; }
  // Those that say more first: a part of a body is found in the whole one too. Stated ones before all others.
  const std::vector<FoldTarget>& targets() const { return targets_; }
  const std::vector<StepTarget>& steps() const { return steps_; }
  const std::vector<Carried>& carried() const { return lifted_.carried; }

 private:
  void add(const ir::Equation& equation);
  void add_steps(const ir::Equation& equation, const std::vector<Term>& indices);
  // The range of the fold's variables, and the condition that data make of it; nothing where it has no end.
  struct Range {
    algebra::Conjunction where;
    algebra::Conjunction implied;  // of them, by `holds`
    Term holds;
  };
  std::optional<Range> range(const ir::Fold& fold, const std::vector<Term>& variables,
                             const algebra::Leaves& leaves);
  void add_fold(const ir::Equation& equation, const std::vector<Term>& indices);
  // A constraint that every value of the data in it leaves open; nothing where there is none.
  std::optional<Term> widest(Term value);
  FoldTarget target(const std::vector<Term>& indices, const algebra::Domain& domain, Term body,
                    bool is_maximum);

  ir::Context& context_;
  TermStore& terms_;
  const Lifted lifted_;
  const ir::Algorithm& algorithm_;  // of it
  std::vector<StepTarget> steps_;
  std::vector<Pattern> patterns_;
  std::vector<FoldTarget> targets_;
};

}  // namespace tilewright::proof
