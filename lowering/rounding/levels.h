// SPDX-License-Identifier: Apache-2.0
//
// Where a Program gives the same bits again, as a property of its operations and of the trees of its folds. Law: a
// level that holds is not broken by any run; one that is not shown may hold.
// Tests: tests/unit/lowering/rounding/levels_test.cpp.
#pragma once

#include <string>

#include "lowering/program/program.h"

namespace tilewright::rounding {

struct Level {
  bool holds = false;
  std::string reason;  // why not
};

struct Levels {
  // Of one binary, whatever the number of threads and their order. Provided that parallel iterations do not conflict
  // (obligation `apart`).
  Level every_run;
  // An output cell has the bits that it would have with other extents of everything that its folds do not run along.
  Level every_batch;
  // Whatever the host: every operation is IEEE's, or a definition of our own made of such.
  Level every_target;
};
Levels levels_of(const program::Program& program);

}  // namespace tilewright::rounding
