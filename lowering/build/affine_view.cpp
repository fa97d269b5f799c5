// SPDX-License-Identifier: Apache-2.0
#include "lowering/build/affine_view.h"

namespace tilewright::build {

using ir::Expr;
using ir::OpCode;
using poly::AffineExpr;
using poly::BoundExpr;

namespace {

std::optional<std::int64_t> literal(Expr expr) {
  const auto* node = expr.as<ir::IntConst>();
  if (node && expr.type() == ir::ScalarType::Index) return node->value;
  return std::nullopt;
}

std::optional<BoundExpr> op_to_bound(const ir::Op& op, const Rename& rename) {
  auto a = to_bound(op.args[0], rename);
  if (!a) return std::nullopt;
  if (op.op == OpCode::Neg) return *a * -1;
  if (op.args.size() != 2) return std::nullopt;
  auto b = to_bound(op.args[1], rename);
  if (!b) return std::nullopt;
  switch (op.op) {
    case OpCode::Add: return *a + *b;
    case OpCode::Sub: return *a - *b;
    case OpCode::Min: return BoundExpr::min({*a, *b});
    case OpCode::Max: return BoundExpr::max({*a, *b});
    default: break;
  }
  const auto factor = literal(op.args[1]);
  if (op.op == OpCode::Mul && factor) return *a * *factor;
  if (op.op == OpCode::Mul && literal(op.args[0])) return *b * *literal(op.args[0]);
  if (!factor || *factor <= 0) return std::nullopt;
  if (op.op == OpCode::Div) return floor_div(*a, *factor);
  if (op.op == OpCode::Mod && a->kind() == BoundExpr::Kind::Affine)
    return BoundExpr(poly::modulo(a->affine(), *factor));
  return std::nullopt;
}

}  // namespace

std::optional<BoundExpr> to_bound(Expr expr, const Rename& rename) {
  if (expr.type() != ir::ScalarType::Index) return std::nullopt;
  if (auto value = literal(expr)) return BoundExpr(*value);
  if (expr.as<ir::Var>() || expr.as<ir::Extent>())
    return BoundExpr(AffineExpr::variable(rename(expr)));
  const auto* op = expr.as<ir::Op>();
  return op ? op_to_bound(*op, rename) : std::nullopt;
}

namespace {

Expr affine_to_ir(ir::Context& context, const AffineExpr& affine, const Resolve& resolve) {
  Expr sum;
  auto add = [&](Expr term, std::int64_t coefficient) {
    if (!sum) {
      sum = context.mul(term, context.index(coefficient));
    } else if (coefficient < 0) {
      sum = context.sub(sum, context.mul(term, context.index(-coefficient)));
    } else {
      sum = context.add(sum, context.mul(term, context.index(coefficient)));
    }
  };
  for (const bool positive : {true, false}) {
    for (const poly::LinearTerm& term : affine.terms())
      if ((term.coefficient > 0) == positive) add(resolve(term.name), term.coefficient);
    for (const poly::FloorTerm& term : affine.floors()) {
      if ((term.coefficient > 0) != positive) continue;
      add(context.floor_div(affine_to_ir(context, term.numerator, resolve),
                            context.index(term.denominator)),
          term.coefficient);
    }
  }
  if (!sum) return context.index(affine.constant());
  return context.add(sum, context.index(affine.constant()));
}

}  // namespace

std::optional<Expr> to_ir(ir::Context& context, const BoundExpr& expr, const Resolve& resolve) {
  if (expr.kind() == BoundExpr::Kind::Affine) return affine_to_ir(context, expr.affine(), resolve);
  if (expr.kind() == BoundExpr::Kind::Select) return std::nullopt;
  Expr out;
  for (const BoundExpr& operand : expr.operands()) {
    auto part = to_ir(context, operand, resolve);
    if (!part) return std::nullopt;
    if (!out) {
      out = *part;
    } else {
      out = expr.kind() == BoundExpr::Kind::Min ? context.min(out, *part) : context.max(out, *part);
    }
  }
  return out;
}

void add_less(poly::BasicSet& set, const AffineExpr& value, const BoundExpr& bound) {
  if (bound.kind() == BoundExpr::Kind::Affine) {
    set.less(value, bound.affine());
  } else if (bound.kind() == BoundExpr::Kind::Min) {
    for (const BoundExpr& operand : bound.operands()) add_less(set, value, operand);
  }
}

void add_at_least(poly::BasicSet& set, const AffineExpr& value, const BoundExpr& bound) {
  if (bound.kind() == BoundExpr::Kind::Affine) {
    set.at_least(value, bound.affine());
  } else if (bound.kind() == BoundExpr::Kind::Max) {
    for (const BoundExpr& operand : bound.operands()) add_at_least(set, value, operand);
  }
}

void add_condition(poly::BasicSet& set, Expr condition, const Rename& rename) {
  const auto* op = condition.as<ir::Op>();
  if (!op || op->args.size() != 2) return;
  if (op->op == OpCode::And) {
    add_condition(set, op->args[0], rename);
    add_condition(set, op->args[1], rename);
    return;
  }
  if (op->args[0].type() != ir::ScalarType::Index) return;
  auto a = to_bound(op->args[0], rename);
  auto b = to_bound(op->args[1], rename);
  if (!a || !b) return;
  const BoundExpr one(1);
  // a <= b is a < b + 1; with an affine left side a minimum on the right is a conjunction.
  auto less = [&](const BoundExpr& x, const BoundExpr& y) {
    if (x.kind() == BoundExpr::Kind::Affine) {
      add_less(set, x.affine(), y);
    } else if (y.kind() == BoundExpr::Kind::Affine) {
      add_at_least(set, y.affine(), x + one);
    }
  };
  switch (op->op) {
    case OpCode::Lt: less(*a, *b); break;
    case OpCode::Le: less(*a, *b + one); break;
    case OpCode::Gt: less(*b, *a); break;
    case OpCode::Ge: less(*b, *a + one); break;
    case OpCode::Eq:
      less(*a, *b + one);
      less(*b, *a + one);
      break;
    default: break;
  }
}

}  // namespace tilewright::build
