// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/interpret.h"

#include "frontend/ir/given.h"
#include "lowering/program/execute.h"

namespace tilewright::program {

int Coverage::missing() const {
  int count = 0;
  for (const Decision& decision : decisions) count += !decision.first + !decision.second;
  return count;
}

void Coverage::merge(const Coverage& other) {
  if (decisions.empty()) decisions = other.decisions;
  for (std::size_t i = 0; i < decisions.size() && i < other.decisions.size(); ++i) {
    decisions[i].first |= other.decisions[i].first;
    decisions[i].second |= other.decisions[i].second;
  }
}

Result<InterpretResult> interpret(ir::Context& context, const Program& program,
                                  const ir::Bindings& bindings, const ir::TensorMap& inputs,
                                  const InterpretOptions& options) {
  TILEWRIGHT_CHECK_OK(ir::check_bindings(program.extents, program.requirements, bindings));
  TILEWRIGHT_TRY(compiled, Compiled::compile(context, program, bindings));
  return execute(program, *compiled, bindings, inputs, options);
}

}  // namespace tilewright::program
