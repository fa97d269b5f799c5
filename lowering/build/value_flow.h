// SPDX-License-Identifier: Apache-2.0
//
// The edges of a team: which instances of two statements must stay in the order of the text although the
// machine does not keep it, and which of them a set of waits, syncs and fences keeps.
#pragma once

#include <optional>

#include "lowering/build/team.h"
#include "schedules/polyhedra/context.h"
#include "schedules/polyhedra/map.h"

namespace tilewright::build {

// Suffixes of the loops of the first and second end of an edge, of a point on the way and of another one.
inline constexpr std::string_view kFrom = "'a";
inline constexpr std::string_view kTo = "'b";
inline constexpr std::string_view kAt = "'w";
inline constexpr std::string_view kOther = "'x";

enum class EdgeKind : std::uint8_t {
  Completion,  // the first is an operation, which must be done
  Order,  // two agents
  Visibility  // an agent writes what an operation reads or overwrites
};

struct Edge {
  EdgeKind kind = EdgeKind::Order;
  std::size_t from = 0;  // statements
  std::size_t to = 0;
  poly::Set pairs;  // over the loops of both
};

// Within one gap in this order.
enum class PointKind : std::uint8_t { Wait, Sync, Fence };

struct SyncPoint {
  Gap gap;
  Where where;
  program::Scope scope = program::Scope::Block;
};

struct WaitPoint {
  std::size_t operation = 0;  // statement
  Gap gap;
  Where where;
  // Which instance of the operation an instance of the wait is for: over the wait's loops, then over those of
  // the operation that are no splits into agents.
  poly::Set awaits;
};

class ValueFlow {
 public:
  ValueFlow(const Team& team, poly::Context& polyhedra);

  // The statements of the team, then the ends of memories and of the team.
  const std::vector<Statement>& statements() const { return statements_; }
  // The gap of an end.
  const Gap& end_gap(std::size_t statement) const { return ends_[statement - first_end_]; }
  bool is_end(std::size_t statement) const { return statement >= first_end_; }

  Result<std::vector<Edge>> edges() const;
  // What of an edge nothing keeps.
  Result<poly::Set> not_awaited(const Edge& edge, const std::vector<WaitPoint>& waits,
                                const std::vector<SyncPoint>& syncs) const;
  Result<poly::Set> not_ordered(const Edge& edge, const std::vector<SyncPoint>& syncs) const;
  Result<poly::Set> not_visible(const Edge& edge, const std::vector<SyncPoint>& fences,
                                const std::vector<SyncPoint>& syncs) const;
  Result<bool> is_empty(const poly::Set& set) const { return poly::is_empty(polyhedra_, set); }

  // A set over some of its dimensions in this order. The others existed.
  Result<poly::Set> keep(const poly::Set& set, const std::vector<std::string>& dims) const;
  static std::vector<const Item*> serial(const std::vector<const Item*>& loops);

 private:
  void add_ends();
  Result<poly::Set> pairs(const Statement& s, const Statement& t, bool writes_only,
                          bool other_agents) const;
  Result<poly::Set> ends_before(const Statement& s, const Statement& end) const;
  bool touch(const Access& a, const Access& b, poly::BasicSet& set) const;
  std::vector<poly::BasicSet> executed(const Where& point, std::string_view suffix, const Where& s,
                                       const Where& t) const;
  Result<poly::Set> minus(const Edge& edge, const std::vector<const Item*>& loops,
                          const std::vector<const Item*>& others,
                          const std::vector<poly::BasicSet>& covered, poly::Set left) const;

  const Team& team_;
  poly::Context& polyhedra_;
  std::vector<Statement> statements_;
  std::size_t first_end_ = 0;
  std::vector<Gap> ends_;
};

// Every conjunction of one of each.
std::vector<poly::BasicSet> both(const std::vector<poly::BasicSet>& a,
                                 const std::vector<poly::BasicSet>& b);

}  // namespace tilewright::build
