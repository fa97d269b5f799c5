// SPDX-License-Identifier: Apache-2.0
#include "frontend/algebra/factors.h"

#include <algorithm>

namespace tilewright::algebra {

using ir::Expr;
using ir::OpCode;

namespace {

bool is_zero(Expr expr) {
  if (const auto* real = expr.as<ir::FloatConst>()) return real->value == 0;
  const auto* integer = expr.as<ir::IntConst>();
  return integer && integer->value == 0;
}

bool is_one(Expr expr) {
  if (const auto* real = expr.as<ir::FloatConst>()) return real->value == 1;
  const auto* integer = expr.as<ir::IntConst>();
  return integer && integer->value == 1;
}

void append(std::vector<Expr>& to, const std::vector<Expr>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// What both lists hold, as often as both do; it is taken out of them.
std::vector<Expr> take_common(std::vector<Expr>& a, std::vector<Expr>& b) {
  std::vector<Expr> common;
  for (std::size_t i = 0; i < a.size();) {
    const auto other = std::find(b.begin(), b.end(), a[i]);
    if (other == b.end()) {
      ++i;
      continue;
    }
    common.push_back(a[i]);
    b.erase(other);
    a.erase(a.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return common;
}

class Taker {
 public:
  Taker(ir::Context& context, const std::function<bool(Expr)>& moves)
      : context_(context), moves_(moves) {}

  Factors take(Expr expr) {
    if (moves_(expr)) return {context_.constant(expr.type(), 1), {expr}, {}};
    const bool real = ir::is_float(expr.type());
    if (const auto* op = expr.as<ir::Op>()) {
      if (op->op == OpCode::Mul) return product(op->args[0], op->args[1]);
      if (op->op == OpCode::Div && real) return quotient(op->args[0], op->args[1]);
      if (op->op == OpCode::Neg) {
        Factors inside = take(op->args[0]);
        inside.rest = context_.op(OpCode::Neg, {inside.rest});
        return inside;
      }
      if (op->op == OpCode::Add || op->op == OpCode::Sub)
        return together(op->args[0], op->args[1],
                        [&](Expr a, Expr b) { return context_.op(op->op, {a, b}); });
    }
    if (const auto* select = expr.as<ir::Select>())
      return together(select->then_value, select->else_value,
                      [&](Expr a, Expr b) { return context_.select(select->condition, a, b); });
    return {expr, {}, {}};
  }

 private:
  Factors product(Expr left, Expr right) {
    Factors a = take(left);
    const Factors b = take(right);
    a.rest = is_one(a.rest) ? b.rest : is_one(b.rest) ? a.rest : context_.mul(a.rest, b.rest);
    append(a.over, b.over);
    append(a.under, b.under);
    return a;
  }

  Factors quotient(Expr left, Expr right) {
    Factors a = take(left);
    const Factors b = take(right);
    a.rest = is_one(b.rest) ? a.rest : context_.op(OpCode::Div, {a.rest, b.rest});
    append(a.over, b.under);
    append(a.under, b.over);
    return a;
  }

  // Of two parts, one of which counts at a time or which are added: the factors that both have. Zero has all.
  template <class Join>
  Factors together(Expr left, Expr right, const Join& join) {
    Factors a = take(left);
    Factors b = take(right);
    Factors out;
    if (is_zero(left) || is_zero(right)) {
      const Factors& factors = is_zero(left) ? b : a;
      out.over = factors.over;
      out.under = factors.under;
      out.rest = join(a.rest, b.rest);
      return out;
    }
    out.over = take_common(a.over, b.over);
    out.under = take_common(a.under, b.under);
    out.rest = join(with_factors(context_, a.rest, a.over, a.under),
                    with_factors(context_, b.rest, b.over, b.under));
    return out;
  }

  ir::Context& context_;
  const std::function<bool(Expr)>& moves_;
};

}  // namespace

Factors take_factors(ir::Context& context, Expr expr, const std::function<bool(Expr)>& moves) {
  return Taker(context, moves).take(expr);
}

Expr with_factors(ir::Context& context, Expr value, const std::vector<Expr>& over,
                  const std::vector<Expr>& under) {
  for (Expr factor : over) value = is_one(value) ? factor : context.mul(value, factor);
  for (Expr factor : under) value = context.op(OpCode::Div, {value, factor});
  return value;
}

}  // namespace tilewright::algebra
