// SPDX-License-Identifier: Apache-2.0
//
// Quasi-affine expressions in canonical form: equal floors are one atom, multiples of a denominator are
// pulled out of its floor, and floors of floors are merged. An overflow marks the result as broken.
#include <numeric>

#include "apps/check/emptiness.h"

namespace tilewright::check {

static std::int64_t rounded_down(std::int64_t numerator, std::int64_t denominator) {
  return numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
}

static std::int64_t remainder(std::int64_t numerator, std::int64_t denominator) {
  std::int64_t rest = numerator % denominator;
  return rest < 0 ? rest + denominator : rest;
}

void Linear::add(const Atom& atom, std::int64_t coefficient) {
  if (coefficient == 0) return;
  auto [place, is_new] = terms_.emplace(atom, coefficient);
  if (is_new) return;
  broken_ |= __builtin_add_overflow(place->second, coefficient, &place->second);
  if (place->second == 0) terms_.erase(place);
}

Linear Linear::symbol(std::string_view name) {
  Linear result;
  // So that the text of a floor can be read in one way only.
  result.broken_ = name.empty() || name.find_first_of("[]*/ ") != std::string_view::npos;
  result.add({std::string(name), nullptr}, 1);
  return result;
}

Linear Linear::operator+(const Linear& other) const {
  Linear result = *this;
  result.broken_ |= other.broken_;
  result.broken_ |= __builtin_add_overflow(constant_, other.constant_, &result.constant_);
  for (const auto& [atom, coefficient] : other.terms_) result.add(atom, coefficient);
  return result;
}

Linear Linear::operator*(std::int64_t factor) const {
  Linear result;
  result.broken_ = broken_;
  if (factor == 0) return result;
  result = *this;
  bool over = __builtin_mul_overflow(constant_, factor, &result.constant_);
  for (auto& [atom, coefficient] : result.terms_) {
    over |= __builtin_mul_overflow(coefficient, factor, &coefficient);
  }
  result.broken_ |= over;
  return result;
}

Linear floor_div(const Linear& numerator, std::int64_t denominator) {
  Linear quotient;
  quotient.broken_ = numerator.broken_ || denominator <= 0;
  if (quotient.broken_) return quotient;
  Linear rest;
  std::int64_t divisor = denominator;
  for (const auto& [atom, coefficient] : numerator.terms_) {
    quotient.add(atom, rounded_down(coefficient, denominator));
    rest.add(atom, remainder(coefficient, denominator));
    divisor = std::gcd(divisor, remainder(coefficient, denominator));
  }
  quotient.constant_ = rounded_down(numerator.constant_, denominator);
  if (rest.terms_.empty()) return quotient;
  rest.constant_ = remainder(numerator.constant_, denominator) / divisor;
  for (auto& [atom, coefficient] : rest.terms_) coefficient /= divisor;
  denominator /= divisor;
  const auto& [first, factor] = *rest.terms_.begin();
  std::int64_t product = 0;
  if (rest.terms_.size() == 1 && factor == 1 && first.floor &&
      !__builtin_mul_overflow(first.floor->denominator, denominator, &product)) {
    Linear inner = first.floor->numerator + Linear(rest.constant_) * first.floor->denominator;
    return quotient + floor_div(inner, product);
  }
  std::string name = "[" + rest.text() + "/" + std::to_string(denominator) + "]";
  quotient.add({name, std::make_shared<const Floor>(Floor{rest, denominator})}, 1);
  return quotient;
}

Linear Linear::substituted(const std::map<std::string, Linear>& values) const {
  Linear result(constant_);
  result.broken_ = broken_;
  for (const auto& [atom, coefficient] : terms_) {
    if (atom.floor) {
      Linear inner = atom.floor->numerator.substituted(values);
      result = result + floor_div(inner, atom.floor->denominator) * coefficient;
    } else if (auto value = values.find(atom.name); value != values.end()) {
      result = result + value->second * coefficient;
    } else {
      result.add(atom, coefficient);
    }
  }
  return result;
}

std::string Linear::text() const {
  std::string out;
  for (const auto& [atom, coefficient] : terms_) {
    out += std::to_string(coefficient) + "*" + atom.name + " ";
  }
  return out + std::to_string(constant_);
}

bool operator==(const Linear& a, const Linear& b) {
  return !a.broken_ && !b.broken_ && a.constant_ == b.constant_ &&
         a.terms_.size() == b.terms_.size() && a.text() == b.text();
}

}  // namespace tilewright::check
