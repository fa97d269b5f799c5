// SPDX-License-Identifier: Apache-2.0
//
// Until the prover judges a Program, this does: it runs the Program against the algorithm's interpreter at
// small sizes chosen to reach every guard and tail, and compares each output cell within the bound that the
// law states (frontend/ir/interpret.h). For an outcome that no run took, reach.h gives sizes at which it
// happens, which are run too, or shows that there are none; what is left is listed with the reason. Laws:
// deterministic; work is bounded by a budget of steps and of isl's operations, not of time; a Program that is
// refuted comes with sizes and a seed that show it again.
// Tests: tests/unit/lowering/check.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/base/json.h"
#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "lowering/program/program.h"

namespace tilewright::check {

struct Options {
  // Steps of the Program's interpreter in all runs together.
  std::int64_t step_budget = 32'000'000;
  int min_runs = 3;  // fewer runs of the own plan than these: NotChecked
  std::uint64_t seed = 1;
  // Not empty: only these sizes, whatever they cost.
  std::vector<ir::Bindings> sizes;
  // Run as well, after the plan, as far as the budget goes.
  std::vector<ir::Bindings> more_sizes;
  // What algebraic steps made of the algorithm, where they round otherwise: its values are compared with those of
  // the algorithm too, and the Program is held to its bound.
  const ir::Algorithm* derived = nullptr;
  // With `sizes`: inputs of wide magnitude in every run, as in the round that a plan adds.
  bool wide = false;
  // Whether to go after outcomes that no run took.
  bool seek_unreached = true;
  // Of one run: one that reaches it shows nothing. 0: none.
  std::int64_t step_limit = 0;
};

enum class Verdict : std::uint8_t { Checked, Refuted, NotChecked };
std::string_view verdict_text(Verdict verdict);  // "checked", "refuted", "not checked"

// One execution of the Program on deterministic inputs.
struct Run {
  ir::Bindings sizes;
  std::uint64_t seed = 1;
  bool wide = false;
};

// An outcome of a decision that no run took, though it may happen: "`i < M` never held".
struct Unreached {
  std::string outcome;
  std::string reason;
  friend bool operator==(const Unreached&, const Unreached&) = default;
};

struct Report {
  Verdict verdict = Verdict::NotChecked;
  std::vector<Run> runs;  // made, in order
  std::int64_t steps = 0;
  std::int64_t cells = 0;  // output cells compared with a finite bound
  std::int64_t cells_without_bound = 0;  // where the algorithm claims nothing
  double worst_ratio = 0;  // largest error / bound of a cell
  std::vector<Unreached> unreached;
  std::vector<std::string>
      impossible;  // outcomes that no run can take at any sizes that are allowed
  std::string reason;  // why NotChecked
  std::vector<Diagnostic> findings;  // of a refuted Program
};

// E0812 unless the program takes and gives what the algorithm does, under its name.
Result<Ok> check_interface(const ir::Algorithm& algorithm, const program::Program& program);

// A failure means that there is nothing to compare: no sizes satisfy the declarations (E0811), the
// parameters are not those of the algorithm (E0812), or the algorithm itself cannot be run (E08xx).
Result<Report> check_program(ir::Context& context, const ir::Algorithm& algorithm,
                             const program::Program& program, const Options& options = {});

// "M=1 N=7", in the order of declaration.
std::string sizes_text(const std::vector<ir::ExtentDecl>& extents, const ir::Bindings& sizes);
// "checked for sizes M=1 N=7, M=0 N=0; 2 outcomes not reached", "refuted", "not checked: ...".
std::string verdict_line(const program::Program& program, const Report& report);
// In full: the impossible outcomes by name too, not only their number.
Json to_json(const program::Program& program, const Report& report, bool in_full = false);

}  // namespace tilewright::check
