// SPDX-License-Identifier: Apache-2.0
//
// Tokens, names and words.
#include <charconv>

#include "apps/check/reader.h"

namespace tilewright::checker {

namespace {

constexpr Name kMarks[] = {"..", "<=", ">=", "==", "!=", "&&", "||", "(", ")", "[", "]", "{", "}",
                           ",",  ":",  "=",  "<",  ">",  "+",  "-",  "*", "/", "%", "!", "@"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// How many bytes from `at` on satisfy the test.
template <class Test>
std::size_t run(Name text, std::size_t at, Test test) {
  std::size_t n = 0;
  while (at + n < text.size() && test(text[at + n])) ++n;
  return n;
}

std::size_t name_length(Name text, std::size_t at) {
  if (at >= text.size() || !begins_name(text[at])) return 0;
  std::size_t n = 0;
  while (true) {
    n += run(text, at + n, [](char c) { return begins_name(c) || is_digit(c); });
    if (at + n + 1 >= text.size() || text[at + n] != '.' || !begins_name(text[at + n + 1]))
      return n;
    ++n;
  }
}

std::size_t number_length(Name text, std::size_t at, bool& is_float) {
  std::size_t n = run(text, at, is_digit);
  is_float = false;
  if (at + n + 1 < text.size() && text[at + n] == '.' && is_digit(text[at + n + 1])) {
    is_float = true;
    n += 1 + run(text, at + n + 1, is_digit);
  }
  if (at + n < text.size() && text[at + n] == 'e') {
    const std::size_t sign =
        at + n + 1 < text.size() && (text[at + n + 1] == '-' || text[at + n + 1] == '+');
    const std::size_t digits = run(text, at + n + 1 + sign, is_digit);
    if (digits > 0) is_float = true, n += 1 + sign + digits;
  }
  return n;
}

}  // namespace

Reader::Reader(Arena& arena, Name text) : arena_(arena), text_(text) {
  if (text.size() > kMaxBytes) throw Refused("the text is longer than 8 MiB");
  scan();
}

void Reader::scan() {
  for (std::size_t at = 0; at < text_.size();) {
    const char c = text_[at];
    if (c == ' ' || c == '\n') {
      ++at;
      continue;
    }
    if (c == '#') {  // a comment says nothing
      at += run(text_, at, [](char d) { return d != '\n'; });
      continue;
    }
    Token token{TokenKind::Word, {}, static_cast<std::uint32_t>(at)};
    std::size_t length = name_length(text_, at);
    if (length == 0 && is_digit(c)) {
      bool is_float = false;
      length = number_length(text_, at, is_float);
      token.kind = is_float ? TokenKind::Float : TokenKind::Integer;
      if (name_length(text_, at + length) > 0) refuse_at(token.at, "no number");
    } else if (length == 0) {
      token.kind = TokenKind::Mark;
      for (Name mark : kMarks)
        if (length == 0 && text_.substr(at, mark.size()) == mark) length = mark.size();
      if (length == 0) refuse_at(token.at, "a character that belongs to no token");
    }
    token.text = text_.substr(at, length);
    tokens_.push_back(token);
    at += length;
  }
  tokens_.push_back({TokenKind::End, {}, static_cast<std::uint32_t>(text_.size())});
}

void Reader::refuse_at(std::uint32_t at, const std::string& what) const {
  int line = 1, column = 1;
  for (std::size_t i = 0; i < at && i < text_.size(); ++i)
    text_[i] == '\n' ? (++line, column = 1) : ++column;
  throw Refused(what, line, column);
}

Reader::Nest::Nest(Reader& reader, int& depth, int limit) : depth_(depth) {
  if (depth_ >= limit) reader.refuse("nested too deeply");
  ++depth_;
}

const Token& Reader::peek(std::size_t ahead) const {
  return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
}

Token Reader::next() {
  const Token token = peek();
  if (next_ + 1 < tokens_.size()) ++next_;
  return token;
}

bool Reader::accept(Name text) {
  if (!at(text) || peek().kind == TokenKind::End) return false;
  next();
  return true;
}

void Reader::expect(Name text) {
  if (!accept(text)) refuse("expected `" + std::string(text) + "`");
}

Name Reader::name() {
  if (peek().kind != TokenKind::Word) refuse("expected a name");
  return next().text;
}

Int Reader::integer() {
  const bool negative = accept("-");
  if (peek().kind != TokenKind::Integer) refuse("expected an integer");
  const std::string digits = (negative ? "-" : "") + std::string(peek().text);
  Int value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec != std::errc()) refuse("the integer does not fit 64 bits");
  next();
  return value;
}

Name Reader::one_of(Name words) {
  const Name found = peek().text;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == found && !found.empty()) return next().text;
    at = end + 1;
  }
  refuse("expected one of: " + std::string(words));
}

Type Reader::type() {
  const Type found = type_named(peek().text);
  if (!found) refuse("expected a type");
  next();
  return found;
}

void Reader::declare(Name name, Meaning meaning) {
  if (is_word(name)) refuse("`" + std::string(name) + "` is a word of the language");
  if (!scope_.emplace(name, meaning).second)
    refuse("`" + std::string(name) + "` is declared twice");
}

void Reader::bind(Name name, Meaning meaning) {
  if (!bound_.insert(name).second) refuse("`" + std::string(name) + "` is bound twice");
  declare(name, meaning);
}

const Reader::Meaning* Reader::find(Name name) const {
  const auto it = scope_.find(name);
  return it == scope_.end() ? nullptr : &it->second;
}

const Reader::Meaning& Reader::tensor(Name name, std::size_t rank, std::uint32_t at) const {
  const Meaning* meaning = find(name);
  if (!meaning || meaning->what != What::Tensor)
    refuse_at(at, "`" + std::string(name) + "` is no tensor here");
  if (meaning->rank != rank)
    refuse_at(at, "`" + std::string(name) + "` has another number of indices");
  return *meaning;
}

}  // namespace tilewright::checker
