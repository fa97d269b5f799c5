// SPDX-License-Identifier: Apache-2.0
//
// Runs a listing on data. Laws: what LLVM leaves undefined stops the run with a reason, or is poison that stops it
// where it is stored to an argument, branched on or used as an address; flags that promise something about values
// are checked where these are known, and are claims for the solver where not. A parallel loop that goes through the
// executor is run iteration by iteration, last first, by two workers in turn.
// Tests: tests/unit/lowering/validate/execute_test.cpp.
#pragma once

#include <span>
#include <unordered_map>

#include "lowering/validate/described.h"
#include "lowering/validate/listing.h"
#include "lowering/validate/memory.h"

namespace tilewright::validate {

// Why a run stopped.
struct Stop {
  std::string reason;  // empty: it did not
  TermId data = 0;  // not 0: it must know the value of this
  std::string instruction;
};

// What a flag promises: the operation on these operands does not leave its range.
struct Claim {
  enum class Kind : std::uint8_t { NoSignedWrap, NoUnsignedWrap, True };
  Kind kind = Kind::True;
  TermOp op = TermOp::Add;
  TermId a = 0, b = 0;  // True: a alone
  std::string instruction;
};

class Machine {
 public:
  Machine(ir::Context& context, const Listing& listing, Arithmetic& arithmetic);

  Memory& memory() { return memory_; }
  // A pointer to what stands for the executor's parallel_for.
  Datum parallel_for() const { return Datum::pointer(parallel_for_, 0); }
  // False after `stop` says why.
  bool call(const Function& function, const std::vector<Datum>& arguments,
            std::vector<Datum>* result);

  Stop stop;
  std::vector<Claim> claims;
  std::int64_t steps = 0;
  std::int64_t step_limit = 0;
  // By function and block: whether it ran.
  std::vector<std::vector<bool>> reached;
  // The workspace, of which a worker has a slice.
  std::uint32_t workspace = 0;

 private:
  struct Frame {
    const Function* function = nullptr;
    const std::vector<std::uint32_t>* base = nullptr;
    std::vector<Datum> values;
    std::vector<std::uint32_t> allocas;
  };
  using Lanes = std::span<const Datum>;

  const std::vector<std::uint32_t>& bases(const Function& function);
  void set_constants(Frame& frame);
  Lanes lanes(const Frame& frame, ValueId id) const {
    return {frame.values.data() + (*frame.base)[id], frame.function->lanes_of[id]};
  }
  Datum* result(Frame& frame, const Instruction& i) {
    return frame.values.data() + (*frame.base)[i.result];
  }
  bool fail(std::string reason);
  bool needs(const Datum& datum, const char* what);
  bool run(Frame& frame, std::vector<Datum>* returned);
  bool enter(Frame& frame, std::uint32_t from, std::uint32_t to);
  bool step(Frame& frame, const Instruction& i);
  bool run_parallel(const std::vector<Datum>& arguments, std::vector<Datum>* result);
  bool call_named(Frame& frame, const Instruction& i);
  bool call_pointer(Frame& frame, const Instruction& i);

  // instructions.cpp
  bool lane_wise(Frame& frame, const Instruction& i);
  Datum binary(const Instruction& i, Sort sort, const Datum& a, const Datum& b);
  Datum compare(const Instruction& i, Sort sort, const Datum& a, const Datum& b);
  Datum convert(const Instruction& i, Sort from, Sort to, const Datum& a);
  Datum choose(Sort sort, const Datum& c, const Datum& a, const Datum& b);
  bool select(Frame& frame, const Instruction& i);
  bool bit_cast(Frame& frame, const Instruction& i);
  bool address(Frame& frame, const Instruction& i);
  bool move_lanes(Frame& frame, const Instruction& i);
  std::vector<Datum> recast_lanes(std::span<const Sort> from, Lanes values,
                                  std::span<const Sort> to);
  Sort sort_of(const Frame& frame, ValueId id) const;
  void claim(Claim::Kind kind, TermOp op, const Datum& a, const Datum& b, Sort sort);
  void check_flags(const Instruction& i, TermOp op, Sort sort, const Datum& a, const Datum& b,
                   Datum* out);

  // intrinsics.cpp
  bool intrinsic(Frame& frame, const Instruction& i);
  bool masked(Frame& frame, const Instruction& i, bool* done);
  bool reduce(Frame& frame, const Instruction& i, bool* done);
  bool scalar_intrinsic(Frame& frame, const Instruction& i, bool* done);
  bool overflow(Frame& frame, const Instruction& i, bool* done);
  bool described(Frame& frame, const Instruction& i, bool* done);

  ir::Context& context_;
  const Listing& listing_;
  Arithmetic& do_;
  Memory memory_;
  std::unordered_map<const Function*, std::vector<std::uint32_t>> bases_;
  std::unordered_map<const Function*, std::vector<Sort>> sorts_;
  std::vector<std::uint32_t> function_objects_;
  std::vector<std::uint32_t> global_objects_;
  std::unordered_map<std::string, std::optional<machine::Meaning>> emissions_;
  std::uint32_t parallel_for_ = 0;
  std::uint32_t features_ = 0;
  const Instruction* current_ = nullptr;
  int depth_ = 0;
};

}  // namespace tilewright::validate
