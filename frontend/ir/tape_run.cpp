// SPDX-License-Identifier: Apache-2.0
//
// Executes tapes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/ir/intervals.h"
#include "frontend/ir/tape.h"

namespace tilewright::ir {

TapeFrame::TapeFrame(const Tape& tape, int frame_width, bool with_intervals)
    : width(std::max(frame_width, 1)), intervals(with_intervals) {
  const std::size_t n = tape.slots.size();
  std::size_t cells = 0;
  auto cells_of = [&](const SlotInfo& info) {
    return (info.column ? static_cast<std::size_t>(width) : 1U) *
           (intervals && !info.certain ? 3U : 1U);
  };
  for (const SlotInfo& info : tape.slots) cells += cells_of(info);
  Scalar zero;
  zero.i = 0;
  storage.assign(cells, zero);
  value.resize(n);
  low.resize(n);
  high.resize(n);
  std::size_t at = 0;
  for (std::size_t s = 0; s < n; ++s) {
    const SlotInfo& info = tape.slots[s];
    const std::size_t lanes = info.column ? static_cast<std::size_t>(width) : 1U;
    const bool wide = intervals && !info.certain;
    value[s] = storage.data() + at;
    low[s] = wide ? value[s] + lanes : value[s];
    high[s] = wide ? low[s] + lanes : value[s];
    at += cells_of(info);
    if (!info.constant) continue;
    std::fill_n(value[s], lanes, info.value);
    if (!wide) continue;
    std::fill_n(low[s], lanes, info.value);
    std::fill_n(high[s], lanes, info.value);
    if (info.floating && std::isnan(info.value.f))
      for (std::size_t l = 0; l < lanes; ++l) no_claim(ScalarType::F64, &low[s][l], &high[s][l]);
  }
  own_value = value;
  own_low = low;
  own_high = high;
}

namespace {

// Chooses between two columns (or scalars) lane by lane, running only what is chosen.
class SelectRun {
 public:
  SelectRun(const Tape& tape, const Instr& instr, TapeFrame& frame, const Lanes& lanes)
      : tape_(tape), instr_(instr), site_(tape.selects[instr.site]), frame_(frame), lanes_(lanes) {}

  bool run_arms(TapeReader& reader, Undefined* undefined) {
    const Slot condition = instr_.args[0];
    const int n = instr_.column ? lanes_.n : 1;
    const bool column = tape_.slots[condition].column;
    if (!column && frame_.low[condition] == frame_.value[condition]) {
      const bool chosen = frame_.value[condition]->i != 0;
      if (!run(tape_, chosen ? site_.then_block : site_.else_block, frame_, lanes_, reader,
               undefined))
        return false;
      point_to(chosen ? site_.then_slot : site_.else_slot);
      return true;
    }
    std::vector<std::uint8_t> masks = take_masks(2 * static_cast<std::size_t>(n));
    std::uint8_t* then_mask = masks.data();
    std::uint8_t* else_mask = masks.data() + n;
    const bool done = split(condition, column, n, then_mask, else_mask) &&
                      run_both(then_mask, else_mask, n, reader, undefined);
    frame_.mask_pool.push_back(std::move(masks));
    return done;
  }

 private:
  std::vector<std::uint8_t> take_masks(std::size_t size) {
    std::vector<std::uint8_t> masks;
    if (!frame_.mask_pool.empty()) {
      masks = std::move(frame_.mask_pool.back());
      frame_.mask_pool.pop_back();
    }
    masks.resize(size);
    return masks;
  }

  std::uint8_t outer(int l) const {
    return instr_.column ? (lanes_.mask ? lanes_.mask[l] : kActive) : lanes_.any;
  }

  bool split(Slot condition, bool column, int n, std::uint8_t* then_mask, std::uint8_t* else_mask) {
    for (int l = 0; l < n; ++l) {
      const int at = column ? l : 0;
      const bool chosen = frame_.value[condition][at].i != 0;
      const bool may = frame_.high[condition][at].i != 0;
      const bool must = frame_.low[condition][at].i != 0;
      const std::uint8_t mask = outer(l);
      then_mask[l] =
          static_cast<std::uint8_t>(mask & ((may ? kPossible : 0) | (chosen ? kChosen : 0)));
      else_mask[l] =
          static_cast<std::uint8_t>(mask & ((must ? 0 : kPossible) | (chosen ? 0 : kChosen)));
      then_any_ |= then_mask[l];
      else_any_ |= else_mask[l];
    }
    return true;
  }

  bool run_both(const std::uint8_t* then_mask, const std::uint8_t* else_mask, int n,
                TapeReader& reader, Undefined* undefined) {
    auto arm = [&](BlockId block, const std::uint8_t* mask, std::uint8_t any) {
      Lanes lanes{lanes_.n, instr_.column ? mask : lanes_.mask, any};
      return any == 0 || run(tape_, block, frame_, lanes, reader, undefined);
    };
    if (!arm(site_.then_block, then_mask, then_any_) ||
        !arm(site_.else_block, else_mask, else_any_))
      return false;
    if (else_any_ == 0 || then_any_ == 0) {
      point_to(else_any_ == 0 ? site_.then_slot : site_.else_slot);
      return true;
    }
    const Slot dst = instr_.dst;
    frame_.value[dst] = frame_.own_value[dst];
    frame_.low[dst] = frame_.own_low[dst];
    frame_.high[dst] = frame_.own_high[dst];
    merge(then_mask, else_mask, n);
    return true;
  }

  void merge(const std::uint8_t* then_mask, const std::uint8_t* else_mask, int n) {
    const Slot dst = instr_.dst;
    const Slot a = site_.then_slot;
    const Slot b = site_.else_slot;
    const bool column = tape_.slots[instr_.args[0]].column;
    const Scalar* condition = frame_.value[instr_.args[0]];
    const bool floating = tape_.slots[dst].floating;
    for (int l = 0; l < n; ++l)
      frame_.value[dst][l] = condition[column ? l : 0].i ? frame_.value[a][l] : frame_.value[b][l];
    if (instr_.certain) return;
    for (int l = 0; l < n; ++l) {
      const bool in_then = then_mask[l] != 0;
      const bool in_else = else_mask[l] != 0;
      Scalar low = in_then ? frame_.low[a][l] : frame_.low[b][l];
      Scalar high = in_then ? frame_.high[a][l] : frame_.high[b][l];
      if (in_then && in_else && floating) {
        low.f = std::min(low.f, frame_.low[b][l].f);
        high.f = std::max(high.f, frame_.high[b][l].f);
      } else if (in_then && in_else) {
        const ScalarType type = tape_.slots[dst].type;
        if (integer_less(type, frame_.low[b][l].i, low.i)) low = frame_.low[b][l];
        if (integer_less(type, high.i, frame_.high[b][l].i)) high = frame_.high[b][l];
      }
      frame_.low[dst][l] = low;
      frame_.high[dst][l] = high;
    }
  }

  void point_to(Slot slot) {
    frame_.value[instr_.dst] = frame_.value[slot];
    frame_.low[instr_.dst] = frame_.low[slot];
    frame_.high[instr_.dst] = frame_.high[slot];
  }

  const Tape& tape_;
  const Instr& instr_;
  const SelectSite& site_;
  TapeFrame& frame_;
  const Lanes& lanes_;
  std::uint8_t then_any_ = 0;
  std::uint8_t else_any_ = 0;
};

void broadcast(const Instr& instr, TapeFrame& frame) {
  const Slot from = instr.args[0];
  const Slot dst = instr.dst;
  std::fill_n(frame.value[dst], frame.width, *frame.value[from]);
  if (instr.certain) return;
  std::fill_n(frame.low[dst], frame.width, *frame.low[from]);
  std::fill_n(frame.high[dst], frame.width, *frame.high[from]);
}

}  // namespace

bool run(const Tape& tape, BlockId block, TapeFrame& frame, const Lanes& lanes, TapeReader& reader,
         Undefined* undefined) {
  for (const Instr& instr : tape.blocks[block]) {
    const int n = instr.column ? lanes.n : 1;
    int bad = -1;
    switch (instr.kind) {
      case Instr::Kind::Compute: {
        const std::uint8_t* mask = instr.column ? lanes.mask : &lanes.any;
        bad = instr.kernel(frame.value[instr.dst], frame.value[instr.args[0]],
                           frame.value[instr.args[1]], frame.value[instr.args[2]], n, mask);
        if (!instr.certain) interval_step(instr, frame, n);
        break;
      }
      case Instr::Kind::Broadcast: broadcast(instr, frame); break;
      case Instr::Kind::Select:
        if (!SelectRun(tape, instr, frame, lanes).run_arms(reader, undefined)) return false;
        break;
      case Instr::Kind::Read: bad = reader.read(tape.reads[instr.site], instr, frame, lanes); break;
    }
    if (bad >= 0) {
      *undefined = {&instr, bad};
      return false;
    }
  }
  return true;
}

}  // namespace tilewright::ir
