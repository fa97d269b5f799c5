// SPDX-License-Identifier: Apache-2.0
//
// The rules of single expressions, names and extents, which algorithms and programs share.
#include <algorithm>
#include <bit>
#include <cmath>

#include "frontend/base/format.h"
#include "frontend/base/text.h"
#include "frontend/ir/verify.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

std::optional<std::int64_t> index_constant(Expr e) {
  const auto* node = e.as<IntConst>();
  return node ? std::optional(node->value) : std::nullopt;
}

// `data`: integers that are read count as symbols.
bool affine(Expr e, bool piecewise, bool data = false) {
  if (e.type() != ScalarType::Index) return false;
  if (e.as<IntConst>() || e.as<Var>() || e.as<Extent>()) return true;
  if (const auto* cast = e.as<Cast>()) return data && is_integer(cast->value.type());
  const auto* op = e.as<Op>();
  if (!op) return false;
  for (Expr arg : op->args)
    if (!affine(arg, piecewise, data)) return false;
  switch (op->op) {
    case OpCode::Add:
    case OpCode::Sub:
    case OpCode::Neg: return true;
    case OpCode::Mul: return index_constant(op->args[0]) || index_constant(op->args[1]);
    case OpCode::Div:
    case OpCode::Mod: return index_constant(op->args[1]).value_or(0) > 0;
    case OpCode::Min:
    case OpCode::Max: return piecewise;
    default: return false;
  }
}

Diagnostic finding(Code code, std::string message, std::string remedy) {
  return {code, {}, std::move(message), std::move(remedy), {}, {}};
}

bool on_grid(const FloatConst& n) {
  if (std::isnan(n.value)) return has_nan(n.type);
  return std::bit_cast<std::uint64_t>(round_to_type(n.type, n.value)) ==
         std::bit_cast<std::uint64_t>(n.value);
}

void verify_op(Expr expr, const Op& n, const ExprReport& report) {
  ScalarType type = ScalarType::Index;
  if (!op_type(n.op, n.args, &type) || type != n.type) {
    report(expr, finding(Code::OperandType,
                         in_backticks(op_info(n.op).text) + " on operands that it does not take",
                         "convert the operands to one type that it takes"));
    return;
  }
  if ((n.op != OpCode::Div && n.op != OpCode::Mod) || is_float(n.type)) return;
  if (index_constant(n.args[1]) == 0)
    report(expr,
           finding(Code::ZeroDivisor, in_backticks(op_info(n.op).text) + " by the constant zero",
                   "divide by something else"));
}

}  // namespace

bool is_quasi_affine(Expr expr) { return affine(expr, false); }
bool is_piecewise_quasi_affine(Expr expr) { return affine(expr, true); }
bool is_quasi_affine_with_data(Expr expr) { return affine(expr, true, true); }

void verify_expr(Expr root, const ExprReport& report) {
  std::unordered_map<Expr, int> depth;
  walk(root, [&](Expr e) {
    int& levels = depth[e];
    for_each_child(e, [&](Expr child) { levels = std::max(levels, depth[child] + 1); });
    if (levels == kMaxNesting)
      report(e,
             finding(Code::NestingTooDeep,
                     "an expression of more than " + std::to_string(kMaxNesting) + " levels",
                     "give a part of it a name of its own: an equation, or in a program a `let`"));
  });
  walk(root, [&](Expr e) {
    visit(e, Overloaded{
                 [&](const IntConst& n) {
                   const bool integer = n.type == ScalarType::Index || is_integer(n.type);
                   if (!integer || wrap_to_type(n.type, n.value) != n.value)
                     report(e, finding(Code::LiteralRange, "a constant that its type does not hold",
                                       "use a wider type"));
                 },
                 [&](const FloatConst& n) {
                   if (!is_float(n.type) || !on_grid(n))
                     report(e, finding(Code::LiteralRange, "a constant off the grid of its type",
                                       "round it to the type"));
                 },
                 [&](const Op& n) { verify_op(e, n, report); },
                 [&](const Select& n) {
                   if (n.condition.type() != ScalarType::Bool ||
                       n.then_value.type() != n.else_value.type())
                     report(e, finding(Code::TypeMismatch, "a select whose arms differ in type",
                                       "convert one arm"));
                 },
                 [&](const Cast& n) {
                   if (casts(n.value.type(), n.type)) return;
                   const bool truth = n.type == ScalarType::Bool;
                   report(e, finding(Code::BadCast,
                                     truth ? "there is no conversion to `bool`"
                                           : "there is no conversion of complex numbers to " +
                                                 in_backticks(type_text(n.type)),
                                     truth ? "compare with zero, as in `x != 0`"
                                           : "take a part or the size: `re(z)`, `abs(z)`"));
                 },
                 [&](const Saturate& n) {
                   if (!saturates(n.value.type(), n.type))
                     report(e, finding(Code::OperandType,
                                       "`saturate` of something that is no number, or to no number",
                                       "saturate numbers to integers or floats"));
                 },
                 [&](const RoundTo& n) {
                   if (!is_float(n.grid) || !op_accepts(OpCode::Rint, n.value.type()))
                     report(e,
                            finding(Code::OperandType, "`round_to` of something that is no float",
                                    "convert it to a float first"));
                 },
                 [](const BoolConst&) {},
                 [](const Var&) {},
                 [](const Extent&) {},
                 [](const Read&) {},
                 [](const Fold&) {},
             });
  });
}

void verify_name(Symbol name, std::string_view what, Span span, std::vector<Diagnostic>& out) {
  if (is_name(name.text()) && !is_reserved_name(name.text())) return;
  Diagnostic d =
      finding(Code::ReservedName, in_backticks(name.text()) + " cannot name " + std::string(what),
              "use ASCII letters, digits, `_` and `.`, and no word of the language");
  d.span = span;
  out.push_back(std::move(d));
}

void verify_extent(const ExtentDecl& extent, std::vector<Diagnostic>& out) {
  const std::string name = in_backticks(extent.name.text());
  auto report = [&](const std::string& message, const std::string& remedy) {
    Diagnostic d = finding(Code::ExtentRange, message, remedy);
    d.span = extent.span;
    out.push_back(std::move(d));
  };
  if (extent.min < 0) return report(name + " may be negative", "write a `min` of at least 0");
  if (extent.multiple_of < 1)
    return report("`multiple_of` of " + name + " is not positive", "write at least 1");
  const std::int64_t limit = extent.max.value_or(INT64_MAX);
  const std::int64_t last = limit - (limit < 0 ? 0 : limit % extent.multiple_of);
  if (limit < extent.min || last < extent.min)
    report("no value of " + name + " is possible", "widen `min` and `max`");
}

}  // namespace tilewright::ir
