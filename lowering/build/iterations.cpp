// SPDX-License-Identifier: Apache-2.0
//
// Loops of the algorithm. A carried tensor has two places, which take turns: an iteration reads the one and
// writes the other, so that nothing is overwritten that is still read. Which one is at hand follows from the
// number of the iteration; where a condition may end the loop, iterations that were made are counted.
#include "frontend/ir/walk.h"
#include "lowering/build/builder.h"

namespace tilewright::build {

using ir::ScalarType;
using program::LoopKind;
using program::OriginRole;
using program::Space;

// Loops over all cells of two tensors of one shape: to[cell] = from[cell], wherever the two are.
Stmt Builder::emit_copy(const Env& env, Symbol from, Symbol to) {
  const std::vector<Expr> shape = *algorithm.shape_of(from);
  std::vector<Expr> cell;
  std::vector<Symbol> vars;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    vars.push_back(fresh("at"));
    cell.push_back(context.var(vars.back()));
    declare_loop(vars.back(), context.index(0), shape[d]);
  }
  const Expr value =
      localise(env, through_inlining(context.read(from, cell, *algorithm.type_of(from))), {});
  Symbol buffer;
  const std::vector<Expr> index = buffer_index(env, to, cell, &buffer);
  Stmt out = program::make_store(context, buffer, index, value, OriginRole::Copy, from, cell);
  for (std::size_t d = shape.size(); d-- > 0;)
    out = program::make_for(context, LoopKind::Serial, vars[d], context.index(0), shape[d], out);
  return out;
}

// The equation of the body that can compute the next value where it is to lie; none: it is copied there.
Symbol Builder::written_in_place(const ir::Loop& loop, const ir::Carry& carry) const {
  const ir::Equation* next = algorithm.find_equation(carry.next);
  if (!next || !next->parts.empty()) return {};
  const auto at = static_cast<std::size_t>(next - algorithm.equations.data());
  const auto around = algorithm.loops_around(*next);
  if (!loop.holds(at) || around.empty() || around.back() != &loop || !roots_[at]) return {};
  // One that lives in registers has a place of its own.
  if (roots_[at]->in_register) return {};
  for (const ir::Carry& other : loop.carries)
    if (other.next == carry.next) return &other == &carry ? carry.next : Symbol();
  return {};
}

Result<Stmt> Builder::emit_loop(std::size_t number, Env& env, const Rest& rest) {
  const ir::Loop& loop = algorithm.loops[number];
  const Expr zero = context.index(0);
  const Expr two = context.index(2);
  const Expr iteration = context.extent(loop.var);
  // How many iterations were made, where that does not follow.
  const Symbol made = loop.condition ? fresh("made") : Symbol();
  const auto count = [&] { return context.read(made, {}, ScalarType::I64); };
  const auto set_count = [&](Expr value) {
    return program::make_store(context, made, {}, value, OriginRole::Value, loop.var, {});
  };
  const auto binding = [&](Symbol tensor, Symbol buffer, Expr place) {
    Binding out;
    out.buffer = buffer;
    out.leading = {place};
    out.extents = *algorithm.shape_of(tensor);
    out.extents.insert(out.extents.begin(), two);
    out.filled = out.extents;
    return out;
  };
  const auto bind_all = [&](Env& to, const std::vector<Symbol>& buffers, Expr place) {
    for (std::size_t i = 0; i < buffers.size(); ++i)
      to.bindings[loop.carries[i].name] = binding(loop.carries[i].name, buffers[i], place);
  };

  std::vector<Symbol> buffers;
  for (const ir::Carry& carry : loop.carries) buffers.push_back(fresh(carry.name.text()));
  Env first = env;
  bind_all(first, buffers, zero);
  std::vector<Stmt> parts;
  for (const ir::Carry& carry : loop.carries)
    parts.push_back(emit_copy(first, carry.start, carry.name));
  if (loop.condition) parts.push_back(set_count(context.integer(ScalarType::I64, 0)));

  const Symbol turn = loop.condition ? fresh("turn") : Symbol();
  const Expr now = loop.condition ? context.var(turn) : context.floor_mod(iteration, two);
  const Expr other =
      context.floor_mod(context.add(loop.condition ? now : iteration, context.index(1)), two);
  if (loop.condition) ranges[turn] = {0, 1};
  Env inside = env;
  inside.loops.push_back({loop.var, zero, simplify(loop.trips)});
  bind_all(inside, buffers, now);
  // What the iteration goes on with is written in the other place.
  Env next = inside;
  bind_all(next, buffers, other);
  for (const ir::Carry& carry : loop.carries)
    if (const Symbol own = written_in_place(loop, carry); own.valid())
      inside.bindings[own] = next.bindings.at(carry.name);
  TILEWRIGHT_TRY(
      body, emit_roots(loop.first, loop.last, number + 1, inside, [&](Env& last) {
        std::vector<Stmt> end;
        for (const ir::Carry& carry : loop.carries) {
          if (written_in_place(loop, carry).valid()) continue;
          const Symbol target = context.symbol("next " + std::string(carry.name.text()));
          Env copies = last;
          copies.bindings[target] = next.bindings.at(carry.name);
          end.push_back(emit_copy(copies, carry.next, target));
        }
        if (loop.condition)
          end.push_back(set_count(context.add(count(), context.integer(ScalarType::I64, 1))));
        return Result<Stmt>(program::make_block(context, end));
      }));
  const auto place_of_count = [&] {
    return context.floor_mod(context.cast(ScalarType::Index, count()), two);
  };
  if (loop.condition) {
    // Once it has failed the count stays behind.
    const Expr goes_on = localise(inside, through_inlining(loop.condition), {});
    body = program::make_if(context, goes_on, body);
    body = program::make_let(context, turn, place_of_count(), body);
    const Expr all_before =
        context.op(ir::OpCode::Eq, {context.cast(ScalarType::Index, count()), iteration});
    body = program::make_if(context, all_before, body);
  }
  parts.push_back(
      program::make_for(context, LoopKind::Serial, loop.var, zero, simplify(loop.trips), body));

  Env after = env;
  const Symbol end = loop.condition ? fresh("end") : Symbol();
  const Expr trips = context.max(loop.trips, zero);
  if (loop.condition) ranges[end] = {0, 1};
  bind_all(after, buffers,
           loop.condition ? context.var(end) : simplify(context.floor_mod(trips, two)));
  TILEWRIGHT_TRY(tail, rest(after));
  if (loop.condition) tail = program::make_let(context, end, place_of_count(), tail);
  parts.push_back(tail);
  Stmt out = program::make_block(context, parts);
  if (loop.condition)
    out = program::make_alloc(context, made, ScalarType::I64, {}, Space::Stack, out);
  for (std::size_t i = buffers.size(); i-- > 0;) {
    const Symbol name = loop.carries[i].name;
    out = program::make_alloc(context, buffers[i], *algorithm.type_of(name),
                              binding(name, buffers[i], zero).extents, Space::Workspace, out);
  }
  return out;
}

}  // namespace tilewright::build
