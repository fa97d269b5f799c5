// SPDX-License-Identifier: Apache-2.0
//
// Where IR values live and the only place that makes them. One context per thread. The builders
// take well-typed operands (asserted) and fold only what is exact: Index arithmetic on constants
// and the identities x+0, x*1, x*0, min(x,x); never a float operation.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "frontend/ir/expr.h"

namespace tilewright::ir {

class Context {
 public:
  Symbol symbol(std::string_view text) { return store_.symbols().intern(text); }
  NodeStore& store() { return store_; }

  Expr index(std::int64_t value) { return integer(ScalarType::Index, value); }
  Expr integer(ScalarType type, std::int64_t value);  // wraps to the width of an integer type
  Expr real(ScalarType type, double value);           // rounds to the grid of the type
  Expr boolean(bool value);
  // A constant of any type: real(), integer() or boolean() of the value.
  Expr constant(ScalarType type, double value);
  Expr var(Symbol name, ScalarType type = ScalarType::Index);
  Expr extent(Symbol name);
  Expr read(Symbol tensor, std::span<const Expr> indices, ScalarType type);
  Expr op(OpCode code, std::span<const Expr> args);
  Expr op(OpCode code, std::initializer_list<Expr> args) {
    return op(code, std::span<const Expr>(args.begin(), args.size()));
  }
  Expr select(Expr condition, Expr then_value, Expr else_value);
  Expr cast(ScalarType type, Expr value);  // the value itself when it has that type
  Expr saturate(ScalarType type, Expr value);  // to an integer or float type
  Expr round_to(ScalarType grid, Expr value);
  // A plain reduction.
  Expr fold(Monoid monoid, std::span<const Symbol> vars, std::span<const Expr> lower,
            std::span<const Expr> upper, Expr body);
  // Of any form; its type is that of the first term.
  Expr fold(const Fold& fold) { return make(fold, fold.body[0].type()); }

  Expr add(Expr a, Expr b) { return op(OpCode::Add, {a, b}); }
  Expr sub(Expr a, Expr b) { return op(OpCode::Sub, {a, b}); }
  Expr mul(Expr a, Expr b) { return op(OpCode::Mul, {a, b}); }
  Expr floor_div(Expr a, Expr b) { return op(OpCode::Div, {a, b}); }
  Expr floor_mod(Expr a, Expr b) { return op(OpCode::Mod, {a, b}); }
  Expr ceil_div(Expr a, std::int64_t b);  // (a + b-1) / b
  Expr min(Expr a, Expr b) { return op(OpCode::Min, {a, b}); }
  Expr max(Expr a, Expr b) { return op(OpCode::Max, {a, b}); }
  Expr lt(Expr a, Expr b) { return op(OpCode::Lt, {a, b}); }
  Expr le(Expr a, Expr b) { return op(OpCode::Le, {a, b}); }
  Expr both(Expr a, Expr b) { return op(OpCode::And, {a, b}); }

  // The identity of a simple monoid in a type: 0, 1, largest, smallest (infinities for floats), true, false.
  Expr monoid_identity(Monoid monoid, ScalarType type);

 private:
  template <class T>
  Expr make(T node, ScalarType type) {
    node.type = type;
    return Expr(store_.intern(node));
  }
  NodeStore store_;
};

// The result type of an operation on these operand types; Bool where the rule says so. False when
// the operands do not fit the rule.
bool op_type(OpCode op, std::span<const Expr> args, ScalarType* type);

}  // namespace tilewright::ir
