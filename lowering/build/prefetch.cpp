// SPDX-License-Identifier: Apache-2.0
//
// `prefetch b by 4` of a loop: at the start of iteration i, requests for the region of b that the nests inside the loop
// read in iteration i + 4, where the loop has that iteration. The region is that of iteration i, moved.
#include <algorithm>

#include "frontend/ir/facts.h"
#include "frontend/ir/text.h"
#include "lowering/build/nest_emitter.h"

namespace tilewright::build {

namespace {

// Of a machine whose file nobody has read.
constexpr std::int64_t kLineBytes = 64;

std::string quoted(Symbol name) { return "`" + std::string(name.text()) + "`"; }

// The dimension along which neighbours of a tensor lie side by side in its buffer.
std::optional<std::size_t> contiguous(const Env& env, Symbol tensor, std::size_t rank) {
  if (rank == 0) return std::nullopt;
  const auto it = env.bindings.find(tensor);
  const tree::Stage* stage = it == env.bindings.end() ? nullptr : it->second.stage;
  if (!stage) return rank - 1;
  const tree::LayoutComponent& last = stage->layout.back();
  if (last.part == tree::LayoutComponent::Part::Quotient) return std::nullopt;
  const auto at = std::find(stage->dims.begin(), stage->dims.end(), last.dim);
  return static_cast<std::size_t>(at - stage->dims.begin());
}

// An index of a read of the tensor inside the loop that is known once data is.
std::optional<Expr> index_from_data(const Builder& builder, const tree::Nest& owner, Symbol loop,
                                    Symbol tensor) {
  for (const tree::Nest& nest : builder.schedule.tree.nests) {
    const ir::Equation* reader = nest.stage ? nullptr : builder.equation(nest.name);
    if (!reader || !builder.stands_inside(nest, owner, loop)) continue;
    for (const ir::Read* read : ir::reads(reader->value))
      for (Expr index : read->indices)
        if (read->tensor == tensor && ir::depends_on_data(index)) return index;
  }
  return std::nullopt;
}

}  // namespace

std::int64_t Builder::line_bytes() const {
  return machine_ ? machine_->caches.front().line_bytes : kLineBytes;
}

Result<Stmt> NestEmitter::prefetches(const tree::Loop& loop, const Point& point, Expr upper) {
  std::vector<Stmt> out;
  for (const tree::Prefetch& ahead : loop.prefetches) {
    TILEWRIGHT_TRY(stmt, prefetch(ahead, loop, point, upper));
    out.push_back(stmt);
  }
  return out.empty() ? Stmt() : program::make_block(context_, out);
}

Result<Stmt> NestEmitter::prefetch(const tree::Prefetch& ahead, const tree::Loop& loop,
                                   const Point& point, Expr upper) {
  if (const auto index = index_from_data(builder_, nest_, loop.name, ahead.tensor))
    return refuse(ahead.place.span,
                  "which cells of " + quoted(ahead.tensor) + " an iteration reads depends on data",
                  "prefetch a tensor whose indices are affine",
                  {{"tensor", std::string(ahead.tensor.text())}, {"index", ir::print(*index)}});
  const std::vector<Expr>& shape = *builder_.algorithm.shape_of(ahead.tensor);
  tree::Nest reader;
  reader.name = ahead.tensor;
  reader.stage = tree::Stage{ahead.tensor, {}, {}};
  reader.at = tree::LoopRef{nest_.name, loop.name};
  TILEWRIGHT_TRY(
      region, builder_.required_region(reader, nest_, loop.name, space_, point.values, point.env));
  const Expr now = point.values.value_of.at(loop.name);
  const Expr then = context_.add(now, context_.index(ahead.distance));
  const ir::Substitution later = {{now.as<ir::Var>()->name, then}};
  const auto moved = [&](Expr e) { return builder_.simplify(ir::substitute(context_, e, later)); };
  const auto line = contiguous(point.env, ahead.tensor, shape.size());
  const ir::ScalarType type = *builder_.algorithm.type_of(ahead.tensor);
  const std::int64_t bytes = builder_.line_bytes();
  const std::int64_t per_line = ir::is_packed(type)
                                    ? bytes * ir::elements_per_byte(type)
                                    : std::max<std::int64_t>(bytes / ir::size_bytes(type), 1);
  std::vector<Expr> cell;
  std::vector<std::pair<Symbol, Expr>> loops;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t step = line == d ? per_line : 1;
    const Symbol var = builder_.fresh(std::string(ahead.tensor.text()) + "_p" + std::to_string(d));
    const Expr count = builder_.simplify(context_.ceil_div(moved(region.size[d]), step));
    const Expr at = count == context_.index(1) ? context_.index(0) : context_.var(var);
    if (!(count == context_.index(1))) {
      builder_.declare_loop(var, context_.index(0), count);
      loops.emplace_back(var, count);
    }
    cell.push_back(context_.add(moved(region.lower[d]), context_.mul(at, context_.index(step))));
  }
  program::Prefetch node;
  const std::vector<Expr> index =
      builder_.buffer_index(point.env, ahead.tensor, cell, &node.buffer);
  node.indices = index;
  Stmt out = program::make(context_, node);
  for (auto l = loops.rbegin(); l != loops.rend(); ++l)
    out = program::make_for(context_, program::LoopKind::Serial, l->first, context_.index(0),
                            l->second, out);
  Expr exists = context_.lt(then, upper);
  if (region.needed) exists = context_.both(exists, moved(region.needed));
  return program::make_if(context_, builder_.simplify(exists), out);
}

}  // namespace tilewright::build
