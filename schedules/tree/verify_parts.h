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

inline Evidence with(Evidence evidence, const Evidence& more) {
  evidence.insert(evidence.end(), more.begin(), more.end());
  return evidence;
}

// Of a staged copy; `inlined`: its tensor is.
Result<Ok> verify_layout(const ir::Algorithm& algorithm, const Nest& nest, bool inlined);
// Scopes, memories, rings and asynchronous copies.
Result<Ok> verify_mapping(const Tree& tree, const Nest& nest);
Result<Ok> verify_kernels(const Tree& tree);
// The tensors that an equation reads once inlining is done, with the names of the equations that make them.
using ReadsOf = std::map<Symbol, std::set<Symbol>>;
// Sets, pipelines, roles and prefetches (E0327 to E0329).
Result<Ok> verify_tables(const ir::Algorithm& algorithm, const Tree& tree, const ReadsOf& reads);

}  // namespace tilewright::tree
