// SPDX-License-Identifier: Apache-2.0
//
// What a Program means: executes it cell by cell in exact mode (each operation in its declared
// type) and traps what compiled code must never do: out-of-bounds access, read of an uninitialised
// cell, a race between parallel iterations or vector lanes, undefined integer operations; with
// agents also reads of a copy in flight, missing fences, wrong phases, slots overwritten too early and
// deadlock (docs/program.md). Laws: object code equals it bit for bit; whether accesses of agents
// are ordered does not depend on the interleaving that was run. It also says which guards and tails a run
// reached.
#pragma once

#include "frontend/base/result.h"
#include "frontend/ir/value.h"
#include "lowering/program/program.h"

namespace tilewright::program {

// Branch: an If (taken, not taken). Loop: one with a bound that is not constant (no iteration, at least one).
// Minimum: a loop or extent bound that is a `min` (first operand smaller, second operand smaller).
enum class DecisionKind : std::uint8_t { Branch, Loop, Minimum };

// Which way each decision of the Program went over one or more runs. Decisions are numbered in pre-order,
// a loop before its minima.
struct Coverage {
  struct Decision {
    DecisionKind kind = DecisionKind::Branch;
    std::string text;  // the guard or bound, printed
    bool first = false;
    bool second = false;
  };
  std::vector<Decision> decisions;
  // Number of outcomes not yet seen.
  int missing() const;
  void merge(const Coverage& other);
};

// When asynchronous operations take place, of the times at which they may. Eager: at once. Lazy: when
// nobody can go on without. Random: any time, and agents interleave, by the seed.
enum class AsyncOrder : std::uint8_t { Eager, Lazy, Random };

struct InterpretOptions {
  std::int64_t step_limit = std::int64_t{1} << 40;
  bool detect_races = true;
  std::uint64_t schedule_seed = 0;  // not 0: parallel iterations run in this random order
  AsyncOrder async_order = AsyncOrder::Eager;
};

struct InterpretResult {
  ir::TensorMap outputs;
  Coverage coverage;
  std::int64_t steps = 0;
  std::int64_t copies = 0;  // cells stored for a copy of a tensor (OriginRole::Copy)
};

// Traps are diagnostics E05xx with evidence: sizes, loop variables, buffer, cell. Inputs must match
// the parameters.
Result<InterpretResult> interpret(ir::Context& context, const Program& program,
                                  const ir::Bindings& bindings, const ir::TensorMap& inputs,
                                  const InterpretOptions& options = {});

}  // namespace tilewright::program
