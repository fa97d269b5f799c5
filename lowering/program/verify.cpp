// SPDX-License-Identifier: Apache-2.0
//
// Invariants of a Program:
//   names       every name is one the text form can write; extents, parameters, loop variables, lets and
//               local buffers are bound once in the whole program, and used inside what binds them.
//   extents     0 <= min <= max; multiple_of >= 1; some multiple lies in the range; requirements and shapes
//               of parameters are over extents alone.
//   types       every operation takes its operands; a variable has the type of its binding; indices, bounds
//               and points are index; conditions are bool; a stored value has the type of its buffer; no
//               folds.
//   facts       of integer inputs; a range has both ends, over extents alone.
//   loops       bounds of vector and unrolled loops are constant; no parallel and no vector loop stands
//               inside a vector loop.
//   buffers     stack and register buffers have constant, positive extents; reads and stores have as many
//               indices as the buffer; stores go to local buffers and outputs.
//   plan        its buffers stand at the root, one inside the other, and are filled first, from constants
//               (plan.h).
//   agents      in verify_concurrent.cpp.
//   structure   bodies are present; a block does not hold a block, nor exactly one statement; nesting is at
//               most kMaxNesting levels.
#include "frontend/ir/verify.h"
#include "frontend/base/format.h"
#include "frontend/base/text.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/program/plan.h"
#include "lowering/program/verifier.h"

namespace tilewright::program {

namespace {

using ir::type_text;

Diagnostic finding(Code code, std::string message, std::string remedy) {
  return {code, {}, std::move(message), std::move(remedy), {}, {}};
}

std::optional<std::int64_t> constant(Expr e) {
  const auto* node = e.as<ir::IntConst>();
  return node ? std::optional(node->value) : std::nullopt;
}

}  // namespace

std::vector<Diagnostic> Verifier::run() {
  ir::verify_name(program_.name, "the program", {}, out_);
  ir::verify_name(program_.algorithm, "an algorithm", {}, out_);
  for (const ir::ExtentDecl& extent : program_.extents) {
    bind(extent.name, "the extent", extent.span);
    extents_.insert(extent.name);
    ir::verify_extent(extent, out_);
  }
  for (Expr requirement : program_.requirements)
    expr(requirement, ScalarType::Bool, "the requirement");
  for (const Parameter& parameter : program_.parameters) {
    for (Expr extent : parameter.shape) expr(extent, ScalarType::Index, "the extent");
    const ir::Facts& facts = parameter.facts;
    if (facts.any() && (parameter.is_output || !ir::is_integer(parameter.type) ||
                        static_cast<bool>(facts.lower) != static_cast<bool>(facts.upper) ||
                        ((facts.clamp || facts.injective) && !facts.lower)))
      out_.push_back(finding(Code::FactForm,
                             "a fact that " + in_backticks(parameter.name.text()) + " cannot have",
                             "declare facts of inputs of integers, with a range"));
    for (Expr bound : {facts.lower, facts.upper})
      if (bound) expr(bound, ScalarType::Index, "a bound of the range");
    if (parameter.is_inout && !parameter.is_output)
      out_.push_back(finding(Code::Malformed,
                             in_backticks(parameter.name.text()) + " is `inout` and no output",
                             "make it an output, or an input"));
    if (parameter.is_const && parameter.is_output)
      out_.push_back(finding(Code::Malformed,
                             in_backticks(parameter.name.text()) + " is `const` and an output",
                             "make it an input, or let it change"));
    bind(parameter.name, "the parameter", {});
    buffers_[parameter.name] = {parameter.type, parameter.shape.size(), parameter.is_output,
                                Space::Global, 0};
  }
  intrinsics();
  body(program_.body);
  if (out_.empty()) plan();
  return std::move(out_);
}

void Verifier::report(Expr e, Diagnostic d) {
  d.span = spans_ ? ir::find_span(spans_->exprs, e, span_) : span_;
  if (d.span.none()) d.evidence.emplace_back("expression", ir::print(e));
  out_.push_back(std::move(d));
}

void Verifier::report(Diagnostic d) {
  d.span = span_;
  out_.push_back(std::move(d));
}

void Verifier::bind(Symbol name, std::string_view what, Span span) {
  ir::verify_name(name, what, span, out_);
  if (bound_.insert(name).second) return;
  Diagnostic d = finding(Code::DuplicateName, in_backticks(name.text()) + " is bound twice",
                         "give one of the two another name");
  d.span = span;
  out_.push_back(std::move(d));
}

void Verifier::expr(Expr root, ScalarType type, const std::string& what) {
  if (!root) return report(finding(Code::Malformed, what + " is missing", "give it a value"));
  if (root.type() != type)
    report(root, finding(Code::DeclaredType,
                         what + " has type " + in_backticks(type_text(root.type())) + " where " +
                             in_backticks(type_text(type)) + " is needed",
                         "convert or compare it"));
  names(root);
}

void Verifier::exprs(NodeList<Expr> roots, const std::string& what) {
  for (Expr root : roots) expr(root, ScalarType::Index, what);
}

void Verifier::names(Expr root) {
  ir::verify_expr(root, [&](Expr e, Diagnostic d) { report(e, std::move(d)); });
  ir::walk(root, [&](Expr e) {
    if (const auto* extent = e.as<ir::Extent>(); extent && !extents_.contains(extent->name))
      report(e, finding(Code::UnknownName, in_backticks(extent->name.text()) + " is no extent",
                        "declare it with `extent`"));
    if (const auto* var = e.as<ir::Var>()) variable(e, *var);
    if (const auto* read = e.as<ir::Read>()) access(e, read->tensor, read->indices, read->type);
    if (e.as<ir::Fold>())
      report(e, finding(Code::FoldInProgram, "a program says with loops how to fold",
                        "write a loop that updates a buffer"));
  });
}

void Verifier::variable(Expr e, const ir::Var& var) {
  const auto it = vars_.find(var.name);
  if (it == vars_.end()) {
    report(e, finding(Code::UnknownName, in_backticks(var.name.text()) + " is not bound here",
                      "bind it with a loop or `let` around its uses"));
  } else if (it->second != var.type) {
    report(e, finding(Code::TypeMismatch,
                      in_backticks(var.name.text()) + " is used as another type than it has",
                      "use it with the type of its binding"));
  }
}

const Verifier::Buffer* Verifier::find_buffer(Symbol name, std::size_t rank) {
  const std::string shown = in_backticks(name.text());
  const auto it = buffers_.find(name);
  if (it == buffers_.end()) {
    report(finding(Code::UnknownName, shown + " is no buffer here",
                   "declare it as `input`, `output` or `alloc`"));
    return nullptr;
  }
  const Buffer& buffer = it->second;
  if (buffer.rank != rank)
    report(finding(
        Code::WrongRank,
        shown + " has " + std::to_string(buffer.rank) + " indices, found " + std::to_string(rank),
        "write one index for each dimension"));
  const bool is_private = buffer.space == Space::Register || buffer.space == Space::Stack;
  if (is_private && buffer.owner + 1 != agents_.size())
    report(finding(
        Code::PrivateBuffer,
        shown + " lies in the " + std::string(space_text(buffer.space)) + " of another agent",
        "allocate it inside the loop or role that uses it, or in `shared` memory"));
  return &buffer;
}

const Verifier::Buffer* Verifier::access(Expr e, Symbol name, NodeList<Expr> indices,
                                         ScalarType type) {
  const std::size_t before = out_.size();
  const Buffer* buffer = find_buffer(name, indices.size());
  // The place of the expression is closer than that of the statement.
  if (out_.size() > before) {
    Diagnostic d = std::move(out_.back());
    out_.pop_back();
    report(e, std::move(d));
  }
  if (!buffer) return nullptr;
  const std::string shown = in_backticks(name.text());
  if (buffer->type != type)
    report(e,
           finding(Code::DeclaredType,
                   shown + " holds " + in_backticks(type_text(buffer->type)) + ", found " +
                       in_backticks(type_text(type)),
                   "convert the value, as in `" + std::string(type_text(buffer->type)) + "(...)`"));
  for (Expr index : indices)
    if (index && index.type() != ScalarType::Index)
      report(index, finding(Code::DeclaredType, "an index of " + shown + " is no `index`",
                            "use loop variables, extents and integers"));
  return buffer;
}

void Verifier::writable(const Buffer* buffer, Symbol name) {
  if (buffer && !buffer->writable)
    report(finding(Code::StoreTarget, in_backticks(name.text()) + " is an input",
                   "store to an output or a local buffer"));
}

void Verifier::origin(Symbol origin, NodeList<Expr> point) {
  exprs(point, "the point");
  if (origin.valid())
    ir::verify_name(origin, "an origin", span_, out_);
  else if (!point.empty())
    report(finding(Code::Malformed, "a store with a point but without origin",
                   "name the tensor that the point belongs to"));
}

void Verifier::body_with(Symbol name, ScalarType type, std::string_view what, Stmt stmt) {
  bind(name, what, span_);
  vars_[name] = type;
  body(stmt);
  vars_.erase(name);
}

void Verifier::body(Stmt stmt) {
  if (!stmt) return report(finding(Code::Malformed, "a body is missing", "use an empty block"));
  if (depth_ == kMaxNesting)
    return report(finding(Code::NestingTooDeep,
                          "statements nest deeper than " + std::to_string(kMaxNesting) + " levels",
                          "split the program into several"));
  ++depth_;
  const Span outer = span_;
  if (spans_) {
    const auto it = spans_->stmts.find(stmt);
    if (it != spans_->stmts.end()) span_ = it->second;
  }
  place_of_statement(stmt);
  visit(stmt, [&](const auto& node) { check(node); });
  span_ = outer;
  --depth_;
}

void Verifier::check(const Block& n) {
  if (n.body.size() == 1)
    report(finding(Code::Malformed, "a block of one statement", "use the statement itself"));
  for (Stmt stmt : n.body) {
    if (stmt && stmt.as<Block>())
      report(finding(Code::Malformed, "a block directly inside a block", "join the two"));
    body(stmt);
  }
}

void Verifier::check(const For& n) {
  expr(n.lower, ScalarType::Index, "the lower bound");
  expr(n.upper, ScalarType::Index, "the upper bound");
  if (n.loop == LoopKind::Vector || n.loop == LoopKind::Unrolled) {
    for (Expr bound : {n.lower, n.upper})
      if (!constant(bound))
        report(bound, finding(Code::LoopBounds,
                              "the bound of a `" + std::string(loop_kind_text(n.loop)) +
                                  "` loop is not constant",
                              "split the loop by a constant and guard the rest with `if`"));
  }
  if (in_vector_ && n.loop == LoopKind::Parallel)
    report(finding(Code::ParallelInside, "a `parallel` loop inside a `vector` loop",
                   "put the `parallel` loop outside"));
  if (in_vector_ && n.loop == LoopKind::Vector)
    report(finding(Code::NestedVector, "a `vector` loop inside a `vector` loop",
                   "make one of the two `unrolled`"));
  const bool outer = in_vector_;
  in_vector_ = in_vector_ || n.loop == LoopKind::Vector;
  body_with(n.var, ScalarType::Index, "the loop variable", n.body);
  in_vector_ = outer;
}

void Verifier::check(const If& n) {
  expr(n.condition, ScalarType::Bool, "the condition");
  body(n.then_body);
  if (n.else_body) body(n.else_body);
}

void Verifier::check(const Let& n) {
  if (!n.value) return report(finding(Code::Malformed, "a `let` without value", "give it one"));
  names(n.value);
  body_with(n.var, n.value.type(), "the variable", n.body);
}

void Verifier::check(const Alloc& n) {
  exprs(n.extents, "the extent");
  if (n.space != Space::Workspace && n.space != Space::Global && n.space != Space::Plan) {
    for (Expr extent : n.extents)
      if (constant(extent).value_or(0) < 1)
        report(extent, finding(Code::BufferExtents,
                               "an extent of a `" + std::string(space_text(n.space)) +
                                   "` buffer is not constant and positive",
                               "write constant extents, or allocate it in `workspace`"));
  }
  space_exists(n);
  bind(n.buffer, "the buffer", span_);
  buffers_[n.buffer] = {n.type, n.extents.size(), true, n.space, agents_.size() - 1};
  const std::int64_t outer = registers_;
  const auto at = placed(n);
  if (at) placed_.push_back(*at);
  body(n.body);
  if (at) placed_.pop_back();
  registers_ = outer;
  buffers_.erase(n.buffer);
}

void Verifier::check(const Store& n) {
  if (!n.value) return report(finding(Code::Malformed, "a store without value", "give it one"));
  exprs(n.indices, "the index");
  names(n.value);
  writable(access(n.value, n.buffer, n.indices, n.value.type()), n.buffer);
  origin(n.origin, n.point);
}

// What plan.h takes apart: buffers of the plan one inside the other at the root, each filled first.
void Verifier::plan() {
  if (auto fault = find_plan_fault(program_)) {
    if (spans_)
      if (const auto it = spans_->stmts.find(fault->stmt); it != spans_->stmts.end())
        span_ = it->second;
    report(Code::PlanBuffer, fault->message, fault->remedy);
  }
}

std::vector<Diagnostic> verify(const Program& program, const ProgramSpans* spans) {
  return Verifier(program, spans).run();
}

}  // namespace tilewright::program
