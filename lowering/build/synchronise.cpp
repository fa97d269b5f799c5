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
  Synchroniser(ir::Context& context, const Team& team, poly::Context& polyhedra, Scope scope,
               Tells tells, const std::vector<RoleOrder>& orders)
      : team_(team), polyhedra_(polyhedra), flow_(team, polyhedra, orders), scope_(scope) {
    const std::vector<Statement>& statements = flow_.statements();
    plan_.first_signal = statements.size();
    for (std::size_t i = 0; i < statements.size(); ++i)
      if (tells == Tells::Bytes && statements[i].is_async && bytes_of(context, *statements[i].item))
        plan_.announced.insert(i);
  }

  Result<SyncPlan> run() {
    TILEWRIGHT_TRY(edges, flow_.edges());
    edges_ = std::move(edges);
    TILEWRIGHT_CHECK_OK(place_orders());
    TILEWRIGHT_CHECK_OK(place_waits());
    TILEWRIGHT_CHECK_OK(await_once());
    TILEWRIGHT_CHECK_OK(place_fences());
    TILEWRIGHT_CHECK_OK(drop_implied());
    return std::move(plan_);
  }

 private:
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

  // The statement and what it stands in. Without an item: none.
  static std::vector<const Item*> way_to(const Statement& statement) {
    std::vector<const Item*> way;
    for (const auto& [around, arm] : statement.where.chain) way.push_back(around);
    way.push_back(statement.item);
    return way;
  }

  // The innermost loop around a statement that operations, or other roles, run in too: not those of one computation.
  std::size_t below_others(const std::vector<const Item*>& way, Symbol role,
                           bool operations) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < way.size(); ++i)
      if ((operations && way[i]->is_loop() && team_.holds_async(*way[i])) ||
          (role.valid() && team_.holds_others(*way[i], role)))
        at = i + 1;
    return at;
  }

  // Before what needs the source. A guard that is not quasi-affine is no place to wait in, unless the source
  // stands in it too.
  Gap wait_gap(const Where& source, std::size_t to) const {
    const Statement& t = flow_.statements()[to];
    if (!t.item) return t.gap;
    const std::vector<const Item*> way = way_to(t);
    std::size_t at = below_others(way, t.where.role, true);
    for (; at + 1 < way.size(); ++at) {
      const Item& item = *way[at];
      poly::BasicSet scratch;
      if (item.is_loop() || item.stmt.as<program::While>()) break;
      if (item.stmt.as<program::If>() && !is_around(&item, source) &&
          !team_.constrain_by(item, t.where.chain[at].second, kAt, scratch))
        break;
    }
    return {way[at]->parent, way[at]->arm, way[at]->index};
  }

  // After what is told of, as often for each agent of the role: a guard that the same agents do not pass each time is
  // left.
  Gap signal_gap(std::size_t from, const Where& reader) const {
    const Statement& s = flow_.statements()[from];
    if (!s.item) return s.gap;
    const std::vector<const Item*> way = way_to(s);
    std::size_t at = below_others(way, s.where.role, false);
    for (; at + 1 < way.size(); ++at) {
      const Item& item = *way[at];
      poly::BasicSet scratch;
      if (item.is_loop() || item.bind() || item.stmt.as<program::While>()) break;
      const auto* branch = item.stmt.as<program::If>();
      if (branch && ((team_.depends_on_agent(branch->condition) &&
                      !team_.depends_on_agent_alone(branch->condition)) ||
                     (!is_around(&item, reader) &&
                      !team_.constrain_by(item, s.where.chain[at].second, kAt, scratch))))
        break;
    }
    return {way[at]->parent, way[at]->arm, way[at]->index + 1};
  }

  Result<Ok> place_waits() {
    for (const Edge* edge : in_order(EdgeKind::Completion)) {
      TILEWRIGHT_TRY(left, flow_.not_kept(*edge, plan_));
      TILEWRIGHT_TRY(none, flow_.is_empty(left));
      if (none) continue;
      const Statement& op = flow_.statements()[edge->from];
      TILEWRIGHT_CHECK_OK(
          add_wait(*edge, edge->from, op.where, wait_gap(op.where, edge->to), left));
      TILEWRIGHT_TRY(rest, flow_.not_kept(*edge, plan_));
      TILEWRIGHT_TRY(kept, flow_.is_empty(rest));
      if (!kept) return refuse(*edge, "no wait between them is for that operation alone", rest);
    }
    return Ok{};
  }

  // What an agent has waited for at one place it knows at another; a phase is not waited for twice.
  Result<Ok> await_once() {
    const Known known(team_, polyhedra_, flow_.statements(), plan_);
    for (WaitPoint& wait : plan_.waits)
      for (const WaitPoint& other : plan_.waits) {
        if (&wait == &other || wait.source != other.source) continue;
        const auto own = known.same_agent(wait.where, kAt, other.where, kOther);
        const auto order = team_.precedes(other.where, kOther, wait.where, kAt);
        if (!own || order.empty()) continue;
        std::vector<poly::BasicSet> before = other.awaits.pieces();
        for (poly::BasicSet& piece : before)
          for (auto* exprs : {&piece.equalities, &piece.inequalities})
            for (poly::AffineExpr& e : *exprs)
              for (const Item* loop : other.where.loops)
                e = e.renamed(Team::name(*loop, kAt), Team::name(*loop, kOther));
        const std::vector<std::string> dims = wait.awaits.space().dims;
        std::vector<std::string> all = dims;
        for (const std::string& name : team_.names(other.where.loops, kOther)) all.push_back(name);
        const Set known_there({team_.params(), all},
                              both(both(wait.awaits.pieces(), before), both(order, {*own})));
        TILEWRIGHT_TRY(known_uses, flow_.keep(known_there, dims));
        TILEWRIGHT_TRY(rest, poly::subtract(polyhedra_, wait.awaits, known_uses));
        TILEWRIGHT_TRY(fewer, poly::simplify(polyhedra_, rest));
        wait.awaits = Set({fewer.space().params, dims}, fewer.pieces());
      }
    return Ok{};
  }

  Result<Ok> add_wait(const Edge& edge, std::size_t source, const Where& told, const Gap& gap,
                      const Set& left) {
    WaitPoint wait{source, gap, {}, left, number_of(edge)};
    wait.where = team_.where(wait.gap, static_cast<int>(PointKind::Wait),
                             flow_.statements()[edge.to].where.role);
    TILEWRIGHT_TRY(awaits, first_need(told, wait.where, left));
    wait.awaits = std::move(awaits);
    plan_.waits.push_back(std::move(wait));
    return Ok{};
  }

  // Each instance of what is awaited by the first instance of the wait that needs it. The loops of the wait are those
  // of the edge's second end that it stands in; those of the source are of the first end.
  Result<Set> first_need(const Where& source, const Where& wait, const Set& left) const {
    const auto op = serial(source.loops);
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
    // Chains multiply its cases.
    return poly::simplify(polyhedra_, Set({first.space().params, dims}, std::move(pieces)));
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

  // Who meets: the agents inside of the splits that both ends share, narrowest first; all of a role at most.
  std::vector<Scope> meeting_scopes(const Statement& s, const Statement& t) const {
    const program::Role* role = team_.find_role(s.where.role);
    std::vector<Scope> out = {role ? role->scope : scope_};
    for (const Item* loop : common_loops(s.where, t.where))
      if (loop->bind()) out.insert(out.begin(), loop->bind()->scope);
    const Scope alone = out.front();
    std::erase_if(out, [&](Scope scope) { return scope <= alone; });
    return out;
  }

  // Agents of one role meet; one role tells another.
  Result<Ok> place_orders() {
    for (const Edge* edge : in_order(EdgeKind::Order)) {
      TILEWRIGHT_TRY(left, flow_.not_kept(*edge, plan_));
      TILEWRIGHT_TRY(none, flow_.is_empty(left));
      if (none) continue;
      const bool one_role =
          flow_.statements()[edge->from].where.role == flow_.statements()[edge->to].where.role;
      TILEWRIGHT_CHECK_OK(one_role ? place_sync(*edge, std::move(left))
                                   : place_signal(*edge, left));
    }
    return Ok{};
  }

  Result<Ok> place_sync(const Edge& edge, Set left) {
    const Statement& s = flow_.statements()[edge.from];
    const Statement& t = flow_.statements()[edge.to];
    SyncPoint sync{sync_gap(s, t), {}, scope_, number_of(edge)};
    sync.where = team_.where(sync.gap, static_cast<int>(PointKind::Sync), t.where.role);
    for (Scope scope : meeting_scopes(s, t)) {
      sync.scope = scope;
      plan_.syncs.push_back(sync);
      TILEWRIGHT_TRY(rest, flow_.not_kept(edge, plan_));
      TILEWRIGHT_TRY(kept, flow_.is_empty(rest));
      if (kept) return Ok{};
      left = std::move(rest);
      plan_.syncs.pop_back();
    }
    return refuse(edge, "their agents do not meet between them", left);
  }

  Result<Ok> place_signal(const Edge& edge, const Set& left) {
    const Statement& s = flow_.statements()[edge.from];
    const Statement& t = flow_.statements()[edge.to];
    SignalPoint signal{signal_gap(edge.from, t.where), {}, name_of(edge), s.item};
    signal.where = team_.where(signal.gap, static_cast<int>(PointKind::Signal), s.where.role);
    const Where told = signal.where;
    const Gap gap = wait_gap(told, edge.to);
    plan_.signals.push_back(std::move(signal));
    TILEWRIGHT_CHECK_OK(
        add_wait(edge, plan_.first_signal + plan_.signals.size() - 1, told, gap, left));
    // By the order of the text everything comes to an end.
    const WaitPoint& wait = plan_.waits.back();
    const std::vector<std::string>& dims = wait.awaits.space().dims;
    const Set early({team_.params(), dims},
                    both(wait.awaits.pieces(), team_.precedes(told, kFrom, wait.where, kAt)));
    TILEWRIGHT_TRY(late, poly::subtract(polyhedra_, wait.awaits, early));
    TILEWRIGHT_TRY(in_time, flow_.is_empty(late));
    if (!in_time) return refuse(edge, "no place between them is of both roles alone", late);
    TILEWRIGHT_TRY(rest, flow_.not_kept(edge, plan_));
    TILEWRIGHT_TRY(kept, flow_.is_empty(rest));
    if (!kept) return refuse(edge, "no wait between them is for it alone", rest);
    return Ok{};
  }

  // After the memory, and whether it holds something then or may be used again.
  std::string name_of(const Edge& edge) const {
    for (const Access& a : flow_.statements()[edge.from].accesses)
      for (const Access& b : flow_.statements()[edge.to].accesses)
        if (a.buffer == b.buffer && (a.writes || b.writes))
          return std::string(a.buffer.text()) + (edge.seen ? "_full" : "_empty");
    return "turn";
  }

  Result<Ok> place_fences() {
    for (const Edge* edge : in_order(EdgeKind::Visibility)) {
      TILEWRIGHT_TRY(left, flow_.not_kept(*edge, plan_));
      TILEWRIGHT_TRY(none, flow_.is_empty(left));
      if (none) continue;
      const Item& operation = *flow_.statements()[edge->to].item;
      SyncPoint fence{
          {operation.parent, operation.arm, operation.index}, {}, scope_, number_of(*edge)};
      fence.where = team_.where(fence.gap, static_cast<int>(PointKind::Fence), operation.role);
      plan_.fences.push_back(std::move(fence));
      TILEWRIGHT_TRY(rest, flow_.not_kept(*edge, plan_));
      TILEWRIGHT_TRY(all, flow_.is_empty(rest));
      if (!all)
        return refuse(*edge, "no fence between them is by an agent that knows of the write", rest);
    }
    return Ok{};
  }

  std::size_t number_of(const Edge& edge) const {
    return static_cast<std::size_t>(&edge - edges_.data());
  }

  Result<bool> is_kept(const Edge& edge) const {
    auto left = flow_.not_kept(edge, plan_);
    if (!left.ok()) return false;  // past the limit of work: not known to be kept
    return flow_.is_empty(*left);
  }

  // Without a point that was placed for an edge: that one is the first to show it.
  Result<bool> all_kept(std::size_t without) const {
    TILEWRIGHT_TRY(likely, is_kept(edges_[without]));
    if (!likely) return false;
    for (const Edge& edge : edges_) {
      TILEWRIGHT_TRY(kept, is_kept(edge));
      if (!kept) return false;
    }
    return true;
  }

  template <class Point>
  Result<Ok> drop_implied(std::vector<Point>& points) {
    for (std::size_t i = 0; i < points.size();) {
      const Point point = points[i];
      points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
      TILEWRIGHT_TRY(kept, all_kept(point.edge));
      if (kept) continue;
      points.insert(points.begin() + static_cast<std::ptrdiff_t>(i), point);
      ++i;
    }
    return Ok{};
  }

  Result<Ok> drop_implied() {
    TILEWRIGHT_CHECK_OK(drop_implied(plan_.fences));
    TILEWRIGHT_CHECK_OK(drop_implied(plan_.syncs));
    TILEWRIGHT_CHECK_OK(drop_implied(plan_.waits));
    return drop_cases();
  }

  // Of a wait in cases, those that the rest implies. Where several loops number what is awaited, its cases are one rule.
  Result<Ok> drop_cases() {
    for (WaitPoint& wait : plan_.waits) {
      const bool is_op = wait.source < plan_.first_signal;
      const Where& told = is_op ? flow_.statements()[wait.source].where
                                : plan_.signals[wait.source - plan_.first_signal].where;
      if (serial(told.loops).size() > 1 || wait.awaits.pieces().size() < 2) continue;
      const std::vector<poly::BasicSet> cases = wait.awaits.pieces();
      for (const poly::BasicSet& one : cases) {
        const Set before = wait.awaits;
        TILEWRIGHT_TRY(less, poly::subtract(polyhedra_, before, Set(before.space(), one)));
        wait.awaits = Set(before.space(), less.pieces());
        TILEWRIGHT_TRY(kept, all_kept(wait.edge));
        if (!kept) wait.awaits = before;
      }
    }
    return Ok{};
  }

  const Team& team_;
  poly::Context& polyhedra_;
  ValueFlow flow_;
  Scope scope_;
  std::vector<Edge> edges_;
  SyncPlan plan_;
};

// Each team of a Program: the agents of a block or core, or of a launch or a member of a set that has none.
class Teams {
 public:
  Teams(ir::Context& context, poly::Context& polyhedra, const program::Program& program,
        Tells tells, const std::vector<RoleOrder>& orders)
      : context_(context),
        polyhedra_(polyhedra),
        program_(program),
        names_(program),
        tells_(tells),
        orders_(orders) {}

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
    TILEWRIGHT_TRY(plan, Synchroniser(context_, team, polyhedra_, scope, tells_, orders_).run());
    return SyncEmitter(context_, polyhedra_, team, plan, tells_, names_).run();
  }

  ir::Context& context_;
  poly::Context& polyhedra_;
  const program::Program& program_;
  FreshNames names_;
  Tells tells_;
  const std::vector<RoleOrder>& orders_;
};

}  // namespace

Result<program::Program> synchronise(ir::Context& context, poly::Context& polyhedra,
                                     const program::Program& program, Tells tells,
                                     const std::vector<RoleOrder>& orders) {
  program::Program out = program;
  TILEWRIGHT_TRY(body, Teams(context, polyhedra, program, tells, orders).run(program.body, {}));
  out.body = body;
  return out;
}

}  // namespace tilewright::build
