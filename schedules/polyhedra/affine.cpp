// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of quasi-affine expressions in canonical form. Checked throughout: an overflow marks the
// result instead of wrapping.
#include "schedules/polyhedra/affine.h"

#include <algorithm>
#include <numeric>

namespace tilewright::poly {

static std::size_t mixed(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

std::int64_t floor_div(std::int64_t numerator, std::int64_t denominator) {
  std::int64_t quotient = numerator / denominator;
  return numerator % denominator < 0 ? quotient - 1 : quotient;
}

std::int64_t modulo(std::int64_t numerator, std::int64_t denominator) {
  std::int64_t rest = numerator % denominator;
  return rest < 0 ? rest + denominator : rest;
}

AffineExpr AffineExpr::variable(std::string_view name, std::int64_t coefficient) {
  AffineExpr result;
  if (coefficient != 0) result.terms_.push_back({std::string(name), coefficient});
  return result;
}

std::int64_t AffineExpr::coefficient(std::string_view name) const {
  auto place = std::lower_bound(terms_.begin(), terms_.end(), name,
                                [](const LinearTerm& t, std::string_view n) { return t.name < n; });
  return place != terms_.end() && place->name == name ? place->coefficient : 0;
}

bool AffineExpr::mentions(std::string_view name) const {
  if (coefficient(name) != 0) return true;
  return std::any_of(floors_.begin(), floors_.end(),
                     [&](const FloorTerm& f) { return f.numerator.mentions(name); });
}

void AffineExpr::collect_names(std::vector<std::string>& names) const {
  for (const LinearTerm& term : terms_) {
    auto place = std::lower_bound(names.begin(), names.end(), term.name);
    if (place == names.end() || *place != term.name) names.insert(place, term.name);
  }
  for (const FloorTerm& floor : floors_) floor.numerator.collect_names(names);
}

void AffineExpr::add_constant(std::int64_t value) {
  overflowed_ |= __builtin_add_overflow(constant_, value, &constant_);
}

void AffineExpr::add_term(std::string_view name, std::int64_t coefficient) {
  if (coefficient == 0) return;
  auto place = std::lower_bound(terms_.begin(), terms_.end(), name,
                                [](const LinearTerm& t, std::string_view n) { return t.name < n; });
  if (place == terms_.end() || place->name != name) {
    terms_.insert(place, {std::string(name), coefficient});
    return;
  }
  overflowed_ |= __builtin_add_overflow(place->coefficient, coefficient, &place->coefficient);
  if (place->coefficient == 0) terms_.erase(place);
}

// The order of floors: by denominator, then numerator; the coefficient does not take part.
static std::strong_ordering compared(const FloorTerm& a, const AffineExpr& numerator,
                                     std::int64_t denominator) {
  if (auto order = a.denominator <=> denominator; order != 0) return order;
  return a.numerator <=> numerator;
}

void AffineExpr::add_floor(const AffineExpr& numerator, std::int64_t denominator,
                           std::int64_t coefficient) {
  if (coefficient == 0) return;
  auto place = std::find_if(floors_.begin(), floors_.end(), [&](const FloorTerm& f) {
    return compared(f, numerator, denominator) >= 0;
  });
  if (place == floors_.end() || compared(*place, numerator, denominator) != 0) {
    floors_.insert(place, {coefficient, numerator, denominator});
    return;
  }
  overflowed_ |= __builtin_add_overflow(place->coefficient, coefficient, &place->coefficient);
  if (place->coefficient == 0) floors_.erase(place);
}

AffineExpr AffineExpr::operator+(const AffineExpr& other) const {
  AffineExpr result = *this;
  result.overflowed_ |= other.overflowed_;
  result.add_constant(other.constant_);
  for (const LinearTerm& term : other.terms_) result.add_term(term.name, term.coefficient);
  for (const FloorTerm& floor : other.floors_) {
    result.add_floor(floor.numerator, floor.denominator, floor.coefficient);
  }
  return result;
}

AffineExpr AffineExpr::operator*(std::int64_t factor) const {
  AffineExpr result;
  result.overflowed_ = overflowed_;
  if (factor == 0) return result;
  result = *this;
  bool over = __builtin_mul_overflow(constant_, factor, &result.constant_);
  for (LinearTerm& term : result.terms_) {
    over |= __builtin_mul_overflow(term.coefficient, factor, &term.coefficient);
  }
  for (FloorTerm& floor : result.floors_) {
    over |= __builtin_mul_overflow(floor.coefficient, factor, &floor.coefficient);
  }
  result.overflowed_ |= over;
  return result;
}

// Splits numerator = denominator * quotient + rest with every coefficient of rest in [0, denominator),
// cancels the common divisor of rest and denominator, and merges floor(floor(x / a) / b).
AffineExpr floor_div(const AffineExpr& numerator, std::int64_t denominator) {
  AffineExpr quotient;
  AffineExpr rest;
  quotient.overflowed_ = numerator.overflowed_;
  std::int64_t divisor = denominator;
  for (const LinearTerm& term : numerator.terms_) {
    quotient.add_term(term.name, floor_div(term.coefficient, denominator));
    rest.add_term(term.name, modulo(term.coefficient, denominator));
    divisor = std::gcd(divisor, modulo(term.coefficient, denominator));
  }
  for (const FloorTerm& floor : numerator.floors_) {
    quotient.add_floor(floor.numerator, floor.denominator,
                       floor_div(floor.coefficient, denominator));
    rest.add_floor(floor.numerator, floor.denominator, modulo(floor.coefficient, denominator));
    divisor = std::gcd(divisor, modulo(floor.coefficient, denominator));
  }
  quotient.add_constant(floor_div(numerator.constant_, denominator));
  if (rest.is_constant()) return quotient;
  rest.constant_ = floor_div(modulo(numerator.constant_, denominator), divisor);
  for (LinearTerm& term : rest.terms_) term.coefficient /= divisor;
  for (FloorTerm& floor : rest.floors_) floor.coefficient /= divisor;
  std::int64_t reduced = denominator / divisor;
  if (rest.terms_.empty() && rest.floors_.size() == 1 && rest.floors_[0].coefficient == 1) {
    const FloorTerm& inner = rest.floors_[0];
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(inner.denominator, reduced, &product)) {
      return quotient +
             floor_div(inner.numerator + AffineExpr(rest.constant_) * inner.denominator, product);
    }
  }
  quotient.add_floor(rest, reduced, 1);
  return quotient;
}

AffineExpr ceil_div(const AffineExpr& numerator, std::int64_t denominator) {
  return floor_div(numerator + AffineExpr(denominator - 1), denominator);
}

AffineExpr modulo(const AffineExpr& numerator, std::int64_t denominator) {
  return numerator - floor_div(numerator, denominator) * denominator;
}

AffineExpr AffineExpr::substituted(std::string_view name, const AffineExpr& by) const {
  AffineExpr result(constant_);
  result.overflowed_ = overflowed_;
  for (const LinearTerm& term : terms_) {
    if (term.name == name) {
      result = result + by * term.coefficient;
    } else {
      result.add_term(term.name, term.coefficient);
    }
  }
  for (const FloorTerm& floor : floors_) {
    result = result + floor_div(floor.numerator.substituted(name, by), floor.denominator) *
                          floor.coefficient;
  }
  return result;
}

std::optional<std::int64_t> AffineExpr::evaluate(const Binding& values) const {
  if (overflowed_) return std::nullopt;
  std::int64_t sum = constant_;
  std::int64_t product = 0;
  for (const LinearTerm& term : terms_) {
    auto value = values.find(term.name);
    if (value == values.end()) return std::nullopt;
    if (__builtin_mul_overflow(term.coefficient, value->second, &product)) return std::nullopt;
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  for (const FloorTerm& floor : floors_) {
    std::optional<std::int64_t> inner = floor.numerator.evaluate(values);
    if (!inner) return std::nullopt;
    std::int64_t quotient = floor_div(*inner, floor.denominator);
    if (__builtin_mul_overflow(floor.coefficient, quotient, &product)) return std::nullopt;
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

static void append_product(std::string& out, std::int64_t coefficient, const std::string& factor) {
  bool negative = coefficient < 0;
  if (out.empty()) {
    if (negative) out += "-";
  } else {
    out += negative ? " - " : " + ";
  }
  std::string digits = std::to_string(coefficient);
  if (negative) digits.erase(0, 1);
  if (factor.empty()) {
    out += digits;
  } else if (digits == "1") {
    out += factor;
  } else {
    out += digits + "*" + factor;
  }
}

std::string AffineExpr::text() const {
  std::string out;
  for (const LinearTerm& term : terms_) append_product(out, term.coefficient, term.name);
  for (const FloorTerm& floor : floors_) {
    std::string inner = floor.numerator.text();
    if (inner.find_first_of(" *") != std::string::npos) inner = "(" + inner + ")";
    append_product(out, floor.coefficient,
                   "floor(" + inner + "/" + std::to_string(floor.denominator) + ")");
  }
  if (constant_ != 0 || out.empty()) append_product(out, constant_, "");
  return overflowed_ ? "overflow(" + out + ")" : out;
}

std::size_t AffineExpr::hash() const {
  std::size_t seed = mixed(overflowed_ ? 1 : 0, static_cast<std::size_t>(constant_));
  for (const LinearTerm& term : terms_) {
    seed = mixed(seed, std::hash<std::string>()(term.name));
    seed = mixed(seed, static_cast<std::size_t>(term.coefficient));
  }
  for (const FloorTerm& floor : floors_) {
    seed = mixed(seed, static_cast<std::size_t>(floor.coefficient));
    seed = mixed(seed, floor.numerator.hash());
    seed = mixed(seed, static_cast<std::size_t>(floor.denominator));
  }
  return seed;
}

bool operator==(const AffineExpr& a, const AffineExpr& b) { return (a <=> b) == 0; }

std::strong_ordering operator<=>(const AffineExpr& a, const AffineExpr& b) {
  if (auto order = a.overflowed_ <=> b.overflowed_; order != 0) return order;
  if (auto order = a.terms_ <=> b.terms_; order != 0) return order;
  if (auto order = a.floors_.size() <=> b.floors_.size(); order != 0) return order;
  for (std::size_t i = 0; i < a.floors_.size(); ++i) {
    const FloorTerm& right = b.floors_[i];
    if (auto order = compared(a.floors_[i], right.numerator, right.denominator); order != 0) {
      return order;
    }
    if (auto order = a.floors_[i].coefficient <=> right.coefficient; order != 0) return order;
  }
  return a.constant_ <=> b.constant_;
}

}  // namespace tilewright::poly
