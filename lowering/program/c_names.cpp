// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/c_names.h"

#include <algorithm>
#include <set>

namespace tilewright::program {

namespace {

// C23 and C++20 together: a header serves both.
constexpr std::string_view kKeywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t "
    "char16_t char32_t class co_await co_return co_yield compl concept const const_cast "
    "consteval constexpr constinit continue decltype default delete do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile "
    "wchar_t while xor xor_eq ";

}  // namespace

bool is_c_keyword(std::string_view name) {
  return kKeywords.find(" " + std::string(name) + " ") != std::string_view::npos;
}

std::vector<std::string> c_parameter_names(const Program& program) {
  std::vector<std::string> names;
  // What the functions of a header (artifact/header.cpp) call their own parameters.
  std::set<std::string> taken = {"call",      "workspace",   "workspace_size", "text",
                                 "text_size", "text_length", "plan",           "plan_size"};
  for (const Parameter& parameter : program.parameters) names.emplace_back(parameter.name.text());
  auto is_plain = [](const std::string& name) {
    return name.find('.') == std::string::npos && !is_c_keyword(name);
  };
  // Names that C takes as they are keep theirs; the others go around them.
  std::vector<bool> done(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    done[i] = is_plain(names[i]) && taken.insert(names[i]).second;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (done[i]) continue;
    std::replace(names[i].begin(), names[i].end(), '.', '_');
    while (is_c_keyword(names[i]) || !taken.insert(names[i]).second) names[i] += "_";
  }
  return names;
}

}  // namespace tilewright::program
