// SPDX-License-Identifier: Apache-2.0
//
// Formulas in sizes and magnitudes, in which bounds are stated. Values are at least 0; a quotient whose divisor is
// not above 0 is infinite. Laws: a formula never falls when a name in it grows, where it stands in no subtrahend;
// evaluation rounds up.
// Tests: tests/unit/lowering/rounding/formula_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace tilewright::rounding {

using Names = std::map<std::string, double>;

class Formula {
 public:
  Formula() : Formula(0.0) {}
  Formula(double value);  // NOLINT: numbers are formulas
  static Formula name(std::string text);

  friend Formula operator+(const Formula& a, const Formula& b);
  friend Formula operator*(const Formula& a, const Formula& b);
  // The rest of an amount that is at least 0; used to say how much of a divisor is left.
  friend Formula operator-(const Formula& a, const Formula& b);
  friend Formula operator/(const Formula& a, const Formula& b);
  static Formula larger(const Formula& a, const Formula& b);
  static Formula smaller(const Formula& a, const Formula& b);
  static Formula exp(const Formula& a);  // may be given less than 0
  static Formula expm1(const Formula& a);
  static Formula root(const Formula& a);

  bool is_number() const;
  double number() const;  // precondition: is_number()
  bool is_zero() const { return is_number() && number() == 0; }
  // Names without a value are infinite.
  double evaluate(const Names& names) const;
  std::string text() const;

  struct Node;

 private:
  explicit Formula(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static Formula make(int kind, const Formula& a, const Formula& b);
  std::string text(int precedence) const;
  std::shared_ptr<const Node> node_;
};

}  // namespace tilewright::rounding
