// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/index_math.h"

#include <algorithm>
#include <optional>

namespace tilewright::ir {

namespace {

std::optional<std::int64_t> constant(Expr e) {
  const auto* node = e.as<IntConst>();
  if (node && e.type() == ScalarType::Index) return node->value;
  return std::nullopt;
}

// Both operands constant: the value unless it overflows or divides by zero.
Expr fold_constants(Context& context, OpCode op, std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  switch (op) {
    case OpCode::Add: return __builtin_add_overflow(a, b, &r) ? Expr() : context.index(r);
    case OpCode::Sub: return __builtin_sub_overflow(a, b, &r) ? Expr() : context.index(r);
    case OpCode::Mul: return __builtin_mul_overflow(a, b, &r) ? Expr() : context.index(r);
    case OpCode::Div: return b == 0 || b == -1 ? Expr() : context.index(floor_div(a, b));
    case OpCode::Mod: return b == 0 || b == -1 ? Expr() : context.index(floor_mod(a, b));
    case OpCode::Min: return context.index(std::min(a, b));
    case OpCode::Max: return context.index(std::max(a, b));
    case OpCode::Eq: return context.boolean(a == b);
    case OpCode::Ne: return context.boolean(a != b);
    case OpCode::Lt: return context.boolean(a < b);
    case OpCode::Le: return context.boolean(a <= b);
    case OpCode::Gt: return context.boolean(a > b);
    case OpCode::Ge: return context.boolean(a >= b);
    default: return {};
  }
}

// (x + c1) + c2, and x - c as x + -c, so that constants gather at the right end of a sum.
Expr fold_sum(Context& context, Expr a, std::int64_t b) {
  if (b == 0) return a;
  if (const auto* sum = a.as<Op>(); sum && sum->op == OpCode::Add) {
    if (auto inner = constant(sum->args[1])) {
      std::int64_t total = 0;
      if (!__builtin_add_overflow(*inner, b, &total))
        return context.add(sum->args[0], context.index(total));
    }
  }
  return {};
}

Expr fold_index(Context& context, OpCode op, Expr a, Expr b) {
  const auto ca = constant(a);
  const auto cb = constant(b);
  if (ca && cb) return fold_constants(context, op, *ca, *cb);
  switch (op) {
    case OpCode::Add:
      if (ca) return context.add(b, a);
      return cb ? fold_sum(context, a, *cb) : Expr();
    case OpCode::Sub:
      if (a == b) return context.index(0);
      if (cb && *cb != INT64_MIN) return context.add(a, context.index(-*cb));
      return {};
    case OpCode::Mul:
      if (ca) return context.mul(b, a);
      if (cb && *cb == 1) return a;
      if (cb && *cb == 0) return b;
      return {};
    case OpCode::Div: return cb && *cb == 1 ? a : Expr();
    case OpCode::Mod: return cb && *cb == 1 ? context.index(0) : Expr();
    case OpCode::Min:
    case OpCode::Max: return a == b ? a : Expr();
    case OpCode::Eq:
    case OpCode::Le:
    case OpCode::Ge: return a == b ? context.boolean(true) : Expr();
    case OpCode::Ne:
    case OpCode::Lt:
    case OpCode::Gt: return a == b ? context.boolean(false) : Expr();
    default: return {};
  }
}

Expr fold_logic(OpCode op, Expr a, Expr b) {
  const auto* ca = a.as<BoolConst>();
  const auto* cb = b.as<BoolConst>();
  if (op == OpCode::And) {
    if (ca) return ca->value ? b : a;
    if (cb) return cb->value ? a : b;
  } else if (op == OpCode::Or) {
    if (ca) return ca->value ? a : b;
    if (cb) return cb->value ? b : a;
  }
  return a == b && (op == OpCode::And || op == OpCode::Or) ? a : Expr();
}

}  // namespace

Expr fold_index_op(Context& context, OpCode op, std::span<const Expr> args) {
  const ScalarType type = args[0].type();
  if (args.size() == 2 && type == ScalarType::Index)
    return fold_index(context, op, args[0], args[1]);
  if (args.size() == 2 && type == ScalarType::Bool) return fold_logic(op, args[0], args[1]);
  if (args.size() == 1 && op == OpCode::Not) {
    if (const auto* known = args[0].as<BoolConst>()) return context.boolean(!known->value);
  }
  if (args.size() == 1 && op == OpCode::Neg && type == ScalarType::Index) {
    if (auto known = constant(args[0]); known && *known != INT64_MIN) return context.index(-*known);
  }
  return {};
}

}  // namespace tilewright::ir
