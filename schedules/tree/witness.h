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

// An instance of `reader` that reads a cell of `tensor`, through what the tree inlines: `sizes`, `instance`,
// `reads`.
Evidence reading_instance(const ir::Algorithm& algorithm, const Tree& tree,
                          const ir::Equation& reader, Symbol tensor);
// Two iterations of a loop of the nest that meet in one result: `sizes`, `one`, `another`.
Evidence iterations_that_meet(const ir::Algorithm& algorithm, const Nest& nest, Symbol loop);
// What a layout does to a dimension that it does not cover: two coordinates with one place, or a place
// without one: `cells`, `places`.
Evidence uncovered_layout(const Nest& nest, std::size_t dim);

}  // namespace tilewright::tree
