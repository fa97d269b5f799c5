// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/render.h"

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

const char kText[] = "algorithm a(M) {\n\tc[i] = M[i] + 1\n}\n";

Diagnostic sample() {
  return {Code::WrongRank,
          {25, 29},
          "`M` has no indices",
          "remove the brackets",
          {{{12, 13}, "declared here"}},
          {{"rank", "0"}}};
}

TEST(Render, ShowsPlaceCaretLabelsEvidenceAndRemedy) {
  const Source source("a.tw", kText);
  EXPECT_EQ(render({sample()}, &source),
            "a.tw:2:9: error: `M` has no indices [E0205]\n"
            "    2 |     c[i] = M[i] + 1\n"
            "      |            ^~~~\n"
            "a.tw:1:13: note: declared here\n"
            "    1 | algorithm a(M) {\n"
            "      |             ^\n"
            "  note: rank = 0\n"
            "  help: remove the brackets\n");
}

TEST(Render, JsonHoldsTheSame) {
  const Source source("a.tw", kText);
  EXPECT_EQ(render_json({sample()}, &source).dump(-1),
            "[{\"code\":\"E0205\",\"severity\":\"error\",\"message\":\"`M` has no indices\","
            "\"remedy\":\"remove the brackets\",\"file\":\"a.tw\","
            "\"place\":{\"line\":2,\"column\":9,\"end_line\":2,\"end_column\":13,\"begin\":25,"
            "\"end\":29},"
            "\"labels\":[{\"text\":\"declared here\",\"place\":{\"line\":1,\"column\":13,"
            "\"end_line\":1,\"end_column\":14,\"begin\":12,\"end\":13}}],"
            "\"evidence\":[{\"name\":\"rank\",\"value\":\"0\"}]}]");
}

TEST(Render, SortsByPlaceUnlessTold) {
  const Source source("a.tw", kText);
  Diagnostic late = sample();
  Diagnostic early{Code::BadNumber, {12, 13}, "first", "fix", {}, {}};
  const std::string sorted = render({late, early}, &source);
  EXPECT_LT(sorted.find("E0103"), sorted.find("E0205"));
  RenderOptions options;
  options.keep_order = true;
  const std::string kept = render({late, early}, &source, options);
  EXPECT_GT(kept.find("E0103"), kept.find("E0205"));
}

TEST(Render, ColourOnlyWhenAsked) {
  const Source source("a.tw", kText);
  EXPECT_EQ(render({sample()}, &source).find('\x1b'), std::string::npos);
  RenderOptions options;
  options.colour = true;
  EXPECT_NE(render({sample()}, &source, options).find("\x1b[1;31merror:\x1b[0m"),
            std::string::npos);
}

TEST(Render, HostileTextStaysPrintable) {
  const Source source("a\x1b.tw", std::string("x \x1b[31m\0\xff y\n", 12));
  const Diagnostic d{Code::BadCharacter, {2, 3}, "bad \x1b", "fix", {}, {}};
  const std::string text = render({d}, &source);
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
  EXPECT_NE(text.find("    1 | x \\x1b[31m\\x00\\xff y\n      |   ^~~~\n"), std::string::npos)
      << text;
}

TEST(Render, LongLinesAreShownAroundTheCaret) {
  const Source source("a.tw", std::string(5000, 'a') + "!" + std::string(5000, 'b'));
  const Diagnostic d{Code::BadCharacter, {5000, 5001}, "bad", "fix", {}, {}};
  const std::string text = render({d}, &source);
  EXPECT_LT(text.size(), 500U);
  EXPECT_NE(text.find('!'), std::string::npos);
}

TEST(Render, WithoutSourceNoPlaceIsShown) {
  EXPECT_EQ(render({{Code::NoOutput, {}, "no output", "add one", {}, {}}}, nullptr),
            "error: no output [E0213]\n  help: add one\n");
}

TEST(Source, LinesAndColumnsAreThoseOfAnEditor) {
  const Source source("t", "ab\r\n\ncd");
  EXPECT_EQ(source.line(1), "ab");
  EXPECT_EQ(source.line(2), "");
  EXPECT_EQ(source.line(3), "cd");
  EXPECT_EQ(source.line(4), "");
  EXPECT_EQ(source.line(0), "");
  const auto at = [&](std::uint32_t offset) {
    const LineColumn place = source.line_column(offset);
    return std::pair(place.line, place.column);
  };
  EXPECT_EQ(at(0), std::pair(1U, 1U));
  EXPECT_EQ(at(1), std::pair(1U, 2U));
  EXPECT_EQ(at(4), std::pair(2U, 1U));
  EXPECT_EQ(at(6), std::pair(3U, 2U));
  EXPECT_EQ(at(99), std::pair(3U, 3U));
}

TEST(Codes, AreUniqueAndDescribed) {
  std::set<std::string_view> texts;
  for (const Code code : all_codes()) {
    EXPECT_TRUE(texts.insert(code_text(code)).second) << code_text(code);
    EXPECT_EQ(code_text(code).size(), 5U);
    EXPECT_FALSE(code_meaning(code).empty());
  }
}

}  // namespace
}  // namespace tilewright
