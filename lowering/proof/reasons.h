// SPDX-License-Identifier: Apache-2.0
//
// What a proof rests on, for a certificate: the source of every read and the claim of every store. Statements and
// reads are numbered in the order of the text, as tilewright-check numbers them.
#pragma once

#include "lowering/proof/flow.h"

namespace tilewright::proof {

struct Reasons {
  struct Piece {
    poly::Set where;
    std::string
        term;  // as apps/check/terms.h spells it; empty: nothing is said but that it is the value

    Piece() : where(poly::Space{}) {}
  };
  std::vector<std::vector<std::vector<Source>>> reads;  // of each statement and read
  std::vector<std::vector<Piece>> claims;  // of each statement
  std::vector<std::pair<std::string, std::vector<Source>>>
      outputs;  // by tensor; cells are `d0`, `d1`, ...
};

}  // namespace tilewright::proof
