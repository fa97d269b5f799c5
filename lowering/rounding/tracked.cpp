// SPDX-License-Identifier: Apache-2.0
//
// Errors are computed in f64; each formula is widened once at the end (`grown`), which covers its own roundings.
#include "lowering/rounding/tracked.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/ir/evaluate.h"

namespace tilewright::rounding {

namespace {

using ir::OpCode;
using ir::ScalarType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLn2 = 0.6931471805599453;

double grown(double error) { return error * (1 + 0x1p-40); }

// The same infinity on both sides, or no claim. `known`: there was one of each operand.
Tracked settled(Tracked out, bool known = true) {
  const double machine = out.machine.f;
  if (known && std::isinf(machine) && out.exact == static_cast<long double>(machine)) out.error = 0;
  if (std::isnan(machine) || std::isnan(out.exact) || !(out.error >= 0)) out.error = kInf;
  if (std::isinf(machine) != std::isinf(out.exact)) out.error = kInf;
  return out;
}

long double exact_math(OpCode op, long double x) {
  switch (op) {
    case OpCode::Sqrt: return std::sqrt(x);
    case OpCode::Rsqrt: return 1 / std::sqrt(x);
    case OpCode::Exp: return std::exp(x);
    case OpCode::Exp2: return std::exp2(x);
    case OpCode::Expm1: return std::expm1(x);
    case OpCode::Log: return std::log(x);
    case OpCode::Log2: return std::log2(x);
    case OpCode::Log1p: return std::log1p(x);
    case OpCode::Tanh: return std::tanh(x);
    case OpCode::Erf: return std::erf(x);
    case OpCode::Sin: return std::sin(x);
    case OpCode::Cos: return std::cos(x);
    default: return std::numeric_limits<long double>::quiet_NaN();
  }
}

// How far f(y) may be from f(x) for |y - x| <= e; `value` is at least |f(x)|.
double moved(OpCode op, double x, double value, double e) {
  if (e == 0) return 0;
  switch (op) {
    case OpCode::Sqrt: return x > e ? std::min(e / std::sqrt(x), std::sqrt(e)) : std::sqrt(x + e);
    case OpCode::Rsqrt: {
      const double low = x - e;
      return low > 0 ? e / (2 * low * std::sqrt(low)) : kInf;
    }
    case OpCode::Exp: return value * std::expm1(e);
    case OpCode::Exp2: return value * std::expm1(e * kLn2);
    case OpCode::Expm1: return (value + 1) * std::expm1(e);
    case OpCode::Log: return x > e ? e / (x - e) : kInf;
    case OpCode::Log2: return x > e ? e / (x - e) / kLn2 : kInf;
    case OpCode::Log1p: return 1 + x > e ? e / (1 + x - e) : kInf;
    case OpCode::Erf: return std::min(1.1283791670955126 * e, 2.0);
    case OpCode::Tanh:
    case OpCode::Sin:
    case OpCode::Cos: return std::min(e, 2.0);
    default: return kInf;
  }
}

}  // namespace

Tracked Arithmetic::constant(ir::Expr expr) const {
  Tracked out;
  out.machine = ir::constant_value(expr);
  if (ir::is_float(expr.type())) out = settled({out.machine, out.machine.f, 0});
  return out;
}

Tracked Arithmetic::apply(OpCode op, ScalarType type, const Tracked* a) {
  ir::Scalar args[3];
  for (int i = 0; i < ir::op_info(op).arity; ++i) args[i] = a[i].machine;
  if (ir::is_float(type) && !ir::is_comparison(op)) {
    bool known = true;
    for (int i = 0; i < ir::op_info(op).arity; ++i) known = known && std::isfinite(a[i].error);
    return settled(float_op(op, type, a), known);
  }
  Tracked out;
  out.machine = ir::evaluate_op(op, type, args, &undefined_);
  if (ir::is_float(type)) {
    const double apart = std::fabs(a[0].machine.f - a[1].machine.f);
    const bool exact = a[0].error == 0 && a[1].error == 0;
    if (!exact && !(apart > a[0].error + a[1].error)) ++near_ties_;
  }
  return out;
}

Tracked Arithmetic::float_op(OpCode op, ScalarType type, const Tracked* a) {
  ir::Scalar args[3];
  const int arity = ir::op_info(op).arity;
  for (int i = 0; i < arity; ++i) args[i] = a[i].machine;
  Tracked out;
  out.machine = ir::evaluate_op(op, type, args, &undefined_);
  const double size = std::fabs(out.machine.f);
  const Step step = rounding_step(units_, type);
  const double rounded = step.relative * size + step.absolute;
  const double x = std::fabs(a[0].machine.f);
  const double y = arity > 1 ? std::fabs(a[1].machine.f) : 0;
  const auto product = [&] {
    // A factor that is certainly zero leaves nothing, whatever the other is off by.
    if ((x == 0 && a[0].error == 0) || (y == 0 && a[1].error == 0)) return 0.0;
    return x * a[1].error + y * a[0].error + a[0].error * a[1].error;
  };
  switch (op) {
    case OpCode::Add:
    case OpCode::Sub: {
      out.exact = op == OpCode::Add ? a[0].exact + a[1].exact : a[0].exact - a[1].exact;
      // Adding zero does not round.
      const bool none = a[0].machine.f == 0 || a[1].machine.f == 0;
      // Nor does a sum underflow.
      out.error = grown(a[0].error + a[1].error +
                        (none                ? 0
                         : units_.subnormals ? step.relative * size
                                             : rounded));
      return out;
    }
    case OpCode::Mul:
      out.exact = a[0].exact * a[1].exact;
      out.error = grown(product() + (x == 0 || y == 0 ? 0 : rounded));
      return out;
    case OpCode::Fma: {
      out.exact = a[0].exact * a[1].exact + a[2].exact;
      const bool none = x == 0 || y == 0;
      const double twice = units_.fma_rounds_once ? 0 : step.relative * x * y + step.absolute;
      out.error = grown(product() + a[2].error + (none ? 0 : rounded + twice));
      return out;
    }
    case OpCode::Div: {
      out.exact = a[0].exact / a[1].exact;
      const double least = y - a[1].error;
      const double quotient = size * (1 + 2 * step.relative) + 2 * step.absolute;
      const bool none = x == 0 && a[0].error == 0;
      const double off = a[0].error == 0 && a[1].error == 0
                             ? 0
                             : (a[0].error + quotient * a[1].error) / (least > 0 ? least : 0);
      out.error = none && least > 0 ? 0 : grown(off + rounded);
      return out;
    }
    case OpCode::Neg: return {out.machine, -a[0].exact, a[0].error};
    case OpCode::Abs: return {out.machine, std::fabs(a[0].exact), a[0].error};
    case OpCode::Min:
      return {out.machine, std::min(a[0].exact, a[1].exact), std::max(a[0].error, a[1].error)};
    case OpCode::Max:
      return {out.machine, std::max(a[0].exact, a[1].exact), std::max(a[0].error, a[1].error)};
    case OpCode::Floor: return decided(a[0], [](double v) { return std::floor(v); }, out.machine);
    case OpCode::Ceil: return decided(a[0], [](double v) { return std::ceil(v); }, out.machine);
    case OpCode::Rint:
      return decided(a[0], [](double v) { return std::nearbyint(v); }, out.machine);
    default: return math(op, type, a[0]);
  }
}

Tracked Arithmetic::math(OpCode op, ScalarType type, const Tracked& a) {
  Tracked out;
  out.machine = ir::evaluate_op(op, type, &a.machine, &undefined_);
  out.exact = exact_math(op, a.exact);
  const double size = std::fabs(out.machine.f);
  const Step step = math_step(units_, op, type);
  // exp(-inf) is 0, and so are things that nobody is off by.
  if (std::isinf(a.machine.f) && a.error == 0 && out.exact == static_cast<long double>(size)) {
    out.error = 0;
    return out;
  }
  const double here = size * (1 + 2 * step.relative) + 2 * step.absolute;
  out.error = grown(moved(op, a.machine.f, here, a.error) + step.relative * size + step.absolute);
  return out;
}

template <class F>
Tracked Arithmetic::decided(const Tracked& value, F&& step, ir::Scalar outcome) {
  if (value.error > 0 && step(value.machine.f - value.error) != step(value.machine.f + value.error))
    ++near_ties_;
  return {outcome, outcome.f, 0};
}

Tracked Arithmetic::cast(ScalarType from, ScalarType to, const Tracked& value) {
  Tracked out;
  out.machine = ir::evaluate_cast(from, to, value.machine, &undefined_);
  if (!ir::is_float(to)) {
    if (ir::is_float(from)) decided(value, [](double v) { return std::trunc(v); }, {.f = 0});
    return out;
  }
  if (!ir::is_float(from)) {
    // Integers of up to 63 bits are exact in the long double.
    out.exact = from == ScalarType::U64
                    ? static_cast<long double>(static_cast<std::uint64_t>(value.machine.i))
                    : static_cast<long double>(value.machine.i);
    out.error =
        grown(static_cast<double>(std::fabs(out.exact - static_cast<long double>(out.machine.f))));
    return settled(out);
  }
  out.exact = value.exact;
  const Step step = rounding_step(units_, to);
  // Types without infinities keep what is too large at their largest number: then that is how far it is off.
  const double moved = std::fabs(out.machine.f - value.machine.f);
  const double once = std::max(moved, step.relative * std::fabs(out.machine.f) + step.absolute);
  out.error = ir::holds_all(to, from) ? value.error : grown(value.error + once);
  if (out.machine.f == value.machine.f) out.error = value.error;  // on the grid already
  return settled(out, std::isfinite(value.error));
}

Tracked Arithmetic::saturate(ScalarType from, ScalarType to, const Tracked& value) {
  Tracked out;
  out.machine = ir::evaluate_saturate(from, to, value.machine);
  if (!ir::is_float(to)) {
    if (ir::is_float(from)) decided(value, [](double v) { return std::trunc(v); }, {.f = 0});
    return out;
  }
  // The limits are part of the meaning, the rounding is not.
  const long double most = ir::largest_finite(to);
  const long double given =
      ir::is_float(from) ? value.exact
                         : static_cast<long double>(ir::integer_value(from, value.machine.i));
  out.exact = std::clamp(given, -most, most);
  const Step step = rounding_step(units_, to);
  out.error = grown((ir::is_float(from) ? value.error : 0) +
                    step.relative * std::fabs(out.machine.f) + step.absolute);
  return settled(out);
}

// The grid is part of the meaning: a decision.
Tracked Arithmetic::round_to(ScalarType type, ScalarType grid, const Tracked& value) {
  const auto step = [&](double v) {
    return ir::evaluate_round_to(type, grid, ir::Scalar{.f = v}).f;
  };
  return settled(decided(value, step, {.f = step(value.machine.f)}));
}

}  // namespace tilewright::rounding
