// SPDX-License-Identifier: Apache-2.0
#include "frontend/language/transcript.h"

#include <algorithm>

#include "frontend/base/format.h"
#include "frontend/base/text.h"
#include "frontend/ir/expr_syntax.h"
#include "frontend/ir/type.h"

namespace tilewright::language::detail {

namespace {

bool covers(Span outer, Span inner) { return outer.begin <= inner.begin && inner.end <= outer.end; }

bool usable_name(const std::string& text) { return is_name(text) && !ir::is_reserved_name(text); }

}  // namespace

Transcript::Transcript(const AlgorithmState& root) : root_(root), algorithm_(&root) {
  gather(root);
  // A name that nothing declares: what stands for a mistake must be unknown to the reader.
  const auto taken = [&] {
    return std::any_of(all_.begin(), all_.end(), [&](const AlgorithmState* a) {
      return std::any_of(a->declarations.begin(), a->declarations.end(),
                         [&](const DeclarationPtr& d) { return d->name.starts_with(unknown_); });
    });
  };
  while (taken()) unknown_ += '_';
  for (const AlgorithmState* one : all_) {
    algorithm_ = one;
    for (const auto& declared : one->monoids)
      statement(declared->declaration->where,
                "the reduction " + in_backticks(declared->declaration->name),
                [&] { monoid(*declared); });
  }
  for (const AlgorithmState* one : all_) algorithm(*one);
}

void Transcript::gather(const AlgorithmState& algorithm) {
  if (std::find(all_.begin(), all_.end(), &algorithm) != all_.end()) return;
  for (const Definition& definition : algorithm.definitions)
    if (definition.call && definition.call->callee.get() != &algorithm)
      gather(*definition.call->callee);
  if (std::find(all_.begin(), all_.end(), &algorithm) == all_.end()) all_.push_back(&algorithm);
}

void Transcript::algorithm(const AlgorithmState& algorithm) {
  algorithm_ = &algorithm;
  using Kind = Declaration::Kind;
  statement(algorithm.where, {}, [&] { header(); });
  for (const DeclarationPtr& declared : algorithm.declarations)
    if (declared->kind == Kind::Input)
      statement(declared->where, "the input " + in_backticks(declared->name),
                [&] { input(*declared); });
  // After the inputs, so that a condition on data is called that.
  for (const Operand& requirement : algorithm.requirements)
    statement(requirement.where, "the requirement", [&] {
      text_ += "requires ";
      expr(node_of(requirement));
    });
  for (const Definition& defined : algorithm.definitions) {
    const std::string name = in_backticks(defined.declaration->name);
    if (defined.begins)
      statement(defined.where, "the loop over " + name,
                [&] { begin_loop(*defined.begins, defined.where); });
    else if (defined.ends)
      statement(defined.where, "the end of the loop over " + name, [&] { text_ += '}'; });
    else if (defined.call)
      statement(defined.where, "the call for " + name, [&] { call(defined); });
    else
      statement(defined.where, "the definition of " + name, [&] { definition(defined); });
  }
  for (const Definition& defined : algorithm.definitions)
    if (defined.begins && !defined.begins->ended) text_ += "}\n";
  text_ += "}\n";
  undefined();
  for (const Diagnostic& mistake : algorithm.mistakes)
    mistakes_.emplace_back(text_.size(), mistake);
}

void Transcript::monoid(const MonoidState& monoid) {
  text_ += "monoid ";
  name(monoid.declaration->name, "a reduction", monoid.declaration->where);
  text_ += '(';
  for (std::size_t i = 0; i < monoid.fields.size(); ++i) {
    if (i > 0) text_ += ", ";
    name(monoid.fields[i].name, "a field", monoid.declaration->where);
    text_ += " : ";
    type(monoid.fields[i].type.name(), monoid.declaration->where);
  }
  text_ += monoid.commutative ? ") commutative { identity " : ") { identity ";
  std::vector<NodePtr> nodes;
  for (const Operand& value : monoid.identity) nodes.push_back(node_of(value));
  list(nodes);
  text_ += " combine(" + monoid.left + ", " + monoid.right + ") = ";
  nodes.clear();
  for (const Operand& value : monoid.combine) nodes.push_back(node_of(value));
  if (nodes.empty()) {
    report(Code::NeverDefined,
           in_backticks(monoid.declaration->name) + " does not say what two elements combine to",
           "write `" + monoid.declaration->name + "(a, b) = {...}`", monoid.declaration->where);
    // Something in its place, so that the rest is read.
    for (const Operand& value : monoid.identity) nodes.push_back(node_of(value));
  }
  piece(monoid.combined, [&] { list(nodes); });
  text_ += " }";
}

void Transcript::tensor_name(const Declaration* tensor, Where where) {
  if (!tensor) {
    report(Code::LoopForm, "the loop does not say what a carried tensor is next",
           "write `l.next(h, n)`", where);
    return placeholder();
  }
  piece(where, [&] {
    if (!owned(*tensor, where)) return;
    name(tensor->name, "a tensor", tensor->where);
  });
}

void Transcript::begin_loop(const LoopState& loop, Where where) {
  text_ += "loop ";
  name(loop.declaration->name, "the variable of a loop", where);
  text_ += " < ";
  expr(node_of(*loop.trips));
  if (loop.condition) {
    text_ += " while ";
    expr(node_of(*loop.condition));
  }
  for (std::size_t i = 0; i < loop.carries.size(); ++i) {
    const LoopState::Carry& carry = loop.carries[i];
    text_ += i ? ", " : " carry ";
    tensor_name(carry.tensor.get(), carry.where);
    text_ += " = ";
    tensor_name(carry.start.get(), carry.where);
    text_ += " then ";
    tensor_name(carry.next.get(), carry.where);
  }
  if (loop.carries.empty())
    report(Code::LoopForm,
           "the loop over " + in_backticks(loop.declaration->name) + " carries nothing",
           "carry what an iteration gives to the next: `Tensor h = l.carry(\"h\", start)`", where);
  text_ += " {";
  if (!loop.ended)
    report(Code::LoopForm,
           "the loop over " + in_backticks(loop.declaration->name) + " does not end",
           "write `end()` after its equations", where);
}

void Transcript::call(const Definition& definition) {
  const CallState& call = *definition.call;
  if (call.results[0]->is_output) text_ += "output ";
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    if (i > 0) text_ += ", ";
    tensor_name(call.results[i].get(), definition.where);
  }
  text_ += " = " + call.callee->owner->name + '(';
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const CallState::Passed& argument = call.arguments[i];
    if (i > 0) text_ += ", ";
    piece(argument.where, [&] {
      name(argument.input, "an input", argument.where);
      text_ += " = ";
      tensor_name(argument.tensor.get(), argument.where);
      if (argument.indices.empty()) return;
      text_ += '[';
      std::vector<NodePtr> nodes;
      for (const Operand& index : argument.indices) nodes.push_back(node_of(index));
      list(nodes);
      text_ += ']';
    });
  }
  text_ += ')';
}

void Transcript::header() {
  text_ += "algorithm ";
  name(algorithm_->owner->name, "the algorithm", algorithm_->where);
  text_ += '(';
  bool first = true;
  for (const DeclarationPtr& declared : algorithm_->declarations) {
    if (declared->kind != Declaration::Kind::Extent) continue;
    if (!first) text_ += ", ";
    first = false;
    piece(declared->where, [&] {
      name(declared->name, "an extent", declared->where);
      const ExtentRange& range = declared->range;
      text_ += " min " + std::to_string(range.min);
      if (range.max) text_ += " max " + std::to_string(*range.max);
      text_ += " multiple_of " + std::to_string(range.multiple_of);
    });
  }
  text_ += ") {";
}

void Transcript::input(const Declaration& input) {
  text_ += input.what == "inout" ? "inout " : input.what == "const" ? "const input " : "input ";
  name(input.name, "an input", input.where);
  text_ += " : ";
  type(input.type, input.where);
  text_ += '[';
  for (std::size_t i = 0; i < input.shape.size(); ++i) {
    if (i > 0) text_ += ", ";
    piece(input.shape[i].where, [&] { expr(node_of(input.shape[i])); });
  }
  text_ += ']';
  if (!input.values.empty()) {
    text_ += " range ";
    expr(node_of(input.values[0]));
    text_ += " .. ";
    expr(node_of(input.values[1]));
  }
  for (const char* word : {" clamp", " monotone", " injective", " permutation", " assumed"})
    if (input.facts.find(word) != std::string::npos) text_ += word;
}

void Transcript::definition(const Definition& definition) {
  const Declaration& tensor = *definition.declaration;
  text_ += tensor.is_output ? "output " : tensor.what == "view" ? "view " : "";
  piece(definition.where, [&] { name(tensor.name, "a tensor", tensor.where); });
  text_ += '[';
  for (std::size_t i = 0; i < definition.indices.size(); ++i) {
    if (i > 0) text_ += ", ";
    piece(definition.indices[i].where, [&] { head_index(definition.indices[i]); });
  }
  text_ += ']';
  if (!tensor.type.empty()) {
    text_ += " : ";
    type(tensor.type, tensor.where);
  }
  if (tensor.into) {
    text_ += " into ";
    tensor_name(tensor.into.get(), tensor.where);
  }
  text_ += " = ";
  const NodePtr value = node_of(*definition.value);
  // A fold stands at the root without parentheses.
  piece(definition.value->where,
        [&] { value->kind == NodeKind::Fold ? fold(*value) : expr(value); });
}

void Transcript::head_index(const Operand& index) {
  const NodePtr node = node_of(index);
  if (node->kind == NodeKind::Mistake) return expr(node);
  if (node->kind == NodeKind::Name) return name(node->text, "an index", node->where);
  const auto range = range_of(node);
  if (!range || range->lower) {
    report(Code::BadDefinition, "an index of a definition that is no `Var`",
           "write `Var`s on the left side, or `i < N` where the range must be said", index.where);
    return placeholder();
  }
  name(range->var->text, "an index", range->var->where);
  text_ += " < ";
  expr(range->upper);
}

void Transcript::expr(const NodePtr& node) {
  piece(node->where, [&] {
    switch (node->kind) {
      case NodeKind::Literal: text_ += node->text; return;
      case NodeKind::TypeName: return type(node->text, node->where);
      case NodeKind::Name: return name(node->text, "an index", node->where);
      case NodeKind::Extent:
        if (owned(*node->declaration, node->where)) text_ += node->declaration->name;
        return;
      case NodeKind::Read: return read(*node);
      case NodeKind::Prefix:
        // Brackets around all: a sign would become part of a number.
        (text_ += '(') += node->text;
        text_ += '(';
        expr(node->args[0]);
        text_ += "))";
        return;
      case NodeKind::Infix: return infix(*node);
      case NodeKind::Call:
        if (!ir::is_reserved_name(node->text)) {
          type(node->text, node->where);
        } else {
          text_ += node->text;
        }
        text_ += '(';
        // A conversion of a fold is one when the fold stands bare.
        if (node->args.size() == 1 && node->args[0]->kind == NodeKind::Fold) {
          piece(node->args[0]->where, [&] { fold(*node->args[0]); });
        } else {
          list(node->args);
        }
        text_ += ')';
        return;
      case NodeKind::Fold:
        text_ += '(';
        fold(*node);
        text_ += ')';
        return;
      case NodeKind::Mistake:
        faulty_ = true;
        // Once, however often the expression is used.
        if (reported_.insert(node.get()).second)
          report(node->code, node->text, node->remedy, node->where);
        return placeholder();
    }
  });
}

void Transcript::read(const Node& node) {
  if (!owned(*node.declaration, node.where)) return;
  // A faulty name was reported where it is declared.
  if (!usable_name(node.declaration->name)) {
    faulty_ = true;
    return placeholder();
  }
  text_ += node.declaration->name;
  // Without brackets, so that a tensor used as one value is called that.
  if (node.args.empty()) return;
  text_ += '[';
  list(node.args);
  text_ += ']';
}

void Transcript::infix(const Node& node) {
  text_ += '(';
  expr(node.args[0]);
  text_ += ' ' + node.text + ' ';
  expr(node.args[1]);
  text_ += ')';
}

void Transcript::fold(const Node& node) {
  const FoldForm& form = *node.fold;
  if (node.declaration && !owned(*node.declaration, node.where)) return;
  if (form.kind == FoldForm::Kind::Scan) {
    text_ += "scan " + node.text + '(';
    expr(form.ranges[0]);
    for (std::size_t i = 0; i < form.state.size(); ++i) {
      text_ += ", ";
      name(form.state[i]->text, "the value before", form.state[i]->where);
      text_ += " = ";
      expr(form.base[i]);
    }
  } else {
    if (form.kind == FoldForm::Kind::Update) {
      text_ += "update ";
      terms(form.base);
      text_ += ' ';
    }
    text_ += node.text + '(';
    for (std::size_t i = 0; i < form.ranges.size(); ++i) {
      if (i > 0) text_ += ", ";
      range(form.ranges[i]);
    }
    if (!form.where.empty()) {
      text_ += " where ";
      expr(form.where[0]);
    }
  }
  text_ += ") ";
  if (form.has_at) {
    text_ += "at [";
    list(form.at);
    text_ += "] ";
  }
  terms(form.terms);
  if (form.on_empty.empty()) return;
  text_ += " on_empty ";
  terms(form.on_empty);
}

void Transcript::terms(std::span<const NodePtr> nodes) {
  if (nodes.size() == 1) return expr(nodes[0]);
  text_ += '(';
  list(nodes);
  text_ += ')';
}

void Transcript::range(const NodePtr& node) {
  if (node->kind == NodeKind::Mistake) return expr(node);
  const auto range = range_of(node);
  if (!range) {
    report(Code::NotARange, "this is the range of no variable", "write `RDom k(\"k\", K)`",
           node->where);
    return placeholder();
  }
  piece(node->where, [&] {
    if (range->lower) {
      expr(range->lower);
      text_ += " <= ";
    }
    name(range->var->text, "a variable of a fold", range->var->where);
    text_ += " < ";
    expr(range->upper);
  });
}

void Transcript::list(std::span<const NodePtr> nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) text_ += ", ";
    expr(nodes[i]);
  }
}

void Transcript::name(const std::string& text, std::string_view what, Where where) {
  piece(where, [&] {
    if (usable_name(text)) {
      text_ += text;
      return;
    }
    // Once for each name: a `Var` is used again and again.
    faulty_ = true;
    if (bad_names_.insert(std::string(what) + ' ' + text).second)
      report(Code::ReservedName,
             text.empty() ? std::string(what) + " has no name"
                          : in_backticks(text) + " cannot name " + std::string(what),
             "use ASCII letters, digits, `_` and `.`, and no word of the language", where);
    placeholder();
    text_ += std::to_string(bad_names_.size());
  });
}

void Transcript::type(const std::string& text, Where where) {
  if (!ir::parse_type(text)) {
    report(Code::UnknownType, in_backticks(text) + " is no type",
           "use the types of `tilewright/language.h`, as in `f32`", where);
    text_ += "f32";
    return;
  }
  text_ += text;
}

bool Transcript::owned(const Declaration& declaration, Where where) {
  if (declaration.owner == algorithm_->owner) {
    if (declaration.kind != Declaration::Kind::Extent || usable_name(declaration.name)) return true;
    faulty_ = true;
    placeholder();
    return false;
  }
  report(Code::OtherAlgorithm,
         in_backticks(declaration.name) + " belongs to the algorithm " +
             in_backticks(declaration.owner->name) + ", not to " +
             in_backticks(algorithm_->owner->name),
         "declare it in this algorithm, too", where);
  mistakes_.back().second.notes.push_back({place_of(declaration.where), "declared here"});
  placeholder();
  return false;
}

void Transcript::report(Code code, std::string message, std::string remedy, Where where) {
  faulty_ = true;
  mistakes_.emplace_back(text_.size(), Diagnostic{std::string(code_text(code)),
                                                  std::move(message),
                                                  std::move(remedy),
                                                  place_of(where),
                                                  {}});
}

void Transcript::undefined() {
  for (const DeclarationPtr& declared : algorithm_->declarations)
    if (declared->kind == Declaration::Kind::Equation && !declared->is_defined)
      report(Code::NeverDefined, in_backticks(declared->name) + " is declared and never defined",
             "assign to an element of it, as in `" + declared->name + "(i) = ...`",
             declared->where);
}

const Transcript::Statement* Transcript::statement_of(Span span) const {
  for (const Statement& statement : statements_)
    if (covers(statement.span, span)) return &statement;
  return nullptr;
}

// The smallest piece around the span is the innermost call or operator that wrote it.
Place Transcript::place_of_span(Span span) const {
  const Piece* best = nullptr;
  const auto length = [](Span s) { return s.end - s.begin; };
  if (!span.none())
    for (const Piece& piece : pieces_)
      if (covers(piece.span, span) && (!best || length(piece.span) < length(best->span)))
        best = &piece;
  if (best) return place_of(best->where);
  const Statement* statement = span.none() ? nullptr : statement_of(span);
  return place_of(statement ? statement->where : root_.where);
}

Diagnostic Transcript::translate(const tilewright::Diagnostic& found) const {
  Diagnostic out{std::string(code_text(found.code)),
                 found.message,
                 found.remedy,
                 place_of_span(found.span),
                 {}};
  for (const Label& label : found.labels)
    out.notes.push_back({place_of_span(label.span), label.text});
  for (const auto& [name, value] : found.evidence) out.notes.push_back({{}, name + " = " + value});
  return out;
}

std::vector<Diagnostic> Transcript::merge(const std::vector<tilewright::Diagnostic>& found) const {
  std::vector<std::pair<std::uint32_t, Diagnostic>> all = mistakes_;
  for (const tilewright::Diagnostic& d : found) {
    const Statement* statement = d.span.none() ? nullptr : statement_of(d.span);
    const bool follows = d.span.none() ? has_mistakes() : statement && statement->faulty;
    if (!follows) all.emplace_back(d.span.begin, translate(d));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Diagnostic> out;
  for (auto& [offset, diagnostic] : all) {
    // A part that another line made, a function of the user's say, is used by a definition elsewhere.
    const Statement* used = statement_of({offset, offset});
    if (used && !used->what.empty()) {
      const Place place = place_of(used->where);
      if (place.file != diagnostic.place.file || place.line != diagnostic.place.line)
        diagnostic.notes.push_back({place, "in " + used->what});
    }
    out.push_back(std::move(diagnostic));
  }
  return out;
}

}  // namespace tilewright::language::detail
