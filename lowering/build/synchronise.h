// SPDX-License-Identifier: Apache-2.0
//
// Derives the synchronisation of a Program from the flow of its values. The Program that comes in says what is
// asynchronous, who the agents are and which memory is used, and synchronises nothing: it means what its text
// says from the top to the bottom, each operation done where it is started, all agents of a team at the same
// statement. Out comes the same Program in which every order of two accesses of a cell that this meaning needs
// and that agents, operations or proxies do not keep by themselves is kept by a wait, a sync or a fence, and none
// of these is implied by the others.
//
// One algorithm for every kernel; it knows statements, loops and cells:
//   edges     pairs of instances of two statements that touch a cell, one of them writing it (value flow, and
//             the reuse of a slot), as a polyhedral relation;
//   waits     each operation is awaited once, where it is needed first: the lexicographic minimum of its edges,
//             turned around, says which operation an instance of the wait is for;
//   syncs     at the latest gap that lies on every way from one end of an edge to the other;
//   fences    directly before an operation that reads or overwrites what agents wrote;
//   objects   as many cells as operations may be started before the first is awaited; a phase for each use.
// What is implied by the rest is dropped again, one by one, and of a wait in cases those cases that are. Chains lead
// through agents of one role too: one starts an operation, others wait for it, and know what it knew. The interpreter
// is the check: it decides by vector clocks, knows nothing of polyhedra, and refuses the result without any one of its
// waits (tests/laws/synchronise_test.cpp). Left is what chains of too many links or cases imply (known.h): where warps
// with asynchronous copies walk over tiles, a wait for the last of them may stand that such a chain makes superfluous.
//
// Where a ring counts on over loops of which an inner one runs a symbolic number of times, its uses are products, which
// are not affine; how far two uses are apart is (digits.h).
#pragma once

#include <vector>

#include "frontend/base/result.h"
#include "lowering/program/program.h"
#include "schedules/polyhedra/context.h"

namespace tilewright::build {

// How a machine tells that asynchronous operations are done.
enum class Tells : std::uint8_t {
  Bytes,  // barriers that count arrivals and bytes
  Arrivals,  // barriers that count arrivals
  Tokens  // one object for each operation in flight
};

// `order c.ko: before before after by distance` of roles: iteration k of a loop, named by its variable in the Program,
// ends for one role before iteration k + distance begins for the other.
struct RoleOrder {
  Symbol loop;
  Symbol before;
  Symbol after;
  std::int64_t distance = 0;
};

// Asynchronous operations of `program` are `start PROXY group` without `commit`, and it has no waits,
// signals, syncs, fences or objects. Fails with E0361 for an edge that cannot be kept.
Result<program::Program> synchronise(ir::Context& context, poly::Context& polyhedra,
                                     const program::Program& program, Tells tells,
                                     const std::vector<RoleOrder>& orders = {});

}  // namespace tilewright::build
