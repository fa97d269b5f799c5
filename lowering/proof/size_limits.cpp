// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/size_limits.h"

#include <algorithm>

#include "lowering/program/contract.h"

namespace tilewright::proof {

namespace {

using ir::Expr;
using ir::OpCode;
using ir::ScalarType;

// Elements that share a byte are counted by bytes (Entry::row_bytes).
WideIndex most_bytes() { return kMostIndex / program::kByteHeadroom; }

WideIndex floored(WideIndex a, WideIndex b) {
  const WideIndex q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

std::optional<WideIndex> compared(OpCode op, WideIndex a, WideIndex b) {
  switch (op) {
    case OpCode::Eq: return a == b;
    case OpCode::Ne: return a != b;
    case OpCode::Lt: return a < b;
    case OpCode::Le: return a <= b;
    case OpCode::Gt: return a > b;
    case OpCode::Ge: return a >= b;
    default: return std::nullopt;
  }
}

std::optional<WideIndex> computed(OpCode op, const std::vector<WideIndex>& a) {
  switch (op) {
    case OpCode::Add: return a[0] + a[1];
    case OpCode::Sub: return a[0] - a[1];
    case OpCode::Mul: return a[0] * a[1];
    case OpCode::Fma: return a[0] * a[1] + a[2];
    case OpCode::Neg: return -a[0];
    case OpCode::Abs: return a[0] < 0 ? -a[0] : a[0];
    case OpCode::Min: return std::min(a[0], a[1]);
    case OpCode::Max: return std::max(a[0], a[1]);
    case OpCode::Div: return a[1] == 0 ? std::nullopt : std::optional(floored(a[0], a[1]));
    case OpCode::Mod:
      return a[1] == 0 ? std::nullopt : std::optional(a[0] - floored(a[0], a[1]) * a[1]);
    case OpCode::And: return a[0] != 0 && a[1] != 0;
    case OpCode::Or: return a[0] != 0 || a[1] != 0;
    case OpCode::Not: return a[0] == 0;
    default: return compared(op, a[0], a[1]);
  }
}

}  // namespace

std::string index_text(WideIndex value) {
  if (value == 0) return "0";
  std::string digits;
  for (WideIndex rest = value; rest != 0; rest /= 10)
    digits += static_cast<char>('0' + static_cast<int>(rest % 10 < 0 ? -(rest % 10) : rest % 10));
  if (value < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::optional<WideIndex> exact_value(Expr expr, const IndexValues& names) {
  const auto named = [&](Symbol name) -> std::optional<WideIndex> {
    const auto found = names.find(name);
    return found == names.end() ? std::nullopt : std::optional(found->second);
  };
  if (expr.type() != ScalarType::Index && expr.type() != ScalarType::Bool) return std::nullopt;
  if (const auto* c = expr.as<ir::IntConst>()) return c->value;
  if (const auto* c = expr.as<ir::BoolConst>()) return c->value ? 1 : 0;
  if (const auto* var = expr.as<ir::Var>()) return named(var->name);
  if (const auto* extent = expr.as<ir::Extent>()) return named(extent->name);
  if (const auto* select = expr.as<ir::Select>()) {
    const auto condition = exact_value(select->condition, names);
    if (!condition) return std::nullopt;
    return exact_value(*condition != 0 ? select->then_value : select->else_value, names);
  }
  const auto* op = expr.as<ir::Op>();
  if (op == nullptr) return std::nullopt;
  std::vector<WideIndex> args;
  for (Expr arg : op->args) {
    const auto value = exact_value(arg, names);
    if (!value) return std::nullopt;
    args.push_back(*value);
  }
  const auto out = computed(op->op, args);
  return out && fits_index(*out) ? out : std::nullopt;
}

SizeLimits::SizeLimits(ir::Context& context, const program::Program& program) : program_(program) {
  if (auto plan = program::derive_workspace(context, program); plan.ok()) {
    workspace_ = plan->total;
    workers_ = plan->workers;
  }
  for (const ir::ExtentDecl& extent : program.extents)
    ranges_[extent.name] = {std::max<std::int64_t>(extent.min, 0),
                            extent.max ? WideIndex{*extent.max} : most_bytes(),
                            std::max<std::int64_t>(extent.multiple_of, 1)};
  for (const program::Parameter& parameter : program.parameters) {
    Capacity one;
    const int per_byte = ir::elements_per_byte(parameter.type);
    one.elements = most_bytes() / ir::size_bytes(parameter.type) * per_byte;
    for (Expr extent : parameter.shape) {
      if (const auto* name = extent.as<ir::Extent>()) one.extents.push_back(name->name);
      // What counts twice in a product of extents may be 0 there; a literal is what it is.
      if (const auto* c = extent.as<ir::IntConst>(); c && c->value > 1 && per_byte == 1)
        one.elements /= c->value;
    }
    std::sort(one.extents.begin(), one.extents.end());
    for (Symbol name : one.extents) {
      if (!ranges_.contains(name)) continue;
      ranges_[name].high = std::min(ranges_[name].high, one.elements);
    }
    capacities_.push_back(std::move(one));
  }
}

WideIndex SizeLimits::most(const Product& product) const {
  constexpr WideIndex kFar = WideIndex{1} << 120;
  WideIndex best = 1;
  for (Symbol extent : product) {
    const WideIndex high = std::max<WideIndex>(of(extent).high, 1);
    best = best > kFar / high ? kFar : best * high;
  }
  if (product.size() < 2) return best;
  // As much of it as one parameter has, times the most of the rest.
  for (const Capacity& one : capacities_) {
    Product rest = product;
    Product pool = one.extents;
    std::erase_if(rest, [&](Symbol extent) {
      const auto at = std::find(pool.begin(), pool.end(), extent);
      if (at == pool.end()) return false;
      pool.erase(at);
      return true;
    });
    if (rest.size() + 1 >= product.size()) continue;
    const WideIndex others = most(rest);
    if (one.elements <= kFar / std::max<WideIndex>(others, 1))
      best = std::min(best, std::max<WideIndex>(one.elements, 1) * others);
  }
  return best;
}

bool SizeLimits::fits(const IndexValues& sizes) const {
  for (const program::Parameter& parameter : program_.parameters) {
    const int per_byte = ir::elements_per_byte(parameter.type);
    WideIndex bytes = ir::size_bytes(parameter.type);
    for (std::size_t d = 0; d < parameter.shape.size(); ++d) {
      const auto extent = exact_value(parameter.shape[d], sizes);
      if (!extent || *extent < 0) return false;
      const bool by_bytes = d + 1 == parameter.shape.size() && per_byte > 1;
      const WideIndex cells = by_bytes ? (*extent + per_byte - 1) / per_byte : *extent;
      bytes *= std::max<WideIndex>(cells, 1);
      if (bytes > most_bytes()) return false;
    }
  }
  return true;
}

bool SizeLimits::allows(const IndexValues& sizes) const {
  for (const ir::ExtentDecl& extent : program_.extents) {
    const auto found = sizes.find(extent.name);
    if (found == sizes.end()) return false;
    if (found->second < std::max<std::int64_t>(extent.min, 0)) return false;
    if (extent.max && found->second > *extent.max) return false;
    if (extent.multiple_of > 1 && found->second % extent.multiple_of != 0) return false;
  }
  if (!fits(sizes)) return false;
  if (workspace_) {
    IndexValues with = sizes;
    with[workers_] = 1;
    if (!exact_value(workspace_, with)) return false;
  }
  return std::all_of(program_.requirements.begin(), program_.requirements.end(), [&](Expr one) {
    const auto holds = exact_value(one, sizes);
    return holds && *holds != 0;
  });
}

}  // namespace tilewright::proof
