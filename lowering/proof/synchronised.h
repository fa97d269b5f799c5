// SPDX-License-Identifier: Apache-2.0
//
// That a Program with agents means the same in every run: what the order of interleave.h says it means. Law: where
// nothing is left `Unshown`, no run traps for its synchronisation (E0557 to E0565, E0567) or waits for ever, and
// every read of every run finds what it finds in that order. docs/decisions/proof.md has the argument.
// Tests: tests/laws/agents_proof_test.cpp.
#pragma once

#include <functional>

#include "lowering/proof/flow.h"

namespace tilewright::proof {

struct SyncFinding {
  enum class Rule : std::uint8_t {
    Phases,  // each arrival is of the phase that is said, and each wait for the next one
    Progress,  // what is waited for comes
    Ordered,  // two accesses of a cell, one a write, are ordered, and what is read is seen
    Complete  // operations are, before what they use ends
  };
  Rule rule = Rule::Phases;
  std::string subject;
  std::string detail;
};

// Sets the times of statements and events.
Result<Ok> choose_interleaving(Statements& statements, poly::Context& polyhedra);

// `flows` of a statement's reads.
using FlowsOf = std::function<const std::vector<Flow>&(std::size_t statement)>;
Result<std::vector<SyncFinding>> not_synchronised(const Statements& statements,
                                                  poly::Context& polyhedra, const FlowsOf& flows,
                                                  poly::Limits limits = {});

}  // namespace tilewright::proof
