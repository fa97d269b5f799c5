// SPDX-License-Identifier: Apache-2.0
//
// Stores that read each other's earlier instances: which loops every step keeps, and what all of them have added so
// far, by time. For this room's own files. Law: nothing here is believed; a guess that is made of it has to be
// confirmed.
#pragma once

#include <map>

#include "lowering/proof/evaluation.h"

namespace tilewright::proof {

class FoldGroup {
 public:
  FoldGroup(Tools& tools, const std::vector<std::vector<Flow>>& flows,
            std::vector<std::size_t> members);

  const std::vector<std::size_t>& members() const { return members_; }
  bool has(std::size_t statement) const;
  // Some of the read's sources are members.
  bool is_inner(const Flow& flow) const;
  bool keeps(std::size_t statement, const std::string& loop) const {
    return kept_.contains({statement, loop});
  }
  // The store's loops that every step keeps, in the same order for all stores of the group.
  std::vector<std::string> kept_of(const Statement& one) const;
  // A term over the loops of one store over those of another.
  Term carried(Term term, const Statement& from, const Statement& to) const;
  // The points that instances of `adder` up to that of `one` have added. `added`: over the loops of the adder with the
  // suffix kEarlier and the bound variables. `around`: the points of the result.
  Result<poly::Set> so_far(const Statement& one, const Statement& adder,
                           const std::vector<poly::BasicSet>& added, const poly::Set& around) const;

  static constexpr std::string_view kEarlier = "'e";

 private:
  void find_kept();

  Tools& tools_;
  const std::vector<std::vector<Flow>>& flows_;
  std::vector<std::size_t> members_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> kept_;  // of a store's loop
  std::size_t num_kept_ = 0;
};

}  // namespace tilewright::proof
