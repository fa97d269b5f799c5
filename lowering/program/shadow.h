// SPDX-License-Identifier: Apache-2.0
//
// Buffers that remember who wrote and read each cell. Iterations of parallel loops are strands in a
// tree; two accesses of a cell race when their strands are different iterations of one loop instance
// and one of them writes. As in SP-bags (Feng and Leiserson, 1997) one writer and one reader per cell
// are enough to find a race on it if there is one: a reader is replaced only by one that follows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/ir/tape.h"
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
  std::vector<StrandId> writer;
  std::vector<StrandId> reader;
  // Of an output whose elements share bytes: the same by byte, since a store writes the whole byte.
  int per_byte = 1;
  std::vector<StrandId> byte_writer;
  std::vector<StrandId> byte_reader;
  // Statement and lane of the last access inside a vector loop: statement * 2^16 + lane.
  std::vector<std::uint64_t> lane_writer;
  std::vector<std::uint64_t> lane_reader;

  // The byte of a cell, counting from 0.
  std::size_t byte_of(std::size_t cell) const {
    const auto row = static_cast<std::size_t>(shape.empty() ? 1 : shape.back());
    const auto width = static_cast<std::size_t>(per_byte);
    return cell / row * ((row + width - 1) / width) + cell % row / width;
  }
  // Fresh cells that nobody wrote.
  void allocate(std::vector<std::int64_t> new_shape, bool with_lanes);
};

// Why an access stopped the program.
struct Trap {
  enum class Kind : std::uint8_t { None, OutOfBounds, Uninitialised, Race, LaneConflict };
  Kind kind = Kind::None;
  bool writes = false;
  const Buffer* buffer = nullptr;
  std::vector<std::int64_t> cell;
  int lane = 0;
  std::int64_t other = 0;  // the iteration or lane of the earlier access
  std::uint32_t fork_depth = 0;  // of a race: which parallel loop, outermost 1
};

// Reads and writes of one Program execution.
class BufferAccess final : public ir::TapeReader {
 public:
  BufferAccess(std::vector<Buffer>& buffers, Strands& strands, bool detect_races)
      : buffers_(buffers), strands_(strands), detect_races_(detect_races) {}

  // Starts a statement; lanes are compared within it.
  void begin_statement(bool in_vector) {
    ++statement_;
    in_vector_ = in_vector;
  }
  int read(const ir::ReadSite& site, const ir::Instr& instr, ir::TapeFrame& frame,
           const ir::Lanes& lanes) override;
  // False on a trap.
  bool write(std::uint32_t buffer, const std::int64_t* cell, int lane, ir::Scalar value);
  const Trap& trap() const { return trap_; }

 private:
  bool stop(Trap::Kind kind, bool writes, const Buffer& buffer, const std::int64_t* cell, int lane,
            std::int64_t other = 0);
  bool race(Strands::Fork fork, bool writes, const Buffer& buffer, const std::int64_t* cell,
            int lane);
  bool offset_of(const Buffer& buffer, const std::int64_t* cell, std::int64_t* offset) const;
  bool load(const Buffer& source, const std::int64_t* cell, int lane, int num_lanes,
            ir::Scalar* value);

  std::vector<Buffer>& buffers_;
  Strands& strands_;
  bool detect_races_;
  bool in_vector_ = false;
  std::uint64_t statement_ = 0;
  std::vector<std::int64_t> index_;
  Trap trap_;
};

}  // namespace tilewright::program
