// SPDX-License-Identifier: Apache-2.0
//
// Expressions compiled to flat code over columns: every instruction runs over up to `width`
// consecutive values of one lane variable, so interpreting costs little per scalar. Code stands in
// blocks by loop level; what does not depend on an inner loop is computed outside of it. Laws: an
// arm of a select runs only for the lanes that choose it, and nothing that may be undefined is moved
// out of its arm. Used by the algorithm interpreter (all readings) and the Program interpreter.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/kernels.h"

namespace tilewright::ir {

using Slot = std::uint32_t;
using BlockId = std::uint32_t;

// One step. `column` steps run over all lanes, the others once.
struct Instr {
  enum class Kind : std::uint8_t { Compute, Broadcast, Select, Read };
  Kind kind = Kind::Compute;
  bool column = false;
  bool certain = true;  // no interval is kept for the result
  Kernel kernel = nullptr;
  Slot dst = 0;
  Slot args[3] = {0, 0, 0};
  std::uint32_t site = 0;  // of a Select or Read
  Expr expr;
};

struct SelectSite {
  BlockId then_block = 0;
  BlockId else_block = 0;
  Slot then_slot = 0;
  Slot else_slot = 0;
};

// A read. Affine: part d is the scalar index of the first lane and grows by `step` per lane;
// otherwise part d is a column.
struct ReadSite {
  struct Part {
    Slot slot = 0;
    std::int64_t step = 0;
  };
  std::uint32_t tensor = 0;
  bool affine = true;
  bool certain_index = true;
  std::vector<Part> parts;
};

struct SlotInfo {
  bool column = false;
  bool certain = true;
  bool constant = false;
  bool in_arm = false;  // computed inside an arm or a flat block only
  int level = 0;
  Scalar value = {0.0};  // of a constant
  bool floating = false;
  ScalarType type = ScalarType::Index;  // of what an instruction computes
};

struct Tape {
  std::vector<std::vector<Instr>> blocks;  // one per level first
  std::vector<SlotInfo> slots;
  std::vector<SelectSite> selects;
  std::vector<ReadSite> reads;
};

// What the names in an expression stand for.
class TapeScope {
 public:
  virtual ~TapeScope() = default;
  // Position of a tensor in the reader's table, or none.
  virtual std::optional<std::uint32_t> tensor(Symbol name) const = 0;
  // Whether a tensor's cells are known without rounding error.
  virtual bool certain(std::uint32_t tensor) const = 0;
  virtual std::optional<std::int64_t> extent(Symbol name) const = 0;
};

// Compiles expressions of one equation or statement into a Tape.
class TapeBuilder {
 public:
  // `reals` reads every float type as f64 and float casts as the identity; `intervals` keeps track of
  // which values are uncertain. `num_levels` counts the loops outside, plus one for constants.
  TapeBuilder(const TapeScope& scope, int num_levels, bool reals, bool intervals);

  // A scalar variable that the driver sets, with its interval unless it is certain; level 1 is the outermost
  // loop.
  Slot add_var(Symbol name, int level, bool floating = false, bool certain = true);
  // The lane variable: a scalar slot with the value of the first lane, a column with all.
  struct LaneSlots {
    Slot first;
    Slot all;
  };
  LaneSlots add_lane_var(Symbol name, int level);
  // A variable that differs between lanes without being affine; the driver fills the column.
  Slot add_column_var(Symbol name, int level, bool floating);

  // The slot that holds the value after the blocks of its levels ran.
  Result<Slot> compile(Expr expr);
  // The same as a column.
  Slot as_column(Slot slot);
  // Code that runs as a whole, whenever the driver wants, for values needed outside of the levels.
  BlockId begin_flat();
  void end_flat();

  const SlotInfo& info(Slot slot) const { return tape_.slots[slot]; }
  const Tape& tape() const { return tape_; }
  // The type that this reading computes in.
  ScalarType in_reading(ScalarType type) const;

 private:
  struct Variable {
    Slot scalar = 0;
    Slot column = 0;
    bool is_lane = false;
    bool has_column = false;
    int level = 0;
  };
  struct Facts {
    int level = 0;
    bool lanes = false;  // differs between lanes
  };
  struct Frame {
    BlockId block = 0;
    bool flat = false;
    std::unordered_map<std::uint64_t, Slot> done;
    std::unordered_map<Slot, Slot> broadcasts;
  };

  void bind(Symbol name, const Variable& variable);
  const Facts& facts(Expr expr);
  std::optional<std::int64_t> step(Expr expr);
  std::optional<std::int64_t> constant_index(Expr expr);
  Slot compile(Expr expr, bool first_lane);
  Slot compile_new(Expr expr, bool first_lane);
  Slot compile_compute(Expr expr, std::span<const Expr> args, Kernel kernel, bool total,
                       bool first_lane);
  Slot compile_select(const Select& select, bool first_lane);
  Slot compile_read(const Read& read, bool first_lane);
  Slot constant(Scalar value, bool floating);
  Slot new_slot(SlotInfo info);
  BlockId new_block();
  Slot emit(Instr instr, Expr expr, bool total, bool first_lane, bool uncertain);
  void refuse(Expr expr, std::string message);

  const TapeScope& scope_;
  bool reals_;
  bool intervals_;
  Tape tape_;
  std::vector<Frame> frames_;
  std::unordered_map<Symbol, Variable> vars_;
  std::unordered_map<std::uint32_t, Facts> facts_;
  std::optional<Failure> failure_;
};

// Where the slots of a tape live. `value[s]` points to the current values of slot s, `low` and
// `high` to the interval that holds every conforming value (the same pointer when certain).
struct TapeFrame {
  TapeFrame(const Tape& tape, int width, bool intervals);
  int width;
  bool intervals;
  std::vector<Scalar*> value, low, high;
  std::vector<Scalar*> own_value, own_low, own_high;
  std::vector<Scalar> storage;
  std::vector<std::vector<std::uint8_t>> mask_pool;
};

struct Lanes {
  int n = 1;
  const std::uint8_t* mask = nullptr;  // null: all active
  std::uint8_t any = kActive;  // union of the mask
};

// An operation that had no meaning: which, and in which lane.
struct Undefined {
  const Instr* instr = nullptr;
  int lane = 0;
};

// Reads cells for `run`; returns the first lane that must not read, or -1.
class TapeReader {
 public:
  virtual ~TapeReader() = default;
  virtual int read(const ReadSite& site, const Instr& instr, TapeFrame& frame,
                   const Lanes& lanes) = 0;
};

// Runs a block; false when an operation was undefined.
bool run(const Tape& tape, BlockId block, TapeFrame& frame, const Lanes& lanes, TapeReader& reader,
         Undefined* undefined);

}  // namespace tilewright::ir
