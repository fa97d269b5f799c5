// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/walk.h"

#include <algorithm>
#include <unordered_set>

namespace tilewright::ir {

void walk(Expr root, const std::function<void(Expr)>& f) {
  std::unordered_set<std::uint32_t> seen;
  // Explicit stack: a node is expanded once, then reported after its children.
  std::vector<std::pair<Expr, bool>> stack{{root, false}};
  while (!stack.empty()) {
    auto [expr, expanded] = stack.back();
    stack.pop_back();
    if (expanded) {
      f(expr);
      continue;
    }
    if (!seen.insert(expr.index()).second) continue;
    stack.emplace_back(expr, true);
    const std::size_t first = stack.size();
    for_each_child(expr, [&](Expr child) { stack.emplace_back(child, false); });
    std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
  }
}

Expr rebuild(Context& context, Expr expr, const std::function<Expr(Expr)>& f) {
  auto list = [&](NodeList<Expr> values) {
    std::vector<Expr> out;
    out.reserve(values.size());
    for (Expr value : values) out.push_back(f(value));
    return out;
  };
  return visit(
      expr, Overloaded{
                [&](const Read& n) { return context.read(n.tensor, list(n.indices), n.type); },
                [&](const Op& n) { return context.op(n.op, list(n.args)); },
                [&](const Select& n) {
                  return context.select(f(n.condition), f(n.then_value), f(n.else_value));
                },
                [&](const Cast& n) { return context.cast(n.type, f(n.value)); },
                [&](const Saturate& n) { return context.saturate(n.type, f(n.value)); },
                [&](const RoundTo& n) { return context.round_to(n.grid, f(n.value)); },
                [&](const Fold& n) {
                  const std::vector<Expr> lists[] = {list(n.lower), list(n.upper),    list(n.where),
                                                     list(n.body),  list(n.on_empty), list(n.base),
                                                     list(n.at)};
                  Fold out = n;
                  out.lower = lists[0];
                  out.upper = lists[1];
                  out.where = lists[2];
                  out.body = lists[3];
                  out.on_empty = lists[4];
                  out.base = lists[5];
                  out.at = lists[6];
                  return context.fold(out);
                },
                [&](const IntConst&) { return expr; },
                [&](const FloatConst&) { return expr; },
                [&](const BoolConst&) { return expr; },
                [&](const Var&) { return expr; },
                [&](const Extent&) { return expr; },
            });
}

Expr copy_into(Context& context, Expr expr) {
  std::unordered_map<Expr, Expr> done;
  const std::function<Expr(Expr)> copy = [&](Expr e) -> Expr {
    if (const auto it = done.find(e); it != done.end()) return it->second;
    const Expr out =
        visit(e, Overloaded{
                     [&](const IntConst& n) { return context.integer(n.type, n.value); },
                     [&](const FloatConst& n) { return context.real(n.type, n.value); },
                     [&](const BoolConst& n) { return context.boolean(n.value); },
                     [&](const Var& n) { return context.var(n.name, n.type); },
                     [&](const Extent& n) { return context.extent(n.name); },
                     [&](const auto&) { return rebuild(context, e, copy); },
                 });
    done.emplace(e, out);
    return out;
  };
  return copy(expr);
}

Expr rewrite(Context& context, Expr root, const std::function<Expr(Expr)>& f) {
  std::unordered_map<std::uint32_t, Expr> done;
  walk(root, [&](Expr expr) {
    bool changed = false;
    for_each_child(expr, [&](Expr child) { changed |= !(done.at(child.index()) == child); });
    Expr out = changed ? rebuild(context, expr, [&](Expr c) { return done.at(c.index()); }) : expr;
    if (Expr replaced = f(out)) out = replaced;
    done.emplace(expr.index(), out);
  });
  return done.at(root.index());
}

std::vector<Symbol> bound_names(const Fold& fold) {
  std::vector<Symbol> out(fold.state.begin(), fold.state.end());
  // A scan runs along an index of its equation.
  if (!fold.scan) out.insert(out.end(), fold.vars.begin(), fold.vars.end());
  return out;
}

Expr substitute(Context& context, Expr root, const Substitution& values) {
  if (!root || values.empty()) return root;
  std::unordered_map<std::uint32_t, Expr> done;
  std::function<Expr(Expr)> go = [&](Expr expr) -> Expr {
    if (auto it = done.find(expr.index()); it != done.end()) return it->second;
    Expr out = expr;
    if (const auto* var = expr.as<Var>()) {
      if (auto it = values.find(var->name); it != values.end()) out = it->second;
    } else if (const auto* fold = expr.as<Fold>()) {
      Substitution inner = values;
      for (Symbol bound : bound_names(*fold)) inner.erase(bound);
      out = rebuild(context, expr, [&](Expr c) { return substitute(context, c, inner); });
    } else {
      out = rebuild(context, expr, go);
    }
    done.emplace(expr.index(), out);
    return out;
  };
  return go(root);
}

namespace {

void collect_free(Expr expr, std::vector<Symbol>& bound, std::vector<Symbol>& out) {
  if (const auto* var = expr.as<Var>()) {
    auto has = [&](const std::vector<Symbol>& names) {
      return std::find(names.begin(), names.end(), var->name) != names.end();
    };
    if (!has(bound) && !has(out)) out.push_back(var->name);
    return;
  }
  const auto* fold = expr.as<Fold>();
  const std::size_t outer = bound.size();
  if (fold)
    for (Symbol name : bound_names(*fold)) bound.push_back(name);
  for_each_child(expr, [&](Expr child) { collect_free(child, bound, out); });
  bound.resize(outer);
}

}  // namespace

std::vector<Symbol> free_vars(Expr root) {
  std::vector<Symbol> bound;
  std::vector<Symbol> out;
  collect_free(root, bound, out);
  return out;
}

std::vector<const Read*> reads(Expr root) {
  std::vector<const Read*> out;
  walk(root, [&](Expr expr) {
    if (const auto* read = expr.as<Read>()) out.push_back(read);
  });
  return out;
}

bool has_fold(Expr root) {
  bool found = false;
  walk(root, [&](Expr expr) { found |= expr.kind() == ExprKind::Fold; });
  return found;
}

bool is_constant(Expr expr) {
  const auto* op = expr.as<Op>();
  if (op && op->op == OpCode::Complex) return is_constant(op->args[0]) && is_constant(op->args[1]);
  return expr.as<IntConst>() || expr.as<FloatConst>() || expr.as<BoolConst>();
}

}  // namespace tilewright::ir
