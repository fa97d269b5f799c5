// SPDX-License-Identifier: Apache-2.0
//
// Sizes at which an index leaves 64 bits, by exact arithmetic: large ones that the entry checks let through, with the
// loops around it in their first or last iteration. For the files of this room. Law: what is found is true of a
// run that gets that far.
#pragma once

#include "lowering/proof/size_limits.h"

namespace tilewright::proof {

// What holds on the way to a place. Loop: a <= var < b. Holds, Fails: the condition a. Value: var is a.
struct PathStep {
  enum class Kind : std::uint8_t { Loop, Holds, Fails, Value };
  Kind kind = Kind::Holds;
  Symbol var;
  ir::Expr a;
  ir::Expr b;
};

class WidthWitness {
 public:
  WidthWitness(const program::Program& program, const SizeLimits& limits);
  // "M = 7, i = 6: 9223372036854775808", or nothing.
  std::string find(const std::vector<PathStep>& path, ir::Expr operation);

 private:
  void add_candidates();
  WideIndex greatest(const IndexValues& sizes, Symbol extent) const;
  bool follow(const std::vector<PathStep>& path, std::size_t step, ir::Expr operation);
  bool leaves(ir::Expr operation);

  const program::Program& program_;
  const SizeLimits& limits_;
  std::vector<IndexValues> candidates_;
  bool has_candidates_ = false;
  IndexValues names_;
  WideIndex value_ = 0;
  int budget_ = 0;
};

}  // namespace tilewright::proof
