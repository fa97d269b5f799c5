// SPDX-License-Identifier: Apache-2.0
//
// Sets as text.
#include "apps/check/affine.h"

namespace tilewright::checker {

std::string text(const Linear& linear, std::set<std::string>* symbols) {
  std::string out;
  for (const auto& [atom, coefficient] : linear.terms()) {
    const bool negative = coefficient < 0;
    if (!out.empty() || negative) out += negative ? (out.empty() ? "-" : " - ") : " + ";
    const std::string digits = std::to_string(coefficient).substr(negative);
    if (digits != "1") out += digits + "*";
    if (atom.floor) {
      out += "floor((" + text(atom.floor->numerator, symbols) + ")/" +
             std::to_string(atom.floor->denominator) + ")";
      continue;
    }
    if (symbols) symbols->insert(atom.name);
    for (const char c : atom.name) out += c == '.' ? '\'' : c;
  }
  const Int constant = linear.constant();
  if (out.empty()) return std::to_string(constant);
  if (constant != 0)
    out += (constant < 0 ? " - " : " + ") + std::to_string(constant).substr(constant < 0);
  return out;
}

std::string text(const Value& value, std::set<std::string>* symbols) {
  if (value.form == Value::Form::Linear) return text(value.linear, symbols);
  const std::string a = text(value.parts[0], symbols);
  const std::string b = text(value.parts[1], symbols);
  if (value.form == Value::Form::Chosen)
    return "((" + text(value.first, symbols) + ") ? (" + a + ") : (" + b + "))";
  return (value.form == Value::Form::Least ? "min(" : "max(") + a + ", " + b + ")";
}

std::string text(const Union& set, std::set<std::string>* symbols) {
  std::string out;
  for (const Conjunction& c : set) {
    std::string part;
    for (const Linear& e : c.equal)
      part += (part.empty() ? "" : " and ") + text(e, symbols) + " = 0";
    for (const Linear& e : c.at_least)
      part += (part.empty() ? "" : " and ") + text(e, symbols) + " >= 0";
    if (part.empty()) part = "true";
    out += (out.empty() ? "" : " or ") + (set.size() > 1 ? "(" + part + ")" : part);
  }
  return out.empty() ? "false" : out;
}

}  // namespace tilewright::checker
