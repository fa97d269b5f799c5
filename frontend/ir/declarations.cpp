// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/declarations.h"

#include "frontend/ir/text.h"

namespace tilewright::ir {

std::string print_extent(const ExtentDecl& extent) {
  std::string out(extent.name.text());
  if (extent.min != 0) out += " min " + std::to_string(extent.min);
  if (extent.max) out += " max " + std::to_string(*extent.max);
  if (extent.multiple_of != 1) out += " multiple_of " + std::to_string(extent.multiple_of);
  return out;
}

std::string print_list(std::span<const Expr> exprs) {
  std::string out;
  for (Expr expr : exprs) {
    if (!out.empty()) out += ", ";
    out += print(expr);
  }
  return out;
}

std::string print_tensor_type(ScalarType type, std::span<const Expr> shape) {
  return std::string(type_text(type)) + "[" + print_list(shape) + "]";
}

std::optional<ExtentDecl> parse_extent(TextCursor& cursor, Context& context,
                                       std::span<Elaborator* const> elaborators) {
  const auto name = cursor.expect_name("the name of an extent", "name an extent, as in `M`");
  if (!name) return std::nullopt;
  ExtentDecl extent;
  extent.name = context.symbol(name->text);
  struct Part {
    std::string_view word;
    std::optional<std::int64_t> value;
  } parts[] = {{"min", {}}, {"max", {}}, {"multiple_of", {}}};
  for (bool more = true; more;) {
    more = false;
    for (Part& part : parts) {
      if (part.value || !cursor.accept(part.word)) continue;
      part.value = cursor.expect_integer("the value of `" + std::string(part.word) + "`");
      if (!part.value) return std::nullopt;
      more = true;
    }
  }
  extent.min = parts[0].value.value_or(0);
  extent.max = parts[1].value;
  extent.multiple_of = parts[2].value.value_or(1);
  extent.span = cursor.span_from(name->span.begin);
  for (Elaborator* elaborator : elaborators)
    if (!elaborator->declare(*name, {Meaning::Kind::Extent, ScalarType::Index, 0, name->span}))
      break;
  return extent;
}

std::optional<ScalarType> parse_scalar_type(TextCursor& cursor) {
  const auto type =
      cursor.peek().kind == TokenKind::Name ? parse_type(cursor.peek().text) : std::nullopt;
  if (type) {
    cursor.next();
    return type;
  }
  std::string types;
  for (int i = 0; i < kNumScalarTypes; ++i) {
    if (i > 0) types += ", ";
    types += type_text(static_cast<ScalarType>(i));
  }
  cursor.unexpected("a type", "the types are " + types);
  return std::nullopt;
}

std::optional<TensorType> parse_tensor_type(TextCursor& cursor, Elaborator& elaborator) {
  const auto type = parse_scalar_type(cursor);
  if (!type || !cursor.expect("[", "after the type", "write the shape, as in `f32[M, N]`"))
    return std::nullopt;
  const auto list = parse_index_list(cursor);
  if (!list) return std::nullopt;
  TensorType tensor{*type, {}};
  bool good = true;
  for (const SyntaxPtr& extent : *list) {
    tensor.shape.push_back(
        elaborator.expression_of(*extent, ScalarType::Index, "an extent of the shape"));
    good = good && tensor.shape.back();
  }
  if (!good) return std::nullopt;
  return tensor;
}

bool parse_requirements(TextCursor& cursor, Elaborator& elaborator, std::vector<Expr>& out,
                        std::vector<Span>* spans) {
  do {
    const std::uint32_t begin = cursor.peek().span.begin;
    const SyntaxPtr syntax = parse_expr_syntax(cursor);
    if (!syntax) return false;
    if (Expr expr = elaborator.expression_of(*syntax, ScalarType::Bool, "the requirement")) {
      out.push_back(expr);
      if (spans) spans->push_back(cursor.span_from(begin));
    }
  } while (cursor.accept(","));
  return true;
}

}  // namespace tilewright::ir
