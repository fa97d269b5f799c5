// SPDX-License-Identifier: Apache-2.0
//
// Printing of constraints, sets and maps.
#include "schedules/polyhedra/text.h"

namespace tilewright::poly {

static constexpr std::size_t kMaxTextLength = 16384;
static constexpr int kMaxNesting = 64;

std::string name_list(const std::vector<std::string>& names) {
  std::string out = "[";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) out += ", ";
    out += names[i];
  }
  return out + "]";
}

std::string constraint_text(const AffineExpr& expr, bool is_equality) {
  AffineExpr left;
  AffineExpr right;
  for (const LinearTerm& term : expr.terms()) {
    AffineExpr& side = term.coefficient > 0 ? left : right;
    AffineExpr part = AffineExpr::variable(term.name, term.coefficient);
    side = side + (term.coefficient > 0 ? part : -part);
  }
  for (const FloorTerm& floor : expr.floors()) {
    AffineExpr part = floor_div(floor.numerator, floor.denominator) * floor.coefficient;
    if (floor.coefficient > 0) {
      left = left + part;
    } else {
      right = right - part;
    }
  }
  if (expr.constant() > 0) {
    left = left + AffineExpr(expr.constant());
  } else {
    right = right - AffineExpr(expr.constant());
  }
  return left.text() + (is_equality ? " = " : " >= ") + right.text();
}

std::string conjunction_text(const BasicSet& piece) {
  std::string out;
  auto append = [&](const AffineExpr& expr, bool is_equality) {
    if (!out.empty()) out += " and ";
    out += constraint_text(expr, is_equality);
  };
  for (const AffineExpr& expr : piece.equalities) append(expr, true);
  for (const AffineExpr& expr : piece.inequalities) append(expr, false);
  return out.empty() ? "true" : out;
}

std::string set_text(const std::vector<std::string>& params, const std::string& tuple,
                     const std::vector<BasicSet>& pieces) {
  std::string out = params.empty() ? "{ " : name_list(params) + " -> { ";
  if (pieces.empty()) return out + tuple + " : false }";
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i != 0) out += "; ";
    out += tuple;
    bool universe = pieces[i].equalities.empty() && pieces[i].inequalities.empty();
    if (!universe) out += " : " + conjunction_text(pieces[i]);
  }
  return out + " }";
}

std::optional<bool> any_contains(const std::vector<BasicSet>& pieces, const Binding& values) {
  bool inside = false;
  for (const BasicSet& piece : pieces) {
    std::optional<bool> one = piece.contains(values);
    if (!one) return std::nullopt;
    inside = inside || *one;
  }
  return inside;
}

std::size_t hash_of(const std::vector<BasicSet>& pieces) {
  std::size_t seed = pieces.size();
  for (const BasicSet& piece : pieces) {
    seed = seed * 31 + piece.equalities.size();
    for (const AffineExpr& expr : piece.equalities) seed = seed * 31 + expr.hash();
    for (const AffineExpr& expr : piece.inequalities) seed = seed * 31 + expr.hash();
  }
  return seed;
}

Result<Ok> check_text(std::string_view text) {
  int depth = 0;
  bool too_deep = false;
  for (char c : text) {
    if (c == '(' || c == '[' || c == '{') too_deep |= ++depth > kMaxNesting;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  if (!too_deep && text.size() <= kMaxTextLength) return Ok{};
  return fail(Code::PolyhedraFailure, Span{}, "the text of a set is too long or nests too deeply",
              "write at most 16384 characters and 64 levels of brackets");
}

}  // namespace tilewright::poly
