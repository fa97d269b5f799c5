// SPDX-License-Identifier: Apache-2.0
//
// Expressions without folds.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "apps/check/reader.h"

namespace tilewright::checker {

namespace {

bool takes(Rule rule, Type type) {
  const Class kind = type->kind;
  switch (rule) {
    case Rule::Compare: return true;
    case Rule::Logic: return kind == Class::Bool;
    case Rule::Bits: return type->is_integer();
    case Rule::Random: return kind == Class::Unsigned && type->width >= 32;
    case Rule::Integer: return kind == Class::Index || type->is_integer();
    // Floats of 8 bits and fewer are stored, compared and converted.
    case Rule::Float: return kind == Class::Float && type->width > 8;
    case Rule::Arithmetic:
      return kind == Class::Index || type->is_integer() ||
             (kind == Class::Float && type->width > 8);
  }
  return false;
}

// Whether the value is one of the type.
bool on_grid(double value, Type type) {
  if (std::isnan(value)) return type->nan;
  if (std::isinf(value)) return type->infinite;
  if (type->width == 64) return true;
  const bool is_scale = type->mantissa == 0;
  if (value == 0) return !is_scale;
  if (is_scale && value < 0) return false;
  const int bias = (1 << (type->exponent - 1)) - 1;
  int exponent = 0;
  double fraction = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  --exponent, fraction *= 2;
  const int least = is_scale ? -bias : 1 - bias;
  const double quantum = std::ldexp(1, std::max(exponent, least) - type->mantissa);
  if (std::fmod(std::fabs(value), quantum) != 0) return false;
  if (is_scale) return exponent >= least && exponent <= bias;
  // Without infinities the largest exponent holds numbers too; f8e4m3 keeps its last for NaN.
  const int most = type->infinite ? bias : bias + 1;
  const bool is_nan = type->nan && !type->infinite && exponent == most && fraction >= 1.875;
  return exponent <= most && !is_nan;
}

bool fits(Int value, bool is_beyond_signed, Type type) {
  if (type->kind == Class::Index || type == kI64) return !is_beyond_signed;
  if (type->kind == Class::Unsigned && type->width == 64) return is_beyond_signed || value >= 0;
  if (is_beyond_signed) return false;
  const Int most = Int{1} << (type->kind == Class::Signed ? type->width - 1 : type->width);
  return value < most && value >= (type->kind == Class::Signed ? -most : 0);
}

}  // namespace

Ref Reader::make(Expr e, std::uint32_t at) {
  e.at = at;
  for (Ref arg : e.args) e.depth = std::max(e.depth, arg->depth + 1);
  if (e.depth > kMaxNesting) refuse_at(at, "nested too deeply");
  return arena_.add(std::move(e));
}

Ref Reader::apply(const Op* op, std::vector<Ref> args, std::uint32_t at) {
  const Type type = args[0]->type;
  for (Ref arg : args)
    if (!type || arg->type != type) refuse_at(at, "operands of different types");
  if (!takes(op->rule, type))
    refuse_at(at, "`" + std::string(op->text) + "` does not take " + std::string(type->text));
  Expr e;
  e.kind = Kind::Apply;
  e.op = op;
  e.type = op->rule == Rule::Compare || op->rule == Rule::Logic ? kBool : type;
  e.args = std::move(args);
  return make(std::move(e), at);
}

Ref Reader::expr_of(Type type, int min_precedence) {
  const std::uint32_t at = peek().at;
  const Ref e = expr(min_precedence);
  if (e->type != type) refuse_at(at, "expected a value of type " + std::string(type->text));
  return e;
}

Ref Reader::expr(int min_precedence) {
  const Nest nest(*this, depth_, kMaxNesting);
  const std::uint32_t at = peek().at;
  Ref left = prefixed();
  while (peek().kind == TokenKind::Mark) {
    const Op* op = infix(peek().text);
    if (!op || op->precedence < min_precedence) break;
    next();
    left = apply(op, {left, expr(op->precedence + 1)}, at);
  }
  return left;
}

std::vector<Ref> Reader::list(Name close, Type type) {
  std::vector<Ref> out;
  if (accept(close)) return out;
  do out.push_back(type ? expr_of(type) : expr());
  while (accept(","));
  expect(close);
  return out;
}

bool Reader::at_number() const {
  const Token& token = peek(at("-") ? 1 : 0);
  return token.kind == TokenKind::Integer || token.kind == TokenKind::Float || is(token, "inf") ||
         is(token, "nan");
}

Ref Reader::prefixed() {
  const std::uint32_t at = peek().at;
  if (at_number()) return number(kIndex, at);
  const Op* op = peek().kind == TokenKind::Mark ? prefix(peek().text) : nullptr;
  if (!op) return primary();
  next();
  return apply(op, {expr(op->precedence)}, at);
}

// A constant of the type, which is exactly what stands there: a text that would be rounded is not canonical, but
// that decimal digits mean the nearest value of f32 or f64.
Ref Reader::number(Type type, std::uint32_t at) {
  const bool negative = accept("-");
  const Token token = next();
  Expr e;
  e.type = type;
  if (type->kind == Class::Float) {
    e.kind = Kind::Real;
    e.real = real(token.text, negative, type, at);
    return make(std::move(e), at);
  }
  std::uint64_t digits = 0;
  const char* end = token.text.data() + token.text.size();
  const auto result = std::from_chars(token.text.data(), end, digits);
  const std::uint64_t limit = std::uint64_t{1} << 63;
  const bool is_large = digits >= limit && !(negative && digits == limit);
  if (token.kind != TokenKind::Integer || result.ec != std::errc() || type == kBool ||
      (negative && digits > limit))
    refuse_at(at, "no constant of type " + std::string(type->text));
  e.integer = static_cast<Int>(negative ? ~digits + 1 : digits);
  if (!fits(e.integer, is_large, type)) refuse_at(at, "the constant does not fit its type");
  return make(std::move(e), at);
}

double Reader::real(Name text, bool negative, Type type, std::uint32_t at) const {
  double value = 0;
  if (text == "inf") {
    value = INFINITY;
  } else if (text == "nan") {
    value = NAN;
  } else {
    std::from_chars_result result{};
    float single = 0;
    if (type->width == 64) {
      result = std::from_chars(text.data(), text.data() + text.size(), value);
    } else {
      result = std::from_chars(text.data(), text.data() + text.size(), single);
      value = single;
    }
    if (result.ec != std::errc() || result.ptr != text.data() + text.size())
      refuse_at(at, "no float of this type");
  }
  if (negative) value = -value;
  if (!on_grid(value, type)) refuse_at(at, "no value of type " + std::string(type->text));
  return value;
}

Ref Reader::group() {
  const std::uint32_t at = next().at;
  const Ref inner = expr();
  if (accept(")")) return inner;
  Expr e;
  e.kind = Kind::Tuple;
  e.args.push_back(inner);
  while (accept(",")) e.args.push_back(expr());
  expect(")");
  return make(std::move(e), at);
}

Ref Reader::primary() {
  const Token token = peek();
  if (at("(")) return group();
  const Name text = name();
  if (text == "scan" || text == "update") {
    return text == "scan" ? scan_fold(token.at) : update_fold(token.at);
  }
  Expr e;
  if (text == "true" || text == "false") {
    e.kind = Kind::Boolean;
    e.type = kBool;
    e.integer = text == "true";
    return make(std::move(e), token.at);
  }
  if (accept("(")) return call(text, token.at);
  e.name = text;
  if (accept("[")) {
    if (!may_read_) refuse_at(token.at, "nothing is read here");
    e.kind = Kind::Read;
    e.args = list("]", kIndex);
    e.type = tensor(text, e.args.size(), token.at).type;
    return make(std::move(e), token.at);
  }
  const Meaning* meaning = find(text);
  if (!meaning || meaning->what > What::Variable)
    refuse_at(token.at, "`" + std::string(text) + "` is no value here");
  e.kind = Kind::Variable;
  e.type = meaning->type;
  return make(std::move(e), token.at);
}

// After `name(`.
Ref Reader::call(Name name, std::uint32_t at) {
  if (const Type type = type_named(name)) return typed(type, at);
  if (begins_fold(name)) return fold(name, at, nullptr);
  Expr e;
  if (name == "select") {
    e.kind = Kind::Select;
    e.args = list(")", nullptr);
    if (e.args.size() != 3 || e.args[0]->type != kBool || !e.args[1]->type ||
        e.args[1]->type != e.args[2]->type)
      refuse_at(at, "`select` takes a condition and two values of one type");
    e.type = e.args[1]->type;
    return make(std::move(e), at);
  }
  if (name == "round_to" || name == "saturate") {
    e.kind = name == "round_to" ? Kind::Round : Kind::Saturate;
    const Type type = this->type();
    expect(",");
    e.args = {expr()};
    expect(")");
    const Type from = e.args[0]->type;
    const bool rounds = e.kind == Kind::Round;
    if (!from || from == kBool || type == kBool || type == kIndex ||
        (rounds && (from->kind != Class::Float || type->kind != Class::Float)))
      refuse_at(at, "no such conversion");
    e.grid = rounds ? type : nullptr;
    e.type = rounds ? from : type;
    return make(std::move(e), at);
  }
  const Op* op = function(name);
  if (!op) refuse_at(at, "`" + std::string(name) + "` is no function");
  std::vector<Ref> args;
  if (is_reduction(name)) {  // `min(a, b)`, or the fold `min(1 <= k < K) body`
    args.push_back(expr(infix("<")->precedence + 1));
    if (this->at("<=")) return fold(name, at, args[0]);
    expect(",");
  }
  for (Ref arg : list(")", nullptr)) args.push_back(arg);
  if (args.size() != static_cast<std::size_t>(op->arity)) refuse_at(at, "wrong number of operands");
  return apply(op, std::move(args), at);
}

// A number in a conversion is a constant of that type.
Ref Reader::typed(Type type, std::uint32_t at) {
  if (type == kBool) refuse_at(at, "there is no conversion to bool");
  const std::size_t sign = this->at("-");
  if (at_number() && is(peek(sign + 1), ")")) {
    const Ref out = number(type, at);
    expect(")");
    return out;
  }
  Expr e;
  e.kind = Kind::Convert;
  e.type = type;
  e.args = {expr()};
  expect(")");
  if (!e.args[0]->type) refuse_at(at, "no such conversion");
  return make(std::move(e), at);
}

}  // namespace tilewright::checker
