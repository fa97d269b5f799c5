// SPDX-License-Identifier: Apache-2.0
//
// Stores that read each other's earlier instances, as one fold. For this room's own files.
//
// The guess: loops that every step keeps name the fold (each store may have its own names for them); what a store
// holds is what all stores of the group have added so far, by time, in that fold. Law: nothing of a guess is believed;
// `find` leaves claims that evaluating every store of the group has given back.
#pragma once

#include "lowering/proof/fold_group.h"

namespace tilewright::proof {

class FoldGuess {
 public:
  FoldGuess(Tools& tools, std::vector<Claim>& claims, const std::vector<std::vector<Flow>>& flows,
            Evaluation& evaluation)
      : tools_(tools), claims_(claims), flows_(flows), evaluation_(evaluation) {}

  // Whether claims for the group were found.
  Result<bool> find(const std::vector<std::size_t>& group);

 private:
  // What a store adds, where `where` holds.
  struct Addition {
    std::size_t statement = 0;
    poly::Set where;
    Term factor;
    std::vector<AffineExpr> point;
  };

  Result<bool> try_target();
  Term known_form(Term term) const;
  Result<bool> find_additions(const Statement& one);
  std::optional<Term> take(const Statement& one, Term term, const poly::Set& where,
                           bool is_maximum);
  bool is_steady(const Statement& one, Term body, const std::vector<Term>& bound) const;
  void start(const Statement& one, const FoldTarget& target, Term body, Term factor,
             const std::vector<std::pair<Term, Term>>& outer);
  Result<poly::Set> points_of(const Statement& one);
  Result<bool> find_factors();
  Result<bool> confirmed();

  Tools& tools_;
  std::vector<Claim>& claims_;
  const std::vector<std::vector<Flow>>& flows_;
  Evaluation& evaluation_;

  std::optional<FoldGroup> members_;
  std::size_t before_ = 0;  // conditions
  const Statement* shape_of_ = nullptr;  // whose loops shape_ is over
  const FoldTarget* wanted_ = nullptr;
  const FoldTarget* target_ = nullptr;  // the wanted one, once something was added
  FoldValue shape_;
  std::vector<Addition> additions_;
  std::map<std::size_t, Term> factors_;
};

}  // namespace tilewright::proof
