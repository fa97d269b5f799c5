// SPDX-License-Identifier: Apache-2.0
//
// The right statements at the wrong time.
#include "lowering/mutants/forms.h"

namespace tilewright::mutants {

namespace {

void reordered(const Site& site, std::vector<Stmt>& out) {
  const auto* block = site.stmt.as<program::Block>();
  if (!block) return;
  for (std::size_t i = 0; i + 1 < block->body.size(); ++i) {
    std::vector<Stmt> body(block->body.begin(), block->body.end());
    std::swap(body[i], body[i + 1]);
    out.push_back(program::make_block(*site.context, body));
  }
}

// What comes last, or second, comes first.
void epilogue_first(const Site& site, std::vector<Stmt>& out) {
  const auto* block = site.stmt.as<program::Block>();
  if (!block || block->body.size() < 2) return;
  std::vector<Stmt> body(block->body.begin(), block->body.end());
  std::rotate(body.begin(), body.end() - 1, body.end());
  out.push_back(program::make_block(*site.context, body));
  std::rotate(body.begin(), body.begin() + 1, body.end());
  std::rotate(body.begin(), body.begin() + 1, body.end());
  out.push_back(program::make_block(*site.context, body));
}

// A loop or branch of a sequence: the main part without its tail, or the tail alone.
void missing_part(const Site& site, std::vector<Stmt>& out) {
  const auto* block = site.stmt.as<program::Block>();
  if (!block) return;
  for (std::size_t i = 0; i < block->body.size(); ++i) {
    const Stmt part = block->body[i];
    if (!part.as<program::For>() && !part.as<program::If>()) continue;
    std::vector<Stmt> body(block->body.begin(), block->body.end());
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
    out.push_back(program::make_block(*site.context, body));
  }
}

// Two loops that stand directly in each other, interchanged.
void interchanged(const Site& site, std::vector<Stmt>& out) {
  const auto* outer = site.stmt.as<program::For>();
  const auto* inner = outer ? outer->body.as<program::For>() : nullptr;
  if (!inner) return;
  ir::Context& context = *site.context;
  const Stmt body =
      program::make_for(context, outer->loop, outer->var, outer->lower, outer->upper, inner->body);
  out.push_back(
      program::make_for(context, inner->loop, inner->var, inner->lower, inner->upper, body));
}

// One loop over a sequence becomes a sequence of loops.
void distributed(const Site& site, std::vector<Stmt>& out) {
  const auto* loop = site.stmt.as<program::For>();
  const auto* block = loop ? loop->body.as<program::Block>() : nullptr;
  if (!block) return;
  ir::Context& context = *site.context;
  for (std::size_t i = 1; i < block->body.size(); ++i) {
    const Stmt first = program::make_for(context, loop->loop, loop->var, loop->lower, loop->upper,
                                         program::make_block(context, block->body.subspan(0, i)));
    const Symbol again = context.symbol(std::string(loop->var.text()) + "_twice");
    const Stmt second = program::make_for(
        context, loop->loop, again, loop->lower, loop->upper,
        renamed(context, program::make_block(context, block->body.subspan(i)), loop->var, again));
    const Stmt both[] = {first, second};
    out.push_back(program::make_block(context, both));
  }
}

// The beginning of a fold is done again for each of its steps.
void reset_inside(const Site& site, std::vector<Stmt>& out) {
  const auto* block = site.stmt.as<program::Block>();
  if (!block) return;
  ir::Context& context = *site.context;
  for (std::size_t i = 0; i + 1 < block->body.size(); ++i) {
    const auto* loop = block->body[i + 1].as<program::For>();
    if (!loop) continue;
    std::vector<Stmt> body(block->body.begin(), block->body.end());
    std::vector<Stmt> inside = body_of(loop->body);
    inside.insert(inside.begin(), body[i]);
    body[i + 1] = program::make_for(context, loop->loop, loop->var, loop->lower, loop->upper,
                                    program::make_block(context, inside));
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
    out.push_back(program::make_block(context, body));
  }
}

// A part of a loop's body is done in its first iteration alone: a copy that gets stale, an accumulator that
// is not started again.
void stale(const Site& site, std::vector<Stmt>& out) {
  const auto* loop = site.stmt.as<program::For>();
  if (!loop || loop->loop == program::LoopKind::Vector) return;
  ir::Context& context = *site.context;
  const std::vector<Stmt> body = body_of(loop->body);
  if (body.size() < 2) return;
  for (std::size_t i = 0; i < body.size(); ++i) {
    std::vector<Stmt> changed = body;
    changed[i] =
        program::make_if(context, context.le(context.var(loop->var), loop->lower), body[i]);
    out.push_back(program::make_for(context, loop->loop, loop->var, loop->lower, loop->upper,
                                    program::make_block(context, changed)));
  }
}

void loop_kind(const Site& site, std::vector<Stmt>& out, program::LoopKind kind) {
  const auto* loop = site.stmt.as<program::For>();
  if (!loop || loop->loop == kind || loop->loop == program::LoopKind::Parallel) return;
  out.push_back(
      program::make_for(*site.context, kind, loop->var, loop->lower, loop->upper, loop->body));
}
void made_parallel(const Site& site, std::vector<Stmt>& out) {
  loop_kind(site, out, program::LoopKind::Parallel);
}
void made_vector(const Site& site, std::vector<Stmt>& out) {
  loop_kind(site, out, program::LoopKind::Vector);
}

// A read of what the iteration before left, or the next one will.
void stale_read(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  if (site.loops.empty()) return;
  edit_indices(
      site,
      [&](Expr e, std::vector<Expr>& to) {
        const auto* var = e.as<ir::Var>();
        if (!var) return;
        for (Stmt outer : site.loops) {
          const auto* loop = outer.as<program::For>();
          if (!loop || !(loop->var == var->name)) continue;
          to.push_back(context.max(shifted(context, e, -1), loop->lower));
          to.push_back(loop->lower);
        }
      },
      out);
}

}  // namespace

std::vector<Kind> kinds_of_order() {
  return {
      {"reordered", "two statements are swapped", reordered},
      {"epilogue_first", "what comes last comes first", epilogue_first},
      {"missing_part", "a loop or branch of a sequence is missing", missing_part},
      {"interchanged", "two loops are interchanged", interchanged},
      {"distributed", "one loop over two parts becomes two loops", distributed},
      {"reset_inside", "a fold begins anew with each step", reset_inside},
      {"stale", "a part of a loop is done in its first iteration alone", stale},
      {"stale_read", "a read finds what another iteration left", stale_read},
      {"made_parallel", "iterations that depend on each other run at once", made_parallel},
      {"made_vector", "lanes that depend on each other", made_vector},
  };
}

}  // namespace tilewright::mutants
