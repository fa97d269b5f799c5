// SPDX-License-Identifier: Apache-2.0
//
// Faults in a listing, one at a time: what a wrong emitter or optimiser could have left. For the law that validation
// refuses each whose runs differ (tests/laws/code_mutants_test.cpp). Law: the same listing and number give the same
// mutant.
#pragma once

#include <string>

#include "lowering/validate/listing.h"

namespace tilewright::validate {

enum class Fault : std::uint8_t {
  SwapOperands,  // of a difference, quotient, comparison or fma
  SwapArms,  // of a select
  OtherOperation,  // a sum for a difference, and so on
  OtherPredicate,
  OtherConstant,
  OtherOffset,  // of an address, by an element
  DropStore,
  PermuteLanes,
  OtherOperand,  // another value of the same type, defined earlier in the block
  SwapBranch
};
inline constexpr int kNumFaults = 10;
std::string_view fault_text(Fault fault);

struct Mutation {
  Fault fault = Fault::SwapOperands;
  std::size_t function = 0, block = 0, instruction = 0;
  std::size_t place = 0;  // the operand, lane or choice
};

// All that there are, in the functions whose names begin so.
std::vector<Mutation> mutations(const Listing& listing, std::string_view prefix);
Listing mutated(const Listing& listing, const Mutation& mutation);
std::string mutation_text(const Listing& listing, const Mutation& mutation);

}  // namespace tilewright::validate
