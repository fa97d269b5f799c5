// SPDX-License-Identifier: Apache-2.0
//
// Indented lines of C, none longer than a person likes where a comma allows it. Private to this room.
#pragma once

#include <string>
#include <string_view>

namespace tilewright::c_target {

// Breaks a line behind commas that stand in no string and no comment; what follows is indented further.
std::string wrapped(std::string line, int indent);

class Lines {
 public:
  void add(const std::string& line) { text_ += wrapped(line, 2 * depth_) + "\n"; }
  // `line` ends with a brace that close() answers.
  void open(const std::string& line) {
    add(line);
    ++depth_;
  }
  void close(const std::string& end = "}") {
    --depth_;
    add(end);
  }
  // Between the arms of an `if`.
  void turn() {
    close("} else {");
    ++depth_;
  }
  int depth() const { return depth_; }
  void set_depth(int depth) { depth_ = depth; }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }
  void append(const Lines& other) { text_ += other.text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

}  // namespace tilewright::c_target
