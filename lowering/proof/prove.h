// SPDX-License-Identifier: Apache-2.0
//
// Whether a Program computes its algorithm: for all sizes that it allows and all inputs, over the extended reals
// (P1), with every access in bounds and every read initialised (P3), without a race (P4), and index arithmetic that fits
// its machine type (P5). Law: `Proved` is said
// only where every obligation holds; a fault names sizes and instances at which a run has it; everything else is
// `Unknown`, with the obligation. Nothing of the Program's marks is believed. docs/proofs.md says what is trusted.
// Tests: tests/laws/proof_test.cpp, tests/text/proof.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "lowering/program/program.h"
#include "lowering/proof/reasons.h"

namespace tilewright::proof {

enum class Verdict : std::uint8_t { Proved, Refuted, Unknown };
std::string_view verdict_text(Verdict verdict);  // "proved", ...

enum class ObligationKind : std::uint8_t {
  Bounds,  // an access lies in its buffer
  Width,  // index arithmetic fits 64 bits
  Initialised,  // a read finds a value
  Apart,  // parallel iterations and lanes do not conflict
  Written,  // every cell of an output is written
  Value,  // and holds what the algorithm says
  Defined,  // a law of algebra was used where it holds
  Phases,  // of barriers: each arrival and each wait is of the phase that it is meant for
  Progress,  // what is waited for comes
  Ordered,  // accesses of different agents and operations are ordered, and what is read is seen
  Complete,  // operations are, before what they use ends
  Rounding  // no float is made narrower but where the algorithm does
};
std::string_view obligation_text(ObligationKind kind);

struct Obligation {
  ObligationKind kind = ObligationKind::Bounds;
  Verdict verdict = Verdict::Unknown;
  std::string subject;  // a statement's first line, an output, a condition
  std::string detail;  // of one that does not hold: sizes and instances, or the two terms
};

struct Claimed {
  std::string store;  // first line
  std::string value;  // the term, for a person
};

struct Proof {
  Verdict verdict = Verdict::Unknown;
  std::vector<Obligation> obligations;  // in a fixed order
  std::vector<Claimed> claims;  // of every store, in the order of the text
  std::optional<Reasons> reasons;  // where they were wanted, of what is proved
};

struct ProveOptions {
  // Called with each store as its claim is found, and how many pieces that has.
  std::function<void(std::string_view store, std::size_t pieces)> progress;
  bool wants_reasons = false;
};

// Fails with E0812 where the Program has other inputs or outputs than the algorithm, with E0820 where it has something
// that the proof cannot follow.
Result<Proof> prove(ir::Context& context, const ir::Algorithm& algorithm,
                    const program::Program& program, const ProveOptions& options = {});

}  // namespace tilewright::proof
