// SPDX-License-Identifier: Apache-2.0
//
// Connected components of constraints by shared names.
#include "schedules/polyhedra/components.h"

#include <algorithm>
#include <string>

namespace tilewright::poly {

namespace {

// A constraint on its way into a component.
struct Linked {
  AffineExpr expr;
  bool is_equality;
  bool is_assumed;
  std::vector<std::string> names;
};

}  // namespace

static void link(std::vector<Linked>& all, const BasicSet& piece, bool is_assumed) {
  for (bool is_equality : {true, false}) {
    for (const AffineExpr& expr : is_equality ? piece.equalities : piece.inequalities) {
      all.push_back({expr, is_equality, is_assumed, {}});
      expr.collect_names(all.back().names);
    }
  }
}

// Moves into a component what is connected to `seed`, or, with an empty seed, constraints without names.
static Component component_of(std::vector<Linked>& all, const std::string& seed,
                              const Space& whole) {
  std::vector<std::string> reached;
  if (!seed.empty()) reached.push_back(seed);
  std::vector<Linked> members;
  auto touches = [&](const Linked& one) {
    return one.names.empty() || std::any_of(one.names.begin(), one.names.end(), [&](const auto& n) {
             return std::find(reached.begin(), reached.end(), n) != reached.end();
           });
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = 0; i < all.size();) {
      if (!touches(all[i])) {
        ++i;
        continue;
      }
      reached.insert(reached.end(), all[i].names.begin(), all[i].names.end());
      members.push_back(std::move(all[i]));
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
      grew = true;
    }
  }
  auto keep = [&](const std::vector<std::string>& names) {
    std::vector<std::string> kept;
    for (const std::string& name : names) {
      if (std::find(reached.begin(), reached.end(), name) != reached.end()) kept.push_back(name);
    }
    return kept;
  };
  Space space{keep(whole.params), keep(whole.dims)};
  BasicSet points;
  BasicSet assumed;
  for (const Linked& one : members) {
    (one.is_equality ? points.equalities : points.inequalities).push_back(one.expr);
    if (!one.is_assumed) continue;
    (one.is_equality ? assumed.equalities : assumed.inequalities).push_back(one.expr);
  }
  return {Set(space, std::move(points)), Set({space.params, {}}, std::move(assumed))};
}

std::vector<Component> components_of(const Set& set, const Set& assumed) {
  Space whole = set.space();
  for (const std::string& name : assumed.space().params) {
    if (std::find(whole.params.begin(), whole.params.end(), name) == whole.params.end()) {
      whole.params.push_back(name);
    }
  }
  if (set.pieces().size() != 1 || assumed.pieces().size() != 1) {
    std::vector<BasicSet> pieces;
    for (const BasicSet& piece : set.pieces()) {
      for (const BasicSet& facts : assumed.pieces()) {
        pieces.push_back(piece);
        BasicSet& both = pieces.back();
        both.equalities.insert(both.equalities.end(), facts.equalities.begin(),
                               facts.equalities.end());
        both.inequalities.insert(both.inequalities.end(), facts.inequalities.begin(),
                                 facts.inequalities.end());
      }
    }
    return {{Set(whole, std::move(pieces)), Set({whole.params, {}}, assumed.pieces())}};
  }
  std::vector<Linked> all;
  link(all, set.pieces().front(), false);
  link(all, assumed.pieces().front(), true);
  std::vector<Component> result;
  result.push_back(component_of(all, "", whole));
  std::vector<std::string> placed;
  for (const std::string& dim : whole.dims) {
    if (std::find(placed.begin(), placed.end(), dim) != placed.end()) continue;
    result.push_back(component_of(all, dim, whole));
    const std::vector<std::string>& dims = result.back().points.space().dims;
    placed.insert(placed.end(), dims.begin(), dims.end());
  }
  while (!all.empty()) result.push_back(component_of(all, all.front().names.front(), whole));
  return result;
}

}  // namespace tilewright::poly
