// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/tensors.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "frontend/base/format.h"
#include "frontend/ir/given.h"
#include "frontend/ir/text.h"

namespace tilewright::cli {

namespace {

Failure unknown_tensor(const ir::Algorithm& algorithm, const std::string& name) {
  std::string known;
  for (const ir::Input& input : algorithm.inputs)
    known += (known.empty() ? "" : ", ") + in_backticks(input.name.text());
  return fail(Code::UnknownTensor, {},
              "the algorithm " + in_backticks(algorithm.name.text()) + " has no input " +
                  in_backticks(name),
              known.empty() ? "leave the file out: the algorithm has no inputs"
                            : "its inputs are " + known);
}

// A tensor is held as scalars of 8 bytes and as the bytes of its type.
std::int64_t cells_that_fit() {
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES);
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * (page / 16) : std::int64_t{1} << 26;
}

// Extents that are a dimension of this input as they stand.
Result<Ok> bind_shape(const ir::Input& input, const ir::Tensor& tensor, ir::Bindings* sizes) {
  if (input.shape.size() != tensor.shape.size()) {
    std::string declared;
    for (ir::Expr extent : input.shape)
      declared += (declared.empty() ? "" : ", ") + ir::print(extent);
    Diagnostic out{Code::InputMismatch,
                   input.span,
                   "the tensor for " + in_backticks(input.name.text()) + " has " +
                       std::to_string(tensor.shape.size()) + " dimensions, its declaration " +
                       std::to_string(input.shape.size()),
                   "give the declared type and shape",
                   {}};
    out.evidence.emplace_back("declared",
                              std::string(ir::type_text(input.type)) + "[" + declared + "]");
    out.evidence.emplace_back(
        "given", std::string(ir::type_text(tensor.type)) + ir::shape_text(tensor.shape));
    return fail(std::move(out));
  }
  for (std::size_t d = 0; d < input.shape.size(); ++d) {
    const auto* extent = input.shape[d].as<ir::Extent>();
    if (extent == nullptr) continue;
    const auto [it, fresh] = sizes->emplace(extent->name, tensor.shape[d]);
    if (!fresh && it->second != tensor.shape[d])
      return fail(Code::InputMismatch, input.span,
                  "dimension " + std::to_string(d) + " of " + in_backticks(input.name.text()) +
                      " is " + std::to_string(tensor.shape[d]) + ", but " +
                      in_backticks(extent->name.text()) + " is " + std::to_string(it->second) +
                      " elsewhere",
                  "give tensors of sizes that fit together");
  }
  return Ok{};
}

Result<Ok> read_input(Work& work, const std::string& name, const std::string& file,
                      GivenTensors* out) {
  const Symbol symbol = work.context().symbol(name);
  const ir::Input* input = work.algorithm().find_input(symbol);
  if (input == nullptr) return unknown_tensor(work.algorithm(), name);
  TILEWRIGHT_TRY(array, npy::read(file));
  TILEWRIGHT_TRY(tensor, npy::tensor_as(array, input->type, file));
  TILEWRIGHT_CHECK_OK(bind_shape(*input, tensor, &out->sizes));
  out->inputs[symbol] = std::move(tensor);
  return Ok{};
}

}  // namespace

std::optional<GivenTensors> gather_tensors(Session& session, Work& work,
                                           const std::vector<std::string>& files,
                                           std::uint64_t seed) {
  GivenTensors out;
  if (!bind_sizes(session, work.context(), work.algorithm(), work.definitions(), &out.sizes))
    return std::nullopt;
  for (const std::string& text : files) {
    const auto definition = split_definition(text);
    if (!session.take_placed(read_input(work, definition->first, definition->second, &out),
                             work.algorithm_source()))
      return std::nullopt;
  }
  if (!check_all_bound(session, work.algorithm(), work.algorithm_source(), out.sizes))
    return std::nullopt;
  if (!session.take(ir::check_bindings(work.algorithm().extents, work.algorithm().requirements,
                                       out.sizes, work.algorithm().requirement_spans),
                    work.algorithm_source()) ||
      !work.check_guards(out.sizes))
    return std::nullopt;
  if (!session.take(ir::count_cells(work.algorithm(), out.sizes, false, cells_that_fit()),
                    work.algorithm_source()))
    return std::nullopt;
  ir::TensorMap made;
  if (out.inputs.size() < work.algorithm().inputs.size())
    made = ir::random_inputs(work.algorithm(), out.sizes, seed);
  for (const ir::Input& input : work.algorithm().inputs) {
    if (auto it = made.find(input.name); it != made.end() && !out.inputs.contains(input.name))
      out.inputs.emplace(input.name, std::move(it->second));
    if (!session.take(ir::check_tensor(input.name, input.type, input.shape, out.sizes, out.inputs,
                                       input.span),
                      work.algorithm_source()))
      return std::nullopt;
  }
  return out;
}

Accuracy measure_accuracy(const ir::BoundedTensor& reference, const ir::Tensor& got) {
  Accuracy out;
  out.violation = ir::find_violation(reference, got);
  const bool floating = ir::holds_floats(got.type);
  for (std::size_t i = 0; i < got.data.size() && i < reference.bound.size(); ++i) {
    const ir::Scalar a = reference.value.data[i];
    const ir::Scalar b = got.data[i];
    const double error =
        floating ? std::fabs(b.f - a.f)
                 : std::fabs(ir::integer_value(got.type, b.i) - ir::integer_value(got.type, a.i));
    if (std::isinf(reference.bound[i])) {
      ++out.without_bound;
      continue;
    }
    if (!(floating ? a.f == b.f : a.i == b.i)) out.error = std::max(out.error, error);
    if (reference.bound[i] > 0) out.ratio = std::max(out.ratio, error / reference.bound[i]);
  }
  return out;
}

}  // namespace tilewright::cli
