// SPDX-License-Identifier: Apache-2.0
//
// A run that shows that a Program does not compute its algorithm: small sizes and deterministic inputs are tried,
// the cheap ones first. Law: `tilewright check --program FILE --sizes ... --seed ... --replay` with the sizes,
// seed and --wide of a counterexample shows it again.
// Tests: tests/laws/mutant_kinds_test.cpp.
#pragma once

#include <optional>

#include "lowering/check/check.h"

namespace tilewright::check {

struct RefuteOptions {
  std::int64_t step_budget = 1'000'000;  // of the runs together, about
  int seeds = 2;  // inputs for each choice of sizes; the last round has wide magnitudes
  // Tried too, whatever they cost: sizes at which the caller suspects a fault.
  std::vector<ir::Bindings> sizes;
  const ir::Algorithm* derived = nullptr;  // as in Options
};

struct Counterexample {
  Run run;
  // Where a cell differs: `c[0, 3]`; empty for a trap.
  std::string cell;
  std::string expected;
  std::string got;
  std::string bound;
  std::vector<Diagnostic> findings;  // the trap, or the difference
};

// "M=1 N=7, seed 2: c[0, 3] is 4 instead of 3", or the message of the trap.
std::string counterexample_text(const program::Program& program, const Counterexample& one);
Json to_json(const program::Program& program, const Counterexample& one);

// None: no run that was made shows one. A failure means that there is nothing to compare, as of check_program.
Result<std::optional<Counterexample>> refute(ir::Context& context, const ir::Algorithm& algorithm,
                                             const program::Program& program,
                                             const RefuteOptions& options = {});

}  // namespace tilewright::check
