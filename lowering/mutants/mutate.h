// SPDX-License-Identifier: Apache-2.0
//
// Wrong Programs made from a right one: one edit each, of the kinds of fault that people, searches and agents
// make. Whether an edit changes what is computed is not known here (trial.h). Laws: a mutant is well formed
// (verify.h) and differs from the Program; the same Program, seed and options give the same mutants in the
// same order.
// Tests: tests/laws/mutant_kinds_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowering/mutants/edit.h"

namespace tilewright::mutants {

// A kind of fault: adds what may stand in place of the statement.
struct Kind {
  std::string_view name;  // "missing_init"
  std::string_view fault;  // in words
  void (*edits)(const Site& site, std::vector<Stmt>& out);
};

// In the order of reports: bounds and guards, addresses, values, order, memory, agents.
const std::vector<Kind>& all_kinds();
const Kind* find_kind(std::string_view name);

struct Mutant {
  const Kind* kind = nullptr;
  int statement = 0;  // its number in pre-order
  std::string before;  // first line of the statement
  std::string after;  // and of what stands there instead
  program::Program program;
};

struct MutateOptions {
  std::uint64_t seed = 1;
  int per_kind = 8;  // at most
  std::string_view kind;  // this one alone
  std::uint64_t every = 1;  // one of so many kinds; which, the seed says
};

struct Mutants {
  std::vector<Mutant> list;  // by kind
  // Edits that gave no well-formed Program, for each of all_kinds().
  std::vector<int> ill_formed;
};

Mutants mutate(ir::Context& context, const program::Program& program,
               const MutateOptions& options = {});

// One table for each file kinds_*.cpp.
std::vector<Kind> kinds_of_bounds();
std::vector<Kind> kinds_of_addresses();
std::vector<Kind> kinds_of_values();
std::vector<Kind> kinds_of_order();
std::vector<Kind> kinds_of_memory();
std::vector<Kind> kinds_of_agents();

}  // namespace tilewright::mutants
