// SPDX-License-Identifier: Apache-2.0
//
// Concrete instances of an algorithm, found by counting: what the counterexample of a refusal is made of.
// Nothing here asks isl, except for sizes to begin with. Laws: sizes that are given satisfy the declared
// ranges, `requires` and the guards, by evaluation; a point that is given lies in its equation's domain; a
// read that is given is one that evaluation touches at that point, as far as conditions on indices decide it.
// Tests: tests/unit/schedules/polyhedra/instances_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ir/algorithm.h"
#include "schedules/polyhedra/context.h"

namespace tilewright::poly {

// Of extents, indices and fold variables, by name.
using Values = ir::Bindings;
using Evidence = std::vector<std::pair<std::string, std::string>>;
Evidence with(Evidence evidence, const Evidence& more);

// The value of an Index or Bool expression. Nothing where it reads a tensor, a name has no value, a divisor
// is not positive or a step leaves 64 bits.
std::optional<std::int64_t> evaluate_index(ir::Expr expr, const Values& values);

// The sizes that an algorithm allows, small ones first.
class AllowedSizes {
 public:
  AllowedSizes(const ir::Algorithm& algorithm, const std::vector<ir::Expr>& guards = {});

  // Tries extents around this value too: a factor of the schedule, past which something changes.
  void try_around(std::int64_t value) { hints_.push_back(value); }
  // The first sizes, in a fixed order and among a bounded number, that are accepted.
  std::optional<Values> find(const std::function<bool(const Values&)>& accepts) const;
  // `M = 7, N = 1`, in the order of declaration.
  std::string text(const Values& sizes) const;

 private:
  bool allowed(const Values& sizes) const;

  const ir::Algorithm& algorithm_;
  std::vector<ir::Expr> conditions_;
  std::vector<std::int64_t> hints_;
  std::optional<Values> smallest_;
};

// The first of the conditions after which no sizes are left that the algorithm allows, as far as they are
// affine.
std::optional<std::size_t> first_contradiction(const ir::Algorithm& algorithm,
                                               const std::vector<ir::Expr>& conditions);

// The first point of the equation, in order and among a bounded number, that is accepted: `sizes` and the
// values of its indices and fold variables. `gave_up`: whether points were left out.
std::optional<Values> find_instance(const ir::Equation& equation, const Values& sizes,
                                    const std::function<bool(const Values&)>& accepts,
                                    bool* gave_up = nullptr);
// `c[0, 3] at k = 2`.
std::string instance_text(const ir::Equation& equation, const Values& point);

// A cell that evaluation touches.
struct CellRead {
  Symbol tensor;
  std::vector<std::int64_t> cell;
  std::string text() const;  // `e[0, 2]`
};
// The first read of `tensor` at the point, directly or through equations in `inlined`; nothing when there is
// none, or its index depends on data.
std::optional<CellRead> find_read(const ir::Algorithm& algorithm,
                                  const std::function<bool(Symbol)>& inlined,
                                  const ir::Equation& equation, const Values& point, Symbol tensor);

}  // namespace tilewright::poly
