// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/call.h"

#include "frontend/ir/interpret.h"

namespace tilewright::program {

std::optional<machine::Meaning> description_of(ir::Context& context, const Intrinsic& intrinsic) {
  const auto instruction = machine::find_instruction(intrinsic.name().text());
  if (intrinsic.is_library || !instruction.ok()) return std::nullopt;
  auto meaning = machine::meaning(context, *instruction);
  if (!meaning.ok() || !(meaning->algorithm == intrinsic.meaning)) return std::nullopt;
  return *std::move(meaning);
}

IntrinsicUnit::IntrinsicUnit(ir::Context& context, const Intrinsic& intrinsic)
    : intrinsic_(&intrinsic), described_(description_of(context, intrinsic)) {}

Result<ir::TensorMap> IntrinsicUnit::run(const ir::TensorMap& inputs,
                                         const ir::Bindings& sizes) const {
  if (!described_) {
    ir::InterpretOptions options;
    options.reading = ir::Reading::Exact;
    return ir::interpret(intrinsic_->meaning, sizes, inputs, options);
  }
  std::vector<std::vector<ir::Scalar>> operands;
  for (const machine::Meaning::Operand& operand : described_->operands)
    operands.push_back(inputs.at(operand.name).data);
  ir::Tensor result = ir::make_tensor(described_->result.type, described_->result.shape);
  result.data = machine::execute(*described_, operands);
  ir::TensorMap out;
  out.emplace(described_->result.name, std::move(result));
  return out;
}

}  // namespace tilewright::program
