// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/call.h"

namespace tilewright::program {

std::optional<machine::Meaning> description_of(ir::Context& context, const Intrinsic& intrinsic) {
  const auto instruction = machine::find_instruction(intrinsic.name().text());
  if (intrinsic.is_library || !instruction.ok()) return std::nullopt;
  auto meaning = machine::meaning(context, *instruction);
  if (!meaning.ok() || !(meaning->algorithm == intrinsic.meaning)) return std::nullopt;
  return *std::move(meaning);
}

ir::TensorMap run_described(const machine::Meaning& meaning, const ir::TensorMap& inputs) {
  std::vector<std::vector<ir::Scalar>> operands;
  for (const machine::Meaning::Operand& operand : meaning.operands)
    operands.push_back(inputs.at(operand.name).data);
  ir::Tensor result = ir::make_tensor(meaning.result.type, meaning.result.shape);
  result.data = machine::execute(meaning, operands);
  ir::TensorMap out;
  out.emplace(meaning.result.name, std::move(result));
  return out;
}

}  // namespace tilewright::program
