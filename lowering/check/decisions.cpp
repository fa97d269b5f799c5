// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/decisions.h"

#include <algorithm>

#include "lowering/program/split_complex.h"

namespace tilewright::check {

namespace {

using program::DecisionKind;
using program::Stmt;

class Collector {
 public:
  Collector(ir::Context& context, Decisions& out) : context_(context), out_(out) {}

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
                       [&](const program::While& n) {
                         decide(DecisionKind::Branch, n.condition, Expr());
                         inside({Step::Kind::Holds, Symbol(), n.condition, Expr()}, n.body);
                       },
                       [&](const program::Bind& n) {
                         if (!n.lower.as<ir::IntConst>() || !n.upper.as<ir::IntConst>())
                           decide(DecisionKind::Loop, n.lower, n.upper);
                         inside({Step::Kind::Range, n.var, n.lower, n.upper}, n.body);
                       },
                       [&](const program::Ring& n) {
                         const Expr depth = context_.index(n.depth);
                         const int outer = at_;
                         enter({Step::Kind::Value, n.slot, context_.floor_mod(n.use, depth), {}});
                         enter({Step::Kind::Value, n.phase, context_.floor_div(n.use, depth), {}});
                         visit(n.body);
                         at_ = outer;
                       },
                       [&](const program::Atomic& n) {
                         if (n.body) data(n.old, n.value.type(), n.body);
                       },
                       [&](const program::Receive& n) { data(n.var, n.type, n.body); },
                       [&](const program::Vote& n) {
                         data(n.var,
                              n.vote == program::VoteKind::Ballot ? ir::ScalarType::Index
                                                                  : ir::ScalarType::Bool,
                              n.body);
                       },
                       [&](const auto&) {
                         program::for_each_part(stmt, [&](std::string_view, auto part) {
                           if constexpr (std::is_same_v<decltype(part), Stmt>) visit(part);
                         });
                       },
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
    enter(step);
    visit(body);
    at_ = outer;
  }

  void enter(Step step) {
    step.outer = at_;
    at_ = static_cast<int>(out_.steps.size());
    out_.steps.push_back(step);
  }

  // A body in which the variable is what a run found.
  void data(Symbol var, ir::ScalarType type, Stmt body) {
    inside({Step::Kind::Value, var, context_.read(var, {}, type), Expr()}, body);
  }

  ir::Context& context_;
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

Decisions decisions_of(ir::Context& context, const program::Program& program) {
  Decisions out;
  // A run is one of the parts of complex numbers.
  Collector(context, out).visit(program::split_complex(context, program).body);
  return out;
}

}  // namespace tilewright::check
