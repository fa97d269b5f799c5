// SPDX-License-Identifier: Apache-2.0
//
// Buffers that remember who wrote and read each cell. Programs with agents are checked by vector clocks
// (clocks.h). Of others, iterations of parallel loops are strands in a
// tree; two accesses of a cell race when their strands are different iterations of one loop instance
// and one of them writes. As in SP-bags (Feng and Leiserson, 1997) one writer and one reader per cell
// are enough to find a race on it if there is one: a reader is replaced only by one that follows it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ir/tape.h"
#include "lowering/program/clocks.h"
#include "lowering/program/program.h"

namespace tilewright::program {

using StrandId = std::uint32_t;
inline constexpr StrandId kNoStrand = 0;  // of a cell that nobody wrote
inline constexpr StrandId kRootStrand = 1;

class Strands {
 public:
  Strands() : strands_{{0, 0, 0, 0}, {0, 0, 0, 0}} {}
  StrandId current() const { return current_; }
  // A new instance of a parallel loop, and its iterations.
  std::uint32_t new_instance() { return ++instances_; }
  StrandId enter(std::uint32_t instance, std::int64_t iteration);
  void leave(StrandId outer) { current_ = outer; }
  // Where `other` leaves the path to the current strand: the nesting depth of the parallel loop (from
  // 1) and the other iteration of it.
  struct Fork {
    std::uint32_t depth;
    std::int64_t iteration;
  };
  // None when the two run one after the other.
  std::optional<Fork> concurrent(StrandId other) const;

 private:
  struct Strand {
    StrandId parent;
    std::uint32_t instance;
    std::uint32_t depth;
    std::int64_t iteration;
  };
  std::vector<Strand> strands_;
  StrandId current_ = kRootStrand;
  std::uint32_t instances_ = 0;
};

struct Buffer {
  Symbol name;
  ir::ScalarType type = ir::ScalarType::F32;
  bool writable = true;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::vector<ir::Scalar> cells;
  const ir::Scalar* given = nullptr;  // of an input: the caller's cells, without shadow
  bool initialised = false;  // the caller gave values, which are there before all else
  std::vector<StrandId> writer;
  std::vector<StrandId> reader;
  // Of an output whose elements share bytes: the same by byte, since a store writes the whole byte.
  int per_byte = 1;
  std::vector<StrandId> byte_writer;
  std::vector<StrandId> byte_reader;
  // Statement and lane of the last access inside a vector loop: statement * 2^16 + lane.
  std::vector<std::uint64_t> lane_writer;
  std::vector<std::uint64_t> lane_reader;
  // In programs with agents.
  Space space = Space::Global;
  CellHistory history;
  std::vector<AgentId> operations;  // asynchronous ones that use it

  // The byte of a cell, counting from 0.
  std::size_t byte_of(std::size_t cell) const {
    const auto row = static_cast<std::size_t>(shape.empty() ? 1 : shape.back());
    const auto width = static_cast<std::size_t>(per_byte);
    return cell / row * ((row + width - 1) / width) + cell % row / width;
  }
  // Cells that were written before all else. After allocate().
  void give(const std::vector<ir::Scalar>& values);
  // Fresh cells that nobody wrote.
  void allocate(std::vector<std::int64_t> new_shape, bool with_lanes, bool with_history = false);
};

// Why an access stopped the program.
struct Trap {
  enum class Kind : std::uint8_t {
    None,
    OutOfBounds,
    Uninitialised,
    Race,
    LaneConflict,
    // of agents: `earlier` is the other access
    AgentRace,
    ReadInFlight,
    Overwritten,
    MissingFence,
    NarrowScope
  };
  Kind kind = Kind::None;
  bool writes = false;
  const Buffer* buffer = nullptr;
  std::vector<std::int64_t> cell;
  int lane = 0;
  std::uint32_t node = 0;  // the statement
  std::int64_t other = 0;  // the iteration or lane of the earlier access
  std::uint32_t fork_depth = 0;  // of a race: which parallel loop, outermost 1
  Access earlier = {};
  Proxy path = Proxy::Generic;  // of this access
};

// Reads and writes of one Program execution.
class BufferAccess final : public ir::TapeReader {
 public:
  // `buffers` maps numbers to the instances that the running agent sees.
  BufferAccess(std::vector<Buffer*>& buffers, Strands& strands, bool detect_races)
      : buffers_(buffers), strands_(strands), detect_races_(detect_races) {}

  // What an access does in a program with agents. Full: check and carry out. Check: check alone, as of
  // an asynchronous operation at its start. Carry: carry out alone, when it takes place.
  enum class Effect : std::uint8_t { Full, Check, Carry };
  // From here on accesses are those of this agent.
  void follow(const AgentTree& tree, const Knowledge& who, Effect effect) {
    tree_ = &tree;
    who_ = &who;
    effect_ = effect;
  }
  Effect effect() const { return effect_; }
  // Bytes that were stored since the last call.
  std::int64_t take_bytes() { return std::exchange(bytes_, 0); }
  // The first read of a cell that nobody had written: trapped at the end only, since of agents it may be
  // the sign of a race.
  const std::optional<Trap>& unwritten() const { return unwritten_; }

  // Starts a statement; lanes are compared within it.
  void begin_statement(bool in_vector, std::uint32_t node = 0) {
    ++statement_;
    in_vector_ = in_vector;
    node_ = node;
    atomic_ = nullptr;
  }
  // Accesses of this buffer are parts of atomics until the next statement.
  void begin_atomic(const Buffer& buffer, Scope scope) {
    atomic_ = &buffer;
    atomic_scope_ = scope;
  }
  int read(const ir::ReadSite& site, const ir::Instr& instr, ir::TapeFrame& frame,
           const ir::Lanes& lanes) override;
  // False on a trap.
  bool write(std::uint32_t buffer, const std::int64_t* cell, int lane, ir::Scalar value);
  // Whether the buffer has the cell; a trap otherwise.
  bool is_inside(std::uint32_t buffer, const std::int64_t* cell) {
    std::int64_t offset = 0;
    return offset_of(*buffers_[buffer], cell, &offset) ||
           stop(Trap::Kind::OutOfBounds, false, *buffers_[buffer], cell, 0);
  }
  const Trap& trap() const { return trap_; }
  // One cell for a statement that is no expression; false on a trap.
  bool read_cell(std::uint32_t buffer, const std::int64_t* cell, ir::Scalar* value) {
    return load(*buffers_[buffer], cell, 0, 1, value);
  }

 private:
  bool conflict(Trap::Kind kind, const Access& earlier, bool writes, const Buffer& buffer,
                const std::int64_t* cell, int lane);
  // The access of this agent that is being made.
  Access mine(Buffer& buffer) const;
  // Whether what the access wrote may be seen now; a trap otherwise.
  bool sees(const Access& write, bool writes, const Buffer& buffer, const std::int64_t* cell,
            int lane);
  // Lanes of a vector loop against each other.
  bool check_lanes(Buffer& buffer, std::size_t at, const std::int64_t* cell, int lane);
  void note_lane_read(Buffer& buffer, std::size_t at, int lane, int num_lanes);
  bool check_read(Buffer& buffer, std::size_t at, const std::int64_t* cell, int lane);
  bool check_write(Buffer& buffer, std::size_t at, const std::int64_t* cell, int lane);
  bool stop(Trap::Kind kind, bool writes, const Buffer& buffer, const std::int64_t* cell, int lane,
            std::int64_t other = 0);
  bool race(Strands::Fork fork, bool writes, const Buffer& buffer, const std::int64_t* cell,
            int lane);
  bool offset_of(const Buffer& buffer, const std::int64_t* cell, std::int64_t* offset) const;
  bool load(const Buffer& source, const std::int64_t* cell, int lane, int num_lanes,
            ir::Scalar* value);

  std::vector<Buffer*>& buffers_;
  Strands& strands_;
  const AgentTree* tree_ = nullptr;
  const Knowledge* who_ = nullptr;  // null: no agents
  Effect effect_ = Effect::Full;
  const Buffer* atomic_ = nullptr;
  Scope atomic_scope_ = Scope::None;
  std::uint32_t node_ = 0;
  std::int64_t bytes_ = 0;
  std::optional<Trap> unwritten_;
  bool detect_races_;
  bool in_vector_ = false;
  std::uint64_t statement_ = 0;
  std::vector<std::int64_t> index_;
  Trap trap_;
};

}  // namespace tilewright::program
