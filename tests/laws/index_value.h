// SPDX-License-Identifier: Apache-2.0
//
// The value of an Index or Bool expression by its definition: what laws about indices are held against.
#pragma once

#include <map>

#include <gtest/gtest.h>
#include "frontend/ir/expr.h"

namespace tilewright::laws {

using IndexValues = std::map<Symbol, std::int64_t>;

inline std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  std::int64_t q = a / b;
  if (q * b > a) --q;
  return q;
}

// Divisors are positive.
inline std::int64_t value_of(ir::Expr e, const IndexValues& values) {
  using ir::OpCode;
  if (const auto* c = e.as<ir::IntConst>()) return c->value;
  if (const auto* c = e.as<ir::BoolConst>()) return c->value;
  if (const auto* v = e.as<ir::Var>()) return values.at(v->name);
  if (const auto* v = e.as<ir::Extent>()) return values.at(v->name);
  if (const auto* s = e.as<ir::Select>())
    return value_of(value_of(s->condition, values) ? s->then_value : s->else_value, values);
  const auto* op = e.as<ir::Op>();
  const std::int64_t a = value_of(op->args[0], values);
  const std::int64_t b = op->args.size() > 1 ? value_of(op->args[1], values) : 0;
  switch (op->op) {
    case OpCode::Add: return a + b;
    case OpCode::Sub: return a - b;
    case OpCode::Mul: return a * b;
    case OpCode::Div: return floor_quotient(a, b);
    case OpCode::Mod: return a - b * floor_quotient(a, b);
    case OpCode::Min: return std::min(a, b);
    case OpCode::Max: return std::max(a, b);
    case OpCode::Neg: return -a;
    case OpCode::Abs: return a < 0 ? -a : a;
    case OpCode::Lt: return a < b;
    case OpCode::Le: return a <= b;
    case OpCode::Gt: return a > b;
    case OpCode::Ge: return a >= b;
    case OpCode::Eq: return a == b;
    case OpCode::Ne: return a != b;
    case OpCode::And: return a && b;
    case OpCode::Or: return a || b;
    case OpCode::Not: return !a;
    default: ADD_FAILURE() << "no operation on indices"; return 0;
  }
}

}  // namespace tilewright::laws
