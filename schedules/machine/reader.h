// SPDX-License-Identifier: Apache-2.0
//
// The visitor of fields.h that reads nodes: machines and instructions go through it. Law: a value that it
// filled without a report had every key that must be there, none that must not, and each with its type and
// range. Private to this room.
#pragma once

#include <algorithm>
#include <set>

#include "frontend/base/format.h"
#include "frontend/base/text.h"
#include "schedules/machine/fields.h"
#include "schedules/machine/node.h"
#include "schedules/machine/text.h"

namespace tilewright::machine {

inline constexpr std::size_t kMaxText = 128;

inline std::string_view kind_name(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::Boolean: return "a boolean";
    case Node::Kind::Integer: return "an integer";
    case Node::Kind::Number: return "a float";
    case Node::Kind::Text: return "a string";
    case Node::Kind::List: return "a list";
    case Node::Kind::Table: return "a table";
    case Node::Kind::Other: return "a date or time";
  }
  __builtin_unreachable();
}

inline bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

inline bool is_machine_name(std::string_view text) {
  if (text.empty() || text.size() > kMaxText || !is_alnum(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

// Printable ASCII that needs no escape in TOML.
inline bool is_line(std::string_view text) {
  if (text.empty() || text.size() > kMaxText) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

inline bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto number = [&](std::size_t at, std::size_t count) {
    int value = 0;
    for (const char c : text.substr(at, count)) {
      if (c < '0' || c > '9') return -1;
      value = value * 10 + (c - '0');
    }
    return value;
  };
  const int year = number(0, 4);
  const int month = number(5, 2);
  const int day = number(8, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const int days[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return day <= days[month - 1];
}

class Reader {
 public:
  // `what`: what the whole text is, for messages: "a machine".
  Reader(const Node& table, std::string_view what, std::string path, std::vector<Diagnostic>& out)
      : table_(table), what_(what), path_(std::move(path)), out_(out) {}

  void format() {
    std::int64_t value = kMachineFormat;
    integer("format", value, 1, INT64_MAX);
    if (value != kMachineFormat)
      report(Code::MachineFormat, table_.find("format")->value.span,
             "format " + std::to_string(value) + ", and this is a reader of format " +
                 std::to_string(kMachineFormat),
             "write the file anew with `tilewright machine probe`, or use the tilewright that "
             "wrote it");
  }

  void boolean(std::string_view name, bool& value) {
    if (const Node* node = typed(name, Node::Kind::Boolean, "`true` or `false`"))
      value = node->boolean;
  }

  void integer(std::string_view name, std::int64_t& value, std::int64_t low, std::int64_t high) {
    const Node* node = typed(name, Node::Kind::Integer, "an integer");
    if (node == nullptr) return;
    if (node->integer < low || node->integer > high)
      return out_of_range(name, *node, std::to_string(node->integer),
                          "between " + std::to_string(low) + " and " + std::to_string(high));
    value = node->integer;
  }

  void number(std::string_view name, double& value, double low, double high) {
    if (const Node* node = require(name)) read_number(name, *node, value, low, high);
  }

  void optional_number(std::string_view name, std::optional<double>& value, double low,
                       double high) {
    double read = 0;
    if (const Node* node = find(name))
      if (read_number(name, *node, read, low, high)) value = read;
  }

  void text(std::string_view name, std::string& value, TextRule rule) {
    if (const Node* node = require(name)) read_text(name, *node, value, rule);
  }

  void optional_text(std::string_view name, std::optional<std::string>& value, TextRule rule) {
    std::string read;
    if (const Node* node = find(name))
      if (read_text(name, *node, read, rule)) value = read;
  }

  void names(std::string_view name, std::vector<std::string>& value) {
    const Node* node = typed(name, Node::Kind::List, "a list of strings");
    if (node == nullptr || !count_ok(name, *node, 0)) return;
    std::set<std::string> seen;
    for (const Node& item : node->items) {
      std::string read;
      if (!read_text(name, item, read, TextRule::Name)) continue;
      if (!seen.insert(read).second)
        report(Code::MachineDuplicate, item.span,
               in_backticks(read) + " is twice in `" + key(name) + "`", "name it once");
    }
    value.assign(seen.begin(), seen.end());
  }

  void integers(std::string_view name, std::vector<std::int64_t>& value, std::int64_t low,
                std::int64_t high) {
    const Node* node = typed(name, Node::Kind::List, "a list of integers");
    if (node == nullptr || !count_ok(name, *node, 0)) return;
    for (const Node& item : node->items) {
      if (item.kind != Node::Kind::Integer) {
        wrong_type(name, item, "integers");
      } else if (item.integer < low || item.integer > high) {
        out_of_range(name, item, std::to_string(item.integer),
                     "between " + std::to_string(low) + " and " + std::to_string(high));
      } else {
        value.push_back(item.integer);
      }
    }
  }

  // Lines of text, ended by a newline each.
  void lines(std::string_view name, std::string& value) {
    const Node* node = typed(name, Node::Kind::Text, "lines between \'\'\'");
    if (node == nullptr) return;
    const bool plain = std::all_of(node->text.begin(), node->text.end(), [](char c) {
      return (c >= ' ' && c <= '~' && c != '\'') || c == '\n';
    });
    if (!plain || node->text.empty() || node->text.back() != '\n')
      return out_of_range(name, *node, "other", "lines of printable ASCII without `'`");
    value = node->text;
  }

  template <class T>
  void table(std::string_view name, T& value) {
    if (const Node* node = typed(name, Node::Kind::Table, "a table"))
      read_table(*node, key(name), value);
  }

  // `[[name]]` headings; none at all is an empty list where that is allowed.
  template <class T>
  void list(std::string_view name, std::vector<T>& value, std::size_t least) {
    if (least == 0 && table_.find(name) == nullptr) {
      known_.push_back(name);
      return;
    }
    const Node* node =
        typed(name, Node::Kind::List, "tables under `[[" + std::string(name) + "]]`");
    if (node == nullptr || !count_ok(name, *node, least)) return;
    for (const Node& item : node->items) {
      T entry{};
      if (item.kind == Node::Kind::Table)
        read_table(item, key(name), entry);
      else
        wrong_type(name, item, "tables under `[[" + std::string(name) + "]]`");
      value.push_back(std::move(entry));
    }
  }

  // After all fields: what else stands there.
  void finish() {
    for (const Member& member : table_.members) {
      if (std::find(known_.begin(), known_.end(), member.name) != known_.end()) continue;
      std::string keys;
      for (std::string_view name : known_)
        keys += (keys.empty() ? "`" : ", `") + std::string(name) + "`";
      report(Code::MachineUnknownKey, member.span,
             in_backticks(member.name) + " is no key of " + place(),
             "remove it; the keys are " + keys);
    }
  }

 private:
  std::string key(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
  }
  std::string place() const { return path_.empty() ? std::string(what_) : "`" + path_ + "`"; }

  void report(Code code, Span span, std::string message, std::string remedy) {
    if (out_.size() < kMaxDiagnostics)
      out_.push_back({code, span, std::move(message), std::move(remedy), {}});
  }

  const Node* find(std::string_view name) {
    known_.push_back(name);
    const Member* member = table_.find(name);
    return member == nullptr ? nullptr : &member->value;
  }

  const Node* require(std::string_view name) {
    const Node* node = find(name);
    if (node == nullptr)
      report(Code::MachineMissing, table_.span, "`" + key(name) + "` is missing",
             "add `" + std::string(name) + "` to " + place() + "; see docs/machines.md");
    return node;
  }

  const Node* typed(std::string_view name, Node::Kind kind, const std::string& wanted) {
    const Node* node = require(name);
    if (node == nullptr || node->kind == kind) return node;
    wrong_type(name, *node, wanted);
    return nullptr;
  }

  void wrong_type(std::string_view name, const Node& node, const std::string& wanted) {
    report(Code::MachineType, node.span,
           "`" + key(name) + "` is " + std::string(kind_name(node.kind)) + ", and " + wanted +
               " is needed",
           "write " + wanted);
  }

  void out_of_range(std::string_view name, const Node& node, const std::string& seen,
                    const std::string& wanted) {
    report(Code::MachineRange, node.span,
           "`" + key(name) + "` is " + seen + ", which is not " + wanted,
           "write a value " + wanted);
  }

  bool count_ok(std::string_view name, const Node& node, std::size_t least) {
    if (node.items.size() >= least && node.items.size() <= kMaxEntries) return true;
    report(Code::MachineRange, node.span,
           "`" + key(name) + "` has " + std::to_string(node.items.size()) + " entries",
           "give between " + std::to_string(least) + " and " + std::to_string(kMaxEntries));
    return false;
  }

  // People write 100 for 100.0.
  bool read_number(std::string_view name, const Node& node, double& value, double low,
                   double high) {
    if (node.kind != Node::Kind::Integer && node.kind != Node::Kind::Number) {
      wrong_type(name, node, "a number");
      return false;
    }
    const double read =
        node.kind == Node::Kind::Integer ? static_cast<double>(node.integer) : node.number;
    if (!(read >= low && read <= high)) {
      out_of_range(name, node, format_double(read),
                   "between " + format_double(low) + " and " + format_double(high));
      return false;
    }
    value = read;
    return true;
  }

  bool read_text(std::string_view name, const Node& node, std::string& value, TextRule rule) {
    if (node.kind != Node::Kind::Text) {
      wrong_type(name, node, "a string");
      return false;
    }
    switch (rule) {
      case TextRule::Name:
        if (is_machine_name(node.text)) break;
        out_of_range(name, node, in_backticks(node.text),
                     "a name of at most 128 letters, digits, `-`, `_` and `.`");
        return false;
      case TextRule::Line:
        if (is_line(node.text)) break;
        out_of_range(
            name, node, in_backticks(node.text),
            "one line of at most 128 printable ASCII characters without quotes and backslashes");
        return false;
      case TextRule::Date:
        if (is_date(node.text)) break;
        out_of_range(name, node, in_backticks(node.text), "a date such as \"2026-01-31\"");
        return false;
    }
    value = node.text;
    return true;
  }

  template <class T>
  void read_table(const Node& node, const std::string& path, T& value) {
    Reader inner(node, what_, path, out_);
    visit(inner, value);
    inner.finish();
  }

  const Node& table_;
  std::string_view what_;
  std::string path_;
  std::vector<Diagnostic>& out_;
  std::vector<std::string_view> known_;
};

}  // namespace tilewright::machine
