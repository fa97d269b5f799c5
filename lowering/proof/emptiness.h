// SPDX-License-Identifier: Apache-2.0
//
// Is a conjunction of quasi-affine constraints empty, for all integer values of its names? With evidence
// that `tilewright-check` follows, or a point. The search is our own and exact: equalities are solved by
// unimodular substitution, an exact simplex refutes the rest, cuts and cases bring integers in. Laws: an
// Empty verdict has evidence that the checker accepts; a NotEmpty verdict has a point that satisfies the
// conjunction; the same conjunction and limits give the same answer; numbers that leave 62 bits, and the
// limits, end in Unknown. Tests: tests/unit/lowering/proof/emptiness_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "lowering/proof/evidence.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::proof {

// The work of one search, in touched rows: not time, so that a verdict does not depend on the machine.
struct EmptinessLimits {
  std::uint64_t max_operations = 1'000'000;
  // Cases within cases.
  std::uint32_t max_depth = 100;
};

struct Emptiness {
  enum class Verdict { Empty, NotEmpty, Unknown };
  Verdict verdict = Verdict::Unknown;
  // Of Empty.
  Evidence evidence;
  // Of NotEmpty: a value of every name.
  poly::Binding point;
  // Of Unknown.
  std::string reason;
  std::uint64_t operations = 0;
};

Emptiness prove_empty(const poly::BasicSet& set, const EmptinessLimits& limits = {});

}  // namespace tilewright::proof
