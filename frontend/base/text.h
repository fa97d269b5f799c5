// SPDX-License-Identifier: Apache-2.0
//
// What every reader and printer of our text forms shares: one lexer and one indenting writer.
//
// Tokens: names `[A-Za-z_][A-Za-z0-9_]*`, also joined by single dots (`io.tail`); decimal integers and
// floats (`7`, `0.5`, `1e-3`; `0 .. 4` and `0..4` are ranges); punctuation, the longest that fits;
// `#` to the end of the line is a comment. Law: any bytes at all give tokens and diagnostics, never a
// crash, and each token's span is exactly its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/base/result.h"
#include "frontend/base/source.h"

namespace tilewright {

enum class TokenKind : std::uint8_t { End, Name, Integer, Float, Punctuation };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  Span span;
  std::uint64_t integer = 0;  // value of an Integer
  bool overflows = false;  // an Integer beyond 64 bits: only a float can hold it
  bool starts_line = false;  // nothing but space stands before it on its line
};

// Values nested deeper than this are refused (E0104), since much code recurses along them. Text may nest
// deeper than the value that it prints: by brackets, and by the types of constants.
inline constexpr int kMaxNesting = 256;
inline constexpr int kMaxTextNesting = 4 * kMaxNesting;
// Longer inputs are refused (E0105).
inline constexpr std::size_t kMaxSourceBytes = std::size_t{8} << 20;
// A reader stops collecting diagnostics here.
inline constexpr std::size_t kMaxDiagnostics = 50;

// Reads tokens of one source, which must outlive it, and collects diagnostics.
class TextCursor {
 public:
  explicit TextCursor(const Source& source);

  // The token `ahead` places on; the End token for ever at the end.
  const Token& peek(std::size_t ahead = 0) const;
  Token next();
  bool at_end() const { return peek().kind == TokenKind::End; }
  // Whether the next token is this punctuation or name.
  bool at(std::string_view text) const;
  bool accept(std::string_view text);
  // As accept; E0101 "expected `)` after the arguments, found ..." when it is not there. `context` follows
  // the token in the message ("after the arguments"), the remedy defaults to writing the token.
  bool expect(std::string_view text, std::string_view context, std::string_view remedy = "");
  // A name, or E0101 "expected <what>, found ...".
  std::optional<Token> expect_name(std::string_view what, std::string_view remedy);
  // An integer with optional minus, or E0101; E0103 when it does not fit.
  std::optional<std::int64_t> expect_integer(std::string_view what);
  // E0101: "expected <what>, found `x`".
  void unexpected(std::string_view what, std::string_view remedy);
  // The next token for messages: "`x`" or "the end of the text".
  std::string found() const;

  // Where the last token taken ends: the right end of a construct that began at `begin`.
  Span span_from(std::uint32_t begin) const;
  std::size_t position() const { return next_; }

  // After a mistake in the statement that began at this position(): skips to a later token that starts a
  // line at this depth of braces, or to the brace that closes it.
  void skip_statement(std::size_t begin);

  void report(Diagnostic diagnostic);
  void report(Code code, Span span, std::string message, std::string remedy);
  bool failed() const { return failed_; }
  std::vector<Diagnostic> take_diagnostics();

  // Counts nesting: `Nest nest(cursor); if (!nest.ok()) return ...;` reports E0104 once.
  class Nest {
   public:
    explicit Nest(TextCursor& cursor);
    ~Nest() { --cursor_.depth_; }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;
    bool ok() const { return cursor_.depth_ <= kMaxTextNesting; }

   private:
    TextCursor& cursor_;
  };
  // Reports E0104 at the next token, once per source.
  void nesting_too_deep();

 private:
  void scan(const Source& source);

  std::vector<Token> tokens_;  // ends with End
  std::size_t next_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  bool too_deep_reported_ = false;
  std::vector<Diagnostic> diagnostics_;
};

// Whether text is one name token as the lexer reads it.
bool is_name(std::string_view text);

// Lines of text with two spaces of indentation per level.
class TextWriter {
 public:
  void line(std::string_view text);
  // Writes `text` and indents what follows; close() writes a line one level out: `open("for ... {")`,
  // `close("}")`, `close_open("} else {")`.
  void open(std::string_view text);
  void close(std::string_view text);
  void close_open(std::string_view text);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  int level_ = 0;
};

}  // namespace tilewright
