// SPDX-License-Identifier: Apache-2.0
//
// Reads out of bounds as one emptiness question per read; a point of the set is the counterexample.
#include "schedules/polyhedra/check_reads.h"

#include <algorithm>

#include "frontend/ir/context.h"
#include "schedules/polyhedra/index.h"
#include "schedules/polyhedra/instances.h"

namespace tilewright::poly {

static ir::Bindings sizes_of(const ir::Algorithm& algorithm, const Point& point) {
  ir::Bindings sizes;
  for (const ir::ExtentDecl& extent : algorithm.extents) {
    sizes[extent.name] = point.value(extent.name.text()).value_or(0);
  }
  return sizes;
}

// `M = 4, i = 3` from the sizes and the first `num_dims` dimensions of a point.
static std::string place_text(const Point& point, std::size_t num_dims) {
  Point place = point;
  place.dims.resize(num_dims);
  return place.text();
}

// Points outside [0, extent) in some dimension. A size that is not affine bounds nothing.
static Region outside(const std::vector<std::string>& dims, const std::vector<ir::Expr>& shape) {
  Region region{{}, true};
  for (std::size_t k = 0; k < dims.size(); ++k) {
    AffineExpr cell = AffineExpr::variable(dims[k]);
    region = join(region, Region{{BasicSet().less(cell, AffineExpr())}, true});
    std::optional<IndexCases> cases = index_cases(shape[k]);
    if (!cases) {
      region = join(region, Region::everywhere(false));
      continue;
    }
    Region above{{}, cases->exact};
    for (const IndexCase& one : cases->cases) {
      BasicSet piece = one.condition;
      above.pieces.push_back(piece.at_least(cell, one.value));
    }
    region = join(region, above);
  }
  return region;
}

static std::string cell_text(const Access& access, const Point& point) {
  std::string text(access.tensor.text());
  std::size_t first = access.relation.space().in.size();
  for (std::size_t k = first; k < point.dims.size(); ++k) {
    text += (k == first ? "[" : ", ") + std::to_string(point.dims[k].second);
  }
  return text + (point.dims.size() > first ? "]" : "");
}

// Size of the tensor at a point: `[4, 7]`.
static std::string shape_text(const std::vector<ir::Expr>& shape, const ir::Bindings& sizes) {
  std::string text;
  for (ir::Expr extent : shape) {
    text += (text.empty() ? "[" : ", ") + std::to_string(ir::evaluate_extents(extent, sizes));
  }
  return text + "]";
}

static Diagnostic out_of_bounds(const ir::Algorithm& algorithm, const ir::Equation& equation,
                                const Access& access, const Point& point, bool certain) {
  std::size_t num_dims = access.relation.space().in.size();
  std::string tensor(access.tensor.text());
  std::string cell = cell_text(access, point);
  ir::Bindings sizes = sizes_of(algorithm, point);
  Diagnostic diagnostic{Code::OutOfBoundsRead, equation.span, "", "", {}, {}};
  diagnostic.message =
      "`" + std::string(equation.name.text()) + "` " + (certain ? "" : "may ") +
      (access.read ? (certain ? "reads" : "read") : (certain ? "updates" : "update")) + " `" +
      cell + "` outside `" + tensor + "`, which has size " +
      shape_text(*algorithm.shape_of(access.tensor), sizes) + ", at " + place_text(point, num_dims);
  diagnostic.remedy =
      "restrict the read with `select`, or state with `requires` what the sizes satisfy";
  for (const auto& [name, value] : point.params) {
    diagnostic.evidence.emplace_back(name, std::to_string(value));
  }
  for (std::size_t i = 0; i < num_dims; ++i) {
    diagnostic.evidence.emplace_back(point.dims[i].first, std::to_string(point.dims[i].second));
  }
  diagnostic.evidence.emplace_back("cell", cell);
  return diagnostic;
}

// An instance that reads the tensor outside its range, found by counting: `sizes`, `instance`, `reads`.
static Evidence outside_instance(const ir::Algorithm& algorithm, const ir::Equation& equation,
                                 Symbol tensor) {
  const AllowedSizes allowed(algorithm);
  const std::vector<ir::Expr>& shape = *algorithm.shape_of(tensor);
  std::optional<Values> point;
  std::optional<CellRead> cell;
  const auto is_outside = [&](const Values& values) {
    cell = find_read(algorithm, [](Symbol) { return false; }, equation, values, tensor);
    for (std::size_t k = 0; cell && k < shape.size(); ++k) {
      const auto extent = evaluate_index(shape[k], values);
      if (extent && (cell->cell[k] < 0 || cell->cell[k] >= *extent)) return true;
    }
    return false;
  };
  const auto sizes = allowed.find([&](const Values& at) {
    point = find_instance(equation, at, is_outside);
    return point.has_value();
  });
  if (!sizes) return {};
  return {{"sizes", allowed.text(*sizes)},
          {"instance", instance_text(equation, *point)},
          {"reads", cell->text()}};
}

static Diagnostic not_affine(const ir::Algorithm& algorithm, const ir::Equation& equation,
                             const Access& access, std::size_t dim) {
  return {Code::OutOfBoundsRead,
          equation.span,
          "index " + std::to_string(dim) +
              (access.read ? " of a read of `" : " of an update of `") +
              std::string(access.tensor.text()) + "` in `" + std::string(equation.name.text()) +
              "` is not affine, so that it cannot be shown to be in range",
          "write the index with sums, products by literals, floor division and modulus by literals",
          {},
          outside_instance(algorithm, equation, access.tensor)};
}

// Adds what is wrong with one read to `found`.
static Result<Ok> check_read(Context& context, const ir::Algorithm& algorithm,
                             const ir::Equation& equation, const Access& access,
                             const Assumptions& assumed, std::vector<Diagnostic>& found,
                             const Limits& limits) {
  for (std::size_t k = 0; k < access.whole_dim.size(); ++k) {
    if (!access.whole_dim[k]) continue;
    found.push_back(not_affine(algorithm, equation, access, k));
    return Ok{};
  }
  const MapSpace& space = access.relation.space();
  Region bad = meet(Region{access.relation.pieces(), access.exact},
                    outside(space.out, *algorithm.shape_of(access.tensor)));
  Set points(wrap(access.relation).space(), std::move(bad.pieces));
  TILEWRIGHT_TRY(possible, intersect_params(context, points, assumed.sizes, limits));
  if (possible.pieces().empty()) return Ok{};
  TILEWRIGHT_TRY(point, smallest_point(context, possible, limits));
  if (point) {
    bool certain = bad.exact && assumed.exact;
    found.push_back(out_of_bounds(algorithm, equation, access, *point, certain));
  }
  return Ok{};
}

// Adds a diagnostic when some extent of a shape can be negative.
static Result<Ok> check_shape(Context& context, Symbol tensor, Span span,
                              const std::vector<ir::Expr>& shape, const Assumptions& assumed,
                              std::vector<Diagnostic>& found, const Limits& limits) {
  Region negative{{}, true};
  for (ir::Expr extent : shape) {
    std::optional<IndexCases> cases = index_cases(extent);
    for (std::size_t i = 0; cases && i < cases->cases.size(); ++i) {
      BasicSet piece = cases->cases[i].condition;
      negative.pieces.push_back(piece.less(cases->cases[i].value, AffineExpr()));
    }
  }
  Set sizes(assumed.sizes.space(), std::move(negative.pieces));
  TILEWRIGHT_TRY(possible, intersect(context, assumed.sizes, sizes, limits));
  TILEWRIGHT_TRY(point, smallest_point(context, possible, limits));
  if (!point) return Ok{};
  Diagnostic diagnostic{Code::NegativeShape, span, "", "", {}, {}};
  diagnostic.message = "a size of `" + std::string(tensor.text()) + "` " +
                       (assumed.exact ? "is" : "may be") + " negative at " + point->text();
  diagnostic.remedy = "state with `requires` what the sizes satisfy";
  for (const auto& [name, value] : point->params) {
    diagnostic.evidence.emplace_back(name, std::to_string(value));
  }
  found.push_back(std::move(diagnostic));
  return Ok{};
}

// A question that has no answer is shown at the declaration that it is about.
static Result<Ok> placed(Result<Ok> result, Span span) {
  if (result.ok()) return result;
  Failure failure = std::move(result).failure();
  for (Diagnostic& d : failure.diagnostics)
    if (d.span.none()) d.span = span;
  return failure;
}

// All reads of one equation, or of a condition, in the loops around it.
static Result<Ok> check_equation(Context& context, const ir::Algorithm& algorithm,
                                 const ir::Equation& equation,
                                 const std::vector<const ir::Loop*>& loops,
                                 const Assumptions& assumed, std::vector<Diagnostic>& found,
                                 const Limits& limits) {
  if (loops.empty()) {
    for (const Access& access : accesses(algorithm, equation))
      TILEWRIGHT_CHECK_OK(placed(
          check_read(context, algorithm, equation, access, assumed, found, limits), equation.span));
    return Ok{};
  }
  ir::Context scratch;
  const ir::Algorithm scoped = ir::in_scope(scratch, algorithm, loops);
  const Assumptions inside = assumptions(scoped);
  for (const Access& access : accesses(scoped, equation))
    TILEWRIGHT_CHECK_OK(placed(check_read(context, scoped, equation, access, inside, found, limits),
                               equation.span));
  return Ok{};
}

Result<Ok> check_reads(Context& context, const ir::Algorithm& algorithm, const Limits& limits) {
  Assumptions assumed = assumptions(algorithm);
  std::vector<Diagnostic> found;
  for (const ir::Input& input : algorithm.inputs) {
    TILEWRIGHT_CHECK_OK(
        placed(check_shape(context, input.name, input.span, input.shape, assumed, found, limits),
               input.span));
  }
  for (const ir::Equation& equation : algorithm.equations) {
    TILEWRIGHT_CHECK_OK(placed(
        check_shape(context, equation.name, equation.span, equation.shape, assumed, found, limits),
        equation.span));
    TILEWRIGHT_CHECK_OK(check_equation(context, algorithm, equation,
                                       algorithm.loops_around(equation), assumed, found, limits));
  }
  for (const ir::Loop& loop : algorithm.loops) {
    if (!loop.condition) continue;
    ir::Equation test;
    test.name = loop.var;
    test.value = loop.condition;
    test.span = loop.span;
    std::vector<const ir::Loop*> around;
    for (const ir::Loop& other : algorithm.loops)
      if (&other <= &loop && other.holds(loop.first)) around.push_back(&other);
    TILEWRIGHT_CHECK_OK(check_equation(context, algorithm, test, around, assumed, found, limits));
  }
  if (!found.empty()) return Failure{std::move(found)};
  return Ok{};
}

}  // namespace tilewright::poly
