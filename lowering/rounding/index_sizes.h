// SPDX-License-Identifier: Apache-2.0
//
// How large indices and numbers of iterations are, as formulas in the sizes. For the files of this room. Law: at all
// sizes and loop variables the value is at most the formula, and at least the number.
#pragma once

#include <unordered_map>
#include <vector>

#include "frontend/ir/context.h"
#include "lowering/program/program.h"
#include "lowering/rounding/formula.h"

namespace tilewright::rounding {

struct LoopRange {
  Symbol var;
  ir::Expr lower;  // names of `let`s replaced
  ir::Expr upper;
  program::LoopKind kind = program::LoopKind::Serial;
};

class IndexSizes {
 public:
  IndexSizes(ir::Context& context, const program::Program& program)
      : context_(context), program_(program) {}

  void enter(const LoopRange& loop) { loops_[loop.var] = loop; }
  Formula most(ir::Expr index) const;
  double least(ir::Expr index) const;
  Formula size(ir::Expr index) const;  // of |index|
  Formula trips(const LoopRange& loop) const;
  // Values of these loop variables with which an access names one and the same cell, at most: their number of
  // iterations, without the variables that the cell tells.
  Formula visits(const std::vector<LoopRange>& loops, const std::vector<ir::Expr>& cell) const;

 private:
  Formula difference(ir::Expr upper, ir::Expr lower) const;
  std::vector<Symbol> told(const std::vector<LoopRange>& loops, ir::Expr index) const;

  ir::Context& context_;
  const program::Program& program_;
  std::unordered_map<Symbol, LoopRange> loops_;
};

}  // namespace tilewright::rounding
