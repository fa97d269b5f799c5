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

std::vector<Expr> NestEmitter::localise(const Point& point, NodeList<Expr> exprs) const {
  std::vector<Expr> out;
  const ir::Substitution values = index_values(point);
  for (Expr expr : exprs) out.push_back(builder_.localise(point.env, expr, values));
  return out;
}

std::vector<Expr> NestEmitter::identities() const {
  std::vector<Expr> out;
  for (const Accumulator& accumulator : accumulators_) out.push_back(accumulator.identity);
  return out;
}

std::vector<Expr> NestEmitter::merged(const std::vector<Expr>& a,
                                      const std::vector<Expr>& b) const {
  std::vector<Expr> out = ir::combine(context_, reduction_, a, b);
  if (out.size() < a.size()) out.push_back(context_.op(ir::OpCode::Or, {a.back(), b.back()}));
  return out;
}

std::vector<Expr> NestEmitter::finished(const Point& point, const std::vector<Expr>& values) const {
  std::vector<Expr> out(values.begin(),
                        values.begin() + static_cast<std::ptrdiff_t>(fold_->body.size()));
  if (!fold_->on_empty.empty()) {
    const std::vector<Expr> otherwise = localise(point, fold_->on_empty);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = context_.select(values.back(), out[i], otherwise[i]);
  }
  if (equation_->parts.empty()) out[0] = context_.cast(equation_->type, out[0]);
  return out;
}

std::vector<Expr> NestEmitter::read(const std::vector<Place>& places) const {
  std::vector<Expr> out;
  for (std::size_t i = 0; i < places.size(); ++i)
    out.push_back(context_.read(places[i].buffer, places[i].index,
                                fold_ ? accumulators_[i].type : reduction_.types[i]));
  return out;
}

// `let`s around the body for the values that are no constants; they become the variables.
Stmt NestEmitter::bind(std::vector<Expr>& values, std::string_view name,
                       const std::function<Stmt()>& body) {
  std::vector<std::pair<Symbol, Expr>> lets;
  for (Expr& value : values) {
    if (value.as<ir::IntConst>() || value.as<ir::FloatConst>() || value.as<ir::BoolConst>() ||
        value.as<ir::Var>())
      continue;
    lets.emplace_back(builder_.fresh(std::string(equation_->name.text()) + std::string(name)),
                      value);
    value = context_.var(lets.back().first, value.type());
  }
  Stmt out = body();
  for (auto let = lets.rbegin(); let != lets.rend(); ++let)
    out = program::make_let(context_, let->first, let->second, out);
  return out;
}

Stmt NestEmitter::assign(const std::vector<Place>& places, const std::vector<Expr>& values,
                         OriginRole role, const std::vector<Expr>& at) {
  const auto computed = std::count_if(values.begin(), values.end(), [](Expr value) {
    return !value.as<ir::IntConst>() && !value.as<ir::FloatConst>() && !value.as<ir::BoolConst>();
  });
  std::vector<Expr> stored = values;
  const auto stores = [&] {
    std::vector<Stmt> out;
    for (std::size_t i = 0; i < places.size(); ++i)
      out.push_back(program::make_store(context_, places[i].buffer, places[i].index, stored[i],
                                        role, places[i].origin, at));
    return program::make_block(context_, out);
  };
  return computed > 1 ? bind(stored, "_new", stores) : stores();
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
  Point own = point;
  if (const std::vector<Expr> held = take_held(own, depth); !held.empty()) {
    TILEWRIGHT_TRY(inside, fold_loops(depth, end, own, body));
    return guarded(held, inside);
  }
  return loop(depth, point, [&](Point& inner) -> Result<Stmt> {
    // What is placed here is for iterations on the data alone.
    std::vector<Expr> guards;
    if (!builder_.placed_at(nest_.name, nest_.loops[depth].name).empty())
      guards = take_guards(inner, false);
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
  // The result's cells hold partial results where they have their types.
  const bool own =
      equation_->value.kind() == ir::ExprKind::Cast || accumulators_.size() > fold_->body.size();
  std::vector<Expr> extents;
  for (std::size_t i : accumulator_loops_)
    extents.push_back(
        builder_.simplify(context_.max(context_.index(0), space_.max_extent(nest_.loops[i].name))));
  for (Accumulator& a : accumulators_)
    a.outside = own ? builder_.fresh(std::string(nest_.name.text()) + "_acc") : Symbol();

  TILEWRIGHT_TRY(init, over_loops(accumulator_loops_, 0, point, [&](Point& p) {
                   const std::vector<Expr> guards = take_guards(p);
                   return Result<Stmt>(guarded(
                       guards, assign(outside_places(p), identities(), OriginRole::Init, cell(p))));
                 }));
  TILEWRIGHT_TRY(main, fold_loops(depth, tile_begin_, point, [&](Point& p) {
                   if (tile_begin_ < nest_.loops.size()) return tile_region(tile_begin_, p, false);
                   std::vector<Expr> at = cell(p);
                   const std::vector<Expr> folded = fold_values(p);
                   at.insert(at.end(), folded.begin(), folded.end());
                   return fold_step(p, outside_places(p), at, false);
                 }));
  std::vector<Stmt> parts = {init, main};
  if (own) {
    TILEWRIGHT_TRY(last, over_loops(accumulator_loops_, 0, point, [&](Point& p) {
                     const std::vector<Expr> guards = take_guards(p);
                     const std::vector<Expr> values = finished(p, read(outside_places(p)));
                     return Result<Stmt>(guarded(
                         guards, assign(result_places(p), values, OriginRole::Value, cell(p))));
                   }));
    parts.push_back(last);
  }
  Stmt all = program::make_block(context_, parts);
  accumulator_loops_.clear();
  for (auto a = accumulators_.rbegin(); own && a != accumulators_.rend(); ++a) {
    all =
        program::make_alloc(context_, a->outside, a->type, extents, program::Space::Workspace, all);
    a->outside = Symbol();
  }
  return all;
}

// The cells of the partial results outside the tile: the results themselves, or accumulators.
std::vector<Place> NestEmitter::outside_places(const Point& point) const {
  std::vector<Place> out;
  for (const Accumulator& a : accumulators_) {
    if (!a.outside.valid()) return result_places(point);
    out.push_back({a.outside, loop_values(accumulator_loops_, point), equation_->name});
  }
  return out;
}

std::vector<Place> NestEmitter::tile_places(const Point& point) const {
  std::vector<Place> out;
  for (const Accumulator& a : accumulators_)
    out.push_back({a.tile, loop_values(tile_loops_, point), equation_->name});
  return out;
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
  for (Accumulator& a : accumulators_)
    a.tile = builder_.fresh(std::string(nest_.name.text()) + "_acc");
  std::vector<Expr> extents;
  for (std::int64_t extent : tile_extents_) extents.push_back(context_.index(extent));
  const bool loads = !from_identity && lanes_ == 0;

  // In the order of the nest, so that a vector loop stays innermost; a tile's own loops have theirs.
  std::vector<std::size_t> all_tile_loops = tile_loops_;
  std::sort(all_tile_loops.begin(),
            all_tile_loops.end() - static_cast<std::ptrdiff_t>(num_tensor_results_));
  TILEWRIGHT_TRY(init, over_loops(all_tile_loops, 0, point, [&](Point& p) {
                   const Stmt start = assign(tile_places(p), identities(), OriginRole::Init, {});
                   if (!loads) return Result<Stmt>(start);
                   const std::vector<Expr> guards = take_guards(p);
                   const Stmt take =
                       assign(tile_places(p), read(outside_places(p)), OriginRole::Merge, cell(p));
                   return Result<Stmt>(guarded(guards, take, start));
                 }));
  TILEWRIGHT_TRY(steps, fold_loops(depth, tensor_begin_, point, [&](Point& p) {
                   return nest_.tensorized ? tensor_step(p) : tile_step(p);
                 }));
  TILEWRIGHT_TRY(merge, merge_lanes(point));
  TILEWRIGHT_TRY(
      finish, over_loops(kept_, 0, point, [&](Point& p) {
        const std::vector<Expr> guards = take_guards(p);
        std::vector<Expr> values = read(tile_places(p));
        if (!from_identity && !loads) values = merged(read(outside_places(p)), values);
        return Result<Stmt>(guarded(
            guards, from_identity
                        ? assign(result_places(p), finished(p, values), OriginRole::Value, cell(p))
                        : assign(outside_places(p), values, OriginRole::Merge, cell(p))));
      }));
  const Stmt parts[] = {init, steps, merge, finish};
  Stmt all = program::make_block(context_, parts);
  for (auto a = accumulators_.rbegin(); a != accumulators_.rend(); ++a)
    all = program::make_alloc(context_, a->tile, a->type, extents, program::Space::Register, all);
  return all;
}

// One more term into the tile.
Result<Stmt> NestEmitter::tile_step(Point& point) {
  std::vector<Expr> at = cell(point);
  const std::vector<Expr> folded = fold_values(point);
  at.insert(at.end(), folded.begin(), folded.end());
  return fold_step(point, tile_places(point), at, true);
}

// Pairwise: lanes l and l + n/2 meet, then n/4, ... until lane 0 holds the result.
Result<Stmt> NestEmitter::merge_lanes(Point& point) {
  if (lanes_ <= 1) return program::make_block(context_, {});
  return over_loops(kept_, 0, point, [&](Point& p) {
    std::vector<Stmt> steps;
    for (std::int64_t half = lanes_ / 2; half >= 1; half /= 2) {
      const Symbol lane = builder_.fresh("lane");
      const Expr l = context_.var(lane);
      std::vector<Place> low = tile_places(p);
      std::vector<Place> high = low;
      for (Place& place : low) place.index.back() = half == 1 ? context_.index(0) : l;
      for (Place& place : high)
        place.index.back() = half == 1 ? context_.index(1) : context_.add(l, context_.index(half));
      const Stmt meet = assign(low, merged(read(low), read(high)), OriginRole::Merge, {});
      steps.push_back(half == 1 ? meet
                                : program::make_for(context_, program::LoopKind::Vector, lane,
                                                    context_.index(0), context_.index(half), meet));
    }
    return Result<Stmt>(program::make_block(context_, steps));
  });
}

// One more term. `drop_guards`: its results may lie beyond the edge, where nothing keeps them.
Result<Stmt> NestEmitter::fold_step(Point& point, const std::vector<Place>& places,
                                    std::vector<Expr> at, bool drop_guards) {
  const std::vector<Expr> terms = localise(point, fold_->body);
  const std::vector<Expr> where = localise(point, fold_->where);
  std::vector<Expr> evaluated = terms;
  evaluated.insert(evaluated.end(), where.begin(), where.end());
  const std::vector<Expr> guards =
      drop_guards ? guards_of_terms(point, evaluated) : take_guards(point);
  Stmt out = step(places, places, terms, OriginRole::Fold, at);
  if (!where.empty()) out = program::make_if(context_, where[0], out);
  return guarded(guards, out);
}

namespace {

// Defined for any operands: what lies beyond the edge of a tile may be anything.
bool never_traps(Expr term) {
  bool total = true;
  ir::walk(term, [&](Expr e) {
    const auto* op = e.as<ir::Op>();
    if (op && (op->op == ir::OpCode::Div || op->op == ir::OpCode::Mod) &&
        !ir::holds_floats(e.type())) {
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
std::vector<Expr> NestEmitter::guards_of_terms(Point& point, const std::vector<Expr>& terms) {
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
  const bool total = std::all_of(terms.begin(), terms.end(), never_traps);
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
           std::all_of(terms.begin(), terms.end(),
                       [&](Expr term) { return reads_stay_inside(point, term, name); });
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
      const Expr below = builder_.simplify(context_.lt(index, size));
      const bool high = ir::decide(context_, below, builder_.ranges).value_or(false) ||
                        follows_from_bounds(point, below);
      if (!low || !*low || !high) return false;
    }
  }
  return true;
}

}  // namespace tilewright::build
