// SPDX-License-Identifier: Apache-2.0
#include "lowering/build/sync_emitter.h"

#include <algorithm>

#include "frontend/base/format.h"
#include "frontend/ir/simplify.h"
#include "lowering/program/text.h"
#include "schedules/polyhedra/bounds.h"

namespace tilewright::build {

using poly::AffineExpr;
using poly::BasicSet;
using poly::Set;
using program::ObjectKind;

FreshNames::FreshNames(const program::Program& program) {
  for (const ir::ExtentDecl& extent : program.extents) used_.emplace(extent.name.text());
  for (const program::Parameter& parameter : program.parameters)
    used_.emplace(parameter.name.text());
  program::walk(program.body, [&](Stmt s) {
    for (Symbol name : program::bound_names(s)) used_.emplace(name.text());
  });
}

namespace {

// Uses, and iterations, by which a wait may run behind or before what it awaits in one expression.
constexpr std::int64_t kMaxBehind = 8;

}  // namespace

Symbol FreshNames::make(ir::Context& context, const std::string& wanted) {
  std::string name = wanted;
  for (int i = 2; !used_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
  return context.symbol(name);
}

SyncEmitter::SyncEmitter(ir::Context& context, poly::Context& polyhedra, const Team& team,
                         const SyncPlan& plan, Tells tells, FreshNames& names)
    : context_(context),
      polyhedra_(polyhedra),
      team_(team),
      plan_(plan),
      tells_(tells),
      names_(names),
      statements_(team.statements()),
      known_(team, polyhedra, statements_, plan) {}

Expr SyncEmitter::use_number(const Object& object, const std::vector<Expr>& loops) const {
  Expr out = context_.index(0);
  for (std::size_t i = 0; i < loops.size(); ++i)
    out = context_.add(context_.mul(out, object.counts[i].length),
                       context_.sub(loops[i], object.counts[i].first));
  return ir::simplify(context_, out, {});
}

namespace {

bool mentions(Stmt stmt, Symbol name) {
  bool found = false;
  program::walk(stmt, [&](Stmt s) {
    program::for_each_part(s, [&](std::string_view, auto part) {
      if constexpr (std::is_same_v<decltype(part), Symbol>) {
        found = found || part == name;
      } else if constexpr (std::is_same_v<decltype(part), Expr>) {
        for (Symbol var : ir::free_vars(part)) found = found || var == name;
        for (const ir::Read* read : ir::reads(part)) found = found || read->tensor == name;
      }
    });
  });
  return found;
}

}  // namespace

// Element and phase of a use, by the names of a `ring` around the statement where there is one for it.
SyncEmitter::Use SyncEmitter::use_at(const Object& object, Expr number, const Where& where) {
  Use use;
  use.number = number;
  if (object.elements == 1) {
    use.element = context_.index(0);
    use.phase = number;
    return use;
  }
  if (const auto* known = number.as<ir::IntConst>()) {
    use.element = context_.index(known->value % object.elements);
    use.phase = context_.index(known->value / object.elements);
    return use;
  }
  for (const auto& [item, arm] : where.chain) {
    const auto* ring = item->stmt.as<program::Ring>();
    if (!ring || ring->depth != object.elements) continue;
    if (!(ir::simplify(context_, team_.written_out(ring->use), {}) == number)) continue;
    use.element = context_.var(ring->slot);
    use.phase = context_.var(ring->phase);
    return use;
  }
  use.slot = names_.make(context_, std::string(object.name.text()) + "_slot");
  use.turn = names_.make(context_, std::string(object.name.text()) + "_turn");
  use.element = context_.var(use.slot);
  use.phase = context_.var(use.turn);
  return use;
}

Stmt SyncEmitter::in_ring(const Object& object, const Use& use, Stmt body) const {
  if (!use.slot.valid()) return body;
  program::Ring ring;
  ring.slot = use.slot;
  ring.phase = use.turn;
  ring.use = use.number;
  ring.depth = object.elements;
  ring.body = body;
  return program::make(context_, ring);
}

Stmt SyncEmitter::one_wait(const Object& object, Expr number, const Where& where) {
  const Use use = use_at(object, number, where);
  program::Wait wait;
  wait.object = object.name;
  const Expr index[] = {use.element};
  wait.indices = index;
  if (object.kind == ObjectKind::Barrier) wait.value = use.phase;
  return in_ring(object, use, program::make(context_, wait));
}

// A comparison for each constraint, each term on the side where it is positive.
Expr SyncEmitter::condition(const Set& set) const {
  Expr any = context_.boolean(false);
  for (const BasicSet& piece : set.pieces()) {
    Expr all = context_.boolean(true);
    const auto add = [&](const AffineExpr& value, ir::OpCode op) {
      AffineExpr above;
      AffineExpr below;
      for (const poly::LinearTerm& term : value.terms())
        (term.coefficient > 0 ? above : below) =
            (term.coefficient > 0 ? above : below) +
            AffineExpr::variable(term.name, std::abs(term.coefficient));
      for (const poly::FloorTerm& term : value.floors())
        (term.coefficient > 0 ? above : below) =
            (term.coefficient > 0 ? above : below) +
            poly::floor_div(term.numerator, term.denominator) * std::abs(term.coefficient);
      (value.constant() > 0 ? above : below) =
          (value.constant() > 0 ? above : below) + AffineExpr(std::abs(value.constant()));
      const Expr a = team_.to_program(above);
      const Expr b = team_.to_program(below);
      all = context_.both(all, op == ir::OpCode::Eq ? context_.op(op, {a, b}) : context_.le(b, a));
    };
    for (const AffineExpr& e : piece.equalities) add(e, ir::OpCode::Eq);
    for (const AffineExpr& e : piece.inequalities) add(e, ir::OpCode::Ge);
    any = context_.op(ir::OpCode::Or, {any, all});
  }
  return ir::simplify(context_, any, {});
}

// The waits of one point for a set of operations: where it holds them, for each of a range of uses. None: they are
// not one range.
Result<std::optional<Stmt>> SyncEmitter::waits_for(const WaitPoint& point, const Set& awaits,
                                                   const Set& assumed) {
  const Object& object = objects_[object_of_.at(point.source)];
  const Where& told = known_.source(point.source);
  TILEWRIGHT_TRY(some, poly::parameter_domain(polyhedra_, awaits));
  TILEWRIGHT_TRY(needed, poly::simplify(polyhedra_, some));
  TILEWRIGHT_TRY(rest, poly::gist(polyhedra_, needed, assumed));
  std::vector<Expr> at;
  std::vector<std::pair<Symbol, std::pair<Expr, Expr>>> several;
  for (const Item* loop : serial(told.loops)) {
    if (!is_within(loop, object.owner)) continue;
    TILEWRIGHT_TRY(bounds, poly::dim_bounds(polyhedra_, awaits, Team::name(*loop, kFrom), assumed));
    const auto lower = team_.to_program(bounds.lower);
    const auto upper = team_.to_program(bounds.upper);
    if (!lower || !upper || !bounds.exact) return std::optional<Stmt>();
    const bool one =
        bounds.upper - bounds.lower == poly::BoundExpr(1) || bounds.extent == poly::BoundExpr(1);
    if (one) {
      at.push_back(ir::simplify(context_, *lower, {}));
      continue;
    }
    if (!several.empty()) return std::optional<Stmt>();
    const Symbol var = names_.make(context_, Team::name(*loop, "") + "_last");
    several.push_back(
        {var, {ir::simplify(context_, *lower, {}), ir::simplify(context_, *upper, {})}});
    at.push_back(context_.var(var));
  }
  Stmt body = one_wait(object, use_number(object, at), point.where);
  for (const auto& [var, range] : several)
    body = program::make_for(context_, program::LoopKind::Serial, var, range.first, range.second,
                             body);
  return std::optional(program::make_if(context_, condition(rest), body));
}

// One wait for the use that is so many before the wait's own, where there is one. None: it is not so. This is how waits
// on a ring that counts on over several loops are; cases would tell apart how many times the inner one runs.
Result<std::optional<Stmt>> SyncEmitter::wait_behind(const WaitPoint& point, const Set& awaits,
                                                     const Set& assumed) {
  const Object& object = objects_[object_of_.at(point.source)];
  const Where& told = known_.source(point.source);
  if (object.counts.size() < 2) return std::optional<Stmt>();
  for (const Count& count : object.counts)
    if (!is_around(count.loop, point.where)) return std::optional<Stmt>();
  const auto source = use_digits(object, kFrom, 0);
  if (!source) return std::optional<Stmt>();
  TILEWRIGHT_TRY(here, poly::intersect_params(polyhedra_, awaits, assumed));
  // By any of the agents that it may be split into.
  BasicSet of_told;
  (void)team_.constrain(told, kFrom, of_told);
  std::vector<std::string> dims = awaits.space().dims;
  std::vector<std::string> agents;
  for (const Item* loop : told.loops)
    if (loop->bind()) agents.push_back(Team::name(*loop, kFrom));
  dims.insert(dims.end(), agents.begin(), agents.end());
  for (const Item* loop : serial(told.loops))
    if (!is_within(loop, object.owner))
      of_told.equal(AffineExpr::variable(Team::name(*loop, kFrom)),
                    AffineExpr::variable(Team::name(*loop, kAt)));
  for (std::int64_t step = 0; step <= 2 * kMaxBehind; ++step) {
    const std::int64_t behind = step % 2 ? -(step + 1) / 2 : step / 2;
    const auto own = use_digits(object, kAt, behind);
    TILEWRIGHT_TRY(within,
                   poly::is_subset(polyhedra_, assumed, Set(assumed.space(), in_range(*own))));
    if (!within) continue;
    for (std::int64_t n = 0; n <= std::max(object.elements, kMaxBehind); ++n) {
      Set all({awaits.space().params, dims}, both(later_by(*source, *own, n), {of_told}));
      if (!agents.empty()) {
        TILEWRIGHT_TRY(by_any, poly::project_out(polyhedra_, all, agents));
        all = std::move(by_any);
      }
      TILEWRIGHT_TRY(such, poly::intersect_params(polyhedra_, all, assumed));
      TILEWRIGHT_TRY(equal, poly::is_equal(polyhedra_, here, such));
      if (!equal) continue;
      std::vector<Expr> loops;
      for (const Count& count : object.counts)
        loops.push_back(context_.var(count.loop->stmt.as<program::For>()->var));
      loops.back() = context_.sub(loops.back(), context_.index(behind));
      const Expr number = use_number(object, loops);
      // There is one, from the n-th on.
      Digits none = *own;
      for (AffineExpr& digit : none.digit) digit = AffineExpr(0);
      const Set from_there(assumed.space(), n == 0 ? std::vector<BasicSet>{BasicSet()}
                                                   : later_by_at_least(none, *own, n));
      TILEWRIGHT_TRY(needed, poly::intersect_params(polyhedra_, from_there, assumed));
      TILEWRIGHT_TRY(some, poly::parameter_domain(polyhedra_, here));
      TILEWRIGHT_TRY(same, poly::is_equal(polyhedra_, needed, some));
      if (!same) return std::optional<Stmt>();
      const Expr awaited = ir::simplify(context_, context_.sub(number, context_.index(n)), {});
      const Stmt one = one_wait(object, awaited, point.where);
      return std::optional(
          n == 0 ? one : program::make_if(context_, context_.le(context_.index(n), number), one));
    }
  }
  return std::optional<Stmt>();
}

Result<Stmt> SyncEmitter::wait(const WaitPoint& point) {
  // What is known where the wait stands.
  BasicSet around;
  (void)team_.constrain(point.where, kAt, around);
  const std::vector<std::string> loops = team_.names(point.where.loops, kAt);
  const Set here = poly::dims_to_params(Set({team_.params(), loops}, around), loops);
  TILEWRIGHT_TRY(assumed, poly::intersect_params(polyhedra_, here, team_.facts()));
  TILEWRIGHT_TRY(known, poly::simplify(polyhedra_, point.awaits));
  const Set awaits = poly::dims_to_params(known, loops);
  TILEWRIGHT_TRY(lagging, wait_behind(point, awaits, assumed));
  if (lagging) return *lagging;
  TILEWRIGHT_TRY(whole, waits_for(point, awaits, assumed));
  if (whole) return *whole;
  // Piece by piece, each without what was awaited before.
  std::vector<Stmt> out;
  Set before(awaits.space());
  for (const BasicSet& piece : awaits.pieces()) {
    const Set one(awaits.space(), piece);
    TILEWRIGHT_TRY(left, poly::subtract(polyhedra_, one, before));
    for (const BasicSet& part : left.pieces()) {
      TILEWRIGHT_TRY(waits, waits_for(point, Set(left.space(), part), assumed));
      if (!waits)
        return refuse_sync(
            item_of(point.source), "is awaited at instances that are not one range",
            "let the loops that use the copy run in the order of the loops that make it");
      out.push_back(*waits);
    }
    TILEWRIGHT_TRY(more, poly::unite(polyhedra_, before, one));
    before = std::move(more);
  }
  return program::make_block(context_, out);
}

Stmt SyncEmitter::start(const Item& item) {
  std::size_t number = 0;
  while (statements_[number].item != &item) ++number;
  const Object& object = objects_[object_of_.at(number)];
  std::vector<Expr> loops;
  for (const Count& count : object.counts)
    loops.push_back(context_.var(count.loop->stmt.as<program::For>()->var));
  const Use use = use_at(object, use_number(object, loops), statements_[number].where);
  program::Async async = *item.stmt.as<program::Async>();
  const Expr index[] = {use.element};
  async.completion = object.bytes ? program::Completion::Bytes : program::Completion::Arrive;
  async.object = object.name;
  async.indices = index;
  std::vector<Stmt> out = {program::make(context_, async)};
  if (object.bytes) {
    program::Signal signal;
    signal.object = object.name;
    signal.indices = index;
    signal.signal = program::SignalKind::Expect;
    signal.amount = *bytes_of(context_, item);
    out.insert(out.begin(), program::make(context_, signal));
    if (number == object.sources.back()) {
      signal.signal = program::SignalKind::Arrive;
      signal.amount = context_.index(1);
      out.push_back(program::make(context_, signal));
    }
  }
  return in_ring(object, use, program::make_block(context_, out));
}

Stmt SyncEmitter::signal(std::size_t source) {
  const Object& object = objects_[object_of_.at(source)];
  const Where& where = known_.source(source);
  std::vector<Expr> loops;
  for (const Count& count : object.counts)
    loops.push_back(context_.var(count.loop->stmt.as<program::For>()->var));
  const Use use = use_at(object, use_number(object, loops), where);
  program::Signal node;
  node.object = object.name;
  const Expr index[] = {use.element};
  node.indices = index;
  node.signal = program::SignalKind::Arrive;
  node.amount = context_.index(1);
  return in_ring(object, use, program::make(context_, node));
}

Stmt SyncEmitter::with_objects(const Item& owner, Stmt body) const {
  for (auto object = objects_.rbegin(); object != objects_.rend(); ++object) {
    if (object->owner != &owner) continue;
    program::Object node;
    const Expr extents[] = {context_.index(object->elements)};
    node.object = object->kind;
    node.name = object->name;
    node.extents = extents;
    // Of no agents nobody arrives, and nobody waits.
    if (object->kind == ObjectKind::Barrier)
      node.count = object->arrivals.as<ir::IntConst>()
                       ? object->arrivals
                       : context_.max(context_.index(1), object->arrivals);
    node.body = body;
    body = program::make(context_, node);
  }
  return body;
}

Stmt SyncEmitter::rebuilt(const Item& item, int arm, Symbol role) {
  std::vector<Stmt> out;
  const auto& children = item.arms[static_cast<std::size_t>(arm)];
  for (std::size_t i = 0; i <= children.size(); ++i) {
    if (const auto here = inserted_.find({{&item, arm, i}, role}); here != inserted_.end())
      out.insert(out.end(), here->second.begin(), here->second.end());
    if (i == children.size()) break;
    const Item& child = *children[i];
    if (!role.valid() || has_part(child, role)) out.push_back(rebuilt_child(child, role));
  }
  const Stmt body = program::make_block(context_, out);
  return item.role == role || !item.stmt ? with_objects(item, body) : body;
}

Stmt SyncEmitter::rebuilt_child(const Item& child, Symbol role) {
  if (child.is_async()) return start(child);
  if (child.is_marker() && !role.valid()) return split();
  const bool others = child.bind() && child.role.valid() && !(child.role == role);
  if (child.is_marker() || others) {
    std::vector<Stmt> parts;
    for (std::size_t arm = 0; arm < child.arms.size(); ++arm)
      parts.push_back(rebuilt(child, static_cast<int>(arm), role));
    return program::make_block(context_, parts);
  }
  int next = 0;
  const Stmt out = program::map_parts(context_, child.stmt, [&](std::string_view, auto part) {
    if constexpr (std::is_same_v<decltype(part), Stmt>)
      return rebuilt(child, child.stmt.as<program::If>() && next++ > 0 ? 1 : 0, role);
    else
      return part;
  });
  // What only other roles use.
  if (!role.valid()) return out;
  if (const auto* n = out.as<program::Alloc>(); n && !mentions(n->body, n->buffer)) return n->body;
  if (const auto* n = out.as<program::Let>(); n && !mentions(n->body, n->var)) return n->body;
  if (const auto* n = out.as<program::Ring>();
      n && !mentions(n->body, n->slot) && !mentions(n->body, n->phase))
    return n->body;
  return out;
}

bool SyncEmitter::has_part(const Item& item, Symbol role) const {
  if (item.arms.empty() || item.is_async()) return item.role == role;
  for (std::size_t arm = 0; arm < item.arms.size(); ++arm) {
    for (std::size_t i = 0; i <= item.arms[arm].size(); ++i)
      if (inserted_.contains({{&item, static_cast<int>(arm), i}, role})) return true;
    for (const auto& child : item.arms[arm])
      if (has_part(*child, role)) return true;
  }
  return false;
}

namespace {

// With other names for what it binds.
Stmt renamed(ir::Context& context, Stmt stmt, const std::map<Symbol, Symbol>& names,
             const ir::Substitution& values) {
  return program::map_parts(context, stmt, [&](std::string_view, auto part) {
    if constexpr (std::is_same_v<decltype(part), Stmt>) {
      return renamed(context, part, names, values);
    } else if constexpr (std::is_same_v<decltype(part), Expr>) {
      return ir::substitute(context, part, values);
    } else {
      const auto other = names.find(part);
      return other == names.end() ? part : other->second;
    }
  });
}

}  // namespace

Stmt SyncEmitter::split() {
  // Who begins the team comes last: what it needs is said first.
  std::vector<const program::Role*> roles = team_.roles();
  std::rotate(roles.begin(), roles.begin() + 1, roles.end());
  std::vector<Stmt> out;
  std::unordered_set<Symbol> bound;
  for (const program::Role* declared : roles) {
    Stmt body = rebuilt_child(*team_.split(), declared->name);
    std::map<Symbol, Symbol> names;
    ir::Substitution values;
    std::unordered_set<Symbol> own;
    program::walk(body, [&](Stmt s) {
      for (Symbol name : program::bound_names(s)) {
        own.insert(name);
        if (!bound.contains(name) || names.contains(name)) continue;
        names[name] = names_.make(context_, std::string(name.text()));
        values[name] = context_.var(names[name]);
      }
    });
    bound.insert(own.begin(), own.end());
    if (!names.empty()) body = renamed(context_, body, names, values);
    program::Role role = *declared;
    role.body = body;
    out.push_back(program::make(context_, role));
  }
  program::Concurrent node;
  node.roles = out;
  return program::make(context_, node);
}

// No role needs a memory, a number or an agent of another.
Result<Ok> SyncEmitter::roles_are_apart() const {
  if (!team_.is_split_once())
    return refuse_sync(*team_.split(), "is not the only split of its team into roles",
                       "give roles to one loop of the team");
  std::map<Symbol, Symbol> users;
  std::optional<Failure> failed;
  const std::function<void(const Item&)> check = [&](const Item& item) {
    program::for_each_part(item.stmt, [&](std::string_view, auto part) {
      if constexpr (std::is_same_v<decltype(part), Symbol>) {
        const Item* alloc = team_.alloc_of(part);
        if (alloc && alloc->role.valid() &&
            !(users.try_emplace(part, item.role).first->second == item.role))
          failed = refuse_sync(*alloc, "is a memory of two roles",
                               "keep it in a memory of the team, or use it in one role");
      } else if constexpr (std::is_same_v<decltype(part), Expr>) {
        for (const ir::Read* read : ir::reads(part)) {
          const Item* alloc = team_.alloc_of(read->tensor);
          if (alloc && alloc->role.valid() &&
              !(users.try_emplace(read->tensor, item.role).first->second == item.role))
            failed = refuse_sync(*alloc, "is a memory of two roles",
                                 "keep it in a memory of the team, or use it in one role");
        }
        for (Symbol var : ir::free_vars(part))
          for (const Item* around = item.parent; around; around = around->parent)
            if (around->bind() && around->bind()->var == var && around->role.valid() &&
                !(around->role == item.role))
              failed = refuse_sync(item, "depends on which agent of another role is meant",
                                   "bind a loop of its own, or give it to that role");
      }
    });
    for (const auto& arm : item.arms)
      for (const auto& child : arm) check(*child);
  };
  for (const auto& child : team_.root().arms[0]) check(*child);
  if (failed) return *failed;
  return Ok{};
}

Result<Stmt> SyncEmitter::run() {
  if (team_.split()) TILEWRIGHT_CHECK_OK(roles_are_apart());
  TILEWRIGHT_CHECK_OK(find_objects());
  const auto insert = [&](const Gap& gap, const Where& where, Stmt stmt) {
    inserted_[{gap, where.role}].push_back(stmt);
  };
  for (std::size_t i = 0; i < plan_.signals.size(); ++i)
    if (object_of_.contains(plan_.first_signal + i))
      insert(plan_.signals[i].gap, plan_.signals[i].where, signal(plan_.first_signal + i));
  for (const WaitPoint& point : plan_.waits) {
    // One wait for all operations of an object.
    if (objects_[object_of_.at(point.source)].sources.front() != point.source) continue;
    TILEWRIGHT_TRY(stmt, wait(point));
    insert(point.gap, point.where, stmt);
  }
  for (const SyncPoint& point : plan_.syncs) {
    program::Sync sync;
    sync.scope = point.scope;
    insert(point.gap, point.where, program::make(context_, sync));
  }
  for (const SyncPoint& point : plan_.fences) {
    program::Fence fence;
    fence.proxy = program::Proxy::Async;
    insert(point.gap, point.where, program::make(context_, fence));
  }
  return rebuilt(team_.root(), 0, {});
}

}  // namespace tilewright::build
