// SPDX-License-Identifier: Apache-2.0
//
// The three readings of an algorithm: checks what is given, then runs the equations in order.
// Tests: tests/unit/frontend/ir/interpret_test.cpp and tests/laws.
#include "frontend/ir/interpret.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/ir/cells.h"
#include "frontend/ir/complex.h"
#include "frontend/ir/equation_run.h"
#include "frontend/ir/facts.h"
#include "frontend/ir/fold_run.h"
#include "frontend/ir/given.h"
#include "frontend/ir/intervals.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

bool holds_nan(const Tensor& tensor) {
  return is_float(tensor.type) && std::any_of(tensor.data.begin(), tensor.data.end(),
                                              [](Scalar x) { return std::isnan(x.f); });
}

bool mentions_nan(const Algorithm& algorithm) {
  bool found = false;
  for (const Equation& equation : algorithm.equations)
    walk(equation.value, [&](Expr expr) {
      const auto* real = expr.as<FloatConst>();
      found |= real && std::isnan(real->value);
    });
  return found;
}

Result<Ok> check_defined(const Equation& equation, const Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.data.size(); ++i) {
    if (!std::isnan(tensor.data[i].f)) continue;
    std::vector<std::int64_t> cell(tensor.shape.size());
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t d = cell.size(); d-- > 0; rest /= tensor.shape[d])
      cell[d] = rest % tensor.shape[d];
    Diagnostic out{
        Code::UndefinedOutput,
        equation.span,
        "the output `" + std::string(equation.name.text()) +
            "` is undefined: 0/0, infinity minus infinity or 0 times infinity reached it",
        "guard the operation with select, or state with `requires` what makes it defined",
        {}};
    out.evidence.emplace_back("cell", std::string(equation.name.text()) + shape_text(cell));
    return fail(std::move(out));
  }
  return Ok{};
}

// Everything one interpretation produces.
struct Interpretation {
  TensorMap values;
  std::map<Symbol, std::vector<Scalar>> low, high;
};

Result<Interpretation> interpret_all(const Algorithm& algorithm, const Bindings& bindings,
                                     const TensorMap& inputs, const InterpretOptions& options,
                                     bool intervals) {
  TILEWRIGHT_CHECK_OK(check_bindings(algorithm.extents, algorithm.requirements, bindings,
                                     algorithm.requirement_spans));
  Interpretation out;
  TensorMap changed;  // inputs that are clamped
  CellStore store(bindings);
  std::int64_t steps = options.step_limit;
  bool nan_given = mentions_nan(algorithm);
  const bool reals = intervals || options.reading == Reading::Reals;
  auto publish = [&](Symbol name, const Tensor& tensor, bool certain) {
    Cells cells{name,
                tensor.type,
                tensor.shape,
                row_major(tensor.shape),
                tensor.data.data(),
                tensor.data.data(),
                tensor.data.data(),
                certain};
    if (out.low.count(name)) {
      cells.low = out.low.at(name).data();
      cells.high = out.high.at(name).data();
    }
    store.add(std::move(cells));
  };
  for (const Input& input : algorithm.inputs) {
    TILEWRIGHT_CHECK_OK(
        check_tensor(input.name, input.type, input.shape, bindings, inputs, input.span));
    const Tensor& given = inputs.at(input.name);
    TILEWRIGHT_CHECK_OK(check_facts(input.name, input.facts, bindings, given, input.span));
    if (input.facts.clamp) changed[input.name] = clamped(input.facts, bindings, given);
    const Tensor& tensor = input.facts.clamp ? changed[input.name] : given;
    if (holds_nan(tensor)) {
      nan_given = true;
      if (intervals) {
        auto& low = out.low[input.name] = tensor.data;
        auto& high = out.high[input.name] = tensor.data;
        for (std::size_t i = 0; i < low.size(); ++i)
          if (std::isnan(low[i].f)) no_claim(input.type, &low[i], &high[i]);
      }
    }
    publish(input.name, tensor, !is_float(input.type));
  }
  for (const Equation& equation : algorithm.equations) {
    TILEWRIGHT_TRY(shape, bound_shape(equation.name, equation.shape, bindings, equation.span));
    std::vector<EquationResult> results;
    for (const TensorPart& part : equation.tensors()) {
      Tensor& tensor = out.values[part.name] = make_tensor(part.type, shape);
      results.push_back({&tensor, nullptr, nullptr, true});
      if (!intervals) continue;
      results.back().low = &(out.low[part.name] = tensor.data);
      results.back().high = &(out.high[part.name] = tensor.data);
    }
    const EquationContext context{algorithm, equation, bindings, store};
    const EquationMode mode{reals, options.order.fused, intervals};
    const Fold* fold = equation.fold();
    if (fold && !(fold->is_plain() && fold->body[0].type() != ScalarType::Bool)) {
      TILEWRIGHT_CHECK_OK(run_fold(context, mode, results, &steps));
    } else {
      TILEWRIGHT_CHECK_OK(run_equation(context, mode, &results[0], &steps));
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const TensorPart part = equation.tensors()[i];
      const Tensor& tensor = *results[i].value;
      if (reals && !intervals && !nan_given && equation.is_output && is_float(part.type))
        TILEWRIGHT_CHECK_OK(check_defined(equation, tensor));
      publish(part.name, tensor, !intervals || (!is_float(part.type) && results[i].certain));
    }
  }
  return out;
}

double bound_of(ScalarType type, Scalar value, Scalar low, Scalar high) {
  const double inf = std::numeric_limits<double>::infinity();
  if (!is_float(type)) {
    if (low.i == high.i) return 0;
    const double v = integer_value(type, value.i);
    return std::max(integer_value(type, high.i) - v, v - integer_value(type, low.i));
  }
  if (!claims(low.f, high.f) || std::isnan(value.f)) return inf;
  if (low.f == high.f && low.f == value.f) return 0;
  const double bound = std::max(high.f - value.f, value.f - low.f);
  if (!(bound < inf)) return inf;
  return std::nextafter(bound, inf);
}

// An algorithm without complex types, the same inputs, and what its results are of the given one.
struct SplitAlgorithm {
  Context context;
  Algorithm algorithm;
  TensorMap inputs;

  SplitAlgorithm(const Algorithm& given, const TensorMap& tensors)
      : algorithm(split_complex(context, given)), inputs(tensors) {
    ComplexSplitter names(context);
    for (const Input& input : given.inputs) {
      auto it = inputs.find(input.name);
      if (!is_complex(input.type) || it == inputs.end() || it->second.type != input.type) continue;
      for (bool imaginary : {false, true})
        inputs[names.part_name(input.name, imaginary)] = part_of(it->second, imaginary);
    }
  }
  // What is given for the parts, put together: join(type, re, im) for a complex tensor.
  template <class T, class F>
  std::map<Symbol, T> joined(const Algorithm& given, std::map<Symbol, T> parts, F&& join) {
    ComplexSplitter names(context);
    std::map<Symbol, T> out;
    for (const Equation& equation : given.equations)
      for (const TensorPart& part : equation.tensors())
        out[part.name] = is_complex(part.type)
                             ? join(part.type, parts.at(names.part_name(part.name, false)),
                                    parts.at(names.part_name(part.name, true)))
                             : std::move(parts.at(part.name));
    return out;
  }
};

Result<std::map<Symbol, BoundedTensor>> bounded(const Algorithm& algorithm,
                                                const Bindings& bindings, const TensorMap& inputs) {
  TILEWRIGHT_TRY(all, interpret_all(algorithm, bindings, inputs, {}, true));
  std::map<Symbol, BoundedTensor> out;
  for (auto& [name, tensor] : all.values) {
    BoundedTensor& result = out[name];
    result.bound.resize(tensor.data.size());
    const std::vector<Scalar>& low = all.low.at(name);
    const std::vector<Scalar>& high = all.high.at(name);
    for (std::size_t i = 0; i < tensor.data.size(); ++i)
      result.bound[i] = bound_of(tensor.type, tensor.data[i], low[i], high[i]);
    result.value = std::move(tensor);
  }
  return out;
}

std::vector<double> interleave(const std::vector<double>& re, const std::vector<double>& im) {
  std::vector<double> out;
  for (std::size_t i = 0; i < re.size(); ++i) out.insert(out.end(), {re[i], im[i]});
  return out;
}

}  // namespace

Result<TensorMap> interpret(const Algorithm& algorithm, const Bindings& bindings,
                            const TensorMap& inputs, const InterpretOptions& options) {
  if (!has_complex(algorithm)) {
    TILEWRIGHT_TRY(all, interpret_all(algorithm, bindings, inputs, options, false));
    return std::move(all.values);
  }
  for (const Input& input : algorithm.inputs)
    TILEWRIGHT_CHECK_OK(
        check_tensor(input.name, input.type, input.shape, bindings, inputs, input.span));
  SplitAlgorithm split(algorithm, inputs);
  TILEWRIGHT_TRY(all, interpret_all(split.algorithm, bindings, split.inputs, options, false));
  return split.joined(algorithm, std::move(all.values), join_parts);
}

Result<std::map<Symbol, BoundedTensor>> interpret_with_bound(const Algorithm& algorithm,
                                                             const Bindings& bindings,
                                                             const TensorMap& inputs) {
  if (!has_complex(algorithm)) return bounded(algorithm, bindings, inputs);
  for (const Input& input : algorithm.inputs)
    TILEWRIGHT_CHECK_OK(
        check_tensor(input.name, input.type, input.shape, bindings, inputs, input.span));
  SplitAlgorithm split(algorithm, inputs);
  TILEWRIGHT_TRY(parts, bounded(split.algorithm, bindings, split.inputs));
  return split.joined(algorithm, std::move(parts),
                      [](ScalarType type, const BoundedTensor& re, const BoundedTensor& im) {
                        return BoundedTensor{join_parts(type, re.value, im.value),
                                             interleave(re.bound, im.bound)};
                      });
}

std::optional<BoundViolation> find_violation(const BoundedTensor& reference, const Tensor& got) {
  const bool floating = holds_floats(reference.value.type);
  const bool comparable = got.type == reference.value.type && got.shape == reference.value.shape &&
                          got.data.size() == reference.value.data.size();
  BoundViolation violation;
  if (!comparable) {
    violation.expected = violation.got = std::numeric_limits<double>::quiet_NaN();
    return violation;
  }
  for (std::size_t i = 0; i < got.data.size(); ++i) {
    const double bound = reference.bound[i];
    if (std::isinf(bound)) continue;
    const Scalar a = reference.value.data[i];
    const Scalar b = got.data[i];
    const bool same = floating ? a.f == b.f : a.i == b.i;
    const double x = floating ? a.f : integer_value(got.type, a.i);
    const double y = floating ? b.f : integer_value(got.type, b.i);
    if (same || (bound > 0 && std::fabs(y - x) <= bound)) continue;
    violation.cell.resize(got.shape.size());
    auto rest = static_cast<std::int64_t>(i) / scalars_of(got.type);
    for (std::size_t d = got.shape.size(); d-- > 0; rest /= got.shape[d])
      violation.cell[d] = rest % got.shape[d];
    violation.expected = x;
    violation.got = y;
    violation.bound = bound;
    return violation;
  }
  return std::nullopt;
}

}  // namespace tilewright::ir
