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

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

ValueFlow::ValueFlow(const Team& team, poly::Context& polyhedra,
                     const std::vector<RoleOrder>& orders)
    : team_(team), polyhedra_(polyhedra), statements_(team.statements()) {
  first_end_ = statements_.size();
  add_ends();
  first_order_ = statements_.size();
  add_orders(orders);
}

// An operation must be known to be done when a memory that it uses ends, and when the team ends: for the agent
// that started it, or, where the memory is one for several roles, when these have joined.
void ValueFlow::add_ends() {
  std::vector<Gap> gaps;
  const auto add = [&](const Item* owner, const Statement& op) {
    // Inside the innermost split into agents that the operation stands in.
    for (const auto& [around, arm] : op.where.chain)
      if (around->bind() && owner->role == op.where.role &&
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
    return team_.where(a, 0, {}).path < team_.where(b, 0, {}).path;
  });
  for (const Gap& gap : gaps)
    statements_.push_back({nullptr, team_.where(gap, 0, gap.owner->role), false, {}, gap});
}

// Iteration k of one role ends before iteration k + distance of another begins.
void ValueFlow::add_orders(const std::vector<RoleOrder>& orders) {
  for (const RoleOrder& order : orders) {
    const Item* loop = team_.find_loop(order.loop);
    if (!loop) continue;
    // Before and after all that stands in the gap.
    const auto add = [&](Symbol role, std::size_t index, int rank) {
      const Gap gap{loop, 0, index};
      statements_.push_back({nullptr, team_.where(gap, rank, role), false, {}, gap});
    };
    add(order.before, loop->arms[0].size(), -1);
    add(order.after, 0, static_cast<int>(PointKind::Fence) + 1);
    const std::size_t to = statements_.size() - 1;
    const Where& s = statements_[to - 1].where;
    const Where& t = statements_[to].where;
    BasicSet set;
    (void)team_.constrain(s, kFrom, set);
    (void)team_.constrain(t, kTo, set);
    for (const Item* around : common_loops(s, t))
      set.equal(var(*around, kTo),
                var(*around, kFrom) + AffineExpr(around == loop ? order.distance : 0));
    orders_.push_back(
        {EdgeKind::Order, false, to - 1, to,
         Set({team_.params(), team_.names(s.loops, kFrom) + team_.names(t.loops, kTo)}, set)});
  }
}

// Uses of a ring that counts on over loops: the same use, or so many uses apart as there are slots, or more. Of those
// that are more, all stand here: what lies between them orders them too.
Result<std::vector<BasicSet>> ValueFlow::same_slot(const Access& a, const Access& b,
                                                   std::size_t dim, const BasicSet& set) const {
  const std::vector<BasicSet> any = {BasicSet()};
  const auto* slot_a = a.index[dim].as<ir::Var>();
  const auto* slot_b = b.index[dim].as<ir::Var>();
  if (!slot_a || !slot_b) return any;
  std::int64_t depth = 0;
  std::int64_t other_depth = 0;
  const Expr use_a = team_.use_of_slot(slot_a->name, &depth);
  const Expr use_b = team_.use_of_slot(slot_b->name, &other_depth);
  if (!use_a || !use_b || depth != other_depth) return any;
  const auto x = team_.digits(use_a, kFrom);
  const auto y = team_.digits(use_b, kTo);
  if (!x || !y || !are_comparable(*x, *y)) return any;
  // The lemma holds for digits that are in range.
  const poly::Space space{team_.params(),
                          team_.names(a.where.loops, kFrom) + team_.names(b.where.loops, kTo)};
  TILEWRIGHT_TRY(all, poly::intersect_params(polyhedra_, Set(space, set), team_.facts()));
  for (const Digits* number : {&*x, &*y}) {
    TILEWRIGHT_TRY(within, poly::is_subset(polyhedra_, all, Set(all.space(), in_range(*number))));
    if (!within) return any;
  }
  std::vector<BasicSet> out = later_by(*x, *y, 0);
  for (BasicSet& piece : later_by_at_least(*x, *y, depth)) out.push_back(std::move(piece));
  for (BasicSet& piece : later_by_at_least(*y, *x, depth)) out.push_back(std::move(piece));
  return out;
}

Result<std::vector<BasicSet>> ValueFlow::touch(const Access& a, const Access& b,
                                               BasicSet set) const {
  if (a.index.size() != b.index.size()) return std::vector<BasicSet>{set};
  std::vector<BasicSet> slots = {BasicSet()};
  for (std::size_t d = 0; d < a.index.size(); ++d) {
    const auto x = team_.value(a.index[d], kFrom);
    const auto y = team_.value(b.index[d], kTo);
    if (!x && !y) {
      TILEWRIGHT_TRY(same, same_slot(a, b, d, set));
      slots = both(slots, same);
    }
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
  return both(slots, {set});
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
  return poly::intersect_params(polyhedra_, Set({team_.params(), dims}, set), team_.facts());
}

Result<Set> ValueFlow::pairs(const Statement& s, const Statement& t, Conflict conflict,
                             bool other_agents) const {
  const std::vector<std::string> dims =
      team_.names(s.where.loops, kFrom) + team_.names(t.where.loops, kTo);
  Set out({team_.params(), dims});
  std::vector<BasicSet> order = team_.precedes(s.where, kFrom, t.where, kTo);
  if (other_agents && s.where.role == t.where.role) {
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
      if (!(a.buffer == b.buffer)) continue;
      const bool flow = a.writes && !b.writes;
      if (conflict == Conflict::Flow    ? !flow
          : conflict == Conflict::Reuse ? flow || !b.writes
                                        : !a.writes || team_.is_private_space(a.buffer))
        continue;
      BasicSet base;
      (void)team_.constrain(a.where, kFrom, base);
      (void)team_.constrain(b.where, kTo, base);
      if (const Item* alloc = team_.alloc_of(a.buffer))
        for (const Item* loop : team_.where(*alloc).loops)
          base.equal(var(*loop, kFrom), var(*loop, kTo));
      TILEWRIGHT_TRY(meet, touch(a, b, base));
      const Set full(
          {team_.params(), team_.names(a.where.loops, kFrom) + team_.names(b.where.loops, kTo)},
          both(meet, order));
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
  const auto add = [&](EdgeKind kind, bool seen, std::size_t from, std::size_t to,
                       Result<Set> found) -> Result<Ok> {
    if (!found.ok()) return std::move(found).failure();
    TILEWRIGHT_TRY(empty, is_empty(*found));
    if (!empty) out.push_back({kind, seen, from, to, std::move(*found)});
    return Ok{};
  };
  for (std::size_t to = 0; to < first_order_; ++to) {
    for (std::size_t from = 0; from < first_end_; ++from) {
      const Statement& s = statements_[from];
      const Statement& t = statements_[to];
      if (is_end(to)) {
        if (s.is_async)
          TILEWRIGHT_CHECK_OK(add(EdgeKind::Completion, false, from, to, ends_before(s, t)));
        continue;
      }
      const EdgeKind kind = s.is_async ? EdgeKind::Completion : EdgeKind::Order;
      for (const Conflict conflict : {Conflict::Flow, Conflict::Reuse})
        TILEWRIGHT_CHECK_OK(
            add(kind, conflict == Conflict::Flow, from, to, pairs(s, t, conflict, !s.is_async)));
      if (t.is_async && !s.is_async)
        TILEWRIGHT_CHECK_OK(
            add(EdgeKind::Visibility, true, from, to, pairs(s, t, Conflict::Written, false)));
    }
  }
  for (const Edge& order : orders_)
    TILEWRIGHT_CHECK_OK(add(EdgeKind::Order, false, order.from, order.to,
                            poly::intersect_params(polyhedra_, order.pairs, team_.facts())));
  return out;
}

Result<Set> ValueFlow::not_kept(const Edge& edge, const SyncPlan& plan) const {
  switch (edge.kind) {
    case EdgeKind::Completion: return not_awaited(edge, plan);
    case EdgeKind::Order: return not_ordered(edge, plan);
    case EdgeKind::Visibility: return not_visible(edge, plan);
  }
  __builtin_unreachable();
}

Result<Set> ValueFlow::not_awaited(const Edge& edge, const SyncPlan& plan) const {
  const Statement& t = statements_[edge.to];
  const Known known(team_, polyhedra_, statements_, plan);
  Set left = edge.pairs;
  for (const WaitPoint& wait : plan.waits) {
    if (wait.source != edge.from) continue;
    if (is_end(edge.to) && wait.gap == t.gap && wait.where.role == t.where.role) {
      BasicSet same;
      for (const Item* loop : t.where.loops) same.equal(var(*loop, kAt), var(*loop, kTo));
      const std::vector<std::string>& dims = edge.pairs.space().dims;
      const Set full({team_.params(), dims + team_.names(wait.where.loops, kAt)},
                     both(wait.awaits.pieces(), {same}));
      TILEWRIGHT_TRY(kept, keep(full, dims));
      TILEWRIGHT_TRY(rest, poly::subtract(polyhedra_, left, kept));
      left = std::move(rest);
    }
    Question question{&wait.where,
                      kAt,
                      &t.where,
                      kTo,
                      edge.seen,
                      wait.awaits.pieces(),
                      team_.names(wait.where.loops, kAt),
                      {{&t.where, kTo}}};
    TILEWRIGHT_TRY(rest, known.without(question, std::move(left)));
    left = std::move(rest);
  }
  return left;
}

Result<Set> ValueFlow::not_ordered(const Edge& edge, const SyncPlan& plan) const {
  const Where& s = statements_[edge.from].where;
  const Where& t = statements_[edge.to].where;
  const Question question{&s,        kFrom,        &t, kTo,
                          edge.seen, {BasicSet()}, {}, {{&s, kFrom}, {&t, kTo}}};
  return Known(team_, polyhedra_, statements_, plan).without(question, edge.pairs);
}

Result<Set> ValueFlow::not_visible(const Edge& edge, const SyncPlan& plan) const {
  const Where& s = statements_[edge.from].where;
  const Where& t = statements_[edge.to].where;
  const Known known(team_, polyhedra_, statements_, plan);
  Set left = edge.pairs;
  for (const SyncPoint& fence : plan.fences) {
    // By the agent of the operation, and by one that knows of the write.
    const auto own = known.same_agent(fence.where, kAt, t, kTo);
    if (!own || !(fence.where.role == t.role)) continue;
    Question question{&s, kFrom, &fence.where, kAt, true, {}, {}, {{&s, kFrom}, {&t, kTo}}};
    question.given = both(both(known.executed(fence.where, kAt, question.executed),
                               team_.precedes(fence.where, kAt, t, kTo)),
                          {*own});
    question.dims = team_.names(fence.where.loops, kAt);
    if (question.given.empty()) continue;
    TILEWRIGHT_TRY(rest, known.without(question, std::move(left)));
    left = std::move(rest);
  }
  return left;
}

}  // namespace tilewright::build
