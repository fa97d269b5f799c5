// SPDX-License-Identifier: Apache-2.0
//
// Access relations, built from the expressions without isl.
#include "schedules/polyhedra/access.h"

#include <map>
#include <unordered_map>

#include "frontend/ir/walk.h"
#include "schedules/polyhedra/index.h"

namespace tilewright::poly {

// For each expression under `root`, where it may be evaluated. Expressions are shared, so a node is
// visited after all its parents: parents have larger indices than their children.
static std::unordered_map<const ir::ExprNode*, Region> evaluated_where(ir::Expr root) {
  std::unordered_map<const ir::ExprNode*, Region> result;
  std::map<std::uint32_t, std::pair<ir::Expr, Region>, std::greater<>> pending;
  auto reach = [&](ir::Expr expr, const Region& region) {
    auto [place, fresh] = pending.try_emplace(expr.index(), expr, region);
    if (!fresh) place->second.second = join(place->second.second, region);
  };
  reach(root, Region::everywhere());
  while (!pending.empty()) {
    auto [expr, region] = pending.begin()->second;
    pending.erase(pending.begin());
    if (const auto* select = expr.as<ir::Select>()) {
      reach(select->condition, region);
      reach(select->then_value, meet(region, region_of(select->condition, true)));
      reach(select->else_value, meet(region, region_of(select->condition, false)));
    } else {
      ir::for_each_child(expr, [&](ir::Expr child) { reach(child, region); });
    }
    result.emplace(expr.node(), std::move(region));
  }
  return result;
}

// The relation of one read; `where` is the region of its evaluation within the iteration domain.
static Access access_of(const ir::Algorithm& algorithm, const ir::Read& read, const Space& points,
                        const Region& where) {
  std::vector<std::string> taken = points.params;
  taken.insert(taken.end(), points.dims.begin(), points.dims.end());
  std::vector<std::string> cells = cell_names(read.indices.size(), taken);
  std::vector<bool> whole_dim(read.indices.size(), false);
  Region region = where;
  for (std::size_t k = 0; k < read.indices.size(); ++k) {
    AffineExpr cell = AffineExpr::variable(cells[k]);
    Region index;
    if (std::optional<IndexCases> cases = index_cases(read.indices[k])) {
      index.exact = cases->exact;
      for (const IndexCase& one : cases->cases) {
        BasicSet piece = one.condition;
        index.pieces.push_back(piece.equal(cell, one.value));
      }
    }
    bool too_many = index.pieces.size() * region.pieces.size() > kMaxPieces;
    if (index.pieces.empty() || too_many) {
      whole_dim[k] = true;
      const std::vector<ir::Expr>* shape = algorithm.shape_of(read.tensor);
      index =
          shape != nullptr ? range_region(cells[k], ir::Expr(), (*shape)[k]) : Region::everywhere();
      index.exact = false;
    }
    region = meet(region, index);
  }
  return {read.tensor, &read,
          Map({points.params, points.dims, std::move(cells)}, std::move(region.pieces)),
          std::move(whole_dim), region.exact};
}

std::vector<Access> accesses(const ir::Algorithm& algorithm, const ir::Equation& equation) {
  IterationDomain domain = iteration_domain(algorithm, equation);
  Region points{domain.points.pieces(), domain.exact};
  const ir::Fold* fold = equation.fold();
  ir::Expr root = fold != nullptr ? fold->body : equation.value;
  std::unordered_map<const ir::ExprNode*, Region> where = evaluated_where(root);
  std::vector<Access> result;
  for (const ir::Read* read : ir::reads(root)) {
    Region region = meet(points, where.at(read));
    result.push_back(access_of(algorithm, *read, domain.points.space(), region));
  }
  return result;
}

Map write_relation(const ir::Algorithm& algorithm, const ir::Equation& equation) {
  IterationDomain domain = iteration_domain(algorithm, equation);
  const Space& space = domain.points.space();
  std::vector<std::string> taken = space.params;
  taken.insert(taken.end(), space.dims.begin(), space.dims.end());
  std::vector<std::string> cells = cell_names(equation.indices.size(), taken);
  std::vector<BasicSet> pieces = domain.points.pieces();
  for (BasicSet& piece : pieces) {
    for (std::size_t k = 0; k < cells.size(); ++k) {
      piece.equal(AffineExpr::variable(cells[k]), AffineExpr::variable(space.dims[k]));
    }
  }
  return Map({space.params, space.dims, std::move(cells)}, std::move(pieces));
}

}  // namespace tilewright::poly
