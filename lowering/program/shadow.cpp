// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/shadow.h"

#include "frontend/ir/cells.h"

namespace tilewright::program {

namespace {
// In place of a lane: several lanes read the cell.
constexpr std::uint64_t kManyLanes = 0xffff;
}  // namespace

StrandId Strands::enter(std::uint32_t instance, std::int64_t iteration) {
  const auto id = static_cast<StrandId>(strands_.size());
  strands_.push_back({current_, instance, strands_[current_].depth + 1, iteration});
  return current_ = id;
}

std::optional<Strands::Fork> Strands::concurrent(StrandId other) const {
  StrandId a = other;
  StrandId b = current_;
  while (strands_[a].depth > strands_[b].depth) a = strands_[a].parent;
  while (strands_[b].depth > strands_[a].depth) b = strands_[b].parent;
  // Of two branches the innermost common ancestor decides: iterations of one loop instance run at
  // the same time, of two instances one after the other.
  while (a != b) {
    const Strand& left = strands_[a];
    const Strand& right = strands_[b];
    if (left.parent == right.parent)
      return left.instance == right.instance ? std::optional<Fork>({left.depth, left.iteration})
                                             : std::nullopt;
    a = left.parent;
    b = right.parent;
  }
  return std::nullopt;
}

void Buffer::allocate(std::vector<std::int64_t> new_shape, bool with_lanes, bool with_history) {
  shape = std::move(new_shape);
  strides = ir::row_major(shape);
  std::size_t size = 1;
  for (std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
  ir::Scalar zero;
  zero.i = 0;
  cells.assign(size, zero);
  writer.assign(size, kNoStrand);
  reader.assign(size, kNoStrand);
  byte_writer.assign(per_byte > 1 && size > 0 ? byte_of(size - 1) + 1 : 0, kNoStrand);
  byte_reader.assign(byte_writer.size(), kNoStrand);
  lane_writer.assign(with_lanes ? size : 0, 0);
  lane_reader.assign(with_lanes ? size : 0, 0);
  history.resize(with_history ? size : 0);
  operations.clear();
}

void Buffer::give(const std::vector<ir::Scalar>& values) {
  cells = values;
  initialised = true;
  writer.assign(writer.size(), kRootStrand);
  byte_writer.assign(byte_writer.size(), kRootStrand);
}

bool BufferAccess::stop(Trap::Kind kind, bool writes, const Buffer& buffer,
                        const std::int64_t* cell, int lane, std::int64_t other) {
  trap_ = {kind, writes, &buffer,       {cell, cell + buffer.shape.size()}, lane, node_, other,
           0,    {},     Proxy::Generic};
  return false;
}

bool BufferAccess::race(Strands::Fork fork, bool writes, const Buffer& buffer,
                        const std::int64_t* cell, int lane) {
  stop(Trap::Kind::Race, writes, buffer, cell, lane, fork.iteration);
  trap_.fork_depth = fork.depth;
  return false;
}

bool BufferAccess::offset_of(const Buffer& buffer, const std::int64_t* cell,
                             std::int64_t* offset) const {
  *offset = 0;
  for (std::size_t d = 0; d < buffer.shape.size(); ++d) {
    if (static_cast<std::uint64_t>(cell[d]) >= static_cast<std::uint64_t>(buffer.shape[d]))
      return false;
    *offset += cell[d] * buffer.strides[d];
  }
  return true;
}

bool BufferAccess::load(const Buffer& source, const std::int64_t* cell, int lane, int num_lanes,
                        ir::Scalar* value) {
  std::int64_t offset = 0;
  if (!offset_of(source, cell, &offset))
    return stop(Trap::Kind::OutOfBounds, false, source, cell, lane);
  if (source.given) {
    *value = source.given[offset];
    return true;
  }
  const auto at = static_cast<std::size_t>(offset);
  *value = source.cells[at];
  if (who_) {
    note_lane_read(const_cast<Buffer&>(source), at, lane, num_lanes);
    return check_read(const_cast<Buffer&>(source), at, cell, lane);
  }
  const StrandId writer = source.writer[at];
  if (writer == kNoStrand) return stop(Trap::Kind::Uninitialised, false, source, cell, lane);
  if (!detect_races_) return true;
  Buffer& buffer = const_cast<Buffer&>(source);
  const StrandId now = strands_.current();
  const bool shares = source.per_byte > 1;
  const StrandId last_writer = shares ? source.byte_writer[source.byte_of(at)] : writer;
  if (last_writer != now)
    if (auto fork = strands_.concurrent(last_writer)) return race(*fork, false, source, cell, lane);
  StrandId& reader = shares ? buffer.byte_reader[buffer.byte_of(at)] : buffer.reader[at];
  if (reader != now && (reader == kNoStrand || !strands_.concurrent(reader))) reader = now;
  note_lane_read(buffer, at, lane, num_lanes);
  return true;
}

int BufferAccess::read(const ir::ReadSite& site, const ir::Instr& instr, ir::TapeFrame& frame,
                       const ir::Lanes& lanes) {
  const Buffer& buffer = *buffers_[site.tensor];
  const int n = instr.column ? lanes.n : 1;
  const std::size_t rank = site.parts.size();
  index_.resize(rank);
  // A read without lanes is every active lane's read.
  int active = 1;
  if (!instr.column && in_vector_ && lanes.n > 1) {
    active = lanes.mask ? 0 : lanes.n;
    for (int l = 0; lanes.mask && l < lanes.n; ++l) active += lanes.mask[l] != 0;
  }
  ir::Scalar* out = frame.value[instr.dst];
  int only = 0;
  while (!instr.column && active == 1 && lanes.mask && only < lanes.n && !lanes.mask[only]) ++only;
  for (int l = 0; l < n; ++l) {
    if (instr.column && lanes.mask && !lanes.mask[l]) {
      out[l].i = 0;
      continue;
    }
    for (std::size_t d = 0; d < rank; ++d) {
      const ir::ReadSite::Part& part = site.parts[d];
      const ir::Scalar* at = frame.value[part.slot];
      index_[d] = instr.column && !site.affine ? at[l].i : at->i + part.step * l;
    }
    if (!load(buffer, index_.data(), instr.column ? l : only, instr.column ? 1 : active, &out[l]))
      return l;
  }
  return -1;
}

bool BufferAccess::write(std::uint32_t target, const std::int64_t* cell, int lane,
                         ir::Scalar value) {
  Buffer& buffer = *buffers_[target];
  std::int64_t offset = 0;
  if (!offset_of(buffer, cell, &offset))
    return stop(Trap::Kind::OutOfBounds, true, buffer, cell, lane);
  const auto at = static_cast<std::size_t>(offset);
  if (who_) {
    if (effect_ != Effect::Check) buffer.cells[at] = value;
    if (!check_write(buffer, at, cell, lane)) return false;
    buffer.writer[at] = kRootStrand;
    return check_lanes(buffer, at, cell, lane);
  }
  buffer.cells[at] = value;
  const StrandId now = strands_.current();
  if (detect_races_) {
    const bool shares = buffer.per_byte > 1;
    const std::size_t byte = shares ? buffer.byte_of(at) : 0;
    for (StrandId other : {shares ? buffer.byte_writer[byte] : buffer.writer[at],
                           shares ? buffer.byte_reader[byte] : buffer.reader[at]})
      if (other != now && other != kNoStrand)
        if (auto fork = strands_.concurrent(other)) return race(*fork, true, buffer, cell, lane);
    if (!check_lanes(buffer, at, cell, lane)) return false;
  }
  buffer.writer[at] = now;
  if (buffer.per_byte > 1) buffer.byte_writer[buffer.byte_of(at)] = now;
  return true;
}

bool BufferAccess::check_lanes(Buffer& buffer, std::size_t at, const std::int64_t* cell, int lane) {
  if (!in_vector_ || buffer.lane_writer.empty()) return true;
  const std::uint64_t now = (statement_ << 16) + static_cast<std::uint64_t>(lane);
  for (std::uint64_t other : {buffer.lane_writer[at], buffer.lane_reader[at]})
    if ((other >> 16) == statement_ && other != now)
      return stop(Trap::Kind::LaneConflict, true, buffer, cell, lane,
                  (other & 0xffff) == kManyLanes ? -1 : static_cast<std::int64_t>(other & 0xffff));
  buffer.lane_writer[at] = now;
  return true;
}

void BufferAccess::note_lane_read(Buffer& buffer, std::size_t at, int lane, int num_lanes) {
  if (!in_vector_ || buffer.lane_reader.empty()) return;
  std::uint64_t& last = buffer.lane_reader[at];
  const std::uint64_t now =
      (statement_ << 16) + (num_lanes > 1 ? kManyLanes : static_cast<std::uint64_t>(lane));
  last = (last >> 16) == statement_ && last != now ? (statement_ << 16) + kManyLanes : now;
}

}  // namespace tilewright::program
