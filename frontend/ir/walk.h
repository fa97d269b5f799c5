// SPDX-License-Identifier: Apache-2.0
//
// Children, walks and rebuilding, derived from the fields of each kind. Rewrites are memoised by
// node and return the same handle when nothing changed.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "frontend/ir/context.h"

namespace tilewright::ir {

// Calls f on each child expression, in field order.
template <class F>
void for_each_child(Expr expr, F&& f) {
  visit(expr, [&](const auto& node) {
    for_each_field(node, [&](std::string_view, const auto& value) {
      using V = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<V, Expr>) {
        f(value);
      } else if constexpr (std::is_same_v<V, NodeList<Expr>>) {
        for (Expr child : value) f(child);
      }
    });
  });
}

// Calls f on every distinct node once, children first.
void walk(Expr root, const std::function<void(Expr)>& f);

// The node with each child replaced by f(child); goes through the builders, so constants fold.
Expr rebuild(Context& context, Expr expr, const std::function<Expr(Expr)>& f);

// The expression, of any context, as one of this context. Names stay those of the other.
Expr copy_into(Context& context, Expr expr);

// f sees each node with its children already rewritten; an empty result keeps that node.
Expr rewrite(Context& context, Expr root, const std::function<Expr(Expr)>& f);

// Replaces variables by name, capture-free for fold variables (a bound name is not replaced).
using Substitution = std::unordered_map<Symbol, Expr>;
Expr substitute(Context& context, Expr root, const Substitution& values);

// The variables that a fold binds in its terms.
std::vector<Symbol> bound_names(const Fold& fold);

// Names of variables that occur free, in order of first occurrence.
std::vector<Symbol> free_vars(Expr root);
// Every Read, in order of first occurrence.
std::vector<const Read*> reads(Expr root);
bool has_fold(Expr root);
// A literal: of a complex type `complex` of two.
bool is_constant(Expr expr);

}  // namespace tilewright::ir
