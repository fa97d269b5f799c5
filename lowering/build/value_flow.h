// SPDX-License-Identifier: Apache-2.0
//
// The edges of a team: which instances of two statements must stay in the order of the text although the
// machine does not keep it, and which of them a set of waits, syncs and fences keeps.
#pragma once

#include <optional>

#include "lowering/build/known.h"
#include "lowering/build/synchronise.h"
#include "schedules/polyhedra/map.h"

namespace tilewright::build {

enum class EdgeKind : std::uint8_t {
  Completion,  // the first is an operation, which must be done
  Order,  // two agents
  Visibility  // an agent writes what an operation reads or overwrites
};

struct Edge {
  EdgeKind kind = EdgeKind::Order;
  bool seen = false;  // the second reads what the first writes
  std::size_t from = 0;  // statements
  std::size_t to = 0;
  poly::Set pairs;  // over the loops of both
};

class ValueFlow {
 public:
  ValueFlow(const Team& team, poly::Context& polyhedra, const std::vector<RoleOrder>& orders);

  // The statements of the team, then the ends of memories and of the team, then those of iterations of roles.
  const std::vector<Statement>& statements() const { return statements_; }
  bool is_end(std::size_t statement) const {
    return statement >= first_end_ && statement < first_order_;
  }

  Result<std::vector<Edge>> edges() const;
  // What of an edge nothing keeps.
  Result<poly::Set> not_kept(const Edge& edge, const SyncPlan& plan) const;
  Result<bool> is_empty(const poly::Set& set) const { return poly::is_empty(polyhedra_, set); }

  // A set over some of its dimensions in this order. The others existed.
  Result<poly::Set> keep(const poly::Set& set, const std::vector<std::string>& dims) const;

 private:
  enum class Conflict : std::uint8_t { Flow, Reuse, Written };
  void add_ends();
  void add_orders(const std::vector<RoleOrder>& orders);
  Result<poly::Set> pairs(const Statement& s, const Statement& t, Conflict conflict,
                          bool other_agents) const;
  Result<poly::Set> ends_before(const Statement& s, const Statement& end) const;
  // The pairs of `set`, instances of both, in which the cells of the two meet, and others where that is not affine.
  Result<std::vector<poly::BasicSet>> touch(const Access& a, const Access& b,
                                            poly::BasicSet set) const;
  Result<std::vector<poly::BasicSet>> same_slot(const Access& a, const Access& b, std::size_t dim,
                                                const poly::BasicSet& set) const;
  Result<poly::Set> not_awaited(const Edge& edge, const SyncPlan& plan) const;
  Result<poly::Set> not_ordered(const Edge& edge, const SyncPlan& plan) const;
  Result<poly::Set> not_visible(const Edge& edge, const SyncPlan& plan) const;

  const Team& team_;
  poly::Context& polyhedra_;
  std::vector<Statement> statements_;
  std::size_t first_end_ = 0;
  std::size_t first_order_ = 0;
  std::vector<Edge> orders_;  // that the schedule asks for
};

}  // namespace tilewright::build
