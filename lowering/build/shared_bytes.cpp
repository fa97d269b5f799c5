// SPDX-License-Identifier: Apache-2.0
#include "lowering/build/shared_bytes.h"

#include <algorithm>
#include <cstdlib>

#include "frontend/base/format.h"
#include "frontend/ir/simplify.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"

namespace tilewright::build {

namespace {

using ir::Expr;
using program::Stmt;

class Walk {
 public:
  Walk(ir::Context& context, const program::Program& program, const ir::Ranges& ranges)
      : context_(context), program_(program), ranges_(ranges) {}

  Result<Ok> run(Stmt stmt) {
    if (!stmt) return Ok{};
    if (const auto* block = stmt.as<program::Block>()) {
      for (Stmt part : block->body) TILEWRIGHT_CHECK_OK(run(part));
      return Ok{};
    }
    if (const auto* loop = stmt.as<program::For>()) return enter(*loop);
    if (const auto* branch = stmt.as<program::If>()) {
      TILEWRIGHT_CHECK_OK(run(branch->then_body));
      return run(branch->else_body);
    }
    if (const auto* let = stmt.as<program::Let>()) {
      lets_[let->var] = ir::substitute(context_, let->value, lets_);
      return run(let->body);
    }
    if (const auto* alloc = stmt.as<program::Alloc>()) return run(alloc->body);
    if (const auto* store = stmt.as<program::Store>()) return check(*store);
    return Ok{};
  }

 private:
  Result<Ok> enter(const program::For& loop) {
    const Expr upper = ir::substitute(context_, loop.upper, lets_);
    ir::Interval range{ir::interval(ir::substitute(context_, loop.lower, lets_), ranges_).lo,
                       ir::interval(upper, ranges_).hi};
    if (range.hi) --*range.hi;
    ranges_[loop.var] = range;
    const bool parallel = loop.loop == program::LoopKind::Parallel;
    if (parallel) parallel_.push_back(loop.var);
    TILEWRIGHT_CHECK_OK(run(loop.body));
    if (parallel) parallel_.pop_back();
    return Ok{};
  }

  Result<Ok> check(const program::Store& store) {
    const program::Parameter* parameter = program_.find_parameter(store.buffer);
    if (!parameter || !ir::is_packed(parameter->type) || store.indices.empty()) return Ok{};
    const Expr last =
        ir::simplify(context_, ir::substitute(context_, store.indices.back(), lets_), ranges_);
    for (Symbol loop : parallel_) {
      if (keeps_apart(last, loop, ir::elements_per_byte(parameter->type))) continue;
      const std::string name(store.buffer.text());
      return fail(Diagnostic{
          Code::SharedByte,
          {},
          "iterations of the parallel loop " + in_backticks(loop.text()) +
              " may store to the same byte of " + in_backticks(name),
          "split the last index by an even factor and run the outer loop in parallel, or run "
          "another loop in parallel",
          {},
          {{"type", std::string(ir::type_text(parameter->type))},
           {"last index", ir::print(last)}}});
    }
    return Ok{};
  }

  // The last index is either without the loop, so that iterations differ in other indices; or it is
  // c * atom + rest with c whole bytes and rest within them, where one atom alone depends on the loop: equal
  // atoms are the case before, and different ones lie c apart.
  bool keeps_apart(Expr last, Symbol loop, int per_byte) const {
    auto depends = [&](Expr e) {
      const auto free = ir::free_vars(e);
      return std::find(free.begin(), free.end(), loop) != free.end();
    };
    if (!depends(last)) return true;
    auto rest = ir::linear_form(last);
    if (!rest) return false;
    std::int64_t step = 0;
    int atoms = 0;
    std::erase_if(rest->terms, [&](const auto& term) {
      if (!depends(term.first)) return false;
      step = std::abs(term.second);
      return ++atoms > 0;
    });
    if (atoms != 1 || step % per_byte != 0) return false;
    const ir::Interval within = ir::interval(ir::to_expr(context_, *rest), ranges_);
    return within.lo && within.hi && *within.lo >= 0 && *within.hi < step;
  }

  ir::Context& context_;
  const program::Program& program_;
  ir::Ranges ranges_;
  ir::Substitution lets_;
  std::vector<Symbol> parallel_;
};

}  // namespace

Result<Ok> check_shared_bytes(ir::Context& context, const program::Program& program,
                              const ir::Ranges& ranges) {
  return Walk(context, program, ranges).run(program.body);
}

}  // namespace tilewright::build
