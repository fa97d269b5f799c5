// SPDX-License-Identifier: Apache-2.0
//
// The parts of tree::verify, for its files alone; what each demands stands at the head of verify.cpp.
#pragma once

#include <map>
#include <set>

#include "schedules/tree/tree.h"
#include "schedules/tree/witness.h"

namespace tilewright::tree {

inline std::string quoted(Symbol name) { return "`" + std::string(name.text()) + "`"; }
inline std::string path(Symbol nest, Symbol loop) {
  return std::string(nest.text()) + "." + std::string(loop.text());
}
inline std::string quoted(Symbol nest, Symbol loop) { return "`" + path(nest, loop) + "`"; }

// E0302. `place` is none where no word of the text is to blame more than others.
inline Failure malformed(Span place, std::string message, std::string remedy,
                         Evidence evidence = {}) {
  return fail(Diagnostic{
      Code::TreeMalformed, place, std::move(message), std::move(remedy), {}, std::move(evidence)});
}

// Of a staged copy; `inlined`: its tensor is.
Result<Ok> verify_layout(const ir::Algorithm& algorithm, const Nest& nest, bool inlined);
// Scopes, memories, rings and asynchronous copies.
Result<Ok> verify_mapping(const ir::Algorithm& algorithm, const Tree& tree, const Nest& nest);
Result<Ok> verify_kernels(const Tree& tree);
// The tensors that an equation reads once inlining is done, with the names of the equations that make them.
using ReadsOf = std::map<Symbol, std::set<Symbol>>;
// A copy at the plan.
Result<Ok> verify_plan(const Case& where, const Tree& tree, const ReadsOf& reads, const Nest& nest);

// What one statement of a place makes and a later one reads, by their positions.
struct Flow {
  std::size_t from = 0;
  std::size_t to = 0;
  Symbol tensor;
};
// What is placed in the loop, in order, then its own nest.
std::vector<const Nest*> statements_of(const Tree& tree, const Nest& nest, const Loop& loop);
// What a nest reads with all that is placed in its loops; of the own nest of a loop `from`, with what stands further
// inside.
void collect_reads(const Tree& tree, const ReadsOf& reads, const Nest& nest, const Loop* from,
                   std::set<Symbol>& out);
// A read goes to the last statement before that computes or copies the tensor. `own`: the loop of the last statement,
// where that is the own nest of a loop.
std::vector<Flow> flows_between(const Tree& tree, const ReadsOf& reads,
                                const std::vector<const Nest*>& statements, const Loop* own);

// Roles of which each waits for another (E0329), by what flows between the statements of their loop.
Result<Ok> verify_waits(const Nest& nest, const Loop& loop,
                        const std::vector<const Nest*>& statements, const std::vector<Flow>& flows);
// Sets, pipelines, roles and prefetches (E0327 to E0329).
Result<Ok> verify_tables(const Case& where, const Tree& tree, const ReadsOf& reads);

}  // namespace tilewright::tree
