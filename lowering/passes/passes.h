// SPDX-License-Identifier: Apache-2.0
//
// Program -> Program, in one ordered list (passes.def). A pass is a free function from one value to another.
// Law: every pass keeps the Program's meaning: bit for bit, except `contract`, which leaves out the rounding
// of a product (tests/laws/passes_test.cpp).
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/base/result.h"
#include "lowering/program/program.h"

namespace tilewright::passes {

using program::Program;

// Index and guard simplification from the ranges of loops and extents.
Program simplify(ir::Context& context, const Program& program);
// `unrolled r in 0 .. 2 { s }` becomes s[r := 0]; s[r := 1], with names inside made unique.
Program unroll(ir::Context& context, const Program& program);
// `t = t + a * b` of a float fold becomes `t = fma(a, b, t)`.
Program contract(ir::Context& context, const Program& program);
// The same as simplify, after unrolling.
Program clean(ir::Context& context, const Program& program);

struct Pass {
  int number = 0;  // from 1; 0 is `build`
  std::string_view name;
  std::string_view summary;
  Program (*run)(ir::Context&, const Program&);
};
const std::vector<Pass>& all_passes();

// Called with the Program after `build` (number 0) and after each pass. A Program that it returns takes the
// place of that one; a failure ends the run. The pass named `without` is left out, and still looked at.
using AfterPass = std::function<Result<std::optional<Program>>(int number, std::string_view name,
                                                               const Program& program)>;
Result<Program> run_passes(ir::Context& context, Program program, const AfterPass& after = {},
                           std::string_view without = "");

}  // namespace tilewright::passes
