// SPDX-License-Identifier: Apache-2.0
#include "lowering/build/known.h"

#include <algorithm>

namespace tilewright::build {

using poly::AffineExpr;
using poly::BasicSet;
using poly::Set;

namespace {

// Waits and syncs on the way from one access to another. A chain of more of them is possible in theory: it is then
// not found, and a point stands that it makes superfluous. One agent alone knows all that it did.
int max_links(const Team& team) {
  if (!team.has_agents()) return 0;
  return team.roles().empty() ? 2 : 3;
}

// Conjunctions of a chain at most; each link multiplies them.
constexpr std::size_t kMaxCases = 256;

AffineExpr var(const Item& loop, std::string_view suffix) {
  return AffineExpr::variable(Team::name(loop, suffix));
}

BasicSet joined(const BasicSet& a, const BasicSet& b) {
  BasicSet out = a;
  out.equalities.insert(out.equalities.end(), b.equalities.begin(), b.equalities.end());
  out.inequalities.insert(out.inequalities.end(), b.inequalities.begin(), b.inequalities.end());
  return out;
}

std::vector<BasicSet> renamed(const std::vector<BasicSet>& pieces,
                              const std::vector<std::pair<std::string, std::string>>& names) {
  std::vector<BasicSet> out;
  for (const BasicSet& piece : pieces) {
    BasicSet one = piece;
    for (auto* exprs : {&one.equalities, &one.inequalities})
      for (AffineExpr& e : *exprs)
        for (const auto& [from, to] : names) e = e.renamed(from, to);
    out.push_back(std::move(one));
  }
  return out;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::vector<BasicSet> both(const std::vector<BasicSet>& a, const std::vector<BasicSet>& b) {
  std::vector<BasicSet> out;
  for (const BasicSet& x : a)
    for (const BasicSet& y : b) out.push_back(joined(x, y));
  return out;
}

std::vector<const Item*> serial(const std::vector<const Item*>& loops) {
  std::vector<const Item*> out;
  for (const Item* loop : loops)
    if (!loop->bind()) out.push_back(loop);
  return out;
}

bool is_around(const Item* item, const Where& where) {
  return std::any_of(where.chain.begin(), where.chain.end(),
                     [&](const auto& c) { return c.first == item; });
}

std::optional<BasicSet> Known::same_agent(const Where& a, std::string_view sa, const Where& b,
                                          std::string_view sb) const {
  if (!(a.role == b.role) && a.role.valid() && b.role.valid()) return std::nullopt;
  BasicSet out;
  for (const Item* loop : common_loops(a, b))
    if (loop->bind()) out.equal(var(*loop, sa), var(*loop, sb));
  return out;
}

std::vector<BasicSet> Known::executed(
    const Where& point, std::string_view suffix,
    const std::vector<std::pair<const Where*, std::string_view>>& others) const {
  BasicSet set;
  bool exact = true;
  for (const auto& [item, arm] : point.chain)
    if (!item->bind()) exact = team_.constrain_by(*item, arm, suffix, set) && exact;
  if (exact) return {set};
  std::vector<BasicSet> out;
  for (const auto& [other, end_suffix] : others) {
    if (std::any_of(point.chain.begin(), point.chain.end(),
                    [&](const auto& c) { return !is_around(c.first, *other); }))
      continue;
    BasicSet same = set;
    for (const Item* loop : serial(point.loops))
      same.equal(var(*loop, suffix), var(*loop, end_suffix));
    if (std::find(out.begin(), out.end(), same) == out.end()) out.push_back(std::move(same));
  }
  return out;
}

Result<Set> Known::close(const Question& question, const Chain& chain, Set left) const {
  const auto own = same_agent(*chain.at, chain.suffix, *question.to, question.to_suffix);
  if (!own) return left;
  const std::vector<BasicSet> order =
      team_.precedes(*chain.at, chain.suffix, *question.to, question.to_suffix);
  if (order.empty() || chain.pieces.empty()) return left;
  std::vector<std::string> dims = left.space().dims;
  append(dims, question.dims);
  append(dims, chain.dims);
  Set kept({team_.params(), dims}, both(both(chain.pieces, order), {*own}));
  std::vector<std::string> gone = question.dims;
  append(gone, chain.dims);
  if (!gone.empty()) {
    auto projected = poly::project_out(polyhedra_, kept, gone);
    // Past the limit of work: not known to be there.
    if (!projected.ok()) return left;
    kept = Set({projected->space().params, left.space().dims}, projected->pieces());
  }
  return poly::subtract(polyhedra_, left, kept);
}

// Chains with exactly so many more links.
Result<Set> Known::follow(const Question& question, const Chain& chain, int links, Set left) const {
  // Not followed further: what it would lead through stays.
  if (chain.pieces.size() > kMaxCases) return left;
  if (links == 0) return close(question, chain, std::move(left));
  const std::string number = std::to_string(links);
  const auto ends_here = [&](const Where& where) {
    return links > 1 || where.role == question.to->role || !question.to->role.valid();
  };
  for (const SyncPoint& sync : plan_.syncs) {
    if (chain.met || !(sync.where.role == chain.at->role) || !ends_here(sync.where)) continue;
    Chain next;
    next.at = &sync.where;
    next.suffix = "'s" + number;
    next.met = true;
    next.waits = chain.waits;
    next.roles = chain.roles;
    const auto order = team_.precedes(*chain.at, chain.suffix, sync.where, next.suffix);
    const auto there = executed(sync.where, next.suffix, question.executed);
    if (order.empty() || there.empty()) continue;
    BasicSet group;
    for (const Item* loop : common_loops(*chain.at, sync.where))
      if (loop->bind() && loop->bind()->scope >= sync.scope)
        group.equal(var(*loop, chain.suffix), var(*loop, next.suffix));
    next.pieces = both(both(both(chain.pieces, order), there), {group});
    next.dims = chain.dims;
    append(next.dims, team_.names(sync.where.loops, next.suffix));
    TILEWRIGHT_TRY(rest, follow(question, next, links - 1, std::move(left)));
    left = std::move(rest);
  }
  for (std::size_t i = 0; i < plan_.waits.size(); ++i) {
    const WaitPoint& wait = plan_.waits[i];
    const Where& told = source(wait.source);
    // An operation tells of no writes but its own.
    if (question.seen && wait.source < plan_.first_signal && !plan_.announced.contains(wait.source))
      continue;
    if (!ends_here(wait.where)) continue;
    if (std::find(chain.waits.begin(), chain.waits.end(), i) != chain.waits.end()) continue;
    // What an agent has told others it knows itself; agents that a role is split into tell each other.
    const Symbol role = wait.where.role;
    const bool alone = serial(wait.where.loops).size() == wait.where.loops.size() &&
                       serial(told.loops).size() == told.loops.size();
    if (role.valid() && alone &&
        (role == chain.at->role ||
         std::find(chain.roles.begin(), chain.roles.end(), role) != chain.roles.end()))
      continue;
    const std::string sp = "'p" + number;
    const auto own = same_agent(*chain.at, chain.suffix, told, sp);
    if (!own || !(told.role == chain.at->role)) continue;
    const auto order = team_.precedes(*chain.at, chain.suffix, told, sp);
    const auto there = executed(told, sp, question.executed);
    if (order.empty() || there.empty()) continue;
    Chain next;
    next.at = &wait.where;
    next.suffix = "'w" + number;
    next.waits = chain.waits;
    next.waits.push_back(i);
    next.roles = chain.roles;
    next.roles.push_back(chain.at->role);
    std::vector<std::pair<std::string, std::string>> names;
    for (const Item* loop : wait.where.loops)
      names.emplace_back(Team::name(*loop, kAt), Team::name(*loop, next.suffix));
    for (const Item* loop : serial(told.loops))
      names.emplace_back(Team::name(*loop, kFrom), Team::name(*loop, sp));
    next.pieces = both(both(both(chain.pieces, order), both(there, {*own})),
                       renamed(wait.awaits.pieces(), names));
    next.dims = chain.dims;
    append(next.dims, team_.names(told.loops, sp));
    append(next.dims, team_.names(wait.where.loops, next.suffix));
    TILEWRIGHT_TRY(rest, follow(question, next, links - 1, std::move(left)));
    left = std::move(rest);
  }
  return left;
}

Result<Set> Known::without(const Question& question, Set left) const {
  Chain begin;
  begin.pieces = question.given;
  begin.at = question.from;
  begin.suffix = std::string(question.from_suffix);
  const int points = static_cast<int>(plan_.waits.size() + plan_.syncs.size());
  for (int links = 0; links <= std::min(max_links(team_), points); ++links) {
    TILEWRIGHT_TRY(rest, follow(question, begin, links, std::move(left)));
    left = std::move(rest);
    TILEWRIGHT_TRY(none, poly::is_empty(polyhedra_, left));
    if (none) return left;
  }
  return left;
}

}  // namespace tilewright::build
