// SPDX-License-Identifier: Apache-2.0
#include "lowering/build/value_flow.h"

#include <algorithm>

namespace tilewright::build {

using poly::AffineExpr;
using poly::BasicSet;
using poly::BoundExpr;
using poly::Set;

namespace {

AffineExpr var(const Item& loop, std::string_view suffix) {
  return AffineExpr::variable(Team::name(loop, suffix));
}

BasicSet joined(const BasicSet& a, const BasicSet& b) {
  BasicSet out = a;
  out.equalities.insert(out.equalities.end(), b.equalities.begin(), b.equalities.end());
  out.inequalities.insert(out.inequalities.end(), b.inequalities.begin(), b.inequalities.end());
  return out;
}

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool is_around(const Item* item, const Where& where) {
  return std::any_of(where.chain.begin(), where.chain.end(),
                     [&](const auto& c) { return c.first == item; });
}

}  // namespace

std::vector<BasicSet> both(const std::vector<BasicSet>& a, const std::vector<BasicSet>& b) {
  std::vector<BasicSet> out;
  for (const BasicSet& x : a)
    for (const BasicSet& y : b) out.push_back(joined(x, y));
  return out;
}

std::vector<const Item*> ValueFlow::serial(const std::vector<const Item*>& loops) {
  std::vector<const Item*> out;
  for (const Item* loop : loops)
    if (!loop->bind()) out.push_back(loop);
  return out;
}

ValueFlow::ValueFlow(const Team& team, poly::Context& polyhedra)
    : team_(team), polyhedra_(polyhedra), statements_(team.statements()) {
  first_end_ = statements_.size();
  add_ends();
}

// An operation must be known to be done when a memory that it uses ends, and when the team ends: for the agent
// that started it.
void ValueFlow::add_ends() {
  std::vector<Gap> gaps;
  const auto add = [&](const Item* owner, const Statement& op) {
    // Inside the innermost split into agents that the operation stands in.
    for (const auto& [around, arm] : op.where.chain)
      if (around->bind() &&
          (!owner->stmt || is_around(owner, team_.where(*around)) || around == owner))
        owner = around;
    // Memories that end together.
    const auto last = [&] {
      return owner->arms[0].empty() ? nullptr : owner->arms[0].back().get();
    };
    while (last() && (last()->stmt.as<program::Alloc>() || last()->stmt.as<program::Let>()))
      owner = last();
    const Gap gap{owner, 0, owner->arms[0].size()};
    if (std::find(gaps.begin(), gaps.end(), gap) == gaps.end()) gaps.push_back(gap);
  };
  for (const Statement& op : statements_) {
    if (!op.is_async) continue;
    add(&team_.root(), op);
    for (const Access& access : op.accesses)
      if (const Item* alloc = team_.alloc_of(access.buffer)) add(alloc, op);
  }
  // Inner ends come first in the text.
  std::sort(gaps.begin(), gaps.end(), [&](const Gap& a, const Gap& b) {
    return team_.where(a, 0).path < team_.where(b, 0).path;
  });
  for (const Gap& gap : gaps) {
    statements_.push_back({nullptr, team_.where(gap, 0), false, {}});
    ends_.push_back(gap);
  }
}

// The cells of two accesses meet.
bool ValueFlow::touch(const Access& a, const Access& b, BasicSet& set) const {
  if (a.index.size() != b.index.size()) return true;
  for (std::size_t d = 0; d < a.index.size(); ++d) {
    const auto x = team_.value(a.index[d], kFrom);
    const auto y = team_.value(b.index[d], kTo);
    if (!x || !y || x->kind() != BoundExpr::Kind::Affine || y->kind() != BoundExpr::Kind::Affine)
      continue;
    if (!a.length[d] && !b.length[d]) {
      set.equal(x->affine(), y->affine());
      continue;
    }
    const auto end = [&](const BoundExpr& first, Expr length, std::string_view suffix) {
      return length ? team_.value(length, suffix)
                          ? std::optional(first + *team_.value(length, suffix))
                          : std::nullopt
                    : std::optional(first + BoundExpr(1));
    };
    if (const auto last = end(*y, b.length[d], kTo)) add_less(set, x->affine(), *last);
    if (const auto last = end(*x, a.length[d], kFrom)) add_less(set, y->affine(), *last);
  }
  return true;
}

Result<Set> ValueFlow::keep(const Set& set, const std::vector<std::string>& dims) const {
  std::vector<std::string> gone;
  for (const std::string& dim : set.space().dims)
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) gone.push_back(dim);
  Set out = set;
  if (!gone.empty()) {
    TILEWRIGHT_TRY(rest, poly::project_out(polyhedra_, set, gone));
    out = std::move(rest);
  }
  return Set({out.space().params, dims}, out.pieces());
}

Result<Set> ValueFlow::ends_before(const Statement& s, const Statement& end) const {
  const std::vector<std::string> dims =
      team_.names(s.where.loops, kFrom) + team_.names(end.where.loops, kTo);
  Set none({team_.params(), dims});
  for (const auto& [around, arm] : end.where.chain)
    if (!is_around(around, s.where)) return none;
  BasicSet set;
  (void)team_.constrain(s.where, kFrom, set);
  for (const Item* loop : end.where.loops) set.equal(var(*loop, kFrom), var(*loop, kTo));
  return Set({team_.params(), dims}, set);
}

Result<Set> ValueFlow::pairs(const Statement& s, const Statement& t, bool writes_only,
                             bool other_agents) const {
  const std::vector<std::string> dims =
      team_.names(s.where.loops, kFrom) + team_.names(t.where.loops, kTo);
  Set out({team_.params(), dims});
  std::vector<BasicSet> order = team_.precedes(s.where, kFrom, t.where, kTo);
  if (other_agents) {
    std::vector<BasicSet> differ;
    for (const Item* loop : common_loops(s.where, t.where)) {
      if (!loop->bind()) continue;
      differ.push_back(BasicSet().less(var(*loop, kFrom), var(*loop, kTo)));
      differ.push_back(BasicSet().less(var(*loop, kTo), var(*loop, kFrom)));
    }
    order = both(order, differ);
  }
  if (order.empty()) return out;
  std::vector<Set> seen;
  for (const Access& a : s.accesses) {
    for (const Access& b : t.accesses) {
      if (!(a.buffer == b.buffer) || (!a.writes && (writes_only || !b.writes))) continue;
      if (writes_only && team_.is_private_space(a.buffer)) continue;
      BasicSet base;
      (void)team_.constrain(a.where, kFrom, base);
      (void)team_.constrain(b.where, kTo, base);
      if (const Item* alloc = team_.alloc_of(a.buffer))
        for (const Item* loop : team_.where(*alloc).loops)
          base.equal(var(*loop, kFrom), var(*loop, kTo));
      touch(a, b, base);
      const Set full(
          {team_.params(), team_.names(a.where.loops, kFrom) + team_.names(b.where.loops, kTo)},
          both({base}, order));
      if (std::find(seen.begin(), seen.end(), full) != seen.end()) continue;
      seen.push_back(full);
      TILEWRIGHT_TRY(kept, keep(full, dims));
      TILEWRIGHT_TRY(sum, poly::unite(polyhedra_, out, kept));
      out = std::move(sum);
    }
  }
  TILEWRIGHT_TRY(known, poly::intersect_params(polyhedra_, out, team_.facts()));
  return known;
}

Result<std::vector<Edge>> ValueFlow::edges() const {
  std::vector<Edge> out;
  const auto add = [&](EdgeKind kind, std::size_t from, std::size_t to,
                       Result<Set> found) -> Result<Ok> {
    if (!found.ok()) return std::move(found).failure();
    TILEWRIGHT_TRY(empty, is_empty(*found));
    if (!empty) out.push_back({kind, from, to, std::move(*found)});
    return Ok{};
  };
  for (std::size_t to = 0; to < statements_.size(); ++to) {
    for (std::size_t from = 0; from < first_end_; ++from) {
      const Statement& s = statements_[from];
      const Statement& t = statements_[to];
      if (is_end(to)) {
        if (s.is_async) TILEWRIGHT_CHECK_OK(add(EdgeKind::Completion, from, to, ends_before(s, t)));
        continue;
      }
      if (s.is_async) {
        TILEWRIGHT_CHECK_OK(add(EdgeKind::Completion, from, to, pairs(s, t, false, false)));
        continue;
      }
      TILEWRIGHT_CHECK_OK(add(EdgeKind::Order, from, to, pairs(s, t, false, true)));
      if (t.is_async)
        TILEWRIGHT_CHECK_OK(add(EdgeKind::Visibility, from, to, pairs(s, t, true, false)));
    }
  }
  return out;
}

// The instances of a point that are sure to be executed. Where a bound or guard around it is not quasi-affine,
// those that an end of the edge stands in too.
std::vector<BasicSet> ValueFlow::executed(const Where& point, std::string_view suffix,
                                          const Where& s, const Where& t) const {
  BasicSet set;
  bool exact = true;
  for (const auto& [item, arm] : point.chain)
    if (!item->bind()) exact = team_.constrain_by(*item, arm, suffix, set) && exact;
  if (exact) return {set};
  std::vector<BasicSet> out;
  const auto with = [&](const Where& end, std::string_view end_suffix) {
    for (const auto& [item, arm] : point.chain)
      if (!is_around(item, end)) return;
    BasicSet same = set;
    for (const Item* loop : serial(point.loops))
      same.equal(var(*loop, suffix), var(*loop, end_suffix));
    out.push_back(std::move(same));
  };
  if (&s != &t) with(s, kFrom);
  with(t, kTo);
  return out;
}

Result<Set> ValueFlow::minus(const Edge& edge, const std::vector<const Item*>& loops,
                             const std::vector<const Item*>& others,
                             const std::vector<BasicSet>& covered, Set left) const {
  if (covered.empty()) return left;
  const std::vector<std::string>& dims = edge.pairs.space().dims;
  const Set full({team_.params(), dims + team_.names(loops, kAt) + team_.names(others, kOther)},
                 covered);
  TILEWRIGHT_TRY(kept, keep(full, dims));
  TILEWRIGHT_TRY(rest, poly::subtract(polyhedra_, left, kept));
  return rest;
}

Result<Set> ValueFlow::not_awaited(const Edge& edge, const std::vector<WaitPoint>& waits,
                                   const std::vector<SyncPoint>& syncs) const {
  const Where& t = statements_[edge.to].where;
  Set left = edge.pairs;
  for (const WaitPoint& wait : waits) {
    if (wait.operation != edge.from) continue;
    std::vector<BasicSet> order = team_.precedes(wait.where, kAt, t, kTo);
    if (edge.to >= first_end_ && wait.gap == ends_[edge.to - first_end_]) {
      BasicSet same;
      for (const Item* loop : serial(t.loops)) same.equal(var(*loop, kAt), var(*loop, kTo));
      order.push_back(std::move(same));
    }
    BasicSet agents;
    for (const Item* loop : common_loops(wait.where, t))
      if (loop->bind()) agents.equal(var(*loop, kAt), var(*loop, kTo));
    TILEWRIGHT_TRY(rest, minus(edge, wait.where.loops, {},
                               both(both(wait.awaits.pieces(), order), {agents}), std::move(left)));
    left = std::move(rest);
    // Another agent waited and then met this one.
    for (const SyncPoint& sync : syncs) {
      BasicSet group;
      for (const Item* loop : common_loops(wait.where, t))
        if (loop->bind() && loop->bind()->scope >= sync.scope)
          group.equal(var(*loop, kAt), var(*loop, kTo));
      const std::vector<BasicSet> between =
          both(both(team_.precedes(wait.where, kAt, sync.where, kOther),
                    team_.precedes(sync.where, kOther, t, kTo)),
               executed(sync.where, kOther, t, t));
      TILEWRIGHT_TRY(less,
                     minus(edge, wait.where.loops, serial(sync.where.loops),
                           both(both(wait.awaits.pieces(), between), {group}), std::move(left)));
      left = std::move(less);
    }
  }
  return left;
}

Result<Set> ValueFlow::not_ordered(const Edge& edge, const std::vector<SyncPoint>& syncs) const {
  const Where& s = statements_[edge.from].where;
  const Where& t = statements_[edge.to].where;
  Set left = edge.pairs;
  for (const SyncPoint& sync : syncs) {
    BasicSet group;
    for (const Item* loop : common_loops(s, t))
      if (loop->bind() && loop->bind()->scope >= sync.scope)
        group.equal(var(*loop, kFrom), var(*loop, kTo));
    const std::vector<BasicSet> between =
        both(team_.precedes(s, kFrom, sync.where, kAt), team_.precedes(sync.where, kAt, t, kTo));
    TILEWRIGHT_TRY(rest, minus(edge, serial(sync.where.loops), {},
                               both(both(executed(sync.where, kAt, s, t), between), {group}),
                               std::move(left)));
    left = std::move(rest);
  }
  return left;
}

Result<Set> ValueFlow::not_visible(const Edge& edge, const std::vector<SyncPoint>& fences,
                                   const std::vector<SyncPoint>& syncs) const {
  const Where& s = statements_[edge.from].where;
  const Where& t = statements_[edge.to].where;
  Set left = edge.pairs;
  for (const SyncPoint& fence : fences) {
    // By the agent of the operation, and by one that knows of the write.
    BasicSet own;
    for (const Item* loop : common_loops(fence.where, t))
      if (loop->bind()) own.equal(var(*loop, kAt), var(*loop, kTo));
    BasicSet alone;
    for (const Item* loop : common_loops(s, t))
      if (loop->bind()) alone.equal(var(*loop, kFrom), var(*loop, kTo));
    const std::vector<BasicSet> after = both(
        both(executed(fence.where, kAt, s, t), team_.precedes(fence.where, kAt, t, kTo)), {own});
    TILEWRIGHT_TRY(rest,
                   minus(edge, fence.where.loops, {},
                         both(both(after, team_.precedes(s, kFrom, fence.where, kAt)), {alone}),
                         std::move(left)));
    left = std::move(rest);
    for (const SyncPoint& sync : syncs) {
      const std::vector<BasicSet> before = both(
          both(executed(sync.where, kOther, s, t), team_.precedes(s, kFrom, sync.where, kOther)),
          team_.precedes(sync.where, kOther, fence.where, kAt));
      TILEWRIGHT_TRY(less, minus(edge, fence.where.loops, serial(sync.where.loops),
                                 both(after, before), std::move(left)));
      left = std::move(less);
    }
  }
  return left;
}

}  // namespace tilewright::build
