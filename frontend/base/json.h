// SPDX-License-Identifier: Apache-2.0
//
// JSON as a plain value; the library behind it stays in json.cpp. Objects keep the order of insertion, so
// dump() is deterministic. Laws: parse(dump(x)) == x for values without NaN or infinities; integers of 64
// bits and doubles survive exactly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/base/result.h"

namespace tilewright {

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;  // null
  Json(bool value) : value_(value) {}
  Json(int value) : value_(std::int64_t{value}) {}
  Json(std::int64_t value) : value_(value) {}
  Json(std::uint32_t value) : value_(std::int64_t{value}) {}
  Json(double value) : value_(value) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  // Precondition: no name occurs twice.
  Json(Object value) : value_(std::move(value)) {}
  static Json array() { return Json(Array{}); }
  static Json object();

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  // Null when the value is something else. A number written without fraction or exponent is an integer.
  const bool* as_bool() const { return std::get_if<bool>(&value_); }
  const std::int64_t* as_integer() const { return std::get_if<std::int64_t>(&value_); }
  const double* as_double() const { return std::get_if<double>(&value_); }
  const std::string* as_string() const { return std::get_if<std::string>(&value_); }
  const Array* as_array() const { return std::get_if<Array>(&value_); }
  const Object* as_object() const { return std::get_if<Object>(&value_); }
  // The member of an object; null when this is no object or has no such member.
  const Json* find(std::string_view name) const;

  // Appends to an array or object. Precondition: this is one.
  void push(Json value);
  void set(std::string_view name, Json value);

  // indent < 0: one line. Bytes that are not UTF-8 become U+FFFD; NaN and infinities become null.
  std::string dump(int indent = 2) const;

  friend bool operator==(const Json&, const Json&) = default;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

// E0106 with the place of the mistake; texts beyond 64 MiB and nesting beyond 2,000 levels are refused, as are repeated members.
Result<Json> parse_json(const Source& source);

}  // namespace tilewright
