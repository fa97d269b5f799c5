// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/simplify.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "frontend/ir/index_math.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

using Value = std::optional<std::int64_t>;

Value checked_add(Value a, Value b) {
  std::int64_t r = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &r)) return std::nullopt;
  return r;
}
Value checked_mul(Value a, Value b) {
  std::int64_t r = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &r)) return std::nullopt;
  return r;
}

// form += scale * other; false on overflow.
bool accumulate(LinearForm& form, const LinearForm& other, std::int64_t scale) {
  auto constant = checked_add(form.constant, checked_mul(other.constant, scale));
  if (!constant) return false;
  form.constant = *constant;
  for (const auto& [atom, coefficient] : other.terms) {
    auto scaled = checked_mul(coefficient, scale);
    if (!scaled) return false;
    auto it = std::find_if(form.terms.begin(), form.terms.end(),
                           [&](const auto& term) { return term.first == atom; });
    if (it == form.terms.end()) {
      form.terms.emplace_back(atom, *scaled);
    } else {
      auto sum = checked_add(it->second, scaled);
      if (!sum) return false;
      it->second = *sum;
    }
  }
  std::erase_if(form.terms, [](const auto& term) { return term.second == 0; });
  return true;
}

void sort_terms(LinearForm& form) {
  std::sort(form.terms.begin(), form.terms.end(), [](const auto& a, const auto& b) {
    // The largest stride first, as people write it; then a fixed order.
    const auto key = [](const auto& term) {
      return std::tuple(-std::abs(term.second), term.first.hash(), term.first.index());
    };
    return key(a) < key(b);
  });
}

std::optional<LinearForm> scaled_sum(Expr a, std::int64_t scale_a, Expr b, std::int64_t scale_b) {
  LinearForm form;
  for (auto [expr, scale] : {std::pair(a, scale_a), std::pair(b, scale_b)}) {
    if (!expr) continue;
    auto part = linear_form(expr);
    if (!part || !accumulate(form, *part, scale)) return std::nullopt;
  }
  sort_terms(form);
  return form;
}

std::optional<std::int64_t> index_constant(Expr expr) {
  const auto* node = expr.as<IntConst>();
  if (node && expr.type() == ScalarType::Index) return node->value;
  return std::nullopt;
}

}  // namespace

std::int64_t LinearForm::coefficient(Expr atom) const {
  for (const auto& [term, value] : terms)
    if (term == atom) return value;
  return 0;
}

std::optional<LinearForm> linear_form(Expr expr) {
  LinearForm form;
  if (auto value = index_constant(expr)) {
    form.constant = *value;
    return form;
  }
  if (const auto* op = expr.as<Op>()) {
    switch (op->op) {
      case OpCode::Add: return scaled_sum(op->args[0], 1, op->args[1], 1);
      case OpCode::Sub: return scaled_sum(op->args[0], 1, op->args[1], -1);
      case OpCode::Neg: return scaled_sum(op->args[0], -1, Expr(), 0);
      case OpCode::Mul:
        if (auto scale = index_constant(op->args[1]))
          return scaled_sum(op->args[0], *scale, Expr(), 0);
        if (auto scale = index_constant(op->args[0]))
          return scaled_sum(op->args[1], *scale, Expr(), 0);
        break;
      default: break;
    }
  }
  form.terms.emplace_back(expr, 1);
  return form;
}

Expr to_expr(Context& context, const LinearForm& form) {
  Expr sum;
  // Positive terms first, so that a difference prints as one.
  for (const bool positive : {true, false}) {
    for (const auto& [atom, coefficient] : form.terms) {
      if ((coefficient > 0) != positive) continue;
      const std::int64_t magnitude = positive ? coefficient : -coefficient;
      Expr term = context.mul(atom, context.index(magnitude));
      if (!sum) {
        sum = positive ? term : context.mul(atom, context.index(coefficient));
      } else {
        sum = positive ? context.add(sum, term) : context.sub(sum, term);
      }
    }
  }
  if (!sum) return context.index(form.constant);
  return context.add(sum, context.index(form.constant));
}

namespace {

Interval interval_of_form(const LinearForm& form, const Ranges& ranges) {
  Interval total{form.constant, form.constant};
  for (const auto& [atom, coefficient] : form.terms) {
    const Interval part = interval(atom, ranges);
    const Value at_lo = checked_mul(part.lo, coefficient);
    const Value at_hi = checked_mul(part.hi, coefficient);
    total.lo = checked_add(total.lo, coefficient > 0 ? at_lo : at_hi);
    total.hi = checked_add(total.hi, coefficient > 0 ? at_hi : at_lo);
  }
  return total;
}

Interval interval_of_min(Interval a, Interval b) {
  Interval r;
  if (a.lo && b.lo) r.lo = std::min(*a.lo, *b.lo);
  if (a.hi && b.hi) {
    r.hi = std::min(*a.hi, *b.hi);
  } else {
    r.hi = a.hi ? a.hi : b.hi;
  }
  return r;
}

Interval interval_of_max(Interval a, Interval b) {
  Interval r;
  if (a.hi && b.hi) r.hi = std::max(*a.hi, *b.hi);
  if (a.lo && b.lo) {
    r.lo = std::max(*a.lo, *b.lo);
  } else {
    r.lo = a.lo ? a.lo : b.lo;
  }
  return r;
}

Interval interval_of_atom(Expr expr, const Ranges& ranges) {
  auto known = [&](Symbol name, Interval fallback) {
    auto it = ranges.find(name);
    return it == ranges.end() ? fallback : it->second;
  };
  if (const auto* var = expr.as<Var>()) return known(var->name, {});
  if (const auto* extent = expr.as<Extent>()) return known(extent->name, {0, std::nullopt});
  if (const auto* choice = expr.as<Select>()) {
    const Interval a = interval(choice->then_value, ranges);
    const Interval b = interval(choice->else_value, ranges);
    return {interval_of_min(a, b).lo && a.lo && b.lo ? interval_of_min(a, b).lo : std::nullopt,
            a.hi && b.hi ? Value(std::max(*a.hi, *b.hi)) : std::nullopt};
  }
  const auto* op = expr.as<Op>();
  if (!op || op->args.size() != 2) return {};
  const Interval a = interval(op->args[0], ranges);
  const Interval b = interval(op->args[1], ranges);
  const auto divisor = index_constant(op->args[1]);
  switch (op->op) {
    case OpCode::Min: return interval_of_min(a, b);
    case OpCode::Max: return interval_of_max(a, b);
    case OpCode::Div:
      if (!divisor || *divisor <= 0) return {};
      return {a.lo ? Value(floor_div(*a.lo, *divisor)) : std::nullopt,
              a.hi ? Value(floor_div(*a.hi, *divisor)) : std::nullopt};
    case OpCode::Mod:
      if (divisor && *divisor > 0) return {0, *divisor - 1};
      return b.lo && *b.lo > 0 ? Interval{0, b.hi ? Value(*b.hi - 1) : std::nullopt} : Interval{};
    case OpCode::Mul:
      if (a.lo && b.lo && *a.lo >= 0 && *b.lo >= 0)
        return {checked_mul(a.lo, b.lo), checked_mul(a.hi, b.hi)};
      return {};
    default: return {};
  }
}

}  // namespace

Interval interval(Expr expr, const Ranges& ranges) {
  auto form = linear_form(expr);
  if (!form) return {};
  if (form->terms.size() == 1 && form->terms[0].first == expr)
    return interval_of_atom(expr, ranges);
  return interval_of_form(*form, ranges);
}

namespace {

class Simplifier {
 public:
  Simplifier(Context& context, const Ranges& ranges) : context_(context), ranges_(ranges) {}

  Expr run(Expr root) {
    return rewrite(context_, root, [&](Expr expr) -> Expr {
      const auto* op = expr.as<Op>();
      if (!op || op->args[0].type() != ScalarType::Index || op->args.size() > 2) return {};
      return op->args.size() == 2 ? binary(expr, *op) : linear(expr);
    });
  }

 private:
  Expr linear(Expr expr) {
    auto form = linear_form(expr);
    if (!form) return {};
    while (join_division(*form) || make_remainder(*form)) {
    }
    return to_expr(context_, *form);
  }

  // x * k - (x / c) * c*k = (x mod c) * k: what is left over behind the full tiles.
  bool make_remainder(LinearForm& form) const {
    for (const auto& [quotient, scale] : form.terms) {
      const auto* div = quotient.as<Op>();
      if (!div || div->op != OpCode::Div) continue;
      const auto divisor = index_constant(div->args[1]);
      if (!divisor || *divisor <= 0 || scale % *divisor != 0 || scale == INT64_MIN) continue;
      const std::int64_t k = -scale / *divisor;
      auto whole = linear_form(div->args[0]);
      LinearForm rest = form;
      std::erase_if(rest.terms, [q = quotient](const auto& term) { return term.first == q; });
      LinearForm remainder;
      remainder.terms.emplace_back(context_.floor_mod(div->args[0], div->args[1]), 1);
      // Only where all of x goes.
      if (!whole || !accumulate(rest, *whole, -k) || !accumulate(rest, remainder, k) ||
          rest.terms.size() >= form.terms.size())
        continue;
      sort_terms(rest);
      form = std::move(rest);
      return true;
    }
    return false;
  }

  // (x / c) * c*k + (x mod c) * k = x * k: what a fused loop that was split again leaves behind.
  bool join_division(LinearForm& form) const {
    for (const auto& [quotient, scale] : form.terms) {
      const auto* div = quotient.as<Op>();
      if (!div || div->op != OpCode::Div) continue;
      const auto divisor = index_constant(div->args[1]);
      if (!divisor || *divisor <= 0) continue;
      const Expr remainder = context_.floor_mod(div->args[0], div->args[1]);
      const std::int64_t k = form.coefficient(remainder);
      if (k == 0 || checked_mul(k, divisor) != Value(scale)) continue;
      auto whole = linear_form(div->args[0]);
      LinearForm joined = form;
      std::erase_if(joined.terms, [&, q = quotient](const auto& term) {
        return term.first == q || term.first == remainder;
      });
      if (!whole || !accumulate(joined, *whole, k)) continue;
      sort_terms(joined);
      form = std::move(joined);
      return true;
    }
    return false;
  }

  Expr binary(Expr expr, const Op& op) {
    switch (op.op) {
      case OpCode::Add:
      case OpCode::Sub:
      case OpCode::Mul: return linear(expr);
      case OpCode::Div:
      case OpCode::Mod: return division(op);
      case OpCode::Min:
      case OpCode::Max: return extremum(op);
      case OpCode::Lt:
      case OpCode::Le:
      case OpCode::Gt:
      case OpCode::Ge:
      case OpCode::Eq:
      case OpCode::Ne: return comparison(op);
      default: return {};
    }
  }

  // floor((c*q + r) / c) = q + floor(r / c), and (c*q + r) mod c = r mod c.
  Expr division(const Op& op) {
    const auto divisor = index_constant(op.args[1]);
    auto form = linear_form(op.args[0]);
    if (!divisor || *divisor <= 0 || !form) return {};
    LinearForm quotient;
    LinearForm rest;
    for (const auto& term : form->terms) {
      const std::int64_t q = floor_div(term.second, *divisor);
      const std::int64_t r = term.second - q * *divisor;
      // Only whole multiples leave: splitting a coefficient would not make the rest smaller in range.
      if (r == 0) {
        quotient.terms.emplace_back(term.first, q);
      } else {
        rest.terms.push_back(term);
      }
    }
    quotient.constant = floor_div(form->constant, *divisor);
    rest.constant = form->constant - quotient.constant * *divisor;
    const Interval range = interval_of_form(rest, ranges_);
    const bool small = range.lo && range.hi && *range.lo >= 0 && *range.hi < *divisor;
    Expr remainder = to_expr(context_, rest);
    if (op.op == OpCode::Mod) return small ? remainder : context_.floor_mod(remainder, op.args[1]);
    if (small) return to_expr(context_, quotient);
    // As a sum in normal form, so that simplifying it again changes nothing.
    return linear(
        context_.add(to_expr(context_, quotient), context_.floor_div(remainder, op.args[1])));
  }

  Interval difference(const Op& op) {
    auto form = scaled_sum(op.args[0], 1, op.args[1], -1);
    return form ? interval_of_form(*form, ranges_) : Interval{};
  }

  Expr extremum(const Op& op) {
    const Interval d = difference(op);
    const bool is_min = op.op == OpCode::Min;
    if (d.hi && *d.hi <= 0) return op.args[is_min ? 0 : 1];
    if (d.lo && *d.lo >= 0) return op.args[is_min ? 1 : 0];
    return {};
  }

  Expr comparison(const Op& op) {
    const Interval d = difference(op);
    auto known = [&](bool yes, bool no) {
      return yes ? context_.boolean(true) : no ? context_.boolean(false) : Expr();
    };
    const bool negative = d.hi && *d.hi < 0;
    const bool positive = d.lo && *d.lo > 0;
    const bool at_most = d.hi && *d.hi <= 0;
    const bool at_least = d.lo && *d.lo >= 0;
    switch (op.op) {
      case OpCode::Lt: return known(negative, at_least);
      case OpCode::Le: return known(at_most, positive);
      case OpCode::Gt: return known(positive, at_most);
      case OpCode::Ge: return known(at_least, negative);
      case OpCode::Eq: return known(at_most && at_least, negative || positive);
      case OpCode::Ne: return known(negative || positive, at_most && at_least);
      default: return {};
    }
  }

  Context& context_;
  const Ranges& ranges_;
};

}  // namespace

Expr simplify(Context& context, Expr expr, const Ranges& ranges) {
  if (!expr) return expr;
  return Simplifier(context, ranges).run(expr);
}

std::optional<bool> decide(Context& context, Expr condition, const Ranges& ranges) {
  const Expr simple = simplify(context, condition, ranges);
  if (const auto* known = simple.as<BoolConst>()) return known->value;
  return std::nullopt;
}

}  // namespace tilewright::ir
