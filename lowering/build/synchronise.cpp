// SPDX-License-Identifier: Apache-2.0
//
// Where waits, syncs and fences stand. How they are written: sync_emitter.cpp.
#include "lowering/build/synchronise.h"

#include <algorithm>

#include "frontend/base/format.h"
#include "lowering/build/sync_emitter.h"
#include "lowering/build/value_flow.h"
#include "lowering/program/text.h"

namespace tilewright::build {

using poly::Set;
using program::Scope;

namespace {

std::string shown(const Statement& statement) {
  return statement.item ? in_backticks(program::headline(statement.item->stmt))
                        : "the end of the memory";
}

class Synchroniser {
 public:
  Synchroniser(const Team& team, poly::Context& polyhedra, Scope scope)
      : team_(team), polyhedra_(polyhedra), flow_(team, polyhedra), scope_(scope) {}

  Result<SyncPlan> run() {
    TILEWRIGHT_TRY(edges, flow_.edges());
    edges_ = std::move(edges);
    TILEWRIGHT_CHECK_OK(place_syncs());
    TILEWRIGHT_CHECK_OK(place_waits());
    TILEWRIGHT_CHECK_OK(place_fences());
    TILEWRIGHT_CHECK_OK(drop_implied());
    return SyncPlan{std::move(waits_), std::move(syncs_), std::move(fences_)};
  }

 private:
  Result<Set> uncovered(const Edge& edge) const {
    switch (edge.kind) {
      case EdgeKind::Completion: return flow_.not_awaited(edge, waits_, syncs_);
      case EdgeKind::Order: return flow_.not_ordered(edge, syncs_);
      case EdgeKind::Visibility: return flow_.not_visible(edge, fences_, syncs_);
    }
    __builtin_unreachable();
  }

  Failure refuse(const Edge& edge, const std::string& why, const Set& left) const {
    const Statement& s = flow_.statements()[edge.from];
    const Statement& t = flow_.statements()[edge.to];
    Diagnostic d{
        Code::EdgeNotKept,
        {},
        shown(s) + " must come before " + shown(t) + ", and " + why,
        "place the copy or the bound loops further out, so that all agents meet between the two",
        {},
        {}};
    if (auto point = poly::smallest_point(polyhedra_, left); point.ok() && *point)
      d.evidence.emplace_back("instances", (*point)->text());
    return fail(std::move(d));
  }

  // Edges of one kind by the text order of their second end.
  std::vector<const Edge*> in_order(EdgeKind kind) const {
    std::vector<const Edge*> out;
    for (const Edge& edge : edges_)
      if (edge.kind == kind) out.push_back(&edge);
    std::stable_sort(out.begin(), out.end(), [&](const Edge* a, const Edge* b) {
      return flow_.statements()[a->to].where.path < flow_.statements()[b->to].where.path;
    });
    return out;
  }

  // Before what needs the operation, in the innermost loop around it that other operations run in too: not in
  // the loops of one computation. A guard that is not quasi-affine is no place to wait in, unless the operation
  // stands in it too.
  Gap wait_gap(std::size_t from, std::size_t to) const {
    if (flow_.is_end(to)) return flow_.end_gap(to);
    const Statement& t = flow_.statements()[to];
    std::vector<const Item*> way;
    for (const auto& [around, arm] : t.where.chain) way.push_back(around);
    way.push_back(t.item);
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < way.size(); ++i)
      if (way[i]->is_loop() && team_.holds_async(*way[i])) at = i + 1;
    for (; at + 1 < way.size(); ++at) {
      const Item& item = *way[at];
      poly::BasicSet scratch;
      if (item.is_loop() || item.stmt.as<program::While>()) break;
      const auto& around = flow_.statements()[from].where.chain;
      const bool both = std::find(around.begin(), around.end(), t.where.chain[at]) != around.end();
      if (item.stmt.as<program::If>() && !both &&
          !team_.constrain_by(item, t.where.chain[at].second, kAt, scratch))
        break;
    }
    return {way[at]->parent, way[at]->arm, way[at]->index};
  }

  Result<Ok> place_waits() {
    for (const Edge* edge : in_order(EdgeKind::Completion)) {
      TILEWRIGHT_TRY(left, flow_.not_awaited(*edge, waits_, syncs_));
      TILEWRIGHT_TRY(none, flow_.is_empty(left));
      if (none) continue;
      WaitPoint wait{edge->from, wait_gap(edge->from, edge->to), {}, left};
      wait.where = team_.where(wait.gap, static_cast<int>(PointKind::Wait));
      TILEWRIGHT_TRY(awaits, first_need(*edge, wait.where, left));
      wait.awaits = std::move(awaits);
      waits_.push_back(std::move(wait));
      TILEWRIGHT_TRY(rest, flow_.not_awaited(*edge, waits_, syncs_));
      TILEWRIGHT_TRY(kept, flow_.is_empty(rest));
      if (!kept) return refuse(*edge, "no wait between them is for that operation alone", rest);
    }
    return Ok{};
  }

  // Each operation is awaited by the first instance of the wait that needs it. The loops of the wait are those
  // of the edge's second end that it stands in.
  Result<Set> first_need(const Edge& edge, const Where& wait, const Set& left) const {
    const auto op = ValueFlow::serial(flow_.statements()[edge.from].where.loops);
    const std::vector<std::string> in_wait = team_.names(wait.loops, kTo);
    const std::vector<std::string> of_op = team_.names(op, kFrom);
    std::vector<std::string> both_ends = of_op;
    both_ends.insert(both_ends.end(), in_wait.begin(), in_wait.end());
    TILEWRIGHT_TRY(needs, flow_.keep(left, both_ends));
    std::vector<std::string> given = of_op;
    std::vector<std::string> found;
    for (const Item* loop : wait.loops)
      (loop->bind() ? given : found).push_back(Team::name(*loop, kTo));
    const poly::Map relation({needs.space().params, given, found}, needs.pieces());
    TILEWRIGHT_TRY(first, poly::lexmin(polyhedra_, relation));
    // Over the loops of the wait itself from here on.
    std::vector<std::string> dims = team_.names(wait.loops, kAt);
    dims.insert(dims.end(), of_op.begin(), of_op.end());
    std::vector<poly::BasicSet> pieces;
    for (const poly::BasicSet& piece : first.pieces()) {
      poly::BasicSet renamed;
      const auto rename = [&](poly::AffineExpr e) {
        for (const Item* loop : wait.loops)
          e = e.renamed(Team::name(*loop, kTo), Team::name(*loop, kAt));
        return e;
      };
      for (const auto& e : piece.equalities) renamed.equalities.push_back(rename(e));
      for (const auto& e : piece.inequalities) renamed.inequalities.push_back(rename(e));
      pieces.push_back(std::move(renamed));
    }
    return Set({first.space().params, dims}, std::move(pieces));
  }

  // The latest gap that is on every way: before the second end, in the innermost body that holds both.
  Gap sync_gap(const Statement& s, const Statement& t) const {
    std::size_t shared = 0;
    while (shared < s.where.chain.size() && shared < t.where.chain.size() &&
           s.where.chain[shared] == t.where.chain[shared])
      ++shared;
    const Item* child = shared < t.where.chain.size() ? t.where.chain[shared].first : t.item;
    Gap gap{child->parent, child->arm, child->index};
    while (!team_.is_uniform(gap)) gap = {gap.owner->parent, gap.owner->arm, gap.owner->index};
    return gap;
  }

  // Who meets: the agents inside of the splits that both ends share, narrowest first.
  std::vector<Scope> meeting_scopes(const Statement& s, const Statement& t) const {
    std::vector<Scope> out = {scope_};
    for (const Item* loop : common_loops(s.where, t.where))
      if (loop->bind()) out.insert(out.begin(), loop->bind()->scope);
    out.erase(out.begin());  // an agent alone
    return out;
  }

  Result<Ok> place_syncs() {
    for (const Edge* edge : in_order(EdgeKind::Order)) {
      TILEWRIGHT_TRY(left, flow_.not_ordered(*edge, syncs_));
      TILEWRIGHT_TRY(none, flow_.is_empty(left));
      if (none) continue;
      const Statement& s = flow_.statements()[edge->from];
      const Statement& t = flow_.statements()[edge->to];
      SyncPoint sync{sync_gap(s, t), {}, scope_};
      sync.where = team_.where(sync.gap, static_cast<int>(PointKind::Sync));
      bool kept = false;
      for (Scope scope : meeting_scopes(s, t)) {
        sync.scope = scope;
        syncs_.push_back(sync);
        TILEWRIGHT_TRY(rest, flow_.not_ordered(*edge, syncs_));
        TILEWRIGHT_TRY(all, flow_.is_empty(rest));
        kept = all;
        if (kept) break;
        left = std::move(rest);
        syncs_.pop_back();
      }
      if (!kept) return refuse(*edge, "their agents do not meet between them", left);
    }
    return Ok{};
  }

  Result<Ok> place_fences() {
    for (const Edge* edge : in_order(EdgeKind::Visibility)) {
      TILEWRIGHT_TRY(left, flow_.not_visible(*edge, fences_, syncs_));
      TILEWRIGHT_TRY(none, flow_.is_empty(left));
      if (none) continue;
      const Item& operation = *flow_.statements()[edge->to].item;
      SyncPoint fence{{operation.parent, operation.arm, operation.index}, {}, scope_};
      fence.where = team_.where(fence.gap, static_cast<int>(PointKind::Fence));
      fences_.push_back(std::move(fence));
      TILEWRIGHT_TRY(rest, flow_.not_visible(*edge, fences_, syncs_));
      TILEWRIGHT_TRY(all, flow_.is_empty(rest));
      if (!all)
        return refuse(*edge, "no fence between them is by an agent that knows of the write", rest);
    }
    return Ok{};
  }

  Result<bool> all_kept() const {
    for (const Edge& edge : edges_) {
      auto left = uncovered(edge);
      if (!left.ok()) return false;  // past the limit of work: not known to be kept
      TILEWRIGHT_TRY(none, flow_.is_empty(*left));
      if (!none) return false;
    }
    return true;
  }

  template <class Point>
  Result<Ok> drop_implied(std::vector<Point>& points) {
    for (std::size_t i = 0; i < points.size();) {
      const Point point = points[i];
      points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
      TILEWRIGHT_TRY(kept, all_kept());
      if (kept) continue;
      points.insert(points.begin() + static_cast<std::ptrdiff_t>(i), point);
      ++i;
    }
    return Ok{};
  }

  Result<Ok> drop_implied() {
    TILEWRIGHT_CHECK_OK(drop_implied(fences_));
    TILEWRIGHT_CHECK_OK(drop_implied(syncs_));
    return drop_implied(waits_);
  }

  const Team& team_;
  poly::Context& polyhedra_;
  ValueFlow flow_;
  Scope scope_;
  std::vector<Edge> edges_;
  std::vector<WaitPoint> waits_;
  std::vector<SyncPoint> syncs_;
  std::vector<SyncPoint> fences_;
};

// Each team of a Program: the agents of a block or core, or of a launch or a member of a set that has none.
class Teams {
 public:
  Teams(ir::Context& context, poly::Context& polyhedra, const program::Program& program,
        Tells tells)
      : context_(context),
        polyhedra_(polyhedra),
        program_(program),
        names_(program),
        tells_(tells) {}

  Result<Stmt> run(Stmt stmt, std::vector<Stmt> outer) {
    const auto* bind = stmt.as<program::Bind>();
    const Scope scope = team_scope(stmt);
    const bool is_team = scope != Scope::None && !holds_teams(stmt);
    if (stmt.as<program::For>() || bind) outer.push_back(stmt);
    std::optional<Failure> failed;
    const Stmt out = program::map_parts(context_, stmt, [&](std::string_view, auto part) {
      if constexpr (std::is_same_v<decltype(part), Stmt>) {
        auto inside = is_team ? team(part, outer, scope) : run(part, outer);
        if (inside.ok()) return *inside;
        failed = std::move(inside).failure();
      }
      return part;
    });
    if (failed) return *failed;
    return out;
  }

 private:
  // Of what may be a team; None: it is none.
  static Scope team_scope(Stmt stmt) {
    const auto* bind = stmt.as<program::Bind>();
    const auto* role = stmt.as<program::Role>();
    const Scope scope = bind ? bind->scope : role ? role->scope : Scope::None;
    return stmt.as<program::Kernel>() ? Scope::Device : scope >= Scope::Block ? scope : Scope::None;
  }

  static bool holds_teams(Stmt stmt) {
    bool found = false;
    program::walk(stmt,
                  [&](Stmt s) { found = found || (team_scope(s) != Scope::None && !(s == stmt)); });
    return found;
  }

  Result<Stmt> team(Stmt body, const std::vector<Stmt>& outer, Scope scope) {
    const Team team(context_, program_, body, outer);
    if (!team.has_agents() && !team.has_async()) return body;
    TILEWRIGHT_TRY(plan, Synchroniser(team, polyhedra_, scope).run());
    return SyncEmitter(context_, polyhedra_, team, plan, tells_, names_).run();
  }

  ir::Context& context_;
  poly::Context& polyhedra_;
  const program::Program& program_;
  FreshNames names_;
  Tells tells_;
};

}  // namespace

Result<program::Program> synchronise(ir::Context& context, poly::Context& polyhedra,
                                     const program::Program& program, Tells tells) {
  program::Program out = program;
  TILEWRIGHT_TRY(body, Teams(context, polyhedra, program, tells).run(program.body, {}));
  out.body = body;
  return out;
}

}  // namespace tilewright::build
