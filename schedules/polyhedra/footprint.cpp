// SPDX-License-Identifier: Apache-2.0
//
// Images of point sets under access relations.
#include "schedules/polyhedra/footprint.h"

#include <algorithm>

namespace tilewright::poly {

Result<Set> footprint(Context& context, const Access& access, const Set& points,
                      const Limits& limits) {
  return apply(context, points, access.relation, limits);
}

// The names that a set of cells uses are those of its own access; the footprint of a tensor is written
// over the dimensions of its first access.
static Set renamed_to(const Set& cells, const std::vector<std::string>& dims) {
  if (cells.space().dims == dims) return cells;
  std::vector<BasicSet> pieces = cells.pieces();
  for (BasicSet& piece : pieces) {
    for (std::vector<AffineExpr>* list : {&piece.equalities, &piece.inequalities}) {
      for (AffineExpr& expr : *list) {
        for (std::size_t k = 0; k < dims.size(); ++k) {
          expr = expr.renamed(cells.space().dims[k], dims[k]);
        }
      }
    }
  }
  return Set({cells.space().params, dims}, std::move(pieces));
}

Result<std::vector<TensorFootprint>> footprints(Context& context, const ir::Algorithm& algorithm,
                                                const std::vector<Access>& accesses,
                                                const Set& points, const Limits& limits) {
  std::vector<TensorFootprint> result;
  for (const Access& access : accesses) {
    TILEWRIGHT_TRY(cells, footprint(context, access, points, limits));
    auto place = std::find_if(result.begin(), result.end(), [&](const TensorFootprint& other) {
      return other.tensor == access.tensor;
    });
    if (place == result.end()) {
      result.push_back({access.tensor, std::move(cells), access.exact});
      continue;
    }
    Set aligned = renamed_to(cells, place->cells.space().dims);
    TILEWRIGHT_TRY(both, unite(context, place->cells, aligned, limits));
    place->cells = std::move(both);
    place->exact = place->exact && access.exact;
  }
  for (TensorFootprint& one : result) {
    TensorDomain range = tensor_domain(algorithm, one.tensor, one.cells.space().dims);
    TILEWRIGHT_TRY(inside, intersect(context, one.cells, range.cells, limits));
    one.cells = std::move(inside);
  }
  return result;
}

Result<std::optional<Point>> first_uncovered(Context& context, const Set& needed,
                                             const Set& available, const Set& assumed,
                                             const Limits& limits) {
  TILEWRIGHT_TRY(missing, subtract(context, needed, available, limits));
  TILEWRIGHT_TRY(possible, intersect_params(context, missing, assumed, limits));
  return smallest_point(context, possible, limits);
}

}  // namespace tilewright::poly
