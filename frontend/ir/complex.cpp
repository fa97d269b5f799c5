// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/complex.h"

#include <algorithm>
#include <limits>
#include <string>

#include "frontend/ir/walk.h"

namespace tilewright::ir {

Symbol ComplexSplitter::part_name(Symbol name, bool imaginary) {
  return to_.symbol(std::string(name.text()) + (imaginary ? "'im" : "'re"));
}

// What has no children is made anew, since its node may belong to another context.
Expr ComplexSplitter::leaf(Expr expr) {
  if (const auto* n = expr.as<IntConst>()) return to_.integer(n->type, n->value);
  if (const auto* n = expr.as<FloatConst>()) return to_.real(n->type, n->value);
  if (const auto* n = expr.as<BoolConst>()) return to_.boolean(n->value);
  if (const auto* n = expr.as<Var>()) return to_.var(n->name, n->type);
  if (const auto* n = expr.as<Extent>()) return to_.extent(n->name);
  return {};
}

Expr ComplexSplitter::real(Expr expr) {
  if (auto it = reals_.find(expr.index()); it != reals_.end()) return it->second;
  Expr out = leaf(expr);
  const auto* op = expr.as<Op>();
  if (!out && op && is_complex(op->args[0].type())) out = real_op(expr, *op);
  if (!out) out = rebuild(to_, expr, [&](Expr child) { return real(child); });
  reals_.emplace(expr.index(), out);
  return out;
}

Expr ComplexSplitter::real_op(Expr, const Op& op) {
  const Parts z = parts(op.args[0]);
  switch (op.op) {
    case OpCode::Re: return z.re;
    case OpCode::Im: return z.im;
    case OpCode::Abs: return magnitude(z);
    default: break;
  }
  const Parts w = parts(op.args[1]);
  const Expr re = to_.op(op.op, {z.re, w.re});
  const Expr im = to_.op(op.op, {z.im, w.im});
  return to_.op(op.op == OpCode::Eq ? OpCode::And : OpCode::Or, {re, im});
}

Parts ComplexSplitter::parts(Expr expr) {
  if (auto it = parts_.find(expr.index()); it != parts_.end()) return it->second;
  const Parts out = split(expr);
  parts_.emplace(expr.index(), out);
  return out;
}

Parts ComplexSplitter::split(Expr expr) {
  const ScalarType part = part_type(expr.type());
  if (const auto* read = expr.as<Read>()) {
    std::vector<Expr> indices;
    for (Expr index : read->indices) indices.push_back(real(index));
    return {to_.read(part_name(read->tensor, false), indices, part),
            to_.read(part_name(read->tensor, true), indices, part)};
  }
  if (const auto* var = expr.as<Var>())
    return {to_.var(part_name(var->name, false), part), to_.var(part_name(var->name, true), part)};
  if (const auto* choice = expr.as<Select>()) {
    const Expr condition = real(choice->condition);
    const Parts a = parts(choice->then_value);
    const Parts b = parts(choice->else_value);
    return {to_.select(condition, a.re, b.re), to_.select(condition, a.im, b.im)};
  }
  if (const auto* cast = expr.as<Cast>()) {
    if (!is_complex(cast->value.type()))
      return {to_.cast(part, real(cast->value)), to_.real(part, 0)};
    const Parts z = parts(cast->value);
    return {to_.cast(part, z.re), to_.cast(part, z.im)};
  }
  if (const auto* fold = expr.as<Fold>()) {
    const Parts body = parts(fold->body);
    auto with = [&](Expr value) {
      return rebuild(to_, expr,
                     [&](Expr child) { return child == fold->body ? value : real(child); });
    };
    return {with(body.re), with(body.im)};
  }
  return split_op(*expr.as<Op>());
}

Parts ComplexSplitter::split_op(const Op& op) {
  if (op.op == OpCode::Complex) return {real(op.args[0]), real(op.args[1])};
  const Parts z = parts(op.args[0]);
  auto negative = [&](Expr x) { return to_.op(OpCode::Neg, {x}); };
  if (op.op == OpCode::Conj) return {z.re, negative(z.im)};
  if (op.op == OpCode::Neg) return {negative(z.re), negative(z.im)};
  const Parts w = parts(op.args[1]);
  if (op.op == OpCode::Mul) return multiply(z, w);
  if (op.op == OpCode::Div) return divide(z, w);
  return {to_.op(op.op, {z.re, w.re}), to_.op(op.op, {z.im, w.im})};
}

Parts ComplexSplitter::multiply(const Parts& z, const Parts& w) {
  return {to_.sub(to_.mul(z.re, w.re), to_.mul(z.im, w.im)),
          to_.add(to_.mul(z.re, w.im), to_.mul(z.im, w.re))};
}

Parts ComplexSplitter::divide(const Parts& z, const Parts& w) {
  auto size = [&](Expr x) { return to_.op(OpCode::Abs, {x}); };
  auto quotient = [&](Expr x, Expr y) { return to_.op(OpCode::Div, {x, y}); };
  const Expr first = to_.op(OpCode::Ge, {size(w.re), size(w.im)});
  const Expr r = quotient(to_.select(first, w.im, w.re), to_.select(first, w.re, w.im));
  const Expr e = to_.select(first, to_.add(w.re, to_.mul(w.im, r)),
                            to_.add(to_.mul(w.re, r), w.im));
  const Expr re = to_.select(first, to_.add(z.re, to_.mul(z.im, r)),
                             to_.add(to_.mul(z.re, r), z.im));
  const Expr im = to_.select(first, to_.sub(z.im, to_.mul(z.re, r)),
                             to_.sub(to_.mul(z.im, r), z.re));
  return {quotient(re, e), quotient(im, e)};
}

Expr ComplexSplitter::magnitude(const Parts& z) {
  const ScalarType part = z.re.type();
  const Expr a = to_.op(OpCode::Abs, {z.re});
  const Expr b = to_.op(OpCode::Abs, {z.im});
  const Expr larger = to_.select(to_.op(OpCode::Ge, {a, b}), a, b);
  const Expr smaller = to_.select(to_.op(OpCode::Ge, {a, b}), b, a);
  const Expr ratio = to_.op(OpCode::Div, {smaller, larger});
  const Expr root = to_.op(
      OpCode::Sqrt, {to_.add(to_.real(part, 1), to_.mul(ratio, ratio))});
  const Expr infinite = to_.op(
      OpCode::Eq, {larger, to_.real(part, std::numeric_limits<double>::infinity())});
  const Expr zero = to_.op(OpCode::Eq, {smaller, to_.real(part, 0)});
  return to_.select(to_.op(OpCode::Or, {zero, infinite}), larger, to_.mul(larger, root));
}

bool has_complex(const Algorithm& algorithm) {
  bool found = false;
  for (const Input& input : algorithm.inputs) found |= is_complex(input.type);
  for (const Equation& equation : algorithm.equations) {
    found |= is_complex(equation.type);
    walk(equation.value, [&](Expr e) { found |= is_complex(e.type()); });
  }
  return found;
}

Algorithm split_complex(Context& to, const Algorithm& algorithm) {
  ComplexSplitter splitter(to);
  Algorithm out = algorithm;
  auto reals = [&](std::vector<Expr>& exprs) {
    for (Expr& e : exprs) e = splitter.real(e);
  };
  reals(out.requirements);
  out.inputs.clear();
  for (Input input : algorithm.inputs) {
    reals(input.shape);
    if (!is_complex(input.type)) {
      out.inputs.push_back(std::move(input));
      continue;
    }
    const Symbol name = input.name;
    input.type = part_type(input.type);
    for (bool imaginary : {false, true}) {
      input.name = splitter.part_name(name, imaginary);
      out.inputs.push_back(input);
    }
  }
  out.equations.clear();
  for (Equation equation : algorithm.equations) {
    reals(equation.shape);
    if (!is_complex(equation.type)) {
      equation.value = splitter.real(equation.value);
      out.equations.push_back(std::move(equation));
      continue;
    }
    const Symbol name = equation.name;
    const Parts value = splitter.parts(equation.value);
    equation.type = part_type(equation.type);
    for (bool imaginary : {false, true}) {
      equation.name = splitter.part_name(name, imaginary);
      equation.value = imaginary ? value.im : value.re;
      out.equations.push_back(equation);
    }
  }
  return out;
}

Tensor part_of(const Tensor& tensor, bool imaginary) {
  Tensor out = make_tensor(part_type(tensor.type), tensor.shape);
  for (std::size_t i = 0; i < out.data.size(); ++i)
    out.data[i] = tensor.data[2 * i + (imaginary ? 1 : 0)];
  return out;
}

Tensor join_parts(ScalarType type, const Tensor& re, const Tensor& im) {
  Tensor out = make_tensor(type, re.shape);
  for (std::size_t i = 0; i < re.data.size(); ++i) {
    out.data[2 * i] = re.data[i];
    out.data[2 * i + 1] = im.data[i];
  }
  return out;
}

}  // namespace tilewright::ir
