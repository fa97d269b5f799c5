// SPDX-License-Identifier: Apache-2.0
//
// Is this expression what the instruction computes? The term of the instruction's meaning is unified with the term
// of a reduction: operands of the meaning stand for any read of their type, everything else must be the same
// operation on the same types; sums and products match in either order. No operator and no kernel is known
// by name here. Which cells a read means, and whether they lie where the instruction takes them, is for the
// caller to judge. Tests: tests/unit/schedules/machine/instruction_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "schedules/machine/instruction.h"

namespace tilewright::machine {

struct Unified {
  // By operand of the meaning; null for the accumulator.
  std::vector<const ir::Read*> reads;
};

// What stands in the way: a part of the instruction's term and what is there instead.
struct Mismatch {
  std::string wanted;
  std::string found;
};

// Every way in which the term is that of the meaning, the one without exchanged operands first; none: see
// `mismatch`. Both expressions belong to one context.
std::vector<Unified> unify(const Meaning& meaning, ir::Expr term, Mismatch* mismatch = nullptr);

}  // namespace tilewright::machine
