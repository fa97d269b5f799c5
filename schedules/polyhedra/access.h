// SPDX-License-Identifier: Apache-2.0
//
// Which cells an equation reads, at which points. Conditions of `select` restrict the points of the reads
// in its arms, since only the chosen arm is evaluated. Law: a relation holds every pair (point, cell) that
// evaluation touches; where `exact`, it holds no other.
// Tests: tests/unit/schedules/polyhedra/access_test.cpp (against the reads of an evaluator).
#pragma once

#include <vector>

#include "frontend/ir/algorithm.h"
#include "schedules/polyhedra/domain.h"
#include "schedules/polyhedra/map.h"

namespace tilewright::poly {

struct Access {
  Symbol tensor;
  // The read in the equation's expression; equal reads of one part of it are one access. Null for the cells
  // that the terms of an update go to.
  const ir::Read* read = nullptr;
  // To the tensor's cells, from the iteration domain, or from those of its dimensions that the part of the
  // equation is over: an update's terms do not know its indices, nor do they what it starts from.
  Map relation;
  // Dimensions whose index is not affine: taken to be any in the tensor's range.
  std::vector<bool> whole_dim;
  bool exact = true;
};

// The reads of an equation, of the terms first, in order of first occurrence.
std::vector<Access> accesses(const ir::Algorithm& algorithm, const ir::Equation& equation);

// The cell that each point of an equation writes: its indices.
Map write_relation(const ir::Algorithm& algorithm, const ir::Equation& equation);

}  // namespace tilewright::poly
