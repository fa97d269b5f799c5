// SPDX-License-Identifier: Apache-2.0
//
// An exact simplex over the rationals, private to this room: integer variables that may have any sign, and
// constraints `row >= 0` as slacks that may not be negative. Each row is a fraction-free linear form in the
// columns (the non-basic variables), which are 0 at the current vertex. Law: after `solve() == Feasible` no
// slack is negative at the vertex; after Infeasible, `conflict()` holds positive factors of constraints whose sum
// is a negative constant. Numbers that leave 62 bits, and the end of the work, end in Stopped.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowering/proof/numbers.h"

namespace tilewright::proof {

// Touched rows, over all tableaus of a search.
struct Work {
  std::uint64_t limit = 0;
  std::uint64_t done = 0;
  bool is_spent() const { return done > limit; }
};

enum class SolveStatus { Feasible, Infeasible, Stopped };

// factor * constraint
struct Multiple {
  Int factor = 0;
  std::uint32_t constraint = 0;
};

class Tableau {
 public:
  Tableau(std::size_t num_variables, Work& work) : num_variables_(num_variables), work_(&work) {}

  // Constraints are numbered in the order of calls; coefficients, then the constant. False: overflow.
  bool add(const std::vector<Int>& row);
  SolveStatus solve();
  // After Infeasible.
  const std::vector<Multiple>& conflict() const { return conflict_; }

  // At the vertex; denominators are positive.
  struct Fraction {
    Int numerator = 0;
    Int denominator = 1;
  };
  Fraction value(std::size_t variable) const;

  // A combination of constraints that, divided by a common divisor and rounded down, cuts off the vertex, where
  // the variable is not an integer. Nothing when the variable is one, or no such combination shows.
  std::vector<Multiple> cut(std::size_t variable) const;

  struct Maximum {
    enum class Kind { Finite, Unbounded, Stopped } kind = Kind::Stopped;
    Fraction value;
    // Of Unbounded: integers in whose direction the form grows and no constraint falls.
    std::vector<Int> ray;
  };
  // The largest value of a constraint's form. Precondition: the vertex is feasible; leaves it so.
  Maximum maximize(std::uint32_t constraint);
  // A row that is 0 wherever all constraints hold, seen at this vertex: factors (of positive sign) of
  // constraints whose sum is 0.
  std::vector<Multiple> zero_sum() const;

 private:
  // Variables have numbers below num_variables_, the slack of a constraint the rest.
  using Id = std::uint32_t;
  // basic = (sum of entries * columns + last entry) / denominator
  struct Row {
    Id basic = 0;
    Int denominator = 1;
    std::vector<Int> entries;
  };

  bool is_slack(Id id) const { return id >= num_variables_; }
  Multiple multiple(Int factor, Id id) const {
    return {factor, static_cast<std::uint32_t>(id - num_variables_)};
  }
  bool free_columns();
  bool pivot(std::size_t row, std::size_t column);
  bool replace_column(Row& target, const Row& by, std::size_t column);
  bool substitute(Row& target, Int factor, const Row& by);
  std::size_t violated(bool smallest) const;
  std::size_t entering(const Row& row, bool smallest) const;
  const Row* basic_row(Id id) const;
  Maximum unbounded(std::size_t column) const;
  std::optional<std::size_t> leaving(std::size_t column, std::size_t but) const;

  std::size_t num_variables_ = 0;
  Work* work_;
  std::vector<Id> columns_;
  std::vector<Row> rows_;
  std::uint32_t num_constraints_ = 0;
  std::vector<Multiple> conflict_;
  std::vector<Wide> scratch_;
};

}  // namespace tilewright::proof
