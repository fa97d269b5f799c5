// SPDX-License-Identifier: Apache-2.0
//
// The facts of one branch of the search over coordinates of its own, private to this room. Coordinates z and
// the variables x of the evidence are related by a unimodular matrix, so integers are integers, common divisors
// and combinations the same, and a fact is the same fact in both. Laws: every line is a fact of `Derivations`
// plus multiples of solved equalities; a solved coordinate stands in no other line. Tests:
// tests/unit/lowering/proof/emptiness_test.cpp.
#pragma once

#include <optional>
#include <vector>

#include "lowering/proof/derivation.h"
#include "lowering/proof/facts.h"
#include "lowering/proof/tableau.h"

namespace tilewright::proof {

enum class Status { Good, Contradiction, Stopped };

// `numbers`: one for each coordinate, the constant, then the factor of each solved equality that the line
// has more than its fact.
struct Line {
  FactId fact = 0;
  std::vector<Int> numbers;
};

class Lattice {
 public:
  Lattice(const std::vector<Fact>& facts, std::size_t num_variables, Derivations& derivations,
          Work& work);

  // Where new facts and the end go. To be set before anything else is called.
  void write_to(Branch& branch) { branch_ = &branch; }

  // Solves all equalities and lets opposite inequalities become equalities, until none is left. After a
  // contradiction the branch has its end.
  Status settle();
  // Sum of factor * line is a contradiction: ends the branch.
  Status end(const std::vector<Multiple>& factors);
  // Adds the sum of factor * line, divided and rounded, as a line.
  Status add_cut(const std::vector<Multiple>& factors);
  // Sum of factor * line is 0 with positive factors: all of these become equalities.
  Status equate(const std::vector<Multiple>& factors);
  // sum of coordinates * direction + constant >= 0, a case.
  FactId assume(std::vector<Int> direction, Int constant);

  // Inequalities, no two of them parallel after `settle`.
  const std::vector<Line>& lines() const { return lines_; }
  Int constant(const Line& line) const { return line.numbers[n_]; }
  bool has_equalities() const { return !equalities_.empty(); }
  std::size_t num_coordinates() const { return n_; }
  void keep_lines(const std::vector<bool>& keep);
  // Changes coordinates so that the lines are over as few of them as they have rank.
  Status concentrate();

  // Coordinates that stand in some line.
  std::vector<std::size_t> active() const;
  // The form over variables that a form over coordinates is; nothing when it leaves 62 bits.
  std::optional<std::vector<Int>> over_variables(const std::vector<Int>& direction) const;
  // Values of the variables where the coordinates are `at` (of solved ones nothing is read). For a direction
  // constants do not count.
  std::optional<std::vector<Int>> variables_at(const std::vector<Int>& at, bool is_direction) const;

 private:
  struct Solved {
    Line line;
    std::size_t coordinate = 0;
  };

  // Adds what the line is, times the factor.
  bool gather(Combination& sum, const Line& line, Int factor) const;
  // Makes the line a fact without further multiples.
  bool make_own(Line& line, bool is_step);
  enum class Tidy { Good, Always, Never, Stopped };
  Tidy tidy(Line& line, bool equality);
  Status finish(const Line& line);
  std::optional<Line> sum_of(const std::vector<Multiple>& factors) const;
  FactId made(FactId fact);
  Status solve_equalities();
  Status solve_one(std::size_t equality);
  Status reduce(std::vector<Line>& lines, bool equalities);
  Status join_opposites(bool& found);
  Status make_equality(const Line& line, FactId opposite);
  bool shear(std::size_t by, std::size_t column, Int factor);
  // Changes coordinates until only one that is not blocked stands in the line, or, if that will do, one stands
  // in it with factor 1 or -1.
  Status isolate(const Line& line, const std::vector<bool>& blocked, bool unit_will_do);

  std::size_t n_ = 0;
  Derivations* derivations_;
  Work* work_;
  Branch* branch_ = nullptr;
  std::vector<Line> lines_;
  std::vector<Line> equalities_;
  std::vector<Solved> solved_;
  std::vector<bool> is_solved_;
  // Row j: coordinate j as a form over variables.
  std::vector<Int> forms_;
  // Row i: variable i as a form over coordinates.
  std::vector<Int> values_;
};

}  // namespace tilewright::proof
