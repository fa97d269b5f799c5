// SPDX-License-Identifier: Apache-2.0
//
// Described instructions: one LLVM intrinsic for a call, its operands loaded as registers. `build` has seen to it
// that the cells of each tile lie side by side. Law: the name of the intrinsic and where operands lie come from
// the instruction's description alone.
#include <llvm/IR/Intrinsics.h>

#include "lowering/llvm/emit_wall.h"
#include "lowering/program/call.h"

namespace tilewright::llvm_wall {

namespace {

std::int64_t elements_of(const machine::Meaning::Operand& operand) {
  std::int64_t n = 1;
  for (std::int64_t length : operand.shape) n *= length;
  return n;
}

}  // namespace

// Read once for a module: an unrolled tile calls it many times.
const ModuleState::Described* ModuleState::find_described(Symbol callee) {
  const auto [it, fresh] = described.try_emplace(callee);
  if (fresh) {
    const program::Intrinsic* intrinsic = program.find_intrinsic(callee);
    auto meaning = intrinsic ? program::description_of(context, *intrinsic) : std::nullopt;
    auto instruction = machine::find_instruction(callee.text());
    if (meaning && instruction.ok())
      it->second = Described{*std::move(instruction), *std::move(meaning)};
  }
  return it->second ? &*it->second : nullptr;
}

void Emitter::emit_call(const program::Call& node) {
  if (state_.error) return;
  const std::string name(node.callee.text());
  const ModuleState::Described* found = state_.find_described(node.callee);
  if (!found || lanes_ > 1) {
    state_.refuse(Code::UnsupportedByTarget,
                  "`" + name + "` is no instruction of the host with this meaning",
                  "call a described instruction outside of vector loops; `tilewright machine "
                  "instructions` lists them");
    return;
  }
  const machine::Meaning* meaning = &found->meaning;
  const machine::Instruction* instruction = &found->instruction;
  const auto& features = state_.target.features;
  if (std::find(features.begin(), features.end(), instruction->feature) == features.end()) {
    state_.refuse(
        Code::InstructionUnavailable,
        "the target does not have `" + instruction->feature + "`, which `" + name + "` needs",
        "schedule for a machine whose features name it, such as `x86-64-v4-dot`");
    state_.error->evidence.emplace_back("target", state_.target.cpu);
    return;
  }
  const llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(instruction->emission);
  if (id == llvm::Intrinsic::not_intrinsic) {
    state_.refuse(Code::CodeGeneration, "LLVM has no `" + instruction->emission + "`", kReport);
    return;
  }
  llvm::Function* callee = llvm::Intrinsic::getOrInsertDeclaration(&state_.module, id);
  const auto tile_of = [&](Symbol operand) -> const program::TileNode* {
    for (program::Tile tile : node.operands)
      if (tile->operand == operand) return &*tile;
    return nullptr;
  };
  std::vector<llvm::Value*> arguments;
  for (std::size_t i = 0; i < meaning->operands.size(); ++i) {
    const machine::Meaning::Operand& operand = meaning->operands[i];
    const program::TileNode* tile = tile_of(operand.name);
    if (!tile || i >= callee->arg_size()) {
      state_.refuse(Code::CodeGeneration, "`" + name + "` misses an operand", kReport);
      return;
    }
    llvm::Value* value = load_tile(*tile, elements_of(operand), operand.broadcast);
    if (!value) return;
    arguments.push_back(
        b_.CreateBitCast(value, callee->getFunctionType()->getParamType(static_cast<unsigned>(i))));
  }
  const program::TileNode* result = tile_of(meaning->result.name);
  if (result) store_tile(*result, b_.CreateCall(callee, arguments));
}

// One register: the elements, or as many bits of them repeated.
llvm::Value* Emitter::load_tile(const program::TileNode& tile, std::int64_t elements,
                                std::int64_t broadcast) {
  const auto it = buffers_.find(tile.buffer);
  if (it == buffers_.end()) {
    state_.refuse(Code::UnsupportedByTarget,
                  "buffer `" + std::string(tile.buffer.text()) + "` is not in scope", kReport);
    return nullptr;
  }
  const Buffer& buffer = it->second;
  if (buffer.in_register) {
    llvm::AllocaInst* row = nullptr;
    const auto cells = register_cells(buffer, tile.indices, row, tile.buffer);
    if (!cells) return nullptr;
    if (broadcast == 1 && buffer.extents.back() == elements && (*cells)[0] == 0)
      return b_.CreateLoad(row->getAllocatedType(), row);
    state_.refuse(Code::RegisterIndex,
                  "a tile of register buffer `" + std::string(tile.buffer.text()) +
                      "` is not one whole row of it",
                  "keep the operand in memory");
    return nullptr;
  }
  const Address where = address(buffer, tile.indices);
  if (!where.affine || !is_uniform(*where.affine)) {
    state_.refuse(Code::UnsupportedByTarget, "a tile whose place differs between lanes", kReport);
    return nullptr;
  }
  const llvm::Align align(ir::size_bytes(buffer.type));
  llvm::Value* p = pointer(buffer, *where.affine);
  if (broadcast == 1) {
    auto* type = llvm::FixedVectorType::get(storage_type(state_.llvm, buffer.type),
                                            static_cast<unsigned>(elements));
    return tag(b_.CreateAlignedLoad(type, p, align), buffer);
  }
  const auto bits = static_cast<unsigned>(8 * ir::size_bytes(buffer.type) * elements);
  llvm::Value* group = tag(b_.CreateAlignedLoad(b_.getIntNTy(bits), p, align), buffer);
  return b_.CreateVectorSplat(static_cast<unsigned>(broadcast), group);
}

void Emitter::store_tile(const program::TileNode& tile, llvm::Value* value) {
  const auto it = buffers_.find(tile.buffer);
  if (it == buffers_.end()) return;
  const Buffer& buffer = it->second;
  if (buffer.in_register) {
    llvm::AllocaInst* row = nullptr;
    if (!register_cells(buffer, tile.indices, row, tile.buffer)) return;
    b_.CreateStore(b_.CreateBitCast(value, row->getAllocatedType()), row);
    return;
  }
  const Address where = address(buffer, tile.indices);
  if (!where.affine || !is_uniform(*where.affine)) return;
  const llvm::Align align(ir::size_bytes(buffer.type));
  tag(b_.CreateAlignedStore(value, pointer(buffer, *where.affine), align), buffer);
}

}  // namespace tilewright::llvm_wall
