// SPDX-License-Identifier: Apache-2.0
//
// One C function behind which several Programs stand: the variants of one algorithm, each for the sizes that
// its guard allows, in the order of a decision table. The first variant whose guard holds runs; the last has
// no guard and takes every size that the function takes. Laws: the variants have the same parameters, extents
// and facts, so the checks of a call are one list, made before a variant is chosen; what `choose` says is
// what generated code does.
// Tests: tests/unit/lowering/program/dispatch_test.cpp, tests/differential/dispatch_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "frontend/ir/value.h"
#include "lowering/program/plan.h"

namespace tilewright::program {

struct Variant {
  std::string name;  // the schedule's
  std::vector<Expr> guard;  // all of them hold; conditions over extents
  Program program;  // its requirements are the function's and the guard
  Contract contract = {};  // derived; its workspace is the variant's
  std::optional<Planned> planned = {};  // derived, where the program has a plan
};

struct Dispatch {
  // What a call sees: name, parameters, extents, requirements. The body is the last variant's.
  Program interface;
  // Its checks. `workspace.total` is the chosen variant's, as one expression.
  Contract contract;
  std::vector<Variant> variants;  // at least one

  bool is_single() const { return variants.size() == 1; }
  bool has_plan() const;
  // Whether NAME_run reads the data of a parameter: a constant that is in the plan may be gone by then.
  bool run_reads(const Parameter& parameter) const;
};

// A function of one Program, whose requirements are demanded of every call.
Result<Dispatch> single_dispatch(ir::Context& context, const Program& program, std::string name);
// Contracts are derived. Fails with E0812 where variants are not of one function, or the last has a guard.
Result<Dispatch> derive_dispatch(ir::Context& context, std::vector<Variant> variants);

// The variant that runs at sizes which the function takes. Generated code takes a condition whose arithmetic
// leaves 64 bits as one that does not hold.
std::size_t choose(const Dispatch& dispatch, const ir::Bindings& sizes);

// A comparison of two index values: what `explain` shows the numbers of. Null for any other condition.
const ir::Op* as_comparison(Expr condition);

}  // namespace tilewright::program
