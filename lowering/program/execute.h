// SPDX-License-Identifier: Apache-2.0
//
// A Program compiled to nodes over one tape, and its execution. Private to interpret.cpp.
#pragma once

#include <memory>

#include "lowering/program/call.h"
#include "lowering/program/interpret.h"
#include "lowering/program/shadow.h"

namespace tilewright::program {

// A call at one position: its operands over the slots of its node.
struct CallSite {
  struct Operand {
    Symbol name;
    ScalarType type = ScalarType::F32;
    bool is_output = false;
    std::uint32_t buffer = 0;
    std::size_t first_index = 0;  // slots of its indices, then of its lengths
    std::size_t rank = 0;
    std::vector<std::int64_t> sliced;
  };
  IntrinsicUnit unit;
  std::vector<Operand> operands;
};

// One statement at one position.
struct Node {
  Stmt stmt;
  ir::BlockId block = 0;              // bounds, condition, value and indices, extents
  std::vector<ir::Slot>
      slots;        // For: lower, upper. If, Let: one. Store: value, indices. Alloc: extents
  std::vector<std::uint32_t> body;    // children; If: then, else (or none)
  bool in_vector = false;
  bool column = false;                // a slot differs between lanes
  ir::Slot var = 0;                   // For, Let: what the body reads
  ir::Slot var_column = 0;            // of a vector loop
  std::uint32_t buffer = 0;           // Alloc, Store
  int decision = -1;                  // If, non-constant For
  int call = -1;                      // Call: which CallSite
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
  Coverage coverage() const { return coverage_; }

 private:
  friend class Compiler;
  friend class Execution;
  class Scope;
  Compiled();
  std::unique_ptr<Scope> scope_;
  std::unique_ptr<ir::TapeBuilder> builder_;
  std::vector<Node> nodes_;
  std::vector<CallSite> calls_;
  std::vector<Buffer> buffers_;  // parameters first
  std::uint32_t root_ = 0;
  int width_ = 1;
  Coverage coverage_;  // every decision, none taken
};

// Runs it once; buffers of parameters are set up from `inputs`.
Result<InterpretResult> execute(const Program& program, Compiled& compiled,
                                const ir::Bindings& bindings, const ir::TensorMap& inputs,
                                const InterpretOptions& options);

}  // namespace tilewright::program
