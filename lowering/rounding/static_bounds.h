// SPDX-License-Identifier: Apache-2.0
//
// A rounding bound for every output of a Program, as formulas in the sizes, the magnitudes of the inputs and facts of
// the data: how large arguments of exponentials are and how small divisors. It follows the Program's own operations
// and the depth of its folds: each buffer has a size and an error, a buffer that is made of itself grows by as
// many steps as its loops take it through. Law: at any sizes and inputs within the magnitudes no output is further
// from exact arithmetic than its formula says, decisions near a tie taken as the run took them. It may be far from
// tight, and infinite; running.h is tight, for given data.
// Tests: tests/laws/rounding_test.cpp, tests/text/proof/bounds.test.
#pragma once

#include <string>
#include <vector>

#include "frontend/base/result.h"
#include "lowering/program/program.h"
#include "lowering/rounding/formula.h"
#include "lowering/rounding/units.h"

namespace tilewright::rounding {

// What a formula takes to be known of the data. Most: no argument of the function is larger. Least: no
// divisor, or argument of a root or logarithm, is smaller in size.
struct Fact {
  enum class Kind : std::uint8_t { Most, Least } kind = Kind::Most;
  std::string name;  // "most1"
  ir::Expr operation;
  std::string statement;  // its first line
};

struct Definition {
  std::string name;  // "|acc|": of the exact values; "err(acc)": distance of the computed ones
  Formula value;
};

struct OutputBound {
  Symbol output;
  std::string size;
  std::string error;
  bool exact = false;  // an integer or a condition: no rounding
};

struct StaticBounds {
  std::vector<Definition> definitions;  // each of names before it, of sizes, "|input|" and facts
  std::vector<Fact> facts;
  // No type overflows as long as each is at most its limit.
  struct Range {
    Formula size;
    double limit = 0;
  };
  std::vector<Range> ranges;
  std::vector<OutputBound> outputs;

  // All names; an error is infinite where a type may overflow.
  Names evaluate(Names given) const;
};

// E0820 for a Program with agents or complex numbers.
Result<StaticBounds> static_bounds(ir::Context& context, const program::Program& program,
                                   const Units& units);

}  // namespace tilewright::rounding
