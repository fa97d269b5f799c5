// SPDX-License-Identifier: Apache-2.0
//
// The checker of translations: the plain value of Index and Bool expressions at one place, and which cells
// an expression reads there. Nothing polyhedral.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ir/algorithm.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "schedules/polyhedra/affine.h"

namespace tilewright::poly {

inline std::int64_t plain_floor(std::int64_t a, std::int64_t b) {
  std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

inline std::int64_t plain_value(ir::Expr expr, const Binding& at) {
  if (const auto* known = expr.as<ir::IntConst>()) return known->value;
  if (const auto* known = expr.as<ir::BoolConst>()) return known->value ? 1 : 0;
  if (const auto* var = expr.as<ir::Var>()) return at.find(var->name.text())->second;
  if (const auto* extent = expr.as<ir::Extent>()) return at.find(extent->name.text())->second;
  if (const auto* choice = expr.as<ir::Select>()) {
    return plain_value(choice->condition, at) != 0 ? plain_value(choice->then_value, at)
                                                   : plain_value(choice->else_value, at);
  }
  const auto* op = expr.as<ir::Op>();
  std::int64_t a = plain_value(op->args[0], at);
  std::int64_t b = op->args.size() > 1 ? plain_value(op->args[1], at) : 0;
  switch (op->op) {
    case ir::OpCode::Add: return a + b;
    case ir::OpCode::Sub: return a - b;
    case ir::OpCode::Mul: return a * b;
    case ir::OpCode::Div: return plain_floor(a, b);
    case ir::OpCode::Mod: return a - b * plain_floor(a, b);
    case ir::OpCode::Min: return std::min(a, b);
    case ir::OpCode::Max: return std::max(a, b);
    case ir::OpCode::Abs: return std::abs(a);
    case ir::OpCode::Neg: return -a;
    case ir::OpCode::Not: return a == 0;
    case ir::OpCode::And: return a != 0 && b != 0;
    case ir::OpCode::Or: return a != 0 || b != 0;
    case ir::OpCode::Eq: return a == b;
    case ir::OpCode::Ne: return a != b;
    case ir::OpCode::Lt: return a < b;
    case ir::OpCode::Le: return a <= b;
    case ir::OpCode::Gt: return a > b;
    case ir::OpCode::Ge: return a >= b;
    default: ADD_FAILURE() << "an operation that the evaluator does not know"; return 0;
  }
}

using Touched = std::set<std::pair<const ir::Read*, std::vector<std::int64_t>>>;

// The cells that evaluation of `expr` reads at one place: only the chosen arm of a select counts. A
// condition over data is taken both ways.
inline void collect_touched(ir::Expr expr, const Binding& at, Touched& touched) {
  if (const auto* read = expr.as<ir::Read>()) {
    std::vector<std::int64_t> cell;
    for (ir::Expr index : read->indices) cell.push_back(plain_value(index, at));
    touched.emplace(read, std::move(cell));
  }
  if (const auto* choice = expr.as<ir::Select>();
      choice != nullptr && ir::reads(choice->condition).empty()) {
    bool holds = plain_value(choice->condition, at) != 0;
    return collect_touched(holds ? choice->then_value : choice->else_value, at, touched);
  }
  ir::for_each_child(expr, [&](ir::Expr child) { collect_touched(child, at, touched); });
}

inline ir::Algorithm parsed(ir::Context& context, const std::string& text) {
  Source source("test.tw", text);
  Result<ir::Algorithm> algorithm = ir::parse_algorithm(context, source);
  if (!algorithm.ok()) {
    ADD_FAILURE() << algorithm.diagnostics().front().message << "\n" << text;
    std::abort();
  }
  return std::move(algorithm).value();
}

}  // namespace tilewright::poly
