// SPDX-License-Identifier: Apache-2.0
//
// The reader of programs: declarations and the host part. Declarations stand before statements; the body of
// a loop, `let` or `alloc` is in braces, and what it binds is known there only.
#include <algorithm>

#include "frontend/base/format.h"
#include "lowering/program/places.h"
#include "lowering/program/program_reader.h"
#include "lowering/program/text.h"

namespace tilewright::program {

using ir::Elaborator;
using ir::Meaning;
using ir::SyntaxPtr;

ProgramReader::ProgramReader(ir::Context& context, const Source& source)
    : context_(context),
      source_(source),
      cursor_(source),
      extents_(context, extent_scope_, cursor_),
      names_(context, scope_, cursor_) {
  extents_.set_outside(&scope_);
  extents_.record_spans(&spans_.exprs);
  names_.record_spans(&spans_.exprs);
  names_.read_program();
}

Result<Program> ProgramReader::read() {
  if (header()) {
    declarations();
    program_.body = statements();
    cursor_.expect("}", "to end the program");
    if (!cursor_.at_end() && !cursor_.failed())
      cursor_.unexpected("the end of the text", "one file holds one program");
  }
  if (!cursor_.failed())
    for (Diagnostic& d : verify(program_, &spans_)) cursor_.report(std::move(d));
  if (cursor_.failed()) return Failure{cursor_.take_diagnostics()};
  auto places = std::make_shared<Places>();
  places->stmts = std::move(spans_.stmts);
  places->names = std::move(name_spans_);
  program_.places = std::move(places);
  return std::move(program_);
}

bool ProgramReader::header() {
  if (!cursor_.expect("program", "at the beginning", "begin with `program name for algorithm {`"))
    return false;
  const auto name = cursor_.expect_name("the name of the program", "name it, as in `gemm`");
  if (!name || !cursor_.expect("for", "after the name")) return false;
  const auto algorithm =
      cursor_.expect_name("the name of the algorithm", "name the algorithm it computes");
  if (!algorithm) return false;
  program_.name = context_.symbol(name->text);
  program_.algorithm = context_.symbol(algorithm->text);
  return cursor_.expect("{", "after the header");
}

void ProgramReader::declarations() {
  while (true) {
    const std::size_t begin = cursor_.position();
    bool good = true;
    if (cursor_.accept("extent")) {
      Elaborator* const both[] = {&names_, &extents_};
      const auto extent = ir::parse_extent(cursor_, context_, both);
      good = extent.has_value();
      if (extent) program_.extents.push_back(*extent);
    } else if (cursor_.accept("requires")) {
      good = ir::parse_requirements(cursor_, extents_, program_.requirements);
    } else if (cursor_.at("const") && cursor_.peek(1).text == "input") {
      cursor_.next();
      cursor_.next();
      good = parameter({.is_const = true});
    } else if (cursor_.accept("input")) {
      good = parameter({});
    } else if (cursor_.accept("output")) {
      good = parameter({.is_output = true});
    } else if (cursor_.at("inout") && cursor_.peek(2).text == ":") {
      cursor_.accept("inout");
      good = parameter({.is_output = true, .is_inout = true});
    } else if (cursor_.at("intrinsic") && cursor_.peek(1).text == "algorithm") {
      good = intrinsic(false);
    } else if (cursor_.at("library") && cursor_.peek(1).text == "algorithm") {
      good = intrinsic(true);
    } else {
      return;
    }
    if (!good) cursor_.skip_statement(begin);
  }
}

bool ProgramReader::parameter(ParameterRole role) {
  const auto name = cursor_.expect_name("the name of the parameter", "name it, as in `a`");
  if (!name || !cursor_.expect(":", "after the name", "write the type, as in `: f32[M]`"))
    return false;
  auto tensor = ir::parse_tensor_type(cursor_, extents_);
  declare_tensor(*name, tensor);
  name_spans_.emplace(context_.symbol(name->text), name->span);
  if (!tensor) return false;
  std::optional<ir::Facts> facts = ir::Facts();
  if (!role.is_output) facts = ir::parse_facts(cursor_, extents_, context_, tensor->shape);
  if (!facts) return false;
  program_.parameters.push_back({context_.symbol(name->text), tensor->type,
                                 std::move(tensor->shape), role.is_output, *facts, role.is_inout,
                                 role.is_const});
  return true;
}

bool ProgramReader::declare_tensor(const Token& name, const std::optional<ir::TensorType>& tensor) {
  Meaning meaning{Meaning::Kind::Broken, ScalarType::Index, 0, name.span};
  if (tensor) meaning = {Meaning::Kind::Tensor, tensor->type, tensor->shape.size(), name.span};
  return names_.declare(name, meaning);
}

Stmt ProgramReader::statements() {
  std::vector<Stmt> body;
  while (!cursor_.at_end() && !cursor_.at("}")) {
    const std::size_t begin = cursor_.position();
    const std::uint32_t place = cursor_.peek().span.begin;
    Stmt stmt = statement();
    if (stmt) {
      spans_.stmts.emplace(stmt, cursor_.span_from(place));
      body.push_back(stmt);
    } else {
      cursor_.skip_statement(begin);
    }
  }
  return make_block(context_, body);
}

Stmt ProgramReader::braces(std::string_view after) {
  if (!cursor_.expect("{", after)) return {};
  Stmt body = statements();
  return cursor_.expect("}", "to end the body") ? body : Stmt();
}

Stmt ProgramReader::statement() {
  TextCursor::Nest nest(cursor_);
  if (!nest.ok()) return {};
  const Token token = cursor_.peek();
  if (token.kind == TokenKind::Name) {
    if (const auto kind = named(token.text, loop_kind_text, kNumLoopKinds)) return loop(*kind);
    if (token.text == "if") return branch();
    if (token.text == "let") return let();
    if (token.text == "alloc") return alloc();
    const std::string_view after = cursor_.peek(1).text;
    if (after != "[" && after != "=") {
      bool found = false;
      Stmt stmt = concurrent_statement(&found);
      if (found) return stmt;
    }
    if (!ir::is_reserved_name(token.text)) return store();
  }
  cursor_.unexpected("a statement",
                     "write a loop, `if`, `let`, `alloc` or a store, as in `c[i] = a[i]`");
  return {};
}

Expr ProgramReader::expression(ScalarType type, std::string_view what) {
  const SyntaxPtr syntax = ir::parse_expr_syntax(cursor_);
  return syntax ? names_.expression_of(*syntax, type, what) : Expr();
}

std::optional<std::vector<Expr>> ProgramReader::elaborate(const std::vector<SyntaxPtr>& list,
                                                          std::string_view what) {
  std::vector<Expr> out;
  bool good = true;
  for (const SyntaxPtr& syntax : list) {
    out.push_back(names_.expression_of(*syntax, ScalarType::Index, what));
    good = good && out.back();
  }
  if (!good) return std::nullopt;
  return out;
}

Stmt ProgramReader::body_with(const Token& name, const Meaning& meaning, std::string_view after) {
  const bool fresh = names_.declare(name, meaning);
  name_spans_.emplace(context_.symbol(name.text), name.span);
  Stmt body = braces(after);
  if (fresh) scope_.forget(context_.symbol(name.text));
  return fresh ? body : Stmt();
}

Stmt ProgramReader::loop(LoopKind kind) {
  cursor_.next();
  const auto var = cursor_.expect_name("the loop variable", "name it, as in `i`");
  if (!var || !cursor_.expect("in", "after the loop variable")) return {};
  const SyntaxPtr low = ir::parse_expr_syntax(cursor_);
  if (!low || !cursor_.expect("..", "between the bounds")) return {};
  const SyntaxPtr high = ir::parse_expr_syntax(cursor_);
  if (!high) return {};
  Expr lower = names_.expression_of(*low, ScalarType::Index, "the lower bound");
  Expr upper = names_.expression_of(*high, ScalarType::Index, "the upper bound");
  std::optional<Scope> bound;
  if (kind == LoopKind::Serial && cursor_.accept("bind")) {
    bound = scope_word();
    if (!bound) return {};
  }
  Stmt body = body_with(*var, {Meaning::Kind::Variable, ScalarType::Index, 0, var->span},
                        bound ? "after the scope" : "after the bounds");
  if (!lower || !upper || !body) return {};
  if (bound) {
    Bind node;
    node.var = context_.symbol(var->text);
    node.lower = lower;
    node.upper = upper;
    node.scope = *bound;
    node.body = body;
    return make(context_, node);
  }
  return make_for(context_, kind, context_.symbol(var->text), lower, upper, body);
}

Stmt ProgramReader::branch() {
  struct Arm {
    Expr condition;
    Stmt body;
  };
  std::vector<Arm> arms;
  Stmt last;
  bool good = true;
  do {
    cursor_.next();
    Expr condition = expression(ScalarType::Bool, "the condition");
    if (!condition && !cursor_.at("{")) return {};
    Stmt body = braces("after the condition");
    if (!body) return {};
    good = good && condition;
    arms.push_back({condition, body});
    if (!cursor_.accept("else")) break;
    if (cursor_.at("if")) continue;
    last = braces("after `else`");
    if (!last) return {};
    break;
  } while (true);
  if (!good) return {};
  for (auto arm = arms.rbegin(); arm != arms.rend(); ++arm)
    last = make_if(context_, arm->condition, arm->body, last);
  return last;
}

Stmt ProgramReader::let() {
  cursor_.next();
  const auto name = cursor_.expect_name("the variable", "name it, as in `base`");
  if (!name) return {};
  std::optional<ScalarType> type;
  if (cursor_.accept(":")) {
    type = ir::parse_scalar_type(cursor_);
    if (!type) return {};
  }
  if (!cursor_.expect("=", "after the variable")) return {};
  const SyntaxPtr syntax = ir::parse_expr_syntax(cursor_);
  if (!syntax) return {};
  Expr value = type ? names_.expression_of(*syntax, *type, "the value")
                    : names_.expression(*syntax, std::nullopt);
  Meaning meaning{Meaning::Kind::Broken, ScalarType::Index, 0, name->span};
  if (value) meaning = {Meaning::Kind::Variable, value.type(), 0, name->span};
  Stmt body = body_with(*name, meaning, "after the value");
  if (!value || !body) return {};
  return make_let(context_, context_.symbol(name->text), value, body);
}

Stmt ProgramReader::alloc() {
  cursor_.next();
  const auto name = cursor_.expect_name("the buffer", "name it, as in `t`");
  if (!name || !cursor_.expect(":", "after the buffer", "write the type, as in `: f32[64]`"))
    return {};
  const auto tensor = ir::parse_tensor_type(cursor_, names_);
  if (!tensor || !cursor_.expect("in", "after the type")) return {};
  const auto space = cursor_.peek().kind == TokenKind::Name
                         ? named(cursor_.peek().text, space_text, kNumSpaces)
                         : std::nullopt;
  if (!space) {
    cursor_.unexpected("a memory space",
                       "write `workspace`, `stack`, `register`, `shared`, `tensor`, `scratchpad`, "
                       "`accumulator` or `global`");
    return {};
  }
  cursor_.next();
  std::int64_t first = -1;
  if (cursor_.accept("at")) {
    const auto at = cursor_.expect_integer("the column or bank");
    if (!at) return {};
    first = *at;
  }
  Stmt body =
      body_with(*name, {Meaning::Kind::Tensor, tensor->type, tensor->shape.size(), name->span},
                "after the memory space");
  if (!body) return {};
  return make_alloc(context_, context_.symbol(name->text), tensor->type, tensor->shape, *space,
                    body, first);
}

std::optional<ProgramReader::Origin> ProgramReader::origin() {
  if (!cursor_.accept("@")) return Origin{};
  const auto role = cursor_.peek().kind == TokenKind::Name
                        ? named(cursor_.peek().text, origin_role_text, kNumOriginRoles)
                        : std::nullopt;
  if (!role) {
    cursor_.unexpected("a role", "write `value`, `init`, `fold`, `merge`, `copy` or `pad`");
    return std::nullopt;
  }
  cursor_.next();
  Origin origin{*role, {}, {}};
  if (cursor_.peek().kind != TokenKind::Name || !(cursor_.peek(1).text == "(")) return origin;
  origin.name = context_.symbol(cursor_.next().text);
  cursor_.next();
  while (!cursor_.accept(")")) {
    Expr coordinate = expression(ScalarType::Index, "the point");
    if (!coordinate) return std::nullopt;
    origin.point.push_back(coordinate);
    if (!cursor_.at(")") && !cursor_.expect(",", "between the parts of the point"))
      return std::nullopt;
  }
  return origin;
}

const Meaning* ProgramReader::target(const Token& name, std::size_t num_indices) {
  const Meaning* meaning = scope_.find(context_.symbol(name.text));
  if (!meaning) {
    const std::string near = scope_.closest(name.text);
    cursor_.report(
        Code::UnknownName, name.span, in_backticks(name.text) + " is no buffer here",
        near.empty() ? "declare it as `output` or `alloc`" : "did you mean `" + near + "`?");
  } else if (meaning->kind == Meaning::Kind::Tensor && meaning->rank != num_indices) {
    cursor_.report({Code::WrongRank,
                    cursor_.span_from(name.span.begin),
                    in_backticks(name.text) + " has " + std::to_string(meaning->rank) +
                        " indices, found " + std::to_string(num_indices),
                    "write one index for each dimension",
                    {{meaning->declared, "declared here"}},
                    {}});
  } else if (meaning->kind == Meaning::Kind::Tensor) {
    return meaning;
  } else if (meaning->kind != Meaning::Kind::Broken) {
    cursor_.report(Code::StoreTarget, name.span, in_backticks(name.text) + " is no buffer",
                   "store to an output or a local buffer");
  }
  return nullptr;
}

Stmt ProgramReader::store() {
  const Token name = cursor_.next();
  std::vector<SyntaxPtr> index_syntax;
  if (cursor_.accept("[")) {
    auto list = ir::parse_index_list(cursor_);
    if (!list) return {};
    index_syntax = std::move(*list);
  }
  if (!cursor_.expect("=", "in the store", "write `=` and the value")) return {};
  const SyntaxPtr syntax = ir::parse_expr_syntax(cursor_);
  if (!syntax) return {};
  const auto indices = elaborate(index_syntax, "the index");
  const Meaning* meaning = target(name, index_syntax.size());
  Expr value;
  if (meaning) value = names_.expression_of(*syntax, meaning->type, "the stored value");
  const std::optional<Origin> from = origin();
  if (!value || !indices || !from) return {};
  return make_store(context_, context_.symbol(name.text), *indices, value, from->role, from->name,
                    from->point);
}

Result<Program> parse_program(ir::Context& context, const Source& source) {
  return ProgramReader(context, source).read();
}

}  // namespace tilewright::program
