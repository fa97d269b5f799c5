// SPDX-License-Identifier: Apache-2.0
//
// Operations on sets, through isl.
#include "schedules/polyhedra/set.h"

#include <algorithm>

#include "schedules/polyhedra/isl_wall.h"
#include "schedules/polyhedra/text.h"

namespace tilewright::poly {

BasicSet& BasicSet::equal(const AffineExpr& a, const AffineExpr& b) {
  equalities.push_back(a - b);
  return *this;
}

BasicSet& BasicSet::at_least(const AffineExpr& a, const AffineExpr& b) {
  inequalities.push_back(a - b);
  return *this;
}

BasicSet& BasicSet::less(const AffineExpr& a, const AffineExpr& b) {
  inequalities.push_back(b - a - AffineExpr(1));
  return *this;
}

std::optional<bool> BasicSet::contains(const Binding& values) const {
  bool inside = true;
  for (const AffineExpr& expr : equalities) {
    std::optional<std::int64_t> value = expr.evaluate(values);
    if (!value) return std::nullopt;
    inside = inside && *value == 0;
  }
  for (const AffineExpr& expr : inequalities) {
    std::optional<std::int64_t> value = expr.evaluate(values);
    if (!value) return std::nullopt;
    inside = inside && *value >= 0;
  }
  return inside;
}

std::optional<std::int64_t> Point::value(std::string_view name) const {
  for (const auto* list : {&params, &dims}) {
    for (const auto& [key, number] : *list) {
      if (key == name) return number;
    }
  }
  return std::nullopt;
}

Binding Point::binding() const {
  Binding result(params.begin(), params.end());
  result.insert(dims.begin(), dims.end());
  return result;
}

std::string Point::text() const {
  std::string out;
  for (const auto* list : {&params, &dims}) {
    for (const auto& [name, number] : *list) {
      if (!out.empty()) out += ", ";
      out += name + " = " + std::to_string(number);
    }
  }
  return out;
}

std::optional<bool> Set::contains(const Binding& values) const {
  return any_contains(pieces_, values);
}

std::string Set::text() const { return set_text(space_.params, name_list(space_.dims), pieces_); }

std::size_t Set::hash() const {
  return std::hash<std::string>()(name_list(space_.params) + name_list(space_.dims)) ^
         hash_of(pieces_);
}

static std::vector<std::string> named_dims(isl_set* set) {
  std::vector<std::string> names;
  isl_size count = isl_set_dim(set, isl_dim_set);
  for (int i = 0; i < count; ++i) {
    const char* name = isl_set_get_dim_name(set, isl_dim_set, static_cast<unsigned>(i));
    names.push_back(name != nullptr ? name : "i" + std::to_string(i));
  }
  return names;
}

Result<Set> parse_set(Context& context, std::string_view text, const Limits& limits) {
  TILEWRIGHT_CHECK_OK(check_text(text));
  Operation op(context, limits);
  isl_set* set = isl_set_read_from_str(op.ctx(), std::string(text).c_str());
  IslSpace space(isl_set_get_space(set));
  if (space && isl_space_is_set(space.get()) != isl_bool_true) {
    op.refuse("it is not a set of tuples");
  }
  std::vector<std::string> dims = named_dims(set);
  return op.finish(isl_set_reset_tuple_id(set), std::move(dims), "read a set");
}

using Binary = isl_set* (*)(isl_set*, isl_set*);
using Unary = isl_set* (*)(isl_set*);

static Result<Set> binary(Context& context, const Set& a, const Set& b, const Limits& limits,
                          Binary function, std::string_view doing) {
  Operation op(context, limits);
  op.share_params(a.space().params, b.space().params);
  isl_set* left = op.to_isl(a);
  return op.finish(function(left, op.to_isl(b)), a.space().dims, doing);
}

static Result<Set> unary(Context& context, const Set& set, const Limits& limits, Unary function,
                         std::string_view doing) {
  Operation op(context, limits);
  return op.finish(function(op.to_isl(set)), set.space().dims, doing);
}

Result<Set> intersect(Context& context, const Set& a, const Set& b, const Limits& limits) {
  return binary(context, a, b, limits, isl_set_intersect, "intersect two sets");
}

Result<Set> intersect_params(Context& context, const Set& set, const Set& params,
                             const Limits& limits) {
  return binary(
      context, set, params, limits,
      [](isl_set* s, isl_set* p) { return isl_set_intersect_params(s, isl_set_params(p)); },
      "restrict the parameters of a set");
}

Result<Set> unite(Context& context, const Set& a, const Set& b, const Limits& limits) {
  return binary(context, a, b, limits, isl_set_union, "unite two sets");
}

Result<Set> subtract(Context& context, const Set& a, const Set& b, const Limits& limits) {
  return binary(context, a, b, limits, isl_set_subtract, "subtract two sets");
}

Result<Set> gist(Context& context, const Set& set, const Set& assumed, const Limits& limits) {
  return binary(context, set, assumed, limits, isl_set_gist, "simplify a set in a context");
}

Result<Set> simplify(Context& context, const Set& set, const Limits& limits) {
  return unary(
      context, set, limits,
      [](isl_set* s) {
        return isl_set_remove_redundancies(isl_set_coalesce(isl_set_detect_equalities(s)));
      },
      "simplify a set");
}

Result<Set> lexmin(Context& context, const Set& set, const Limits& limits) {
  return unary(context, set, limits, isl_set_lexmin, "find the smallest point of a set");
}

Result<Set> lexmax(Context& context, const Set& set, const Limits& limits) {
  return unary(context, set, limits, isl_set_lexmax, "find the largest point of a set");
}

Result<Set> project_out(Context& context, const Set& set, const std::vector<std::string>& names,
                        const Limits& limits) {
  Operation op(context, limits);
  isl_set* result = op.to_isl(set);
  Space space = set.space();
  for (const std::string& name : names) {
    for (auto [list, type] :
         {std::pair(&space.params, isl_dim_param), std::pair(&space.dims, isl_dim_set)}) {
      auto place = std::find(list->begin(), list->end(), name);
      if (place == list->end()) continue;
      auto index = static_cast<unsigned>(place - list->begin());
      result = isl_set_project_out(result, type, index, 1);
      list->erase(place);
    }
  }
  return op.finish(result, std::move(space.dims), "project a set");
}

Result<Set> parameter_domain(Context& context, const Set& set, const Limits& limits) {
  Operation op(context, limits);
  isl_set* params = isl_set_from_params(isl_set_params(op.to_isl(set)));
  return op.finish(params, {}, "find the parameters of a set");
}

Result<Set> fix(Context& context, const Set& set, std::string_view name, std::int64_t value,
                const Limits& limits) {
  std::vector<BasicSet> pieces = set.pieces();
  for (BasicSet& piece : pieces) piece.equal(AffineExpr::variable(name), AffineExpr(value));
  Operation op(context, limits);
  return op.finish(op.to_isl(Set(set.space(), std::move(pieces))), set.space().dims, "fix a name");
}

Result<bool> is_empty(Context& context, const Set& set, const Limits& limits) {
  Operation op(context, limits);
  IslSet isl(op.to_isl(set));
  return op.finish(isl_set_is_empty(isl.get()), "decide whether a set is empty");
}

Result<bool> is_subset(Context& context, const Set& inner, const Set& outer, const Limits& limits) {
  Operation op(context, limits);
  op.share_params(inner.space().params, outer.space().params);
  IslSet a(op.to_isl(inner));
  IslSet b(op.to_isl(outer));
  return op.finish(isl_set_is_subset(a.get(), b.get()), "decide whether a set is a subset");
}

Result<bool> is_equal(Context& context, const Set& left, const Set& right, const Limits& limits) {
  Operation op(context, limits);
  op.share_params(left.space().params, right.space().params);
  IslSet a(op.to_isl(left));
  IslSet b(op.to_isl(right));
  return op.finish(isl_set_is_equal(a.get(), b.get()), "decide whether two sets are equal");
}

// A point of a set whose parameters were moved in front of its dimensions.
static Point point_of(Operation& op, isl_point* point, const Space& space) {
  Point result;
  int place = 0;
  for (auto [names, values] :
       {std::pair(&space.params, &result.params), std::pair(&space.dims, &result.dims)}) {
    for (const std::string& name : *names) {
      isl_val* value = isl_point_get_coordinate_val(point, isl_dim_set, place++);
      values->emplace_back(name, op.take_int(value));
    }
  }
  return result;
}

static Result<std::optional<Point>> some_point(Context& context, const Set& set,
                                               const Limits& limits, bool smallest) {
  Operation op(context, limits);
  auto num_params = static_cast<unsigned>(set.space().params.size());
  IslSet flat(isl_set_move_dims(op.to_isl(set), isl_dim_set, 0, isl_dim_param, 0, num_params));
  isl_set* candidates = isl_set_copy(flat.get());
  if (smallest && !op.failed()) {
    candidates = isl_set_lexmin(candidates);
    // No smallest point: any will do.
    if (op.failed() && op.forgive()) candidates = isl_set_copy(flat.get());
  }
  IslPoint point(isl_set_sample_point(candidates));
  if (op.failed() || !point) return op.failure("find a point of a set");
  if (isl_point_is_void(point.get()) == isl_bool_true) return std::optional<Point>();
  Point result = point_of(op, point.get(), set.space());
  if (op.failed()) return op.failure("find a point of a set");
  return std::optional<Point>(std::move(result));
}

Result<std::optional<Point>> sample(Context& context, const Set& set, const Limits& limits) {
  return some_point(context, set, limits, false);
}

Result<std::optional<Point>> smallest_point(Context& context, const Set& set,
                                            const Limits& limits) {
  return some_point(context, set, limits, true);
}

Set constrained(const Set& set, const BasicSet& constraints) {
  Space space = set.space();
  std::vector<std::string> names;
  for (const AffineExpr& expr : constraints.equalities) expr.collect_names(names);
  for (const AffineExpr& expr : constraints.inequalities) expr.collect_names(names);
  for (const std::string& name : names) {
    bool known = std::find(space.params.begin(), space.params.end(), name) != space.params.end() ||
                 std::find(space.dims.begin(), space.dims.end(), name) != space.dims.end();
    if (!known) space.params.push_back(name);
  }
  std::vector<BasicSet> pieces = set.pieces();
  for (BasicSet& piece : pieces) {
    piece.equalities.insert(piece.equalities.end(), constraints.equalities.begin(),
                            constraints.equalities.end());
    piece.inequalities.insert(piece.inequalities.end(), constraints.inequalities.begin(),
                              constraints.inequalities.end());
  }
  return Set(std::move(space), std::move(pieces));
}

Set dims_to_params(const Set& set, const std::vector<std::string>& names) {
  Space space = set.space();
  for (const std::string& name : names) {
    space.dims.erase(std::remove(space.dims.begin(), space.dims.end(), name), space.dims.end());
    space.params.push_back(name);
  }
  return Set(std::move(space), set.pieces());
}

Set params_to_dims(const Set& set, const std::vector<std::string>& names) {
  Space space{set.space().params, names};
  for (const std::string& name : names) {
    space.params.erase(std::remove(space.params.begin(), space.params.end(), name),
                       space.params.end());
  }
  space.dims.insert(space.dims.end(), set.space().dims.begin(), set.space().dims.end());
  return Set(std::move(space), set.pieces());
}

}  // namespace tilewright::poly
