// SPDX-License-Identifier: Apache-2.0
//
// A union of pieces is guessed to be one conjunction: of constraints that hold in all pieces, and of residues that
// they share. Residues by 64 of `lane` and `lane + 32` are residues by 32 of `lane`, and so on down a tree.
#include "lowering/proof/points.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace tilewright::proof {

namespace {

using poly::AffineExpr;
using poly::BasicSet;
using poly::Set;

// `value` is a multiple of `modulus`; of modulus 0, it is 0.
struct Residue {
  AffineExpr value;
  std::int64_t modulus = 0;
};

// An equality n - m * floor((n + r) / m) = 0, 0 <= r < m, says that m divides n.
std::optional<Residue> residue(const AffineExpr& equality) {
  if (equality.floors().empty()) return Residue{equality, 0};
  if (equality.floors().size() != 1) return {};
  const poly::FloorTerm& floor = equality.floors()[0];
  const std::int64_t sign = floor.coefficient < 0 ? 1 : -1;
  if (floor.coefficient * -sign != floor.denominator) return {};
  const AffineExpr floor_part =
      poly::floor_div(floor.numerator, floor.denominator) * floor.coefficient;
  const AffineExpr value = (equality - floor_part) * sign;
  const AffineExpr rest = floor.numerator - value;
  if (!value.floors().empty() || !rest.is_constant() || rest.constant() < 0 ||
      rest.constant() >= floor.denominator)
    return {};
  return Residue{value, floor.denominator};
}

class Hull {
 public:
  Hull(poly::Context& polyhedra, const Set& around, const BasicSet& hints,
       const poly::Limits& limits)
      : polyhedra_(polyhedra), around_(around), hints_(hints), limits_(limits) {}

  // One conjunction with the same points, or nothing.
  Result<std::optional<BasicSet>> of(const std::vector<BasicSet>& pieces) {
    BasicSet out;
    for (const AffineExpr& hint : hints_.inequalities) TILEWRIGHT_CHECK_OK(keep(out, hint, pieces));
    for (std::size_t which = 0; which < pieces.size(); ++which) {
      for (const AffineExpr& expr : pieces[which].inequalities)
        TILEWRIGHT_CHECK_OK(keep(out, expr, pieces));
      for (const AffineExpr& expr : pieces[which].equalities) {
        if (which == 0)
          if (const auto shared = shared_residue(expr, pieces))
            out.equalities.push_back(
                shared->value - poly::floor_div(shared->value, shared->modulus) * shared->modulus);
        if (!expr.floors().empty()) continue;
        TILEWRIGHT_CHECK_OK(keep(out, expr, pieces));
        TILEWRIGHT_CHECK_OK(keep(out, -expr, pieces));
      }
    }
    const Set hull(around_.space(), out);
    TILEWRIGHT_TRY(inside, poly::intersect(polyhedra_, hull, around_, limits_));
    TILEWRIGHT_TRY(same,
                   poly::is_subset(polyhedra_, inside, Set(around_.space(), pieces), limits_));
    return same ? std::optional(out) : std::nullopt;
  }

 private:
  Result<Ok> keep(BasicSet& out, const AffineExpr& inequality,
                  const std::vector<BasicSet>& pieces) {
    auto& kept = out.inequalities;
    if (std::find(kept.begin(), kept.end(), inequality) != kept.end()) return Ok{};
    BasicSet half;
    half.inequalities.push_back(inequality);
    for (const BasicSet& piece : pieces) {
      const auto& own = piece.inequalities;
      if (std::find(own.begin(), own.end(), inequality) != own.end()) continue;
      TILEWRIGHT_TRY(inside,
                     poly::intersect(polyhedra_, Set(around_.space(), piece), around_, limits_));
      TILEWRIGHT_TRY(holds,
                     poly::is_subset(polyhedra_, inside, Set(around_.space(), half), limits_));
      if (!holds) return Ok{};
    }
    kept.push_back(inequality);
    return Ok{};
  }

  static std::optional<Residue> shared_residue(const AffineExpr& equality,
                                               const std::vector<BasicSet>& pieces) {
    auto out = residue(equality);
    if (!out) return {};
    for (const BasicSet& piece : pieces) {
      std::int64_t best = 1;
      for (const AffineExpr& other : piece.equalities) {
        const auto found = residue(other);
        if (!found) continue;
        for (const AffineExpr& apart : {found->value - out->value, found->value + out->value}) {
          std::int64_t shared = std::gcd(std::gcd(out->modulus, found->modulus), apart.constant());
          for (const poly::LinearTerm& term : apart.terms())
            shared = std::gcd(shared, term.coefficient);
          // 0: the same equality.
          if (shared == 0 || best == 0)
            best = 0;
          else
            best = std::max(best, shared);
        }
      }
      out->modulus = best;
    }
    return out->modulus > 1 ? out : std::nullopt;
  }

  poly::Context& polyhedra_;
  const Set& around_;
  const BasicSet& hints_;
  const poly::Limits& limits_;
};

}  // namespace

Result<Set> compact(poly::Context& polyhedra, const Set& points, const Set& around,
                    const BasicSet& hints, const poly::Limits& limits) {
  if (points.pieces().size() < 2) return points;
  TILEWRIGHT_TRY(simple, poly::simplify(polyhedra, points, limits));
  std::vector<BasicSet> pieces = simple.pieces();
  if (pieces.size() < 2) return simple;
  Hull hull(polyhedra, around, hints, limits);
  TILEWRIGHT_TRY(whole, hull.of(pieces));
  if (whole) return Set(simple.space(), *whole);
  for (std::size_t a = 0; a < pieces.size(); ++a) {
    for (std::size_t b = a + 1; b < pieces.size();) {
      TILEWRIGHT_TRY(both, hull.of({pieces[a], pieces[b]}));
      if (!both) {
        ++b;
        continue;
      }
      pieces[a] = *both;
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(b));
      b = a + 1;
    }
  }
  return Set(simple.space(), std::move(pieces));
}

}  // namespace tilewright::proof
