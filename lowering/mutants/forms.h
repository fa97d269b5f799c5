// SPDX-License-Identifier: Apache-2.0
//
// Small forms that the kinds of fault share.
#pragma once

#include <optional>

#include "frontend/ir/walk.h"
#include "lowering/mutants/mutate.h"

namespace tilewright::mutants {

inline std::optional<std::int64_t> constant(Expr e) {
  const auto* node = e ? e.as<ir::IntConst>() : nullptr;
  return node ? std::optional(node->value) : std::nullopt;
}

inline Expr shifted(ir::Context& context, Expr e, std::int64_t by) {
  return by >= 0 ? context.add(e, context.index(by)) : context.sub(e, context.index(-by));
}

inline const ir::Op* as_op(Expr e, ir::OpCode code) {
  const auto* op = e ? e.as<ir::Op>() : nullptr;
  return op && op->op == code ? op : nullptr;
}

// A constant of the language or of a type.
inline bool is_literal(Expr e) {
  return e.as<ir::IntConst>() || e.as<ir::FloatConst>() || e.as<ir::BoolConst>();
}

inline bool reads_cell(Expr e, const program::Store& store) {
  const auto* read = e ? e.as<ir::Read>() : nullptr;
  return read && read->tensor == store.buffer &&
         std::equal(read->indices.begin(), read->indices.end(), store.indices.begin(),
                    store.indices.end());
}

// Whether a store adds to what its cell holds.
inline bool is_step(const program::Store& store) {
  bool found = false;
  ir::walk(store.value, [&](Expr e) { found = found || reads_cell(e, store); });
  return found;
}

inline Stmt with_value(ir::Context& context, const program::Store& store, Expr value) {
  return program::make_store(context, store.buffer, store.indices, value, store.role, store.origin,
                             store.point);
}

inline Stmt with_bounds(ir::Context& context, const program::For& loop, Expr lower, Expr upper) {
  return program::make_for(context, loop.loop, loop.var, lower, upper, loop.body);
}

inline Stmt nothing(ir::Context& context) { return program::make_block(context, {}); }

inline std::vector<Stmt> body_of(Stmt stmt) {
  if (const auto* block = stmt.as<program::Block>())
    return {block->body.begin(), block->body.end()};
  return {stmt};
}

}  // namespace tilewright::mutants
