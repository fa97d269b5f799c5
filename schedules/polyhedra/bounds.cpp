// SPDX-License-Identifier: Apache-2.0
//
// Bounds from constraints. After projection onto one dimension a conjunction is an interval whose ends can
// be read off its constraints, which gives plain minima and maxima; a union is first replaced by the hull
// of its pieces. Where constraints alone leave a side open, isl's parametric optimum decides and selections
// appear.
#include "schedules/polyhedra/bounds.h"

#include <algorithm>

#include "schedules/polyhedra/components.h"
#include "schedules/polyhedra/isl_wall.h"

namespace tilewright::poly {

namespace {

enum class Side { Lower, Upper };

// What the constraints of one conjunction say about a dimension.
struct Interval {
  std::vector<BoundExpr> lower;
  // Exclusive.
  std::vector<BoundExpr> upper;
  // Some constraint on the dimension could not be used.
  bool dropped = false;
};

}  // namespace

static bool floors_mention(const AffineExpr& expr, std::string_view name) {
  return std::any_of(expr.floors().begin(), expr.floors().end(),
                     [&](const FloorTerm& f) { return f.numerator.mentions(name); });
}

// Adds what a * dim + rest >= 0 says.
static void add_inequality(Interval& interval, const AffineExpr& expr, std::string_view dim) {
  std::int64_t a = expr.coefficient(dim);
  if (floors_mention(expr, dim)) {
    interval.dropped = true;
    return;
  }
  if (a == 0) return;
  AffineExpr rest = expr - AffineExpr::variable(dim, a);
  if (a > 0) {
    interval.lower.push_back(BoundExpr(ceil_div(-rest, a)));
  } else {
    interval.upper.push_back(BoundExpr(floor_div(rest, -a) + AffineExpr(1)));
  }
}

static Interval interval_of(const BasicSet& set, std::string_view dim) {
  Interval interval;
  for (const AffineExpr& expr : set.equalities) {
    add_inequality(interval, expr, dim);
    add_inequality(interval, -expr, dim);
  }
  for (const AffineExpr& expr : set.inequalities) add_inequality(interval, expr, dim);
  return interval;
}

using Pieces = std::vector<std::pair<IslSet, IslAff>>;

static isl_stat collect_piece(isl_set* domain, isl_aff* value, void* user) {
  static_cast<Pieces*>(user)->emplace_back(IslSet(domain), IslAff(value));
  return isl_stat_ok;
}

// Whether on the domain of each piece its value is the largest (smallest) of all values.
static bool is_extremum(const Pieces& pieces, bool largest) {
  for (const auto& [domain, value] : pieces) {
    for (const auto& [other_domain, other] : pieces) {
      if (other.get() == value.get()) continue;
      isl_aff* high = isl_aff_copy(largest ? value.get() : other.get());
      isl_aff* low = isl_aff_copy(largest ? other.get() : value.get());
      IslSet holds(isl_aff_ge_set(high, low));
      if (isl_set_is_subset(domain.get(), holds.get()) != isl_bool_true) return false;
    }
  }
  return true;
}

// One expression for a piecewise one: an extremum of its values where possible, else selections. What it
// is outside all pieces does not matter.
static BoundExpr joined(Operation& op, const Pieces& pieces,
                        const std::vector<std::string>& names) {
  std::vector<BoundExpr> values;
  for (const auto& piece : pieces) values.emplace_back(op.affine_of(piece.second.get(), names));
  if (is_extremum(pieces, true)) return BoundExpr::max(std::move(values));
  if (is_extremum(pieces, false)) return BoundExpr::min(std::move(values));
  BoundExpr result = values.front();
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    for (const BasicSet& condition : op.pieces_of(pieces[i].first.get(), {})) {
      result = BoundExpr::select(condition, values[i], result);
    }
  }
  return result;
}

// The optimum of the only dimension as selections between pieces; nothing when it is unbounded.
static std::optional<BoundExpr> optimum(Operation& op, isl_set* set, Side side) {
  std::optional<BoundExpr> result;
  if (isl_set_dim_has_any_upper_bound(set, isl_dim_set, 0) != isl_bool_true &&
      side == Side::Upper) {
    return result;
  }
  if (isl_set_dim_has_any_lower_bound(set, isl_dim_set, 0) != isl_bool_true &&
      side == Side::Lower) {
    return result;
  }
  isl_set* copy = isl_set_copy(set);
  isl_pw_aff* best = side == Side::Lower ? isl_set_dim_min(copy, 0) : isl_set_dim_max(copy, 0);
  best = isl_pw_aff_coalesce(best);
  Pieces pieces;
  isl_pw_aff_foreach_piece(best, collect_piece, &pieces);
  isl_pw_aff_free(best);
  if (op.failed()) {
    op.forgive();
    return result;
  }
  if (pieces.empty()) return result;
  BoundExpr expr = joined(op, pieces, op.names_of(set, {}));
  result = side == Side::Upper ? expr + BoundExpr(1) : expr;
  return result;
}

// The hull of a set as one conjunction with explicit divisions.
static IslBasicSet hull_of(isl_set* set) {
  isl_basic_set* hull = isl_set_simple_hull(isl_set_copy(set));
  hull = isl_basic_set_remove_unknown_divs(hull);
  return IslBasicSet(isl_basic_set_remove_redundancies(isl_basic_set_detect_equalities(hull)));
}

static Failure unbounded(std::string_view dim, Side side) {
  const std::string_view text = side == Side::Lower ? "lower" : "upper";
  return fail(
      Diagnostic{Code::PolyhedraUnbounded,
                 {},
                 "dimension `" + std::string(dim) + "` has no " + std::string(text) + " bound",
                 "declare a range for every extent that the index depends on",
                 {},
                 {{"dimension", std::string(dim)}, {"side", std::string(text)}}});
}

// What the hull of a set says about its only dimension. `exact` is cleared when it may be loose.
static Result<Interval> hull_interval(Operation& op, isl_set* set, std::string_view dim,
                                      bool& exact) {
  isl_size num_pieces = isl_set_n_basic_set(set);
  IslBasicSet hull = hull_of(set);
  if (op.failed() || !hull) return op.failure("find the hull of a set");
  std::vector<std::string> names = op.names_of(set, {std::string(dim)});
  Interval interval = interval_of(op.basic_set_of(hull.get(), names), dim);
  if (op.failed()) return op.failure("read the hull of a set");
  if (num_pieces != 1 || interval.dropped) exact = false;
  return interval;
}

// One side of the only dimension of a set.
static Result<BoundExpr> side_of(Operation& op, isl_set* set, std::string_view dim, Side side,
                                 Interval& interval) {
  std::vector<BoundExpr>& found = side == Side::Lower ? interval.lower : interval.upper;
  if (!found.empty()) {
    return side == Side::Lower ? BoundExpr::max(std::move(found))
                               : BoundExpr::min(std::move(found));
  }
  std::optional<BoundExpr> best = optimum(op, set, side);
  if (op.failed()) return op.failure("find the optimum of a set");
  if (!best) return unbounded(dim, side);
  return *best;
}

// A set projected onto one dimension, with as few pieces as isl finds.
static isl_set* projected(isl_set* set, unsigned dim) {
  auto num_dims = static_cast<unsigned>(std::max<isl_size>(isl_set_dim(set, isl_dim_set), 0));
  set = isl_set_project_out(set, isl_dim_set, dim + 1, num_dims - dim - 1);
  set = isl_set_project_out(set, isl_dim_set, 0, dim);
  return isl_set_coalesce(isl_set_compute_divs(set));
}

// Constraints under which `leaf` holds for the whole expression, as a union. `leaf` gives the constraint of
// one leaf as an expression >= 0. `min_is_and` tells whether all operands of a minimum must satisfy it.
template <class Leaf>
static std::vector<BasicSet> pieces_where(const BoundExpr& expr, bool min_is_and,
                                          const Leaf& leaf) {
  if (expr.kind() == BoundExpr::Kind::Affine) {
    BasicSet piece;
    piece.inequalities.push_back(leaf(expr.affine()));
    return {piece};
  }
  auto meet = [](const std::vector<BasicSet>& a, const std::vector<BasicSet>& b) {
    std::vector<BasicSet> result;
    for (const BasicSet& left : a) {
      for (const BasicSet& right : b) {
        BasicSet both = left;
        both.equalities.insert(both.equalities.end(), right.equalities.begin(),
                               right.equalities.end());
        both.inequalities.insert(both.inequalities.end(), right.inequalities.begin(),
                                 right.inequalities.end());
        result.push_back(std::move(both));
      }
    }
    return result;
  };
  std::vector<BasicSet> result;
  if (expr.kind() == BoundExpr::Kind::Select) {
    result = meet({expr.condition()}, pieces_where(expr.operands()[0], min_is_and, leaf));
    std::vector<BasicSet> opposite;
    for (const AffineExpr& e : expr.condition().inequalities) {
      opposite.push_back(BasicSet().less(e, AffineExpr()));
    }
    for (const AffineExpr& e : expr.condition().equalities) {
      opposite.push_back(BasicSet().less(e, AffineExpr()));
      opposite.push_back(BasicSet().less(AffineExpr(), e));
    }
    for (BasicSet& piece : meet(opposite, pieces_where(expr.operands()[1], min_is_and, leaf))) {
      result.push_back(std::move(piece));
    }
    return result;
  }
  bool all = (expr.kind() == BoundExpr::Kind::Min) == min_is_and;
  if (all) result.emplace_back();
  for (const BoundExpr& operand : expr.operands()) {
    std::vector<BasicSet> pieces = pieces_where(operand, min_is_and, leaf);
    if (all) {
      result = meet(result, pieces);
    } else {
      result.insert(result.end(), pieces.begin(), pieces.end());
    }
  }
  return result;
}

// Number of pieces that pieces_where() would make, or kMaxCases + 1 when there are more.
static constexpr std::size_t kMaxCases = 2048;

static std::size_t count_pieces(const BoundExpr& expr, bool min_is_and) {
  if (expr.kind() == BoundExpr::Kind::Affine) return 1;
  const bool is_select = expr.kind() == BoundExpr::Kind::Select;
  const bool all = !is_select && (expr.kind() == BoundExpr::Kind::Min) == min_is_and;
  std::size_t count = all ? 1 : 0;
  for (const BoundExpr& operand : expr.operands()) {
    const std::size_t part = count_pieces(operand, min_is_and);
    count = all ? count * part : count + part;
    if (count > kMaxCases) return kMaxCases + 1;
  }
  // The opposite of a condition is one piece for each inequality and two for each equality.
  const std::size_t sides =
      is_select ? 1 + expr.condition().inequalities.size() + 2 * expr.condition().equalities.size()
                : 1;
  return std::min(count * sides, kMaxCases + 1);
}

// A space that has every name of `expr`: those of `space`, and the others as parameters.
static Space widened(Space space, const BoundExpr& expr) {
  std::vector<std::string> names;
  expr.collect_names(names);
  auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (std::string& name : names) {
    if (!has(space.params, name) && !has(space.dims, name)) space.params.push_back(name);
  }
  return space;
}

// Whether a >= b holds on all of `assumed`.
static Result<bool> at_least(Operation& op, isl_set* assumed, const Space& assumed_space,
                             const BoundExpr& a, const BoundExpr& b) {
  BoundExpr difference = a - b;
  if (std::optional<std::int64_t> value = difference.as_constant()) return *value >= 0;
  // More cases than it is worth to look at: not proved.
  if (count_pieces(difference, false) > kMaxCases) return false;
  std::vector<BasicSet> pieces =
      pieces_where(difference, false, [](const AffineExpr& leaf) { return -leaf - AffineExpr(1); });
  Space space = widened(assumed_space, difference);
  isl_set* below = op.to_isl(Set(std::move(space), std::move(pieces)));
  IslSet both(isl_set_intersect(below, isl_set_copy(assumed)));
  return op.finish(isl_set_is_empty(both.get()), "compare two bounds");
}

static Result<BoundExpr> simplified(Operation& op, const BoundExpr& expr, isl_set* assumed,
                                    const Space& space) {
  if (expr.kind() == BoundExpr::Kind::Affine) return expr;
  std::vector<BoundExpr> kept;
  for (const BoundExpr& operand : expr.operands()) {
    TILEWRIGHT_TRY(simple, simplified(op, operand, assumed, space));
    kept.push_back(std::move(simple));
  }
  if (expr.kind() == BoundExpr::Kind::Select) {
    return BoundExpr::select(expr.condition(), kept[0], kept[1]);
  }
  bool minimum = expr.kind() == BoundExpr::Kind::Min;
  for (std::size_t i = 0; i < kept.size();) {
    bool redundant = false;
    for (std::size_t j = 0; j < kept.size() && !redundant; ++j) {
      if (i == j) continue;
      TILEWRIGHT_TRY(decided, minimum ? at_least(op, assumed, space, kept[i], kept[j])
                                      : at_least(op, assumed, space, kept[j], kept[i]));
      redundant = decided;
    }
    if (redundant) {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return minimum ? BoundExpr::min(std::move(kept)) : BoundExpr::max(std::move(kept));
}

// Bounds of the dimension at `index` of a set that holds the assumptions. `may_be_empty` is not decided.
static Result<DimBounds> bounds_in(Operation& op, isl_set* points, unsigned index,
                                   const std::string& dim) {
  IslSet line(projected(isl_set_copy(points), index));
  if (op.failed() || !line) return op.failure("project a set onto a dimension");
  DimBounds bounds;
  bounds.exact = true;
  if (isl_set_is_empty(line.get()) == isl_bool_true) return bounds;
  TILEWRIGHT_TRY(interval, hull_interval(op, line.get(), dim, bounds.exact));
  TILEWRIGHT_TRY(lower, side_of(op, line.get(), dim, Side::Lower, interval));
  TILEWRIGHT_TRY(upper, side_of(op, line.get(), dim, Side::Upper, interval));
  IslSet inhabited(isl_set_from_params(isl_set_params(isl_set_copy(line.get()))));
  Space space{op.names_of(line.get(), {}), {}};
  TILEWRIGHT_TRY(low, simplified(op, lower, inhabited.get(), space));
  TILEWRIGHT_TRY(high, simplified(op, upper, inhabited.get(), space));
  bounds.extent = high - low;
  // With one affine side the differences are those that have just been compared.
  if (low.kind() != BoundExpr::Kind::Affine && high.kind() != BoundExpr::Kind::Affine) {
    TILEWRIGHT_TRY(extent, simplified(op, bounds.extent, inhabited.get(), space));
    bounds.extent = std::move(extent);
  }
  bounds.lower = std::move(low);
  bounds.upper = std::move(high);
  return bounds;
}

// The bounds of the dimensions that `wanted` picks (all, when it is empty), in the set's order.
static Result<std::vector<DimBounds>> bounds_of(Operation& op, const Set& set, const Set& assumed,
                                                std::string_view wanted) {
  const std::vector<std::string>& dims = set.space().dims;
  std::vector<DimBounds> result(dims.size());
  bool may_be_empty = false;
  for (const Component& part : components_of(set, assumed)) {
    IslSet points(op.to_isl(part.points));
    IslSet facts(op.to_isl(part.assumed));
    IslSet inhabited(isl_set_from_params(isl_set_params(isl_set_copy(points.get()))));
    TILEWRIGHT_TRY(always, op.finish(isl_set_is_subset(facts.get(), inhabited.get()),
                                     "decide whether a set can be empty"));
    may_be_empty = may_be_empty || !always;
    const std::vector<std::string>& here = part.points.space().dims;
    for (std::size_t i = 0; i < here.size(); ++i) {
      if (!wanted.empty() && here[i] != wanted) continue;
      TILEWRIGHT_TRY(bounds, bounds_in(op, points.get(), static_cast<unsigned>(i), here[i]));
      auto place = std::find(dims.begin(), dims.end(), here[i]) - dims.begin();
      result[static_cast<std::size_t>(place)] = std::move(bounds);
    }
  }
  for (DimBounds& bounds : result) {
    bounds.may_be_empty = may_be_empty;
    if (may_be_empty) bounds.extent = BoundExpr::max({BoundExpr(0), bounds.extent});
  }
  return result;
}

Result<DimBounds> dim_bounds(Context& context, const Set& set, std::string_view dim,
                             const Set& assumed, const Limits& limits) {
  Operation op(context, limits);
  const std::vector<std::string>& dims = set.space().dims;
  auto place = std::find(dims.begin(), dims.end(), dim);
  if (place == dims.end()) {
    std::string known;
    for (const std::string& name : dims) known += (known.empty() ? "`" : ", `") + name + "`";
    return fail(Code::PolyhedraFailure, Span{}, "`" + std::string(dim) + "` is not a dimension",
                known.empty() ? "the set has no dimensions" : "the dimensions are " + known);
  }
  TILEWRIGHT_TRY(all, bounds_of(op, set, assumed, dim));
  return std::move(all[static_cast<std::size_t>(place - dims.begin())]);
}

Result<std::vector<DimBounds>> box_hull(Context& context, const Set& set, const Set& assumed,
                                        const Limits& limits) {
  Operation op(context, limits);
  return bounds_of(op, set, assumed, "");
}

static Failure too_many_cases() {
  return fail(Code::PolyhedraLimit, Span{},
              "a bound has more than " + std::to_string(kMaxCases) + " cases",
              "ask for the bounds of a simpler set");
}

// { [value, dims of domain] : value <= expr }. A prime keeps the new dimension's name distinct.
static Set below(const BoundExpr& expr, const Set& domain, std::string& value) {
  Space space = widened(domain.space(), expr);
  value = "value";
  while (std::find(space.params.begin(), space.params.end(), value) != space.params.end() ||
         std::find(space.dims.begin(), space.dims.end(), value) != space.dims.end()) {
    value += "'";
  }
  space.dims.insert(space.dims.begin(), value);
  std::vector<BasicSet> pieces = pieces_where(
      expr, true, [&](const AffineExpr& leaf) { return leaf - AffineExpr::variable(value); });
  std::vector<BasicSet> result;
  for (const BasicSet& piece : domain.pieces()) {
    for (BasicSet both : pieces) {
      both.equalities.insert(both.equalities.end(), piece.equalities.begin(),
                             piece.equalities.end());
      both.inequalities.insert(both.inequalities.end(), piece.inequalities.begin(),
                               piece.inequalities.end());
      result.push_back(std::move(both));
    }
  }
  return Set(std::move(space), std::move(result));
}

Result<BoundExpr> max_over(Context& context, const BoundExpr& expr, const Set& domain,
                           const Limits& limits) {
  Operation op(context, limits);
  if (count_pieces(expr, true) > kMaxCases) return too_many_cases();
  std::string value;
  isl_set* isl = op.to_isl(below(expr, domain, value));
  IslSet line(projected(isl, 0));
  if (op.failed() || !line) return op.failure("find the largest value of a bound");
  if (isl_set_is_empty(line.get()) == isl_bool_true) return BoundExpr(0);
  bool exact = true;
  TILEWRIGHT_TRY(interval, hull_interval(op, line.get(), value, exact));
  TILEWRIGHT_TRY(upper, side_of(op, line.get(), value, Side::Upper, interval));
  return upper - BoundExpr(1);
}

Result<std::optional<std::int64_t>> max_value(Context& context, const BoundExpr& expr,
                                              const Set& domain, const Limits& limits) {
  Operation op(context, limits);
  if (count_pieces(expr, true) > kMaxCases) return too_many_cases();
  std::string name;
  IslSet isl(op.to_isl(below(expr, domain, name)));
  IslVal best(isl_set_dim_max_val(isl_set_copy(isl.get()), 0));
  if (op.failed() || !best) return op.failure("find the largest value of a bound");
  if (isl_val_is_int(best.get()) != isl_bool_true) return std::optional<std::int64_t>();
  std::int64_t value = op.take_int(best.release());
  if (op.failed()) return op.failure("find the largest value of a bound");
  return std::optional<std::int64_t>(value);
}

Result<bool> proves_at_least(Context& context, const Set& assumed, const BoundExpr& a,
                             const BoundExpr& b, const Limits& limits) {
  Operation op(context, limits);
  IslSet facts(op.to_isl(assumed));
  if (!facts) return op.failure("compare two bounds");
  return at_least(op, facts.get(), assumed.space(), a, b);
}

Result<BoundExpr> simplify(Context& context, const BoundExpr& expr, const Set& assumed,
                           const Limits& limits) {
  Operation op(context, limits);
  IslSet facts(op.to_isl(assumed));
  if (!facts) return op.failure("simplify a bound");
  return simplified(op, expr, facts.get(), assumed.space());
}

}  // namespace tilewright::poly
