// SPDX-License-Identifier: Apache-2.0
#include "lowering/build/loop_space.h"

#include <numeric>

#include "frontend/ir/facts.h"
#include "frontend/ir/index_math.h"
#include "frontend/ir/walk.h"

namespace tilewright::build {

using ir::OpCode;

ir::Ranges extent_ranges(const ir::Algorithm& algorithm) {
  ir::Ranges ranges;
  for (const ir::ExtentDecl& extent : algorithm.extents)
    ranges[extent.name] = {extent.min, extent.max};
  // Inside of its loop, where alone it is used, a variable is below the number of iterations.
  for (const ir::Loop& loop : algorithm.loops) {
    const auto most = ir::interval(loop.trips, ranges).hi;
    ranges[loop.var] = {0, most ? std::optional(std::max<std::int64_t>(*most - 1, 0)) : most};
  }
  return ranges;
}

Facts::Facts(const ir::Algorithm& algorithm) : ranges(extent_ranges(algorithm)) {
  for (const ir::ExtentDecl& extent : algorithm.extents)
    multiple_of[extent.name] = extent.multiple_of;
}

void Facts::add(Expr condition) {
  const auto* op = condition.as<ir::Op>();
  if (!op || op->args.size() != 2) return;
  if (op->op == OpCode::And) {
    add(op->args[0]);
    add(op->args[1]);
    return;
  }
  const auto constant = [](Expr e) {
    const auto* node = e.as<ir::IntConst>();
    return node ? std::optional(node->value) : std::nullopt;
  };
  Expr left = op->args[0];
  Expr right = op->args[1];
  OpCode code = op->op;
  if (constant(left)) {
    std::swap(left, right);
    code = code == OpCode::Lt   ? OpCode::Gt
           : code == OpCode::Le ? OpCode::Ge
           : code == OpCode::Gt ? OpCode::Lt
           : code == OpCode::Ge ? OpCode::Le
                                : code;
  }
  const auto value = constant(right);
  if (!value) return;
  if (const auto* mod = left.as<ir::Op>(); mod && mod->op == OpCode::Mod) {
    const auto* extent = mod->args[0].as<ir::Extent>();
    const auto divisor = constant(mod->args[1]);
    if (!extent || code != OpCode::Eq || *value != 0 || !divisor || *divisor <= 0) return;
    std::int64_t& known = multiple_of.try_emplace(extent->name, 1).first->second;
    std::int64_t both = 0;
    if (!__builtin_mul_overflow(known / std::gcd(known, *divisor), *divisor, &both)) known = both;
    return;
  }
  const auto* extent = left.as<ir::Extent>();
  if (!extent) return;
  ir::Interval& range = ranges[extent->name];
  const auto at_least = [&](std::int64_t bound) {
    range.lo = std::max(range.lo.value_or(bound), bound);
  };
  const auto at_most = [&](std::int64_t bound) {
    range.hi = std::min(range.hi.value_or(bound), bound);
  };
  switch (code) {
    case OpCode::Ge: at_least(*value); break;
    case OpCode::Gt: at_least(*value + 1); break;
    case OpCode::Le: at_most(*value); break;
    case OpCode::Lt: at_most(*value - 1); break;
    case OpCode::Eq:
      at_least(*value);
      at_most(*value);
      break;
    default: break;
  }
}

LoopSpace::LoopSpace(ir::Context& context, const Facts& facts, const tree::Nest& nest,
                     std::vector<Dimension> dimensions)
    : context_(context), facts_(facts), nest_(nest), dimensions_(std::move(dimensions)) {
  for (std::size_t i = 0; i < dimensions_.size(); ++i)
    names_[dimensions_[i].name].dimension = static_cast<int>(i);
  for (std::size_t i = 0; i < nest_.steps.size(); ++i) {
    const int step = static_cast<int>(i);
    if (const auto* s = std::get_if<tree::SplitStep>(&nest_.steps[i])) {
      names_[s->parent].split_parent = step;
      names_[s->outer].split_outer = step;
      names_[s->inner].split_inner = step;
    } else {
      const auto& f = std::get<tree::FuseStep>(nest_.steps[i]);
      names_[f.outer].fuse_outer = step;
      names_[f.inner].fuse_inner = step;
      names_[f.fused].fused = step;
    }
  }
}

bool LoopSpace::has_value(Symbol symbol, const LoopValues& values) const {
  if (values.value_of.contains(symbol)) return true;
  const Name& n = name(symbol);
  if (n.split_parent >= 0)
    return has_value(split(n.split_parent).outer, values) &&
           has_value(split(n.split_parent).inner, values);
  if (n.fuse_outer >= 0) return has_value(fuse(n.fuse_outer).fused, values);
  if (n.fuse_inner >= 0) return has_value(fuse(n.fuse_inner).fused, values);
  return false;
}

Expr LoopSpace::value(Symbol symbol, const LoopValues& values) const {
  if (auto it = values.value_of.find(symbol); it != values.value_of.end()) return it->second;
  const Name& n = name(symbol);
  if (n.split_parent >= 0) {
    const auto& s = split(n.split_parent);
    return context_.add(context_.mul(value(s.outer, values), context_.index(s.factor)),
                        value(s.inner, values));
  }
  const auto& f = fuse(n.fuse_outer >= 0 ? n.fuse_outer : n.fuse_inner);
  const Expr fused = value(f.fused, values);
  // An empty fused loop never runs, but its text must not divide by zero.
  Expr inner = max_extent(f.inner);
  if (inner == context_.index(0)) inner = context_.index(1);
  return n.fuse_outer >= 0 ? context_.floor_div(fused, inner) : context_.floor_mod(fused, inner);
}

std::pair<Expr, Expr> LoopSpace::range(Symbol symbol, const LoopValues& values) const {
  if (has_value(symbol, values)) {
    const Expr v = value(symbol, values);
    return {v, context_.add(v, context_.index(1))};
  }
  const Name& n = name(symbol);
  if (n.split_parent < 0) return {context_.index(0), extent(symbol, values)};
  const auto& s = split(n.split_parent);
  const auto [outer_lo, outer_hi] = range(s.outer, values);
  const auto [inner_lo, inner_hi] = range(s.inner, values);
  const Expr f = context_.index(s.factor);
  const Expr lo = context_.add(context_.mul(outer_lo, f), inner_lo);
  const Expr last = context_.sub(outer_hi, context_.index(1));
  const Expr hi = context_.add(context_.mul(last, f), inner_hi);
  return {lo, context_.min(hi, extent(symbol, values))};
}

// Every dimension that an expression of the algorithm names has a value, and those in their lower bounds.
bool LoopSpace::known(Expr algorithm_expr, const LoopValues& values) const {
  for (Symbol free : ir::free_vars(algorithm_expr)) {
    if (!has_value(free, values)) return false;
    const Dimension& dimension = dimensions_[static_cast<std::size_t>(name(free).dimension)];
    if (dimension.is_fold && !known(dimension.lower, values)) return false;
  }
  return true;
}

// An expression of the algorithm over the dimensions as one of the Program over the loops.
Expr LoopSpace::resolve(Expr algorithm_expr, const LoopValues& values) const {
  ir::Substitution replace;
  for (Symbol free : ir::free_vars(algorithm_expr))
    replace[free] = absolute(free, value(free, values), values);
  const Expr out =
      replace.empty() ? algorithm_expr : ir::substitute(context_, algorithm_expr, replace);
  return reads_ && ir::depends_on_data(out) ? reads_(out) : out;
}

Expr LoopSpace::absolute(Symbol symbol, Expr local, const LoopValues& values) const {
  const Dimension& dimension = dimensions_[static_cast<std::size_t>(name(symbol).dimension)];
  return context_.add(dimension.is_fold ? resolve(dimension.lower, values) : dimension.lower,
                      local);
}

// A fold variable's size may depend on dimensions of the nest (`k < i + 1`): exact once those have values.
bool LoopSpace::size_known(const Dimension& dimension, const LoopValues& values) const {
  return !dimension.is_fold || known(dimension.size, values);
}

Expr LoopSpace::dimension_size(const Dimension& dimension, const LoopValues& values) const {
  if (!size_known(dimension, values)) return dimension.max_size;
  return dimension.is_fold ? resolve(dimension.size, values) : dimension.size;
}

Expr LoopSpace::extent(Symbol symbol, const LoopValues& values) const {
  const Name& n = name(symbol);
  if (n.dimension >= 0)
    return dimension_size(dimensions_[static_cast<std::size_t>(n.dimension)], values);
  if (n.fused >= 0) return max_extent(symbol);
  if (n.split_outer >= 0) {
    const auto& s = split(n.split_outer);
    return context_.ceil_div(extent(s.parent, values), s.factor);
  }
  const auto& s = split(n.split_inner);
  const Expr factor = context_.index(s.factor);
  if (values.full_splits.contains(n.split_inner) || divides(n.split_inner, values)) return factor;
  if (!has_value(s.outer, values)) return factor;
  const Expr rest =
      context_.sub(extent(s.parent, values), context_.mul(value(s.outer, values), factor));
  return context_.min(factor, rest);
}

Expr LoopSpace::max_extent(Symbol symbol) const {
  const Name& n = name(symbol);
  if (n.dimension >= 0) return dimensions_[static_cast<std::size_t>(n.dimension)].max_size;
  if (n.fused >= 0) {
    const auto& f = fuse(n.fused);
    return context_.mul(max_extent(f.outer), max_extent(f.inner));
  }
  if (n.split_outer >= 0) {
    const auto& s = split(n.split_outer);
    return context_.ceil_div(max_extent(s.parent), s.factor);
  }
  return context_.index(split(n.split_inner).factor);
}

std::optional<std::int64_t> LoopSpace::constant_extent(Symbol symbol) const {
  const ir::Interval bound = ir::interval(max_extent(symbol), facts_.ranges);
  const Expr simple = ir::simplify(context_, max_extent(symbol), facts_.ranges);
  std::optional<std::int64_t> length;
  if (const auto* known = simple.as<ir::IntConst>()) length = known->value;
  if (bound.lo && bound.lo == bound.hi) length = bound.lo;
  // A loop that never runs has no lanes.
  return length && *length >= 1 ? length : std::nullopt;
}

bool LoopSpace::is_fold(Symbol symbol) const {
  const Name& n = name(symbol);
  if (n.dimension >= 0) return dimensions_[static_cast<std::size_t>(n.dimension)].is_fold;
  if (n.split_outer >= 0) return is_fold(split(n.split_outer).parent);
  if (n.split_inner >= 0) return is_fold(split(n.split_inner).parent);
  return is_fold(fuse(n.fused).outer) || is_fold(fuse(n.fused).inner);
}

// `exact`: the name runs over extent(), not over its constant or largest length.
void LoopSpace::add_overruns(Symbol symbol, bool exact, const LoopValues& values,
                             Overruns& out) const {
  const Name& n = name(symbol);
  if (n.dimension >= 0) {
    const Dimension& dimension = dimensions_[static_cast<std::size_t>(n.dimension)];
    const bool sized = size_known(dimension, values);
    if (!sized || (!exact && !(dimension.size == dimension.max_size)))
      out.dimensions.push_back(symbol);
    return;
  }
  if (n.fused >= 0) {
    add_overruns(fuse(n.fused).outer, false, values, out);
    add_overruns(fuse(n.fused).inner, false, values, out);
    return;
  }
  const bool is_inner = n.split_inner >= 0;
  const int step = is_inner ? n.split_inner : n.split_outer;
  const auto& s = split(step);
  const bool full = values.full_splits.contains(step) || divides(step, values);
  if (is_inner && !full && (!exact || !has_value(s.outer, values))) out.splits.push_back(step);
  if (!is_inner && !exact && !(extent(symbol, values) == max_extent(symbol)))
    out.splits.push_back(step);
  // The parent's extent() is exact only when the loop outside its own inner part has a value.
  add_overruns(s.parent, true, values, out);
}

LoopSpace::Overruns LoopSpace::overruns(Symbol loop, bool constant_length,
                                        const LoopValues& values) const {
  Overruns out;
  add_overruns(loop, !constant_length, values, out);
  return out;
}

Expr LoopSpace::guard(int step, const LoopValues& values) const {
  const Symbol parent = split(step).parent;
  return context_.lt(value(parent, values), extent(parent, values));
}

Expr LoopSpace::dimension_guard(Symbol dimension, const LoopValues& values) const {
  return context_.lt(value(dimension, values), extent(dimension, values));
}

bool LoopSpace::dimension_guard_known(Symbol symbol, const LoopValues& values) const {
  const Dimension& dimension = dimensions_[static_cast<std::size_t>(name(symbol).dimension)];
  return has_value(symbol, values) && size_known(dimension, values);
}

std::vector<Symbol> LoopSpace::loops_of(Symbol symbol) const {
  const Name& n = name(symbol);
  if (n.fuse_outer >= 0) return loops_of(fuse(n.fuse_outer).fused);
  if (n.fuse_inner >= 0) return loops_of(fuse(n.fuse_inner).fused);
  if (n.split_parent < 0) return {symbol};
  std::vector<Symbol> out = loops_of(split(n.split_parent).outer);
  for (Symbol loop : loops_of(split(n.split_parent).inner)) out.push_back(loop);
  return out;
}

int LoopSpace::split_of_outer(Symbol loop) const { return name(loop).split_outer; }

Expr LoopSpace::full_tiles(int step, const LoopValues& values) const {
  const auto& s = split(step);
  // An empty range may have a negative extent.
  return context_.max(context_.index(0),
                      context_.floor_div(extent(s.parent, values), context_.index(s.factor)));
}

bool LoopSpace::divides(int step, const LoopValues& values) const {
  const auto& s = split(step);
  if (s.factor == 1) return true;
  const Name& parent = name(s.parent);
  // The extent of an inner part is its factor or the rest of its own parent.
  if (parent.split_inner >= 0)
    return split(parent.split_inner).factor % s.factor == 0 &&
           (values.full_splits.contains(parent.split_inner) || divides(parent.split_inner, values));
  if (parent.dimension < 0) return false;
  return divisible(dimensions_[static_cast<std::size_t>(parent.dimension)].size, s.factor);
}

bool LoopSpace::divisible(Expr expr, std::int64_t by) const {
  if (const auto* op = expr.as<ir::Op>(); op && (op->op == OpCode::Min || op->op == OpCode::Max))
    return divisible(op->args[0], by) && divisible(op->args[1], by);
  auto form = ir::linear_form(expr);
  if (!form || form->constant % by != 0) return false;
  for (const auto& [atom, coefficient] : form->terms) {
    if (coefficient % by == 0) continue;
    const auto* extent = atom.as<ir::Extent>();
    const auto known = extent ? facts_.multiple_of.find(extent->name) : facts_.multiple_of.end();
    std::int64_t step = 0;
    if (known == facts_.multiple_of.end() ||
        __builtin_mul_overflow(known->second, coefficient, &step) || step % by != 0)
      return false;
  }
  return true;
}

}  // namespace tilewright::build
