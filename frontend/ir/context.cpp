// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/context.h"

#include <cassert>
#include <cmath>
#include <limits>

#include "frontend/ir/index_math.h"

namespace tilewright::ir {

namespace {

struct MonoidRow {
  std::string_view text;
  OpCode op;
  MonoidForm form;
};
constexpr MonoidRow kMonoids[] = {
#define TILEWRIGHT_MONOID(name, text, op, form) {text, OpCode::op, MonoidForm::form},
#include "frontend/ir/monoids.def"
#undef TILEWRIGHT_MONOID
};
static_assert(std::size(kMonoids) == kNumMonoids);

}  // namespace

std::string_view monoid_text(Monoid monoid) {
  return monoid == Monoid::Declared ? std::string_view() : kMonoids[static_cast<int>(monoid)].text;
}
OpCode monoid_op(Monoid monoid) { return kMonoids[static_cast<int>(monoid)].op; }
MonoidForm monoid_form(Monoid monoid) {
  return monoid == Monoid::Declared ? MonoidForm::Declared
                                    : kMonoids[static_cast<int>(monoid)].form;
}
Monoid monoid_of_name(std::string_view name) {
  for (int i = 0; i < kNumMonoids; ++i)
    if (kMonoids[i].text == name) return static_cast<Monoid>(i);
  return Monoid::Declared;
}

bool op_type(OpCode op, std::span<const Expr> args, ScalarType* type) {
  const OpInfo& info = op_info(op);
  if (static_cast<int>(args.size()) != info.arity) return false;
  const ScalarType operand = args[0].type();
  for (Expr arg : args)
    if (arg.type() != operand) return false;
  *type = op_result(op, operand);
  return op_accepts(op, operand);
}

Expr Context::integer(ScalarType type, std::int64_t value) {
  IntConst node;
  node.value = wrap_to_type(type, value);
  return make(node, type);
}

Expr Context::real(ScalarType type, double value) {
  FloatConst node;
  // One NaN only: text has no other, and no meaning depends on its payload.
  node.value = round_to_type(type, value);
  if (std::isnan(node.value)) node.value = std::numeric_limits<double>::quiet_NaN();
  return make(node, type);
}

Expr Context::boolean(bool value) {
  BoolConst node;
  node.value = value;
  return make(node, ScalarType::Bool);
}

Expr Context::constant(ScalarType type, double value) {
  if (is_float(type)) return real(type, value);
  if (is_complex(type))
    return op(OpCode::Complex, {real(part_type(type), value), real(part_type(type), 0)});
  if (type == ScalarType::Bool) return boolean(value != 0);
  return integer(type, static_cast<std::int64_t>(value));
}

Expr Context::var(Symbol name, ScalarType type) {
  Var node;
  node.name = name;
  return make(node, type);
}

Expr Context::extent(Symbol name) {
  Extent node;
  node.name = name;
  return make(node, ScalarType::Index);
}

Expr Context::read(Symbol tensor, std::span<const Expr> indices, ScalarType type) {
  Read node;
  node.tensor = tensor;
  node.indices = indices;
  return make(node, type);
}

Expr Context::op(OpCode code, std::span<const Expr> args) {
  ScalarType type = ScalarType::Index;
  [[maybe_unused]] const bool typed = op_type(code, args, &type);
  assert(typed);
  if (Expr folded = fold_index_op(*this, code, args)) return folded;
  Op node;
  node.op = code;
  node.args = args;
  return make(node, type);
}

Expr Context::select(Expr condition, Expr then_value, Expr else_value) {
  assert(condition.type() == ScalarType::Bool && then_value.type() == else_value.type());
  if (const auto* known = condition.as<BoolConst>()) return known->value ? then_value : else_value;
  if (then_value == else_value) return then_value;
  Select node;
  node.condition = condition;
  node.then_value = then_value;
  node.else_value = else_value;
  return make(node, then_value.type());
}

Expr Context::cast(ScalarType type, Expr value) {
  if (value.type() == type) return value;
  // An Index constant that the type holds exactly is a constant of it: `f32(3)`.
  if (const auto* known = value.as<IntConst>();
      known && value.type() == ScalarType::Index && type != ScalarType::Bool) {
    if (is_float(type) &&
        round_to_type(type, static_cast<double>(known->value)) == static_cast<double>(known->value))
      return real(type, static_cast<double>(known->value));
    if (is_integer(type) && wrap_to_type(type, known->value) == known->value)
      return integer(type, known->value);
  }
  Cast node;
  node.value = value;
  return make(node, type);
}

Expr Context::saturate(ScalarType type, Expr value) {
  assert(is_integer(type) || is_float(type));
  Saturate node;
  node.value = value;
  return make(node, type);
}

Expr Context::round_to(ScalarType grid, Expr value) {
  assert(is_float(grid) && is_float(value.type()));
  RoundTo node;
  node.grid = grid;
  node.value = value;
  return make(node, value.type());
}

Expr Context::fold(Monoid monoid, std::span<const Symbol> vars, std::span<const Expr> lower,
                   std::span<const Expr> upper, Expr body) {
  assert(vars.size() == lower.size() && vars.size() == upper.size() && !vars.empty());
  Fold node;
  node.monoid = symbol(monoid_text(monoid));
  node.vars = vars;
  node.lower = lower;
  node.upper = upper;
  node.body = {&body, 1};
  return make(node, body.type());
}

Expr Context::ceil_div(Expr a, std::int64_t b) { return floor_div(add(a, index(b - 1)), index(b)); }

Expr Context::monoid_identity(Monoid monoid, ScalarType type) {
  const bool floating = is_float(type);
  const double inf = std::numeric_limits<double>::infinity();
  switch (monoid) {
    case Monoid::Sum: return constant(type, 0);
    case Monoid::Prod: return constant(type, 1);
    case Monoid::ArgMin:
    case Monoid::Min: return floating ? real(type, inf) : integer(type, greatest_integer(type));
    case Monoid::ArgMax:
    case Monoid::Max: return floating ? real(type, -inf) : integer(type, lowest_integer(type));
    case Monoid::And: return boolean(true);
    case Monoid::Or: return boolean(false);
    case Monoid::Last:
    case Monoid::Declared: break;
  }
  return constant(type, 0);
}

}  // namespace tilewright::ir
