// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/names.h"

namespace tilewright::proof {

using poly::BasicSet;

std::vector<AffineExpr> variables(const std::vector<Loop>& loops, std::string_view suffix) {
  std::vector<AffineExpr> out;
  for (const Loop& loop : loops) out.push_back(variable(loop.name, suffix));
  return out;
}

std::vector<std::string> names(const std::vector<Loop>& loops, std::string_view suffix) {
  std::vector<std::string> out;
  for (const Loop& loop : loops) out.push_back(loop.name + std::string(suffix));
  return out;
}

// Every name replaced at once.
AffineExpr replaced(AffineExpr expr, const std::vector<std::string>& from,
                    const std::vector<AffineExpr>& to) {
  for (const std::string& name : from) expr = expr.renamed(name, name + "'t");
  for (std::size_t i = 0; i < from.size(); ++i) expr = expr.substituted(from[i] + "'t", to[i]);
  return expr;
}
BasicSet replaced(const BasicSet& set, const std::vector<std::string>& from,
                  const std::vector<AffineExpr>& to) {
  BasicSet out;
  for (const AffineExpr& expr : set.equalities) out.equalities.push_back(replaced(expr, from, to));
  for (const AffineExpr& expr : set.inequalities)
    out.inequalities.push_back(replaced(expr, from, to));
  return out;
}
BasicSet suffixed(const BasicSet& set, const std::vector<Loop>& loops, std::string_view suffix) {
  return replaced(set, names(loops), variables(loops, suffix));
}

void add(BasicSet& to, const BasicSet& more) {
  to.equalities.insert(to.equalities.end(), more.equalities.begin(), more.equalities.end());
  to.inequalities.insert(to.inequalities.end(), more.inequalities.begin(), more.inequalities.end());
}

std::vector<BasicSet> both(const std::vector<BasicSet>& a, const std::vector<BasicSet>& b) {
  std::vector<BasicSet> out;
  for (const BasicSet& x : a)
    for (const BasicSet& y : b) {
      out.push_back(x);
      add(out.back(), y);
    }
  return out;
}

}  // namespace tilewright::proof
