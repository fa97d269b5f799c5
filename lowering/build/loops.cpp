// SPDX-License-Identifier: Apache-2.0
//
// The loops of a nest: bounds, guards, peeling and the nests placed in them.
#include <algorithm>

#include "frontend/ir/facts.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/build/nest_emitter.h"

namespace tilewright::build {

namespace {

program::LoopKind program_kind(tree::LoopKind kind) {
  switch (kind) {
    case tree::LoopKind::Serial: return program::LoopKind::Serial;
    case tree::LoopKind::Parallel: return program::LoopKind::Parallel;
    case tree::LoopKind::Vector: return program::LoopKind::Vector;
    case tree::LoopKind::Unrolled: return program::LoopKind::Unrolled;
  }
  __builtin_unreachable();
}

// Of one vector or unrolled loop: far beyond what registers or an instruction cache take, and within what the
// code generator handles in time.
constexpr std::int64_t kMaxConstantLoop = 1024;

bool is_constant_kind(tree::LoopKind kind) {
  return kind == tree::LoopKind::Vector || kind == tree::LoopKind::Unrolled;
}

std::string quoted(const tree::Nest& nest, Symbol loop) {
  return "`" + std::string(nest.name.text()) + "." + std::string(loop.text()) + "`";
}

}  // namespace

Result<Stmt> NestEmitter::level(std::size_t depth, Point& point) {
  if (const std::vector<Expr> guards = take_held(point, depth); !guards.empty()) {
    TILEWRIGHT_TRY(inside, level(depth, point));
    return guarded(guards, inside);
  }
  if (nest_.is_async && !is_started_) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < nest_.loops.size(); ++i)
      if (nest_.loops[i].scope != tree::Scope::None ||
          !builder_.placed_at(nest_.name, nest_.loops[i].name).empty())
        begin = i + 1;
    if (depth == begin) return asynchronous(point, [&](Point& p) { return level(depth, p); });
  }
  if (fold_ && depth == first_fold_)
    return with_data_bounds(point, [&](Point& p) { return fold_region(depth, p); });
  if (depth == nest_.loops.size())
    return nest_.stage ? copy(point) : scan_ ? scan(point) : elementwise(point);
  return loop(depth, point, [&](Point& inner) {
    const std::vector<Expr> guards = take_guards(inner, false);
    auto body = with_placed(depth, inner, [&](Point& p) { return level(depth + 1, p); });
    if (!body.ok()) return body;
    return Result<Stmt>(guarded(guards, *body));
  });
}

// The last loop over results becomes lanes, the others are written out: cells of registers have constant indices.
tree::Loop NestEmitter::plain_loop(std::size_t index) const {
  tree::Loop l = nest_.loops[index];
  if (!is_tensorized(index)) return l;
  const bool last = num_tensor_results_ > 0 && tensor_loops_[num_tensor_results_ - 1] == index;
  l.kind = last ? tree::LoopKind::Vector : tree::LoopKind::Unrolled;
  return l;
}

Result<Stmt> NestEmitter::loop(std::size_t index, Point& point, const Continue& body) {
  const tree::Loop& l = nest_.loops[index];
  TILEWRIGHT_TRY(out, one_version(index, point, body));
  for (auto version = l.versions.rbegin(); version != l.versions.rend(); ++version) {
    TILEWRIGHT_TRY(special,
                   builder_.under(*version, [&] { return one_version(index, point, body); }));
    out = program::make_if(context_, *version, special, out);
  }
  return out;
}

Result<Stmt> NestEmitter::one_version(std::size_t index, Point& point, const Continue& body) {
  const tree::Loop l = plain_loop(index);
  const Expr zero = context_.index(0);
  if (is_constant_kind(l.kind)) {
    const auto length = space_.constant_extent(l.name);
    if (!length)
      return refuse(l.marked.span,
                    "loop " + quoted(nest_, l.name) + " has no constant length, so it cannot be " +
                        (l.kind == tree::LoopKind::Vector ? "vectorized" : "unrolled"),
                    "split it by a constant and mark the inner loop",
                    builder_.varying("length", {space_.max_extent(l.name)}));
    if (*length > kMaxConstantLoop)
      return refuse(
          l.marked.span,
          "loop " + quoted(nest_, l.name) + " has " + std::to_string(*length) +
              (l.kind == tree::LoopKind::Vector ? " lanes" : " iterations to unroll"),
          "split it by at most " + std::to_string(kMaxConstantLoop) + " and mark the inner loop",
          {{"limit", std::to_string(kMaxConstantLoop)}, {"length", std::to_string(*length)}});
    if (l.kind == tree::LoopKind::Unrolled && *length > builder_.unrolled.length)
      builder_.unrolled = {*length,
                           std::string(nest_.name.text()) + "." + std::string(l.name.text()),
                           l.marked.span};
    return one_loop(l, point, zero, context_.index(*length), true, body);
  }
  const Expr upper = builder_.simplify(space_.extent(l.name, point.values));
  if (l.scope != tree::Scope::None) return bound_loop(l, point, upper, body);
  if (!l.pipeline.empty()) return pipelined_loop(l, point, upper, body);
  if (ir::depends_on_data(upper)) {
    // The bound is read on the data alone. The caller's point keeps its guards for what follows.
    Point on_data = point;
    const std::vector<Expr> guards = take_guards(on_data, false);
    if (!guards.empty()) {
      TILEWRIGHT_TRY(inside, one_version(index, on_data, body));
      return guarded(guards, inside);
    }
  }
  // Law of tree::verify: a peeled loop is the outer part of a split.
  const int split = space_.split_of_outer(l.name);
  if (!l.peel) return one_loop(l, point, zero, upper, false, body);
  if (space_.divides(split, point.values)) return one_loop(l, point, zero, upper, false, body);
  const Expr full = builder_.simplify(space_.full_tiles(split, point.values));
  Point full_point = point;
  full_point.values.full_splits.insert(split);
  TILEWRIGHT_TRY(main, one_loop(l, full_point, zero, full, false, body));
  Point tail_point = point;
  tail_point.in_tail = true;
  TILEWRIGHT_TRY(tail, one_loop(l, tail_point, full, upper, false, body));
  const Stmt both[] = {main, tail};
  return program::make_block(context_, both);
}

Symbol NestEmitter::enter(const tree::Loop& l, Point& point, Expr lower, Expr upper,
                          bool constant) {
  const LoopSpace::Overruns over = space_.overruns(l.name, constant, point.values);
  for (int split : over.splits) point.pending_splits.insert(split);
  for (Symbol dimension : over.dimensions) point.pending_dimensions.insert(dimension);
  // A peeled loop runs a part of them.
  const Expr count = constant ? upper : builder_.simplify(space_.extent(l.name, point.values));
  const Symbol var = builder_.fresh(l.name.text());
  builder_.declare_loop(var, lower, upper);
  point.values.value_of[l.name] = context_.var(var);
  point.env.loops.push_back({var, lower, upper, count});
  return var;
}

Result<Stmt> NestEmitter::one_loop(const tree::Loop& l, Point point, Expr lower, Expr upper,
                                   bool constant, const Continue& body) {
  const Symbol var = enter(l, point, lower, upper, constant);
  builder_.add_orders(l, var);
  TILEWRIGHT_TRY(first, prefetches(l, point, upper));
  TILEWRIGHT_TRY(inside, body(point));
  if (first) {
    const Stmt both[] = {first, inside};
    inside = program::make_block(context_, both);
  }
  return program::make_for(context_, program_kind(l.kind), var, lower, upper, inside);
}

// A guard a < b that a loop's own bound implies: with the loop's variable at its last value, which is one
// less than any operand of a minimum in the bound, the guard still holds.
bool NestEmitter::follows_from_bounds(const Point& point, Expr guard) const {
  const auto* less = guard.as<ir::Op>();
  if (!less || less->op != ir::OpCode::Lt) return false;
  const auto form = ir::linear_form(context_.sub(less->args[0], less->args[1]));
  if (!form) return false;
  for (auto loop = point.env.loops.rbegin(); loop != point.env.loops.rend(); ++loop) {
    if (form->coefficient(context_.var(loop->var)) <= 0) continue;
    std::vector<Expr> uppers = {loop->upper};
    for (std::size_t i = 0; i < uppers.size(); ++i) {
      const Expr upper = uppers[i];
      if (const auto* op = upper.as<ir::Op>(); op && op->op == ir::OpCode::Min) {
        uppers.insert(uppers.end(), op->args.begin(), op->args.end());
        continue;
      }
      const ir::Substitution last = {{loop->var, context_.sub(upper, context_.index(1))}};
      if (ir::decide(context_, ir::substitute(context_, guard, last), builder_.ranges) == true)
        return true;
    }
  }
  return false;
}

std::vector<Expr> NestEmitter::take_held(Point& point, std::size_t depth) const {
  if (point.held.empty()) return {};
  const bool together = std::any_of(
      nest_.loops.begin() + static_cast<std::ptrdiff_t>(depth), nest_.loops.end(),
      [&](const tree::Loop& l) { return !builder_.placed_at(nest_.name, l.name).empty(); });
  return together ? std::vector<Expr>() : std::exchange(point.held, {});
}

std::vector<Expr> NestEmitter::take_guards(Point& point, bool of_statement) {
  std::vector<Expr> guards;
  if (of_statement) guards = std::exchange(point.held, {});
  auto take = [&](Expr guard) {
    const Expr simple = builder_.simplify(guard);
    const auto* known = simple.as<ir::BoolConst>();
    if ((known && known->value) || follows_from_bounds(point, simple)) return;
    if (std::find(guards.begin(), guards.end(), simple) == guards.end()) guards.push_back(simple);
  };
  for (auto it = point.pending_splits.begin(); it != point.pending_splits.end();) {
    if (!space_.guard_known(*it, point.values)) {
      ++it;
      continue;
    }
    take(space_.guard(*it, point.values));
    it = point.pending_splits.erase(it);
  }
  for (auto it = point.pending_dimensions.begin(); it != point.pending_dimensions.end();) {
    if (!space_.dimension_guard_known(*it, point.values)) {
      ++it;
      continue;
    }
    take(space_.dimension_guard(*it, point.values));
    it = point.pending_dimensions.erase(it);
  }
  return guards;
}

// A guard that reads data is tested where the others hold: beyond the edge there may be nothing to read.
Stmt NestEmitter::guarded(const std::vector<Expr>& guards, Stmt body, Stmt otherwise) {
  for (const bool data : {true, false}) {
    Expr all;
    for (Expr guard : guards)
      if (ir::depends_on_data(guard) == data) all = all ? context_.both(all, guard) : guard;
    if (all) body = program::make_if(context_, all, body, otherwise);
  }
  return body;
}

Result<Stmt> NestEmitter::with_placed(std::size_t index, Point& point, const Continue& body) {
  const Symbol loop_name = nest_.loops[index].name;
  std::vector<const tree::Nest*> nests = builder_.placed_at(nest_.name, loop_name);
  if (nests.empty()) return body(point);
  if (nest_.loops[index].kind == tree::LoopKind::Vector)
    return refuse(nests[0]->placed.span,
                  "`" + std::string(nests[0]->name.text()) + "` is placed in the vector loop " +
                      quoted(nest_, loop_name),
                  "place it at a loop further out",
                  {{"placed", std::string(nests[0]->name.text())},
                   {"loop", std::string(nest_.name.text()) + "." + std::string(loop_name.text())},
                   {"lanes", ir::print(space_.max_extent(loop_name))}});
  std::vector<Region> regions;
  std::vector<Placing> placings;
  std::int64_t depth = 1;
  if (point.rows) TILEWRIGHT_CHECK_OK(drop_other_rows(*point.rows, nests));
  const tree::Loop& loop = nest_.loops[index];
  if (!loop.roles.empty()) TILEWRIGHT_CHECK_OK(builder_.begin_roles(nest_, loop));
  const tree::Role* own_role = role_of(loop, nest_.name);
  for (const tree::Nest* n : nests) {
    TILEWRIGHT_TRY(region, builder_.required_region(*n, nest_, loop_name, space_,
                                                    values_for(*n, point), point.env));
    regions.push_back(std::move(region));
    depth = std::max(depth, n->ring);
    const auto* rows = point.rows;
    const tree::Role* role = role_of(loop, n->name);
    if (role == own_role) role = nullptr;
    if (role) TILEWRIGHT_CHECK_OK(builder_.fits_role(*n, *role));
    placings.push_back(
        {{}, !rows || std::find(rows->begin(), rows->end(), n->name) != rows->end(), role, {}});
    // What is the agent's own.
    if (!builder_.has_team_memory(*n))
      for (Expr has_work : point.held)
        placings.back().when =
            placings.back().when ? context_.both(placings.back().when, has_work) : has_work;
  }
  const bool own = !point.rows || std::find(point.rows->begin(), point.rows->end(), nest_.name) !=
                                      point.rows->end();
  const auto all = [&]() {
    return placed(nests, 0, regions, point.env, placings, [&](Env& env) {
      if (!own) return Result<Stmt>(program::make_block(context_, {}));
      Point inner = point;
      inner.env = env;
      inner.rows = nullptr;
      return body(inner);
    });
  };
  // One `ring` for each depth.
  const std::function<Result<Stmt>(std::int64_t)> from = [&](std::int64_t n) -> Result<Stmt> {
    if (n > depth) return all();
    const auto has = [&](const tree::Nest* nest) { return nest->ring == n; };
    if (n == 1 || std::none_of(nests.begin(), nests.end(), has)) return from(n + 1);
    return in_ring(n, use_number(point), [&](Expr slot) {
      for (std::size_t i = 0; i < nests.size(); ++i)
        if (has(nests[i])) placings[i].slot = slot;
      return from(n + 1);
    });
  };
  return from(1);
}

Result<Stmt> NestEmitter::placed(const std::vector<const tree::Nest*>& nests, std::size_t at,
                                 const std::vector<Region>& regions, Env& env,
                                 const std::vector<Placing>& placings,
                                 const std::function<Result<Stmt>(Env&)>& body) {
  if (at == nests.size()) return body(env);
  return builder_.emit_placed(
      *nests[at], regions[at], env,
      [&](Env& inner) { return placed(nests, at + 1, regions, inner, placings, body); },
      placings[at]);
}

}  // namespace tilewright::build
