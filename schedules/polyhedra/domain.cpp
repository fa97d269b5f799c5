// SPDX-License-Identifier: Apache-2.0
//
// Sets read off an algorithm's declarations; no isl needed.
#include "schedules/polyhedra/domain.h"

#include <algorithm>

#include "frontend/ir/facts.h"

namespace tilewright::poly {

std::vector<std::string> extent_names(const ir::Algorithm& algorithm) {
  std::vector<std::string> names;
  for (const ir::ExtentDecl& extent : algorithm.extents) names.emplace_back(extent.name.text());
  return names;
}

Assumptions assumptions(const ir::Algorithm& algorithm) {
  BasicSet ranges;
  for (const ir::ExtentDecl& extent : algorithm.extents) {
    AffineExpr size = AffineExpr::variable(extent.name.text());
    ranges.at_least(size, AffineExpr(std::max<std::int64_t>(extent.min, 0)));
    if (extent.max) ranges.at_least(AffineExpr(*extent.max), size);
    if (extent.multiple_of > 1) ranges.equal(modulo(size, extent.multiple_of), AffineExpr());
  }
  Region allowed{{ranges}, true};
  for (ir::Expr requirement : algorithm.requirements) {
    allowed = meet(allowed, region_of(requirement));
  }
  Space space{extent_names(algorithm), {}};
  return {Set(std::move(space), std::move(allowed.pieces)), allowed.exact};
}

Region variable_region(const ir::Algorithm& algorithm, const ir::Fold& fold, std::size_t i) {
  const std::string var(fold.vars[i].text());
  const bool data = ir::depends_on_data(fold.lower[i]) || ir::depends_on_data(fold.upper[i]);
  if (!data) return range_region(var, fold.lower[i], fold.upper[i]);
  ir::Context scratch;
  const auto lower = ir::value_range(scratch, algorithm, fold.lower[i]);
  const auto upper = ir::value_range(scratch, algorithm, fold.upper[i]);
  if (!lower || !upper) return Region::everywhere(false);
  Region region = range_region(var, lower->low, upper->high);
  region.exact = false;
  return region;
}

IterationDomain iteration_domain(const ir::Algorithm& algorithm, const ir::Equation& equation) {
  Space space{extent_names(algorithm), {}};
  Region region = Region::everywhere();
  for (std::size_t i = 0; i < equation.indices.size(); ++i) {
    space.dims.emplace_back(equation.indices[i].text());
    region = meet(region, range_region(space.dims.back(), ir::Expr(), equation.shape[i]));
  }
  if (const ir::Fold* fold = equation.fold(); fold && !fold->scan) {
    for (std::size_t i = 0; i < fold->vars.size(); ++i) {
      space.dims.emplace_back(fold->vars[i].text());
      region = meet(region, variable_region(algorithm, *fold, i));
    }
  }
  return {Set(std::move(space), std::move(region.pieces)), equation.indices.size(), region.exact};
}

std::vector<std::string> cell_names(std::size_t rank, const std::vector<std::string>& taken) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rank; ++i) {
    std::string name = "d" + std::to_string(i);
    while (std::find(taken.begin(), taken.end(), name) != taken.end()) name += "'";
    names.push_back(std::move(name));
  }
  return names;
}

TensorDomain tensor_domain(const ir::Algorithm& algorithm, Symbol tensor,
                           const std::vector<std::string>& dims) {
  Region region = Region::everywhere();
  const std::vector<ir::Expr>* shape = algorithm.shape_of(tensor);
  for (std::size_t i = 0; shape != nullptr && i < shape->size(); ++i) {
    region = meet(region, range_region(dims[i], ir::Expr(), (*shape)[i]));
  }
  Space space{extent_names(algorithm), dims};
  return {Set(std::move(space), std::move(region.pieces)), region.exact && shape != nullptr};
}

}  // namespace tilewright::poly
