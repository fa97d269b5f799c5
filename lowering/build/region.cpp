// SPDX-License-Identifier: Apache-2.0
//
// Bounds inference: the region of a tensor that the nests inside a loop read. For each reader its box of
// instances, cut by its fold's bounds, goes through the access and the hull of the image is taken.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "frontend/ir/facts.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/build/affine_view.h"
#include "lowering/build/builder.h"
#include "schedules/polyhedra/bounds.h"

namespace tilewright::build {

namespace {

using poly::AffineExpr;
using poly::BasicSet;
using poly::BoundExpr;

// Bounds with more leaves than this are given up for the whole dimension: differences and cases multiply.
constexpr std::size_t kMaxLeaves = 24;

std::size_t num_leaves(const BoundExpr& expr) {
  if (expr.kind() == BoundExpr::Kind::Affine) return 1;
  std::size_t count = 0;
  for (const BoundExpr& operand : expr.operands()) count += num_leaves(operand);
  return count;
}

// A box of instances of a nest's dimensions: lower <= dim < upper, indices of the algorithm.
struct Box {
  std::vector<Expr> lower;
  std::vector<Expr> upper;
};

// Dimensions of the reader are `i'`, cells `#0`; loops and extents keep their names.
std::string dimension_name(Symbol dim) { return std::string(dim.text()) + "'"; }
std::string cell_name(std::size_t i) { return "#" + std::to_string(i); }

std::string loop_name(Expr name) {
  if (const auto* var = name.as<ir::Var>()) return std::string(var->name.text());
  return std::string(name.as<ir::Extent>()->name.text());
}

// The constant that an expression of minima, maxima and remainders never exceeds, if one can be read off.
std::optional<std::int64_t> constant_bound(Expr size) {
  if (const auto* known = size.as<ir::IntConst>()) return known->value;
  const auto* op = size.as<ir::Op>();
  if (op && op->op == ir::OpCode::Mod) {
    const auto* divisor = op->args[1].as<ir::IntConst>();
    return divisor && divisor->value > 0 ? std::optional(divisor->value - 1) : std::nullopt;
  }
  if (!op || (op->op != ir::OpCode::Min && op->op != ir::OpCode::Max)) return std::nullopt;
  const auto a = constant_bound(op->args[0]);
  const auto b = constant_bound(op->args[1]);
  if (op->op == ir::OpCode::Max) return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
  return a && b ? std::min(*a, *b) : a ? a : b;
}

// min(64, N) is allocated as 64: constant strides, and whole tiles may be computed in it.
Expr constant_if_bounded(ir::Context& context, Expr size) {
  const auto known = constant_bound(size);
  return known ? context.index(*known) : size;
}

class RegionFinder {
 public:
  RegionFinder(Builder& builder, const tree::Nest& owner, Symbol loop, const LoopSpace& space,
               const LoopValues& values, const Env& env)
      : builder_(builder), owner_(owner), loop_(loop), space_(space), values_(values), env_(env) {
    for (const ir::ExtentDecl& extent : builder.algorithm.extents)
      params_.emplace_back(extent.name.text());
    for (const LiveLoop& live : env.loops) params_.emplace_back(live.var.text());
  }

  // The region of the nest's tensor, and when it is needed.
  Result<Region> find_for(const tree::Nest& nest) {
    const Symbol tensor = nest.stage ? nest.stage->tensor : nest.name;
    images_.clear();
    always_needed_ = false;
    TILEWRIGHT_TRY(region, find(tensor, true));
    if (always_needed_ || !builder_.reads_regions(nest)) return region;
    TILEWRIGHT_TRY(needed, some_instance());
    if (needed && !(needed == builder_.context.boolean(true))) region.needed = needed;
    return region;
  }

 private:
  Result<Region> find(Symbol tensor, bool outermost) {
    const auto& shape = *builder_.algorithm.shape_of(tensor);
    std::vector<BoundExpr> lower(shape.size());
    std::vector<BoundExpr> upper(shape.size());
    bool any = false;
    for (const tree::Nest& nest : builder_.schedule.tree.nests) {
      const ir::Equation* reader = builder_.equation(nest.name);
      if (!reader || nest.stage || nest.name == tensor ||
          !builder_.stands_inside(nest, owner_, loop_))
        continue;
      for (const ir::Read* read : ir::reads(reader->value)) {
        if (read->tensor != tensor) continue;
        TILEWRIGHT_TRY(hull, footprint(nest, *reader, *read, shape, outermost));
        for (std::size_t i = 0; i < shape.size(); ++i) {
          lower[i] = any ? BoundExpr::min({lower[i], hull[i].lower}) : hull[i].lower;
          upper[i] = any ? BoundExpr::max({upper[i], hull[i].upper}) : hull[i].upper;
        }
        any = true;
      }
    }
    if (!any)
      return refuse({},
                    "nothing inside `" + std::string(owner_.name.text()) + "." +
                        std::string(loop_.text()) + "` reads `" + std::string(tensor.text()) + "`",
                    "place it at a loop around its readers");
    return region(lower, upper, shape);
  }

  // The condition on extents and live loops under which some reader has an instance.
  Result<Expr> some_instance() {
    ir::Context& context = builder_.context;
    const poly::Set facts = assumed();
    Expr any = context.boolean(false);
    for (const poly::Set& image : images_) {
      TILEWRIGHT_TRY(inhabited, poly::parameter_domain(builder_.polyhedra, image));
      TILEWRIGHT_TRY(condition, poly::gist(builder_.polyhedra, inhabited, facts));
      for (const BasicSet& piece : condition.pieces()) {
        Expr all = context.boolean(true);
        for (const AffineExpr& e : piece.equalities)
          all = context.both(all, builder_.simplify(comparison(e, ir::OpCode::Eq)));
        for (const AffineExpr& e : piece.inequalities)
          all = context.both(all, builder_.simplify(comparison(e, ir::OpCode::Ge)));
        any = context.op(ir::OpCode::Or, {any, all});
      }
    }
    return any;
  }

  // `value` compared with 0, each term on the side where it is positive: N - i - 1 >= 0 is `i < N`.
  Expr comparison(const AffineExpr& value, ir::OpCode op) const {
    ir::Context& context = builder_.context;
    AffineExpr positive;
    AffineExpr negative;
    for (const poly::LinearTerm& term : value.terms()) {
      const AffineExpr part = AffineExpr::variable(term.name, std::abs(term.coefficient));
      (term.coefficient > 0 ? positive : negative) =
          (term.coefficient > 0 ? positive : negative) + part;
    }
    for (const poly::FloorTerm& term : value.floors()) {
      const AffineExpr part =
          poly::floor_div(term.numerator, term.denominator) * std::abs(term.coefficient);
      (term.coefficient > 0 ? positive : negative) =
          (term.coefficient > 0 ? positive : negative) + part;
    }
    const bool strict = op == ir::OpCode::Ge && value.constant() == -1;
    if (!strict) positive = positive + AffineExpr(value.constant());
    const Expr above = *to_ir(context, BoundExpr(positive), resolve_);
    const Expr below = *to_ir(context, BoundExpr(negative), resolve_);
    if (op == ir::OpCode::Eq) return context.op(op, {above, below});
    return strict ? context.lt(below, above) : context.le(below, above);
  }

  // The facts about extents and live loops.
  poly::Set assumed() const {
    BasicSet facts;
    for (const ir::ExtentDecl& extent : builder_.algorithm.extents) {
      const AffineExpr value = AffineExpr::variable(extent.name.text());
      facts.at_least(value, AffineExpr(extent.min));
      if (extent.max) facts.at_least(AffineExpr(*extent.max), value);
    }
    for (Expr requirement : builder_.algorithm.requirements)
      add_condition(facts, requirement, loop_name);
    for (Expr guard : builder_.schedule.guards) add_condition(facts, guard, loop_name);
    for (Expr condition : builder_.conditions) add_condition(facts, condition, loop_name);
    for (const LiveLoop& live : env_.loops) add_loop(facts, live);
    return poly::Set({params_, {}}, facts);
  }

  static void add_loop(BasicSet& facts, const LiveLoop& live) {
    const AffineExpr value = AffineExpr::variable(live.var.text());
    if (auto bound = to_bound(live.lower, loop_name)) add_at_least(facts, value, *bound);
    if (auto bound = to_bound(live.upper, loop_name)) add_less(facts, value, *bound);
  }

  // The instances of a nest inside the loop: the owner's from its loop values, another's from what reads it.
  Result<Box> box(const tree::Nest& nest, const ir::Equation& reader) {
    ir::Context& context = builder_.context;
    Box out;
    if (nest.name == owner_.name) {
      for (const Dimension& dimension : space_.dimensions()) {
        if (dimension.is_fold) break;
        auto [lo, hi] = space_.range(dimension.name, values_);
        out.lower.push_back(space_.absolute(dimension.name, lo, values_));
        out.upper.push_back(space_.absolute(dimension.name, hi, values_));
      }
      return out;
    }
    auto known = boxes_.find(nest.name);
    if (known != boxes_.end()) return known->second;
    TILEWRIGHT_TRY(needed, find(reader.name, false));
    for (std::size_t i = 0; i < needed.lower.size(); ++i) {
      out.lower.push_back(needed.lower[i]);
      out.upper.push_back(context.add(needed.lower[i], needed.size[i]));
    }
    boxes_.emplace(nest.name, out);
    return out;
  }

  Result<std::vector<poly::DimBounds>> footprint(const tree::Nest& nest, const ir::Equation& reader,
                                                 const ir::Read& read,
                                                 const std::vector<Expr>& shape, bool outermost) {
    TILEWRIGHT_TRY(instances, box(nest, reader));
    const std::vector<Symbol> dims = tree::dimensions(reader);
    auto is_dimension = [&](Expr name) {
      const auto* var = name.as<ir::Var>();
      return var && std::find(dims.begin(), dims.end(), var->name) != dims.end();
    };
    // In the reader's own expressions a variable is one of its dimensions.
    const Rename rename = [&](Expr name) {
      return is_dimension(name) ? dimension_name(name.as<ir::Var>()->name) : loop_name(name);
    };
    BasicSet set;
    auto bound = [&](const AffineExpr& value, Expr lower, Expr upper, const Rename& names) {
      if (auto lo = to_bound(lower, names)) add_at_least(set, value, *lo);
      if (auto hi = to_bound(upper, names)) add_less(set, value, *hi);
    };
    for (std::size_t i = 0; i < reader.indices.size(); ++i)
      bound(AffineExpr::variable(dimension_name(reader.indices[i])), instances.lower[i],
            instances.upper[i], loop_name);
    if (const ir::Fold* fold = reader.fold();
        fold && !fold->scan && !is_beside_terms(*fold, read)) {
      for (std::size_t i = 0; i < fold->vars.size(); ++i)
        bound(AffineExpr::variable(dimension_name(fold->vars[i])), widest(fold->lower[i], false),
              widest(fold->upper[i], true), rename);
      if (nest.name == owner_.name) bound_fold_tiles(set, *fold);
    }
    poly::Space space{params_, {}};
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const AffineExpr cell = AffineExpr::variable(cell_name(i));
      space.dims.push_back(cell_name(i));
      bound(cell, builder_.context.index(0), shape[i], rename);
      auto index = to_bound(read.indices[i], rename);
      if (index && index->kind() == BoundExpr::Kind::Affine) set.equal(cell, index->affine());
    }
    for (Symbol dim : dims) space.dims.push_back(dimension_name(dim));
    std::vector<poly::DimBounds> hull;
    const poly::Set image(space, set);
    const poly::Set facts = assumed();
    bool may_be_empty = shape.empty();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      auto found = poly::dim_bounds(builder_.polyhedra, image, cell_name(i), facts);
      poly::DimBounds one;
      if (found.ok()) {
        one = *std::move(found);
      } else {
        // Past the limit of work: any cell of the tensor.
        auto size = to_bound(shape[i], rename);
        if (!size) return std::move(found).failure();
        one.upper = *size;
      }
      may_be_empty = may_be_empty || one.may_be_empty || !found.ok();
      // The bounds of an empty set may lie anywhere, and others may be loose: they must not reach beyond
      // the tensor.
      if (one.may_be_empty || !one.exact) {
        TILEWRIGHT_TRY(lower, poly::simplify(builder_.polyhedra,
                                             BoundExpr::max({one.lower, BoundExpr(0)}), facts));
        one.lower = std::move(lower);
        if (auto size = to_bound(shape[i], rename)) {
          TILEWRIGHT_TRY(
              upper, poly::simplify(builder_.polyhedra, BoundExpr::min({one.upper, *size}), facts));
          one.upper = std::move(upper);
        }
      }
      hull.push_back(std::move(one));
    }
    if (outermost) {
      images_.push_back(image);
      always_needed_ = always_needed_ || !may_be_empty;
    }
    return hull;
  }

  // Whether a reduction reads it though it may have no terms.
  static bool is_beside_terms(const ir::Fold& fold, const ir::Read& read) {
    for (const auto& exprs : {fold.on_empty, fold.base})
      for (Expr e : exprs)
        for (const ir::Read* other : ir::reads(e))
          if (other == &read) return true;
    return false;
  }

  // What is known of a bound that depends on data.
  Expr widest(Expr bound, bool upper) const {
    if (!ir::depends_on_data(bound)) return bound;
    const auto range = ir::value_range(builder_.context, builder_.algorithm, bound);
    return !range ? bound : upper ? range->high : range->low;
  }

  bool has_values(const std::vector<Expr>& exprs) const {
    for (Expr e : exprs)
      for (Symbol v : ir::free_vars(e))
        if (!space_.has_value(v, values_)) return false;
    return true;
  }

  // Loops of the owner that tile its fold variables and have a value cut the fold's range.
  void bound_fold_tiles(BasicSet& set, const ir::Fold& fold) {
    for (std::size_t i = 0; i < fold.vars.size(); ++i) {
      const Symbol var = fold.vars[i];
      // A bound that depends on the reader's indices has no value before its loops do.
      const bool data = ir::depends_on_data(fold.lower[i]) || ir::depends_on_data(fold.upper[i]);
      if (data ? !has_values({fold.lower[i], fold.upper[i]})
               : !ir::free_vars(fold.lower[i]).empty())
        continue;
      auto [lo, hi] = space_.range(var, values_);
      const AffineExpr value = AffineExpr::variable(dimension_name(var));
      if (auto bound = to_bound(space_.absolute(var, lo, values_), loop_name))
        add_at_least(set, value, *bound);
      if (auto bound = to_bound(space_.absolute(var, hi, values_), loop_name))
        add_less(set, value, *bound);
    }
  }

  Region region(const std::vector<BoundExpr>& lower, const std::vector<BoundExpr>& upper,
                const std::vector<Expr>& shape) {
    BasicSet domain;
    poly::Space space;
    for (const ir::ExtentDecl& extent : builder_.algorithm.extents)
      space.params.emplace_back(extent.name.text());
    for (const LiveLoop& live : env_.loops) {
      space.dims.emplace_back(live.var.text());
      add_loop(domain, live);
    }
    const poly::Set loops(space, domain);
    const poly::Set facts = assumed();
    Region out;
    for (std::size_t i = 0; i < lower.size(); ++i) {
      auto side = tight_side(lower[i], upper[i], facts, loops);
      if (!side) side = Side{builder_.context.index(0), shape[i], shape[i]};
      out.lower.push_back(side->lower);
      out.size.push_back(side->size);
      out.max_size.push_back(side->max_size);
    }
    return out;
  }

  struct Side {
    Expr lower;
    Expr size;
    Expr max_size;
  };

  // One dimension of a region; nothing when its bounds are no expression of reasonable size. The whole
  // dimension then takes its place: the region is a choice, only that it holds what is read is a duty.
  std::optional<Side> tight_side(const BoundExpr& lower, const BoundExpr& upper,
                                 const poly::Set& facts, const poly::Set& loops) {
    auto lo = poly::simplify(builder_.polyhedra, lower, facts);
    auto hi = poly::simplify(builder_.polyhedra, upper, facts);
    if (!lo.ok() || !hi.ok() || num_leaves(*lo) * num_leaves(*hi) > kMaxLeaves) return std::nullopt;
    auto extent = poly::simplify(builder_.polyhedra, *hi - *lo, facts);
    if (!extent.ok()) return std::nullopt;
    auto over = poly::max_over(builder_.polyhedra, *extent, loops);
    if (!over.ok() || num_leaves(*over) > kMaxLeaves) return std::nullopt;
    auto largest = poly::simplify(builder_.polyhedra, BoundExpr::max({*over, BoundExpr(0)}), facts);
    if (!largest.ok()) return std::nullopt;
    auto lo_expr = to_ir(builder_.context, *lo, resolve_);
    auto size = to_ir(builder_.context, *extent, resolve_);
    auto max_size = to_ir(builder_.context, *largest, resolve_);
    if (!lo_expr || !size || !max_size) return std::nullopt;
    return Side{builder_.simplify(*lo_expr), builder_.simplify(*size),
                constant_if_bounded(builder_.context, builder_.simplify(*max_size))};
  }

  Builder& builder_;
  const tree::Nest& owner_;
  Symbol loop_;
  const LoopSpace& space_;
  const LoopValues& values_;
  const Env& env_;
  std::vector<std::string> params_;
  std::map<Symbol, Box> boxes_;
  // Of the last find_for(): the points of each reader, and whether one of them never is without any.
  std::vector<poly::Set> images_;
  bool always_needed_ = false;
  const Resolve resolve_ = [this](const std::string& name) {
    const Symbol symbol = builder_.context.symbol(name);
    const bool fixed =
        builder_.algorithm.find_extent(symbol) || builder_.algorithm.find_loop(symbol);
    return fixed ? builder_.context.extent(symbol) : builder_.context.var(symbol);
  };
};

}  // namespace

Result<Expr> Builder::largest(const ir::Equation& equation, std::size_t num_fold_vars,
                              Expr expr) const {
  const ir::Fold* fold = equation.fold();
  // The widest that is known of what depends on data.
  auto widest = [&](Expr e, bool upper) -> Expr {
    if (!ir::depends_on_data(e)) return e;
    const auto range = ir::value_range(context, algorithm, e);
    return !range ? e : upper ? range->high : range->low;
  };
  auto value = to_bound(widest(expr, true), loop_name);
  if (!value)
    return refuse(
        {},
        "the bounds of the reduction `" + std::string(equation.name.text()) + "` are not affine",
        "write them with sums, minima, maxima and divisions by constants",
        {{"length", ir::print(expr)}});
  poly::Space space;
  BasicSet domain;
  for (const ir::ExtentDecl& extent : algorithm.extents)
    space.params.emplace_back(extent.name.text());
  for (const ir::Loop* loop : algorithm.loops_around(equation)) {
    space.dims.emplace_back(loop->var.text());
    const AffineExpr index = AffineExpr::variable(loop->var.text());
    domain.at_least(index, AffineExpr(0));
    if (auto trips = to_bound(loop->trips, loop_name)) add_less(domain, index, *trips);
  }
  for (std::size_t i = 0; i < equation.indices.size(); ++i) {
    space.dims.emplace_back(equation.indices[i].text());
    const AffineExpr index = AffineExpr::variable(equation.indices[i].text());
    domain.at_least(index, AffineExpr(0));
    if (auto size = to_bound(equation.shape[i], loop_name)) add_less(domain, index, *size);
  }
  for (std::size_t i = 0; i < num_fold_vars; ++i) {
    space.dims.emplace_back(fold->vars[i].text());
    const AffineExpr var = AffineExpr::variable(fold->vars[i].text());
    if (auto lower = to_bound(widest(fold->lower[i], false), loop_name))
      add_at_least(domain, var, *lower);
    if (auto upper = to_bound(widest(fold->upper[i], true), loop_name))
      add_less(domain, var, *upper);
  }
  TILEWRIGHT_TRY(most, poly::max_over(polyhedra, *value, poly::Set(space, domain)));
  auto out = to_ir(context, BoundExpr::max({most, BoundExpr(0)}),
                   [&](const std::string& name) { return context.extent(context.symbol(name)); });
  if (!out)
    return refuse({},
                  "the largest range of the reduction `" + std::string(equation.name.text()) +
                      "` is not one expression",
                  "bound it by an extent", {{"length", ir::print(expr)}});
  // Only extents occur, so their declared ranges are all that is known.
  return ir::simplify(context, *out, extent_ranges(algorithm));
}

Result<Region> Builder::required_region(const tree::Nest& nest, const tree::Nest& owner,
                                        Symbol loop, const LoopSpace& space,
                                        const LoopValues& values, const Env& env) {
  return RegionFinder(*this, owner, loop, space, values, env).find_for(nest);
}

}  // namespace tilewright::build
