// SPDX-License-Identifier: Apache-2.0
//
// Outputs in the storage of an input. An output is written there at once where every read of the input comes
// before: it stands in an earlier nest of the built order, or it is the output's own read of the cell that is
// about to be written. Else what the caller gave is copied to the workspace first, and read there.
#include <algorithm>

#include "frontend/ir/walk.h"
#include "lowering/build/builder.h"

namespace tilewright::build {

namespace {

bool reads_tensor(Expr expr, Symbol tensor) {
  const auto reads = ir::reads(expr);
  return std::any_of(reads.begin(), reads.end(),
                     [&](const ir::Read* read) { return read->tensor == tensor; });
}

// Every read of the tensor is of the cell with the equation's own indices.
bool reads_own_cell(const ir::Equation& equation, Expr expr, Symbol tensor) {
  for (const ir::Read* read : ir::reads(expr)) {
    if (!(read->tensor == tensor)) continue;
    for (std::size_t i = 0; i < equation.indices.size(); ++i) {
      const auto* index = read->indices[i].as<ir::Var>();
      if (!index || !(index->name == equation.indices[i])) return false;
    }
  }
  return true;
}

// A cell's reads are before its only store: of an update those of the base, of a reduction none, since its
// cells hold partial results.
bool reads_before_store(const ir::Equation& equation, Symbol tensor) {
  const ir::Fold* fold = equation.fold();
  if (!fold || fold->scan) return reads_own_cell(equation, equation.value, tensor);
  const auto none = [&](NodeList<Expr> list) {
    return std::none_of(list.begin(), list.end(), [&](Expr e) { return reads_tensor(e, tensor); });
  };
  const bool terms = none(fold->body) && none(fold->at) && none(fold->where) && none(fold->lower) &&
                     none(fold->upper) && none(fold->on_empty);
  if (!terms) return false;
  return std::all_of(fold->base.begin(), fold->base.end(),
                     [&](Expr e) { return reads_own_cell(equation, e, tensor); });
}

}  // namespace

bool Builder::may_be_in_place(const ir::Equation& output) const {
  const Symbol input = output.into;
  const auto place = [&](const tree::Nest* nest) {
    while (nest && nest->at) nest = schedule.tree.find(nest->at->nest);
    return std::find(roots_.begin(), roots_.end(), nest) - roots_.begin();
  };
  const auto own = place(schedule.tree.find(output.name));
  for (const tree::Nest& nest : schedule.tree.nests) {
    const ir::Equation* reader = equation(nest.name);
    const bool reads =
        nest.stage ? nest.stage->tensor == input : reads_tensor(reader->value, input);
    if (!reads || place(&nest) < own) continue;
    if (nest.stage || nest.name != output.name || !reads_before_store(*reader, input)) return false;
  }
  for (const ir::Loop& loop : algorithm.loops) {
    const auto uses = [&](Symbol tensor) {
      const std::vector<Expr>& shape = *algorithm.shape_of(tensor);
      const std::vector<Expr> cell(shape.size(), context.index(0));
      return reads_tensor(through_inlining(context.read(tensor, cell, *algorithm.type_of(tensor))),
                          input);
    };
    bool reads = loop.condition && reads_tensor(through_inlining(loop.condition), input);
    for (const ir::Carry& carry : loop.carries)
      reads = reads || uses(carry.start) || uses(carry.next);
    // Where there are loops, places count equations, and outputs stand outside of them.
    if (reads && static_cast<std::ptrdiff_t>(loop.first) >= own) return false;
  }
  return true;
}

Result<Stmt> Builder::with_old_values(Env& env, const Rest& rest) {
  std::vector<std::pair<const ir::Input*, Symbol>> copied;
  for (const ir::Equation* output : algorithm.outputs()) {
    if (!output->into.valid()) continue;
    const ir::Input* input = algorithm.find_input(output->into);
    Binding result;
    result.buffer = input->name;
    result.extents = input->shape;
    result.filled = input->shape;
    env.bindings[output->name] = result;
    if (!may_be_in_place(*output))
      copied.emplace_back(input, fresh(std::string(input->name.text()) + "_old"));
  }
  std::vector<Stmt> parts;
  Env inner = env;
  for (const auto& [input, buffer] : copied) {
    Binding old;
    old.buffer = buffer;
    old.extents = input->shape;
    old.filled = input->shape;
    const Symbol target = context.symbol("old " + std::string(input->name.text()));
    Env copies = env;
    copies.bindings[target] = old;
    parts.push_back(emit_copy(copies, input->name, target));
    inner.bindings[input->name] = old;
  }
  TILEWRIGHT_TRY(body, rest(inner));
  if (copied.empty()) return body;
  parts.push_back(body);
  Stmt out = program::make_block(context, parts);
  for (const auto& [input, buffer] : copied)
    out = program::make_alloc(context, buffer, input->type, input->shape, program::Space::Workspace,
                              out);
  return out;
}

}  // namespace tilewright::build
