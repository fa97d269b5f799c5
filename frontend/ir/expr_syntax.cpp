// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/expr_syntax.h"

#include <algorithm>

namespace tilewright::ir {

namespace {

constexpr std::string_view kKeywords[] = {
    "algorithm", "program",  "requires", "input",    "output", "extent", "for",  "parallel",
    "vector",    "unrolled", "if",       "else",     "let",    "alloc",  "min",  "max",
    "select",    "round_to", "saturate", "true",     "false",  "inf",    "nan",  "multiple_of",
    "monoid",    "scan",     "update",   "on_empty", "view",   "inout",  "const"};

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
  for_each_part(*node,
                [&](const Syntax& part) { node->depth = std::max(node->depth, part.depth + 1); });
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

void add_ranges(FoldSyntax& fold, std::vector<SyntaxPtr> ranges) {
  for (SyntaxPtr& range : ranges) {
    Syntax& left = *range->args[0];
    const bool has_lower = left.kind == SyntaxKind::Operator;
    const Syntax& var = has_lower ? *left.args[1] : left;
    fold.vars.push_back({TokenKind::Name, var.text, var.text_span, 0, false, false});
    fold.bounds.push_back(has_lower ? std::move(left.args[0]) : nullptr);
    fold.bounds.push_back(std::move(range->args[1]));
  }
}

SyntaxPtr make_fold(const Token& name, FoldSyntax::Form form) {
  SyntaxPtr out = make(SyntaxKind::Fold, name);
  out->fold = std::make_unique<FoldSyntax>();
  out->fold->form = form;
  return out;
}

// The terms and what follows them.
SyntaxPtr finish_fold(TextCursor& cursor, SyntaxPtr fold, std::uint32_t begin) {
  SyntaxPtr body = parse_expr(cursor, 1);
  if (!body) return nullptr;
  fold->args.push_back(std::move(body));
  if (cursor.accept("on_empty")) {
    fold->fold->on_empty = parse_expr(cursor, 1);
    if (!fold->fold->on_empty) return nullptr;
  }
  return finish(cursor, std::move(fold), begin);
}

// `k < K, 1 <= t < T where c)`, with the parenthesis taken; false after reporting.
bool parse_ranges(TextCursor& cursor, const Token& name, FoldSyntax& fold) {
  std::vector<SyntaxPtr> ranges;
  do {
    ranges.push_back(parse_expr(cursor, 1));
    if (!ranges.back()) return false;
    if (!is_fold_range(*ranges.back())) {
      cursor.report(Code::UnexpectedToken, ranges.back()->span,
                    "`" + std::string(name.text) + "` without ranges of its variables",
                    "write `" + std::string(name.text) + "(k < K) ...`, then what it folds");
      return false;
    }
  } while (cursor.accept(","));
  add_ranges(fold, std::move(ranges));
  if (cursor.accept("where")) {
    fold.where = parse_expr(cursor, 1);
    if (!fold.where) return false;
  }
  return cursor.expect(")", "after the ranges of `" + std::string(name.text) + "`");
}

// `scan sum(t) body`, `scan(t, h = h0) body`; the word is taken.
SyntaxPtr parse_scan(TextCursor& cursor, const Token& word) {
  Token name = word;
  const bool recurrence = cursor.at("(");
  if (!recurrence) {
    if (cursor.peek().kind != TokenKind::Name) {
      cursor.unexpected("a reduction after `scan`",
                        "write `scan sum(t) ...` or `scan(t, h = h0) ...`");
      return nullptr;
    }
    name = cursor.next();
  }
  SyntaxPtr out = make_fold(name, FoldSyntax::Form::Scan);
  if (recurrence) out->text = "last";
  if (!cursor.expect("(", "after `scan`", "write the index, as in `scan sum(t) x[t]`"))
    return nullptr;
  const auto var = cursor.expect_name("the index that it runs along", "write `scan sum(t) ...`");
  if (!var) return nullptr;
  out->fold->vars.push_back(*var);
  while (recurrence && cursor.accept(",")) {
    const auto state = cursor.expect_name("the name of the previous value", "write `h = h0`");
    if (!state || !cursor.expect("=", "after the name", "write the value before the first"))
      return nullptr;
    out->fold->state.push_back(*state);
    out->fold->base.push_back(parse_expr(cursor, 1));
    if (!out->fold->base.back()) return nullptr;
  }
  if (recurrence && out->fold->state.empty()) {
    cursor.unexpected("`, h = ...`", "name the previous value and say what it begins with");
    return nullptr;
  }
  if (!cursor.expect(")", "after the index of `scan`")) return nullptr;
  return finish_fold(cursor, std::move(out), word.span.begin);
}

// `update base sum(n < N) at [row[n]] body`; the word is taken.
SyntaxPtr parse_update(TextCursor& cursor, const Token& word) {
  SyntaxPtr base = parse_expr(cursor, 1);
  if (!base) return nullptr;
  if (cursor.peek().kind != TokenKind::Name) {
    cursor.unexpected("a reduction after what is updated",
                      "write `update y[i] sum(n < N) at [row[n]] x[n]`");
    return nullptr;
  }
  const Token name = cursor.next();
  SyntaxPtr out = make_fold(name, FoldSyntax::Form::Update);
  out->fold->base.push_back(std::move(base));
  if (!cursor.expect("(", "after the reduction") || !parse_ranges(cursor, name, *out->fold))
    return nullptr;
  if (!cursor.expect("at", "after the ranges",
                     "say which cell a term goes to, as in `at [row[n]]`") ||
      !cursor.expect("[", "after `at`") ||
      !parse_list(cursor, "]", "after the cell", out->fold->at))
    return nullptr;
  return finish_fold(cursor, std::move(out), word.span.begin);
}

SyntaxPtr parse_call(TextCursor& cursor, const Token& name) {
  const bool may_fold =
      monoid_named(name.text) ||
      (!function_named(name.text) && !parse_type(name.text) && name.text != "select");
  std::vector<SyntaxPtr> args;
  SyntaxPtr where;
  const std::string context = "after the arguments of `" + std::string(name.text) + "`";
  if (!cursor.accept(")")) {
    do {
      SyntaxPtr element = parse_expr(cursor, 1);
      if (!element) return nullptr;
      args.push_back(std::move(element));
    } while (cursor.accept(","));
    if (may_fold && is_fold_range(*args.back()) && cursor.accept("where")) {
      where = parse_expr(cursor, 1);
      if (!where) return nullptr;
    }
    if (!cursor.expect(")", context)) return nullptr;
  }
  const bool is_fold =
      may_fold && !args.empty() &&
      std::all_of(args.begin(), args.end(), [](const auto& a) { return is_fold_range(*a); });
  if (is_fold) {
    SyntaxPtr fold = make_fold(name, FoldSyntax::Form::Reduction);
    add_ranges(*fold->fold, std::move(args));
    fold->fold->where = std::move(where);
    return finish_fold(cursor, std::move(fold), name.span.begin);
  }
  if (where || (monoid_named(name.text) && !function_named(name.text))) {
    cursor.report(Code::UnexpectedToken, cursor.span_from(name.span.begin),
                  "`" + std::string(name.text) + "` without ranges of its variables",
                  "write `" + std::string(name.text) + "(k < K) ...`, then what it folds");
    return nullptr;
  }
  SyntaxPtr call = make(SyntaxKind::Call, name);
  call->args = std::move(args);
  return finish(cursor, std::move(call), name.span.begin);
}

SyntaxPtr parse_group(TextCursor& cursor) {
  const Token open = cursor.next();
  SyntaxPtr inner = parse_expr(cursor, 1);
  if (inner && cursor.at(",")) {
    SyntaxPtr tuple = make(SyntaxKind::Tuple, open);
    tuple->args.push_back(std::move(inner));
    while (cursor.accept(",")) {
      SyntaxPtr element = parse_expr(cursor, 1);
      if (!element) return nullptr;
      tuple->args.push_back(std::move(element));
    }
    if (!cursor.expect(")", "to close the tuple")) return nullptr;
    return finish(cursor, std::move(tuple), open.span.begin);
  }
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
  if (cursor.accept("scan")) return parse_scan(cursor, token);
  if (cursor.accept("update")) return parse_update(cursor, token);
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
  const Monoid found = monoid_of_name(text);
  return found == Monoid::Declared ? std::nullopt : std::optional(found);
}

bool is_reserved_name(std::string_view text) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), text) != std::end(kKeywords) ||
         parse_type(text) || function_named(text) || monoid_named(text);
}

}  // namespace tilewright::ir
