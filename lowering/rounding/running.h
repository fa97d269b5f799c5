// SPDX-License-Identifier: Apache-2.0
//
// The rounding bound of a Program on given inputs: every operation is done in its declared type, in the order and
// the tree of folds that the Program has, and a bound on the error is carried along with each cell. Of a sum it is the
// unit roundoff times the sizes of the partial sums that really occur, so it is no larger than what |terms| and
// the depth of the tree give. Law: no output cell is further from exact arithmetic than its bound; the values are
// those of the Program's interpreter, bit for bit.
// Tests: tests/laws/rounding_test.cpp.
#pragma once

#include <map>
#include <vector>

#include "frontend/base/result.h"
#include "lowering/program/program.h"
#include "lowering/rounding/tracked.h"

namespace tilewright::rounding {

struct RunOptions {
  Units units = {};
  std::int64_t step_limit = 200'000'000;  // expressions evaluated
};

struct TrackedTensor {
  ir::ScalarType type = ir::ScalarType::F32;
  std::vector<std::int64_t> shape;
  std::vector<Tracked> cells;
};

struct TrackedRun {
  std::map<Symbol, TrackedTensor> outputs;
  // Decisions that operands within their bounds could have made otherwise: the bounds hold against the algorithm with
  // the outcomes of this run.
  std::int64_t near_ties = 0;
  // Of exponentials the largest argument, of divisions, roots and logarithms the smallest size of what they are taken
  // of, by the node of the operation: what static_bounds.h asks of the data.
  std::map<const void*, double> extremes;
};

// E0820 where the Program has something that is not followed here: agents, complex numbers, a library call.
Result<TrackedRun> run_tracked(ir::Context& context, const program::Program& program,
                               const ir::Bindings& sizes, const ir::TensorMap& inputs,
                               const RunOptions& options = {});

// Over all float cells of the outputs.
struct Measured {
  std::int64_t cells = 0;
  std::int64_t without_bound = 0;
  double largest_error = 0;  // |machine - exact| of a cell with a bound
  double largest_bound = 0;
  double worst_ratio = 0;  // largest error / bound of a cell: at most 1
};
Measured measure(const TrackedRun& run);

}  // namespace tilewright::rounding
