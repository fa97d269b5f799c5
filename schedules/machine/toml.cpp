// SPDX-License-Identifier: Apache-2.0
//
// The wall of the TOML library, which is built into this file without exceptions: text to nodes with byte spans.
//
// The library states some conditions on its input as assertions and, under NDEBUG, as assumptions that the
// compiler may build on. Version 3.3 states one that a malformed key breaks (`[[[`) and handles right after it. So
// here both are nothing: with assumptions the handling would be removed.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>

#include "frontend/base/format.h"
#include "frontend/base/text.h"
#include "schedules/machine/node.h"

namespace tilewright::machine {

namespace {

// The byte offset of a place: the library counts columns in characters, which are bytes here.
std::uint32_t offset_of(const Source& source, toml::source_position place) {
  if (!place) return 0;
  const std::string_view line = source.line(place.line);
  if (line.data() == nullptr) return static_cast<std::uint32_t>(source.text().size());
  const std::size_t column = std::min<std::size_t>(place.column - 1, line.size());
  return static_cast<std::uint32_t>(line.data() - source.text().data() + column);
}

// The library's regions may end before they begin, or miss an end; a span never does.
Span span_of(const Source& source, const toml::source_region& region) {
  const std::uint32_t begin = offset_of(source, region.begin);
  const std::uint32_t end = std::max(begin, offset_of(source, region.end));
  return {begin, end == begin
                     ? std::min(begin + 1, static_cast<std::uint32_t>(source.text().size()))
                     : end};
}

Node convert(const Source& source, const toml::node& in) {
  Node out;
  out.span = span_of(source, in.source());
  if (const auto* boolean = in.as_boolean()) {
    out.kind = Node::Kind::Boolean;
    out.boolean = boolean->get();
  } else if (const auto* integer = in.as_integer()) {
    out.kind = Node::Kind::Integer;
    out.integer = integer->get();
  } else if (const auto* number = in.as_floating_point()) {
    out.kind = Node::Kind::Number;
    out.number = number->get();
  } else if (const auto* text = in.as_string()) {
    out.kind = Node::Kind::Text;
    out.text = text->get();
  } else if (const auto* list = in.as_array()) {
    out.kind = Node::Kind::List;
    for (const toml::node& item : *list) out.items.push_back(convert(source, item));
  } else if (const auto* table = in.as_table()) {
    out.kind = Node::Kind::Table;
    // The library sorts keys; diagnostics are sorted by place when they are shown.
    for (const auto& [key, value] : *table)
      out.members.push_back(
          {std::string(key.str()), span_of(source, key.source()), convert(source, value)});
  }
  return out;
}

// Version 3.3 of the library has undefined behaviour on some characters beyond ASCII outside of strings (U+02E6);
// no value of a machine file needs one.
Result<Ok> check_ascii(const Source& source) {
  const std::string_view text = source.text();
  const auto* found = std::find_if(text.begin(), text.end(),
                                   [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (found == text.end()) return Ok{};
  const auto at = static_cast<std::uint32_t>(found - text.begin());
  return fail(Code::MachineSyntax, {at, at + 1}, "a character that is not ASCII",
              "write machine files, comments included, in ASCII");
}

}  // namespace

Result<Node> read_toml(const Source& source) {
  if (source.text().size() > kMaxSourceBytes)
    return fail(Code::SourceTooLarge, {}, "a machine file of more than 64 MiB",
                "machine files have a few kilobytes");
  TILEWRIGHT_CHECK_OK(check_ascii(source));
  const toml::parse_result parsed = toml::parse(source.text());
  if (parsed.succeeded()) return convert(source, parsed.table());
  const toml::parse_error& error = parsed.error();
  const Span span = span_of(source, error.source());
  const std::string text = printable(error.description());
  // Redefinition is the one fault that is none of spelling.
  if (text.find("redefine") != std::string::npos)
    return fail(Code::MachineDuplicate, span, "a key or table that is there already: " + text,
                "keep one of the two");
  return fail(Code::MachineSyntax, span, "this is not TOML: " + text,
              "write `key = value` lines and `[table]` headings; see docs/machines.md");
}

}  // namespace tilewright::machine
