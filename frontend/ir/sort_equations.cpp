// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/sort_equations.h"

#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

// Whether a, which stands at `i`, comes before b, which stands at `j`.
Expr comes_before(Context& context, const Sort& sort, Expr a, Expr i, Expr b, Expr j) {
  const Expr better = context.op(sort.descending ? OpCode::Gt : OpCode::Lt, {a, b});
  Expr equal = context.op(OpCode::Eq, {a, b});
  Expr before = better;
  if (is_float(a.type())) {
    const auto is_nan = [&](Expr x) { return context.op(OpCode::Ne, {x, x}); };
    before = context.op(OpCode::Or,
                        {before, context.both(context.op(OpCode::Not, {is_nan(a)}), is_nan(b))});
    equal = context.op(OpCode::Or, {equal, context.both(is_nan(a), is_nan(b))});
  }
  return context.op(OpCode::Or, {before, context.both(equal, context.lt(i, j))});
}

}  // namespace

std::vector<Equation> sort_equations(Context& context, const Sort& sort) {
  const auto renamed = [&](Symbol name, std::string_view suffix) {
    return context.symbol(std::string(name.text()) + std::string(suffix));
  };
  const Expr zero = context.index(0);
  const Expr one = context.integer(ScalarType::I64, 1);
  // How many come before.
  Equation rank;
  rank.name = renamed(sort.name, ".rank");
  rank.indices = sort.indices;
  rank.indices.push_back(sort.var);
  rank.shape = sort.shape;
  rank.shape.push_back(sort.upper);
  rank.type = ScalarType::I64;
  const Symbol other = renamed(sort.var, ".other");
  const Expr at = context.var(sort.var);
  const Expr other_at = context.var(other);
  const Expr other_value = substitute(context, sort.value, {{sort.var, other_at}});
  const Expr before = comes_before(context, sort, other_value, other_at, sort.value, at);
  Fold count;
  count.monoid = context.symbol(monoid_text(Monoid::Sum));
  count.vars = {&other, 1};
  count.lower = {&zero, 1};
  count.upper = {&sort.upper, 1};
  count.where = {&before, 1};
  count.body = {&one, 1};
  rank.value = context.fold(count);
  // Each goes to its rank.
  Equation order;
  order.name = sort.name;
  order.indices = sort.indices;
  order.indices.push_back(sort.rank);
  order.shape = sort.shape;
  order.shape.push_back(sort.length);
  order.type = ScalarType::I64;
  std::vector<Symbol> vars;
  std::vector<Expr> cell;
  for (Symbol index : rank.indices) {
    vars.push_back(renamed(index, ".of"));
    cell.push_back(context.var(vars.back()));
  }
  const std::vector<Expr> lower(vars.size(), zero);
  const Expr place =
      context.cast(ScalarType::Index, context.read(rank.name, cell, ScalarType::I64));
  const Expr inside = context.both(context.lt(zero, sort.length), context.lt(place, sort.length));
  const Expr body = context.cast(ScalarType::I64, cell.back());
  const Expr base = context.integer(ScalarType::I64, 0);
  std::vector<Expr> to(cell.begin(), cell.end() - 1);
  to.push_back(context.max(context.min(place, context.add(sort.length, context.index(-1))), zero));
  Fold invert;
  invert.monoid = context.symbol(monoid_text(Monoid::Last));
  invert.vars = vars;
  invert.lower = lower;
  invert.upper = rank.shape;
  invert.where = {&inside, 1};
  invert.body = {&body, 1};
  invert.base = {&base, 1};
  invert.at = to;
  order.value = context.fold(invert);
  return {rank, order};
}

}  // namespace tilewright::ir
