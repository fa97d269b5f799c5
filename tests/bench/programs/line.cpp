// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/programs/line.h"

#include <charconv>

namespace tilewright::bench {
namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/:.,+-_*()[]~";
constexpr std::string_view kHex = "0123456789ABCDEF";

bool decode(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      if (kPlain.find(text[i]) == std::string_view::npos) return false;
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const auto high = kHex.find(text[i + 1]);
    const auto low = kHex.find(text[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return false;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

std::string encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

bool is_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
         std::string_view::npos;
}

}  // namespace

std::string parse_line(std::string_view text, Line& line) {
  line = Line{};
  bool first = true;
  while (true) {
    const auto space = text.find(' ');
    const std::string_view part = text.substr(0, space);
    const auto equals = part.find('=');
    std::string value;
    if (first) {
      if (!is_identifier(part)) return "no verb";
      line.verb = part;
    } else if (part.empty()) {
      return "two separators in a row";
    } else if (equals == std::string_view::npos) {
      if (!line.fields.empty()) return "a word after the fields";
      if (!decode(part, value)) return "a word is not percent-encoded";
      line.words.push_back(value);
    } else {
      const std::string name(part.substr(0, equals));
      if (!is_identifier(name)) return "a bad field name";
      if (!decode(part.substr(equals + 1), value)) return "a value is not percent-encoded";
      if (!line.fields.emplace(name, value).second) return "a field is repeated";
    }
    first = false;
    if (space == std::string_view::npos) return "";
    text.remove_prefix(space + 1);
  }
}

std::string format_line(const Line& line) {
  std::string text = line.verb;
  for (const std::string& word : line.words) text.append(" ").append(encode(word));
  for (const auto& [name, value] : line.fields) {
    text.append(" ").append(name).append("=").append(encode(value));
  }
  return text;
}

bool parse_number(const std::string& text, long long low, long long high, long long& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= low && value <= high;
}

}  // namespace tilewright::bench
