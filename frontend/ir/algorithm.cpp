// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/algorithm.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "frontend/ir/context.h"
#include "frontend/ir/index_math.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {

const Fold* Equation::fold() const {
  if (!value) return nullptr;
  if (const auto* cast = value.as<Cast>()) return cast->value.as<Fold>();
  return value.as<Fold>();
}

std::vector<TensorPart> Equation::tensors() const {
  return parts.empty() ? std::vector<TensorPart>{{name, type}} : parts;
}

bool Equation::defines(Symbol tensor) const {
  if (parts.empty()) return name == tensor;
  return std::any_of(parts.begin(), parts.end(),
                     [&](const TensorPart& p) { return p.name == tensor; });
}

namespace {
template <class T>
const T* find(const std::vector<T>& values, Symbol name) {
  auto it = std::find_if(values.begin(), values.end(), [&](const T& v) { return v.name == name; });
  return it == values.end() ? nullptr : &*it;
}
}  // namespace

const Input* Algorithm::find_input(Symbol wanted) const { return find(inputs, wanted); }
const Equation* Algorithm::find_equation(Symbol wanted) const { return find(equations, wanted); }
const ExtentDecl* Algorithm::find_extent(Symbol wanted) const { return find(extents, wanted); }
const Carry* Algorithm::find_carry(Symbol wanted) const {
  for (const Loop& loop : loops)
    if (const Carry* carry = find(loop.carries, wanted)) return carry;
  return nullptr;
}

const Loop* Algorithm::find_loop(Symbol var) const {
  const auto it =
      std::find_if(loops.begin(), loops.end(), [&](const Loop& l) { return l.var == var; });
  return it == loops.end() ? nullptr : &*it;
}

const Equation* Algorithm::new_value(Symbol input) const {
  const auto it = std::find_if(equations.begin(), equations.end(), [&](const Equation& e) {
    return e.into.valid() && e.into == input;
  });
  return it == equations.end() ? nullptr : &*it;
}

Symbol Algorithm::argument_of(Symbol output) const {
  const Equation* equation = definition(output);
  return equation && equation->into.valid() ? equation->into : output;
}

std::vector<const Loop*> Algorithm::loops_around(const Equation& equation) const {
  std::vector<const Loop*> out;
  // An equation that is not this algorithm's own, such as one that a pass has rewritten, has its name.
  const Equation* own = find_equation(equation.name);
  if (!own) return out;
  for (const Loop& loop : loops)
    if (loop.holds(static_cast<std::size_t>(own - equations.data()))) out.push_back(&loop);
  return out;
}

const MonoidDecl* Algorithm::find_monoid(Symbol wanted) const { return find(monoids, wanted); }

const Equation* Algorithm::definition(Symbol tensor) const {
  const auto it = std::find_if(equations.begin(), equations.end(),
                               [&](const Equation& e) { return e.defines(tensor); });
  return it == equations.end() ? nullptr : &*it;
}

const std::vector<Expr>* Algorithm::shape_of(Symbol wanted) const {
  if (const Input* input = find_input(wanted)) return &input->shape;
  if (const Equation* equation = definition(wanted)) return &equation->shape;
  // A carried tensor is like what it starts from, which is declared before.
  const Carry* carry = find_carry(wanted);
  return carry && !(carry->start == wanted) ? shape_of(carry->start) : nullptr;
}

std::optional<ScalarType> Algorithm::type_of(Symbol wanted) const {
  if (const Input* input = find_input(wanted)) return input->type;
  if (const Equation* equation = definition(wanted))
    for (const TensorPart& part : equation->tensors())
      if (part.name == wanted) return part.type;
  const Carry* carry = find_carry(wanted);
  return carry && !(carry->start == wanted) ? type_of(carry->start) : std::nullopt;
}

void Algorithm::insert_equations(std::size_t place, const std::vector<Equation>& added) {
  equations.insert(equations.begin() + static_cast<std::ptrdiff_t>(place), added.begin(),
                   added.end());
  for (Loop& loop : loops) {
    if (loop.first > place) loop.first += added.size();
    if (loop.last > place) loop.last += added.size();
  }
}

void Algorithm::erase_equation(Symbol wanted) {
  const Equation* equation = find_equation(wanted);
  if (!equation) return;
  const auto place = static_cast<std::size_t>(equation - equations.data());
  equations.erase(equations.begin() + static_cast<std::ptrdiff_t>(place));
  for (Loop& loop : loops) {
    if (loop.first > place) --loop.first;
    if (loop.last > place) --loop.last;
  }
}

bool Algorithm::is_used(const Equation& equation) const {
  const auto reads_it = [&](Expr expr) {
    const auto found = reads(expr);
    return std::any_of(found.begin(), found.end(),
                       [&](const Read* read) { return equation.defines(read->tensor); });
  };
  return std::any_of(equations.begin(), equations.end(),
                     [&](const Equation& reader) { return reads_it(reader.value); }) ||
         std::any_of(loops.begin(), loops.end(), [&](const Loop& loop) {
           return (loop.condition && reads_it(loop.condition)) ||
                  std::any_of(loop.carries.begin(), loop.carries.end(), [&](const Carry& carry) {
                    return equation.defines(carry.start) || equation.defines(carry.next);
                  });
         });
}

std::vector<const Equation*> Algorithm::outputs() const {
  std::vector<const Equation*> out;
  for (const Equation& equation : equations)
    if (equation.is_output) out.push_back(&equation);
  return out;
}

std::vector<TensorPart> Algorithm::output_tensors() const {
  std::vector<TensorPart> out;
  for (const Equation* equation : outputs())
    for (const TensorPart& part : equation->tensors()) out.push_back(part);
  return out;
}

bool operator==(const Algorithm& a, const Algorithm& b) {
  auto same_extent = [](const ExtentDecl& x, const ExtentDecl& y) {
    return x.name == y.name && x.min == y.min && x.max == y.max && x.multiple_of == y.multiple_of;
  };
  auto same_input = [](const Input& x, const Input& y) {
    return x.name == y.name && x.type == y.type && x.shape == y.shape && x.facts == y.facts &&
           x.is_const == y.is_const;
  };
  auto same_monoid = [](const MonoidDecl& x, const MonoidDecl& y) {
    return x.name == y.name && x.fields == y.fields && x.types == y.types &&
           x.identity == y.identity && x.left == y.left && x.right == y.right &&
           x.combine == y.combine && x.commutative == y.commutative;
  };
  auto same_equation = [](const Equation& x, const Equation& y) {
    return x.name == y.name && x.indices == y.indices && x.shape == y.shape && x.type == y.type &&
           x.parts == y.parts && x.value == y.value && x.is_output == y.is_output &&
           x.is_view == y.is_view && x.into == y.into;
  };
  auto same_loop = [](const Loop& x, const Loop& y) {
    return x.var == y.var && x.trips == y.trips && x.condition == y.condition &&
           x.carries == y.carries && x.first == y.first && x.last == y.last;
  };
  return a.name == b.name && a.requirements == b.requirements &&
         std::equal(a.extents.begin(), a.extents.end(), b.extents.begin(), b.extents.end(),
                    same_extent) &&
         std::equal(a.monoids.begin(), a.monoids.end(), b.monoids.begin(), b.monoids.end(),
                    same_monoid) &&
         std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(),
                    same_input) &&
         std::equal(a.equations.begin(), a.equations.end(), b.equations.begin(), b.equations.end(),
                    same_equation) &&
         std::equal(a.loops.begin(), a.loops.end(), b.loops.begin(), b.loops.end(), same_loop);
}

Algorithm in_scope(Context& context, const Algorithm& algorithm,
                   const std::vector<const Loop*>& loops) {
  Algorithm out = algorithm;
  for (const Loop* loop : loops) {
    out.extents.push_back({loop->var, 0, std::nullopt, 1, loop->span});
    out.requirements.push_back(
        context.lt(context.extent(loop->var), copy_into(context, loop->trips)));
    out.requirement_spans.resize(out.requirements.size(), loop->span);
  }
  return out;
}

namespace {

// Beyond 64 bits the nearest value that there is: as a shape it is refused as too large.
std::int64_t evaluate_extents_op(OpCode op, std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t exact = 0;
  switch (op) {
    case OpCode::Add:
      return __builtin_add_overflow(a, b, &exact) ? (a < 0 ? Limits::min() : Limits::max()) : exact;
    case OpCode::Sub:
      return __builtin_sub_overflow(a, b, &exact) ? (a < 0 ? Limits::min() : Limits::max()) : exact;
    case OpCode::Mul:
      if (!__builtin_mul_overflow(a, b, &exact)) return exact;
      return (a < 0) != (b < 0) ? Limits::min() : Limits::max();
    case OpCode::Div: return b == 0 ? 0 : floor_div(a, b);
    case OpCode::Mod: return b == 0 ? 0 : floor_mod(a, b);
    case OpCode::Min: return std::min(a, b);
    case OpCode::Max: return std::max(a, b);
    case OpCode::Eq: return a == b;
    case OpCode::Ne: return a != b;
    case OpCode::Lt: return a < b;
    case OpCode::Le: return a <= b;
    case OpCode::Gt: return a > b;
    case OpCode::Ge: return a >= b;
    case OpCode::And: return a != 0 && b != 0;
    case OpCode::Or: return a != 0 || b != 0;
    default: return 0;
  }
}

}  // namespace

std::int64_t evaluate_extents(Expr expr, const Bindings& bindings) {
  if (const auto* known = expr.as<IntConst>()) return known->value;
  if (const auto* known = expr.as<BoolConst>()) return known->value;
  if (const auto* extent = expr.as<Extent>()) return bindings.at(extent->name);
  if (const auto* choice = expr.as<Select>())
    return evaluate_extents(choice->condition, bindings)
               ? evaluate_extents(choice->then_value, bindings)
               : evaluate_extents(choice->else_value, bindings);
  const auto* op = expr.as<Op>();
  if (!op) return 0;
  const std::int64_t a = evaluate_extents(op->args[0], bindings);
  if (op->args.size() == 1)
    return op->op == OpCode::Neg   ? -a
           : op->op == OpCode::Not ? a == 0
           : op->op == OpCode::Abs ? std::abs(a)
                                   : 0;
  return evaluate_extents_op(op->op, a, evaluate_extents(op->args[1], bindings));
}

}  // namespace tilewright::ir
