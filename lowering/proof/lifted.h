// SPDX-License-Identifier: Apache-2.0
//
// An algorithm as equations alone, for the proof: loops are an index more of what they define, a reduction with
// `on_empty` is three equations. Laws: a cell of an output is what the algorithm says; a cell of a tensor of a loop, with
// the values of the loops around it as leading indices, is what that iteration computes; a carried tensor at its
// loop's value is what that iteration finds, at the number of iterations what is found after the loop.
#pragma once

#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"

namespace tilewright::proof {

// A tensor that a loop carries: at 0 it is `start`, at l + 1 it is `next` at l.
struct Carried {
  Symbol name;
  Symbol start;
  Symbol next;
  std::size_t loop = 0;  // position of the loop's index
  std::vector<Symbol> indices;  // the loops around it, then its own
  ir::Expr starts;  // the two cells, over the indices
  ir::Expr continues;
  ir::ScalarType type = ir::ScalarType::F64;
};

struct Lifted {
  ir::Algorithm algorithm;
  std::vector<Carried> carried;  // no equation defines these
};

// Loops with a condition on data are left as they are: nothing is known of them.
Lifted lifted(ir::Context& context, const ir::Algorithm& algorithm);

}  // namespace tilewright::proof
