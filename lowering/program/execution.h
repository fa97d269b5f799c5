// SPDX-License-Identifier: Apache-2.0
//
// Runs the nodes of a Program one after the other. Machine (machine.h) adds agents. Private to the
// interpreter.
#pragma once

#include <optional>
#include <random>

#include "lowering/program/execute.h"

namespace tilewright::program {

class Execution {
 public:
  Execution(const Program& program, Compiled& compiled, const ir::Bindings& bindings,
            const InterpretOptions& options)
      : program_(program),
        compiled_(compiled),
        bindings_(bindings),
        options_(options),
        frame_(compiled.builder_->tape(), compiled.width_, false),
        buffers_(compiled.buffers_.size()),
        access_(buffers_, strands_, options.detect_races),
        random_(options.schedule_seed),
        coverage_(compiled.coverage_) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i] = &compiled.buffers_[i];
  }
  virtual ~Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  Result<InterpretResult> run(const ir::TensorMap& inputs);

 protected:
  Result<Ok> set_up(const Parameter& parameter, Buffer& buffer, const ir::TensorMap& inputs);
  Result<Ok> check_written(const Buffer& buffer) const;
  bool run_node(std::uint32_t id);

  // The whole program.
  virtual bool run_body() { return run_node(compiled_.root_); }
  // Evaluates the expressions of a statement; its accesses are compared between lanes.
  bool evaluate(const Node& node);
  void decide(int decision, bool first, bool second);
  void note_min_bounds(const Node& node);
  bool run_for(const Node& node, const For& loop);
  bool run_vector(const Node& node, const For& loop, std::int64_t lower, std::int64_t upper);
  bool run_parallel(const Node& node, const For& loop, std::int64_t lower, std::int64_t upper);

  // Runs the body with some of the lanes; nothing when none is left.
  bool run_masked(std::uint32_t body, const std::vector<std::uint8_t>& mask);
  bool run_uneven(const Node& node, const For& loop);
  bool run_if(const Node& node);
  bool run_let(const Node& node);
  bool run_alloc(const Node& node);
  bool run_store(const Node& node);
  bool run_while(const Node& node);
  bool run_ring(const Node& node);
  bool run_atomic(const Node& node);
  bool run_prefetch(const Node& node);
  // The update itself; *old gets what the cell held.
  bool update_atomically(const Node& node, ir::Scalar* old);
  // The cells of an `alloc`, in the buffer that its name stands for.
  bool allocate(const Node& node);
  // execute_call.cpp
  bool run_call(const Node& node);
  bool walk_tile(const Node& node, std::size_t operand, ir::Tensor& tensor, bool write);
  // Whether runs keep what agents know of each cell.
  virtual bool has_agents() const { return false; }
  // Who else was part of the trap, and who runs.
  virtual void add_parties(const Trap&, Diagnostic*) const {}
  std::uint32_t number_of(const Node& node) const {
    return static_cast<std::uint32_t>(&node - compiled_.nodes_.data());
  }
  bool stopped(const Node& node, const ir::Undefined& bad);
  Diagnostic describe(const Node& node, const Trap& trap) const;
  bool refuse(Diagnostic diagnostic, int lane);
  void add_sizes(Diagnostic* diagnostic) const;

  struct ActiveLoop {
    Symbol var;
    std::int64_t value;
    bool lanes;
    bool parallel = false;
  };
  std::string parallel_var(std::uint32_t depth) const;
  const Program& program_;
  Compiled& compiled_;
  const ir::Bindings& bindings_;
  const InterpretOptions& options_;
  ir::TapeFrame frame_;
  Strands strands_;
  std::vector<Buffer*> buffers_;  // what each name stands for now
  BufferAccess access_;
  std::mt19937_64 random_;
  Coverage coverage_;
  ir::Lanes lanes_;
  bool in_vector_ = false;
  std::vector<ActiveLoop> loops_;
  std::vector<std::int64_t> cell_;
  std::int64_t steps_ = 0;
  std::int64_t copies_ = 0;
  const Node* atomic_node_ = nullptr;  // while the expressions of an atomic are evaluated
  std::optional<Failure> failure_;
};

}  // namespace tilewright::program
