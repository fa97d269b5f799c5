// SPDX-License-Identifier: Apache-2.0
//
// Expressions are recorded as they are written. Types, ranges and names are the reader's business; only what no
// text can hold is found here.
#include <cmath>

#include "frontend/base/format.h"
#include "frontend/language/node.h"

namespace tilewright::language {

namespace detail {

NodePtr leaf(NodeKind kind, std::string text, Where where) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->text = std::move(text);
  node->where = where;
  return node;
}

NodePtr mistake(Code code, std::string message, std::string remedy, Where where) {
  auto node = std::make_shared<Node>();
  node->text = std::move(message);
  node->where = where;
  node->code = code;
  node->remedy = std::move(remedy);
  return node;
}

NodePtr make_node(NodeKind kind, std::string_view text, std::vector<NodePtr> args, Where where,
                  DeclarationPtr declaration) {
  auto node = std::make_shared<Node>();
  for (NodePtr& arg : args) {
    if (!arg)
      arg = mistake(Code::EmptyExpression, "an `Expr` without a value is used",
                    "give it a value before it is used", where);
    node->levels = std::max(node->levels, arg->levels + 1);
    node->size += arg->size;
  }
  if (node->levels > kMaxLevels)
    return mistake(Code::NestingTooDeep,
                   "an expression of more than " + std::to_string(kMaxLevels) + " levels",
                   "give a part of it a `Tensor` of its own", where);
  if (node->size > kMaxSize)
    return mistake(Code::ExpressionTooLarge,
                   "an expression that is longer than " + std::to_string(kMaxSize) +
                       " parts when it is written out",
                   "give the part that is used often a `Tensor` of its own", where);
  node->kind = kind;
  node->text = text;
  node->args = std::move(args);
  node->where = where;
  node->declaration = std::move(declaration);
  return node;
}

NodePtr node_of(const Operand& operand) {
  if (operand.expr.node()) return operand.expr.node();
  return mistake(Code::EmptyExpression, "an `Expr` without a value is used",
                 "give it a value before it is used", operand.where);
}

NodePtr integer_literal(bool negative, std::uint64_t magnitude, Where where) {
  return leaf(NodeKind::Literal, (negative ? "-" : "") + std::to_string(magnitude), where);
}

namespace {

const Node* infix_of(const NodePtr& node, std::string_view symbol) {
  return node && node->kind == NodeKind::Infix && node->text == symbol ? node.get() : nullptr;
}

}  // namespace

std::optional<Range> range_of(const NodePtr& node) {
  const Node* both = infix_of(node, "&&");
  const Node* upper = infix_of(both ? both->args[1] : node, "<");
  if (!upper) return std::nullopt;
  Range range{upper->args[0].get(), nullptr, upper->args[1]};
  const Node* lower = infix_of(both ? both->args[0] : upper->args[0], "<=");
  if (both && !lower) return std::nullopt;
  if (lower) {
    range.lower = lower->args[0];
    const Node* var = lower->args[1].get();
    if (both && var->text != range.var->text) return std::nullopt;
    range.var = var;
  }
  if (range.var->kind != NodeKind::Name) return std::nullopt;
  return range;
}

Expr apply(const char* name, std::initializer_list<Operand> args, Where where) {
  std::vector<NodePtr> nodes;
  for (const Operand& arg : args) nodes.push_back(node_of(arg));
  return Expr(make_node(NodeKind::Call, name, std::move(nodes), where));
}

Expr infix(const char* symbol, const Operand& a, const Operand& b) {
  return Expr(make_node(NodeKind::Infix, symbol, {node_of(a), node_of(b)}, a.where));
}

Expr prefix(const char* symbol, const Operand& a) {
  return Expr(make_node(NodeKind::Prefix, symbol, {node_of(a)}, a.where));
}

namespace {

std::vector<NodePtr> nodes_of(const std::vector<Operand>& operands) {
  std::vector<NodePtr> out;
  for (const Operand& operand : operands) out.push_back(node_of(operand));
  return out;
}

}  // namespace

NodePtr make_fold(std::string_view text, FoldForm form, Where where, DeclarationPtr declaration) {
  std::vector<NodePtr> args;
  for (auto* list : {&form.ranges, &form.terms, &form.where, &form.on_empty, &form.base, &form.at,
                     &form.state}) {
    for (NodePtr& node : *list)
      if (!node)
        node = mistake(Code::EmptyExpression, "an `Expr` without a value is used",
                       "give it a value before it is used", where);
    args.insert(args.end(), list->begin(), list->end());
  }
  const NodePtr made =
      make_node(NodeKind::Fold, text, std::move(args), where, std::move(declaration));
  if (made->kind == NodeKind::Mistake) return made;
  auto out = std::make_shared<Node>(*made);
  out->fold = std::make_shared<const FoldForm>(std::move(form));
  return out;
}

Reduction fold(const char* monoid, const std::vector<RDom>& domain, const Values& terms,
               Where where) {
  FoldForm form;
  for (const RDom& variable : domain) form.ranges.push_back(variable.range().node());
  form.terms = nodes_of(terms.list());
  return Reduction(make_fold(monoid, std::move(form), where));
}

Reduction fold_or_apply(const char* name, const Expr& a, const Operand& b, Where where) {
  if (range_of(a.node())) return fold(name, {RDom(a, where)}, Values({b}), where);
  return Reduction(
      make_node(NodeKind::Call, name, {node_of(Operand(a, where)), node_of(b)}, where));
}

Reduction scan(const char* monoid, const Var& along, const Values& terms, Where where) {
  FoldForm form;
  form.kind = FoldForm::Kind::Scan;
  form.ranges = {leaf(NodeKind::Name, along.name(), where)};
  form.terms = nodes_of(terms.list());
  return Reduction(make_fold(monoid, std::move(form), where));
}

namespace {

// The same fold with a change; a Mistake where it is none.
template <class F>
Reduction changed(const Reduction& fold, const char* what, Where where, F&& change) {
  const NodePtr& node = fold.node();
  if (!node || !node->fold) {
    if (node && node->kind == NodeKind::Mistake) return fold;
    return Reduction(mistake(
        Code::FoldForm, in_backticks(what) + " of something that is no reduction",
        "write it after a reduction, as in `sum(k, x(k))." + std::string(what) + "(...)`", where));
  }
  FoldForm form = *node->fold;
  change(form);
  return Reduction(make_fold(node->text, std::move(form), node->where, node->declaration));
}

}  // namespace

}  // namespace detail

using detail::NodeKind;

Expr::Expr(Truth truth, Where where)
    : node_(detail::leaf(NodeKind::Literal, truth.value ? "true" : "false", where)) {}

Expr::Expr(double value, Where where) {
  std::string text = format_double(value);
  // `2` is an integer in a text; a double that is one still says that it is a float.
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  node_ = detail::leaf(NodeKind::Literal, std::move(text), where);
}

Expr::Expr(const Var& var, Where where) : node_(detail::leaf(NodeKind::Name, var.name(), where)) {}

Expr::Expr(const RDom& var, Where where)
    : node_(var.name().empty() && detail::range_of(var.range().node()) == std::nullopt
                ? detail::mistake(Code::NotARange, "this is the range of no variable",
                                  "write `RDom k(\"k\", K)`", where)
                : detail::leaf(NodeKind::Name, var.name(), where)) {}

Expr::Expr(const Extent& extent, Where where)
    : node_(detail::make_node(NodeKind::Extent, {}, {}, where, extent.declaration_)) {}

Expr::Expr(const Loop& loop, Where where)
    : node_(detail::make_node(NodeKind::Extent, {}, {}, where, loop.state_->declaration)) {}

Expr::Expr(const State& state, Where where)
    : node_(detail::leaf(NodeKind::Name, state.name(), where)) {}

Expr::Expr(const Tensor& scalar, Where where) : Expr(scalar.element({}, where), where) {}

Expr::Expr(const Ref& read, Where where) {
  const detail::Declaration& tensor = *read.declaration_;
  if (!tensor.known()) {
    node_ = detail::mistake(Code::UsedBeforeDefinition,
                            in_backticks(tensor.name) + " is read before it is defined",
                            "assign to an element of it first", where);
    return;
  }
  std::vector<detail::NodePtr> args;
  for (const Operand& arg : read.args_) args.push_back(detail::node_of(arg));
  node_ = detail::make_node(NodeKind::Read, {}, std::move(args), read.where_, read.declaration_);
}

Expr Type::operator()(Operand value, Where where) const {
  return detail::apply(name_, {value}, where);
}

Reduction Reduction::where(Operand condition, Where at) const {
  return detail::changed(*this, "where", at, [&](detail::FoldForm& form) {
    detail::NodePtr node = detail::node_of(condition);
    // A second condition holds as well.
    if (!form.where.empty())
      node = detail::make_node(NodeKind::Infix, "&&", {form.where[0], node}, at);
    form.where = {node};
  });
}

Reduction Reduction::on_empty(Values values, Where at) const {
  return detail::changed(*this, "on_empty", at, [&](detail::FoldForm& form) {
    form.on_empty = detail::nodes_of(values.list());
  });
}

Reduction Reduction::at(std::vector<Operand> cell, Where at) const {
  return detail::changed(*this, "at", at, [&](detail::FoldForm& form) {
    form.at = detail::nodes_of(cell);
    form.has_at = true;
  });
}

Reduction scan(const Var& along, std::vector<State::Start> state, Values terms, Where where) {
  detail::FoldForm form;
  form.kind = detail::FoldForm::Kind::Scan;
  form.ranges = {detail::leaf(NodeKind::Name, along.name(), where)};
  form.terms = detail::nodes_of(terms.list());
  for (const State::Start& start : state) {
    form.state.push_back(detail::leaf(NodeKind::Name, start.name, start.value.where));
    form.base.push_back(detail::node_of(start.value));
  }
  return Reduction(detail::make_fold({}, std::move(form), where));
}

Reduction update(Values base, const Reduction& terms, Where where) {
  return detail::changed(terms, "update", where, [&](detail::FoldForm& form) {
    form.kind = detail::FoldForm::Kind::Update;
    form.base = detail::nodes_of(base.list());
  });
}

Reduction sort(const RDom& variable, Operand value, Where where) {
  return detail::fold("sort", {variable}, Values({value}), where);
}

Reduction sort_descending(const RDom& variable, Operand value, Where where) {
  return detail::fold("sort_descending", {variable}, Values({value}), where);
}

Expr Element::field_of(const std::string& field, Where where) const {
  return Expr(detail::leaf(NodeKind::Name, name_ + "." + field, where));
}

namespace {

// A function whose first argument is a type.
Expr apply_type(const char* name, Type type, const Operand& value, Where where) {
  return Expr(detail::make_node(
      NodeKind::Call, name,
      {detail::leaf(NodeKind::TypeName, type.name(), where), detail::node_of(value)}, where));
}

}  // namespace

Expr round_to(Type grid, Operand value, Where where) {
  return apply_type("round_to", grid, value, where);
}

Expr saturate(Type type, Operand value, Where where) {
  return apply_type("saturate", type, value, where);
}

namespace {

Expr range_expr(const std::string& name, const Operand* lower, const Operand& upper, Where where) {
  const auto var = [&] { return detail::leaf(NodeKind::Name, name, where); };
  detail::NodePtr below =
      detail::make_node(NodeKind::Infix, "<", {var(), detail::node_of(upper)}, where);
  if (!lower) return Expr(std::move(below));
  detail::NodePtr from =
      detail::make_node(NodeKind::Infix, "<=", {detail::node_of(*lower), var()}, where);
  return Expr(detail::make_node(NodeKind::Infix, "&&", {std::move(from), std::move(below)}, where));
}

}  // namespace

RDom::RDom(std::string name, Operand upper, Where where)
    : name_(std::move(name)), range_(range_expr(name_, nullptr, upper, where)) {}

RDom::RDom(std::string name, Operand lower, Operand upper, Where where)
    : name_(std::move(name)), range_(range_expr(name_, &lower, upper, where)) {}

RDom::RDom(const Expr& range, Where where) : range_(detail::node_of(Operand(range, where))) {
  if (const auto found = detail::range_of(range_.node())) name_ = found->var->text;
}

}  // namespace tilewright::language
