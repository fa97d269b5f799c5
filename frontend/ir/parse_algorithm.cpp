// SPDX-License-Identifier: Apache-2.0
//
// Statements, equations and calls.
#include "frontend/ir/algorithm_reader.h"

#include <algorithm>

#include "frontend/base/format.h"
#include "frontend/ir/declarations.h"
#include "frontend/ir/inline_call.h"
#include "frontend/ir/parse_monoid.h"
#include "frontend/ir/reduction.h"
#include "frontend/ir/sort_equations.h"
#include "frontend/ir/text.h"
#include "frontend/ir/verify.h"

namespace tilewright::ir {

AlgorithmReader::AlgorithmReader(Context& context, const Source& source)
    : context_(context),
      cursor_(source),
      extents_(context, extent_scope_, cursor_),
      names_(context, scope_, cursor_) {
  extents_.set_outside(&scope_);
  names_.set_monoids(&monoids_);
}

Result<Algorithm> AlgorithmReader::read() {
  bool good = true;
  while (good && cursor_.at("monoid")) {
    auto declared = parse_monoid(cursor_, context_);
    good = declared.has_value();
    if (declared) monoids_.push_back(std::move(*declared));
  }
  for (bool more = good; more;) {
    algorithm_ = Algorithm();
    algorithm_.monoids = monoids_;
    extent_scope_ = Scope();
    scope_ = Scope();
    spans_ = AlgorithmSpans();
    inouts_.clear();
    if (!algorithm()) break;
    check_inouts();
    if (!cursor_.failed())
      for (Diagnostic& d : verify(algorithm_, &spans_)) cursor_.report(std::move(d));
    more = cursor_.at("algorithm");
    if (more) library_.push_back(std::move(algorithm_));
  }
  if (!cursor_.at_end() && !cursor_.failed())
    cursor_.unexpected("the end of the text", "a file holds algorithms alone");
  if (cursor_.failed()) return Failure{cursor_.take_diagnostics()};
  return std::move(algorithm_);
}

bool AlgorithmReader::algorithm() {
  if (!header()) return false;
  statements();
  return cursor_.expect("}", "to end the algorithm");
}

void AlgorithmReader::statements() {
  while (!cursor_.at_end() && !cursor_.at("}")) {
    const std::size_t begin = cursor_.position();
    if (!statement()) cursor_.skip_statement(begin);
  }
}

void AlgorithmReader::check_inouts() {
  for (const Token& name : inouts_)
    if (!algorithm_.new_value(context_.symbol(name.text)))
      cursor_.report(Code::InPlaceForm, name.span,
                     in_backticks(name.text) + " is `inout`, but no output goes into it",
                     "write `output y[i] into " + std::string(name.text) + " = ...`, or `input`");
  for (const Equation& equation : algorithm_.equations) {
    const bool declared =
        !equation.into.valid() || std::any_of(inouts_.begin(), inouts_.end(), [&](const Token& t) {
          return t.text == equation.into.text();
        });
    if (!declared)
      cursor_.report(Code::InPlaceForm, equation.span,
                     in_backticks(equation.into.text()) + " is not declared `inout`",
                     "declare it: `inout " + std::string(equation.into.text()) + " : ...`");
  }
}

bool AlgorithmReader::header() {
  if (!cursor_.expect("algorithm", "at the beginning", "begin with `algorithm name(M, N) {`"))
    return false;
  const auto name = cursor_.expect_name("the name of the algorithm", "name it, as in `gemm`");
  if (!name) return false;
  if (is_reserved_name(name->text))
    cursor_.report(Code::ReservedName, name->span,
                   in_backticks(name->text) + " is a word of the language, not a name",
                   "choose another name");
  algorithm_.name = context_.symbol(name->text);
  if (!cursor_.expect("(", "after the name", "write the extents, as in `(M, N)`")) return false;
  if (!cursor_.accept(")")) {
    do {
      Elaborator* const both[] = {&names_, &extents_};
      auto extent = parse_extent(cursor_, context_, both);
      if (!extent) return false;
      algorithm_.extents.push_back(*extent);
    } while (cursor_.accept(","));
    if (!cursor_.expect(")", "after the extents", "separate extents with `,`")) return false;
  }
  return cursor_.expect("{", "after the extents");
}

bool AlgorithmReader::statement() {
  if (cursor_.accept("requires")) {
    extents_.record_spans(&spans_.requirements);
    const std::uint32_t first = cursor_.peek().span.begin;
    const bool read = parse_requirements(cursor_, extents_, algorithm_.requirements);
    algorithm_.requirement_spans.resize(algorithm_.requirements.size(), cursor_.span_from(first));
    return read;
  }
  const std::uint32_t begin = cursor_.peek().span.begin;
  const bool is_const = cursor_.accept("const");
  if (is_const && !cursor_.at("input")) {
    cursor_.unexpected("`input` after `const`", "write `const input w : f32[K, N]`");
    return false;
  }
  if (cursor_.accept("input")) return input(begin, is_const);
  // Words of these places alone: equations may be called so.
  const bool named = cursor_.peek(1).kind == TokenKind::Name;
  if (cursor_.at("inout") && named && cursor_.peek(2).text == ":") {
    cursor_.accept("inout");
    inouts_.push_back(cursor_.peek());
    return input(begin, false);
  }
  if (cursor_.at("loop") && named && cursor_.peek(2).text == "<") return loop(begin);
  if (cursor_.at("case") && (named || cursor_.peek(1).text == "(")) return choice(begin);
  const bool is_output = cursor_.accept("output");
  is_view_ = !is_output && cursor_.accept("view");
  const auto name = cursor_.expect_name(
      "an equation", "write `requires`, `input`, `output` or an equation, as in `c[i] = a[i]`");
  if (!name) return false;
  if (cursor_.at(",") || at_call()) return call(*name, is_output, begin);
  return equation(*name, is_output, begin);
}

bool AlgorithmReader::at_call() const {
  return cursor_.at("=") && cursor_.peek(1).kind == TokenKind::Name &&
         cursor_.peek(2).text == "(" &&
         ((cursor_.peek(3).kind == TokenKind::Name && cursor_.peek(4).text == "=") ||
          (cursor_.peek(3).text == ")" && find_algorithm(cursor_.peek(1).text)));
}

const Algorithm* AlgorithmReader::find_algorithm(std::string_view name) const {
  for (const Algorithm& a : library_)
    if (a.name.text() == name) return &a;
  return nullptr;
}

bool AlgorithmReader::call(const Token& first, bool is_output, std::uint32_t begin) {
  std::vector<Token> results = {first};
  while (cursor_.accept(",")) {
    const auto name =
        cursor_.expect_name("the name of a result", "name it, as in `h, c = cell(...)`");
    if (!name) return false;
    results.push_back(*name);
  }
  if (!cursor_.expect("=", "after the results", "write `h = cell(x = xs)`")) return false;
  const auto callee =
      cursor_.expect_name("the name of an algorithm", "call one that stands before");
  if (!callee || !cursor_.expect("(", "after the name of the algorithm")) return false;
  Call made;
  bool good = arguments(made);
  if (!cursor_.expect(")", "after the arguments")) return false;
  made.span = cursor_.span_from(begin);
  made.callee = find_algorithm(callee->text);
  if (!made.callee) {
    cursor_.report(Code::UnknownName, callee->span,
                   in_backticks(callee->text) + " is no algorithm that stands before this one",
                   "write it before its caller in the file");
    good = false;
  }
  for (const Token& result : results) made.results.push_back(context_.symbol(result.text));
  auto inlined = good ? inline_call(context_, algorithm_, made) : Failure{};
  if (good && !inlined.ok())
    for (Diagnostic d : inlined.diagnostics()) cursor_.report(std::move(d));
  if (!inlined.ok()) {
    for (const Token& result : results)
      names_.declare(result, {Meaning::Kind::Broken, ScalarType::Index, 0, result.span});
    return true;
  }
  for (Expr requirement : inlined->requirements) {
    algorithm_.requirements.push_back(requirement);
    algorithm_.requirement_spans.push_back(made.span);
  }
  for (Loop& loop : inlined->loops) {
    loop.first += algorithm_.equations.size();
    loop.last += algorithm_.equations.size();
    algorithm_.loops.push_back(std::move(loop));
  }
  for (Equation& equation : inlined->equations)
    add_inlined(std::move(equation), results, is_output);
  return true;
}

void AlgorithmReader::add_inlined(Equation equation, const std::vector<Token>& results,
                                  bool is_output) {
  Token name = results[0];
  name.text = equation.name.text();
  for (const Token& result : results)
    if (result.text == equation.name.text()) {
      name = result;
      equation.is_output = is_output;
      equation.is_view = equation.is_view && !is_output;
    }
  const bool fresh = equation.parts.empty()
                         ? names_.declare(name, {Meaning::Kind::Tensor, equation.type,
                                                 equation.indices.size(), name.span})
                         : declare_parts(name, equation);
  if (fresh) algorithm_.equations.push_back(std::move(equation));
}

bool AlgorithmReader::arguments(Call& call) {
  bool good = true;
  while (!cursor_.at(")")) {
    Argument argument;
    const auto input = cursor_.expect_name("an input of the algorithm", "write `x = xs`");
    if (!input || !cursor_.expect("=", "after the input")) return false;
    const auto tensor = cursor_.expect_name("a tensor", "give it a tensor, as in `w = ws[0]`");
    if (!tensor) return false;
    argument.input = context_.symbol(input->text);
    argument.tensor = context_.symbol(tensor->text);
    if (cursor_.accept("[")) {
      const auto list = parse_index_list(cursor_);
      if (!list) return false;
      for (const SyntaxPtr& index : *list) {
        argument.leading.push_back(
            extents_.expression_of(*index, ScalarType::Index, "a fixed index"));
        good = good && argument.leading.back();
      }
    }
    argument.span = cursor_.span_from(input->span.begin);
    call.arguments.push_back(std::move(argument));
    if (!cursor_.accept(",")) break;
  }
  return good;
}

bool AlgorithmReader::input(std::uint32_t begin, bool is_const) {
  const auto name = cursor_.expect_name("the name of the input", "name it, as in `a`");
  if (!name || !cursor_.expect(":", "after the name", "write the type, as in `: f32[M]`"))
    return false;
  const Symbol symbol = context_.symbol(name->text);
  extents_.record_spans(&spans_.declarations[symbol]);
  auto tensor = parse_tensor_type(cursor_, extents_);
  Meaning meaning{Meaning::Kind::Broken, ScalarType::Index, 0, name->span};
  if (tensor) meaning = {Meaning::Kind::Tensor, tensor->type, tensor->shape.size(), name->span};
  const bool fresh = names_.declare(*name, meaning);
  if (!tensor) return false;
  const auto facts = parse_facts(cursor_, extents_, context_, tensor->shape);
  if (!facts) return false;
  if (fresh)
    algorithm_.inputs.push_back({symbol, tensor->type, std::move(tensor->shape),
                                 cursor_.span_from(begin), *facts, is_const});
  return true;
}

std::optional<AlgorithmReader::Head> AlgorithmReader::equation_syntax() {
  Head head;
  if (cursor_.accept("[") && !cursor_.accept("]")) {
    do {
      const auto name = cursor_.expect_name("an index", "name it, as in `c[i, j]`");
      if (!name) return std::nullopt;
      head.indices.push_back({*name, nullptr});
      if (!cursor_.accept("<")) continue;
      head.indices.back().upper = parse_expr_syntax(cursor_);
      if (!head.indices.back().upper) return std::nullopt;
    } while (cursor_.accept(","));
    if (!cursor_.expect("]", "after the indices")) return std::nullopt;
  }
  if (cursor_.accept(":")) {
    const bool several = cursor_.accept("(");
    do {
      const auto type = parse_scalar_type(cursor_);
      if (!type) return std::nullopt;
      head.types.push_back(*type);
    } while (several && cursor_.accept(","));
    if (several && !cursor_.expect(")", "after the types")) return std::nullopt;
  }
  if (cursor_.accept("into")) {
    const auto input = cursor_.expect_name("the input whose storage it takes", "name it");
    if (!input) return std::nullopt;
    head.into = context_.symbol(input->text);
  }
  if (!cursor_.expect("=", "in the equation", "write `=` and the value")) return std::nullopt;
  head.value = parse_expr_syntax(cursor_);
  if (!head.value) return std::nullopt;
  return head;
}

bool AlgorithmReader::is_sort(const Syntax& value) const {
  if (value.kind != SyntaxKind::Fold || value.fold->form != FoldSyntax::Form::Reduction)
    return false;
  for (const MonoidDecl& monoid : monoids_)
    if (monoid.name.text() == value.text) return false;
  return value.text == "sort" || value.text == "sort_descending";
}

bool AlgorithmReader::sort(const Token& name, const Head& head, bool is_output,
                           std::uint32_t begin) {
  SortedEquations made = sorted(name, head);
  bool fresh = !made.equations.empty();
  for (Loop& loop : made.loops) {
    loop.first += algorithm_.equations.size();
    loop.last += algorithm_.equations.size();
    loop.span = cursor_.span_from(begin);
    algorithm_.loops.push_back(std::move(loop));
  }
  for (Equation& equation : made.equations) {
    Token token = name;
    token.text = equation.name.text();
    fresh = (equation.parts.empty() ? names_.declare(token, {Meaning::Kind::Tensor, equation.type,
                                                             equation.indices.size(), name.span})
                                    : declare_parts(token, equation)) &&
            fresh;
    equation.is_output = is_output && equation.name.text() == name.text;
    if (equation.name.text() == name.text) equation.into = head.into;
    equation.span = cursor_.span_from(begin);
    if (fresh) algorithm_.equations.push_back(std::move(equation));
  }
  if (made.equations.empty())
    names_.declare(name, {Meaning::Kind::Broken, ScalarType::Index, 0, name.span});
  return true;
}

SortedEquations AlgorithmReader::sorted(const Token& name, const Head& head) {
  const Syntax& value = *head.value;
  const FoldSyntax& fold = *value.fold;
  const bool plain = fold.vars.size() == 1 && !fold.bounds[0] && !fold.where && !fold.on_empty &&
                     value.args[0]->kind != SyntaxKind::Tuple;
  if (!plain || head.indices.empty()) {
    cursor_.report(
        Code::FoldForm, value.span,
        "`sort` takes the values of one variable from 0 on, and its last index counts them",
        "write `p[i, k < K] = sort(j < N) x[i, j]`");
    return {};
  }
  Sort out;
  out.name = context_.symbol(name.text);
  out.descending = value.text == "sort_descending";
  out.rank = context_.symbol(head.indices.back().name.text);
  out.var = context_.symbol(fold.vars[0].text);
  out.upper = extents_.expression_of(*fold.bounds[1], ScalarType::Index, "the range of the values");
  const SyntaxPtr& length = head.indices.back().upper;
  out.length = length ? extents_.expression_of(*length, ScalarType::Index, "the range of an index")
                      : out.upper;
  bool good = out.upper && out.length;
  std::vector<Token> bound = {fold.vars[0]};
  for (std::size_t i = 0; i + 1 < head.indices.size(); ++i) {
    const Index& index = head.indices[i];
    out.indices.push_back(context_.symbol(index.name.text));
    out.shape.push_back(index.upper ? extents_.expression_of(*index.upper, ScalarType::Index,
                                                             "the range of an index")
                                    : inferred_range(index.name, value));
    good = good && out.shape.back();
    bound.push_back(index.name);
  }
  std::vector<Symbol> declared;
  for (const Token& token : bound) {
    if (names_.declare(token, {Meaning::Kind::Variable, ScalarType::Index, 0, token.span}))
      declared.push_back(context_.symbol(token.text));
    else
      good = false;
  }
  out.value = names_.expression(*value.args[0], std::nullopt);
  for (Symbol var : declared) scope_.forget(var);
  if (!good || !out.value) return {};
  if (op_accepts(OpCode::Lt, out.value.type()) && out.value.type() != ScalarType::Bool &&
      (head.types.empty() || head.types[0] == ScalarType::I64))
    return sort_equations(context_, out);
  cursor_.report(Code::OperandType, value.span,
                 "`sort` orders numbers, and gives places of type `i64`",
                 "sort numbers, and convert the places in an equation of their own");
  return {};
}

bool AlgorithmReader::equation(const Token& name, bool is_output, std::uint32_t begin) {
  auto head = equation_syntax();
  if (head && is_sort(*head->value)) return sort(name, *head, is_output, begin);
  std::optional<Equation> made;
  if (head) made = elaborate(name, *head);
  bool fresh = false;
  if (!made || made->parts.empty()) {
    Meaning meaning{Meaning::Kind::Broken, ScalarType::Index, 0, name.span};
    if (made) meaning = {Meaning::Kind::Tensor, made->type, made->indices.size(), name.span};
    fresh = names_.declare(name, meaning);
  } else {
    fresh = declare_parts(name, *made);
  }
  if (made && fresh) {
    made->is_output = is_output;
    made->is_view = is_view_;
    made->into = head->into;
    made->span = cursor_.span_from(begin);
    algorithm_.equations.push_back(std::move(*made));
  }
  return head.has_value();
}

bool AlgorithmReader::declare_parts(const Token& name, const Equation& equation) {
  bool fresh = names_.declare(name, {Meaning::Kind::Parts, ScalarType::Index, 0, name.span});
  for (const TensorPart& part : equation.parts) {
    Token token = name;
    token.text = part.name.text();
    fresh = names_.declare(
                token, {Meaning::Kind::Tensor, part.type, equation.indices.size(), name.span}) &&
            fresh;
  }
  return fresh;
}

std::optional<Equation> AlgorithmReader::elaborate(const Token& name, const Head& head) {
  Equation equation;
  equation.name = context_.symbol(name.text);
  ExprSpans& spans = spans_.declarations[equation.name];
  extents_.record_spans(&spans);
  names_.record_spans(&spans);
  bool good = true;
  for (const Index& index : head.indices) {
    equation.shape.push_back(index.upper ? extents_.expression_of(*index.upper, ScalarType::Index,
                                                                  "the range of an index")
                                         : inferred_range(index.name, *head.value));
    good = good && equation.shape.back();
  }
  for (const Index& index : head.indices) {
    const Meaning meaning{Meaning::Kind::Variable, ScalarType::Index, 0, index.name.span};
    if (names_.declare(index.name, meaning))
      equation.indices.push_back(context_.symbol(index.name.text));
    else
      good = false;
  }
  equation.value = names_.equation_value(*head.value, head.types);
  for (Symbol index : equation.indices) scope_.forget(index);
  if (!good || !equation.value) return std::nullopt;
  equation.type = head.types.empty() ? equation.value.type() : head.types[0];
  if (const Fold* fold = equation.fold()) {
    const auto names = part_names(algorithm_, *fold);
    for (std::size_t i = 0; i < names.size(); ++i)
      equation.parts.push_back(
          {context_.symbol(std::string(name.text) + "." + names[i]), fold->body[i].type()});
  }
  if (!head.types.empty() && !check_parts(equation, head)) return std::nullopt;
  if (!convert_to_declared(equation, *head.value)) return std::nullopt;
  return equation;
}

bool AlgorithmReader::check_parts(const Equation& equation, const Head& head) {
  const std::vector<TensorPart> parts = equation.tensors();
  bool fits = parts.size() == head.types.size();
  for (std::size_t i = 0; fits && i < equation.parts.size(); ++i)
    fits = parts[i].type == head.types[i];
  if (fits) return true;
  std::string found;
  for (const TensorPart& part : parts)
    found += (found.empty() ? "" : ", ") + std::string(type_text(part.type));
  cursor_.report(Code::DeclaredType, head.value->span,
                 "`" + std::string(equation.name.text()) + "` has values of type `" + found +
                     "`, which are not the declared ones",
                 "declare these types, or convert the terms");
  return false;
}

bool AlgorithmReader::convert_to_declared(Equation& equation, const Syntax& value) {
  const ScalarType found = equation.value.type();
  if (found == equation.type) return true;
  if (is_float(found) && is_float(equation.type)) {
    equation.value = context_.cast(equation.type, equation.value);
    return true;
  }
  const std::string declared(type_text(equation.type));
  cursor_.report(Code::DeclaredType, value.span,
                 "the value has type `" + std::string(type_text(found)) + "`, but `" +
                     std::string(equation.name.text()) + "` is declared `" + declared + "`",
                 equation.type == ScalarType::Bool ? "compare it with something, as in `x != 0`"
                                                   : "convert it, as in `" + declared + "(...)`");
  return false;
}

bool AlgorithmReader::collect_uses(const Syntax& syntax, std::string_view index,
                                   std::vector<Use>& out) const {
  bool sound = true;
  for_each_part(syntax,
                [&](const Syntax& part) { sound = collect_uses(part, index, out) && sound; });
  if (syntax.kind != SyntaxKind::Index) return sound;
  const auto* shape = algorithm_.shape_of(context_.symbol(syntax.text));
  if (!shape || shape->size() != syntax.args.size()) return false;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const Syntax& arg = *syntax.args[i];
    if (arg.kind == SyntaxKind::Name && arg.text == index) out.push_back({arg.span, (*shape)[i]});
  }
  return sound;
}

Expr AlgorithmReader::inferred_range(const Token& index, const Syntax& value) {
  std::vector<Use> uses;
  const bool sound = collect_uses(value, index.text, uses);
  if (uses.empty() && !sound) return {};
  const std::string name(index.text);
  Diagnostic d{Code::UnknownRange,
               index.span,
               "the range of `" + name + "` does not follow from its uses",
               "write it, as in `" + name + " < N`",
               {},
               {}};
  if (!uses.empty()) {
    const auto other = std::find_if(uses.begin(), uses.end(),
                                    [&](const Use& u) { return !(u.extent == uses[0].extent); });
    if (other == uses.end()) return uses[0].extent;
    d.message = "the uses of `" + name + "` have different ranges";
    d.labels = {{uses[0].span, "here it is below `" + print(uses[0].extent) + "`"},
                {other->span, "here it is below `" + print(other->extent) + "`"}};
  }
  cursor_.report(std::move(d));
  return {};
}

Result<Algorithm> parse_algorithm(Context& context, const Source& source) {
  return AlgorithmReader(context, source).read();
}

}  // namespace tilewright::ir
