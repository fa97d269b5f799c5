// SPDX-License-Identifier: Apache-2.0
//
// JSON of hash-consed nodes, derived from their `fields`. A family of nodes (expressions here, statements of
// programs) derives its writer and reader from these and adds the value types of its own.
#pragma once

#include <string>
#include <vector>

#include "frontend/base/json.h"
#include "frontend/ir/context.h"

namespace tilewright::ir {

struct FieldWriter {
  Json value(Expr expr) const;
  Json value(Symbol symbol) const { return Json(symbol.text()); }
  Json value(ScalarType type) const { return Json(type_text(type)); }
  Json value(OpCode op) const { return Json(op_info(op).name); }
  Json value(Monoid monoid) const { return Json(monoid_text(monoid)); }
  Json value(std::int64_t number) const { return Json(number); }
  Json value(bool truth) const { return Json(truth); }
  // NaN and infinities as strings: JSON has no numbers for them.
  Json value(double number) const;
};

// Adds every declared field to an object.
template <class Writer, class Node>
void write_fields(const Writer& writer, const Node& node, Json& object) {
  auto write = [&](const auto& declared) {
    const auto& value = node.*(declared.member);
    if (declared.optional && node_detail::equal_value(value, Node().*(declared.member))) return;
    if constexpr (requires { writer.value(value); }) {
      object.set(declared.name, writer.value(value));
    } else {
      Json list = Json::array();
      for (const auto& element : value) list.push(writer.value(element));
      object.set(declared.name, std::move(list));
    }
  };
  std::apply([&](const auto&... fields) { (write(fields), ...); }, Node::fields);
}

// Reads values; the first mistake is kept with its path, and everything after it is void.
class FieldReader {
 public:
  explicit FieldReader(Context& context) : context_(context) {}

  bool read(const Json& json, Expr& out);
  bool read(const Json& json, Symbol& out);
  bool read(const Json& json, ScalarType& out);
  bool read(const Json& json, OpCode& out);
  bool read(const Json& json, Monoid& out);
  bool read(const Json& json, std::int64_t& out);
  bool read(const Json& json, bool& out);
  bool read(const Json& json, double& out);

  // The member of this name, read; false, with the path reported, when it is missing or wrong.
  template <class Self, class T>
  static bool member(Self& self, const Json& json, std::string_view name, T& out) {
    const Json* found = json.find(name);
    if (!found) return self.refuse("the member `" + std::string(name) + "` is missing");
    self.path_.push_back(std::string(name));
    const bool good = self.read_value(self, *found, out);
    self.path_.pop_back();
    return good;
  }
  template <class Self, class T>
  static bool read_value(Self& self, const Json& json, T& out) {
    if constexpr (requires { self.read(json, out); }) {
      return self.read(json, out);
    } else {
      using Element = std::remove_const_t<typename T::element_type>;
      std::vector<Element> elements;
      if (!read_list(self, json, elements)) return false;
      out = self.context_.store().arena().copy(std::span<const Element>(elements));
      return true;
    }
  }
  template <class Self, class T>
  static bool read_list(Self& self, const Json& json, std::vector<T>& out) {
    const Json::Array* array = json.as_array();
    if (!array) return self.refuse("a list is needed here");
    for (std::size_t i = 0; i < array->size(); ++i) {
      self.path_.push_back(std::to_string(i));
      out.emplace_back();
      const bool good = self.read((*array)[i], out.back());
      self.path_.pop_back();
      if (!good) return false;
    }
    return true;
  }
  // Every declared field of the node.
  template <class Self, class Node>
  static bool read_fields(Self& self, const Json& json, Node& node) {
    return std::apply(
        [&](const auto&... fields) {
          return (((fields.optional && !json.find(fields.name)) ||
                   member(self, json, fields.name, node.*(fields.member))) &&
                  ...);
        },
        Node::fields);
  }

  bool refuse(const std::string& message);
  Failure failure() const { return failure_; }
  Context& context() { return context_; }

 protected:
  Context& context_;
  std::vector<std::string> path_;
  Failure failure_;

 private:
  friend struct ExprBuilder;
};

}  // namespace tilewright::ir
