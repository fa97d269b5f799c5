// SPDX-License-Identifier: Apache-2.0
//
// What a schedule says of agents, memories of a team, asynchronous copies and intervals, as a Program that
// synchronises nothing. It means what its text says from top to bottom; synchronise.h derives the rest.
//
// Loops that are bound split their nest among agents. Where these come in whole teams (`by`), those beyond the last
// iteration do nothing of their own, and all that a team does together. A memory of a team (shared, scratchpad, ...) is one for all
// its agents, so the nest that fills it fills what all of them read: its region is that of all values of the
// loops bound inside the team, and its own bound loops are run by the agents that are there.
#include <algorithm>

#include "frontend/ir/facts.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/build/nest_emitter.h"

namespace tilewright::build {

namespace {

// Agents of a team, which share its memory.
bool is_inside_team(tree::Scope scope) { return scope < tree::Scope::Block; }

std::string shown(const tree::Nest& nest, Symbol loop) {
  return "`" + std::string(nest.name.text()) + "." + std::string(loop.text()) + "`";
}

}  // namespace

program::Scope program_scope(tree::Scope scope) {
  switch (scope) {
    case tree::Scope::None: return program::Scope::None;
    case tree::Scope::Lane: return program::Scope::Lane;
    case tree::Scope::Warp: return program::Scope::Warp;
    case tree::Scope::Warpgroup: return program::Scope::Warpgroup;
    case tree::Scope::Block: return program::Scope::Block;
    case tree::Scope::Pair: return program::Scope::Pair;
    case tree::Scope::Cluster: return program::Scope::Cluster;
    case tree::Scope::Core: return program::Scope::Core;
    case tree::Scope::Device: return program::Scope::Device;
  }
  __builtin_unreachable();
}

bool Builder::has_team_memory(const tree::Nest& nest) const {
  return (nest.space != tree::Space::None && nest.space != tree::Space::Register) || nest.ring > 1;
}

Result<Stmt> Builder::with_memories(const std::function<Result<Stmt>()>& emit) {
  Memories own;
  Memories* outer = std::exchange(memories_, &own);
  auto body = emit();
  memories_ = outer;
  if (!body.ok()) return body;
  Stmt out = *body;
  for (auto m = own.rbegin(); m != own.rend(); ++m)
    out = program::make_alloc(context, m->buffer, m->type, m->extents, m->space, out);
  return out;
}

// The k-th loop of a scope in the nest is run by the k-th agent of that scope around it.
Stmt Builder::by_one_agent(const tree::Nest& nest, const Env& env, Stmt fill) const {
  std::map<tree::Scope, std::int64_t> split;
  for (const tree::Loop& loop : nest.loops) ++split[loop.scope];
  Expr first;
  for (const Agent& agent : env.agents) {
    if (!is_inside_team(agent.scope) || split[agent.scope]-- > 0) continue;
    const Expr is_first = context.op(ir::OpCode::Eq, {context.var(agent.var), context.index(0)});
    first = first ? context.both(first, is_first) : is_first;
  }
  return first ? program::make_if(context, first, fill) : fill;
}

// Members of a set, each by an agent of its own: teams of one run beside those of another. Those that an order names
// come first.
Stmt Builder::at_the_same_time(const tree::Set& set,
                               const std::vector<std::pair<Symbol, Stmt>>& members) {
  std::map<Symbol, Symbol> names;
  std::vector<Stmt> roles;
  for (const auto& [member, body] : members) {
    std::string name(member.text());
    std::replace(name.begin(), name.end(), '.', '_');
    names[member] = fresh(name + "_role");
    std::vector<Symbol> after;
    for (const tree::OrderEdge& edge : set.order) {
      if (!(edge.after == member)) continue;
      const Symbol before = names.at(edge.before);
      if (std::find(after.begin(), after.end(), before) == after.end()) after.push_back(before);
    }
    program::Role role;
    role.name = names[member];
    role.scope = program::Scope::Device;
    role.after = after;
    role.body = body;
    roles.push_back(program::make(context, role));
  }
  program::Concurrent out;
  out.roles = roles;
  return program::make(context, out);
}

// Nests at the root, a launch for each run of one kernel; what one launch leaves to another is in the workspace.
Result<Stmt> Builder::emit_kernels(Env& env) {
  std::vector<Stmt> launches;
  std::vector<Stmt> nests;
  std::vector<std::pair<Symbol, Stmt>> members;  // of a set
  Memories between;
  Symbol kernel;
  const auto launch = [&] {
    if (!kernel.valid()) return;
    program::Kernel node;
    node.name = kernel;
    node.body = program::make_block(context, nests);
    launches.push_back(program::make(context, node));
    nests.clear();
  };
  for (const tree::Nest* nest : roots_) {
    if (!nest) continue;
    if (!(nest->kernel == kernel)) launch();
    kernel = nest->kernel;
    const ir::Equation* e = equation(nest->name);
    const Region region = whole(e->shape);
    if (!e->is_output) {
      for (const ir::TensorPart& tensor : e->tensors()) {
        env.bindings[tensor.name] = own_binding(*nest, tensor.name, region, {});
        const Binding& made = env.bindings[tensor.name];
        between.push_back({tensor.name, nest->name, made.buffer, tensor.type, made.extents,
                           program::Space::Workspace});
      }
    }
    TILEWRIGHT_TRY(stmt, emit_nest(*nest, region, env));
    const tree::Set* set = schedule.tree.set_of(nest->name);
    if (!set) {
      nests.push_back(stmt);
      continue;
    }
    members.emplace_back(nest->name, stmt);
    if (members.size() < set->members.size()) continue;
    nests.push_back(at_the_same_time(*set, members));
    members.clear();
  }
  launch();
  Stmt out = program::make_block(context, launches);
  for (auto m = between.rbegin(); m != between.rend(); ++m)
    out = program::make_alloc(context, m->buffer, m->type, m->extents, m->space, out);
  return out;
}

LoopValues NestEmitter::values_for(const tree::Nest& placed, const Point& point) const {
  LoopValues out = point.values;
  if (builder_.has_team_memory(placed) && placed.space != tree::Space::None)
    for (const tree::Loop& loop : nest_.loops)
      if (loop.scope != tree::Scope::None && is_inside_team(loop.scope))
        out.value_of.erase(loop.name);
  return out;
}

Result<Stmt> NestEmitter::bound_loop(const tree::Loop& l, Point point, Expr upper,
                                     const Continue& body) {
  const Expr zero = context_.index(0);
  // The agents that the nest was placed among.
  std::size_t before = 0;
  for (const tree::Loop& other : nest_.loops) {
    if (other.name == l.name) break;
    before += other.scope == l.scope;
  }
  const Agent* there = nullptr;
  for (const Agent& agent : point.env.agents)
    if (agent.scope == l.scope && before-- == 0 && nest_.at) there = &agent;
  if (there) {
    if (!builder_.has_team_memory(nest_) && !builder_.equation(nest_.name))
      return refuse(l.bound.span,
                    "loop " + shown(nest_, l.name) + " is split among agents that each have a copy",
                    "keep the copy in a memory of the team, or bind none of its loops", {});
    const Symbol var = there->var;
    const Expr count = there->count;
    const auto within = [&](Expr agents) {
      return ir::decide(context_, context_.le(space_.max_extent(l.name), agents),
                        builder_.ranges) == true;
    };
    if (!within(count) && !within(there->iterations))
      return refuse(l.bound.span,
                    "loop " + shown(nest_, l.name) + " has more iterations than there are agents",
                    "split it by the number of agents and bind the inner loop",
                    poly::with({{"iterations", ir::print(space_.max_extent(l.name))},
                                {"agents", ir::print(count)}},
                               builder_.larger(space_.max_extent(l.name), count)));
    (void)enter(l, point, zero, upper, false);
    const Expr own = point.values.value_of.at(l.name);
    TILEWRIGHT_TRY(inside, body(point));
    const ir::Substitution agent = {{own.as<ir::Var>()->name, context_.var(var)}};
    const Stmt out = program::rewrite(context_, inside, {}, [&](Expr e) {
      return builder_.simplify(ir::substitute(context_, e, agent));
    });
    const auto all = ir::decide(context_, context_.le(count, upper), builder_.ranges);
    return all && *all ? out
                       : program::make_if(context_, context_.lt(context_.var(var), upper), out);
  }
  // Whole teams, of which each member is there whatever the others have to do.
  const Expr teams = context_.ceil_div(space_.max_extent(l.name), l.agents_by);
  const Expr count =
      l.agents_by == 1
          ? upper
          : builder_.simplify(context_.max(zero, context_.mul(teams, context_.index(l.agents_by))));
  const Symbol var = enter(l, point, zero, count, false);
  point.env.agents.push_back({l.scope, var, count, upper});
  if (ir::decide(context_, context_.le(count, upper), builder_.ranges) != true)
    point.held.push_back(context_.lt(context_.var(var), upper));
  // The innermost loop that gives work to whole teams holds their memories.
  bool holds_team = !is_inside_team(l.scope);
  bool inside_l = false;
  for (const tree::Loop& other : nest_.loops) {
    if (inside_l && other.scope != tree::Scope::None && !is_inside_team(other.scope))
      holds_team = false;
    inside_l = inside_l || other.name == l.name;
  }
  TILEWRIGHT_TRY(inside, holds_team ? builder_.with_memories([&] {
    return builder_.with_roles([&] { return body(point); });
  })
                                    : body(point));
  program::Bind bind;
  bind.var = var;
  bind.lower = zero;
  bind.upper = count;
  bind.scope = program_scope(l.scope);
  bind.body = inside;
  return program::make(context_, bind);
}

// n iterations of stages 0 to s take n + s intervals. Rows that follow one another and have one stage are one
// group: iteration t - stage of them, where the loop has that iteration.
Result<Stmt> NestEmitter::pipelined_loop(const tree::Loop& l, const Point& point, Expr upper,
                                         const Continue& body) {
  TILEWRIGHT_TRY(table, rows_of(l));
  std::int64_t last = 0;
  for (const tree::PipelineRow& row : table) last = std::max(last, row.stage);
  if (last > 0 && !l.order.empty())
    return refuse(l.order[0].place.span,
                  "an order of roles in which statements have several stages",
                  "drop the order, or give each role one stage");
  const Symbol interval = builder_.fresh(l.name.text());
  const Expr t = context_.var(interval);
  const Expr end = builder_.simplify(context_.add(upper, context_.index(last)));
  builder_.declare_loop(interval, context_.index(0), end);
  builder_.add_orders(l, interval);
  std::vector<Stmt> groups;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::int64_t stage = table[begin].stage;
    std::vector<Symbol> rows;
    for (; begin < table.size() && table[begin].stage == stage; ++begin)
      rows.push_back(table[begin].statement);
    Point p = point;
    const Symbol var = enter(l, p, context_.index(0), upper, false);
    p.rows = &rows;
    TILEWRIGHT_TRY(inside, body(p));
    const ir::Substitution shifted = {{var, context_.sub(t, context_.index(stage))}};
    const Stmt group = program::rewrite(context_, inside, {}, [&](Expr e) {
      return builder_.simplify(ir::substitute(context_, e, shifted));
    });
    Expr runs;
    if (stage > 0) runs = context_.le(context_.index(stage), t);
    if (stage < last) {
      const Expr begins =
          context_.lt(t, builder_.simplify(context_.add(upper, context_.index(stage))));
      runs = runs ? context_.both(runs, begins) : begins;
    }
    groups.push_back(runs ? program::make_if(context_, runs, group) : group);
  }
  return program::make_for(context_, program::LoopKind::Serial, interval, context_.index(0), end,
                           program::make_block(context_, groups));
}

bool Builder::reads(Symbol name, const tree::Nest& maker) const {
  const Symbol tensor = maker.stage ? maker.stage->tensor : maker.name;
  const ir::Equation* reader = equation(name);
  if (!reader) return false;
  const std::vector<const ir::Read*> all = ir::reads(reader->value);
  return std::any_of(all.begin(), all.end(), [&](const auto* r) { return r->tensor == tensor; });
}

Result<Ok> NestEmitter::drop_other_rows(const std::vector<Symbol>& rows,
                                        std::vector<const tree::Nest*>& nests) const {
  std::vector<const tree::Nest*> left;
  for (const tree::Nest* n : nests) {
    const bool read =
        std::any_of(rows.begin(), rows.end(), [&](Symbol row) { return builder_.reads(row, *n); });
    const bool here = std::find(rows.begin(), rows.end(), n->name) != rows.end();
    if (!here && read && !builder_.has_team_memory(*n))
      return refuse(n->placed.span,
                    "`" + std::string(n->name.text()) +
                        "` is read in a later interval, by when its memory is gone",
                    "give it a ring, or keep it in a memory of the team",
                    {{"nest", std::string(n->name.text())}});
    if (here || read) left.push_back(n);
  }
  // What other intervals make is there; the rest runs in the order of the table.
  const auto row_of = [&](const tree::Nest* n) {
    const auto at = std::find(rows.begin(), rows.end(), n->name);
    return at == rows.end() ? -1 : at - rows.begin();
  };
  std::stable_sort(left.begin(), left.end(),
                   [&](const tree::Nest* a, const tree::Nest* b) { return row_of(a) < row_of(b); });
  nests = std::move(left);
  return Ok{};
}

Result<Stmt> NestEmitter::asynchronous(Point& point, const Continue& body) {
  is_started_ = true;
  auto inside = body(point);
  is_started_ = false;
  if (!inside.ok()) return inside;
  program::Async async;
  async.proxy = program::Proxy::Async;
  async.completion = program::Completion::Group;
  async.body = *inside;
  return program::make(context_, async);
}

Result<Stmt> NestEmitter::with_data_bounds(Point& point, const Continue& body) {
  if (!builder_.is_device()) return body(point);
  std::vector<std::pair<Symbol, Expr>> lets;
  Point p = point;
  for (const Dimension& d : space_.dimensions()) {
    if (!d.is_fold) continue;
    for (Expr bound : {d.lower, d.size}) {
      const std::vector<Symbol> free = ir::free_vars(bound);
      if (!ir::depends_on_data(bound) || !std::all_of(free.begin(), free.end(), [&](Symbol v) {
            return space_.has_value(v, p.values);
          }))
        continue;
      const Expr there = bound == d.lower ? space_.absolute(d.name, context_.index(0), p.values)
                                          : space_.extent(d.name, p.values);
      ir::walk(there, [&](Expr e) {
        if (!e.as<ir::Cast>() || e.type() != ir::ScalarType::Index || !ir::depends_on_data(e))
          return;
        for (const auto& [read, name] : data_bounds_)
          if (read == e) return;
        const auto range = ir::value_range(context_, builder_.algorithm, e);
        if (!range) return;
        const Symbol name = builder_.fresh(std::string(ir::reads(e)[0]->tensor.text()) + "_at");
        const Expr end = builder_.simplify(context_.add(range->high, context_.index(1)));
        builder_.declare_loop(name, range->low, end);
        p.env.loops.push_back({name, range->low, end});
        lets.emplace_back(name, e);
        data_bounds_.emplace_back(e, name);
      });
    }
  }
  TILEWRIGHT_TRY(inside, body(p));
  data_bounds_.resize(data_bounds_.size() - lets.size());
  Stmt out = inside;
  for (auto let = lets.rbegin(); let != lets.rend(); ++let)
    out = program::make_let(context_, let->first, let->second, out);
  return out;
}

// A ring lives as long as its team. Where a loop does not run as often each time, its uses are counted anew.
Expr NestEmitter::use_number(const Point& point) const {
  const std::vector<LiveLoop>& loops = point.env.loops;
  Expr number = context_.var(loops.back().var);
  Expr length = loops.back().count;
  for (std::size_t i = loops.size() - 1; i-- > 0;) {
    const LiveLoop& around = loops[i];
    const auto agent = std::find_if(point.env.agents.begin(), point.env.agents.end(),
                                    [&](const Agent& a) { return a.var == around.var; });
    if (agent != point.env.agents.end() && !is_inside_team(agent->scope)) break;
    if (agent != point.env.agents.end() || !around.count) continue;
    if (!ir::free_vars(length).empty() || ir::depends_on_data(length)) break;
    number = context_.add(context_.mul(context_.var(around.var), length), number);
    length = context_.mul(length, around.count);
  }
  return builder_.simplify(number);
}

Result<Stmt> NestEmitter::in_ring(std::int64_t depth, Expr use,
                                  const std::function<Result<Stmt>(Expr slot)>& body) {
  program::Ring ring;
  ring.slot = builder_.fresh("slot");
  ring.phase = builder_.fresh("turn");
  builder_.declare_loop(ring.slot, context_.index(0), context_.index(depth));
  TILEWRIGHT_TRY(inside, body(context_.var(ring.slot)));
  ring.use = use;
  ring.depth = depth;
  ring.body = inside;
  return program::make(context_, ring);
}

}  // namespace tilewright::build
