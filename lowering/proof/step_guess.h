// SPDX-License-Identifier: Apache-2.0
//
// Stores that read each other's earlier instances, as steps of a reduction of any kind, a scan, a recurrence or an
// update. For this room's own files. The guess: each store holds the steps of the points that the group has added so
// far. Law: nothing of a guess is believed; `find` leaves claims that evaluating every store has given back.
#pragma once

#include "lowering/proof/fold_group.h"

namespace tilewright::proof {

class StepGuess {
 public:
  StepGuess(Tools& tools, std::vector<Claim>& claims, const std::vector<std::vector<Flow>>& flows,
            Evaluation& evaluation)
      : tools_(tools), claims_(claims), flows_(flows), evaluation_(evaluation) {}

  // Whether claims for the group were found.
  Result<bool> find(const std::vector<std::size_t>& group);

 private:
  // Points that a store adds, over its loops and the bound variables.
  struct Addition {
    std::size_t statement = 0;
    poly::Set points{poly::Space{}};
  };

  Result<bool> try_target(const StepTarget& target);
  Result<bool> find_additions(const StepTarget& target, const Statement& one);
  std::optional<StepPoint> marked_point(const StepTarget& target, const Statement& one);
  bool agree(const Statement& one, const std::vector<Term>& indices);
  // By the cell that a store writes, or says that it writes.
  void indices_by_cells(const StepTarget& target);
  Result<poly::Set> points_of(const StepTarget& target, const Statement& one);
  // Stores that only hand on what another wrote have its field.
  void find_copies();
  // Computed on the way, and no field: a condition on what was before.
  bool is_helper(const StepTarget& target, const Statement& one) const;
  // Stores of which nothing says what they add add what the others do.
  void add_likewise(const StepTarget& target);
  Result<bool> with_fields(const StepTarget& target, const std::vector<std::size_t>& fields);
  Result<bool> confirmed(const StepTarget& target);
  StepInner inner_of(const Statement& one) const;
  std::vector<Term> indices_of(const Statement& one) const;

  Tools& tools_;
  std::vector<Claim>& claims_;
  const std::vector<std::vector<Flow>>& flows_;
  Evaluation& evaluation_;

  std::optional<FoldGroup> members_;
  std::map<std::size_t, std::size_t> same_as_;  // a store that has the same field
  std::vector<Addition> additions_;
  std::map<std::size_t, StepPoint> points_;  // that a store may add
  std::vector<Term> indices_;  // over the loops of indices_in_
  const Statement* indices_in_ = nullptr;
  std::map<std::size_t, std::size_t> fields_;
  std::map<std::size_t, poly::Set> guesses_;
};

}  // namespace tilewright::proof
