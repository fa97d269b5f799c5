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

// Runs the equations in order, those of a loop's body once for each of its iterations.
class Interpreter {
 public:
  Interpreter(const Algorithm& algorithm, const Bindings& bindings, const InterpretOptions& options,
              bool intervals)
      : algorithm_(algorithm),
        bindings_(bindings),
        store_(bindings_),
        steps_(options.step_limit),
        intervals_(intervals),
        mode_{intervals || options.reading == Reading::Reals, options.order.fused, intervals},
        nan_given_(mentions_nan(algorithm)) {}

  Result<Interpretation> run(const TensorMap& inputs) {
    TILEWRIGHT_CHECK_OK(check_bindings(algorithm_.extents, algorithm_.requirements, bindings_,
                                       algorithm_.requirement_spans));
    for (const Input& input : algorithm_.inputs) TILEWRIGHT_CHECK_OK(give(input, inputs));
    TILEWRIGHT_CHECK_OK(run_equations(0, algorithm_.equations.size(), 0));
    return std::move(out_);
  }

 private:
  void publish(Symbol name, const Tensor& tensor, bool certain) {
    Cells cells{name,
                tensor.type,
                tensor.shape,
                row_major(tensor.shape),
                tensor.data.data(),
                tensor.data.data(),
                tensor.data.data(),
                certain};
    if (out_.low.count(name)) {
      cells.low = out_.low.at(name).data();
      cells.high = out_.high.at(name).data();
    }
    store_.add(std::move(cells));
  }

  Result<Ok> give(const Input& input, const TensorMap& inputs) {
    TILEWRIGHT_CHECK_OK(
        check_tensor(input.name, input.type, input.shape, bindings_, inputs, input.span));
    const Tensor& given = inputs.at(input.name);
    TILEWRIGHT_CHECK_OK(check_facts(input.name, input.facts, bindings_, given, input.span));
    if (input.facts.clamp) changed_[input.name] = clamped(input.facts, bindings_, given);
    const Tensor& tensor = input.facts.clamp ? changed_[input.name] : given;
    given_[input.name] = &tensor;
    if (holds_nan(tensor)) {
      nan_given_ = true;
      if (intervals_) {
        auto& low = out_.low[input.name] = tensor.data;
        auto& high = out_.high[input.name] = tensor.data;
        for (std::size_t i = 0; i < low.size(); ++i)
          if (std::isnan(low[i].f)) no_claim(input.type, &low[i], &high[i]);
      }
    }
    publish(input.name, tensor, !is_float(input.type));
    return Ok{};
  }

  // The equations [first, last), and the loops among them from number `loop` on.
  Result<Ok> run_equations(std::size_t first, std::size_t last, std::size_t loop) {
    const auto& loops = algorithm_.loops;
    for (std::size_t i = first; i < last;) {
      while (loop < loops.size() && loops[loop].first < i) ++loop;
      if (loop < loops.size() && loops[loop].first == i) {
        TILEWRIGHT_CHECK_OK(run_loop(loop));
        i = loops[loop].last;
        continue;
      }
      TILEWRIGHT_CHECK_OK(run_one(algorithm_.equations[i++]));
    }
    return Ok{};
  }

  Result<Ok> run_one(const Equation& equation) {
    TILEWRIGHT_TRY(shape, bound_shape(equation.name, equation.shape, bindings_, equation.span));
    std::vector<EquationResult> results;
    for (const TensorPart& part : equation.tensors()) {
      Tensor& tensor = out_.values[part.name] = make_tensor(part.type, shape);
      results.push_back({&tensor, nullptr, nullptr, true});
      if (!intervals_) continue;
      results.back().low = &(out_.low[part.name] = tensor.data);
      results.back().high = &(out_.high[part.name] = tensor.data);
    }
    TILEWRIGHT_CHECK_OK(evaluate(equation, results));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const TensorPart part = equation.tensors()[i];
      const Tensor& tensor = *results[i].value;
      if (mode_.reals && !intervals_ && !nan_given_ && equation.is_output && is_float(part.type))
        TILEWRIGHT_CHECK_OK(check_defined(equation, tensor));
      publish(part.name, tensor, !intervals_ || (!is_float(part.type) && results[i].certain));
    }
    return Ok{};
  }

  Result<Ok> evaluate(const Equation& equation, std::vector<EquationResult>& results) {
    const EquationContext context{algorithm_, equation, bindings_, store_};
    const Fold* fold = equation.fold();
    if (fold && !(fold->is_plain() && fold->body[0].type() != ScalarType::Bool))
      return run_fold(context, mode_, results, &steps_);
    return run_equation(context, mode_, &results[0], &steps_);
  }

  Result<Ok> run_loop(std::size_t number) {
    const Loop& loop = algorithm_.loops[number];
    std::vector<Symbol> start, next;
    for (const Carry& carry : loop.carries) {
      start.push_back(carry.start);
      next.push_back(carry.next);
    }
    carry_on(loop, start);
    const std::int64_t trips = evaluate_extents(loop.trips, bindings_);
    for (std::int64_t l = 0; l < trips; ++l) {
      bindings_[loop.var] = l;
      if (loop.condition) {
        TILEWRIGHT_TRY(goes_on, condition(loop));
        if (goes_on == Condition::Unknown) claim_nothing(loop);
        if (goes_on != Condition::Holds) break;
      }
      // A body without operations must not run for ever.
      if (--steps_ < 0)
        return fail(Code::InterpretLimit, loop.span, "the loop takes more steps than are allowed",
                    "interpret at smaller sizes");
      TILEWRIGHT_CHECK_OK(run_equations(loop.first, loop.last, number + 1));
      carry_on(loop, next);
    }
    bindings_.erase(loop.var);
    return Ok{};
  }

  // Unknown: rounding decides, so that a program may go on or stop.
  enum class Condition : std::uint8_t { Fails, Holds, Unknown };
  Result<Condition> condition(const Loop& loop) {
    Equation test;
    test.type = ScalarType::Bool;
    test.value = loop.condition;
    test.span = loop.span;
    Tensor value = make_tensor(ScalarType::Bool, {});
    std::vector<Scalar> low = value.data;
    std::vector<Scalar> high = value.data;
    std::vector<EquationResult> results = {
        {&value, intervals_ ? &low : nullptr, intervals_ ? &high : nullptr, true}};
    TILEWRIGHT_CHECK_OK(evaluate(test, results));
    if (intervals_ && low[0].i != high[0].i) return Condition::Unknown;
    return value.data[0].i ? Condition::Holds : Condition::Fails;
  }

  const Tensor& tensor(Symbol name) const {
    const auto given = given_.find(name);
    return given == given_.end() ? out_.values.at(name) : *given->second;
  }

  // All at once: one carried tensor may go on with what another one was.
  void carry_on(const Loop& loop, const std::vector<Symbol>& from) {
    std::vector<Tensor> values;
    std::vector<std::vector<Scalar>> low, high;
    for (Symbol name : from) {
      values.push_back(tensor(name));
      const bool uncertain = out_.low.count(name) != 0;
      low.push_back(uncertain ? out_.low.at(name) : values.back().data);
      high.push_back(uncertain ? out_.high.at(name) : values.back().data);
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Symbol name = loop.carries[i].name;
      const Tensor& now = out_.values[name] = std::move(values[i]);
      if (!intervals_) {
        publish(name, now, true);
        continue;
      }
      const auto& least = out_.low[name] = std::move(low[i]);
      const auto& most = out_.high[name] = std::move(high[i]);
      bool certain = !is_float(now.type);
      for (std::size_t c = 0; certain && c < least.size(); ++c) certain = least[c].i == most[c].i;
      publish(name, now, certain);
    }
  }

  void claim_nothing(const Loop& loop) {
    for (const Carry& carry : loop.carries) {
      const Tensor& now = out_.values.at(carry.name);
      auto& low = out_.low.at(carry.name);
      auto& high = out_.high.at(carry.name);
      for (std::size_t i = 0; i < low.size(); ++i) no_claim(now.type, &low[i], &high[i]);
      publish(carry.name, now, false);
    }
  }

  const Algorithm& algorithm_;
  Bindings bindings_;  // and the variables of the loops that run
  CellStore store_;
  std::int64_t steps_;
  bool intervals_;
  EquationMode mode_;
  bool nan_given_;
  std::map<Symbol, const Tensor*> given_;
  TensorMap changed_;  // inputs that are clamped
  Interpretation out_;
};

Result<Interpretation> interpret_all(const Algorithm& algorithm, const Bindings& bindings,
                                     const TensorMap& inputs, const InterpretOptions& options,
                                     bool intervals) {
  return Interpreter(algorithm, bindings, options, intervals).run(inputs);
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
  // What is given for the parts, put together: join(type, re, im) for a complex tensor. The body of a loop that had no
  // iteration gave nothing.
  template <class T, class F>
  std::map<Symbol, T> joined(const Algorithm& given, std::map<Symbol, T> parts, F&& join) {
    ComplexSplitter names(context);
    std::map<Symbol, T> out;
    auto take = [&](Symbol name, ScalarType type) {
      const auto re = parts.find(is_complex(type) ? names.part_name(name, false) : name);
      if (re == parts.end()) return;
      out[name] = is_complex(type) ? join(type, re->second, parts.at(names.part_name(name, true)))
                                   : std::move(re->second);
    };
    for (const Equation& equation : given.equations)
      for (const TensorPart& part : equation.tensors()) take(part.name, part.type);
    for (const Loop& loop : given.loops)
      for (const Carry& carry : loop.carries) take(carry.name, *given.type_of(carry.name));
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
