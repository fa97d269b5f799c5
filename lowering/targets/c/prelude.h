// SPDX-License-Identifier: Apache-2.0
//
// The functions that generated C calls for what its operators do not say: wrapping integers, floor division,
// roundings of the 16-bit formats, a fused multiply-add and a square root without libm, the judging of a call.
// Private to this room. Law: a file holds those that it uses, and what those use, each once and before its use.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace tilewright::c_target {

class Prelude {
 public:
  // A helper by its whole name: "tw_add_i32", "tw_fma_f64". Precondition: it exists.
  std::string use(std::string_view name);
  // Whether a name is one of the file's own words: helpers and what C and runtime.h take.
  static bool is_reserved(std::string_view name);

  // A function that this file defines besides, such as a math function: printed after what it uses.
  bool has(const std::string& name) const { return used_.contains(name); }
  void define(const std::string& name, const std::string& text);

  const std::string& text() const { return text_; }

 private:
  void use_names_in(std::string_view text);

  std::set<std::string, std::less<>> used_;
  std::string text_;
};

// What stands at the top of every file, before the helpers.
std::string_view file_head();

}  // namespace tilewright::c_target
