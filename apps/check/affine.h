// SPDX-License-Identifier: Apache-2.0
//
// From expressions to sets: index expressions become quasi-affine values, conditions become unions of conjunctions of
// linear constraints. Both are exact. What is not affine (data, products of sizes) is a symbol of its own, equal
// for equal expressions at one time. Law: work and size are bounded; beyond that the text is refused.
#pragma once

#include <map>
#include <set>

#include "apps/check/emptiness.h"
#include "apps/check/syntax.h"

namespace tilewright::checker {

using check::Conjunction;
using check::Linear;

// The points of any of the parts. No part: none; a part without constraints: all.
using Union = std::vector<Conjunction>;
inline Union everything() { return {Conjunction()}; }
Union both(const Union& a, const Union& b);
Union either(const Union& a, const Union& b);
Union complement(const Union& a);

// A linear expression, or the least, the greatest or the chosen of two values.
struct Value {
  enum class Form : std::uint8_t { Linear, Least, Greatest, Chosen };
  Form form = Form::Linear;
  Linear linear;
  std::vector<Value> parts;
  Union first, second;  // of a Chosen: where each part is the value
  int leaves = 1;

  Value(Linear value = 0) : linear(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  bool is_constant() const { return form == Form::Linear && linear.terms().empty(); }
};
Value combined(Value::Form form, Value a, Value b);
Value plus(const Value& a, const Value& b);
Value times(const Value& a, Int factor);
Value quotient(const Value& a, Int divisor);  // the floor; the divisor is positive
Union at_least_zero(const Value& a);
Union is_zero(const Value& a);

// What the names of a Program mean for one instance of a statement. A name that is not here is an extent.
struct Environment {
  std::map<Name, Value> values;
  std::map<Name, std::string>
      settled;  // what was computed before and stays: which computation it was
  std::string time;  // names when something is read
};

class Affine {
 public:
  // What is read from the `constant` tensors is the same at any time.
  Affine(std::set<Name> constant, std::size_t limit)
      : limit_(limit), constant_(std::move(constant)) {}
  Value value(Ref e, const Environment& names);  // of an index expression
  Union condition(Ref e, bool holds, const Environment& names);
  // Refused where all work together is more than the limit.
  void spend(std::size_t work);
  // What each symbol that is not affine stands for.
  const std::map<std::string, std::string>& data() const { return data_; }

 private:
  Union cases(Ref e, bool holds, const Environment& names);
  Linear symbol(const std::string& key);
  std::string key(Ref e, const Environment& names);
  std::string structure(Ref e, const Environment& names);

  std::size_t work_ = 0, limit_;
  std::set<Name> constant_;
  std::map<std::string, std::string> symbols_;  // key to symbol
  std::map<std::string, std::string> data_;
};

// In the notation of isl; a dot in a name is written as a prime. Symbols that occur are added to the set.
std::string text(const Linear& linear, std::set<std::string>* symbols = nullptr);
std::string text(const Value& value, std::set<std::string>* symbols = nullptr);
std::string text(const Union& set, std::set<std::string>* symbols = nullptr);

}  // namespace tilewright::checker
