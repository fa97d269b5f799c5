// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/affine_view.h"

#include <algorithm>

#include "frontend/ir/walk.h"
#include "schedules/polyhedra/index.h"

namespace tilewright::check {

using ir::OpCode;
using ir::ScalarType;

AffineView::AffineView(ir::Context& context, const program::Program& program) : context_(context) {
  for (const program::Parameter& parameter : program.parameters)
    if (!parameter.is_output) inputs_.insert(parameter.name);
  for (const ir::ExtentDecl& extent : program.extents)
    extents_[extent.name] = {std::max<std::int64_t>(extent.min, 0), extent.max};
}

void AffineView::begin_statement() { views_.clear(); }

void AffineView::define(Symbol var, Expr value) {
  if (depends_on_data(value)) data_.insert(var);
  if (value.type() == ScalarType::Bool) definitions_[var] = of(value);
}

bool AffineView::depends_on_data(Expr expr) const {
  bool depends = false;
  ir::walk(expr, [&](Expr e) {
    const auto* var = e.as<ir::Var>();
    depends = depends || e.as<ir::Read>() || (var && data_.contains(var->name));
  });
  return depends;
}

Expr AffineView::of(Expr expr) {
  if (const auto it = views_.find(expr); it != views_.end()) return it->second;
  const Expr view = compute(expr);
  views_.emplace(expr, view);
  return view;
}

Expr AffineView::compute(Expr expr) {
  if (const auto* var = expr.as<ir::Var>()) {
    if (expr.type() == ScalarType::Index) return expr;
    const auto it = definitions_.find(var->name);
    return it == definitions_.end() ? unknown(expr) : it->second;
  }
  if (expr.as<ir::IntConst>() || expr.as<ir::BoolConst>() || expr.as<ir::Extent>()) return expr;
  if (const auto* select = expr.as<ir::Select>())
    return representable(expr, context_.select(of(select->condition), of(select->then_value),
                                               of(select->else_value)));
  if (const auto* op = expr.as<ir::Op>()) return operation(expr, *op);
  return unknown(expr);
}

Expr AffineView::operation(Expr expr, const ir::Op& op) {
  switch (op.op) {
    case OpCode::Lt:
    case OpCode::Le:
    case OpCode::Gt:
    case OpCode::Ge:
    case OpCode::Eq:
    case OpCode::Ne:
      if (op.args[0].type() != ScalarType::Index) return unknown(expr);
      [[fallthrough]];
    case OpCode::And:
    case OpCode::Or:
    case OpCode::Add:
    case OpCode::Sub:
    case OpCode::Mul:
    case OpCode::Min:
    case OpCode::Max:
      return representable(expr, context_.op(op.op, {of(op.args[0]), of(op.args[1])}));
    case OpCode::Neg:
    case OpCode::Not:
    case OpCode::Abs: return representable(expr, context_.op(op.op, {of(op.args[0])}));
    case OpCode::Fma:
      return representable(
          expr, context_.add(context_.mul(of(op.args[0]), of(op.args[1])), of(op.args[2])));
    case OpCode::Div:
    case OpCode::Mod:
      // By a literal; the view of the divisor would hide that it is none.
      if (!op.args[1].as<ir::IntConst>()) return unknown(expr);
      return representable(expr, context_.op(op.op, {of(op.args[0]), op.args[1]}));
    default: return unknown(expr);
  }
}

Expr AffineView::representable(Expr expr, Expr view) {
  if (view.type() == ScalarType::Index && !poly::index_cases(view)) return unknown(expr);
  return view;
}

Expr AffineView::unknown(Expr expr) {
  bool lasts = true;
  for (const ir::Read* read : ir::reads(expr)) lasts = lasts && inputs_.contains(read->tensor);
  if (lasts)
    if (const auto it = lasting_.find(expr); it != lasting_.end()) return it->second;
  Unknown made;
  made.name = context_.symbol("?" + std::to_string(unknowns_.size()));
  made.stands_for = expr;
  made.on_data = depends_on_data(expr);
  const bool is_bool = expr.type() == ScalarType::Bool;
  made.range = is_bool ? ir::Interval{0, 1} : ir::interval(expr, extents_);
  unknowns_.push_back(made);
  const Expr name = context_.var(made.name);
  const Expr view = is_bool ? context_.le(context_.index(1), name) : name;
  if (lasts) lasting_.emplace(expr, view);
  return view;
}

}  // namespace tilewright::check
