// SPDX-License-Identifier: Apache-2.0
//
// Control flow without data. A condition that reads data goes both ways and counts for neither.
#include <algorithm>
#include <limits>

#include "frontend/base/hash.h"
#include "frontend/ir/index_math.h"
#include "frontend/ir/walk.h"
#include "lowering/check/plan.h"

namespace tilewright::check {

namespace {

using ir::Expr;
using program::Stmt;

constexpr std::int64_t kMaxVisits = 20'000;  // statements of one dry run
constexpr std::int64_t kMaxCost = std::int64_t{1} << 50;

std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return kMaxCost;
  return std::min(product, kMaxCost);
}

class Walker {
 public:
  explicit Walker(const ir::Bindings& sizes) : values_(sizes.begin(), sizes.end()) {}

  std::int64_t run(Stmt stmt) {
    if (!stmt) return 0;
    if (++visits_ > kMaxVisits) return 1;
    return program::visit(stmt, ir::Overloaded{
                                    [&](const program::Block& n) {
                                      std::int64_t cost = 0;
                                      for (Stmt child : n.body) cost += run(child);
                                      return std::min(cost, kMaxCost);
                                    },
                                    [&](const program::For& n) { return loop(stmt, n); },
                                    [&](const program::If& n) { return branch(stmt, n); },
                                    [&](const program::Let& n) {
                                      const std::optional<std::int64_t> value = evaluate(n.value);
                                      if (value) values_[n.var] = *value;
                                      const std::int64_t cost = run(n.body) + 1;
                                      values_.erase(n.var);
                                      return cost;
                                    },
                                    [&](const program::Alloc& n) {
                                      std::int64_t cells = 1;
                                      for (Expr extent : n.extents)
                                        cells = saturating_multiply(cells,
                                                                    evaluate(extent).value_or(1));
                                      return std::min(run(n.body) + cells / 4, kMaxCost);
                                    },
                                    [&](const program::Store& n) { return cost_of(n.value); },
                                    [&](const auto&) { return parts(stmt); },
                                });
  }

  std::vector<std::uint64_t> take_outcomes() {
    std::sort(outcomes_.begin(), outcomes_.end());
    outcomes_.erase(std::unique(outcomes_.begin(), outcomes_.end()), outcomes_.end());
    return std::move(outcomes_);
  }

 private:
  void reached(std::uint64_t what, std::uint64_t outcome) {
    outcomes_.push_back(hash_combine(hash_combine(where_, what), outcome));
  }

  // Of a statement without a shape of its own here.
  std::int64_t parts(Stmt stmt) {
    std::int64_t cost = 1;
    program::for_each_part(stmt, [&](std::string_view, auto part) {
      if constexpr (std::is_same_v<decltype(part), Stmt>) cost += run(part);
    });
    return std::min(cost, kMaxCost);
  }

  std::int64_t loop(Stmt stmt, const program::For& n) {
    where_ = stmt.hash();
    const std::optional<std::int64_t> lower = evaluate(n.lower);
    const std::optional<std::int64_t> upper = evaluate(n.upper);
    if (!lower || !upper) {
      values_.erase(n.var);
      return run(n.body) * 4;
    }
    const bool constant = n.lower.as<ir::IntConst>() && n.upper.as<ir::IntConst>();
    if (!constant) reached(1, *lower < *upper);
    std::int64_t trips = 0;
    if (__builtin_sub_overflow(*upper, *lower, &trips)) trips = kMaxCost;
    trips = std::max<std::int64_t>(trips, 0);
    std::int64_t cost = 1;
    std::int64_t inner = 0;
    auto iteration = [&](std::int64_t i) {
      values_[n.var] = i;
      const std::int64_t one = run(n.body);
      inner = std::max(inner, one);
      cost = std::min(cost + one, kMaxCost);
    };
    // Two at either end: the tile that is full, the one that is not, and their neighbours.
    const std::int64_t front = std::min<std::int64_t>(trips, 2);
    for (std::int64_t i = 0; i < front; ++i) iteration(*lower + i);
    for (std::int64_t i = std::max(front, trips - 2); i < trips; ++i) iteration(*lower + i);
    values_.erase(n.var);
    if (trips > 4) cost += saturating_multiply(inner, trips - 4);
    return std::min(cost, kMaxCost);
  }

  std::int64_t branch(Stmt stmt, const program::If& n) {
    where_ = stmt.hash();
    const std::optional<std::int64_t> taken = evaluate(n.condition);
    if (!taken) return run(n.then_body) + run(n.else_body) + 1;
    reached(2, *taken != 0);
    return 1 + run(*taken != 0 ? n.then_body : n.else_body);
  }

  // Value of an index or condition; none when it depends on data.
  std::optional<std::int64_t> evaluate(Expr expr) {
    if (const auto* constant = expr.as<ir::IntConst>()) return constant->value;
    if (const auto* constant = expr.as<ir::BoolConst>()) return constant->value;
    if (const auto* extent = expr.as<ir::Extent>()) return value_of(extent->name);
    if (const auto* var = expr.as<ir::Var>()) return value_of(var->name);
    if (const auto* select = expr.as<ir::Select>()) {
      const std::optional<std::int64_t> condition = evaluate(select->condition);
      if (!condition) return std::nullopt;
      return evaluate(*condition != 0 ? select->then_value : select->else_value);
    }
    if (const auto* op = expr.as<ir::Op>()) return operation(expr, *op);
    return std::nullopt;
  }

  std::optional<std::int64_t> value_of(Symbol name) const {
    const auto it = values_.find(name);
    if (it == values_.end()) return std::nullopt;
    return it->second;
  }

  std::optional<std::int64_t> operation(Expr expr, const ir::Op& op) {
    std::int64_t args[2] = {0, 0};
    std::size_t count = 0;
    for (Expr arg : op.args) {
      if (count == 2 || ir::holds_floats(arg.type())) return std::nullopt;
      const std::optional<std::int64_t> value = evaluate(arg);
      if (!value) return std::nullopt;
      args[count++] = *value;
    }
    const auto [a, b] = args;
    const std::optional<std::int64_t> none;
    std::int64_t out = 0;
    switch (op.op) {
      case ir::OpCode::Add: return __builtin_add_overflow(a, b, &out) ? none : std::optional(out);
      case ir::OpCode::Sub: return __builtin_sub_overflow(a, b, &out) ? none : std::optional(out);
      case ir::OpCode::Mul: return __builtin_mul_overflow(a, b, &out) ? none : std::optional(out);
      case ir::OpCode::Neg: return __builtin_sub_overflow(0, a, &out) ? none : std::optional(out);
      case ir::OpCode::Div: return b <= 0 ? none : std::optional(ir::floor_div(a, b));
      case ir::OpCode::Mod: return b <= 0 ? none : std::optional(ir::floor_mod(a, b));
      case ir::OpCode::Min:
        if (a != b) reached(expr.hash(), a < b);
        return std::min(a, b);
      case ir::OpCode::Max: return std::max(a, b);
      case ir::OpCode::Lt: return a < b;
      case ir::OpCode::Le: return a <= b;
      case ir::OpCode::Gt: return a > b;
      case ir::OpCode::Ge: return a >= b;
      case ir::OpCode::Eq: return a == b;
      case ir::OpCode::Ne: return a != b;
      case ir::OpCode::And: return a != 0 && b != 0;
      case ir::OpCode::Or: return a != 0 || b != 0;
      case ir::OpCode::Not: return a == 0;
      default: return std::nullopt;
    }
  }

  std::int64_t cost_of(Expr value) {
    auto [it, fresh] = costs_.try_emplace(value, 1);
    if (fresh) {
      std::int64_t nodes = 1;
      ir::walk(value, [&](Expr) { ++nodes; });
      costs_[value] = nodes;
      return nodes;
    }
    return it->second;
  }

  std::unordered_map<Symbol, std::int64_t> values_;
  std::unordered_map<Expr, std::int64_t> costs_;
  std::vector<std::uint64_t> outcomes_;
  std::uint64_t where_ = 0;
  std::int64_t visits_ = 0;
};

}  // namespace

DryRun dry_run(const program::Program& program, const ir::Bindings& sizes) {
  Walker walker(sizes);
  DryRun out;
  out.cost = walker.run(program.body);
  out.outcomes = walker.take_outcomes();
  return out;
}

}  // namespace tilewright::check
