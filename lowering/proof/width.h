// SPDX-License-Identifier: Apache-2.0
//
// That index arithmetic fits its machine type (P5). Both code generators compute indices, bounds and addresses in 64
// bits with a sign, in C without wrapping, and compare lanes by their difference; so every index operation that a
// run may do, every such difference and every address must have a value there, at all sizes that the entry checks
// let through (size_limits.h). Shown by interval arithmetic over those sizes, with products of extents held
// together by the parameters that have them. Laws: without faults no run leaves 64 bits; a fault with `at` is shown
// by exact arithmetic at sizes that the entry checks let through, along loops and conditions that lead there.
// An address lies within its buffer (obligation `bounds`), and what a buffer has is limited by the entry: a
// parameter by its check of bytes, a workspace by its formula, which is evaluated there with overflow seen.
// Tests: tests/unit/lowering/proof/width_test.cpp, tests/text/proof/width.test.
#pragma once

#include <string>
#include <vector>

#include "lowering/program/program.h"

namespace tilewright::proof {

struct WidthFault {
  std::string statement;  // its first line
  std::string operation;
  std::string range;  // "0 .. 18446744073709551614"
  std::string at;  // sizes, loop variables and the value; empty: not shown to happen
};

struct Width {
  std::size_t operations = 0;
  std::size_t addresses = 0;
  std::vector<WidthFault> faults;
};

Width index_width(ir::Context& context, const program::Program& program);

}  // namespace tilewright::proof
