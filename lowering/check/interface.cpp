// SPDX-License-Identifier: Apache-2.0
//
// What a Program takes and gives against what its algorithm does.
#include <algorithm>

#include "frontend/base/format.h"
#include "lowering/check/check.h"

namespace tilewright::check {

Result<Ok> check_interface(const ir::Algorithm& algorithm, const program::Program& program) {
  for (const auto& [what, name] :
       {std::pair{"a program", program.name}, std::pair{"a program for", program.algorithm}})
    if (!(name == algorithm.name))
      return fail(Code::ProgramInterface, {},
                  std::string(what) + " " + in_backticks(name.text()) +
                      ", used with the algorithm " + in_backticks(algorithm.name.text()),
                  "give the program the algorithm's name, or give its own algorithm");
  std::string wrong;
  std::size_t matched = 0;
  auto match = [&](Symbol name, ir::ScalarType type, const std::vector<ir::Expr>& shape,
                   bool is_output, bool is_inout = false) {
    const program::Parameter* parameter = program.find_parameter(name);
    const bool fits = parameter != nullptr && parameter->type == type &&
                      parameter->shape == shape && parameter->is_output == is_output &&
                      parameter->is_inout == is_inout;
    if (fits)
      ++matched;
    else if (wrong.empty())
      wrong = name.text();
  };
  for (const ir::Input& input : algorithm.inputs) {
    const bool is_inout = algorithm.new_value(input.name) != nullptr;
    match(input.name, input.type, input.shape, is_inout, is_inout);
    const program::Parameter* parameter = program.find_parameter(input.name);
    if (parameter && wrong.empty() &&
        (!(parameter->facts == input.facts) || parameter->is_const != input.is_const))
      wrong = input.name.text();
  }
  for (const ir::Equation* output : algorithm.outputs())
    for (const ir::TensorPart& part :
         output->into.valid() ? std::vector<ir::TensorPart>() : output->tensors())
      match(part.name, part.type, output->shape, true);
  if (wrong.empty() && matched != program.parameters.size()) {
    for (const program::Parameter& parameter : program.parameters)
      if (!algorithm.find_input(parameter.name) && !algorithm.definition(parameter.name))
        wrong = parameter.name.text();
  }
  for (const ir::ExtentDecl& extent : program.extents)
    if (wrong.empty() && algorithm.find_extent(extent.name) == nullptr) wrong = extent.name.text();
  if (wrong.empty() && algorithm.extents.size() != program.extents.size())
    wrong = algorithm.extents[std::min(algorithm.extents.size() - 1, program.extents.size())]
                .name.text();
  if (wrong.empty()) return Ok{};
  return fail(Code::ProgramInterface, {},
              in_backticks(wrong) + " is not the same in the program and in the algorithm " +
                  in_backticks(algorithm.name.text()),
              "give both the same extents, inputs and outputs, with equal types and shapes");
}

}  // namespace tilewright::check
