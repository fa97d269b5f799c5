// SPDX-License-Identifier: Apache-2.0
//
// One order of all that the agents of a Program do: who synchronises with each other goes in step, iteration by
// iteration; operations take place where they are started. Law: the order of each agent's own program is
// kept, and that of splits and joins. Whether waits are for what is earlier in this order, and whether other orders
// give the same values, is for synchronised.h to show; no choice made here is believed.
#pragma once

#include "lowering/proof/statements.h"

namespace tilewright::proof {

// Sets the times of all statements and events. `turn` chooses which role goes first in an iteration that several
// share: the first in the text, or with 1 the last.
void interleave(Statements& statements, int turn);
// Loops bound to agents that go in step: each statement for all of them. Their names.
std::vector<std::string> in_step(const Statements& statements);

}  // namespace tilewright::proof
