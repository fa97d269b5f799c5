// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "frontend/base/format.h"

namespace tilewright {
namespace {

Result<Json> parse(std::string text) {
  const Source source("t.json", std::move(text));
  return parse_json(source);
}

TEST(Json, KeepsValuesAndOrder) {
  const std::string text = R"({"z":[1,-9223372036854775808,0.1,-0.0,1e+300,"a\"\\\n\u0001)"
                           "\xc3\xa9"
                           R"(",true,null],"a":{}})";
  auto json = parse(text);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->dump(-1), text);
  auto again = parse(json->dump());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *json);
}

TEST(Json, IntegersAndDoublesAreDifferent) {
  auto json = parse("[1, 1.0, 1e0]");
  ASSERT_TRUE(json.ok());
  const Json::Array& array = *json->as_array();
  EXPECT_NE(array[0].as_integer(), nullptr);
  EXPECT_NE(array[1].as_double(), nullptr);
  EXPECT_NE(array[2].as_double(), nullptr);
  EXPECT_EQ(json->dump(-1), "[1,1.0,1.0]");
}

TEST(Json, IndentsDeterministically) {
  Json json = Json::object();
  json.set("b", Json(Json::Array{Json(1), Json(2)}));
  json.set("a", Json::array());
  EXPECT_EQ(json.dump(), "{\n  \"b\": [\n    1,\n    2\n  ],\n  \"a\": []\n}");
}

TEST(Json, SetReplaces) {
  Json json = Json::object();
  json.set("a", 1);
  json.set("a", "x");
  EXPECT_EQ(json.dump(-1), R"({"a":"x"})");
  EXPECT_EQ(json.find("b"), nullptr);
  EXPECT_EQ(Json(1).find("a"), nullptr);
}

TEST(Json, InvalidUtf8IsReplacedWhenWritten) {
  EXPECT_EQ(Json("a\xff\xc3(").dump(), "\"a\xef\xbf\xbd\xef\xbf\xbd(\"");
  EXPECT_EQ(Json("\xed\xa0\x80").dump(), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(Json, NotANumberIsNull) {
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
  EXPECT_EQ(Json(-std::numeric_limits<double>::infinity()).dump(), "null");
}

TEST(Json, ManyMembersTakeLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i) text += "\"" + std::to_string(i) + "\":0,";
  text += "\"x\":1}";
  EXPECT_TRUE(parse(text).ok());
}

TEST(Json, RefusesWhatIsNotJson) {
  const std::string cases[] = {"",
                               "{",
                               "[1,]",
                               "{\"a\":1,\"a\":2}",
                               "nul",
                               "[1] 2",
                               "\"\xff\"",
                               "18446744073709551616e",
                               "[18446744073709551615]",
                               "{a:1}",
                               std::string(5000, '['),
                               "1e999",
                               "'a'",
                               "\"\\ud800\""};
  for (const std::string& text : cases) {
    auto json = parse(text);
    ASSERT_FALSE(json.ok()) << text;
    EXPECT_EQ(json.diagnostics()[0].code, Code::BadJson) << text;
    EXPECT_FALSE(json.diagnostics()[0].remedy.empty());
    EXPECT_LE(json.diagnostics()[0].span.end, text.size());
  }
}

TEST(Format, ShortestTextReadsBack) {
  EXPECT_EQ(format_double(0.1), "0.1");
  EXPECT_EQ(format_double(1e22), "1e+22");
  EXPECT_EQ(format_double(-0.0), "-0");
  EXPECT_EQ(format_float(0.1F), "0.1");
  EXPECT_EQ(format_double(static_cast<double>(0.1F)), "0.10000000149011612");
  EXPECT_EQ(format_double(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(format_hex(-1.5), "-0x1.8p+0");
}

TEST(Format, ReadsDecimalsExactlyRounded) {
  EXPECT_EQ(read_double("0.1"), 0.1);
  EXPECT_EQ(read_double("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(read_double("-1e400"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(read_double("1e-400"), 0.0);
  EXPECT_EQ(read_double("0.000001e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(read_float("1e39"), std::numeric_limits<float>::infinity());
  EXPECT_EQ(read_float("1e-60"), 0.0F);
  EXPECT_FALSE(read_double("1x"));
  EXPECT_FALSE(read_double(""));
  // Halfway between two floats but for the last digit, which a detour through double would lose.
  EXPECT_EQ(read_float("1.00000005960464477540"), 0x1.000002p0F);
  EXPECT_EQ(read_float("1.00000005960464477539"), 1.0F);
}

}  // namespace
}  // namespace tilewright
