// SPDX-License-Identifier: Apache-2.0
//
// Bounds as expressions: minima, maxima and selections over quasi-affine leaves. What bounds inference
// hands to `build`. Law: normal form. Arithmetic is pushed into the leaves (min(a, b) + c becomes
// min(a + c, b + c)), nested minima are flat, operands sorted and without duplicates, and operands whose
// difference is a constant are reduced to one. Tests: tests/unit/schedules/polyhedra/bounds_test.cpp.
#pragma once

#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedules/polyhedra/set.h"

namespace tilewright::poly {

class BoundExpr {
 public:
  enum class Kind { Affine, Min, Max, Select };

  BoundExpr() : BoundExpr(AffineExpr()) {}
  BoundExpr(AffineExpr affine);
  BoundExpr(std::int64_t constant) : BoundExpr(AffineExpr(constant)) {}
  // Precondition: operands is not empty.
  static BoundExpr min(std::vector<BoundExpr> operands);
  static BoundExpr max(std::vector<BoundExpr> operands);
  // `then` where the condition holds, otherwise `otherwise`.
  static BoundExpr select(BasicSet condition, BoundExpr then, BoundExpr otherwise);

  Kind kind() const { return node_->kind; }
  // The leaf; zero for other kinds.
  const AffineExpr& affine() const { return node_->affine; }
  // Of Select; no constraint for other kinds.
  const BasicSet& condition() const { return node_->condition; }
  // Of Min and Max: at least two. Of Select: then, otherwise. Of Affine: none.
  const std::vector<BoundExpr>& operands() const { return node_->operands; }

  // The value when it is a literal.
  std::optional<std::int64_t> as_constant() const;
  // True when some leaf left 64 bits.
  bool overflowed() const;
  std::optional<std::int64_t> evaluate(const Binding& values) const;
  BoundExpr substituted(std::string_view name, const AffineExpr& by) const;
  void collect_names(std::vector<std::string>& names) const;
  // `min(M, 96*io + 96)`
  std::string text() const;
  std::size_t hash() const;

  BoundExpr operator+(const BoundExpr& other) const;
  BoundExpr operator-(const BoundExpr& other) const { return *this + other * -1; }
  BoundExpr operator*(std::int64_t factor) const;
  // Rounds towards minus infinity. Precondition: denominator > 0.
  friend BoundExpr floor_div(const BoundExpr& numerator, std::int64_t denominator);

  friend bool operator==(const BoundExpr&, const BoundExpr&);
  friend std::strong_ordering operator<=>(const BoundExpr&, const BoundExpr&);

 private:
  struct Node {
    Kind kind = Kind::Affine;
    AffineExpr affine;
    BasicSet condition;
    std::vector<BoundExpr> operands;
  };
  explicit BoundExpr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static BoundExpr extremum(Kind kind, std::vector<BoundExpr> operands);
  template <class Function>
  BoundExpr mapped(bool flips, const Function& function) const;

  std::shared_ptr<const Node> node_;
};

BoundExpr floor_div(const BoundExpr& numerator, std::int64_t denominator);
// Rounds towards plus infinity. Precondition: denominator > 0.
BoundExpr ceil_div(const BoundExpr& numerator, std::int64_t denominator);

}  // namespace tilewright::poly
