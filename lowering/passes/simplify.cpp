// SPDX-License-Identifier: Apache-2.0
//
// for i in 0 .. 1 { c[i + 4] = ... }   becomes   c[4] = ...
// if 3 < 4 { s }                       becomes   s
#include "frontend/ir/simplify.h"

#include "frontend/ir/walk.h"
#include "lowering/passes/passes.h"

namespace tilewright::passes {

using ir::Expr;
using program::Stmt;

namespace {

class Simplifier {
 public:
  Simplifier(ir::Context& context, const Program& program) : context_(context) {
    for (const ir::ExtentDecl& extent : program.extents)
      ranges_[extent.name] = {extent.min, extent.max};
  }

  Stmt run(Stmt stmt) {
    return program::visit(
        stmt, ir::Overloaded{
                  [&](const program::Block& n) {
                    std::vector<Stmt> body;
                    for (Stmt s : n.body) body.push_back(run(s));
                    return program::make_block(context_, body);
                  },
                  [&](const program::For& n) { return loop(n); },
                  [&](const program::If& n) {
                    return program::make_if(context_, expr(n.condition), run(n.then_body),
                                            n.else_body ? run(n.else_body) : Stmt());
                  },
                  [&](const program::Let& n) {
                    return program::make_let(context_, n.var, expr(n.value), run(n.body));
                  },
                  [&](const program::Alloc& n) {
                    return program::make_alloc(context_, n.buffer, n.type, list(n.extents), n.space,
                                               run(n.body));
                  },
                  [&](const program::Store& n) {
                    return program::make_store(context_, n.buffer, list(n.indices), expr(n.value),
                                               n.role, n.origin, list(n.point));
                  },
                  [&](const auto&) { return other(stmt); },
              });
  }

 private:
  // Substitutes loops that run once, then simplifies under the ranges known here.
  Expr expr(Expr e) {
    return ir::simplify(context_, ir::substitute(context_, e, values_), ranges_);
  }
  std::vector<Expr> list(NodeList<Expr> values) {
    std::vector<Expr> out;
    for (Expr e : values) out.push_back(expr(e));
    return out;
  }

  Stmt other(Stmt stmt) {
    return program::map_parts(context_, stmt, [&](std::string_view, auto part) {
      using T = decltype(part);
      if constexpr (std::is_same_v<T, Stmt>)
        return run(part);
      else if constexpr (std::is_same_v<T, Expr>)
        return expr(part);
      else
        return part;
    });
  }

  Stmt loop(const program::For& n) {
    const Expr lower = expr(n.lower);
    const Expr upper = expr(n.upper);
    const Expr length = ir::simplify(context_, context_.sub(upper, lower), ranges_);
    if (const auto* known = length.as<ir::IntConst>()) {
      if (known->value <= 0) return program::make_block(context_, {});
      if (known->value == 1) {
        values_[n.var] = lower;
        const Stmt body = run(n.body);
        values_.erase(n.var);
        return body;
      }
    }
    const ir::Interval lo = ir::interval(lower, ranges_);
    const ir::Interval hi = ir::interval(upper, ranges_);
    ir::Interval range{lo.lo, std::nullopt};
    if (hi.hi) range.hi = *hi.hi - 1;
    ranges_[n.var] = range;
    const Stmt body = run(n.body);
    if (const auto* block = body.as<program::Block>(); block && block->body.empty()) return body;
    return program::make_for(context_, n.loop, n.var, lower, upper, body);
  }

  ir::Context& context_;
  ir::Ranges ranges_;
  ir::Substitution values_;
};

}  // namespace

Program simplify(ir::Context& context, const Program& program) {
  Program out = program;
  out.body = Simplifier(context, program).run(program.body);
  return out;
}

Program clean(ir::Context& context, const Program& program) { return simplify(context, program); }

}  // namespace tilewright::passes
