// SPDX-License-Identifier: Apache-2.0
//
// The wrong value, in the right place.
#include <cmath>
#include <limits>

#include "lowering/mutants/forms.h"

namespace tilewright::mutants {

namespace {

using ir::OpCode;

void wrong_identity(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  const auto* store = site.stmt.as<program::Store>();
  if (!store || !is_literal(store->value)) return;
  const ir::ScalarType type = store->value.type();
  if (type == ir::ScalarType::Bool) {
    out.push_back(
        with_value(context, *store, context.boolean(!store->value.as<ir::BoolConst>()->value)));
    return;
  }
  if (!ir::is_float(type) && !ir::is_integer(type) && type != ir::ScalarType::Index) return;
  for (double value : {0.0, 1.0, -1.0})
    out.push_back(with_value(context, *store, context.constant(type, value)));
  if (ir::is_float(type) && ir::has_infinity(type))
    for (double value :
         {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()})
      out.push_back(with_value(context, *store, context.real(type, value)));
  std::erase(out, site.stmt);
}

void missing_init(const Site& site, std::vector<Stmt>& out) {
  const auto* store = site.stmt.as<program::Store>();
  if (store && is_literal(store->value)) out.push_back(nothing(*site.context));
}

// What the cell held is not changed to the new reference.
void missing_rescale(const Site& site, std::vector<Stmt>& out) {
  const auto* store = site.stmt.as<program::Store>();
  if (!store) return;
  edit_fields(
      site, {"value"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* op = e.as<ir::Op>();
        if (!op || (op->op != OpCode::Mul && op->op != OpCode::Div && op->op != OpCode::Fma))
          return;
        for (std::size_t i = 0; i < std::min<std::size_t>(op->args.size(), 2); ++i) {
          if (!reads_cell(op->args[i], *store)) continue;
          to.push_back(op->op == OpCode::Fma ? site.context->add(op->args[i], op->args[2])
                                             : op->args[i]);
        }
      },
      out);
}

void missing_step(const Site& site, std::vector<Stmt>& out) {
  const auto* store = site.stmt.as<program::Store>();
  if (store && is_step(*store)) out.push_back(nothing(*site.context));
}

void step_twice(const Site& site, std::vector<Stmt>& out) {
  const auto* store = site.stmt.as<program::Store>();
  if (!store || !is_step(*store)) return;
  const Stmt both[] = {site.stmt, site.stmt};
  out.push_back(program::make_block(*site.context, both));
}

// The cell's earlier value is lost.
void forgotten_past(const Site& site, std::vector<Stmt>& out) {
  const auto* store = site.stmt.as<program::Store>();
  if (!store) return;
  edit_fields(
      site, {"value"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* op = e.as<ir::Op>();
        if (!op) return;
        if (op->op == OpCode::Fma && reads_cell(op->args[2], *store))
          to.push_back(site.context->mul(op->args[0], op->args[1]));
        if (op->args.size() != 2) return;
        for (std::size_t i = 0; i < 2; ++i)
          if (reads_cell(op->args[i], *store)) to.push_back(op->args[1 - i]);
      },
      out);
}

void missing_copy(const Site& site, std::vector<Stmt>& out) {
  const auto* store = site.stmt.as<program::Store>();
  if (!store) return;
  Expr value = store->value;
  while (const auto* cast = value.as<ir::Cast>()) value = cast->value;
  if (value.as<ir::Read>()) out.push_back(nothing(*site.context));
}

void missing_store(const Site& site, std::vector<Stmt>& out) {
  const auto* store = site.stmt.as<program::Store>();
  if (store && !is_step(*store) && !is_literal(store->value)) out.push_back(nothing(*site.context));
}

void rounding_dropped(const Site& site, std::vector<Stmt>& out) {
  edit_fields(
      site, {"value", "condition"},
      [&](Expr e, std::vector<Expr>& to) {
        if (const auto* round = e.as<ir::RoundTo>()) to.push_back(round->value);
        if (const auto* saturate = e.as<ir::Saturate>())
          to.push_back(site.context->cast(e.type(), saturate->value));
        const auto* op = e.as<ir::Op>();
        if (op && (op->op == OpCode::Rint || op->op == OpCode::Floor || op->op == OpCode::Ceil))
          to.push_back(op->args[0]);
      },
      out);
}

// Computed before it is widened: f32(a) * f32(b) as f32(a * b).
void late_cast(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  edit_fields(
      site, {"value"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* op = e.as<ir::Op>();
        if (!op || op->args.size() < 2) return;
        const auto* first = op->args[0].as<ir::Cast>();
        const auto* second = op->args[1].as<ir::Cast>();
        if (!first || !second || first->value.type() != second->value.type()) return;
        const ir::ScalarType inner = first->value.type();
        if (!ir::op_accepts(OpCode::Mul, inner)) return;
        if (op->op == OpCode::Fma)
          to.push_back(context.add(context.cast(e.type(), context.mul(first->value, second->value)),
                                   op->args[2]));
        else if (op->args.size() == 2 && ir::op_accepts(op->op, inner) &&
                 ir::op_result(op->op, inner) == inner)
          to.push_back(context.cast(e.type(), context.op(op->op, {first->value, second->value})));
      },
      out);
}

// A value kept in fewer bits on its way.
void narrow_value(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  const auto* store = site.stmt.as<program::Store>();
  if (!store || is_literal(store->value)) return;
  const ir::ScalarType type = store->value.type();
  const auto through = [&](ir::ScalarType narrow) {
    out.push_back(
        with_value(context, *store, context.cast(type, context.cast(narrow, store->value))));
  };
  if (type == ir::ScalarType::F32) through(ir::ScalarType::BF16);
  if (type == ir::ScalarType::F64) through(ir::ScalarType::F32);
  if (type == ir::ScalarType::I32) through(ir::ScalarType::I8);
  if (type == ir::ScalarType::I64) through(ir::ScalarType::I16);
}

void wrong_operator(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  edit_fields(
      site, {"value"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* op = e.as<ir::Op>();
        if (!op || e.type() == ir::ScalarType::Index) return;
        const auto instead = [&](std::initializer_list<OpCode> codes) {
          for (OpCode code : codes) to.push_back(context.op(code, op->args));
        };
        switch (op->op) {
          case OpCode::Add: instead({OpCode::Sub, OpCode::Max}); break;
          case OpCode::Sub: instead({OpCode::Add}); break;
          case OpCode::Mul: instead({OpCode::Add}); break;
          case OpCode::Div: instead({OpCode::Mul}); break;
          case OpCode::Max: instead({OpCode::Min, OpCode::Add}); break;
          case OpCode::Min: instead({OpCode::Max, OpCode::Add}); break;
          case OpCode::And: instead({OpCode::Or}); break;
          case OpCode::Or: instead({OpCode::And}); break;
          case OpCode::Fma:
            to.push_back(context.sub(context.mul(op->args[0], op->args[1]), op->args[2]));
            to.push_back(context.add(context.add(op->args[0], op->args[1]), op->args[2]));
            break;
          case OpCode::Exp: instead({OpCode::Exp2}); break;
          case OpCode::Exp2: instead({OpCode::Exp}); break;
          case OpCode::Rsqrt: instead({OpCode::Sqrt}); break;
          case OpCode::Sqrt: instead({OpCode::Rsqrt}); break;
          default: break;
        }
      },
      out);
}

void operands_swapped(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  edit_fields(
      site, {"value"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* op = e.as<ir::Op>();
        if (!op || e.type() == ir::ScalarType::Index) return;
        if (op->args.size() == 2 && (op->op == OpCode::Sub || op->op == OpCode::Div))
          to.push_back(context.op(op->op, {op->args[1], op->args[0]}));
        if (op->op == OpCode::Fma)
          to.push_back(context.op(op->op, {op->args[0], op->args[2], op->args[1]}));
      },
      out);
}

void wrong_constant(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  const auto* store = site.stmt.as<program::Store>();
  if (!store || is_literal(store->value)) return;
  edit_fields(
      site, {"value"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* real = e.as<ir::FloatConst>();
        const auto* integer = e.as<ir::IntConst>();
        if (real && std::isfinite(real->value)) {
          to.push_back(context.real(e.type(), real->value * 2 + 1));
          to.push_back(context.real(e.type(), -real->value));
        } else if (real) {
          to.push_back(context.real(e.type(), 0));
        }
        if (integer && e.type() != ir::ScalarType::Index)
          to.push_back(context.integer(e.type(), integer->value + 1));
      },
      out);
}

// One factor or summand is missing.
void term_dropped(const Site& site, std::vector<Stmt>& out) {
  const auto* store = site.stmt.as<program::Store>();
  if (!store) return;
  edit_fields(
      site, {"value"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* op = e.as<ir::Op>();
        if (!op || e.type() == ir::ScalarType::Index) return;
        if (op->op == OpCode::Add || op->op == OpCode::Mul || op->op == OpCode::Div ||
            op->op == OpCode::Sub)
          to.push_back(op->args[0]);
        if (op->op == OpCode::Fma) to.push_back(site.context->add(op->args[0], op->args[2]));
        if (ir::op_info(op->op).rule == ir::TypeRule::Float && op->args.size() == 1)
          to.push_back(op->args[0]);
      },
      out);
}

}  // namespace

std::vector<Kind> kinds_of_values() {
  return {
      {"wrong_identity", "a fold begins with another value than its identity", wrong_identity},
      {"missing_init", "a fold begins with nothing", missing_init},
      {"missing_rescale", "an accumulator is not brought to the new reference", missing_rescale},
      {"missing_step", "a step of a fold is missing", missing_step},
      {"step_twice", "a step of a fold is done twice", step_twice},
      {"forgotten_past", "a step forgets what was folded before", forgotten_past},
      {"missing_copy", "a copy is missing", missing_copy},
      {"missing_store", "a value is not stored", missing_store},
      {"rounding_dropped", "a rounding or saturation is missing", rounding_dropped},
      {"late_cast", "operands are computed with before they are widened", late_cast},
      {"narrow_value", "a value is kept in fewer bits on its way", narrow_value},
      {"wrong_operator", "another operation", wrong_operator},
      {"operands_swapped", "operands are swapped", operands_swapped},
      {"wrong_constant", "another constant", wrong_constant},
      {"term_dropped", "a factor, summand or function is missing", term_dropped},
  };
}

}  // namespace tilewright::mutants
