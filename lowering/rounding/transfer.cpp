// SPDX-License-Identifier: Apache-2.0
#include "lowering/rounding/transfer.h"

#include <algorithm>
#include <cmath>

namespace tilewright::rounding {

namespace {

using ir::Expr;
using ir::OpCode;
using ir::ScalarType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLn2 = 0.69314718055994531;

Formula unbounded() { return Formula::name("unbounded"); }

bool is_own(const Bound& a) { return !a.own_size.is_zero() || !a.own_error.is_zero(); }

Bound joined(const Bound& a, const Bound& b) {
  Bound out;
  out.size = Formula::larger(a.size, b.size);
  out.error = Formula::larger(a.error, b.error);
  out.own_size = Formula::larger(a.own_size, b.own_size);
  out.own_error = Formula::larger(a.own_error, b.own_error);
  out.least = std::min(a.least, b.least);
  out.most = std::max(a.most, b.most);
  out.grows = (is_own(a) && a.grows) || (is_own(b) && b.grows);
  return out;
}

// Steps of the exact value that end where the argument does not go on.
Bound ended(const Bound& a) {
  Bound out = a;
  if (!a.own_error.is_zero()) out.error = unbounded();
  out.own_size = 0.0;
  out.own_error = 0.0;
  return out;
}

double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

}  // namespace

Expr Transfer::resolved(Expr expr) const {
  while (const auto* var = expr.as<ir::Var>()) {
    const auto found = lets_.find(var->name);
    if (found == lets_.end()) break;
    expr = found->second;
  }
  return expr;
}

Formula Transfer::fact(Fact::Kind kind, Expr operation, const std::string& statement) {
  auto [at, fresh] = facts_.try_emplace(operation.node());
  if (fresh) {
    at->second =
        (kind == Fact::Kind::Most ? "most" : "least") + std::to_string(out_.facts.size() + 1);
    out_.facts.push_back({kind, at->second, operation, statement});
  }
  return Formula::name(at->second);
}

// What is known without the data, or with it where that is little.
Formula Transfer::at_least(double known, Fact::Kind kind, Expr operation,
                           const std::string& statement) {
  if (known >= 1) return {known};
  const Formula data = fact(kind, operation, statement);
  return known > 0 ? Formula::larger(known, data) : data;
}

void Transfer::limit(const Bound& value, ScalarType type) {
  if (!value.own_size.is_zero()) return;  // looked at again once the sizes are known
  const Formula all = value.size + value.error + value.own_error * own_error_;
  if (all.is_number() && all.number() <= ir::largest_finite(type)) return;
  out_.ranges.push_back({all, ir::largest_finite(type)});
}

// The computed result is within relative of the exact result of the computed operands.
Bound Transfer::rounded(Bound exact, const Step& step, ScalarType type) {
  const double r = step.relative * (1 + 4 * step.relative);
  exact.error = exact.error * (1 + r) + exact.size * r + Formula(step.absolute);
  exact.own_error = exact.own_error * (1 + r);
  limit(exact, type);
  return exact;
}

Bound Transfer::integer(Expr expr) const {
  Bound out;
  const ScalarType type = expr.type();
  if (type == ScalarType::Index) {
    out.size = names_.index_size(expr);
    out.least = names_.index_least(expr);
    return out;
  }
  if (const auto* c = expr.as<ir::IntConst>(); c && type != ScalarType::U64) {
    const auto value = static_cast<double>(c->value);
    return {std::fabs(value), 0.0, 0.0, 0.0, value, value, false};
  }
  if (!ir::is_integer(type)) return {1.0, 0.0, 0.0, 0.0, 0, 1, false};
  const double far = std::ldexp(1.0, ir::type_info(type).width - (ir::is_unsigned(type) ? 0 : 1));
  return {far, 0.0, 0.0, 0.0, ir::is_unsigned(type) ? 0 : -far, far, false};
}

Bound Transfer::of(Expr expr, const std::string& statement) {
  const ScalarType type = expr.type();
  if (!ir::is_float(type)) return integer(expr);
  if (const auto* c = expr.as<ir::FloatConst>()) {
    // An infinity is a mask: it stays what it is, or makes its result so, and is off by nothing.
    if (std::isinf(c->value)) return {0.0, 0.0, 0.0, 0.0, c->value, c->value, false};
    return {std::fabs(c->value), 0.0, 0.0, 0.0, c->value, c->value, false};
  }
  if (expr.as<ir::Var>()) {
    const Expr value = resolved(expr);
    return value == expr ? Bound{unbounded(), unbounded(), 0.0, 0.0} : of(value, statement);
  }
  if (const auto* read = expr.as<ir::Read>()) return names_.read(*read);
  if (const auto* select = expr.as<ir::Select>())
    return joined(of(select->then_value, statement), of(select->else_value, statement));
  if (const auto* cast = expr.as<ir::Cast>()) {
    Bound value = of(cast->value, statement);
    if (ir::is_float(cast->value.type()) && ir::holds_all(type, cast->value.type())) return value;
    const bool small = !ir::is_float(cast->value.type()) && value.size.is_number() &&
                       value.size.number() * ir::unit_roundoff(type) <= 1;
    return small ? value : rounded(value, rounding_step(units_, type), type);
  }
  if (const auto* one = expr.as<ir::Saturate>()) {
    Bound value = of(one->value, statement);
    value.size = Formula::smaller(value.size, ir::largest_finite(type));
    return rounded(value, rounding_step(units_, type), type);
  }
  if (const auto* one = expr.as<ir::RoundTo>()) {
    // A decision: the exact value is what the run chose.
    Bound value = of(one->value, statement);
    const Step step = rounding_step(units_, one->grid);
    Bound out = ended(value);
    out.size = (value.size + value.error) * (1 + 2 * step.relative) + Formula(step.absolute);
    out.error = is_own(value) ? unbounded() : Formula(0.0);
    out.least = value.least >= 0 ? 0 : -kInf;
    out.most = kInf;
    return out;
  }
  if (const auto* one = expr.as<ir::Op>()) return op(*one, statement);
  return {unbounded(), unbounded(), 0.0, 0.0};
}

Bound Transfer::op(const ir::Op& node, const std::string& statement) {
  const ScalarType type = node.type;
  const Step step = rounding_step(units_, type);
  std::vector<Bound> a;
  for (Expr arg : node.args) a.push_back(of(arg, statement));
  Bound out;
  switch (node.op) {
    case OpCode::Add:
    case OpCode::Sub: {
      const bool minus = node.op == OpCode::Sub;
      out.size = a[0].size + a[1].size;
      out.error = a[0].error + a[1].error;
      out.own_size = a[0].own_size + a[1].own_size;
      out.own_error = a[0].own_error + a[1].own_error;
      out.least = a[0].least + (minus ? -a[1].most : a[1].least);
      out.most = a[0].most + (minus ? -a[1].least : a[1].most);
      if (std::isnan(out.least)) out.least = -kInf;
      if (std::isnan(out.most)) out.most = kInf;
      out.grows = true;
      // x - max(x, y) is at most 0.
      if (const auto* max = resolved(node.args[1]).as<ir::Op>();
          minus && max && max->op == OpCode::Max &&
          std::find(max->args.begin(), max->args.end(), node.args[0]) != max->args.end())
        out.most = std::min(out.most, 0.0);
      return rounded(out, step, type);
    }
    case OpCode::Fma:
    case OpCode::Mul: {
      if (is_own(a[0]) && is_own(a[1])) return {unbounded(), unbounded(), 0.0, 0.0};
      out.size = a[0].size * a[1].size;
      out.own_size = a[0].own_size * a[1].size + a[1].own_size * a[0].size;
      out.error = a[0].size * a[1].error + a[1].size * a[0].error + a[0].error * a[1].error;
      out.own_error =
          a[0].own_error * (a[1].size + a[1].error) + a[1].own_error * (a[0].size + a[0].error);
      const bool square = node.args[0] == node.args[1];
      if (square || (a[0].least >= 0 && a[1].least >= 0)) {
        out.least = square ? 0 : times(a[0].least, a[1].least);
        out.most = times(a[0].most, a[1].most);
        if (square) out.most = kInf;
      }
      out.grows = a[0].grows || a[1].grows;
      if (node.op == OpCode::Mul) return rounded(out, step, type);
      if (!units_.fma_rounds_once) out = rounded(out, step, type);
      out.size = out.size + a[2].size;
      out.error = out.error + a[2].error;
      out.own_size = out.own_size + a[2].own_size;
      out.own_error = out.own_error + a[2].own_error;
      out.least += a[2].least;
      out.most += a[2].most;
      out.grows = true;
      return rounded(out, step, type);
    }
    case OpCode::Div: return quotient(node, a[0], a[1], statement);
    case OpCode::Neg:
      out = a[0];
      out.least = -a[0].most;
      out.most = -a[0].least;
      return out;
    case OpCode::Abs:
      out = a[0];
      out.least = std::max(a[0].least, 0.0);
      out.most = std::max(std::fabs(a[0].least), std::fabs(a[0].most));
      return out;
    case OpCode::Max:
      out = joined(a[0], a[1]);
      out.least = std::max(a[0].least, a[1].least);
      return out;
    case OpCode::Min:
      out = joined(a[0], a[1]);
      out.most = std::min(a[0].most, a[1].most);
      return out;
    case OpCode::Floor:
    case OpCode::Ceil:
    case OpCode::Rint:
      out = ended(a[0]);
      out.size = a[0].size + a[0].error + Formula(1.0);
      out.error = is_own(a[0]) ? unbounded() : Formula(0.0);
      out.least = a[0].least >= 0 ? 0 : -kInf;
      out.most = kInf;
      return out;
    default: return math(node, a[0], statement);
  }
}

// |a/b - a'/b'| <= (e_a + |a/b| e_b) / |b'|.
Bound Transfer::quotient(const ir::Op& node, const Bound& a, const Bound& b,
                         const std::string& statement) {
  // An extent is as large as it is.
  const auto* cast = resolved(node.args[1]).as<ir::Cast>();
  const Formula least =
      cast && cast->value.as<ir::Extent>()
          ? b.size
          : at_least(std::max(b.least, -b.most), Fact::Kind::Least, Expr(&node), statement);
  if (is_own(b)) return {unbounded(), unbounded(), 0.0, 0.0};
  const Formula left = least - b.error;
  Bound out;
  out.size = a.size / least;
  out.own_size = a.own_size / least;
  out.error = (a.error + out.size * b.error) / left;
  out.own_error = a.own_error / left;
  if (a.least >= 0 && b.least >= 0) out.least = 0;
  out.grows = a.grows;
  return rounded(out, rounding_step(units_, node.type), node.type);
}

Bound Transfer::math(const ir::Op& node, const Bound& a, const std::string& statement) {
  const Step step = math_step(units_, node.op, node.type);
  const Expr self(&node);
  Bound out;
  const auto least = [&] { return at_least(a.least, Fact::Kind::Least, self, statement); };
  const Bound in = ended(a);
  switch (node.op) {
    case OpCode::Exp:
    case OpCode::Exp2: {
      const double scale = node.op == OpCode::Exp ? 1 : kLn2 * (1 + 0x1p-50);
      const Formula most =
          a.most < kInf ? Formula(a.most) : fact(Fact::Kind::Most, self, statement);
      out.size = Formula::exp(most * scale);
      out.error = out.size * Formula::expm1(in.error * scale);
      out.least = 0;
      out.most = a.most < kInf ? std::exp(a.most * scale) * (1 + 0x1p-50) : kInf;
      break;
    }
    case OpCode::Expm1: {
      const Formula most =
          a.most < kInf ? Formula(a.most) : fact(Fact::Kind::Most, self, statement);
      out.size = Formula::exp(most) + Formula(1.0);
      out.error = out.size * Formula::expm1(in.error);
      break;
    }
    case OpCode::Sqrt: {
      if (a.least >= 0 && a.least < kInf && a.least > 0) {
        out.error = in.error / Formula::root(Formula(a.least) - in.error);
      } else {
        out.error = Formula::root(in.error);
      }
      out.size = Formula::root(a.size);
      out.least = 0;
      break;
    }
    case OpCode::Rsqrt: {
      const Formula low = least();
      const Formula left = low - in.error;
      out.size = Formula(1.0) / Formula::root(low);
      out.error = in.error / (left * Formula::root(left) * Formula(2.0));
      out.least = 0;
      break;
    }
    case OpCode::Log:
    case OpCode::Log2: {
      const Formula low = least();
      const double scale = node.op == OpCode::Log ? 1 : 1.4426950408889634 * (1 + 0x1p-50);
      // |log x| <= x + 1/x.
      out.size = (a.size + Formula(1.0) / low) * scale;
      out.error = in.error / (low - in.error) * scale;
      break;
    }
    case OpCode::Erf:
    case OpCode::Tanh:
    case OpCode::Sin:
    case OpCode::Cos:
      out.size = 1.0;
      out.error = in.error * (node.op == OpCode::Erf ? 1.13 : 1.0);
      out.least = -1;
      out.most = 1;
      break;
    default: return {unbounded(), unbounded(), 0.0, 0.0};
  }
  return rounded(out, step, node.type);
}

Bound Transfer::dot(ScalarType type, const Bound& c, const Bound& a, const Bound& b, double terms,
                    bool subnormals) {
  Units units = units_;
  units.subnormals = units.subnormals && subnormals;
  const Step step = rounding_step(units, type);
  const double flushed = subnormals ? 0 : 0x1p-126;
  Bound out = c;
  const Formula x = a.size + a.error;
  const Formula y = b.size + b.error;
  const Formula product = a.size * b.size;
  out.size = c.size + Formula(terms) * product;
  out.error = c.error + Formula(terms) * (a.size * b.error + b.size * a.error + a.error * b.error +
                                          Formula(flushed) * (x + y + Formula(flushed)));
  const double growth = std::expm1(terms * std::log1p(step.relative)) * 1.01;
  out.error = out.error * (1 + growth) + out.size * growth + Formula(terms * step.absolute * 2);
  out.own_error = c.own_error * (1 + growth);
  out.least = -kInf;
  out.most = kInf;
  out.grows = true;
  return out;
}

}  // namespace tilewright::rounding
