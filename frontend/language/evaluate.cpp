// SPDX-License-Identifier: Apache-2.0
//
// Algorithm::evaluate: the interpreter in exact reading, on numbers as doubles. Extents that a shape of an input
// holds alone, or in a linear expression, get their size from it.
#include <cmath>

#include "frontend/base/format.h"
#include "frontend/ir/interpret.h"
#include "frontend/ir/simplify.h"
#include "frontend/language/build.h"
#include "frontend/language/transcript.h"

namespace tilewright::language {

namespace {

Failed refuse(Code code, std::string message, std::string remedy, const Algorithm& algorithm) {
  return Failed{{{std::string(code_text(code)),
                  std::move(message),
                  std::move(remedy),
                  detail::place_of(algorithm.state()->where),
                  {}}}};
}

// E = (size - constant) / coefficient, where the shape is `coefficient * E + constant`.
void bind_from_shape(ir::Expr shape, std::int64_t size, ir::Bindings& bindings) {
  const auto form = ir::linear_form(shape);
  if (!form || form->terms.size() != 1) return;
  const auto* extent = form->terms[0].first.as<ir::Extent>();
  const std::int64_t coefficient = form->terms[0].second;
  if (!extent || bindings.contains(extent->name)) return;
  const std::int64_t rest = size - form->constant;
  if (rest % coefficient == 0) bindings[extent->name] = rest / coefficient;
}

Result<ir::Tensor> tensor_of(const ir::Input& input, const Array& array,
                             const Algorithm& algorithm) {
  const std::string name = in_backticks(input.name.text());
  std::int64_t cells = 1;
  for (const std::int64_t size : array.shape)
    if (size < 0 || __builtin_mul_overflow(cells, size, &cells))
      return refuse(Code::InputMismatch, "the shape of " + name + " is of no tensor",
                    "give sizes that are not negative", algorithm);
  const auto wanted =
      static_cast<std::size_t>(cells) * static_cast<std::size_t>(ir::scalars_of(input.type));
  if (wanted != array.values.size())
    return refuse(Code::InputMismatch,
                  name + " has " + std::to_string(array.values.size()) +
                      " values where its shape has " + std::to_string(wanted),
                  "give one value for each element, two for a complex one", algorithm);
  ir::Tensor tensor = ir::make_tensor(input.type, array.shape);
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    const double value = array.values[i];
    if (ir::holds_floats(input.type)) {
      tensor.data[i].f = ir::round_to_type(ir::part_type(input.type), value);
      continue;
    }
    const bool held = std::fabs(value) < 0x1p63 && std::trunc(value) == value;
    tensor.data[i].i = held ? static_cast<std::int64_t>(value) : 0;
    if (!held || (input.type != ir::ScalarType::Index &&
                  ir::wrap_to_type(input.type, tensor.data[i].i) != tensor.data[i].i))
      return refuse(Code::InputMismatch,
                    format_double(value) + " in " + name + " does not fit " +
                        in_backticks(ir::type_text(input.type)),
                    "give values of the type of the input", algorithm);
  }
  return tensor;
}

Array array_of(const ir::Tensor& tensor) {
  Array array{tensor.shape, {}};
  for (const ir::Scalar scalar : tensor.data)
    array.values.push_back(ir::holds_floats(tensor.type) ? scalar.f
                           : ir::is_unsigned(tensor.type)
                               ? static_cast<double>(static_cast<std::uint64_t>(scalar.i))
                               : static_cast<double>(scalar.i));
  return array;
}

}  // namespace

Result<Arrays> Algorithm::evaluate(const Arrays& inputs, const Sizes& sizes) const {
  const detail::Transcript transcript(*state_);
  ir::Context context;
  auto built = build(*this, context);
  if (!built.ok()) return Failed{built.diagnostics()};
  ir::Bindings bindings;
  for (const auto& [name, size] : sizes) bindings[context.symbol(name)] = size;
  ir::TensorMap tensors;
  for (const ir::Input& input : built->inputs) {
    const auto given = inputs.find(std::string(input.name.text()));
    if (given == inputs.end()) continue;
    auto tensor = tensor_of(input, given->second, *this);
    if (!tensor.ok()) return Failed{tensor.diagnostics()};
    if (input.shape.size() == tensor->shape.size())
      for (std::size_t i = 0; i < input.shape.size(); ++i)
        bind_from_shape(input.shape[i], tensor->shape[i], bindings);
    tensors.emplace(input.name, std::move(*tensor));
  }
  ir::InterpretOptions options;
  options.reading = ir::Reading::Exact;
  auto run = ir::interpret(*built, bindings, tensors, options);
  if (!run.ok()) return Failed{transcript.merge(run.diagnostics())};
  Arrays outputs;
  for (const ir::TensorPart& output : built->output_tensors())
    outputs.emplace(output.name.text(), array_of(run->at(output.name)));
  return outputs;
}

}  // namespace tilewright::language
