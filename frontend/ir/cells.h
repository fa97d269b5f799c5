// SPDX-License-Identifier: Apache-2.0
//
// The tensors that an algorithm's interpretation knows so far, and how tapes read them. Law: a read
// outside of a tensor is reported by the lane that chose it, never performed.
#pragma once

#include <unordered_map>
#include <vector>

#include "frontend/ir/tape.h"

namespace tilewright::ir {

struct Cells {
  Symbol name;
  ScalarType type = ScalarType::F32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  const Scalar* value = nullptr;
  const Scalar* low = nullptr;  // the same as value where there is no uncertainty
  const Scalar* high = nullptr;
  bool certain = true;
};

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape);

// The tensors known so far, under their names.
class CellStore final : public TapeScope {
 public:
  explicit CellStore(const Bindings& bindings) : bindings_(bindings) {}
  std::optional<std::uint32_t> tensor(Symbol name) const override {
    auto it = by_name_.find(name);
    return it == by_name_.end() ? std::nullopt : std::optional(it->second);
  }
  bool certain(std::uint32_t tensor) const override { return cells_[tensor].certain; }
  std::optional<std::int64_t> extent(Symbol name) const override {
    auto it = bindings_.find(name);
    return it == bindings_.end() ? std::nullopt : std::optional(it->second);
  }
  // Instead of what had the name before, if anything did.
  void add(Cells cells) {
    if (const auto it = by_name_.find(cells.name); it != by_name_.end()) {
      cells_[it->second] = std::move(cells);
      return;
    }
    by_name_[cells.name] = static_cast<std::uint32_t>(cells_.size());
    cells_.push_back(std::move(cells));
  }
  const Cells& operator[](std::uint32_t tensor) const { return cells_[tensor]; }

 private:
  const Bindings& bindings_;
  std::vector<Cells> cells_;
  std::unordered_map<Symbol, std::uint32_t> by_name_;
};

class CellReader final : public TapeReader {
 public:
  explicit CellReader(const CellStore& store) : store_(store) {}
  int read(const ReadSite& site, const Instr& instr, TapeFrame& frame, const Lanes& lanes) override;

 private:
  bool read_affine(const ReadSite& site, const Instr& instr, TapeFrame& frame, const Cells& cells,
                   int n);
  int read_each(const ReadSite& site, const Instr& instr, TapeFrame& frame, const Lanes& lanes,
                int n);
  int read_hull(const ReadSite& site, const Instr& instr, TapeFrame& frame, const Lanes& lanes,
                int n);
  const CellStore& store_;
};

}  // namespace tilewright::ir
