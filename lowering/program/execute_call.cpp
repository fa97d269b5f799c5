// SPDX-License-Identifier: Apache-2.0
//
// Calls of intrinsics: tiles are copied out of buffers, the meaning runs in exact mode or, of a described
// instruction, its numeric unit, and tiles are copied back. Law: a call does what its description says and touches no other cell.
#include "frontend/ir/given.h"
#include "frontend/ir/interpret.h"
#include "lowering/program/execution.h"

namespace tilewright::program {

namespace {

Diagnostic wrong_shape(const Call& call, std::string what) {
  Diagnostic out{Code::OperandShape,
                 {},
                 "the tiles of `" + std::string(call.callee.text()) + "` do not fit: " + what,
                 "give tiles of the sizes that its description needs",
                 {},
                 {}};
  out.evidence.emplace_back("statement", headline(Stmt(&call)));
  return out;
}

}  // namespace

// Reads or writes every cell of the operand.
bool Execution::walk_tile(const Node& node, std::size_t operand, ir::Tensor& tensor, bool write) {
  const Call& call = *node.stmt.as<Call>();
  std::size_t slot = 0;
  for (std::size_t o = 0; o < operand; ++o)
    slot += call.operands[o]->indices.size() + call.operands[o]->lengths.size();
  const TileNode& tile = *call.operands[operand];
  std::vector<std::int64_t> base(tile.indices.size());
  for (std::size_t d = 0; d < base.size(); ++d) base[d] = frame_.value[node.slots[slot + d]]->i;
  std::vector<std::int64_t> at(tensor.shape.size(), 0);
  for (ir::Scalar& value : tensor.data) {
    cell_ = base;
    for (std::size_t d = 0; d < at.size(); ++d)
      cell_[static_cast<std::size_t>(tile.sliced[d])] += at[d];
    const bool done = write ? access_.write(node.tiles[operand], cell_.data(), 0, value)
                            : access_.read_cell(node.tiles[operand], cell_.data(), &value);
    if (!done) return stopped(node, {nullptr, 0});
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < tensor.shape[d]) break;
      at[d] = 0;
    }
  }
  return true;
}

bool Execution::run_call(const Node& node) {
  const Call& call = *node.stmt.as<Call>();
  const Intrinsic& intrinsic = *program_.find_intrinsic(call.callee);
  if (!evaluate(node)) return false;
  ir::TensorMap tensors;
  ir::Bindings sizes;
  std::size_t slot = 0;
  for (Tile tile : call.operands) {
    slot += tile->indices.size();
    std::vector<std::int64_t> shape;
    const std::vector<Expr>& declared = *intrinsic.meaning.shape_of(tile->operand);
    for (std::size_t d = 0; d < declared.size(); ++d) {
      shape.push_back(frame_.value[node.slots[slot + d]]->i);
      if (shape.back() < 0 || shape.back() > (1 << 20))
        return refuse(wrong_shape(call, "a length of " + std::to_string(shape.back())), 0);
      if (const auto* extent = declared[d].as<ir::Extent>()) sizes.emplace(extent->name, shape[d]);
    }
    slot += declared.size();
    tensors.emplace(tile->operand,
                    ir::make_tensor(*intrinsic.meaning.type_of(tile->operand), std::move(shape)));
  }
  if (auto fits =
          ir::check_bindings(intrinsic.meaning.extents, intrinsic.meaning.requirements, sizes);
      !fits.ok())
    return refuse(wrong_shape(call, fits.diagnostics()[0].message), 0);
  for (const auto& [name, tensor] : tensors) {
    const std::vector<Expr>& declared = *intrinsic.meaning.shape_of(name);
    for (std::size_t d = 0; d < declared.size(); ++d)
      if (ir::evaluate_extents(declared[d], sizes) != tensor.shape[d])
        return refuse(wrong_shape(call, "`" + std::string(name.text()) + "` is " +
                                            ir::shape_text(tensor.shape)),
                      0);
  }
  for (std::size_t o = 0; o < call.operands.size(); ++o)
    if (intrinsic.meaning.find_input(call.operands[o]->operand) &&
        !walk_tile(node, o, tensors.at(call.operands[o]->operand), false))
      return false;
  ir::TensorMap results;
  if (access_.effect() != BufferAccess::Effect::Check) {
    ir::InterpretOptions options;
    options.reading = ir::Reading::Exact;
    const auto described = compiled_.described_.find(call.callee);
    auto run = described != compiled_.described_.end()
                   ? Result<ir::TensorMap>(run_described(described->second, tensors))
                   : ir::interpret(intrinsic.meaning, sizes, tensors, options);
    if (!run.ok()) {
      Diagnostic out = run.diagnostics()[0];
      out.code = Code::ProgramUndefined;
      out.evidence.emplace_back("statement", headline(node.stmt));
      return refuse(std::move(out), 0);
    }
    results = std::move(*run);
  }
  for (std::size_t o = 0; o < call.operands.size(); ++o) {
    const Symbol name = call.operands[o]->operand;
    if (intrinsic.meaning.find_input(name)) continue;
    ir::Tensor& out = results.contains(name) ? results.at(name) : tensors.at(name);
    if (!walk_tile(node, o, out, true)) return false;
  }
  return true;
}

}  // namespace tilewright::program
