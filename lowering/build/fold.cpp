// SPDX-License-Identifier: Apache-2.0
//
// Reductions: where partial results live and in what order elements are folded. The order is the order of
// the fold loops; a vectorized fold loop keeps one partial result per lane and merges lanes pairwise at the end.
#include <algorithm>

#include "frontend/ir/kernels.h"
#include "frontend/ir/walk.h"
#include "lowering/build/nest_emitter.h"

namespace tilewright::build {

using program::OriginRole;

Expr NestEmitter::combine(Expr a, Expr b) const {
  return context_.op(ir::monoid_op(fold_->monoid), {a, b});
}

Result<Stmt> NestEmitter::over_loops(const std::vector<std::size_t>& loops, std::size_t at,
                                     Point& point, const Continue& body) {
  if (at == loops.size()) {
    // The body takes guards from its own point: the caller's keeps them for what follows.
    Point inside = point;
    return body(inside);
  }
  return loop(loops[at], point,
              [&](Point& inner) { return over_loops(loops, at + 1, inner, body); });
}

// The loops from `depth` on, then `body`; nests placed in them come along.
Result<Stmt> NestEmitter::fold_loops(std::size_t depth, std::size_t end, Point& point,
                                     const Continue& body) {
  if (depth == end) {
    Point inside = point;
    return body(inside);
  }
  return loop(depth, point, [&](Point& inner) -> Result<Stmt> {
    // What is placed here is for iterations on the data alone.
    std::vector<Expr> guards;
    if (!builder_.placed_at(nest_.name, nest_.loops[depth].name).empty())
      guards = take_guards(inner);
    TILEWRIGHT_TRY(inside, with_placed(depth, inner, [&](Point& p) {
                     return fold_loops(depth + 1, end, p, body);
                   }));
    return guarded(guards, inside);
  });
}

Result<Stmt> NestEmitter::fold_region(std::size_t depth, Point& point) {
  if (tile_begin_ == first_fold_) return tile_region(depth, point, true);
  for (std::size_t i = first_fold_; i < nest_.loops.size(); ++i)
    if (!space_.is_fold(nest_.loops[i].name)) accumulator_loops_.push_back(i);
  const bool converts = equation_->value.kind() == ir::ExprKind::Cast;
  std::vector<Expr> extents;
  for (std::size_t i : accumulator_loops_)
    extents.push_back(
        builder_.simplify(context_.max(context_.index(0), space_.max_extent(nest_.loops[i].name))));
  accumulator_ = converts ? builder_.fresh(std::string(nest_.name.text()) + "_acc") : Symbol();

  TILEWRIGHT_TRY(
      init, over_loops(accumulator_loops_, 0, point, [&](Point& p) {
        const std::vector<Expr> guards = take_guards(p);
        const Expr identity = context_.monoid_identity(fold_->monoid, fold_->type);
        return Result<Stmt>(guarded(guards, store_partial(p, identity, OriginRole::Init, {})));
      }));
  TILEWRIGHT_TRY(main, fold_loops(depth, tile_begin_, point, [&](Point& p) {
                   return tile_begin_ == nest_.loops.size() ? in_place_step(p)
                                                            : tile_region(tile_begin_, p, false);
                 }));
  std::vector<Stmt> parts = {init, main};
  if (converts) {
    TILEWRIGHT_TRY(
        last, over_loops(accumulator_loops_, 0, point, [&](Point& p) {
          const std::vector<Expr> guards = take_guards(p);
          const Expr value = context_.cast(equation_->type, read_partial(p));
          return Result<Stmt>(guarded(guards, store_result(p, value, OriginRole::Value)));
        }));
    parts.push_back(last);
  }
  const Stmt all = program::make_block(context_, parts);
  accumulator_loops_.clear();
  if (!converts) return all;
  const Symbol buffer = accumulator_;
  accumulator_ = Symbol();
  return program::make_alloc(context_, buffer, fold_->type, extents, program::Space::Workspace,
                             all);
}

// The cell of the partial result outside the tile: the result itself, or the accumulator.
Expr NestEmitter::read_partial(const Point& point) const {
  if (!accumulator_.valid()) return read_result(point);
  return context_.read(accumulator_, loop_values(accumulator_loops_, point), fold_->type);
}

Stmt NestEmitter::store_partial(Point& point, Expr value, OriginRole role,
                                std::vector<Expr> fold_point) {
  std::vector<Expr> at = cell(point);
  Symbol buffer = accumulator_;
  std::vector<Expr> index;
  if (accumulator_.valid()) {
    index = loop_values(accumulator_loops_, point);
  } else {
    index = builder_.buffer_index(point.env, equation_->name, at, &buffer);
  }
  at.insert(at.end(), fold_point.begin(), fold_point.end());
  return program::make_store(context_, buffer, index, value, role, equation_->name, at);
}

std::vector<Expr> NestEmitter::loop_values(const std::vector<std::size_t>& loops,
                                           const Point& point) const {
  std::vector<Expr> out;
  for (std::size_t i : loops) {
    auto it = point.values.value_of.find(nest_.loops[i].name);
    // Outside the lanes of a vectorized fold its result is in lane 0.
    out.push_back(it == point.values.value_of.end() ? context_.index(0) : it->second);
  }
  if (out.empty()) out.push_back(context_.index(0));
  return out;
}

std::vector<Expr> NestEmitter::fold_values(const Point& point) const {
  const ir::Substitution values = index_values(point);
  std::vector<Expr> out;
  for (Symbol var : fold_->vars) out.push_back(values.at(var));
  return out;
}

Result<Stmt> NestEmitter::tile_region(std::size_t depth, Point& point, bool from_identity) {
  const Symbol tile = builder_.fresh(std::string(nest_.name.text()) + "_acc");
  const Expr identity = context_.monoid_identity(fold_->monoid, fold_->type);
  std::vector<Expr> extents;
  for (std::int64_t extent : tile_extents_) extents.push_back(context_.index(extent));
  const bool loads = !from_identity && lanes_ == 0;

  // In the order of the nest, so that a vector loop stays innermost.
  std::vector<std::size_t> all_tile_loops = tile_loops_;
  std::sort(all_tile_loops.begin(), all_tile_loops.end());
  auto store_tile = [&](Point& p, Expr value, OriginRole role, std::vector<Expr> at) {
    return program::make_store(context_, tile, loop_values(tile_loops_, p), value, role,
                               equation_->name, at);
  };
  TILEWRIGHT_TRY(
      init, over_loops(all_tile_loops, 0, point, [&](Point& p) {
        const Stmt start = store_tile(p, identity, OriginRole::Init, {});
        if (!loads) return Result<Stmt>(start);
        const std::vector<Expr> guards = take_guards(p);
        Expr inside;
        for (Expr g : guards) inside = inside ? context_.both(inside, g) : g;
        const Stmt take = store_tile(p, read_partial(p), OriginRole::Merge, cell(p));
        return Result<Stmt>(inside ? program::make_if(context_, inside, take, start) : take);
      }));
  TILEWRIGHT_TRY(steps, fold_loops(depth, nest_.loops.size(), point,
                                   [&](Point& p) { return fold_step(p, tile); }));
  TILEWRIGHT_TRY(merge, merge_lanes(point, tile));
  TILEWRIGHT_TRY(finish, over_loops(kept_, 0, point, [&](Point& p) {
                   const std::vector<Expr> guards = take_guards(p);
                   Expr value = context_.read(tile, loop_values(tile_loops_, p), fold_->type);
                   if (!from_identity && !loads) value = combine(read_partial(p), value);
                   const Stmt out = from_identity
                                        ? store_result(p, context_.cast(equation_->type, value),
                                                       OriginRole::Value)
                                        : store_partial(p, value, OriginRole::Merge, {});
                   return Result<Stmt>(guarded(guards, out));
                 }));
  const Stmt parts[] = {init, steps, merge, finish};
  return program::make_alloc(context_, tile, fold_->type, extents, program::Space::Register,
                             program::make_block(context_, parts));
}

// Pairwise: lanes l and l + n/2 meet, then n/4, ... until lane 0 holds the result.
Result<Stmt> NestEmitter::merge_lanes(Point& point, Symbol tile) {
  if (lanes_ <= 1) return program::make_block(context_, {});
  return over_loops(kept_, 0, point, [&](Point& p) {
    std::vector<Stmt> steps;
    for (std::int64_t half = lanes_ / 2; half >= 1; half /= 2) {
      const Symbol lane = builder_.fresh("lane");
      const Expr l = context_.var(lane);
      std::vector<Expr> low = loop_values(tile_loops_, p);
      std::vector<Expr> high = low;
      low.back() = half == 1 ? context_.index(0) : l;
      high.back() = half == 1 ? context_.index(1) : context_.add(l, context_.index(half));
      const Expr value =
          combine(context_.read(tile, low, fold_->type), context_.read(tile, high, fold_->type));
      const Stmt step =
          program::make_store(context_, tile, low, value, OriginRole::Merge, equation_->name, {});
      steps.push_back(half == 1 ? step
                                : program::make_for(context_, program::LoopKind::Vector, lane,
                                                    context_.index(0), context_.index(half), step));
    }
    return Result<Stmt>(program::make_block(context_, steps));
  });
}

Result<Stmt> NestEmitter::fold_step(Point& point, Symbol tile) {
  const Expr term = builder_.localise(point.env, fold_->body, index_values(point));
  const std::vector<Expr> guards = guards_of_term(point, term);
  const std::vector<Expr> index = loop_values(tile_loops_, point);
  std::vector<Expr> at = cell(point);
  const std::vector<Expr> folded = fold_values(point);
  at.insert(at.end(), folded.begin(), folded.end());
  const Expr value = combine(context_.read(tile, index, fold_->type), term);
  return guarded(guards, program::make_store(context_, tile, index, value, OriginRole::Fold,
                                             equation_->name, at));
}

Result<Stmt> NestEmitter::in_place_step(Point& point) {
  const Expr term = builder_.localise(point.env, fold_->body, index_values(point));
  const std::vector<Expr> guards = take_guards(point);
  const Expr value = combine(read_partial(point), term);
  return guarded(guards, store_partial(point, value, OriginRole::Fold, fold_values(point)));
}

namespace {

// Defined for any operands: what lies beyond the edge of a tile may be anything.
bool never_traps(Expr term) {
  bool total = true;
  ir::walk(term, [&](Expr e) {
    const auto* op = e.as<ir::Op>();
    if (op && (op->op == ir::OpCode::Div || op->op == ir::OpCode::Mod) && !ir::is_float(e.type())) {
      const auto* divisor = op->args[1].as<ir::IntConst>();
      total = total && divisor && divisor->value > 0;
    }
    const auto* cast = e.as<ir::Cast>();
    if (cast && !ir::cast_is_total(cast->value.type(), e.type())) total = false;
  });
  return total;
}

}  // namespace

// Results beyond the edge of a tile are never stored, so a guard of the result's indices is left out where
// every read stays inside its buffer without it (a padded copy).
std::vector<Expr> NestEmitter::guards_of_term(Point& point, Expr term) {
  auto is_kept_only = [&](Symbol name) {
    if (space_.is_fold(name)) return false;
    for (Symbol loop : space_.loops_of(name)) {
      const bool outside = std::any_of(
          nest_.loops.begin(), nest_.loops.begin() + static_cast<std::ptrdiff_t>(tile_begin_),
          [&](const tree::Loop& l) { return l.name == loop; });
      const bool kept = std::any_of(kept_.begin(), kept_.end(),
                                    [&](std::size_t i) { return nest_.loops[i].name == loop; });
      if (!outside && !kept) return false;
    }
    return true;
  };
  const bool total = never_traps(term);
  // Beyond the edge a reduction bounded by the index would run beyond what it may read.
  auto bounds_fold = [&](Symbol name) {
    const std::vector<Symbol> loops = space_.loops_of(name);
    for (const Dimension& d : space_.dimensions()) {
      if (!d.is_fold) continue;
      for (Expr bound : {d.lower, d.size})
        for (Symbol free : ir::free_vars(bound))
          for (Symbol loop : space_.loops_of(free))
            if (std::find(loops.begin(), loops.end(), loop) != loops.end()) return true;
    }
    return false;
  };
  auto safe = [&](Symbol name) {
    return total && is_kept_only(name) && !bounds_fold(name) &&
           reads_stay_inside(point, term, name);
  };
  std::erase_if(point.pending_splits, [&](int split) { return safe(space_.split_parent(split)); });
  std::erase_if(point.pending_dimensions, safe);
  return take_guards(point);
}

bool NestEmitter::reads_stay_inside(const Point& point, Expr term, Symbol name) const {
  std::vector<Symbol> vars;
  for (Symbol loop : space_.loops_of(name))
    for (Symbol var : ir::free_vars(point.values.value_of.at(loop))) vars.push_back(var);
  for (const ir::Read* read : ir::reads(term)) {
    const std::vector<Expr>* filled = builder_.filled_cells(point.env, read->tensor);
    if (!filled) return false;
    for (std::size_t i = 0; i < read->indices.size(); ++i) {
      const Expr index = read->indices[i];
      const Expr size = (*filled)[i];
      if (!size) return false;
      // The region that was filled may itself depend on the loops, so that none of it is left beyond the edge.
      std::vector<Symbol> used = ir::free_vars(index);
      for (Symbol var : ir::free_vars(size)) used.push_back(var);
      const bool affected = std::any_of(used.begin(), used.end(), [&](Symbol v) {
        return std::find(vars.begin(), vars.end(), v) != vars.end();
      });
      if (!affected) continue;
      const auto low = ir::decide(context_, context_.le(context_.index(0), index), builder_.ranges);
      const auto high = ir::decide(context_, context_.lt(index, size), builder_.ranges);
      if (!low || !*low || !high || !*high) return false;
    }
  }
  return true;
}

}  // namespace tilewright::build
