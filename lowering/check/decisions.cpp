// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/decisions.h"

#include <algorithm>

namespace tilewright::check {

namespace {

using program::DecisionKind;
using program::Stmt;

class Collector {
 public:
  explicit Collector(Decisions& out) : out_(out) {}

  void visit(Stmt stmt) {
    if (!stmt) return;
    program::visit(stmt,
                   ir::Overloaded{
                       [&](const program::Block& n) {
                         for (Stmt child : n.body) visit(child);
                       },
                       [&](const program::For& n) {
                         if (!n.lower.as<ir::IntConst>() || !n.upper.as<ir::IntConst>())
                           decide(DecisionKind::Loop, n.lower, n.upper);
                         minimum(n.lower);
                         minimum(n.upper);
                         inside({Step::Kind::Range, n.var, n.lower, n.upper}, n.body);
                       },
                       [&](const program::If& n) {
                         decide(DecisionKind::Branch, n.condition, Expr());
                         inside({Step::Kind::Holds, Symbol(), n.condition, Expr()}, n.then_body);
                         inside({Step::Kind::Fails, Symbol(), n.condition, Expr()}, n.else_body);
                       },
                       [&](const program::Let& n) {
                         inside({Step::Kind::Value, n.var, n.value, Expr()}, n.body);
                       },
                       [&](const program::Alloc& n) {
                         for (Expr extent : n.extents) minimum(extent);
                         visit(n.body);
                       },
                       [](const program::Store&) {},
                   });
  }

 private:
  void decide(DecisionKind kind, Expr a, Expr b) { out_.list.push_back({kind, a, b, at_}); }

  void minimum(Expr bound) {
    const auto* op = bound.as<ir::Op>();
    if (op && op->op == ir::OpCode::Min) decide(DecisionKind::Minimum, op->args[0], op->args[1]);
  }

  void inside(Step step, Stmt body) {
    if (!body) return;
    const int outer = at_;
    step.outer = outer;
    at_ = static_cast<int>(out_.steps.size());
    out_.steps.push_back(step);
    visit(body);
    at_ = outer;
  }

  Decisions& out_;
  int at_ = -1;
};

}  // namespace

std::vector<Step> Decisions::path(const Decision& decision) const {
  std::vector<Step> out;
  for (int at = decision.step; at >= 0; at = out.back().outer)
    out.push_back(steps[static_cast<std::size_t>(at)]);
  std::reverse(out.begin(), out.end());
  return out;
}

Decisions decisions_of(const program::Program& program) {
  Decisions out;
  Collector(out).visit(program.body);
  return out;
}

}  // namespace tilewright::check
