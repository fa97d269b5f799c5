// SPDX-License-Identifier: Apache-2.0
//
// Normal form of bounds: arithmetic lives in the leaves, extrema are flat and sorted.
#include "schedules/polyhedra/bound_expr.h"

#include <algorithm>

#include "schedules/polyhedra/text.h"

namespace tilewright::poly {

BoundExpr::BoundExpr(AffineExpr affine)
    : node_(std::make_shared<const Node>(Node{Kind::Affine, std::move(affine), {}, {}})) {}

BoundExpr BoundExpr::min(std::vector<BoundExpr> operands) {
  return extremum(Kind::Min, std::move(operands));
}

BoundExpr BoundExpr::max(std::vector<BoundExpr> operands) {
  return extremum(Kind::Max, std::move(operands));
}

// Keeps the decisive one of two leaves that differ by a constant. False when they do not.
static bool merge_leaf(BoundExpr::Kind kind, BoundExpr& kept, const BoundExpr& next) {
  if (kept.kind() != BoundExpr::Kind::Affine || next.kind() != BoundExpr::Kind::Affine) {
    return false;
  }
  AffineExpr difference = next.affine() - kept.affine();
  if (!difference.is_constant() || difference.overflowed()) return false;
  bool next_decides =
      kind == BoundExpr::Kind::Min ? difference.constant() < 0 : difference.constant() > 0;
  if (next_decides) kept = next;
  return true;
}

BoundExpr BoundExpr::extremum(Kind kind, std::vector<BoundExpr> operands) {
  std::vector<BoundExpr> flat;
  auto add = [&](const BoundExpr& operand) {
    for (BoundExpr& kept : flat) {
      if (kept == operand || merge_leaf(kind, kept, operand)) return;
    }
    flat.push_back(operand);
  };
  for (const BoundExpr& operand : operands) {
    if (operand.kind() != kind) {
      add(operand);
      continue;
    }
    for (const BoundExpr& inner : operand.operands()) add(inner);
  }
  if (flat.size() == 1) return flat.front();
  std::sort(flat.begin(), flat.end());
  return BoundExpr(std::make_shared<const Node>(Node{kind, {}, {}, std::move(flat)}));
}

BoundExpr BoundExpr::select(BasicSet condition, BoundExpr then, BoundExpr otherwise) {
  if (then == otherwise) return then;
  return BoundExpr(std::make_shared<const Node>(
      Node{Kind::Select, {}, std::move(condition), {std::move(then), std::move(otherwise)}}));
}

// Applies a monotone function to every leaf; `flips` where it is decreasing.
template <class Function>
BoundExpr BoundExpr::mapped(bool flips, const Function& function) const {
  if (kind() == Kind::Affine) return function(affine());
  std::vector<BoundExpr> results;
  for (const BoundExpr& operand : operands()) results.push_back(operand.mapped(flips, function));
  if (kind() == Kind::Select) return select(condition(), results[0], results[1]);
  bool minimum = (kind() == Kind::Min) != flips;
  return extremum(minimum ? Kind::Min : Kind::Max, std::move(results));
}

BoundExpr BoundExpr::operator+(const BoundExpr& other) const {
  if (other.kind() != Kind::Affine) {
    return other.mapped(false, [&](const AffineExpr& leaf) { return *this + BoundExpr(leaf); });
  }
  return mapped(false, [&](const AffineExpr& leaf) { return BoundExpr(leaf + other.affine()); });
}

BoundExpr BoundExpr::operator*(std::int64_t factor) const {
  return mapped(factor < 0, [&](const AffineExpr& leaf) { return BoundExpr(leaf * factor); });
}

BoundExpr floor_div(const BoundExpr& numerator, std::int64_t denominator) {
  return numerator.mapped(
      false, [&](const AffineExpr& leaf) { return BoundExpr(floor_div(leaf, denominator)); });
}

BoundExpr ceil_div(const BoundExpr& numerator, std::int64_t denominator) {
  return floor_div(numerator + BoundExpr(denominator - 1), denominator);
}

std::optional<std::int64_t> BoundExpr::as_constant() const {
  if (kind() != Kind::Affine || !affine().is_constant() || affine().overflowed()) {
    return std::nullopt;
  }
  return affine().constant();
}

bool BoundExpr::overflowed() const {
  return affine().overflowed() ||
         std::any_of(operands().begin(), operands().end(),
                     [](const BoundExpr& operand) { return operand.overflowed(); });
}

std::optional<std::int64_t> BoundExpr::evaluate(const Binding& values) const {
  if (kind() == Kind::Affine) return affine().evaluate(values);
  if (kind() == Kind::Select) {
    std::optional<bool> holds = condition().contains(values);
    if (!holds) return std::nullopt;
    return operands()[*holds ? 0 : 1].evaluate(values);
  }
  std::optional<std::int64_t> best;
  for (const BoundExpr& operand : operands()) {
    std::optional<std::int64_t> value = operand.evaluate(values);
    if (!value) return std::nullopt;
    if (!best || (kind() == Kind::Min ? *value < *best : *value > *best)) best = value;
  }
  return best;
}

static BasicSet substituted(const BasicSet& set, std::string_view name, const AffineExpr& by) {
  BasicSet result;
  for (const AffineExpr& e : set.equalities) result.equalities.push_back(e.substituted(name, by));
  for (const AffineExpr& e : set.inequalities) {
    result.inequalities.push_back(e.substituted(name, by));
  }
  return result;
}

BoundExpr BoundExpr::substituted(std::string_view name, const AffineExpr& by) const {
  if (kind() == Kind::Affine) return BoundExpr(affine().substituted(name, by));
  std::vector<BoundExpr> results;
  for (const BoundExpr& operand : operands()) results.push_back(operand.substituted(name, by));
  if (kind() == Kind::Select) {
    return select(poly::substituted(condition(), name, by), results[0], results[1]);
  }
  return extremum(kind(), std::move(results));
}

void BoundExpr::collect_names(std::vector<std::string>& names) const {
  affine().collect_names(names);
  for (const AffineExpr& expr : condition().equalities) expr.collect_names(names);
  for (const AffineExpr& expr : condition().inequalities) expr.collect_names(names);
  for (const BoundExpr& operand : operands()) operand.collect_names(names);
}

std::string BoundExpr::text() const {
  if (kind() == Kind::Affine) return affine().text();
  std::string out = kind() == Kind::Min ? "min(" : kind() == Kind::Max ? "max(" : "select(";
  if (kind() == Kind::Select) out += conjunction_text(condition()) + ", ";
  for (std::size_t i = 0; i < operands().size(); ++i) {
    if (i != 0) out += ", ";
    out += operands()[i].text();
  }
  return out + ")";
}

std::size_t BoundExpr::hash() const {
  std::size_t seed = affine().hash() * 31 + static_cast<std::size_t>(kind());
  seed = seed * 31 + hash_of({condition()});
  for (const BoundExpr& operand : operands()) seed = seed * 31 + operand.hash();
  return seed;
}

bool operator==(const BoundExpr& a, const BoundExpr& b) { return (a <=> b) == 0; }

std::strong_ordering operator<=>(const BoundExpr& a, const BoundExpr& b) {
  if (a.node_ == b.node_) return std::strong_ordering::equal;
  if (auto order = a.kind() <=> b.kind(); order != 0) return order;
  if (auto order = a.affine() <=> b.affine(); order != 0) return order;
  if (auto order = a.condition() <=> b.condition(); order != 0) return order;
  const std::vector<BoundExpr>& left = a.operands();
  const std::vector<BoundExpr>& right = b.operands();
  if (auto order = left.size() <=> right.size(); order != 0) return order;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (auto order = left[i] <=> right[i]; order != 0) return order;
  }
  return std::strong_ordering::equal;
}

}  // namespace tilewright::poly
