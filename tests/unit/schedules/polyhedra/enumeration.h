// SPDX-License-Identifier: Apache-2.0
//
// The checker of polyhedral laws: enumeration of a small box, membership by evaluating constraints.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "schedules/polyhedra/set.h"

namespace tilewright::poly {

inline constexpr std::int64_t kBox = 4;

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.diagnostics().front().message;
    std::abort();
  }
  return std::move(result).value();
}

// Calls `visit` for every assignment of the names within [-kBox, kBox].
inline void for_each_point(const std::vector<std::string>& names,
                           const std::function<void(const Binding&)>& visit) {
  Binding at;
  std::function<void(std::size_t)> descend = [&](std::size_t depth) {
    if (depth == names.size()) return visit(at);
    for (std::int64_t value = -kBox; value <= kBox; ++value) {
      at[names[depth]] = value;
      descend(depth + 1);
    }
  };
  descend(0);
}

inline bool inside(const Set& set, const Binding& at) { return set.contains(at).value(); }

inline AffineExpr random_affine(std::mt19937& random, const std::vector<std::string>& names) {
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  AffineExpr expr(pick(-3, 3));
  for (const std::string& name : names) {
    expr = expr + AffineExpr::variable(name, pick(0, 2) == 0 ? pick(-2, 2) : 0);
  }
  if (pick(0, 4) == 0) {
    AffineExpr inner(pick(-1, 1));
    for (const std::string& name : names) {
      inner = inner + AffineExpr::variable(name, pick(-1, 1));
    }
    expr = expr + floor_div(inner, pick(2, 3)) * pick(-2, 2);
  }
  return expr;
}

// A random union of conjunctions, every one within the box.
inline Set random_set(std::mt19937& random, const Space& space) {
  std::vector<std::string> names = space.params;
  names.insert(names.end(), space.dims.begin(), space.dims.end());
  std::vector<BasicSet> pieces;
  std::size_t num_pieces = 1 + random() % 2;
  for (std::size_t p = 0; p < num_pieces; ++p) {
    BasicSet piece;
    for (const std::string& name : names) {
      piece.at_least(AffineExpr::variable(name), AffineExpr(-kBox));
      piece.at_least(AffineExpr(kBox), AffineExpr::variable(name));
    }
    std::size_t num_constraints = random() % 4;
    for (std::size_t c = 0; c < num_constraints; ++c) {
      AffineExpr expr = random_affine(random, names);
      if (random() % 5 == 0) {
        piece.equalities.push_back(expr);
      } else {
        piece.inequalities.push_back(expr);
      }
    }
    pieces.push_back(std::move(piece));
  }
  return Set(space, std::move(pieces));
}

}  // namespace tilewright::poly
