// SPDX-License-Identifier: Apache-2.0
//
// The reader of algorithms: statements, and what equations leave out. An index without a range takes the
// extent of the positions where it stands alone as an index; these must agree.
#include <algorithm>

#include "frontend/base/format.h"
#include "frontend/ir/declarations.h"
#include "frontend/ir/parse_monoid.h"
#include "frontend/ir/reduction.h"
#include "frontend/ir/text.h"
#include "frontend/ir/verify.h"

namespace tilewright::ir {

namespace {

// Where a statement ends is found by the layout of lines after a mistake only.
class Reader {
 public:
  Reader(Context& context, const Source& source)
      : context_(context),
        cursor_(source),
        extents_(context, extent_scope_, cursor_),
        names_(context, scope_, cursor_) {
    extents_.set_outside(&scope_);
    names_.set_monoids(&algorithm_.monoids);
  }

  Result<Algorithm> read() {
    bool good = true;
    while (good && cursor_.at("monoid")) {
      auto declared = parse_monoid(cursor_, context_);
      good = declared.has_value();
      if (declared) algorithm_.monoids.push_back(std::move(*declared));
    }
    if (good && header()) {
      while (!cursor_.at_end() && !cursor_.at("}")) {
        const std::size_t begin = cursor_.position();
        if (!statement()) cursor_.skip_statement(begin);
      }
      cursor_.expect("}", "to end the algorithm");
      if (!cursor_.at_end() && !cursor_.failed())
        cursor_.unexpected("the end of the text", "one file holds one algorithm");
    }
    if (!cursor_.failed())
      for (Diagnostic& d : verify(algorithm_, &spans_)) cursor_.report(std::move(d));
    if (cursor_.failed()) return Failure{cursor_.take_diagnostics()};
    return std::move(algorithm_);
  }

 private:
  bool header() {
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

  bool statement() {
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
    const bool is_output = cursor_.accept("output");
    is_view_ = !is_output && cursor_.accept("view");
    const auto name = cursor_.expect_name(
        "an equation", "write `requires`, `input`, `output` or an equation, as in `c[i] = a[i]`");
    return name && equation(*name, is_output, begin);
  }

  bool input(std::uint32_t begin, bool is_const) {
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

  struct Index {
    Token name;
    SyntaxPtr upper;  // null when left out
  };
  struct Head {
    std::vector<Index> indices;
    std::vector<ScalarType> types;  // empty when left out
    SyntaxPtr value;
  };

  std::optional<Head> equation_syntax() {
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
    if (!cursor_.expect("=", "in the equation", "write `=` and the value")) return std::nullopt;
    head.value = parse_expr_syntax(cursor_);
    if (!head.value) return std::nullopt;
    return head;
  }

  bool equation(const Token& name, bool is_output, std::uint32_t begin) {
    auto head = equation_syntax();
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
      made->span = cursor_.span_from(begin);
      algorithm_.equations.push_back(std::move(*made));
    }
    return head.has_value();
  }

  // The equation's own name stands for no tensor, but is taken.
  bool declare_parts(const Token& name, const Equation& equation) {
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

  std::optional<Equation> elaborate(const Token& name, const Head& head) {
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

  // The declared types are those of the parts; parts are not converted.
  bool check_parts(const Equation& equation, const Head& head) {
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

  // A declared float type rounds a float value; other conversions are written out.
  bool convert_to_declared(Equation& equation, const Syntax& value) {
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

  // A place where an index stands alone, and the extent there.
  struct Use {
    Span span;
    Expr extent;
  };

  // False when a read is faulty in itself: that is reported, and says nothing about ranges.
  bool collect_uses(const Syntax& syntax, std::string_view index, std::vector<Use>& out) const {
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

  Expr inferred_range(const Token& index, const Syntax& value) {
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

  Context& context_;
  TextCursor cursor_;
  Scope extent_scope_;
  Scope scope_;
  Elaborator extents_;
  Elaborator names_;
  AlgorithmSpans spans_;
  bool is_view_ = false;  // the statement at hand
  Algorithm algorithm_;
};

}  // namespace

Result<Algorithm> parse_algorithm(Context& context, const Source& source) {
  return Reader(context, source).read();
}

}  // namespace tilewright::ir
