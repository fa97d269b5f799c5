// SPDX-License-Identifier: Apache-2.0
//
// The wall of the TOML library, which is built into this file without exceptions: text to nodes with byte spans.
#include <toml++/toml.h>

#include "frontend/base/format.h"
#include "frontend/base/text.h"
#include "schedules/machine/node.h"

namespace tilewright::machine {

namespace {

// The byte offset of a place that the library counts in code points.
std::uint32_t offset_of(const Source& source, toml::source_position place) {
  if (!place) return 0;
  const std::string_view line = source.line(place.line);
  if (line.data() == nullptr) return static_cast<std::uint32_t>(source.text().size());
  std::size_t at = 0;
  for (std::uint32_t column = 1; column < place.column && at < line.size(); ++column) {
    ++at;
    while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80) ++at;
  }
  return static_cast<std::uint32_t>(line.data() - source.text().data()) +
         static_cast<std::uint32_t>(at);
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

}  // namespace

Result<Node> read_toml(const Source& source) {
  if (source.text().size() > kMaxSourceBytes)
    return fail(Code::SourceTooLarge, {}, "a machine file of more than 64 MiB",
                "machine files have a few kilobytes");
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
