// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/facts.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "frontend/ir/given.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

// Either end may be unknown: null.
using Range = ValueRange;
using Variables = std::unordered_map<Symbol, Range>;

std::optional<std::int64_t> constant(Expr e) {
  const auto* known = e.as<IntConst>();
  return known ? std::optional(known->value) : std::nullopt;
}

// Interval arithmetic over expressions. Integers are followed as far as nothing can wrap.
class RangeFinder {
 public:
  RangeFinder(Context& context, const Algorithm& algorithm)
      : context_(context), algorithm_(algorithm) {}

  // `vars`: what stands for variables; null: themselves.
  Range of(Expr e, const Variables* vars) {
    Range out = found(e, vars);
    // What no one declares: a narrow type bounds its own values.
    if (is_integer(e.type()) && type_info(e.type()).width <= 16) {
      if (!out.low) out.low = context_.index(lowest_integer(e.type()));
      if (!out.high) out.high = context_.index(greatest_integer(e.type()));
    }
    return out;
  }

 private:
  Range found(Expr e, const Variables* vars) {
    if (const auto* known = e.as<IntConst>()) return point(context_.index(known->value));
    if (e.as<Extent>()) return point(e);
    if (const auto* var = e.as<Var>()) {
      // A value of a recurrence is no index.
      if (e.type() != ScalarType::Index) return {};
      if (!vars) return point(e);
      const auto it = vars->find(var->name);
      return it == vars->end() ? Range{} : it->second;
    }
    if (const auto* read = e.as<Read>()) return of_tensor(read->tensor);
    if (const auto* cast = e.as<Cast>()) return of_cast(*cast, vars);
    if (const auto* choice = e.as<Select>())
      return hull(of(choice->then_value, vars), of(choice->else_value, vars));
    const auto* op = e.as<Op>();
    return op ? of_op(*op, vars) : Range{};
  }

  static Range point(Expr e) { return {e, e}; }

  Range hull(const Range& a, const Range& b) {
    return {a.low && b.low ? context_.min(a.low, b.low) : Expr(),
            a.high && b.high ? context_.max(a.high, b.high) : Expr()};
  }

  Range of_cast(const Cast& cast, const Variables* vars) {
    const ScalarType from = cast.value.type();
    const bool whole = from == ScalarType::Index || is_integer(from);
    // Every index is an i64, and an integer is one of any wider type.
    const bool holds =
        cast.type == ScalarType::Index || cast.type == ScalarType::I64 ||
        (is_integer(cast.type) && is_integer(from) && size_bytes(from) <= size_bytes(cast.type));
    return whole && holds ? of(cast.value, vars) : Range{};
  }

  // Of both ends, where they are known.
  template <class F>
  static Range each(const Range& a, F&& f) {
    return {a.low ? f(a.low) : Expr(), a.high ? f(a.high) : Expr()};
  }

  Range of_op(const Op& op, const Variables* vars) {
    const bool index = op.type == ScalarType::Index;
    if (!index && !is_integer(op.type)) return {};
    const bool two = op.args.size() > 1;
    const Range a = of(op.args[0], vars);
    const Range b = two ? of(op.args[1], vars) : Range{};
    const auto factor = two ? constant(op.args[1]) : std::nullopt;
    switch (op.op) {
      case OpCode::Mod:
        if (factor.value_or(0) <= 0) return {};
        return {context_.index(0), context_.index(*factor - 1)};
      case OpCode::Min:
      case OpCode::Max: return of_choice(op.op, a, b);
      case OpCode::Div:
        if (factor.value_or(0) <= 0) return {};
        return each(a, [&](Expr e) { return context_.floor_div(e, context_.index(*factor)); });
      default: return index ? of_index_op(op, a, b) : Range{};
    }
  }

  Range of_index_op(const Op& op, const Range& a, const Range& b) {
    const auto sum = [&](Expr x, Expr y) { return x && y ? context_.add(x, y) : Expr(); };
    const auto difference = [&](Expr x, Expr y) { return x && y ? context_.sub(x, y) : Expr(); };
    switch (op.op) {
      case OpCode::Neg: {
        const Range out = each(a, [&](Expr e) { return context_.op(OpCode::Neg, {e}); });
        return {out.high, out.low};
      }
      case OpCode::Add: return {sum(a.low, b.low), sum(a.high, b.high)};
      case OpCode::Sub: return {difference(a.low, b.high), difference(a.high, b.low)};
      case OpCode::Mul: {
        const auto left = constant(op.args[0]);
        const auto right = constant(op.args[1]);
        if (!left && !right) return {};
        const std::int64_t by = left ? *left : *right;
        const Range out =
            each(left ? b : a, [&](Expr e) { return context_.mul(e, context_.index(by)); });
        return by < 0 ? Range{out.high, out.low} : out;
      }
      default: return {};
    }
  }

  // A minimum is at most either side; it is at least something when both are.
  Range of_choice(OpCode op, const Range& a, const Range& b) {
    const auto both = [&](Expr x, Expr y) { return x && y ? context_.op(op, {x, y}) : Expr(); };
    const auto either = [&](Expr x, Expr y) {
      return x && y ? context_.op(op, {x, y}) : x ? x : y;
    };
    if (op == OpCode::Min) return {both(a.low, b.low), either(a.high, b.high)};
    return {either(a.low, b.low), both(a.high, b.high)};
  }

  // Over all cells of the tensor: in extents alone.
  Range of_tensor(Symbol tensor) {
    if (const Input* input = algorithm_.find_input(tensor)) {
      if (!input->facts.lower) return {};
      return {copy_into(context_, input->facts.lower),
              context_.sub(copy_into(context_, input->facts.upper), context_.index(1))};
    }
    const auto known = tensors_.find(tensor);
    if (known != tensors_.end()) return known->second;
    tensors_[tensor] = {};
    const Equation* equation = algorithm_.definition(tensor);
    return tensors_[tensor] = equation ? of_equation(*equation, tensor) : Range{};
  }

  Range of_equation(const Equation& equation, Symbol tensor) {
    Variables vars;
    for (std::size_t i = 0; i < equation.indices.size(); ++i)
      vars[equation.indices[i]] = {
          context_.index(0),
          context_.sub(copy_into(context_, equation.shape[i]), context_.index(1))};
    const Fold* fold = equation.fold();
    if (!fold) return of(copy_into(context_, equation.value), &vars);
    // The last of several values is one of them.
    const bool last = fold->monoid_kind() == Monoid::Last && fold->state.empty() &&
                      fold->body.size() == 1 && equation.name == tensor;
    if (!last) return {};
    const Range base = of(copy_into(context_, fold->base[0]), &vars);
    for (std::size_t i = 0; i < fold->vars.size(); ++i) {
      const Expr high = of(copy_into(context_, fold->upper[i]), &vars).high;
      vars[fold->vars[i]] = {of(copy_into(context_, fold->lower[i]), &vars).low,
                             high ? context_.sub(high, context_.index(1)) : Expr()};
    }
    return hull(base, of(copy_into(context_, fold->body[0]), &vars));
  }

  Context& context_;
  const Algorithm& algorithm_;
  std::unordered_map<Symbol, Range> tensors_;
};

struct Bounds {
  std::int64_t lower;
  std::int64_t upper;  // exclusive
};

Bounds bounds_of(const Facts& facts, const Bindings& bindings) {
  return {evaluate_extents(facts.lower, bindings), evaluate_extents(facts.upper, bindings)};
}

}  // namespace

std::optional<ValueRange> value_range(Context& context, const Algorithm& algorithm, Expr expr) {
  const Range found = RangeFinder(context, algorithm).of(copy_into(context, expr), nullptr);
  return found.low && found.high ? std::optional(found) : std::nullopt;
}

bool depends_on_data(Expr expr) { return !reads(expr).empty(); }

Result<Ok> check_facts(Symbol name, const Facts& facts, const Bindings& bindings,
                       const Tensor& tensor, Span span) {
  if (!facts.any() || tensor.data.empty()) return Ok{};
  const std::string shown = "`" + std::string(name.text()) + "`";
  auto broken = [&](std::size_t at, std::string message) {
    Diagnostic out{Code::FactBroken,
                   span,
                   std::move(message),
                   "give values that have what is declared of them",
                   {},
                   {}};
    std::vector<std::int64_t> cell(tensor.shape.size());
    auto rest = static_cast<std::int64_t>(at);
    for (std::size_t d = cell.size(); d-- > 0; rest /= tensor.shape[d])
      cell[d] = rest % tensor.shape[d];
    out.evidence.emplace_back("cell", std::string(name.text()) + shape_text(cell));
    out.evidence.emplace_back("value", std::to_string(tensor.data[at].i));
    return fail(std::move(out));
  };
  Bounds bounds{0, 0};
  if (facts.lower) bounds = bounds_of(facts, bindings);
  const std::string range = std::to_string(bounds.lower) + " .. " + std::to_string(bounds.upper);
  if (facts.clamp && bounds.lower >= bounds.upper)
    return broken(
        0, "the range " + range + " of " + shown + " is empty, so nothing can be clamped to it");
  if (facts.assumed) return Ok{};
  const auto row = static_cast<std::size_t>(tensor.shape.empty() ? 1 : tensor.shape.back());
  std::unordered_set<std::int64_t> seen;
  for (std::size_t i = 0; i < tensor.data.size(); ++i) {
    const std::int64_t value = tensor.data[i].i;
    if (i % row == 0) seen.clear();
    if (facts.lower && !facts.clamp && (value < bounds.lower || value >= bounds.upper))
      return broken(i, "a value of " + shown + " is outside of its range " + range);
    if (facts.monotone && i % row != 0 && value < tensor.data[i - 1].i)
      return broken(i, "the values of " + shown + " fall, which are declared `monotone`");
    if (facts.injective && !seen.insert(value).second)
      return broken(
          i, "a value of " + shown + " stands twice in a row, which is declared `injective`");
  }
  return Ok{};
}

Tensor clamped(const Facts& facts, const Bindings& bindings, Tensor tensor) {
  const Bounds bounds = bounds_of(facts, bindings);
  for (Scalar& cell : tensor.data)
    cell.i = std::max(bounds.lower, std::min(cell.i, bounds.upper - 1));
  return tensor;
}

Expr clamped_read(Context& context, const Facts& facts, Expr read) {
  const Expr last = context.sub(facts.upper, context.index(1));
  const Expr index = context.cast(ScalarType::Index, read);
  return context.cast(read.type(), context.max(context.min(index, last), facts.lower));
}

}  // namespace tilewright::ir
