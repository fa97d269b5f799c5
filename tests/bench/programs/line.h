// SPDX-License-Identifier: Apache-2.0
//
// The line protocol of harness/protocol.py for children in C++: a verb, words, NAME=VALUE fields, separated
// by single spaces; words and values are percent-encoded.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::bench {

struct Line {
  std::string verb;
  std::vector<std::string> words;
  std::map<std::string, std::string> fields;
};

// The empty string, or what is wrong with `text`.
std::string parse_line(std::string_view text, Line& line);
std::string format_line(const Line& line);

// A whole number of `low` to `high`; false for anything else.
bool parse_number(const std::string& text, long long low, long long high, long long& value);

}  // namespace tilewright::bench
