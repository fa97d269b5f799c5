// SPDX-License-Identifier: Apache-2.0
//
// Buffers that are too small, too narrow, or one where two are needed.
#include "lowering/mutants/forms.h"

namespace tilewright::mutants {

namespace {

void smaller_buffer(const Site& site, std::vector<Stmt>& out) {
  const auto* alloc = site.stmt.as<program::Alloc>();
  if (!alloc) return;
  for (std::size_t i = 0; i < alloc->extents.size(); ++i) {
    std::vector<Expr> extents(alloc->extents.begin(), alloc->extents.end());
    extents[i] = shifted(*site.context, extents[i], -1);
    out.push_back(program::make_alloc(*site.context, alloc->buffer, alloc->type, extents,
                                      alloc->space, alloc->body, alloc->place));
  }
}

// The buffer in another type, its uses converted.
void narrow_buffer(const Site& site, std::vector<Stmt>& out) {
  const auto* alloc = site.stmt.as<program::Alloc>();
  if (!alloc) return;
  ir::Context& context = *site.context;
  using ir::ScalarType;
  std::vector<ScalarType> types;
  if (alloc->type == ScalarType::F32) types = {ScalarType::BF16, ScalarType::F16};
  if (alloc->type == ScalarType::F64) types = {ScalarType::F32};
  if (alloc->type == ScalarType::I32) types = {ScalarType::I16, ScalarType::I8};
  if (alloc->type == ScalarType::I64) types = {ScalarType::I32, ScalarType::I8};
  for (ScalarType type : types) {
    const auto uses = [&](Expr root) {
      return ir::rewrite(context, root, [&](Expr e) -> Expr {
        const auto* read = e.as<ir::Read>();
        if (!read || !(read->tensor == alloc->buffer) || read->type == type) return {};
        return context.cast(alloc->type, context.read(read->tensor, read->indices, type));
      });
    };
    const auto stores = [&](Stmt stmt) -> Stmt {
      const auto* store = stmt.as<program::Store>();
      if (!store || !(store->buffer == alloc->buffer)) return {};
      return with_value(context, *store, context.cast(type, store->value));
    };
    out.push_back(program::make_alloc(context, alloc->buffer, type, alloc->extents, alloc->space,
                                      program::rewrite(context, alloc->body, stores, uses),
                                      alloc->place));
  }
}

// Two buffers become one.
void aliased(const Site& site, std::vector<Stmt>& out) {
  const auto* outer = site.stmt.as<program::Alloc>();
  if (!outer) return;
  ir::Context& context = *site.context;
  std::vector<Stmt> others;
  program::walk(outer->body, [&](Stmt inner) {
    const auto* alloc = inner.as<program::Alloc>();
    if (alloc && alloc->type == outer->type && alloc->extents.size() == outer->extents.size() &&
        std::find(others.begin(), others.end(), inner) == others.end())
      others.push_back(inner);
  });
  for (Stmt other : others) {
    const Symbol name = other.as<program::Alloc>()->buffer;
    const Stmt body = program::rewrite(context, outer->body, [&](Stmt inner) -> Stmt {
      const auto* alloc = inner.as<program::Alloc>();
      if (!alloc || !(alloc->buffer == name)) return {};
      return renamed(context, alloc->body, name, outer->buffer);
    });
    out.push_back(program::make_alloc(context, outer->buffer, outer->type, outer->extents,
                                      outer->space, body, outer->place));
  }
}

// A buffer that each iteration has for itself, shared by all: the alloc moves out of the loop around it.
void shared_buffer(const Site& site, std::vector<Stmt>& out) {
  const auto* loop = site.stmt.as<program::For>();
  const auto* alloc = loop ? loop->body.as<program::Alloc>() : nullptr;
  if (!alloc) return;
  ir::Context& context = *site.context;
  const Stmt inside =
      program::make_for(context, loop->loop, loop->var, loop->lower, loop->upper, alloc->body);
  out.push_back(program::make_alloc(context, alloc->buffer, alloc->type, alloc->extents,
                                    alloc->space, inside, alloc->place));
}

// A buffer that loses what it held: the alloc moves into the loop in it.
void short_lived(const Site& site, std::vector<Stmt>& out) {
  const auto* alloc = site.stmt.as<program::Alloc>();
  if (!alloc) return;
  ir::Context& context = *site.context;
  const auto* loop = alloc->body.as<program::For>();
  if (!loop) return;
  const Stmt inside = program::make_alloc(context, alloc->buffer, alloc->type, alloc->extents,
                                          alloc->space, loop->body, alloc->place);
  out.push_back(
      program::make_for(context, loop->loop, loop->var, loop->lower, loop->upper, inside));
}

}  // namespace

std::vector<Kind> kinds_of_memory() {
  return {
      {"smaller_buffer", "a buffer is one cell short in a dimension", smaller_buffer},
      {"narrow_buffer", "a buffer holds a narrower type", narrow_buffer},
      {"aliased", "two buffers are one", aliased},
      {"shared_buffer", "iterations share a buffer that each had for itself", shared_buffer},
      {"short_lived", "a buffer is made anew where it should keep its values", short_lived},
  };
}

}  // namespace tilewright::mutants
