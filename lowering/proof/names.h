// SPDX-License-Identifier: Apache-2.0
//
// Names of instances in sets: loops with a suffix for each party, and several names replaced at once. For this
// room's own files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lowering/proof/statements.h"

namespace tilewright::proof {

inline AffineExpr variable(std::string_view name, std::string_view suffix = {}) {
  return AffineExpr::variable(std::string(name) + std::string(suffix));
}
std::vector<std::string> names(const std::vector<Loop>& loops, std::string_view suffix = {});
std::vector<AffineExpr> variables(const std::vector<Loop>& loops, std::string_view suffix = {});

// Every name replaced at once.
AffineExpr replaced(AffineExpr expr, const std::vector<std::string>& from,
                    const std::vector<AffineExpr>& to);
poly::BasicSet replaced(const poly::BasicSet& set, const std::vector<std::string>& from,
                        const std::vector<AffineExpr>& to);
poly::BasicSet suffixed(const poly::BasicSet& set, const std::vector<Loop>& loops,
                        std::string_view suffix);
void add(poly::BasicSet& to, const poly::BasicSet& more);
// Every conjunction of one of each.
std::vector<poly::BasicSet> both(const std::vector<poly::BasicSet>& a,
                                 const std::vector<poly::BasicSet>& b);

}  // namespace tilewright::proof
