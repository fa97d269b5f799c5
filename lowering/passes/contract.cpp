// SPDX-License-Identifier: Apache-2.0
//
// t[0] = t[0] + a[i] * b[i] @ fold   becomes   t[0] = fma(a[i], b[i], t[0]) @ fold
// Only in the steps of a fold: there the exact reading of the algorithm states the same contraction
// (ir::FoldOrder::fused), so that both stay equal bit for bit.
#include "lowering/passes/passes.h"

namespace tilewright::passes {

using ir::Expr;
using ir::OpCode;
using program::Stmt;

Program contract(ir::Context& context, const Program& program) {
  Program out = program;
  out.body = program::rewrite(context, program.body, [&](Stmt stmt) -> Stmt {
    const auto* store = stmt.as<program::Store>();
    if (!store || store->role != program::OriginRole::Fold) return {};
    const auto* sum = store->value.as<ir::Op>();
    if (!sum || sum->op != OpCode::Add || !ir::is_float(sum->type)) return {};
    const auto* product = sum->args[1].as<ir::Op>();
    if (!product || product->op != OpCode::Mul) return {};
    const Expr fused = context.op(OpCode::Fma, {product->args[0], product->args[1], sum->args[0]});
    return program::make_store(context, store->buffer, store->indices, fused, store->role,
                               store->origin, store->point);
  });
  return out;
}

}  // namespace tilewright::passes
