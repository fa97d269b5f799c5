// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/text.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

std::vector<Token> tokens_of(TextCursor& cursor) {
  std::vector<Token> out;
  while (!cursor.at_end()) out.push_back(cursor.next());
  return out;
}

std::string texts_of(std::string text) {
  const Source source("t", std::move(text));
  TextCursor cursor(source);
  std::string out;
  for (const Token& token : tokens_of(cursor)) (out += token.text) += '|';
  return out;
}

TEST(Lexer, SplitsAtTheLongestPunctuation) {
  EXPECT_EQ(texts_of("a<=b&&c==d||!e!=f"),
            "a|<=|b|&&|c|==|d|"
            "||"
            "|!|e|!=|f|");
  EXPECT_EQ(texts_of("x@fold c(i,j) ->"), "x|@|fold|c|(|i|,|j|)|->|");
}

TEST(Lexer, RangesAreNotFloats) {
  EXPECT_EQ(texts_of("0..4 0 .. M 1.5..2 K..N"), "0|..|4|0|..|M|1.5|..|2|K|..|N|");
}

TEST(Lexer, NamesMayBeJoinedByDots) {
  EXPECT_EQ(texts_of("io.tail.x a. b _9"), "io.tail.x|a|.|b|_9|");
  EXPECT_TRUE(is_name("io.tail"));
  EXPECT_FALSE(is_name("io."));
  EXPECT_FALSE(is_name(".io"));
  EXPECT_FALSE(is_name("a b"));
  EXPECT_FALSE(is_name("9a"));
  EXPECT_FALSE(is_name(""));
}

TEST(Lexer, NumbersHaveKindsAndValues) {
  const Source source("t", "7 0.5 1e-3 2E+4 18446744073709551615 18446744073709551616 3e");
  TextCursor cursor(source);
  const auto tokens = tokens_of(cursor);
  ASSERT_EQ(tokens.size(), 7U);
  EXPECT_EQ(tokens[0].kind, TokenKind::Integer);
  EXPECT_EQ(tokens[0].integer, 7U);
  EXPECT_EQ(tokens[1].kind, TokenKind::Float);
  EXPECT_EQ(tokens[2].kind, TokenKind::Float);
  EXPECT_EQ(tokens[3].kind, TokenKind::Float);
  EXPECT_EQ(tokens[4].integer, UINT64_MAX);
  EXPECT_FALSE(tokens[4].overflows);
  EXPECT_TRUE(tokens[5].overflows);
  // `3e` is a number with a letter stuck to it.
  const auto diagnostics = cursor.take_diagnostics();
  ASSERT_EQ(diagnostics.size(), 1U);
  EXPECT_EQ(diagnostics[0].code, Code::BadNumber);
}

TEST(Lexer, CommentsEndWithTheLine) { EXPECT_EQ(texts_of("a # b\nc#"), "a|c|"); }

TEST(Lexer, SpansAreTheBytesOfTheToken) {
  const std::string text = "ab  <= 12\n\tx.y";
  const Source source("t", text);
  TextCursor cursor(source);
  for (const Token& token : tokens_of(cursor))
    EXPECT_EQ(text.substr(token.span.begin, token.span.end - token.span.begin), token.text);
}

TEST(Lexer, KnowsWhatStartsALine) {
  const Source source("t", "a b\n  c # x\n\n d");
  TextCursor cursor(source);
  const auto tokens = tokens_of(cursor);
  ASSERT_EQ(tokens.size(), 4U);
  EXPECT_TRUE(tokens[0].starts_line);
  EXPECT_FALSE(tokens[1].starts_line);
  EXPECT_TRUE(tokens[2].starts_line);
  EXPECT_TRUE(tokens[3].starts_line);
}

TEST(Lexer, EveryByteIsATokenOrADiagnostic) {
  for (int byte = 0; byte < 256; ++byte) {
    const Source source("t", "a " + std::string(1, static_cast<char>(byte)) + " b");
    TextCursor cursor(source);
    const auto tokens = tokens_of(cursor);
    ASSERT_GE(tokens.size(), 1U);
    EXPECT_EQ(tokens.front().text, "a");
    for (const Diagnostic& d : cursor.take_diagnostics()) {
      EXPECT_EQ(d.code, Code::BadCharacter) << byte;
      EXPECT_EQ(d.span.begin, 2U);
      EXPECT_EQ(d.span.end, 3U);
    }
  }
}

TEST(Lexer, RunsOfBadBytesAreOneDiagnostic) {
  const Source source("t", std::string("a \0\xff\xfe\x01 b", 8));
  TextCursor cursor(source);
  EXPECT_EQ(tokens_of(cursor).size(), 2U);
  const auto diagnostics = cursor.take_diagnostics();
  ASSERT_EQ(diagnostics.size(), 1U);
  EXPECT_EQ(diagnostics[0].message, "`\\x00\\xff\\xfe\\x01` belongs to no token");
}

TEST(Cursor, IntegersKeepTheirFullRange) {
  const Source source("t", "9223372036854775807 -9223372036854775808 9223372036854775808 -x");
  TextCursor cursor(source);
  EXPECT_EQ(cursor.expect_integer("n"), INT64_MAX);
  EXPECT_EQ(cursor.expect_integer("n"), INT64_MIN);
  EXPECT_FALSE(cursor.expect_integer("n"));
  EXPECT_FALSE(cursor.expect_integer("n"));
  const auto diagnostics = cursor.take_diagnostics();
  ASSERT_EQ(diagnostics.size(), 2U);
  EXPECT_EQ(diagnostics[0].code, Code::BadNumber);
  EXPECT_EQ(diagnostics[1].code, Code::UnexpectedToken);
}

TEST(Cursor, EndsForEver) {
  const Source source("t", "");
  TextCursor cursor(source);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cursor.next().kind, TokenKind::End);
  EXPECT_EQ(cursor.peek(100).kind, TokenKind::End);
  EXPECT_FALSE(cursor.expect("(", "here"));
  EXPECT_EQ(cursor.take_diagnostics()[0].message, "expected `(` here, found the end of the text");
}

TEST(Cursor, SkipsOneStatementWithItsBraces) {
  const Source source("t", "a { x\n y { z } }\nb");
  TextCursor cursor(source);
  cursor.next();
  cursor.skip_statement(0);
  EXPECT_TRUE(cursor.at("b"));
}

TEST(Cursor, StopsCollectingDiagnostics) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\x01 ";
  const Source source("t", text);
  TextCursor cursor(source);
  EXPECT_TRUE(cursor.failed());
  EXPECT_EQ(cursor.take_diagnostics().size(), kMaxDiagnostics);
}

TEST(Cursor, RefusesHugeTexts) {
  const Source source("t", std::string(kMaxSourceBytes + 1, ' '));
  TextCursor cursor(source);
  EXPECT_TRUE(cursor.at_end());
  // What a reader misses in a text that was not read is not reported beside it.
  EXPECT_FALSE(cursor.expect("algorithm", "at the beginning"));
  EXPECT_TRUE(cursor.failed());
  const auto diagnostics = cursor.take_diagnostics();
  ASSERT_EQ(diagnostics.size(), 1U);
  EXPECT_EQ(diagnostics[0].code, Code::SourceTooLarge);
}

TEST(Writer, IndentsByTwo) {
  TextWriter writer;
  writer.open("a {");
  writer.line("b");
  writer.close_open("} else {");
  writer.line("c");
  writer.close("}");
  EXPECT_EQ(writer.take(), "a {\n  b\n} else {\n  c\n}\n");
}

}  // namespace
}  // namespace tilewright
