// SPDX-License-Identifier: Apache-2.0
//
// What is known to have happened: whether a chain of waits, signals and syncs leads from one point of a team to
// another. One agent knows what it did before; who waits for a signal knows what was done before it; who waits for an
// operation knows that it is done, and the order of what came before its start, but the writes only where the agent
// that started it arrived too; agents that meet know what each did. Both ends of a split into roles are known to what comes before and after. Everything is a
// relation of instances, and a chain that is not sure to be there counts for nothing.
#pragma once

#include <unordered_set>

#include "lowering/build/team.h"
#include "schedules/polyhedra/context.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::build {

// Suffixes of the loops of the first and second end of an edge, of a point on the way and of another one.
inline constexpr std::string_view kFrom = "'a";
inline constexpr std::string_view kTo = "'b";
inline constexpr std::string_view kAt = "'w";
inline constexpr std::string_view kOther = "'x";

// Within one gap in this order.
enum class PointKind : std::uint8_t { Signal, Wait, Sync, Fence };

struct SyncPoint {
  Gap gap;
  Where where;
  program::Scope scope = program::Scope::Block;
  std::size_t edge = 0;  // for which it was placed
};

// An agent tells that it has come here.
struct SignalPoint {
  Gap gap;
  Where where;
  std::string name;
  const Item* item = nullptr;  // what it tells of
};

struct WaitPoint {
  std::size_t source =
      0;  // a statement that is an operation, or a signal: see SyncPlan::first_signal
  Gap gap;
  Where where;
  // Which instance of the source an instance of the wait is for: over the wait's loops, then over those of
  // the source that are no splits into agents.
  poly::Set awaits;
  std::size_t edge = 0;  // for which it was placed
};

struct SyncPlan {
  std::vector<WaitPoint> waits;
  std::vector<SyncPoint> syncs;
  std::vector<SyncPoint> fences;
  std::vector<SignalPoint> signals;  // number i is source first_signal + i
  std::size_t first_signal = 0;
  // Operations of which each agent that starts them arrives too: it tells of all that it did.
  std::unordered_set<std::size_t> announced;
};

// A relation between points, and what holds of them besides.
struct Question {
  const Where* from = nullptr;
  std::string_view from_suffix;
  const Where* to = nullptr;
  std::string_view to_suffix;
  // Whether what was written must be seen too.
  bool seen = false;
  std::vector<poly::BasicSet> given = {poly::BasicSet()};
  std::vector<std::string> dims = {};  // of `given`, besides those of the relation
  // Points that are known to be executed, with their suffixes.
  std::vector<std::pair<const Where*, std::string_view>> executed = {};
};

class Known {
 public:
  Known(const Team& team, poly::Context& polyhedra, const std::vector<Statement>& statements,
        const SyncPlan& plan)
      : team_(team), polyhedra_(polyhedra), statements_(statements), plan_(plan) {}

  // What of `left`, a set over both points, no chain leads through.
  Result<poly::Set> without(const Question& question, poly::Set left) const;

  const Where& source(std::size_t number) const {
    return number < plan_.first_signal ? statements_[number].where
                                       : plan_.signals[number - plan_.first_signal].where;
  }
  // That two points are of one agent, or that one is where agents split or have joined; none: of two roles.
  std::optional<poly::BasicSet> same_agent(const Where& a, std::string_view sa, const Where& b,
                                           std::string_view sb) const;
  // The instances of a point that are sure to be executed. Where a bound or guard around it is not quasi-affine,
  // those in which one of the others stands too.
  std::vector<poly::BasicSet> executed(
      const Where& point, std::string_view suffix,
      const std::vector<std::pair<const Where*, std::string_view>>& others) const;

 private:
  struct Chain {
    std::vector<poly::BasicSet> pieces;
    std::vector<std::string> dims;
    const Where* at = nullptr;
    std::string suffix;
    bool met = false;  // at a sync
    std::vector<std::size_t> waits;
    std::vector<Symbol> roles;  // where it was before
  };
  Result<poly::Set> follow(const Question& question, const Chain& chain, int links,
                           poly::Set left) const;
  Result<poly::Set> close(const Question& question, const Chain& chain, poly::Set left) const;

  const Team& team_;
  poly::Context& polyhedra_;
  const std::vector<Statement>& statements_;
  const SyncPlan& plan_;
};

// Every conjunction of one of each.
std::vector<poly::BasicSet> both(const std::vector<poly::BasicSet>& a,
                                 const std::vector<poly::BasicSet>& b);
// Loops that are no splits into agents.
std::vector<const Item*> serial(const std::vector<const Item*>& loops);
bool is_around(const Item* item, const Where& where);

}  // namespace tilewright::build
