// SPDX-License-Identifier: Apache-2.0
//
// The prover, tried with wrong Programs. A mutant counts if the interpreter of Programs shows, at stated sizes, a
// trap or a cell beyond the bound of the algorithm (for integers: any difference); others are equivalent as far
// as is known, and say nothing. Law: the prover proves none that counts; where it does, prover or judge is wrong.
// Tests: tests/laws/mutant_kinds_test.cpp.
#pragma once

#include <array>

#include "frontend/base/json.h"
#include "lowering/check/refute.h"
#include "lowering/mutants/mutate.h"
#include "lowering/proof/prove.h"

namespace tilewright::mutants {

struct TrialOptions {
  MutateOptions mutate;
  std::int64_t step_budget = 1'000'000;  // of the judge, for each mutant, about
};

enum class Outcome : std::uint8_t {
  Equivalent,  // no run shows a difference: not counted
  Proved,  // counted, and proved all the same
  Refuted,  // by the proof, or by a run that the program's own sizes lead to
  Unknown
};
std::string_view outcome_text(Outcome outcome);

struct Tried {
  Mutant mutant;
  Outcome outcome = Outcome::Equivalent;
  bool by_proof = false;  // the proof itself found sizes and instances
  std::optional<check::Counterexample> counterexample;  // of every counted one
  std::string obligation;  // of one that is not proved: the first that does not hold
};

struct Trial {
  proof::Verdict original = proof::Verdict::Unknown;
  std::vector<Tried> list;
  std::vector<int> ill_formed;  // by kind
  int count(Outcome outcome) const;
};

// Called after each mutant; may be empty.
using Progress = std::function<void(const Tried&)>;

// Fails where the Program itself is refuted (E0810), or cannot be compared.
Result<Trial> try_mutants(ir::Context& context, const ir::Algorithm& algorithm,
                          const program::Program& program, const TrialOptions& options = {},
                          const Progress& progress = {});

// One row for each kind of which there is a mutant, and the sum.
std::string table(const Trial& trial);
Json to_json(const program::Program& program, const Trial& trial);

}  // namespace tilewright::mutants
