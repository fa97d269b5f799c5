// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/elaborate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/base/format.h"

namespace tilewright::ir {

namespace {

std::string type_name(ScalarType type) { return "`" + std::string(type_text(type)) + "`"; }

// Levenshtein distance, cut off at small lengths: names are short.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

std::string operand_types(TypeRule rule) {
  switch (rule) {
    case TypeRule::Field:
    case TypeRule::Magnitude: return "numbers";
    case TypeRule::Arithmetic: return "real numbers";
    case TypeRule::Join: return "`f32` or `f64`";
    case TypeRule::Part:
    case TypeRule::Conjugate: return "complex numbers";
    case TypeRule::Integer: return "`index` and integers";
    case TypeRule::Float: return "floats";
    case TypeRule::Bits: return "integers";
    case TypeRule::Random: return "`u32` or `u64`";
    case TypeRule::Equal: return "operands of one type";
    case TypeRule::Compare: return "operands of one type with an order";
    case TypeRule::Logic: return "`bool`";
  }
  return {};
}

}  // namespace

const Meaning* Scope::find(Symbol name) const {
  auto it = meanings_.find(name);
  return it == meanings_.end() ? nullptr : &it->second;
}

std::string Scope::closest(std::string_view name) const {
  std::string best;
  // Strictly nearer than this; a name of one letter is like no other.
  std::size_t best_distance = name.size() <= 1 ? 1 : name.size() <= 3 ? 2 : 3;
  if (name.size() > 64) return best;
  for (const auto& [symbol, meaning] : meanings_) {
    const std::string_view text = symbol.text();
    if (text.size() > 64) continue;
    const std::size_t distance = edit_distance(name, text);
    if (distance < best_distance || (distance == best_distance && !best.empty() && text < best)) {
      best_distance = distance;
      best = text;
    }
  }
  return best;
}

Span find_span(const ExprSpans& spans, Expr expr, Span around) {
  Span found;
  const auto [begin, end] = spans.equal_range(expr);
  for (auto it = begin; it != end; ++it) {
    const Span span = it->second;
    const bool inside = around.none() || (around.begin <= span.begin && span.end <= around.end);
    if (inside && (found.none() || span.begin < found.begin)) found = span;
  }
  return found.none() ? around : found;
}

bool Elaborator::declare(const Token& name, const Meaning& meaning) {
  if (is_reserved_name(name.text)) {
    cursor_.report(Code::ReservedName, name.span,
                   in_backticks(name.text) + " is a word of the language, not a name",
                   "choose another name, as in `" + std::string(name.text) + "_`");
    return false;
  }
  const Symbol symbol = context_.symbol(name.text);
  if (scope_.declare(symbol, meaning)) return true;
  Diagnostic d{Code::DuplicateName,
               name.span,
               in_backticks(name.text) + " is declared twice",
               "give one of the two another name",
               {},
               {}};
  if (const Meaning* first = scope_.find(symbol); first && !first->declared.none())
    d.labels.push_back({first->declared, "declared first here"});
  cursor_.report(std::move(d));
  return false;
}

Expr Elaborator::record(const Syntax& syntax, Expr value) {
  if (value && spans_) spans_->emplace(value, syntax.span);
  return value;
}

Expr Elaborator::expression_of(const Syntax& syntax, ScalarType type, std::string_view what) {
  Expr value = expression(syntax, type);
  if (!value || value.type() == type) return value;
  const bool index_from_number = type == ScalarType::Index && value.type() != ScalarType::Bool;
  cursor_.report(Code::DeclaredType, syntax.span,
                 std::string(what) + " has type " + type_name(value.type()) + " where " +
                     type_name(type) + " is needed",
                 type == ScalarType::Bool ? "compare it with something, as in `x != 0`"
                 : index_from_number
                     ? "use indices, extents and integer literals here"
                     : "convert it, as in `" + std::string(type_text(type)) + "(...)`");
  return {};
}

Expr Elaborator::expression(const Syntax& syntax, std::optional<ScalarType> expected) {
  switch (syntax.kind) {
    case SyntaxKind::Number: {
      if (expected == ScalarType::Bool) expected.reset();
      if (!expected && syntax.is_float) {
        cursor_.report(Code::UntypedLiteral, syntax.span,
                       "nothing here says what type " + in_backticks(syntax.text) + " has",
                       "write the type, as in `f32(" + std::string(syntax.text) + ")`");
        return {};
      }
      return record(syntax, number(syntax, expected.value_or(ScalarType::Index)));
    }
    case SyntaxKind::Boolean: return record(syntax, context_.boolean(syntax.text == "true"));
    case SyntaxKind::Name: return record(syntax, name(syntax));
    case SyntaxKind::Index: return record(syntax, read(syntax));
    case SyntaxKind::Call: return record(syntax, call(syntax, expected));
    case SyntaxKind::Operator: return record(syntax, operation(syntax, syntax.op, expected));
    case SyntaxKind::Tuple:
      cursor_.report(Code::FoldFields, syntax.span, "a tuple where one value is needed",
                     "tuples are the terms of a reduction of several fields");
      return {};
    case SyntaxKind::Fold:
      cursor_.report(program_ ? Code::FoldInProgram : Code::FoldPlacement, syntax.span,
                     in_backticks(syntax.text) +
                         (program_ ? " stands in a program" : " stands inside an expression"),
                     program_ ? "write a loop that updates a buffer"
                              : "give the fold its own equation and read that here");
      return {};
  }
  return {};
}

Expr Elaborator::number(const Syntax& syntax, ScalarType type) {
  const std::string shown = (syntax.negative ? "-" : "") + std::string(syntax.text);
  auto refuse = [&](Code code, const std::string& message, const std::string& remedy) {
    cursor_.report(code, syntax.span, message, remedy);
    return Expr();
  };
  const std::string held = in_backticks(shown) + " does not fit " + type_name(type);
  if (is_complex(type)) {
    const Expr re = number(syntax, part_type(type));
    if (!re) return {};
    return context_.op(OpCode::Complex, {re, context_.real(part_type(type), 0)});
  }
  if (is_float(type)) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (syntax.text == "inf") {
      value = std::numeric_limits<double>::infinity();
    } else if (syntax.text != "nan") {
      // f32 is read directly: going through f64 would round twice.
      value = type == ScalarType::F32 ? static_cast<double>(read_float(syntax.text).value_or(0))
                                      : read_double(syntax.text).value_or(0);
    }
    if (syntax.negative && !std::isnan(value)) value = -value;
    const double rounded = round_to_type(type, value);
    // What is too large, and what the format lacks: infinities, NaN, zero and the negatives of a scale.
    const bool written = syntax.text == "inf" || syntax.text == "nan";
    const bool zero = value == 0 && rounded != 0;
    const bool large = !has_nan(type) && std::fabs(value) > largest_finite(type);
    const bool lost = std::isnan(rounded) != std::isnan(value);
    if (zero || large || lost || (std::isinf(rounded) && !written))
      return refuse(Code::LiteralRange, held,
                    has_infinity(type) ? "write `inf`, or use a wider type" : "use a wider type");
    return context_.real(type, rounded);
  }
  if (syntax.is_float)
    return refuse(
        Code::LiteralRange,
        in_backticks(shown) + " is no integer, but " + type_name(type) + " is needed here",
        "use an integer, or convert the other side to a float, as in `f32(...)`");
  std::uint64_t magnitude = 0;
  for (const char c : syntax.text)
    if (__builtin_mul_overflow(magnitude, std::uint64_t{10}, &magnitude) ||
        __builtin_add_overflow(magnitude, static_cast<std::uint64_t>(c - '0'), &magnitude))
      return refuse(Code::BadNumber, held, "use a value from -2^63 to 2^64 - 1, or a float");
  const auto limit = syntax.negative ? -static_cast<std::uint64_t>(lowest_integer(type))
                                     : static_cast<std::uint64_t>(greatest_integer(type));
  if (magnitude > limit) return refuse(Code::LiteralRange, held, "use a wider type");
  return context_.integer(type,
                          static_cast<std::int64_t>(syntax.negative ? ~magnitude + 1 : magnitude));
}

const Meaning* Elaborator::meaning_of(const Syntax& syntax) {
  const Meaning* meaning = scope_.find(context_.symbol(syntax.text));
  if (meaning) return meaning->kind == Meaning::Kind::Broken ? nullptr : meaning;
  if (outside_ && outside_->find(context_.symbol(syntax.text))) {
    cursor_.report(Code::ExtentsOnly, syntax.text_span, in_backticks(syntax.text) + " is no extent",
                   "use extents and integers alone in shapes and requirements");
    return nullptr;
  }
  std::string remedy = "declare it before it is used";
  if (const std::string near = scope_.closest(syntax.text); !near.empty())
    remedy = "did you mean `" + near + "`?";
  cursor_.report(Code::UnknownName, syntax.text_span,
                 in_backticks(syntax.text) + " is not declared here", remedy);
  return nullptr;
}

Expr Elaborator::name(const Syntax& syntax) {
  const Symbol symbol = context_.symbol(syntax.text);
  const Meaning* meaning = meaning_of(syntax);
  if (!meaning) return {};
  if (meaning->kind == Meaning::Kind::Extent) return context_.extent(symbol);
  if (meaning->kind == Meaning::Kind::Variable) return context_.var(symbol, meaning->type);
  if (meaning->kind == Meaning::Kind::Parts) return report_parts(syntax, *meaning);
  if (meaning->rank == 0) return context_.read(symbol, {}, meaning->type);
  cursor_.report({Code::NotAValue,
                  syntax.span,
                  in_backticks(syntax.text) + " is a tensor with " + std::to_string(meaning->rank) +
                      " indices, used as one value",
                  "read one element, as in `" + std::string(syntax.text) + "[...]`",
                  {{meaning->declared, "declared here"}},
                  {}});
  return {};
}

Expr Elaborator::report_parts(const Syntax& syntax, const Meaning& meaning) {
  const std::string near = scope_.closest(std::string(syntax.text) + ".value");
  cursor_.report({Code::NotAValue,
                  syntax.span,
                  in_backticks(syntax.text) + " is an equation of several tensors",
                  "read one of them, as in `" + (near.empty() ? "best.value" : near) + "[...]`",
                  {{meaning.declared, "declared here"}},
                  {}});
  return {};
}

Expr Elaborator::read(const Syntax& syntax) {
  const Meaning* found = meaning_of(syntax);
  std::vector<Expr> indices;
  for (const SyntaxPtr& arg : syntax.args) indices.push_back(index_expression(*arg, "the index"));
  if (!found) return {};
  const Meaning meaning = *found;
  if (meaning.kind == Meaning::Kind::Parts) return report_parts(syntax, meaning);
  if (meaning.kind != Meaning::Kind::Tensor) {
    cursor_.report({Code::NotAValue,
                    syntax.span,
                    in_backticks(syntax.text) +
                        (meaning.kind == Meaning::Kind::Extent ? " is an extent" : " is a scalar") +
                        ", which takes no indices",
                    "remove the brackets, or index a tensor",
                    {{meaning.declared, "declared here"}},
                    {}});
    return {};
  }
  if (meaning.rank != syntax.args.size()) {
    cursor_.report({Code::WrongRank,
                    syntax.span,
                    in_backticks(syntax.text) + " has " + std::to_string(meaning.rank) +
                        " indices, found " + std::to_string(syntax.args.size()),
                    "write one index for each dimension",
                    {{meaning.declared, "declared here"}},
                    {}});
    return {};
  }
  for (Expr index : indices)
    if (!index) return {};
  return context_.read(context_.symbol(syntax.text), indices, meaning.type);
}

void Elaborator::report_mismatch(const Syntax& syntax, std::span<const SyntaxPtr> operands,
                                 std::span<const Expr> values) {
  std::string message = in_backticks(syntax.text) + " of ";
  Diagnostic d{Code::TypeMismatch, syntax.span, {}, {}, {}, {}};
  ScalarType target = values[0].type();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) message += i + 1 == values.size() ? " and " : ", ";
    message += type_name(values[i].type());
    d.labels.push_back({operands[i]->span, "this is " + type_name(values[i].type())});
    if (is_float(values[i].type()) && !is_float(target)) target = values[i].type();
  }
  d.message = message;
  const bool chained = values[0].type() == ScalarType::Bool &&
                       operands[0]->kind == SyntaxKind::Operator && !operands[0]->grouped;
  d.remedy = chained ? "write chained comparisons apart, as in `0 <= i && i < N`"
                     : "convert one side, as in `" + std::string(type_text(target)) + "(...)`";
  cursor_.report(std::move(d));
}

void Elaborator::report_storage(const Syntax& syntax, ScalarType type) {
  cursor_.report(Code::StorageType, syntax.span,
                 in_backticks(syntax.text) + " on " + type_name(type) +
                     ", which is stored and converted but not computed with",
                 "convert it first, as in `f32(...)`");
}

void Elaborator::report_operand(const Syntax& syntax, OpCode op, ScalarType type) {
  const OpInfo& info = op_info(op);
  const bool wants_numbers = info.rule == TypeRule::Field || info.rule == TypeRule::Magnitude ||
                             info.rule == TypeRule::Arithmetic || info.rule == TypeRule::Float;
  if (is_storage_float(type) && wants_numbers) return report_storage(syntax, type);
  cursor_.report(
      Code::OperandType, syntax.span,
      in_backticks(info.text) + " takes " + operand_types(info.rule) + ", found " + type_name(type),
      type == ScalarType::Bool ? "choose numbers with `select(c, 1, 0)`"
      : info.rule == TypeRule::Part || info.rule == TypeRule::Conjugate
          ? "leave it out: a real number is its own real part"
      : is_complex(type) && info.rule != TypeRule::Logic
          ? "take a part or the size, as in `re(z)` or `abs(z)`"
      : info.rule == TypeRule::Logic   ? "compare it with something, as in `x != 0`"
      : info.rule == TypeRule::Integer ? "convert the operands to `index` or an integer"
      : info.rule == TypeRule::Bits    ? "convert the operands to an integer, as in `u32(...)`"
      : info.rule == TypeRule::Random  ? "convert key and counter, as in `u64(...)`"
                                       : "convert the operands, as in `f32(...)`");
}

Expr Elaborator::operation(const Syntax& syntax, OpCode op, std::optional<ScalarType> expected) {
  const OpInfo& info = op_info(op);
  if (!check_arity(syntax, static_cast<std::size_t>(info.arity))) return {};
  std::optional<ScalarType> hint = first_natural(syntax.args);
  if (!hint && info.rule == TypeRule::Logic) hint = ScalarType::Bool;
  if (!hint && expected && !is_comparison(op)) hint = operand_for(op, *expected);
  std::vector<Expr> args;
  for (const SyntaxPtr& arg : syntax.args) args.push_back(expression(*arg, hint));
  for (Expr arg : args)
    if (!arg) return {};
  for (Expr arg : args)
    if (arg.type() != args[0].type()) {
      report_mismatch(syntax, syntax.args, args);
      return {};
    }
  ScalarType type = ScalarType::Index;
  if (op_type(op, args, &type)) return context_.op(op, args);
  report_operand(syntax, op, args[0].type());
  return {};
}

bool Elaborator::check_arity(const Syntax& syntax, std::size_t arity) {
  if (syntax.args.size() == arity) return true;
  cursor_.report(Code::WrongArity, syntax.span,
                 in_backticks(syntax.text) + " takes " + std::to_string(arity) + " argument" +
                     (arity == 1 ? "" : "s") + ", found " + std::to_string(syntax.args.size()),
                 "write " + std::to_string(arity) + " argument" + (arity == 1 ? "" : "s"));
  return false;
}

Expr Elaborator::call(const Syntax& syntax, std::optional<ScalarType> expected) {
  if (const auto op = function_named(syntax.text)) return operation(syntax, *op, expected);
  if (const auto type = parse_type(syntax.text)) return cast(syntax, *type);
  if (syntax.text == "select") return select(syntax, expected);
  if (syntax.text == "round_to") return round_to(syntax, expected);
  if (syntax.text == "saturate") return saturate(syntax);
  const bool tensor = scope_.find(context_.symbol(syntax.text)) != nullptr;
  cursor_.report(Code::UnknownName, syntax.text_span, in_backticks(syntax.text) + " is no function",
                 tensor ? "index tensors with brackets, as in `" + std::string(syntax.text) + "[i]`"
                        : "`tilewright help language` lists the functions");
  return {};
}

Expr Elaborator::select(const Syntax& syntax, std::optional<ScalarType> expected) {
  if (!check_arity(syntax, 3)) return {};
  const auto arms = std::span(syntax.args).subspan(1);
  if (const auto natural = first_natural(arms)) expected = natural;
  Expr condition = expression_of(*syntax.args[0], ScalarType::Bool, "the condition");
  const Expr values[] = {expression(*arms[0], expected), expression(*arms[1], expected)};
  if (!condition || !values[0] || !values[1]) return {};
  if (values[0].type() == values[1].type()) return context_.select(condition, values[0], values[1]);
  report_mismatch(syntax, arms, values);
  return {};
}

Expr Elaborator::round_to(const Syntax& syntax, std::optional<ScalarType> expected) {
  if (!check_arity(syntax, 2)) return {};
  const auto grid = named_type(*syntax.args[0]);
  if (!grid || !is_float(*grid)) {
    cursor_.report(Code::OperandType, syntax.args[0]->span,
                   "`round_to` rounds to the grid of a float type, which this is not",
                   "write `f16`, `bf16`, `f32` or another float type first");
    return {};
  }
  Expr value = expression(*syntax.args[1], expected);
  if (!value) return {};
  if (op_accepts(OpCode::Rint, value.type())) return context_.round_to(*grid, value);
  if (is_storage_float(value.type())) {
    report_storage(syntax, value.type());
    return {};
  }
  cursor_.report(Code::OperandType, syntax.args[1]->span,
                 "`round_to` takes a float, found " + type_name(value.type()),
                 "convert it first, as in `f32(...)`");
  return {};
}

// What literals among the operands are when the result should have this type.
std::optional<ScalarType> Elaborator::operand_for(OpCode op, ScalarType result) {
  if (op_accepts(op, result) && op_result(op, result) == result) return result;
  const ScalarType part = part_type(result);
  if (op_accepts(op, part) && op_result(op, part) == result) return part;
  return std::nullopt;
}

std::optional<ScalarType> Elaborator::named_type(const Syntax& syntax) {
  return syntax.kind == SyntaxKind::Name ? parse_type(syntax.text) : std::nullopt;
}

Expr Elaborator::saturate(const Syntax& syntax) {
  if (!check_arity(syntax, 2)) return {};
  const auto type = named_type(*syntax.args[0]);
  const bool number = type && saturates(ScalarType::F32, *type);
  if (!number)
    cursor_.report(Code::OperandType, syntax.args[0]->span,
                   "`saturate` makes integers of a width and floats, which this is not",
                   "write the type first, as in `saturate(i8, x)`");
  Expr value = expression(*syntax.args[1], std::nullopt);
  if (!number || !value) return {};
  if (saturates(value.type(), *type)) return context_.saturate(*type, value);
  cursor_.report(Code::OperandType, syntax.args[1]->span,
                 "`saturate` takes a number, found " + type_name(value.type()),
                 is_complex(value.type()) ? "take a part or the size, as in `re(z)` or `abs(z)`"
                                          : "choose numbers with `select(c, 1, 0)`");
  return {};
}

Expr Elaborator::cast(const Syntax& syntax, ScalarType type) {
  if (!check_arity(syntax, 1)) return {};
  const Syntax& arg = *syntax.args[0];
  if (arg.kind == SyntaxKind::Number && type != ScalarType::Bool) return number(arg, type);
  Expr value = expression(arg, std::nullopt);
  return value ? make_cast(syntax, type, value) : Expr();
}

Expr Elaborator::make_cast(const Syntax& syntax, ScalarType type, Expr value) {
  if (casts(value.type(), type)) return context_.cast(type, value);
  if (type != ScalarType::Bool) {
    cursor_.report(
        Code::BadCast, syntax.span,
        "there is no conversion from " + type_name(value.type()) + " to " + type_name(type),
        "take a part or the size, as in `re(z)` or `abs(z)`");
    return {};
  }
  cursor_.report(Code::BadCast, syntax.span,
                 "there is no conversion from " + type_name(value.type()) + " to `bool`",
                 "compare with zero, as in `x != 0`");
  return {};
}

Expr Elaborator::equation_value(const Syntax& syntax, std::span<const ScalarType> expected) {
  if (syntax.kind == SyntaxKind::Fold) return record(syntax, fold(syntax, expected));
  const auto first = expected.empty() ? std::nullopt : std::optional(expected[0]);
  const auto type = syntax.kind == SyntaxKind::Call ? parse_type(syntax.text) : std::nullopt;
  if (!type || syntax.args.size() != 1 || syntax.args[0]->kind != SyntaxKind::Fold)
    return expression(syntax, first);
  Expr value = record(*syntax.args[0], fold(*syntax.args[0], {}));
  return value ? record(syntax, make_cast(syntax, *type, value)) : Expr();
}

Expr Elaborator::index_expression(const Syntax& syntax, std::string_view what) {
  if (program_) return expression_of(syntax, ScalarType::Index, what);
  const auto natural = natural_type(syntax);
  if (!natural || !is_integer(*natural)) return expression_of(syntax, ScalarType::Index, what);
  Expr value = expression(syntax, natural);
  return value ? record(syntax, context_.cast(ScalarType::Index, value)) : value;
}

std::optional<ScalarType> Elaborator::natural_type(const Syntax& syntax) {
  if (!syntax.natural_type_known) {
    syntax.natural_type = find_natural_type(syntax);
    syntax.natural_type_known = true;
  }
  return syntax.natural_type;
}

std::optional<ScalarType> Elaborator::first_natural(std::span<const SyntaxPtr> args) {
  for (const SyntaxPtr& arg : args)
    if (const auto type = natural_type(*arg)) return type;
  return std::nullopt;
}

std::optional<ScalarType> Elaborator::find_natural_type(const Syntax& syntax) {
  auto of_op = [&](OpCode op) -> std::optional<ScalarType> {
    const TypeRule rule = op_info(op).rule;
    if (is_comparison(op) || rule == TypeRule::Logic) return ScalarType::Bool;
    const auto operand = first_natural(syntax.args);
    return operand && op_accepts(op, *operand) ? op_result(op, *operand) : operand;
  };
  switch (syntax.kind) {
    case SyntaxKind::Number:
    case SyntaxKind::Tuple:
    case SyntaxKind::Fold: return std::nullopt;
    case SyntaxKind::Boolean: return ScalarType::Bool;
    case SyntaxKind::Name:
    case SyntaxKind::Index: {
      const Meaning* meaning = scope_.find(context_.symbol(syntax.text));
      if (!meaning || meaning->kind == Meaning::Kind::Broken) return std::nullopt;
      return meaning->type;
    }
    case SyntaxKind::Operator: return of_op(syntax.op);
    case SyntaxKind::Call:
      if (const auto type = parse_type(syntax.text)) return type;
      if (const auto op = function_named(syntax.text)) return of_op(*op);
      if (syntax.args.empty()) return std::nullopt;
      if (syntax.text == "saturate") return named_type(*syntax.args[0]);
      return first_natural(std::span(syntax.args).subspan(1));
  }
  return std::nullopt;
}

}  // namespace tilewright::ir
