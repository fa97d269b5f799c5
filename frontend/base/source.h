// SPDX-License-Identifier: Apache-2.0
//
// Source text and places in it. A Span is two byte offsets in one source, small enough to store in
// every declaration. Law: line and column of a span are those an editor shows (both from 1, columns
// in bytes).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

// A half-open byte range [begin, end) of one Source. The default span means "no place".
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool none() const { return begin == 0 && end == 0; }
  friend bool operator==(const Span&, const Span&) = default;
};

struct LineColumn {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

// One input file or string, with its line table. Owns its text.
class Source {
 public:
  Source(std::string name, std::string text);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  LineColumn line_column(std::uint32_t offset) const;
  // The text of a line (from 1) without its line break; empty when out of range.
  std::string_view line(std::uint32_t number) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::uint32_t> line_begins_;
};

}  // namespace tilewright
