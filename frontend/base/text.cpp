// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/text.h"

#include <utility>

#include "frontend/base/format.h"

namespace tilewright {

namespace {

// Longest first, so that the first that fits is the right one.
constexpr std::string_view kPunctuation[] = {
    "..", "<=", ">=", "==", "!=", "&&", "||", "->", "(", ")", "[", "]", "{", "}", ",", ":",
    ";",  "=",  "<",  ">",  "+",  "-",  "*",  "/",  "%", "!", "@", ".", "?", "$", "&", "|"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view punctuation_at(std::string_view text) {
  for (std::string_view candidate : kPunctuation)
    if (text.substr(0, candidate.size()) == candidate) return candidate;
  return {};
}

// Bytes of the name at the start of text; 0 when none starts there.
std::size_t name_length(std::string_view text) {
  if (text.empty() || !begins_name(text[0])) return 0;
  std::size_t n = 1;
  while (n < text.size()) {
    if (continues_name(text[n])) {
      ++n;
    } else if (text[n] == '.' && n + 1 < text.size() && begins_name(text[n + 1])) {
      n += 2;
    } else {
      break;
    }
  }
  return n;
}

std::size_t digits_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}

// Bytes of the number at the start of text (which starts with a digit), and whether it is a float.
std::size_t number_length(std::string_view text, bool* is_float) {
  std::size_t n = digits_length(text);
  *is_float = false;
  if (n + 1 < text.size() && text[n] == '.' && is_digit(text[n + 1])) {
    *is_float = true;
    n += 1 + digits_length(text.substr(n + 1));
  }
  if (n < text.size() && (text[n] == 'e' || text[n] == 'E')) {
    std::size_t exponent = n + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    const std::size_t digits = digits_length(text.substr(exponent));
    if (digits > 0) {
      *is_float = true;
      n = exponent + digits;
    }
  }
  return n;
}

std::optional<std::uint64_t> read_unsigned(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, static_cast<std::uint64_t>(c - '0'), &value))
      return std::nullopt;
  }
  return value;
}

}  // namespace

bool is_name(std::string_view text) { return !text.empty() && name_length(text) == text.size(); }

TextCursor::TextCursor(const Source& source) {
  if (source.text().size() > kMaxSourceBytes) {
    report(Code::SourceTooLarge, {}, "the text is longer than 8 MiB",
           "split it into several files");
    tokens_.emplace_back();
    return;
  }
  scan(source);
}

void TextCursor::scan(const Source& source) {
  const std::string_view text = source.text();
  std::size_t at = 0;
  bool starts_line = true;
  auto span = [&](std::size_t length) {
    return Span{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + length)};
  };
  auto push = [&](TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, text.substr(at, length), span(length), 0, false, starts_line});
    starts_line = false;
    at += length;
  };
  while (at < text.size()) {
    const char c = text[at];
    if (is_space(c)) {
      starts_line = starts_line || c == '\n';
      ++at;
    } else if (c == '#') {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (const std::size_t name = name_length(text.substr(at))) {
      push(TokenKind::Name, name);
    } else if (is_digit(c)) {
      bool is_float = false;
      const std::size_t length = number_length(text.substr(at), &is_float);
      const std::size_t trailing = name_length(text.substr(at + length));
      if (trailing > 0)
        report(Code::BadNumber, span(length + trailing),
               in_backticks(text.substr(at, length + trailing)) + " is not a number",
               "write decimal digits, as in `16`, `0.5` or `1e-3`");
      push(is_float ? TokenKind::Float : TokenKind::Integer, length);
      if (!is_float) {
        const auto value = read_unsigned(tokens_.back().text);
        tokens_.back().integer = value.value_or(0);
        tokens_.back().overflows = !value;
      }
      at += trailing;
    } else if (const std::string_view mark = punctuation_at(text.substr(at)); !mark.empty()) {
      push(TokenKind::Punctuation, mark.size());
    } else {
      // One diagnostic for a run of bytes that belong nowhere.
      std::size_t end = at + 1;
      while (end < text.size() && !is_space(text[end]) && !continues_name(text[end]) &&
             text[end] != '#' && punctuation_at(text.substr(end)).empty())
        ++end;
      report(Code::BadCharacter, span(end - at),
             in_backticks(text.substr(at, std::min<std::size_t>(end - at, 16))) +
                 " belongs to no token",
             "remove it; names are ASCII letters, digits, `_` and `.`");
      at = end;
    }
  }
  tokens_.push_back({TokenKind::End, {}, span(0), 0, false, true});
}

const Token& TextCursor::peek(std::size_t ahead) const {
  const std::size_t at = next_ + ahead;
  return at < tokens_.size() ? tokens_[at] : tokens_.back();
}

Token TextCursor::next() {
  const Token token = peek();
  if (next_ + 1 < tokens_.size()) ++next_;
  return token;
}

bool TextCursor::at(std::string_view text) const {
  const Token& token = peek();
  return (token.kind == TokenKind::Name || token.kind == TokenKind::Punctuation) &&
         token.text == text;
}

bool TextCursor::accept(std::string_view text) {
  if (!at(text)) return false;
  next();
  return true;
}

bool TextCursor::expect(std::string_view text, std::string_view context, std::string_view remedy) {
  if (accept(text)) return true;
  std::string what = in_backticks(text);
  if (!context.empty()) what += " " + std::string(context);
  unexpected(what, remedy.empty() ? "write " + in_backticks(text) + " here" : std::string(remedy));
  return false;
}

std::optional<Token> TextCursor::expect_name(std::string_view what, std::string_view remedy) {
  if (peek().kind == TokenKind::Name) return next();
  unexpected(what, remedy);
  return std::nullopt;
}

std::optional<std::int64_t> TextCursor::expect_integer(std::string_view what) {
  const bool negative = at("-") && peek(1).kind == TokenKind::Integer;
  const Token& digits = peek(negative ? 1 : 0);
  if (digits.kind != TokenKind::Integer) {
    unexpected(what, "write an integer, as in `16`");
    return std::nullopt;
  }
  const std::uint32_t begin = peek().span.begin;
  if (negative) next();
  const Token token = next();
  const std::uint64_t limit = (std::uint64_t{1} << 63) - (negative ? 0 : 1);
  if (token.overflows || token.integer > limit) {
    report(Code::BadNumber, span_from(begin), "the integer does not fit 64 bits",
           "use a value from -2^63 to 2^63 - 1");
    return std::nullopt;
  }
  return static_cast<std::int64_t>(negative ? ~token.integer + 1 : token.integer);
}

std::string TextCursor::found() const {
  return at_end() ? "the end of the text" : in_backticks(peek().text.substr(0, 40));
}

void TextCursor::unexpected(std::string_view what, std::string_view remedy) {
  report(Code::UnexpectedToken, peek().span, "expected " + std::string(what) + ", found " + found(),
         std::string(remedy));
}

Span TextCursor::span_from(std::uint32_t begin) const {
  const std::uint32_t end = next_ == 0 ? begin : tokens_[next_ - 1].span.end;
  return {begin, std::max(begin, end)};
}

void TextCursor::skip_statement(std::size_t begin) {
  int depth = 0;
  while (!at_end()) {
    const Token& token = peek();
    if (depth == 0 && (token.text == "}" || (position() > begin && token.starts_line))) return;
    if (token.text == "{") ++depth;
    if (token.text == "}") --depth;
    next();
  }
}

void TextCursor::report(Diagnostic diagnostic) {
  // Of a text that is too long nothing was read; what a reader misses in it says nothing.
  if (!diagnostics_.empty() && diagnostics_.front().code == Code::SourceTooLarge) return;
  failed_ = failed_ || code_severity(diagnostic.code) == Severity::Error;
  if (diagnostics_.size() < kMaxDiagnostics) diagnostics_.push_back(std::move(diagnostic));
}

void TextCursor::report(Code code, Span span, std::string message, std::string remedy) {
  report(Diagnostic{code, span, std::move(message), std::move(remedy), {}, {}});
}

std::vector<Diagnostic> TextCursor::take_diagnostics() { return std::move(diagnostics_); }

TextCursor::Nest::Nest(TextCursor& cursor) : cursor_(cursor) {
  ++cursor_.depth_;
  if (!ok()) cursor_.nesting_too_deep();
}

void TextCursor::nesting_too_deep() {
  failed_ = true;
  if (std::exchange(too_deep_reported_, true)) return;
  report(Code::NestingTooDeep, peek().span,
         "brackets or operations nest deeper than " + std::to_string(kMaxTextNesting) + " levels",
         "give a part of it a name of its own: an equation, or in a program a `let`");
}

void TextWriter::line(std::string_view text) {
  if (!text.empty()) text_.append(static_cast<std::size_t>(level_) * 2, ' ').append(text);
  text_ += '\n';
}

void TextWriter::open(std::string_view text) {
  line(text);
  ++level_;
}

void TextWriter::close(std::string_view text) {
  --level_;
  line(text);
}

void TextWriter::close_open(std::string_view text) {
  close(text);
  ++level_;
}

}  // namespace tilewright
