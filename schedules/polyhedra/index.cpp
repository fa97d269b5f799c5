// SPDX-License-Identifier: Apache-2.0
//
// Translation of index arithmetic and conditions.
#include "schedules/polyhedra/index.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace tilewright::poly {

using ir::Expr;
using ir::OpCode;

static BasicSet both(const BasicSet& a, const BasicSet& b) {
  BasicSet result = a;
  auto append = [](std::vector<AffineExpr>& to, const std::vector<AffineExpr>& from) {
    for (const AffineExpr& expr : from) {
      if (std::find(to.begin(), to.end(), expr) == to.end()) to.push_back(expr);
    }
  };
  append(result.equalities, b.equalities);
  append(result.inequalities, b.inequalities);
  return result;
}

static bool is_everywhere(const Region& region) {
  return std::any_of(region.pieces.begin(), region.pieces.end(), [](const BasicSet& piece) {
    return piece.equalities.empty() && piece.inequalities.empty();
  });
}

Region meet(const Region& a, const Region& b) {
  Region result{{}, a.exact && b.exact};
  if (a.pieces.size() * b.pieces.size() > kMaxPieces) return {a.pieces, false};
  for (const BasicSet& left : a.pieces) {
    for (const BasicSet& right : b.pieces) result.pieces.push_back(both(left, right));
  }
  return result;
}

Region join(const Region& a, const Region& b) {
  // What holds everywhere by an exact operand stays exact.
  if (is_everywhere(a) && a.exact) return Region::everywhere();
  if (is_everywhere(b) && b.exact) return Region::everywhere();
  if (a.pieces.size() + b.pieces.size() > kMaxPieces) return Region::everywhere(false);
  Region result{a.pieces, a.exact && b.exact};
  for (const BasicSet& piece : b.pieces) {
    if (std::find(result.pieces.begin(), result.pieces.end(), piece) == result.pieces.end()) {
      result.pieces.push_back(piece);
    }
  }
  return result;
}

// Calls `combine(left value, right value)`, which gives one or more cases, for all pairs of cases.
template <class Combine>
static std::optional<IndexCases> paired(Expr a, Expr b, const Combine& combine) {
  std::optional<IndexCases> left = index_cases(a);
  std::optional<IndexCases> right = index_cases(b);
  if (!left || !right) return std::nullopt;
  IndexCases result{{}, left->exact && right->exact};
  for (const IndexCase& x : left->cases) {
    for (const IndexCase& y : right->cases) {
      for (IndexCase& one : combine(x.value, y.value)) {
        one.condition = both(both(x.condition, y.condition), one.condition);
        result.cases.push_back(std::move(one));
      }
      if (result.cases.size() > kMaxPieces) return std::nullopt;
    }
  }
  return result;
}

static std::vector<IndexCase> single(AffineExpr value) { return {{BasicSet(), std::move(value)}}; }

// The smaller (larger) of two values.
static std::vector<IndexCase> extremum(const AffineExpr& a, const AffineExpr& b, bool smaller) {
  AffineExpr difference = smaller ? b - a : a - b;
  if (difference.is_constant()) return single(difference.constant() >= 0 ? a : b);
  return {{BasicSet().at_least(difference, AffineExpr()), a},
          {BasicSet().less(difference, AffineExpr()), b}};
}

static std::optional<std::int64_t> literal(Expr expr) {
  const auto* constant = expr.as<ir::IntConst>();
  if (constant == nullptr) return std::nullopt;
  return constant->value;
}

// a / b by floor for a literal b of either sign.
static std::optional<IndexCases> divided(Expr a, Expr b, bool modulus) {
  std::optional<std::int64_t> divisor = literal(b);
  std::optional<IndexCases> cases = index_cases(a);
  if (!cases || !divisor || *divisor == 0 || *divisor == std::numeric_limits<std::int64_t>::min()) {
    return std::nullopt;
  }
  for (IndexCase& one : cases->cases) {
    AffineExpr quotient =
        *divisor > 0 ? floor_div(one.value, *divisor) : floor_div(-one.value, -*divisor);
    one.value = modulus ? one.value - quotient * *divisor : quotient;
  }
  return cases;
}

static std::optional<IndexCases> multiplied(Expr a, Expr b) {
  std::optional<IndexCases> left = index_cases(a);
  std::optional<IndexCases> right = index_cases(b);
  if (!left || !right) return std::nullopt;
  auto is_constant = [](const IndexCases& cases) {
    return std::all_of(cases.cases.begin(), cases.cases.end(),
                       [](const IndexCase& one) { return one.value.is_constant(); });
  };
  if (!is_constant(*left) && !is_constant(*right)) return std::nullopt;
  return paired(a, b, [](const AffineExpr& x, const AffineExpr& y) {
    return single(x.is_constant() ? y * x.constant() : x * y.constant());
  });
}

static std::optional<IndexCases> op_cases(const ir::Op& op) {
  auto arg = [&](std::size_t i) { return op.args[i]; };
  switch (op.op) {
    case OpCode::Add:
      return paired(arg(0), arg(1), [](const auto& x, const auto& y) { return single(x + y); });
    case OpCode::Sub:
      return paired(arg(0), arg(1), [](const auto& x, const auto& y) { return single(x - y); });
    case OpCode::Mul: return multiplied(arg(0), arg(1));
    case OpCode::Div: return divided(arg(0), arg(1), false);
    case OpCode::Mod: return divided(arg(0), arg(1), true);
    case OpCode::Min:
    case OpCode::Max:
      return paired(arg(0), arg(1), [&](const auto& x, const auto& y) {
        return extremum(x, y, op.op == OpCode::Min);
      });
    case OpCode::Neg:
      return paired(arg(0), arg(0), [](const auto& x, const auto&) { return single(-x); });
    case OpCode::Abs:
      return paired(arg(0), arg(0),
                    [](const auto& x, const auto&) { return extremum(x, -x, false); });
    default: return std::nullopt;
  }
}

static std::optional<IndexCases> select_cases(const ir::Select& select) {
  IndexCases result;
  for (bool truth : {true, false}) {
    Region region = region_of(select.condition, truth);
    std::optional<IndexCases> arm = index_cases(truth ? select.then_value : select.else_value);
    if (!arm) return std::nullopt;
    result.exact = result.exact && region.exact && arm->exact;
    for (const BasicSet& piece : region.pieces) {
      for (const IndexCase& one : arm->cases) {
        result.cases.push_back({both(piece, one.condition), one.value});
      }
    }
    if (result.cases.size() > kMaxPieces) return std::nullopt;
  }
  return result;
}

std::optional<IndexCases> index_cases(Expr index) {
  if (index.type() != ir::ScalarType::Index) return std::nullopt;
  if (std::optional<std::int64_t> value = literal(index)) {
    return IndexCases{single(AffineExpr(*value)), true};
  }
  if (const auto* var = index.as<ir::Var>()) {
    return IndexCases{single(AffineExpr::variable(var->name.text())), true};
  }
  if (const auto* extent = index.as<ir::Extent>()) {
    return IndexCases{single(AffineExpr::variable(extent->name.text())), true};
  }
  if (const auto* op = index.as<ir::Op>()) return op_cases(*op);
  if (const auto* select = index.as<ir::Select>()) return select_cases(*select);
  return std::nullopt;
}

std::optional<AffineExpr> affine_of(Expr index) {
  std::optional<IndexCases> cases = index_cases(index);
  if (!cases || cases->cases.size() != 1 || !cases->exact) return std::nullopt;
  const IndexCase& only = cases->cases.front();
  if (!only.condition.equalities.empty() || !only.condition.inequalities.empty()) {
    return std::nullopt;
  }
  return only.value;
}

// Where the value of `dim` respects a bound on one side.
static Region side_region(const AffineExpr& dim, Expr bound, bool is_lower) {
  const auto* op = bound.as<ir::Op>();
  if (op != nullptr && op->op == (is_lower ? OpCode::Max : OpCode::Min)) {
    // Both operands bound it: one conjunction instead of two cases.
    return meet(side_region(dim, op->args[0], is_lower), side_region(dim, op->args[1], is_lower));
  }
  std::optional<IndexCases> cases = index_cases(bound);
  if (!cases) return Region::everywhere(false);
  Region region{{}, cases->exact};
  for (const IndexCase& one : cases->cases) {
    BasicSet piece = one.condition;
    if (is_lower) {
      piece.at_least(dim, one.value);
    } else {
      piece.less(dim, one.value);
    }
    region.pieces.push_back(std::move(piece));
  }
  return region;
}

Region range_region(const std::string& dim, Expr lower, Expr upper) {
  AffineExpr value = AffineExpr::variable(dim);
  Region above = lower ? side_region(value, lower, true)
                       : Region{{BasicSet().at_least(value, AffineExpr())}, true};
  return meet(above, side_region(value, upper, false));
}

// Where the comparison of a difference with 0 holds.
static std::vector<BasicSet> compared(OpCode op, const AffineExpr& difference) {
  const AffineExpr zero;
  switch (op) {
    case OpCode::Lt: return {BasicSet().less(difference, zero)};
    case OpCode::Le: return {BasicSet().at_least(zero, difference)};
    case OpCode::Gt: return {BasicSet().less(zero, difference)};
    case OpCode::Ge: return {BasicSet().at_least(difference, zero)};
    case OpCode::Eq: return {BasicSet().equal(difference, zero)};
    default: return {BasicSet().less(difference, zero), BasicSet().less(zero, difference)};
  }
}

static OpCode opposite(OpCode op) {
  switch (op) {
    case OpCode::Lt: return OpCode::Ge;
    case OpCode::Le: return OpCode::Gt;
    case OpCode::Gt: return OpCode::Le;
    case OpCode::Ge: return OpCode::Lt;
    case OpCode::Eq: return OpCode::Ne;
    default: return OpCode::Eq;
  }
}

static Region comparison_region(OpCode op, Expr a, Expr b) {
  std::optional<IndexCases> left = index_cases(a);
  std::optional<IndexCases> right = index_cases(b);
  if (!left || !right) return Region::everywhere(false);
  Region result{{}, left->exact && right->exact};
  for (const IndexCase& x : left->cases) {
    for (const IndexCase& y : right->cases) {
      for (const BasicSet& piece : compared(op, x.value - y.value)) {
        result.pieces.push_back(both(both(x.condition, y.condition), piece));
      }
    }
  }
  return result.pieces.size() <= kMaxPieces ? result : Region::everywhere(false);
}

Region region_of(Expr condition, bool truth) {
  if (const auto* constant = condition.as<ir::BoolConst>()) {
    return constant->value == truth ? Region::everywhere() : Region{{}, true};
  }
  if (const auto* select = condition.as<ir::Select>()) {
    Region then = meet(region_of(select->condition, true), region_of(select->then_value, truth));
    Region other = meet(region_of(select->condition, false), region_of(select->else_value, truth));
    return join(then, other);
  }
  const auto* op = condition.as<ir::Op>();
  if (op == nullptr) return Region::everywhere(false);
  switch (op->op) {
    case OpCode::Not: return region_of(op->args[0], !truth);
    case OpCode::And:
    case OpCode::Or: {
      Region left = region_of(op->args[0], truth);
      Region right = region_of(op->args[1], truth);
      return (op->op == OpCode::And) == truth ? meet(left, right) : join(left, right);
    }
    case OpCode::Lt:
    case OpCode::Le:
    case OpCode::Gt:
    case OpCode::Ge:
    case OpCode::Eq:
    case OpCode::Ne:
      if (op->args[0].type() != ir::ScalarType::Index) return Region::everywhere(false);
      return comparison_region(truth ? op->op : opposite(op->op), op->args[0], op->args[1]);
    default: return Region::everywhere(false);
  }
}

}  // namespace tilewright::poly
