// SPDX-License-Identifier: Apache-2.0
#include "lowering/targets/c/prelude.h"

#include <optional>
#include <span>

#include "frontend/ir/type.h"
#include "lowering/program/c_names.h"
#include "lowering/targets/c/prelude_formats.h"
#include "lowering/targets/c/prelude_text.h"

namespace tilewright::c_target {

namespace {

// What the marks in the text of a family stand for: @S, @T, @U (the unsigned type that holds it), @W (wraps an
// integer to the type, brackets follow), @N (its bits), @MIN, @MAX, and @LO and @HI, the powers of two around
// the range.
struct Suffix {
  std::string_view suffix, type, word, least, most, least_float, most_float;
};
constexpr Suffix kSuffixes[] = {
    {"i4", "int8_t", "uint8_t", "-8", "7", "-0x1p3", "0x1p3"},
    {"u4", "uint8_t", "uint8_t", "0", "15", "0x0p0", "0x1p4"},
    {"i8", "int8_t", "uint8_t", "INT8_MIN", "INT8_MAX", "-0x1p7", "0x1p7"},
    {"i16", "int16_t", "uint16_t", "INT16_MIN", "INT16_MAX", "-0x1p15", "0x1p15"},
    {"i32", "int32_t", "uint32_t", "INT32_MIN", "INT32_MAX", "-0x1p31", "0x1p31"},
    {"i64", "int64_t", "uint64_t", "INT64_MIN", "INT64_MAX", "-0x1p63", "0x1p63"},
    {"u8", "uint8_t", "uint8_t", "0", "UINT8_MAX", "0x0p0", "0x1p8"},
    {"u16", "uint16_t", "uint16_t", "0", "UINT16_MAX", "0x0p0", "0x1p16"},
    {"u32", "uint32_t", "uint32_t", "0", "UINT32_MAX", "0x0p0", "0x1p32"},
    {"u64", "uint64_t", "uint64_t", "0", "UINT64_MAX", "0x0p0", "0x1p64"},
    {"f32", "float", "uint32_t", "", "", "", ""},
    {"f64", "double", "uint64_t", "", "", "", ""}};

const Suffix* find_suffix(std::string_view suffix) {
  for (const Suffix& row : kSuffixes)
    if (row.suffix == suffix) return &row;
  return nullptr;
}

using Mark = std::pair<std::string_view, std::string>;

std::string instantiate(std::string_view text, std::span<const Mark> marks) {
  std::string out(text);
  for (const auto& [mark, value] : marks)
    for (auto found = out.find(mark); found != std::string::npos; found = out.find(mark, found))
      out.replace(found, mark.size(), value);
  return out;
}

std::string arithmetic(std::string_view text, const Suffix& at) {
  const auto type = ir::parse_type(at.suffix);
  const int bits = ir::type_info(*type).width;
  const std::string name(at.suffix);
  const bool whole = bits >= 8;
  const Mark marks[] = {
      {"@S", name},
      {"@T", std::string(at.type)},
      {"@U", std::string(at.word)},
      {"@W",
       whole ? "(" + std::string(at.type) + ")(" + std::string(at.word) + ")" : "tw_wrap_" + name},
      {"@N", std::to_string(bits)},
      {"@MIN", std::string(at.least)},
      {"@MAX", std::string(at.most)},
      {"@LO", std::string(at.least_float)},
      {"@HI", std::string(at.most_float)}};
  return instantiate(text, marks);
}

// Of the floats that one family reads and writes by their bits: @S, @T (what holds the bits), @E and @M (bits of
// exponent and mantissa), @K (what there is beyond numbers).
std::optional<std::string> format(std::string_view text, std::string_view name) {
  const auto type = ir::parse_type(name);
  if (!type) return std::nullopt;
  const ir::TypeInfo& info = ir::type_info(*type);
  const char* kind = info.specials == ir::Specials::Ieee     ? "TW_IEEE"
                     : info.specials == ir::Specials::Fn     ? "TW_FN"
                     : info.specials == ir::Specials::Finite ? "TW_FINITE"
                                                             : nullptr;
  if (kind == nullptr || info.width > 16) return std::nullopt;
  const Mark marks[] = {{"@S", std::string(name)},
                        {"@T", std::string(info.c_type)},
                        {"@E", std::to_string(info.exponent_bits)},
                        {"@M", std::to_string(info.mantissa_bits)},
                        {"@K", kind}};
  return instantiate(text, marks);
}

// What stands for the `$` in the name of a family: "tw_add_$", or "tw_to_$_f32" with it in the middle.
std::optional<std::string_view> suffix_in(std::string_view name, std::string_view family) {
  const auto mark = family.find('$');
  const std::string_view before = family.substr(0, mark);
  const std::string_view after = family.substr(mark + 1);
  if (!name.starts_with(before) || !name.ends_with(after) ||
      name.size() <= before.size() + after.size())
    return std::nullopt;
  return name.substr(before.size(), name.size() - before.size() - after.size());
}

std::optional<std::string> find_text(std::string_view name) {
  for (std::span<const Helper> helpers :
       {std::span<const Helper>(kHelpers), std::span<const Helper>(kFormatHelpers),
        std::span<const Helper>(kExplainHelpers)})
    for (const Helper& helper : helpers)
      if (helper.name == name) return std::string(helper.text.substr(1));
  for (const Helper& family : kFamilies)
    if (const auto suffix = suffix_in(name, family.name))
      if (const Suffix* row = find_suffix(*suffix)) return arithmetic(family.text.substr(1), *row);
  for (const Helper& family : kFormatFamilies)
    if (const auto suffix = suffix_in(name, family.name))
      if (auto text = format(family.text.substr(1), *suffix)) return text;
  return std::nullopt;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

void Prelude::use_names_in(std::string_view text) {
  for (std::size_t at = text.find("tw_"); at != std::string_view::npos;) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (at == 0 || !is_word(text[at - 1])) use(text.substr(at, end - at));
    at = text.find("tw_", end);
  }
}

std::string Prelude::use(std::string_view name) {
  if (used_.contains(name)) return std::string(name);
  if (const auto text = find_text(name)) define(std::string(name), *text);
  return std::string(name);
}

void Prelude::define(const std::string& name, const std::string& text) {
  if (!used_.insert(name).second) return;
  use_names_in(text);
  text_ += "\n" + text;
}

bool Prelude::is_reserved(std::string_view name) {
  // Of stdint.h and float.h; `linux` and `unix` are macros in the GNU dialects of C.
  for (std::string_view end :
       {"_MAX", "_MIN", "_C", "_WIDTH", "_DIG", "_EPSILON", "_RADIX", "_SUBNORM"})
    if (name.ends_with(end)) return true;
  for (std::string_view start : {"tw_", "TW_", "tilewright_", "TILEWRIGHT_", "_", "kDL", "DL",
                                 "INT", "UINT", "FLT_", "DBL_"})
    if (name.starts_with(start)) return true;
  for (std::string_view word : {"linux", "unix", "i386", "NULL", "offsetof", "size_t", "ptrdiff_t",
                                "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t",
                                "uint32_t", "uint64_t", "intptr_t", "uintptr_t"})
    if (name == word) return true;
  return program::is_c_keyword(name);
}

std::string_view file_head() { return kFileHead; }

}  // namespace tilewright::c_target
