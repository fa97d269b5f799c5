// SPDX-License-Identifier: Apache-2.0
#include "lowering/rounding/index_sizes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "frontend/ir/simplify.h"
#include "frontend/ir/walk.h"

namespace tilewright::rounding {

namespace {

using ir::Expr;
using ir::OpCode;

constexpr double kInf = std::numeric_limits<double>::infinity();

const ir::Op* op_of(Expr expr, OpCode code) {
  const auto* op = expr.as<ir::Op>();
  return op && op->op == code ? op : nullptr;
}

}  // namespace

double IndexSizes::least(Expr index) const {
  if (const auto* c = index.as<ir::IntConst>()) return static_cast<double>(c->value);
  if (const auto* extent = index.as<ir::Extent>()) {
    for (const ir::ExtentDecl& decl : program_.extents)
      if (decl.name == extent->name)
        return static_cast<double>(std::max<std::int64_t>(decl.min, 0));
    return 0;
  }
  if (const auto* var = index.as<ir::Var>()) {
    const auto loop = loops_.find(var->name);
    return loop == loops_.end() ? -kInf : least(loop->second.lower);
  }
  const auto* op = index.as<ir::Op>();
  if (op == nullptr) return -kInf;
  switch (op->op) {
    case OpCode::Add: return least(op->args[0]) + least(op->args[1]);
    case OpCode::Mul: {
      const double a = least(op->args[0]);
      const double b = least(op->args[1]);
      return a >= 0 && b >= 0 ? a * b : -kInf;
    }
    case OpCode::Div: {
      const auto* by = op->args[1].as<ir::IntConst>();
      return by && by->value > 0 ? std::floor(least(op->args[0]) / static_cast<double>(by->value))
                                 : -kInf;
    }
    case OpCode::Mod: {
      const auto* by = op->args[1].as<ir::IntConst>();
      return by && by->value > 0 ? 0 : -kInf;
    }
    case OpCode::Min: return std::min(least(op->args[0]), least(op->args[1]));
    case OpCode::Max: return std::max(least(op->args[0]), least(op->args[1]));
    default: return -kInf;
  }
}

Formula IndexSizes::most(Expr index) const {
  if (const auto* c = index.as<ir::IntConst>()) return {static_cast<double>(c->value)};
  if (const auto* extent = index.as<ir::Extent>())
    return Formula::name(std::string(extent->name.text()));
  if (const auto* var = index.as<ir::Var>()) {
    const auto loop = loops_.find(var->name);
    return loop == loops_.end() ? Formula(kInf) : most(loop->second.upper);
  }
  const auto* op = index.as<ir::Op>();
  if (op == nullptr) return {kInf};
  const auto* by = op->args.size() == 2 ? op->args[1].as<ir::IntConst>() : nullptr;
  switch (op->op) {
    case OpCode::Add: return most(op->args[0]) + most(op->args[1]);
    case OpCode::Sub: return difference(op->args[0], op->args[1]);
    case OpCode::Mul:
      if (least(op->args[0]) < 0 || least(op->args[1]) < 0) return {kInf};
      return most(op->args[0]) * most(op->args[1]);
    case OpCode::Div:
      if (!by || by->value <= 0) return {kInf};
      return Formula::larger(most(op->args[0]), 0.0) / Formula(static_cast<double>(by->value));
    case OpCode::Mod:
      return by && by->value > 0 ? Formula(static_cast<double>(by->value - 1)) : Formula(kInf);
    case OpCode::Min: {
      const Formula a = most(op->args[0]);
      const Formula b = most(op->args[1]);
      if (a.is_number() != b.is_number() && std::isfinite((a.is_number() ? a : b).number()))
        return a.is_number() ? a : b;
      return Formula::smaller(a, b);
    }
    case OpCode::Max: return Formula::larger(most(op->args[0]), most(op->args[1]));
    default: return {kInf};
  }
}

// What is in both goes first.
Formula IndexSizes::difference(Expr upper, Expr lower) const {
  if (const auto* min = op_of(upper, OpCode::Min)) {
    const Formula a = difference(min->args[0], lower);
    const Formula b = difference(min->args[1], lower);
    if (a.is_number() != b.is_number() && std::isfinite((a.is_number() ? a : b).number()))
      return a.is_number() ? a : b;
    return Formula::smaller(a, b);
  }
  const auto form = ir::linear_form(context_.sub(upper, lower));
  if (!form) return {kInf};
  Formula out(0.0);
  double constant = static_cast<double>(form->constant);
  for (const auto& [atom, coefficient] : form->terms) {
    if (coefficient > 0)
      out = out + most(atom) * Formula(static_cast<double>(coefficient));
    else
      constant += static_cast<double>(coefficient) * least(atom);
  }
  if (constant < 0 && std::isfinite(constant)) return out - Formula(-constant);
  return out + Formula(constant);
}

Formula IndexSizes::size(Expr index) const {
  const double low = least(index);
  const Formula high = most(index);
  return low >= 0 ? high : Formula::larger(high, std::fabs(low));
}

Formula IndexSizes::trips(const LoopRange& loop) const {
  return Formula::larger(difference(loop.upper, loop.lower), 1.0);
}

// Variables that are known once the cell is: their multiples in the index are digits of a number, or all others of the
// index are known anyway.
std::vector<Symbol> IndexSizes::told(const std::vector<LoopRange>& loops, Expr index) const {
  const auto form = ir::linear_form(index);
  if (!form) return {};
  struct Digit {
    Symbol var;
    double step = 0;
    double trips = kInf;
  };
  std::vector<Digit> digits;
  for (const auto& [atom, coefficient] : form->terms) {
    bool mentions = false;
    for (const LoopRange& loop : loops) {
      const auto* var = atom.as<ir::Var>();
      if (var && var->name == loop.var) {
        const Formula count = trips(loop);
        digits.push_back({loop.var, std::fabs(static_cast<double>(coefficient)),
                          count.is_number() ? count.number() : kInf});
      } else {
        for (Symbol name : ir::free_vars(atom)) mentions = mentions || name == loop.var;
      }
    }
    if (mentions) return {};
  }
  std::sort(digits.begin(), digits.end(),
            [](const Digit& a, const Digit& b) { return a.step < b.step; });
  double reach = 0;
  std::vector<Symbol> out;
  for (const Digit& digit : digits) {
    if (!(digit.step > reach)) {
      // With the others given, one of them is known: the one with the most iterations.
      const auto longest =
          std::max_element(digits.begin(), digits.end(),
                           [](const Digit& a, const Digit& b) { return a.trips < b.trips; });
      return {longest->var};
    }
    out.push_back(digit.var);
    reach += digit.step * (digit.trips - 1);
  }
  return out;
}

Formula IndexSizes::visits(const std::vector<LoopRange>& loops,
                           const std::vector<Expr>& cell) const {
  std::set<Symbol> known;
  for (Expr index : cell)
    for (Symbol var : told(loops, index)) known.insert(var);
  Formula out(1.0);
  for (const LoopRange& loop : loops)
    if (!known.contains(loop.var)) out = out * trips(loop);
  return out;
}

}  // namespace tilewright::rounding
