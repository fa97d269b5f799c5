// SPDX-License-Identifier: Apache-2.0
//
// Quasi-affine expressions over named integer symbols: a constant, symbols times integer literals, and
// floor divisions of such expressions by positive literals, times integer literals. Plain values: no isl
// type appears here. Laws: the form is canonical (terms sorted by name, equal floors merged, multiples of
// a denominator pulled out of its floor), and arithmetic is exact: a coefficient that leaves 64 bits makes
// the expression `overflowed()`, which every operation on sets refuses with E0702.
// Tests: tests/unit/schedules/polyhedra/affine_test.cpp.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::poly {

// Values of symbols.
using Binding = std::map<std::string, std::int64_t, std::less<>>;

struct FloorTerm;

struct LinearTerm {
  std::string name;
  std::int64_t coefficient = 0;
  friend auto operator<=>(const LinearTerm&, const LinearTerm&) = default;
};

class AffineExpr {
 public:
  AffineExpr();
  AffineExpr(std::int64_t constant);
  // Defined below FloorTerm, which holds an AffineExpr.
  AffineExpr(const AffineExpr&);
  AffineExpr(AffineExpr&&) noexcept;
  AffineExpr& operator=(const AffineExpr&);
  AffineExpr& operator=(AffineExpr&&) noexcept;
  ~AffineExpr();
  static AffineExpr variable(std::string_view name, std::int64_t coefficient = 1);

  std::int64_t constant() const { return constant_; }
  // Sorted by name, no zero coefficient.
  const std::vector<LinearTerm>& terms() const { return terms_; }
  // Sorted, no zero coefficient.
  const std::vector<FloorTerm>& floors() const { return floors_; }
  // True when some coefficient left 64 bits: the value is then meaningless.
  bool overflowed() const { return overflowed_; }

  bool is_constant() const { return terms_.empty() && floors_.empty(); }
  // The coefficient outside floors.
  std::int64_t coefficient(std::string_view name) const;
  // True when the name occurs anywhere, floors included.
  bool mentions(std::string_view name) const;
  // Adds every name that occurs to `names`, sorted and without duplicates.
  void collect_names(std::vector<std::string>& names) const;

  AffineExpr substituted(std::string_view name, const AffineExpr& by) const;
  AffineExpr renamed(std::string_view from, std::string_view to) const {
    return substituted(from, variable(to));
  }
  // Nothing when a symbol has no value or a step leaves 64 bits.
  std::optional<std::int64_t> evaluate(const Binding& values) const;

  // isl's notation: `2*i + floor((j + 1)/4) - 3`.
  std::string text() const;
  std::size_t hash() const;

  AffineExpr operator-() const { return *this * -1; }
  AffineExpr operator+(const AffineExpr& other) const;
  AffineExpr operator-(const AffineExpr& other) const { return *this + -other; }
  AffineExpr operator*(std::int64_t factor) const;
  friend AffineExpr floor_div(const AffineExpr& numerator, std::int64_t denominator);

  friend bool operator==(const AffineExpr&, const AffineExpr&);
  friend std::strong_ordering operator<=>(const AffineExpr&, const AffineExpr&);

 private:
  void add_term(std::string_view name, std::int64_t coefficient);
  void add_floor(const AffineExpr& numerator, std::int64_t denominator, std::int64_t coefficient);
  void add_constant(std::int64_t value);

  std::int64_t constant_ = 0;
  std::vector<LinearTerm> terms_;
  std::vector<FloorTerm> floors_;
  bool overflowed_ = false;
};

// coefficient * floor(numerator / denominator), denominator > 0.
struct FloorTerm {
  std::int64_t coefficient = 0;
  AffineExpr numerator;
  std::int64_t denominator = 1;
};

inline AffineExpr::AffineExpr() = default;
inline AffineExpr::AffineExpr(std::int64_t constant) : constant_(constant) {}
inline AffineExpr::AffineExpr(const AffineExpr&) = default;
inline AffineExpr::AffineExpr(AffineExpr&&) noexcept = default;
inline AffineExpr& AffineExpr::operator=(const AffineExpr&) = default;
inline AffineExpr& AffineExpr::operator=(AffineExpr&&) noexcept = default;
inline AffineExpr::~AffineExpr() = default;

// Rounds towards minus infinity. Precondition: denominator > 0.
AffineExpr floor_div(const AffineExpr& numerator, std::int64_t denominator);
// Rounds towards plus infinity. Precondition: denominator > 0.
AffineExpr ceil_div(const AffineExpr& numerator, std::int64_t denominator);
// numerator - denominator * floor(numerator / denominator). Precondition: denominator > 0.
AffineExpr modulo(const AffineExpr& numerator, std::int64_t denominator);

// Floor division and the matching remainder of integers. Precondition: denominator > 0.
std::int64_t floor_div(std::int64_t numerator, std::int64_t denominator);
std::int64_t modulo(std::int64_t numerator, std::int64_t denominator);

}  // namespace tilewright::poly

template <>
struct std::hash<tilewright::poly::AffineExpr> {
  std::size_t operator()(const tilewright::poly::AffineExpr& expr) const { return expr.hash(); }
};
