// SPDX-License-Identifier: Apache-2.0
//
// Counterexamples for refusals of a schedule tree: sizes and instances that show why it cannot stand. Each
// gives no evidence where it finds no case; none is proof that there is one. Law: what it names is so
// (tests/unit/schedules/directives/refusal_test.cpp, by hand).
#pragma once

#include "schedules/polyhedra/instances.h"
#include "schedules/tree/tree.h"

namespace tilewright::tree {

using poly::Evidence;
using poly::with;

// Where sizes are looked for: among those that the algorithm and the guards of the schedule allow.
struct Case {
  const ir::Algorithm& algorithm;
  const std::vector<Expr>& guards;
};

// --- Cells (witness.cpp) --------------------------------------------------------------------------------

// An instance of `reader` that reads a cell of `tensor`, through what the tree inlines: `sizes`, `instance`,
// `reads`.
Evidence reading_instance(const Case& where, const Tree& tree, const ir::Equation& reader,
                          Symbol tensor);
// An instance that reads a cell of a reduction, and two terms of that: `sizes`, `instance`, `reads`, `terms`.
Evidence reduction_read(const Case& where, const Tree& tree, const ir::Equation& reduction);
// An instance that reads a cell of `tensor` where the reduction of `reader` has no term: `sizes`, `instance`, `reads`.
Evidence read_without_terms(const Case& where, const Tree& tree, const ir::Equation& reader,
                            Symbol tensor);
// Two elements of one reduction that read different cells of `tensor`, through elementwise equations: `sizes`,
// `one`, `another`.
Evidence elements_that_differ(const Case& where, const ir::Equation& reduction, Symbol tensor);
// A cell of an output that nothing would compute if it were computed as far as `reader` (none: nobody) reads it:
// `sizes`, `not computed`.
Evidence unread_cell(const Case& where, const ir::Equation& output, const ir::Equation* reader);
// Sizes at which tiles of `factor` do not fill a dimension of this extent: `sizes`, `last tile`.
Evidence partial_tile(const Case& where, Expr extent, std::int64_t factor);
// What a layout does to a dimension that it does not cover: two coordinates with one place, or a place
// without one: `cells`, `places`.
Evidence uncovered_layout(const Nest& nest, std::size_t dim);

// --- Order (witness_order.cpp) --------------------------------------------------------------------------

// Two iterations of a loop of the nest that meet in one result: `sizes`, `one`, `another`.
Evidence iterations_that_meet(const Case& where, const Nest& nest, Symbol loop);
// Two iterations of a loop that hold terms of one chain (a scan, an update, a reduction whose terms have an order):
// `sizes`, `one`, `another`, which comes after it.
Evidence iterations_in_order(const Case& where, const Nest& nest, Symbol loop);
// Two terms of one chain that the loops of the nest run the other way round: `sizes`, `term`, `would run before`.
Evidence terms_out_of_order(const Case& where, const Nest& nest);
// The same for chunks of `factor` values of a variable, folded one after the other.
Evidence chunks_out_of_order(const Case& where, const ir::Equation& reduction, Symbol var,
                             std::int64_t factor);

}  // namespace tilewright::tree
