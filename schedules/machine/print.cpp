// SPDX-License-Identifier: Apache-2.0
//
// Machines and instructions as canonical TOML and as JSON. What is absent is left out.
#include "frontend/base/format.h"
#include "schedules/machine/fields.h"
#include "schedules/machine/text.h"

namespace tilewright::machine {

namespace {

// TOML takes a number for a float only with a point or an exponent.
std::string toml_number(double value) {
  std::string text = format_double(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class TomlWriter {
 public:
  explicit TomlWriter(std::string& out) : out_(out) {}

  void format() { line("format", std::to_string(kMachineFormat)); }
  void boolean(std::string_view name, bool value) { line(name, value ? "true" : "false"); }
  void integer(std::string_view name, std::int64_t value, std::int64_t, std::int64_t) {
    line(name, std::to_string(value));
  }
  void number(std::string_view name, double value, double, double) {
    line(name, toml_number(value));
  }
  void optional_number(std::string_view name, const std::optional<double>& value, double, double) {
    if (value) line(name, toml_number(*value));
  }
  void text(std::string_view name, const std::string& value, TextRule) {
    line(name, quoted(value));
  }
  void optional_text(std::string_view name, const std::optional<std::string>& value, TextRule) {
    if (value) line(name, quoted(*value));
  }
  void names(std::string_view name, const std::vector<std::string>& value) {
    std::string list = "[";
    for (const std::string& item : value) list += (list.size() > 1 ? ", " : "") + quoted(item);
    line(name, list + "]");
  }
  void integers(std::string_view name, const std::vector<std::int64_t>& value, std::int64_t,
                std::int64_t) {
    std::string list = "[";
    for (std::int64_t item : value) list += (list.size() > 1 ? ", " : "") + std::to_string(item);
    line(name, list + "]");
  }
  void lines(std::string_view name, const std::string& value) {
    line(name, "\'\'\'\n" + value + "\'\'\'");
  }
  template <class T>
  void table(std::string_view name, const T& value) {
    out_ += "\n[" + std::string(name) + "]\n";
    visit(*this, value);
  }
  template <class T>
  void list(std::string_view name, const std::vector<T>& value, std::size_t) {
    for (const T& entry : value) {
      out_ += "\n[[" + std::string(name) + "]]\n";
      visit(*this, entry);
    }
  }

 private:
  // The rules of texts leave nothing to escape.
  static std::string quoted(const std::string& text) { return "\"" + text + "\""; }
  void line(std::string_view name, const std::string& value) {
    out_ += std::string(name) + " = " + value + "\n";
  }
  std::string& out_;
};

class JsonWriter {
 public:
  void format() { out.set("format", kMachineFormat); }
  void boolean(std::string_view name, bool value) { out.set(name, value); }
  void integer(std::string_view name, std::int64_t value, std::int64_t, std::int64_t) {
    out.set(name, value);
  }
  void number(std::string_view name, double value, double, double) { out.set(name, value); }
  void optional_number(std::string_view name, const std::optional<double>& value, double, double) {
    if (value) out.set(name, *value);
  }
  void text(std::string_view name, const std::string& value, TextRule) { out.set(name, value); }
  void optional_text(std::string_view name, const std::optional<std::string>& value, TextRule) {
    if (value) out.set(name, *value);
  }
  void names(std::string_view name, const std::vector<std::string>& value) {
    Json list = Json::array();
    for (const std::string& item : value) list.push(item);
    out.set(name, std::move(list));
  }
  void integers(std::string_view name, const std::vector<std::int64_t>& value, std::int64_t,
                std::int64_t) {
    Json list = Json::array();
    for (std::int64_t item : value) list.push(item);
    out.set(name, std::move(list));
  }
  void lines(std::string_view name, const std::string& value) { out.set(name, value); }
  template <class T>
  void table(std::string_view name, const T& value) {
    JsonWriter inner;
    visit(inner, value);
    out.set(name, std::move(inner.out));
  }
  template <class T>
  void list(std::string_view name, const std::vector<T>& value, std::size_t) {
    Json list = Json::array();
    for (const T& entry : value) {
      JsonWriter inner;
      visit(inner, entry);
      list.push(std::move(inner.out));
    }
    out.set(name, std::move(list));
  }

  Json out = Json::object();
};

}  // namespace

std::string print(const Instruction& instruction) {
  std::string out;
  TomlWriter writer(out);
  visit(writer, instruction);
  return out;
}

Json to_json(const Instruction& instruction) {
  JsonWriter writer;
  visit(writer, instruction);
  return std::move(writer.out);
}

std::string print(const Machine& machine) {
  std::string out;
  TomlWriter writer(out);
  visit(writer, machine);
  return out;
}

Json to_json(const Machine& machine) {
  JsonWriter writer;
  visit(writer, machine);
  return std::move(writer.out);
}

}  // namespace tilewright::machine
