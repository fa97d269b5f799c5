// SPDX-License-Identifier: Apache-2.0
//
// What an algorithm says, as terms over its inputs: every equation expanded, and the folds that come up on the
// way, which are what a Program is expected to fold too.
#pragma once

#include "frontend/ir/algorithm.h"
#include "lowering/proof/translate.h"

namespace tilewright::proof {

// The value of a cell. Where the algebra has no words for an equation, it is an unknown, which equals nothing.
Term algorithm_cell(TermStore& terms, const ir::Algorithm& algorithm, Symbol tensor,
                    std::span<const Term> indices);

// A sum or maximum of the algorithm. All of `unknowns` are free in the body; `bound` are those of the fold.
struct FoldTarget {
  bool is_maximum = false;
  std::vector<Term> unknowns;
  std::vector<Term> bound;
  Term body;
  std::vector<algebra::Conjunction> domain;  // of the bound variables
};
// Of all equations, in their order.
std::vector<FoldTarget> fold_targets(ir::Context& context, TermStore& terms,
                                     const ir::Algorithm& algorithm);

}  // namespace tilewright::proof
