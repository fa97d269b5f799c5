// SPDX-License-Identifier: Apache-2.0
//
// A Program compiled to nodes over one tape, and its execution. Private to interpret.cpp.
#pragma once

#include <memory>

#include "lowering/program/call.h"
#include "lowering/program/interpret.h"
#include "lowering/program/shadow.h"

namespace tilewright::program {

// One statement at one position.
struct Node {
  Stmt stmt;
  ir::BlockId block = 0;              // bounds, condition, value and indices, extents
  std::vector<ir::Slot>
      slots;        // For: lower, upper. If, Let: one. Store: value, indices. Alloc: extents.
  // Atomic: new and old value, indices. Call: indices and lengths of each operand.
  // On an object: indices, then what else there is
  std::vector<std::uint32_t> body;  // children; If: then, else (or none)
  bool in_vector = false;
  bool column = false;  // a slot differs between lanes
  ir::Slot var = 0;  // For, Let: what the body reads
  ir::Slot var_column = 0;  // of a vector loop
  ir::Slot second = 0;  // of a ring: the phase
  std::uint32_t buffer = 0;  // Alloc, Store, Atomic
  std::uint32_t object = 0;  // Object and statements on one
  std::vector<std::uint32_t> tiles;  // Call: the buffer of each operand
  bool sequential = true;  // nothing in it waits, starts or splits
  int decision = -1;  // If, non-constant For
  struct MinBound {
    ir::Slot first;
    ir::Slot second;
    int decision;
  };
  std::vector<MinBound> min_bounds;
};

class Compiled {
 public:
  static Result<std::unique_ptr<Compiled>> compile(ir::Context& context, const Program& program,
                                                   const ir::Bindings& bindings);
  ~Compiled();
  // Whether Machine is needed.
  bool has_agents() const { return has_agents_; }
  Coverage coverage() const { return coverage_; }

 private:
  friend class Compiler;
  friend class Execution;
  friend class Machine;
  class Scope;
  Compiled();
  std::unique_ptr<Scope> scope_;
  std::unique_ptr<ir::TapeBuilder> builder_;
  std::vector<Node> nodes_;
  std::unordered_map<Symbol, machine::Meaning> described_;  // intrinsics that are instructions
  std::vector<Buffer> buffers_;  // parameters first
  std::vector<Symbol> objects_;  // by number
  bool has_agents_ = false;
  std::uint32_t root_ = 0;
  int width_ = 1;
  Coverage coverage_;  // every decision, none taken
};

// Runs it once; buffers of parameters are set up from `inputs`.
Result<InterpretResult> execute(const Program& program, Compiled& compiled,
                                const ir::Bindings& bindings, const ir::TensorMap& inputs,
                                const InterpretOptions& options);

}  // namespace tilewright::program
