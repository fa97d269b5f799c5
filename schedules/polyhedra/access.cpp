// SPDX-License-Identifier: Apache-2.0
//
// Access relations, built from the expressions without isl.
#include "schedules/polyhedra/access.h"

#include <map>
#include <unordered_map>

#include "frontend/ir/facts.h"
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

// Any cell from the least to the greatest value that the facts allow.
static Region range_of_data(const ir::Algorithm& algorithm, ir::Expr index,
                            const std::string& cell) {
  ir::Context scratch;
  const auto range = ir::value_range(scratch, algorithm, index);
  if (!range) return Region{{}, false};
  const AffineExpr value = AffineExpr::variable(cell);
  Region sides[2] = {{{}, false}, {{}, false}};
  for (const bool upper : {false, true}) {
    const auto cases = index_cases(upper ? range->high : range->low);
    if (!cases) return Region{{}, false};
    for (const IndexCase& one : cases->cases) {
      BasicSet piece = one.condition;
      sides[upper].pieces.push_back(upper ? piece.at_least(one.value, value)
                                          : piece.at_least(value, one.value));
    }
  }
  return meet(sides[0], sides[1]);
}

// The relation of one read or write; `where` is the region of its evaluation within the iteration domain.
static Access access_of(const ir::Algorithm& algorithm, Symbol tensor, const ir::Read* read,
                        NodeList<ir::Expr> indices, const Space& points, const Region& where) {
  std::vector<std::string> taken = points.params;
  taken.insert(taken.end(), points.dims.begin(), points.dims.end());
  std::vector<std::string> cells = cell_names(indices.size(), taken);
  std::vector<bool> whole_dim(indices.size(), false);
  Region region = where;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    AffineExpr cell = AffineExpr::variable(cells[k]);
    Region index;
    if (ir::depends_on_data(indices[k])) {
      index = range_of_data(algorithm, indices[k], cells[k]);
    } else if (std::optional<IndexCases> cases = index_cases(indices[k])) {
      index.exact = cases->exact;
      for (const IndexCase& one : cases->cases) {
        BasicSet piece = one.condition;
        index.pieces.push_back(piece.equal(cell, one.value));
      }
    }
    bool too_many = index.pieces.size() * region.pieces.size() > kMaxPieces;
    if (index.pieces.empty() || too_many) {
      whole_dim[k] = true;
      const std::vector<ir::Expr>* shape = algorithm.shape_of(tensor);
      index =
          shape != nullptr ? range_region(cells[k], ir::Expr(), (*shape)[k]) : Region::everywhere();
      index.exact = false;
    }
    region = meet(region, index);
  }
  return {tensor, read,
          Map({points.params, points.dims, std::move(cells)}, std::move(region.pieces)),
          std::move(whole_dim), region.exact};
}

namespace {

// The parts of an equation, each over its own points.
class Reader {
 public:
  Reader(const ir::Algorithm& algorithm, const ir::Equation& equation)
      : algorithm_(algorithm),
        equation_(equation),
        domain_(iteration_domain(algorithm, equation)) {}

  std::vector<Access> run() {
    const ir::Fold* fold = equation_.fold();
    if (fold == nullptr) {
      add({equation_.value}, indices());
      return std::move(out_);
    }
    Part terms = fold->is_update() ? variables(*fold) : fold->scan ? indices() : everything();
    std::vector<ir::Expr> conditions(fold->where.begin(), fold->where.end());
    add(conditions, terms);
    for (ir::Expr condition : conditions) terms.region = meet(terms.region, region_of(condition));
    std::vector<ir::Expr> roots(fold->body.begin(), fold->body.end());
    roots.insert(roots.end(), fold->at.begin(), fold->at.end());
    add(roots, terms);
    if (fold->is_update())
      out_.push_back(access_of(algorithm_, equation_.tensors()[0].name, nullptr, fold->at,
                               terms.space, terms.region));
    // Bounds are evaluated outside of their own variable; what is read there does not depend on data again.
    Part bounds = fold->is_update() ? variables(*fold) : everything();
    if (!fold->scan) {
      bounds.region = fold->is_update() ? Region::everywhere() : indices().region;
      for (std::size_t i = 0; i < fold->vars.size(); ++i) {
        add({fold->lower[i], fold->upper[i]}, bounds);
        bounds.region = meet(bounds.region, variable_region(algorithm_, *fold, i));
      }
    }
    add({fold->base.begin(), fold->base.end()}, indices());
    add({fold->on_empty.begin(), fold->on_empty.end()}, indices());
    return std::move(out_);
  }

 private:
  struct Part {
    Space space;
    Region region;
  };

  Part everything() const {
    return {domain_.points.space(), {domain_.points.pieces(), domain_.exact}};
  }
  Part indices() const {
    ir::Equation plain = equation_;
    plain.value = ir::Expr();
    const IterationDomain domain = iteration_domain(algorithm_, plain);
    return {domain.points.space(), {domain.points.pieces(), domain.exact}};
  }
  Part variables(const ir::Fold& fold) const {
    Part out{{domain_.points.space().params, {}}, Region::everywhere()};
    for (std::size_t i = 0; i < fold.vars.size(); ++i) {
      out.space.dims.emplace_back(fold.vars[i].text());
      out.region =
          meet(out.region, range_region(out.space.dims.back(), fold.lower[i], fold.upper[i]));
    }
    return out;
  }

  void add(const std::vector<ir::Expr>& roots, const Part& part) {
    for (ir::Expr root : roots) {
      const auto where = evaluated_where(root);
      for (const ir::Read* read : ir::reads(root))
        out_.push_back(access_of(algorithm_, read->tensor, read, read->indices, part.space,
                                 meet(part.region, where.at(read))));
    }
  }

  const ir::Algorithm& algorithm_;
  const ir::Equation& equation_;
  const IterationDomain domain_;
  std::vector<Access> out_;
};

}  // namespace

std::vector<Access> accesses(const ir::Algorithm& algorithm, const ir::Equation& equation) {
  return Reader(algorithm, equation).run();
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
