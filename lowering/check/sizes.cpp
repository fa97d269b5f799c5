// SPDX-License-Identifier: Apache-2.0
//
// Values worth trying for an extent: small ones, and those around each constant that stands with the extent,
// or with a loop or let that depends on it, in one bound, guard, index or buffer extent.
#include <algorithm>
#include <limits>
#include <set>

#include "frontend/ir/simplify.h"
#include "frontend/ir/walk.h"
#include "lowering/check/plan.h"

namespace tilewright::check {

namespace {

using ir::Expr;

constexpr std::size_t kMaxConstants = 8;
constexpr std::int64_t kMaxConstant = 4096;
constexpr std::size_t kMaxThresholds = 16;

// Extents that each variable depends on, and constants that meet each extent.
class Constants {
 public:
  void visit(program::Stmt root) {
    program::walk(root, [&](program::Stmt stmt) {
      program::visit(stmt, ir::Overloaded{
                               [&](const program::For& n) {
                                 bind(n.var, {n.lower, n.upper});
                                 meet(n.lower);
                                 meet(n.upper);
                               },
                               [&](const program::Let& n) {
                                 bind(n.var, {n.value});
                                 if (n.value.type() == ir::ScalarType::Index) meet(n.value);
                               },
                               [&](const program::If& n) { meet(n.condition); },
                               [&](const program::Alloc& n) {
                                 for (Expr extent : n.extents) meet(extent);
                               },
                               [](const program::Block&) {},
                               [&](const program::Store& n) {
                                 for (Expr index : n.indices) meet(index);
                                 compare_all(n.value);
                               },
                               [](const auto&) {},
                           });
    });
  }
  void meet(Expr expr) {
    std::set<Symbol> extents;
    std::set<std::int64_t> values;
    ir::walk(expr, [&](Expr e) {
      if (const auto* extent = e.as<ir::Extent>()) extents.insert(extent->name);
      if (const auto* var = e.as<ir::Var>())
        if (auto it = depends_.find(var->name); it != depends_.end())
          extents.insert(it->second.begin(), it->second.end());
      if (const auto* constant = e.as<ir::IntConst>()) {
        const std::int64_t value = constant->value < 0 ? -constant->value : constant->value;
        if (value > 1 && value <= kMaxConstant) values.insert(value);
      }
    });
    for (Symbol extent : extents) met_[extent].insert(values.begin(), values.end());
    compare_all(expr);
  }
  const std::set<std::int64_t>& thresholds_of(Symbol extent) { return thresholds_[extent]; }
  const std::set<std::int64_t>& of(Symbol extent) { return met_[extent]; }

 private:
  void compare_all(Expr expr) {
    ir::walk(expr, [&](Expr e) {
      if (const auto* op = e.as<ir::Op>()) compare(*op);
    });
  }
  // An operation that treats an extent differently on the two sides of a constant. With `2 * N < 10000` or
  // `N + 7 == 4096` what matters is where the extent itself stands.
  void compare(const ir::Op& op) {
    using enum ir::OpCode;
    switch (op.op) {
      case Div:
      case Mod:
      case Min:
      case Max:
      case Eq:
      case Ne:
      case Lt:
      case Le:
      case Gt:
      case Ge: break;
      default: return;
    }
    for (int side : {0, 1}) {
      const auto* constant = op.args[side].as<ir::IntConst>();
      if (!constant || constant->value < 2) continue;
      const Expr other = op.args[1 - side];
      std::set<Symbol> extents;
      ir::walk(other, [&](Expr e) {
        if (const auto* extent = e.as<ir::Extent>()) extents.insert(extent->name);
      });
      const auto form = ir::linear_form(other);
      for (Symbol extent : extents) {
        std::set<std::int64_t>& out = thresholds_[extent];
        out.insert(constant->value);
        if (!form || extents.size() != 1 || form->terms.size() != 1) continue;
        const std::int64_t factor = form->terms[0].second;
        std::int64_t rest = 0;
        if (factor > 0 && !__builtin_sub_overflow(constant->value, form->constant, &rest) &&
            rest > 1)
          out.insert(rest / factor);
      }
    }
  }
  void bind(Symbol var, std::initializer_list<Expr> exprs) {
    for (Expr expr : exprs)
      ir::walk(expr, [&](Expr e) {
        if (const auto* extent = e.as<ir::Extent>()) depends_[var].insert(extent->name);
        if (const auto* other = e.as<ir::Var>())
          if (auto it = depends_.find(other->name); it != depends_.end() && other->name != var)
            depends_[var].insert(it->second.begin(), it->second.end());
      });
  }
  std::map<Symbol, std::set<Symbol>> depends_;
  std::map<Symbol, std::set<std::int64_t>> met_;
  std::map<Symbol, std::set<std::int64_t>> thresholds_;
};

// The nearest value at or above `value` that the declaration allows; none above max.
std::optional<std::int64_t> allowed(const ir::ExtentDecl& extent, std::int64_t value) {
  const std::int64_t step = std::max<std::int64_t>(extent.multiple_of, 1);
  value = std::max(value, extent.min);
  value = (value + step - 1) / step * step;
  if (extent.max && value > *extent.max) return std::nullopt;
  return value;
}

}  // namespace

std::vector<CandidateValues> candidate_values(const program::Program& program) {
  Constants constants;
  constants.visit(program.body);
  for (Expr requirement : program.requirements) constants.meet(requirement);
  std::vector<CandidateValues> out;
  for (const ir::ExtentDecl& extent : program.extents) {
    std::set<std::int64_t> values;
    auto add = [&](std::int64_t value) {
      if (auto fit = allowed(extent, value)) values.insert(*fit);
    };
    for (std::int64_t value : {0, 1, 2, 3, 5, 7}) {
      add(value);
      add(extent.min + value * extent.multiple_of);
    }
    std::size_t taken = 0;
    std::int64_t largest = 0;
    for (std::int64_t constant : constants.of(extent.name)) {
      if (taken++ == kMaxConstants) break;
      largest = constant;
      for (std::int64_t value :
           {constant - 1, constant, constant + 1, 2 * constant, 2 * constant + 1})
        add(value);
    }
    if (extent.max && *extent.max - extent.min <= kMaxConstant) add(*extent.max);
    std::set<std::int64_t> thresholds;
    taken = 0;
    for (std::int64_t constant : constants.thresholds_of(extent.name)) {
      if (constant > std::numeric_limits<std::int64_t>::max() - extent.multiple_of) break;
      if (taken++ == kMaxThresholds) break;
      for (std::int64_t value : {constant - 1, constant, constant + 1})
        if (auto fit = allowed(extent, value); fit && !values.contains(*fit))
          thresholds.insert(*fit);
    }
    out.push_back(
        {{values.begin(), values.end()}, largest, {thresholds.begin(), thresholds.end()}});
  }
  return out;
}

bool satisfies(const program::Program& program, const ir::Bindings& sizes) {
  for (const ir::ExtentDecl& extent : program.extents) {
    const std::int64_t value = sizes.at(extent.name);
    if (value < extent.min || (extent.max && value > *extent.max)) return false;
    if (extent.multiple_of > 1 && value % extent.multiple_of != 0) return false;
  }
  return std::all_of(program.requirements.begin(), program.requirements.end(),
                     [&](Expr e) { return ir::evaluate_extents(e, sizes) != 0; });
}

}  // namespace tilewright::check
