// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/expr_syntax.h"

#include <algorithm>

namespace tilewright::ir {

namespace {

constexpr std::string_view kKeywords[] = {
    "algorithm", "program",  "requires", "input", "output", "extent", "for", "parallel",
    "vector",    "unrolled", "if",       "else",  "let",    "alloc",  "min", "max",
    "select",    "round_to", "saturate", "true",  "false",  "inf",    "nan", "multiple_of"};

std::optional<OpCode> op_with(std::string_view text, OpSyntax syntax) {
  for (int i = 0; i < kNumOps; ++i) {
    const OpInfo& info = op_info(static_cast<OpCode>(i));
    if (info.syntax == syntax && info.text == text) return static_cast<OpCode>(i);
  }
  return std::nullopt;
}

SyntaxPtr parse_expr(TextCursor& cursor, int min_precedence);

// Adds up the nesting of a finished node; null, reported, when it is too deep.
SyntaxPtr finish(TextCursor& cursor, SyntaxPtr node, std::uint32_t begin) {
  for (const SyntaxPtr& arg : node->args)
    if (arg) node->depth = std::max(node->depth, arg->depth + 1);
  node->span = cursor.span_from(begin);
  if (node->depth <= kMaxTextNesting) return node;
  cursor.nesting_too_deep();
  return nullptr;
}

SyntaxPtr make(SyntaxKind kind, const Token& token) {
  auto node = std::make_unique<Syntax>();
  node->kind = kind;
  node->span = token.span;
  node->text = token.text;
  node->text_span = token.span;
  return node;
}

bool is_number(const Token& token) {
  return token.kind == TokenKind::Integer || token.kind == TokenKind::Float ||
         (token.kind == TokenKind::Name && (token.text == "inf" || token.text == "nan"));
}

SyntaxPtr parse_number(TextCursor& cursor) {
  const std::uint32_t begin = cursor.peek().span.begin;
  const bool negative = cursor.accept("-");
  const Token token = cursor.next();
  SyntaxPtr node = make(SyntaxKind::Number, token);
  node->negative = negative;
  node->is_float = token.kind != TokenKind::Integer;
  return finish(cursor, std::move(node), begin);
}

// Expressions up to the closing mark; false after reporting.
bool parse_list(TextCursor& cursor, std::string_view close, std::string_view context,
                std::vector<SyntaxPtr>& out) {
  if (cursor.accept(close)) return true;
  do {
    SyntaxPtr element = parse_expr(cursor, 1);
    if (!element) return false;
    out.push_back(std::move(element));
  } while (cursor.accept(","));
  return cursor.expect(close, context);
}

bool is_comparison(const Syntax& node, OpCode op) {
  return node.kind == SyntaxKind::Operator && node.op == op && !node.grouped;
}

// `k < K` or `1 <= k < K`: the form of a variable of a fold, which no argument of a function has, since
// `min` and `max` take no conditions.
bool is_fold_range(const Syntax& node) {
  if (!is_comparison(node, OpCode::Lt)) return false;
  const Syntax& left = *node.args[0];
  if (left.kind == SyntaxKind::Name && !left.grouped) return true;
  return is_comparison(left, OpCode::Le) && left.args[1]->kind == SyntaxKind::Name &&
         !left.args[1]->grouped;
}

SyntaxPtr parse_fold(TextCursor& cursor, const Token& name, Monoid monoid,
                     std::vector<SyntaxPtr> ranges) {
  SyntaxPtr fold = make(SyntaxKind::Fold, name);
  fold->monoid = monoid;
  for (SyntaxPtr& range : ranges) {
    Syntax& left = *range->args[0];
    const bool has_lower = left.kind == SyntaxKind::Operator;
    const Syntax& var = has_lower ? *left.args[1] : left;
    fold->vars.push_back({TokenKind::Name, var.text, var.text_span, 0, false, false});
    fold->args.push_back(has_lower ? std::move(left.args[0]) : nullptr);
    fold->args.push_back(std::move(range->args[1]));
  }
  SyntaxPtr body = parse_expr(cursor, 1);
  if (!body) return nullptr;
  fold->args.push_back(std::move(body));
  return finish(cursor, std::move(fold), name.span.begin);
}

SyntaxPtr parse_call(TextCursor& cursor, const Token& name) {
  std::vector<SyntaxPtr> args;
  if (!parse_list(cursor, ")", "after the arguments of `" + std::string(name.text) + "`", args))
    return nullptr;
  if (const auto monoid = monoid_named(name.text)) {
    const bool is_fold = !args.empty() && std::all_of(args.begin(), args.end(), [](const auto& a) {
      return is_fold_range(*a);
    });
    if (is_fold) return parse_fold(cursor, name, *monoid, std::move(args));
    if (!function_named(name.text)) {
      cursor.report(Code::UnexpectedToken, cursor.span_from(name.span.begin),
                    "`" + std::string(name.text) + "` without ranges of its variables",
                    "write `" + std::string(name.text) + "(k < K) ...`, then what it folds");
      return nullptr;
    }
  }
  SyntaxPtr call = make(SyntaxKind::Call, name);
  call->args = std::move(args);
  return finish(cursor, std::move(call), name.span.begin);
}

SyntaxPtr parse_group(TextCursor& cursor) {
  const Token open = cursor.next();
  SyntaxPtr inner = parse_expr(cursor, 1);
  if (!inner || !cursor.expect(")", "to close the parenthesis")) return nullptr;
  inner->grouped = true;
  inner->span = cursor.span_from(open.span.begin);
  return inner;
}

// A word of the language stands in an expression as a function, type or truth value only.
bool check_word(TextCursor& cursor) {
  const std::string_view text = cursor.peek().text;
  if (!is_reserved_name(text) || parse_type(text) || text == "true" || text == "false") return true;
  const bool callable = function_named(text) || monoid_named(text) || text == "select" ||
                        text == "round_to" || text == "saturate";
  if (callable && cursor.peek(1).text == "(") return true;
  if (callable) cursor.next();
  if (callable)
    cursor.unexpected("`(` after `" + std::string(text) + "`",
                      "write what it applies to in `(...)`");
  else
    cursor.unexpected("an expression", "write a number, a name, or an operation on them");
  return false;
}

SyntaxPtr parse_primary(TextCursor& cursor) {
  const Token token = cursor.peek();
  if (is_number(token)) return parse_number(cursor);
  if (cursor.at("(")) return parse_group(cursor);
  if (token.kind != TokenKind::Name) {
    cursor.unexpected("an expression", "write a number, a name, or an operation on them");
    return nullptr;
  }
  if (!check_word(cursor)) return nullptr;
  cursor.next();
  if (token.text == "true" || token.text == "false") return make(SyntaxKind::Boolean, token);
  if (cursor.accept("(")) return parse_call(cursor, token);
  if (!cursor.accept("[")) return make(SyntaxKind::Name, token);
  SyntaxPtr read = make(SyntaxKind::Index, token);
  if (!parse_list(cursor, "]", "after the indices", read->args)) return nullptr;
  return finish(cursor, std::move(read), token.span.begin);
}

SyntaxPtr parse_prefix(TextCursor& cursor) {
  const Token token = cursor.peek();
  const auto op =
      token.kind == TokenKind::Punctuation ? op_with(token.text, OpSyntax::Prefix) : std::nullopt;
  if (!op) return parse_primary(cursor);
  if (*op == OpCode::Neg && is_number(cursor.peek(1))) return parse_number(cursor);
  cursor.next();
  SyntaxPtr node = make(SyntaxKind::Operator, token);
  node->op = *op;
  SyntaxPtr operand = parse_expr(cursor, op_info(*op).precedence);
  if (!operand) return nullptr;
  node->args.push_back(std::move(operand));
  return finish(cursor, std::move(node), token.span.begin);
}

SyntaxPtr parse_expr(TextCursor& cursor, int min_precedence) {
  TextCursor::Nest nest(cursor);
  if (!nest.ok()) return nullptr;
  const std::uint32_t begin = cursor.peek().span.begin;
  SyntaxPtr left = parse_prefix(cursor);
  while (left) {
    const Token token = cursor.peek();
    const auto op =
        token.kind == TokenKind::Punctuation ? op_with(token.text, OpSyntax::Infix) : std::nullopt;
    if (!op || op_info(*op).precedence < min_precedence) break;
    cursor.next();
    SyntaxPtr right = parse_expr(cursor, op_info(*op).precedence + 1);
    if (!right) return nullptr;
    SyntaxPtr node = make(SyntaxKind::Operator, token);
    node->op = *op;
    node->args.push_back(std::move(left));
    node->args.push_back(std::move(right));
    left = finish(cursor, std::move(node), begin);
  }
  return left;
}

}  // namespace

SyntaxPtr parse_expr_syntax(TextCursor& cursor) { return parse_expr(cursor, 1); }

std::optional<std::vector<SyntaxPtr>> parse_index_list(TextCursor& cursor) {
  std::vector<SyntaxPtr> out;
  if (!parse_list(cursor, "]", "after the list", out)) return std::nullopt;
  return out;
}

std::optional<OpCode> function_named(std::string_view text) {
  return op_with(text, OpSyntax::Function);
}

std::optional<Monoid> monoid_named(std::string_view text) {
  for (int i = 0; i < kNumMonoids; ++i)
    if (monoid_text(static_cast<Monoid>(i)) == text) return static_cast<Monoid>(i);
  return std::nullopt;
}

bool is_reserved_name(std::string_view text) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), text) != std::end(kKeywords) ||
         parse_type(text) || function_named(text) || monoid_named(text);
}

}  // namespace tilewright::ir
