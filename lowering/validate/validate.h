// SPDX-License-Identifier: Apache-2.0
//
// Translation validation: the LLVM IR of a function, as it was given to code generation, computes what its Programs
// do, at sizes that reach their guards and tails. The function is called by its C interface: descriptors, workspace,
// with an executor and without. The elements of the inputs are variables; sizes, addresses and control flow are
// known; so each output cell is a term over the elements, once of the code and once of the Program, and the two must
// be the same. Where control flow or an address depends on the values of an input, that input is given values, and
// the run says so. Laws: `validated` holds for all values of the variables; anything that was not followed, proved or
// reached within the limits is `not validated`, with the cell and both terms, or the instruction. Neither the
// emitter's data structures nor LLVM's optimiser are trusted; docs/proofs.md says what is.
// Tests: tests/unit/lowering/validate.
#pragma once

#include "frontend/base/json.h"
#include "frontend/ir/algorithm.h"
#include "lowering/program/dispatch.h"
#include "lowering/validate/listing.h"

namespace tilewright::validate {

struct Options {
  std::int64_t step_budget =
      1'000'000;  // of the Program's interpreter, for all sizes of a variant together, about
  std::int64_t code_steps = 60'000'000;  // instructions of one run of the code
  int min_runs = 3;
  std::vector<ir::Bindings> sizes;  // not empty: these alone
  std::uint64_t seed = 1;  // of values that inputs are given
};

struct Run {
  ir::Bindings sizes;
  std::size_t variant = 0;
  std::vector<Symbol> given;  // inputs that have values in this run
};

struct Report {
  bool is_validated = false;
  std::vector<Run> runs;
  std::int64_t cells = 0;  // elements of outputs, of each call
  std::int64_t solved = 0;  // those whose two terms were not one node
  std::int64_t claims = 0;  // promises of instructions about values that are not known
  int queries = 0;  // of the solver
  std::int64_t steps = 0;  // instructions of the code
  std::size_t terms = 0;
  // Blocks of kernels and their parallel loops, those for failures left out; and those that no run came through.
  std::int64_t blocks = 0;
  std::vector<std::string> unreached;
  // Why not.
  std::string reason;
  std::string cell;
  std::string expected, got;  // terms
  std::string instruction;
};

Result<Report> validate(ir::Context& context, const ir::Algorithm& algorithm,
                        const program::Dispatch& dispatch, const Listing& listing,
                        const Options& options = {});

// "validated for sizes M=0 N=0 K=0, ..."; "not validated: ...".
std::string verdict_line(const program::Dispatch& dispatch, const Report& report);
// E0830 of a report that does not validate.
Diagnostic refusal(const Report& report);
Json to_json(const program::Dispatch& dispatch, const Report& report);

// What the code gives for inputs of which all values are known: a run of the same machine. For tests.
Result<ir::TensorMap> run_code(ir::Context& context, const program::Dispatch& dispatch,
                               const Listing& listing, const ir::Bindings& sizes,
                               const ir::TensorMap& inputs, std::int64_t step_limit = 50'000'000);

}  // namespace tilewright::validate
