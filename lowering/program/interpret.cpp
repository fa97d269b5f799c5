// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/interpret.h"

#include "frontend/ir/complex.h"
#include "frontend/ir/given.h"
#include "lowering/program/execute.h"
#include "lowering/program/split_complex.h"

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

namespace {

// The parts of complex inputs beside the others, and complex outputs put together again.
ir::TensorMap split_inputs(ir::ComplexSplitter& names, const Program& program,
                           const ir::TensorMap& inputs) {
  ir::TensorMap out = inputs;
  for (const Parameter& parameter : program.parameters) {
    const auto it = inputs.find(parameter.name);
    if (!ir::is_complex(parameter.type) || it == inputs.end()) continue;
    for (bool imaginary : {false, true})
      out[names.part_name(parameter.name, imaginary)] = ir::part_of(it->second, imaginary);
  }
  return out;
}

void join_outputs(ir::ComplexSplitter& names, const Program& program, ir::TensorMap& outputs) {
  for (const Parameter& parameter : program.parameters) {
    if (!ir::is_complex(parameter.type) || !parameter.is_output) continue;
    const Symbol re = names.part_name(parameter.name, false);
    const Symbol im = names.part_name(parameter.name, true);
    outputs[parameter.name] = ir::join_parts(parameter.type, outputs.at(re), outputs.at(im));
    outputs.erase(re);
    outputs.erase(im);
  }
}

}  // namespace

Result<InterpretResult> interpret(ir::Context& context, const Program& program,
                                  const ir::Bindings& bindings, const ir::TensorMap& inputs,
                                  const InterpretOptions& options) {
  TILEWRIGHT_CHECK_OK(ir::check_bindings(program.extents, program.requirements, bindings));
  if (has_complex(program)) {
    for (const Parameter& parameter : program.parameters)
      if (!parameter.is_output || parameter.is_inout)
        TILEWRIGHT_CHECK_OK(ir::check_tensor(parameter.name, parameter.type, parameter.shape,
                                             bindings, inputs, {}));
    ir::ComplexSplitter names(context);
    TILEWRIGHT_TRY(result, interpret(context, split_complex(context, program), bindings,
                                     split_inputs(names, program, inputs), options));
    join_outputs(names, program, result.outputs);
    return result;
  }
  TILEWRIGHT_TRY(compiled, Compiled::compile(context, program, bindings));
  return execute(program, *compiled, bindings, inputs, options);
}

}  // namespace tilewright::program
