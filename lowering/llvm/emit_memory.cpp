// SPDX-License-Identifier: Apache-2.0
//
// Buffers, loads and stores. Law: a lane that is off touches no memory. Register buffers are whole vectors of
// the last dimension, one per leading index, reached by shuffles: mem2reg turns them into values.
#include "lowering/llvm/emit_wall.h"

#include <algorithm>
#include <numeric>

namespace tilewright::llvm_wall {

namespace {

bool is_one(const llvm::Value* v) {
  const auto* c = llvm::dyn_cast_or_null<llvm::ConstantInt>(v);
  return c != nullptr && c->isOne();
}

}  // namespace

std::vector<LaneIndex> Emitter::row_major(std::span<const Expr> extents) {
  std::vector<LaneIndex> strides(extents.size());
  LaneIndex stride{nullptr, 1, nullptr};
  for (std::size_t d = extents.size(); d-- > 0;) {
    strides[d] = stride;
    if (d == 0) break;
    auto extent = affine(extents[d]);
    if (!extent || !is_uniform(*extent)) {
      state_.refuse(Code::UnsupportedByTarget, "a buffer extent that differs between vector lanes",
                    "vectorize a loop on which the extent does not depend");
      return strides;
    }
    stride = scale(*extent, stride);
  }
  return strides;
}

Emitter::Address Emitter::address(const Buffer& buffer, std::span<const Expr> indices) {
  std::vector<std::optional<LaneIndex>> parts;
  for (Expr index : indices) parts.push_back(affine(index));
  if (buffer.private_lanes > 1) parts.push_back(LaneIndex{nullptr, 0, b_.getInt64(1)});
  LaneIndex sum;
  llvm::Value* lanes = nullptr;
  for (std::size_t d = 0; d < parts.size(); ++d) {
    if (parts[d]) {
      sum = add(sum, scale(*parts[d], buffer.strides[d]), false);
      continue;
    }
    llvm::Value* index = broadcast(evaluate(indices[d]));
    llvm::Value* part =
        b_.CreateMul(index, b_.CreateVectorSplat(lanes_, base_of(buffer.strides[d])));
    lanes = lanes ? b_.CreateAdd(lanes, part) : part;
  }
  if (lanes == nullptr) return {sum, nullptr};
  return {std::nullopt, b_.CreateAdd(lanes, broadcast(materialise(sum)))};
}

// No inbounds: the first lane of a masked access, and an address before its displacement, may lie outside.
// Alias scopes say what inbounds would, and 64-bit indices need no extension.
llvm::Value* Emitter::pointer(const Buffer& buffer, const LaneIndex& offset) {
  llvm::Type* element = storage_type(state_.llvm, buffer.type);
  llvm::Value* p = buffer.base;
  if (offset.variable) p = b_.CreateGEP(element, p, offset.variable);
  if (offset.constant != 0) p = b_.CreateGEP(element, p, b_.getInt64(offset.constant));
  return p;
}

llvm::Value* Emitter::lane_pointers(const Buffer& buffer, const Address& address) {
  llvm::Type* element = storage_type(state_.llvm, buffer.type);
  if (!address.affine) return b_.CreateGEP(element, buffer.base, address.lanes);
  llvm::Value* start = pointer(buffer, *address.affine);
  LaneIndex steps{nullptr, 0, address.affine->stride};
  return b_.CreateGEP(element, start, broadcast(materialise(steps)));
}

llvm::Instruction* Emitter::tag(llvm::Instruction* access, const Buffer& buffer) {
  if (buffer.scope) access->setMetadata(llvm::LLVMContext::MD_alias_scope, buffer.scope);
  if (buffer.disjoint) access->setMetadata(llvm::LLVMContext::MD_noalias, buffer.disjoint);
  return access;
}

Value Emitter::load(const ir::Read& read) {
  auto it = buffers_.find(read.tensor);
  if (it == buffers_.end()) {
    state_.refuse(Code::UnsupportedByTarget,
                  "buffer `" + std::string(read.tensor.text()) + "` is not in scope", kReport);
    return {llvm::PoisonValue::get(register_type(state_.llvm, read.type))};
  }
  const Buffer& buffer = it->second;
  if (buffer.in_register) return load_register(buffer, read);
  const Address where = address(buffer, read.indices);
  llvm::Value* raw = load_memory(buffer, where);
  return {from_storage(raw, buffer.type), raw->getType()->isVectorTy()};
}

llvm::Value* Emitter::load_memory(const Buffer& buffer, const Address& where) {
  if (buffer.per_byte > 1) return load_packed(buffer, where);
  llvm::Type* element = storage_type(state_.llvm, buffer.type);
  const llvm::Align align(ir::size_bytes(buffer.type));
  if (where.affine && is_uniform(*where.affine)) {
    auto one = [&]() -> llvm::Value* {
      return tag(b_.CreateAlignedLoad(element, pointer(buffer, *where.affine), align), buffer);
    };
    if (mask_.lanes && mask_.may_be_empty) return guarded(any(mask_.lanes), element, one);
    return one();
  }
  auto* vector = llvm::FixedVectorType::get(element, lanes_);
  if (where.affine && is_one(where.affine->stride)) {
    llvm::Value* p = pointer(buffer, *where.affine);
    if (mask_.lanes == nullptr) return tag(b_.CreateAlignedLoad(vector, p, align), buffer);
    return tag(
        b_.CreateMaskedLoad(vector, p, align, mask_.lanes, llvm::Constant::getNullValue(vector)),
        buffer);
  }
  if (where.affine)
    if (llvm::Value* all = load_spread(buffer, *where.affine)) return all;
  if (where.affine && mask_.lanes == nullptr) return load_strided(buffer, *where.affine);
  llvm::Value* mask =
      mask_.lanes
          ? mask_.lanes
          : llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), lanes_));
  return tag(b_.CreateMaskedGather(vector, lane_pointers(buffer, where), align, mask,
                                   llvm::Constant::getNullValue(vector)),
             buffer);
}

// Scalar loads beat a gather where the addresses are known to step evenly.
llvm::Value* Emitter::load_strided(const Buffer& buffer, const LaneIndex& offset) {
  llvm::Type* element = storage_type(state_.llvm, buffer.type);
  const llvm::Align align(ir::size_bytes(buffer.type));
  llvm::Value* start = pointer(buffer, {offset.variable, offset.constant, nullptr});
  llvm::Value* result = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, lanes_));
  for (int lane = 0; lane < lanes_; ++lane) {
    llvm::Value* step = b_.CreateMul(offset.stride, b_.getInt64(lane));
    llvm::Value* p = lane == 0 ? start : b_.CreateGEP(element, start, step);
    llvm::Instruction* value = tag(b_.CreateAlignedLoad(element, p, align), buffer);
    result = b_.CreateInsertElement(result, value, b_.getInt64(lane));
  }
  return result;
}

void Emitter::store(const program::Store& store) {
  auto it = buffers_.find(store.buffer);
  if (it == buffers_.end()) {
    state_.refuse(Code::UnsupportedByTarget,
                  "buffer `" + std::string(store.buffer.text()) + "` is not in scope", kReport);
    return;
  }
  Value value = evaluate(store.value);
  const Buffer& buffer = it->second;
  if (buffer.in_register) return store_register(buffer, store, value);
  const Address where = address(buffer, store.indices);
  store_memory(buffer, where, {to_storage(value.v, buffer.type), value.varying});
}

// A read of data that is to stay in all caches. Law of program::verify: never among lanes. Registers are near already.
void Emitter::prefetch(const program::Prefetch& prefetch) {
  auto it = buffers_.find(prefetch.buffer);
  if (it == buffers_.end()) {
    state_.refuse(Code::UnsupportedByTarget,
                  "buffer `" + std::string(prefetch.buffer.text()) + "` is not in scope", kReport);
    return;
  }
  const Buffer& buffer = it->second;
  if (buffer.in_register) return;
  const Address where = address(buffer, prefetch.indices);
  llvm::Value* cell =
      where.affine ? base_of(*where.affine) : b_.CreateExtractElement(where.lanes, b_.getInt64(0));
  llvm::Value* byte = buffer.per_byte > 1
                          ? b_.CreateUDiv(cell, b_.getInt64(buffer.per_byte))
                          : b_.CreateMul(cell, b_.getInt64(ir::size_bytes(buffer.type)));
  llvm::Value* p = b_.CreateGEP(b_.getInt8Ty(), buffer.base, byte);
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {p->getType()},
                     {p, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
}

void Emitter::store_memory(const Buffer& buffer, const Address& where, Value value) {
  if (buffer.per_byte > 1) return store_packed(buffer, where, value);
  const llvm::Align align(ir::size_bytes(buffer.type));
  const bool uniform = where.affine && is_uniform(*where.affine);
  if (uniform && !value.varying) {
    auto one = [&]() -> llvm::Value* {
      return tag(b_.CreateAlignedStore(value.v, pointer(buffer, *where.affine), align), buffer);
    };
    if (mask_.lanes && mask_.may_be_empty) {
      guarded(any(mask_.lanes), b_.getVoidTy(), one);
    } else {
      one();
    }
    return;
  }
  llvm::Value* lanes = broadcast(value);
  if (where.affine && is_one(where.affine->stride)) {
    llvm::Value* p = pointer(buffer, *where.affine);
    tag(mask_.lanes
            ? static_cast<llvm::Instruction*>(b_.CreateMaskedStore(lanes, p, align, mask_.lanes))
            : b_.CreateAlignedStore(lanes, p, align),
        buffer);
    return;
  }
  if (where.affine && !uniform && store_spread(buffer, *where.affine, lanes)) return;
  if (where.affine && !uniform && mask_.lanes == nullptr) {
    llvm::Type* element = storage_type(state_.llvm, buffer.type);
    llvm::Value* start = pointer(buffer, {where.affine->variable, where.affine->constant, nullptr});
    for (int lane = 0; lane < lanes_; ++lane) {
      llvm::Value* step = b_.CreateMul(where.affine->stride, b_.getInt64(lane));
      llvm::Value* p = lane == 0 ? start : b_.CreateGEP(element, start, step);
      tag(b_.CreateAlignedStore(b_.CreateExtractElement(lanes, b_.getInt64(lane)), p, align),
          buffer);
    }
    return;
  }
  llvm::Value* mask =
      mask_.lanes
          ? mask_.lanes
          : llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), lanes_));
  llvm::Value* pointers = uniform ? b_.CreateVectorSplat(lanes_, pointer(buffer, *where.affine))
                                  : lane_pointers(buffer, where);
  tag(b_.CreateMaskedScatter(lanes, pointers, align, mask), buffer);
}

// Lanes that step evenly by a few cells are one vector with the cells between left out by a mask: with masked loads
// and stores of bytes and words that beats an access per lane many times over.
std::optional<Emitter::Spread> Emitter::spread(const Buffer& buffer, const LaneIndex& offset) {
  constexpr std::int64_t kMaskedBits = 512;
  const auto* stride = llvm::dyn_cast_or_null<llvm::ConstantInt>(offset.stride);
  if (stride == nullptr || state_.target.vector_bits < kMaskedBits) return std::nullopt;
  const std::int64_t step = stride->getSExtValue();
  if (step < 2) return std::nullopt;
  const std::int64_t group =
      std::min<std::int64_t>(lanes_, kMaskedBits / (8 * ir::size_bytes(buffer.type) * step));
  if (group < 4 || lanes_ % group != 0) return std::nullopt;
  return Spread{step, group};
}

// The mask of one group: its cells where their lanes are on, nothing between.
llvm::Value* Emitter::spread_mask(const Spread& spread, std::int64_t first) {
  llvm::Value* on = mask_.lanes;
  if (on == nullptr)
    on = llvm::Constant::getAllOnesValue(
        llvm::FixedVectorType::get(b_.getInt1Ty(), static_cast<unsigned>(lanes_)));
  std::vector<int> from(static_cast<std::size_t>(spread.group * spread.step), lanes_);
  for (std::int64_t lane = 0; lane < spread.group; ++lane)
    from[static_cast<std::size_t>(lane * spread.step)] = static_cast<int>(first + lane);
  return b_.CreateShuffleVector(on, llvm::Constant::getNullValue(on->getType()), from);
}

llvm::Value* Emitter::load_spread(const Buffer& buffer, const LaneIndex& offset) {
  const auto s = spread(buffer, offset);
  if (!s) return nullptr;
  llvm::Type* element = storage_type(state_.llvm, buffer.type);
  auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(s->group * s->step));
  llvm::Value* result =
      llvm::PoisonValue::get(llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes_)));
  for (std::int64_t first = 0; first < lanes_; first += s->group) {
    llvm::Value* p = pointer(buffer, {offset.variable, offset.constant + first * s->step, nullptr});
    llvm::Value* cells =
        tag(b_.CreateMaskedLoad(type, p, llvm::Align(ir::size_bytes(buffer.type)),
                                spread_mask(*s, first), llvm::Constant::getNullValue(type)),
            buffer);
    // This group's lanes from the cells, the others from before.
    std::vector<int> to(static_cast<std::size_t>(lanes_), -1);
    for (std::int64_t lane = 0; lane < s->group; ++lane)
      to[static_cast<std::size_t>(first + lane)] = static_cast<int>(lane * s->step);
    llvm::Value* moved = b_.CreateShuffleVector(cells, to);
    std::vector<int> blend(static_cast<std::size_t>(lanes_));
    for (int lane = 0; lane < lanes_; ++lane)
      blend[static_cast<std::size_t>(lane)] =
          lane >= first && lane < first + s->group ? lanes_ + lane : lane;
    result = s->group == lanes_ ? moved : b_.CreateShuffleVector(result, moved, blend);
  }
  return result;
}

bool Emitter::store_spread(const Buffer& buffer, const LaneIndex& offset, llvm::Value* lanes) {
  const auto s = spread(buffer, offset);
  if (!s) return false;
  for (std::int64_t first = 0; first < lanes_; first += s->group) {
    std::vector<int> places(static_cast<std::size_t>(s->group * s->step), -1);
    for (std::int64_t lane = 0; lane < s->group; ++lane)
      places[static_cast<std::size_t>(lane * s->step)] = static_cast<int>(first + lane);
    llvm::Value* p = pointer(buffer, {offset.variable, offset.constant + first * s->step, nullptr});
    tag(b_.CreateMaskedStore(b_.CreateShuffleVector(lanes, places), p,
                             llvm::Align(ir::size_bytes(buffer.type)), spread_mask(*s, first)),
        buffer);
  }
  return true;
}

// ---- Register buffers ----

llvm::AllocaInst* Emitter::entry_alloca(llvm::Type* type, const llvm::Twine& name) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.begin());
  return at.CreateAlloca(type, nullptr, name);
}

Buffer Emitter::make_register_buffer(const program::Alloc& alloc) {
  Buffer buffer;
  buffer.type = alloc.type;
  buffer.in_register = true;
  buffer.private_lanes = lanes_;
  std::int64_t rows = 1;
  for (Expr extent : alloc.extents) {
    auto index = affine(extent);
    if (!index || index->variable || index->stride || index->constant < 0) {
      state_.refuse(Code::RegisterIndex,
                    "register buffer `" + std::string(alloc.buffer.text()) +
                        "` has an extent that is not constant",
                    "tile to constant sizes, or keep it on the stack", alloc.buffer);
      return buffer;
    }
    buffer.extents.push_back(index->constant);
  }
  if (lanes_ > 1) buffer.extents.push_back(lanes_);
  if (buffer.extents.empty()) buffer.extents.push_back(1);
  for (std::size_t d = 0; d + 1 < buffer.extents.size(); ++d) rows *= buffer.extents[d];
  const auto last = static_cast<unsigned>(buffer.extents.back());
  constexpr std::int64_t kMostCells = 1 << 16;
  if (buffer.extents.back() > kMostCells || rows * last > kMostCells) {
    state_.refuse(Code::RegisterIndex,
                  "register buffer `" + std::string(alloc.buffer.text()) + "` is too large",
                  "keep it on the stack", alloc.buffer);
    return buffer;
  }
  llvm::Type* element = register_type(state_.llvm, alloc.type);
  llvm::Type* row =
      last > 1 ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(element, last)) : element;
  for (std::int64_t r = 0; r < rows && last > 0; ++r) {
    buffer.rows.push_back(entry_alloca(row, llvm::StringRef(alloc.buffer.text())));
    // Cells start undefined each time, so nothing flows around the loops outside.
    b_.CreateStore(llvm::PoisonValue::get(row), buffer.rows.back());
  }
  return buffer;
}

// The row, and the cell of it that each lane (or the one scalar) means. Constant after unrolling.
std::optional<std::vector<int>> Emitter::register_cells(const Buffer& buffer,
                                                        std::span<const Expr> indices,
                                                        llvm::AllocaInst*& row, Symbol name) {
  std::vector<LaneIndex> parts;
  bool constant = true;
  for (Expr index : indices) {
    auto part = affine(index);
    constant = constant && part && part->variable == nullptr &&
               (part->stride == nullptr || llvm::isa<llvm::ConstantInt>(part->stride));
    parts.push_back(part.value_or(LaneIndex{}));
  }
  if (buffer.private_lanes > 1) parts.push_back(LaneIndex{nullptr, 0, b_.getInt64(1)});
  if (parts.empty()) parts.push_back({});
  std::int64_t row_number = 0;
  for (std::size_t d = 0; constant && d + 1 < parts.size(); ++d) {
    constant = parts[d].stride == nullptr && parts[d].constant >= 0 &&
               parts[d].constant < buffer.extents[d];
    row_number = row_number * buffer.extents[d] + parts[d].constant;
  }
  std::vector<int> cells;
  if (constant) {
    const LaneIndex& last = parts.back();
    const std::int64_t step =
        last.stride ? llvm::cast<llvm::ConstantInt>(last.stride)->getSExtValue() : 0;
    for (int lane = 0; lane < (last.stride ? lanes_ : 1); ++lane) {
      const std::int64_t cell = last.constant + lane * step;
      // A lane outside must be off: it names any cell.
      const bool inside = cell >= 0 && cell < buffer.extents.back();
      constant = constant && (inside || mask_.lanes);
      cells.push_back(inside ? static_cast<int>(cell) : -1);
    }
  }
  if (!constant || row_number >= static_cast<std::int64_t>(buffer.rows.size())) {
    state_.refuse(Code::RegisterIndex,
                  "an index of register buffer `" + std::string(name.text()) +
                      "` is neither constant nor a vector lane of the last dimension",
                  "unroll the loops over it, or keep the buffer on the stack", name);
    return std::nullopt;
  }
  row = buffer.rows[row_number];
  return cells;
}

Value Emitter::load_register(const Buffer& buffer, const ir::Read& read) {
  llvm::AllocaInst* row = nullptr;
  auto cells = register_cells(buffer, read.indices, row, read.tensor);
  if (!cells) return {llvm::PoisonValue::get(register_type(state_.llvm, read.type))};
  llvm::Value* whole = b_.CreateLoad(row->getAllocatedType(), row);
  if (!whole->getType()->isVectorTy()) return {whole, false};
  if (cells->size() == 1) return {b_.CreateExtractElement(whole, b_.getInt64((*cells)[0])), false};
  std::vector<int> all(buffer.extents.back());
  std::iota(all.begin(), all.end(), 0);
  return {*cells == all ? whole : b_.CreateShuffleVector(whole, *cells), true};
}

void Emitter::store_register(const Buffer& buffer, const program::Store& store, Value value) {
  llvm::AllocaInst* row = nullptr;
  auto cells = register_cells(buffer, store.indices, row, store.buffer);
  if (!cells) return;
  llvm::Type* row_type = row->getAllocatedType();
  if (!row_type->isVectorTy() || cells->size() == 1) {
    llvm::Value* scalar = value.v;
    llvm::Value* whole = b_.CreateLoad(row_type, row);
    llvm::Value* old = whole;
    if (row_type->isVectorTy()) old = b_.CreateExtractElement(whole, b_.getInt64((*cells)[0]));
    if (value.varying) {
      // One lane at most is on: pick it.
      state_.refuse(Code::RegisterIndex,
                    "lanes of a vector loop store to one cell of a register buffer",
                    "fold into one cell per lane, then merge the cells", store.buffer);
      return;
    }
    if (mask_.lanes) scalar = b_.CreateSelect(any(mask_.lanes), scalar, old);
    if (row_type->isVectorTy())
      scalar = b_.CreateInsertElement(whole, scalar, b_.getInt64((*cells)[0]));
    b_.CreateStore(scalar, row);
    return;
  }
  const int size = static_cast<int>(buffer.extents.back());
  llvm::Value* lanes = broadcast(value);
  std::vector<int> all(size);
  std::iota(all.begin(), all.end(), 0);
  if (*cells == all && mask_.lanes == nullptr) {
    b_.CreateStore(lanes, row);
    return;
  }
  // Widen the new lanes to the row, then take each cell from the new or the old value.
  std::vector<int> to_row(size, -1);
  std::vector<int> blend(size);
  for (int cell = 0; cell < size; ++cell) blend[cell] = cell;
  for (int lane = 0; lane < lanes_; ++lane) {
    if ((*cells)[lane] < 0) continue;
    to_row[(*cells)[lane]] = lane;
    blend[(*cells)[lane]] = size + (*cells)[lane];
  }
  llvm::Value* old = b_.CreateLoad(row_type, row);
  llvm::Value* fresh = *cells == all ? lanes : b_.CreateShuffleVector(lanes, to_row);
  if (mask_.lanes) {
    llvm::Value* off = llvm::Constant::getNullValue(mask_.lanes->getType());
    std::vector<int> mask_to_row(size);
    for (int cell = 0; cell < size; ++cell)
      mask_to_row[cell] = to_row[cell] < 0 ? lanes_ : to_row[cell];
    llvm::Value* mask = b_.CreateShuffleVector(mask_.lanes, off, mask_to_row);
    b_.CreateStore(b_.CreateSelect(mask, fresh, old), row);
    return;
  }
  b_.CreateStore(b_.CreateShuffleVector(old, fresh, blend), row);
}

void Emitter::allocate(const program::Alloc& alloc) {
  if (alloc.space == program::Space::Register) {
    buffers_[alloc.buffer] = make_register_buffer(alloc);
    return;
  }
  Buffer buffer;
  buffer.type = alloc.type;
  buffer.private_lanes = lanes_;
  if (auto it = state_.alias.find(alloc.buffer); it != state_.alias.end())
    std::tie(buffer.scope, buffer.disjoint) = it->second;
  std::vector<Expr> extents(alloc.extents.begin(), alloc.extents.end());
  if (lanes_ > 1) extents.push_back(state_.context.index(lanes_));
  buffer.strides = row_major(extents);
  if (alloc.space == program::Space::Workspace) {
    llvm::Value* offset = evaluate_uniform(state_.contract.workspace.offset.at(alloc.buffer));
    buffer.base =
        b_.CreateGEP(b_.getInt8Ty(), workspace, offset, llvm::StringRef(alloc.buffer.text()));
  } else {
    std::int64_t cells = 1;
    for (Expr extent : extents) {
      auto index = affine(extent);
      const bool constant = index && !index->variable && !index->stride && index->constant >= 0;
      constexpr std::int64_t kMostCells = 1 << 20;
      if (!constant || cells * index->constant > kMostCells) {
        state_.refuse(Code::UnsupportedByTarget,
                      "stack buffer `" + std::string(alloc.buffer.text()) +
                          "` is not of a small constant size",
                      "keep it in workspace", alloc.buffer);
        return;
      }
      cells *= index->constant;
    }
    llvm::AllocaInst* space =
        entry_alloca(llvm::ArrayType::get(storage_type(state_.llvm, alloc.type), cells),
                     llvm::StringRef(alloc.buffer.text()));
    space->setAlignment(llvm::Align(64));
    buffer.base = space;
  }
  buffers_[alloc.buffer] = std::move(buffer);
}

}  // namespace tilewright::llvm_wall
