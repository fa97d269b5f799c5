// SPDX-License-Identifier: Apache-2.0
//
// Sets of integer points, parametric in named symbols: a union of conjunctions of quasi-affine equalities
// and inequalities. Plain values; every computation goes through isl inside set.cpp, under Limits.
// Laws: all names of one Space are distinct; operands of a binary operation may differ in parameters (the
// result has the union of both) and must agree in the number of dimensions, which are matched by position
// and named after the first operand; `is_equal` is equality of the points, `==` of the representation;
// parse(print(x)) equals x. Tests: tests/unit/schedules/polyhedra/set_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/base/result.h"
#include "schedules/polyhedra/affine.h"
#include "schedules/polyhedra/context.h"

namespace tilewright::poly {

struct Space {
  std::vector<std::string> params;
  std::vector<std::string> dims;
  friend bool operator==(const Space&, const Space&) = default;
};

// Each equality is `expr = 0`, each inequality `expr >= 0`.
struct BasicSet {
  std::vector<AffineExpr> equalities;
  std::vector<AffineExpr> inequalities;
  friend auto operator<=>(const BasicSet&, const BasicSet&) = default;

  // Each returns *this, for chains: BasicSet().at_least(i, 0).less(i, m).
  BasicSet& equal(const AffineExpr& a, const AffineExpr& b);
  // a >= b
  BasicSet& at_least(const AffineExpr& a, const AffineExpr& b);
  // a < b
  BasicSet& less(const AffineExpr& a, const AffineExpr& b);
  // Nothing when a symbol has no value.
  std::optional<bool> contains(const Binding& values) const;
};

// A concrete integer point: values of all parameters and dimensions of a space, in its order.
struct Point {
  std::vector<std::pair<std::string, std::int64_t>> params;
  std::vector<std::pair<std::string, std::int64_t>> dims;
  std::optional<std::int64_t> value(std::string_view name) const;
  Binding binding() const;
  // `M = 7, i = 3`
  std::string text() const;
  friend bool operator==(const Point&, const Point&) = default;
};

class Set {
 public:
  // The empty set.
  explicit Set(Space space) : space_(std::move(space)) {}
  Set(Space space, BasicSet piece) : space_(std::move(space)), pieces_{std::move(piece)} {}
  Set(Space space, std::vector<BasicSet> pieces)
      : space_(std::move(space)), pieces_(std::move(pieces)) {}
  static Set universe(Space space) { return Set(std::move(space), BasicSet()); }

  const Space& space() const { return space_; }
  // Their union is the set; sorted when the set came from an operation; they may overlap.
  const std::vector<BasicSet>& pieces() const { return pieces_; }
  // Membership by evaluating the constraints, without isl. Nothing when a symbol has no value.
  std::optional<bool> contains(const Binding& values) const;
  // isl's notation: `[M] -> { [i] : i >= 0 and M >= i + 1 }`.
  std::string text() const;
  std::size_t hash() const;
  friend bool operator==(const Set&, const Set&) = default;

 private:
  Space space_;
  std::vector<BasicSet> pieces_;
};

// Dimensions without a name get one (`i0`, `i1`, ...).
Result<Set> parse_set(Context& context, std::string_view text, const Limits& limits = {});

Result<Set> intersect(Context&, const Set&, const Set&, const Limits& = {});
// Keeps the points whose parameters lie in `params`, a set without dimensions.
Result<Set> intersect_params(Context&, const Set&, const Set& params, const Limits& = {});
Result<Set> unite(Context&, const Set&, const Set&, const Limits& = {});
Result<Set> subtract(Context&, const Set&, const Set&, const Limits& = {});
// Drops names (parameters or dimensions), keeping the points for which some value of them existed.
Result<Set> project_out(Context&, const Set&, const std::vector<std::string>& names,
                        const Limits& = {});
// The parameter values for which the set has a point, as a set without dimensions.
Result<Set> parameter_domain(Context&, const Set&, const Limits& = {});
Result<Set> fix(Context&, const Set&, std::string_view name, std::int64_t value,
                const Limits& = {});
// A simpler set with the same points inside `assumed`.
Result<Set> gist(Context&, const Set&, const Set& assumed, const Limits& = {});
// Fewer and simpler pieces, same points.
Result<Set> simplify(Context&, const Set&, const Limits& = {});
Result<Set> lexmin(Context&, const Set&, const Limits& = {});
Result<Set> lexmax(Context&, const Set&, const Limits& = {});

Result<bool> is_empty(Context&, const Set&, const Limits& = {});
Result<bool> is_subset(Context&, const Set& inner, const Set& outer, const Limits& = {});
Result<bool> is_equal(Context&, const Set&, const Set&, const Limits& = {});

// Some point, or nothing when the set is empty.
Result<std::optional<Point>> sample(Context&, const Set&, const Limits& = {});
// The smallest point, parameters first, then dimensions, each in the space's order: what a person wants
// to see as a counterexample. Falls back to `sample` where there is no smallest one.
Result<std::optional<Point>> smallest_point(Context&, const Set&, const Limits& = {});

// Adds constraints to every piece, without isl. Names that the space does not have become parameters, in
// order of the alphabet: the loops around a tile.
Set constrained(const Set& set, const BasicSet& constraints);
// Turns dimensions into parameters (appended in the order given), without isl.
// Precondition: each name is a dimension.
Set dims_to_params(const Set& set, const std::vector<std::string>& names);
// Turns parameters into leading dimensions in the order given, without isl.
// Precondition: each name is a parameter.
Set params_to_dims(const Set& set, const std::vector<std::string>& names);

}  // namespace tilewright::poly

template <>
struct std::hash<tilewright::poly::Set> {
  std::size_t operator()(const tilewright::poly::Set& set) const { return set.hash(); }
};
