// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/given.h"

#include <algorithm>

#include "frontend/ir/text.h"

namespace tilewright::ir {

namespace {
constexpr std::int64_t kMaxCells = std::int64_t{1} << 31;
}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

Result<Ok> check_bindings(const std::vector<ExtentDecl>& extents,
                          const std::vector<Expr>& requirements, const Bindings& bindings,
                          const std::vector<Span>& spans) {
  for (const ExtentDecl& extent : extents) {
    const std::string name(extent.name.text());
    auto it = bindings.find(extent.name);
    if (it == bindings.end())
      return fail(Code::BindingMismatch, extent.span, "the extent `" + name + "` has no value",
                  "give a size for `" + name + "`");
    const std::int64_t value = it->second;
    const bool fits = value >= std::max<std::int64_t>(extent.min, 0) &&
                      (!extent.max || value <= *extent.max) && value % extent.multiple_of == 0;
    if (!fits) {
      Diagnostic out{Code::BindingMismatch,
                     extent.span,
                     "the size " + std::to_string(value) + " of `" + name +
                         "` is outside of its declared range",
                     "choose a size that the declaration allows",
                     {}};
      out.evidence.emplace_back(name, std::to_string(value));
      return fail(std::move(out));
    }
  }
  for (std::size_t i = 0; i < requirements.size(); ++i)
    if (!evaluate_extents(requirements[i], bindings)) {
      Diagnostic out{Code::BindingMismatch,
                     i < spans.size() ? spans[i] : Span{},
                     "the sizes do not satisfy `" + print(requirements[i]) + "`",
                     "choose sizes that satisfy every `requires`",
                     {}};
      for (const ExtentDecl& extent : extents)
        out.evidence.emplace_back(extent.name.text(), std::to_string(bindings.at(extent.name)));
      return fail(std::move(out));
    }
  return Ok{};
}

Result<std::vector<std::int64_t>> bound_shape(Symbol name, const std::vector<Expr>& shape,
                                              const Bindings& bindings, Span span) {
  std::vector<std::int64_t> out;
  std::int64_t cells = 1;
  for (Expr extent : shape) {
    const std::int64_t value = evaluate_extents(extent, bindings);
    if (value < 0)
      return fail(Code::BindingMismatch, span,
                  "the extent `" + print(extent) + "` of `" + std::string(name.text()) +
                      "` is negative: " + std::to_string(value),
                  "state with `requires` that it is at least 0");
    if (value > 0 && (__builtin_mul_overflow(cells, value, &cells) || cells > kMaxCells))
      return fail(Code::InterpretLimit, span,
                  "`" + std::string(name.text()) + "` has more cells than fit",
                  "use smaller sizes");
    out.push_back(value);
  }
  return out;
}

Result<Ok> check_tensor(Symbol symbol, ScalarType type, const std::vector<Expr>& declared_shape,
                        const Bindings& bindings, const TensorMap& inputs, Span span) {
  TILEWRIGHT_TRY(shape, bound_shape(symbol, declared_shape, bindings, span));
  const std::string name(symbol.text());
  auto it = inputs.find(symbol);
  if (it == inputs.end())
    return fail(Code::InputMismatch, span, "the input `" + name + "` is missing",
                "give a tensor for `" + name + "`");
  const Tensor& given = it->second;
  if (given.type == type && given.shape == shape &&
      static_cast<std::int64_t>(given.data.size()) == given.size() * scalars_of(type))
    return Ok{};
  Diagnostic out{Code::InputMismatch,
                 span,
                 "the tensor for `" + name + "` does not fit its declaration",
                 "give the declared type and shape",
                 {}};
  out.evidence.emplace_back("declared", std::string(type_text(type)) + shape_text(shape));
  out.evidence.emplace_back("given", std::string(type_text(given.type)) + shape_text(given.shape));
  return fail(std::move(out));
}

Result<std::int64_t> count_cells(const Algorithm& algorithm, const Bindings& bindings, bool locals,
                                 std::int64_t most) {
  std::int64_t total = 0;
  auto add = [&](Symbol name, ScalarType type, const std::vector<Expr>& shape,
                 Span span) -> Result<Ok> {
    TILEWRIGHT_TRY(sizes, bound_shape(name, shape, bindings, span));
    // Of one tensor it fits: bound_shape has multiplied them.
    std::int64_t cells = 1;
    for (std::int64_t size : sizes) cells *= size;
    total += cells * scalars_of(type);
    if (total <= most) return Ok{};
    Diagnostic out{Code::InterpretLimit,
                   span,
                   "with `" + std::string(name.text()) + "` of shape " + shape_text(sizes) +
                       " the tensors have more cells than fit",
                   "use smaller sizes",
                   {}};
    out.evidence.emplace_back("limit", std::to_string(most));
    return fail(std::move(out));
  };
  for (const Input& input : algorithm.inputs)
    TILEWRIGHT_CHECK_OK(add(input.name, input.type, input.shape, input.span));
  for (const Equation& equation : algorithm.equations)
    for (const TensorPart& part : equation.tensors())
      if (locals || equation.is_output)
        TILEWRIGHT_CHECK_OK(add(part.name, part.type, equation.shape, equation.span));
  for (const Loop& loop : algorithm.loops)
    for (const Carry& carry : loop.carries)
      if (locals)
        TILEWRIGHT_CHECK_OK(add(carry.name, *algorithm.type_of(carry.name),
                                *algorithm.shape_of(carry.name), loop.span));
  return total;
}

}  // namespace tilewright::ir
