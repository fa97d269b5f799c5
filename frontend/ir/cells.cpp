// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/cells.h"

#include <limits>

#include "frontend/ir/intervals.h"

namespace tilewright::ir {

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0; step *= shape[d]) strides[d] = step;
  return strides;
}

namespace {

std::int64_t index(const ReadSite::Part& part, const TapeFrame& frame, bool affine, int l) {
  const Scalar* at = frame.value[part.slot];
  std::int64_t out = 0;
  // Beyond 64 bits is out of bounds as well.
  if (!affine) return at[l].i;
  if (__builtin_mul_overflow(part.step, static_cast<std::int64_t>(l), &out) ||
      __builtin_add_overflow(out, at->i, &out))
    return std::numeric_limits<std::int64_t>::min();
  return out;
}

void own(TapeFrame& frame, Slot dst) {
  frame.value[dst] = frame.own_value[dst];
  frame.low[dst] = frame.own_low[dst];
  frame.high[dst] = frame.own_high[dst];
}

void hull(const Cells& cells, const std::vector<std::int64_t>& low,
          const std::vector<std::int64_t>& high, Scalar* out_low, Scalar* out_high) {
  std::vector<std::int64_t> at = low;
  const bool floating = is_float(cells.type);
  for (bool first = true;; first = false) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < at.size(); ++d) offset += at[d] * cells.strides[d];
    const Scalar a = cells.low[offset];
    const Scalar b = cells.high[offset];
    if (first || (floating ? a.f < out_low->f : integer_less(cells.type, a.i, out_low->i)))
      *out_low = a;
    if (first || (floating ? b.f > out_high->f : integer_less(cells.type, out_high->i, b.i)))
      *out_high = b;
    std::size_t d = at.size();
    while (d > 0 && at[d - 1] == high[d - 1]) at[d - 1] = low[d - 1], --d;
    if (d == 0) return;
    ++at[d - 1];
  }
}

}  // namespace

int CellReader::read(const ReadSite& site, const Instr& instr, TapeFrame& frame,
                     const Lanes& lanes) {
  const int n = instr.column ? lanes.n : 1;
  const Cells& cells = store_[site.tensor];
  if (!instr.certain && !site.certain_index) return read_hull(site, instr, frame, lanes, n);
  if ((!instr.column || site.affine) && read_affine(site, instr, frame, cells, n)) return -1;
  return read_each(site, instr, frame, lanes, n);
}

// All lanes in bounds, at a constant distance: no copy when they are neighbours.
bool CellReader::read_affine(const ReadSite& site, const Instr& instr, TapeFrame& frame,
                             const Cells& cells, int n) {
  std::int64_t offset = 0;
  std::int64_t step = 0;
  for (std::size_t d = 0; d < site.parts.size(); ++d) {
    const auto extent = static_cast<std::uint64_t>(cells.shape[d]);
    const std::int64_t first = frame.value[site.parts[d].slot]->i;
    const std::int64_t last = index(site.parts[d], frame, true, n - 1);
    if (static_cast<std::uint64_t>(first) >= extent || static_cast<std::uint64_t>(last) >= extent)
      return false;
    offset += first * cells.strides[d];
    step += site.parts[d].step * cells.strides[d];
  }
  const Slot dst = instr.dst;
  // Columns point into the tensor; no step writes through a pointer that Read has set.
  if (n == 1 || step == 1) {
    frame.value[dst] = const_cast<Scalar*>(cells.value + offset);
    frame.low[dst] = const_cast<Scalar*>(cells.low + offset);
    frame.high[dst] = const_cast<Scalar*>(cells.high + offset);
    return true;
  }
  own(frame, dst);
  auto gather = [&](const Scalar* from, Scalar* to) {
    from += offset;
    for (int l = 0; l < n; ++l) to[l] = from[l * step];
  };
  gather(cells.value, frame.value[dst]);
  if (!instr.certain) {
    gather(cells.low, frame.low[dst]);
    gather(cells.high, frame.high[dst]);
  }
  return true;
}

int CellReader::read_each(const ReadSite& site, const Instr& instr, TapeFrame& frame,
                          const Lanes& lanes, int n) {
  const Cells& cells = store_[site.tensor];
  own(frame, instr.dst);
  for (int l = 0; l < n; ++l) {
    const std::uint8_t mask = instr.column ? (lanes.mask ? lanes.mask[l] : kActive) : lanes.any;
    Scalar* value = &frame.value[instr.dst][l];
    value->i = 0;
    std::int64_t offset = 0;
    bool inside = mask != 0;
    for (std::size_t d = 0; d < site.parts.size() && inside; ++d) {
      const std::int64_t i = index(site.parts[d], frame, !instr.column || site.affine, l);
      inside = i >= 0 && i < cells.shape[d];
      if (inside) offset += i * cells.strides[d];
    }
    if (inside) *value = cells.value[offset];
    if (!inside && (mask & kChosen)) return l;
    if (instr.certain) continue;
    frame.low[instr.dst][l] = inside ? cells.low[offset] : *value;
    frame.high[instr.dst][l] = inside ? cells.high[offset] : *value;
    if (!inside) no_claim(cells.type, &frame.low[instr.dst][l], &frame.high[instr.dst][l]);
  }
  return -1;
}

// An index that rounding may change: the hull over all cells that it may name.
int CellReader::read_hull(const ReadSite& site, const Instr& instr, TapeFrame& frame,
                          const Lanes& lanes, int n) {
  const Cells& cells = store_[site.tensor];
  const int bad = read_each(site, instr, frame, lanes, n);
  if (bad >= 0) return bad;
  const bool affine = !instr.column || site.affine;
  for (int l = 0; l < n; ++l) {
    if (lanes.mask && instr.column && !lanes.mask[l]) continue;
    std::vector<std::int64_t> low, high;
    std::int64_t count = 1;
    bool known = true;
    for (std::size_t d = 0; d < site.parts.size() && known; ++d) {
      const ReadSite::Part& part = site.parts[d];
      const int at = affine ? 0 : l;
      const std::int64_t a = frame.low[part.slot][at].i + (affine ? l * part.step : 0);
      const std::int64_t b = frame.high[part.slot][at].i + (affine ? l * part.step : 0);
      known = a >= 0 && b < cells.shape[d] && a <= b;
      if (known) count *= b - a + 1;
      known &= count <= 4096;
      low.push_back(a);
      high.push_back(b);
    }
    Scalar* out_low = &frame.low[instr.dst][l];
    Scalar* out_high = &frame.high[instr.dst][l];
    no_claim(cells.type, out_low, out_high);
    if (known) hull(cells, low, high, out_low, out_high);
  }
  return -1;
}

}  // namespace tilewright::ir
