// SPDX-License-Identifier: Apache-2.0
//
// What every kind of statement is made of: the handle, the enumerations that fields hold, tiles of
// buffers. The kinds themselves: program.h, concurrent.h.
#pragma once

#include "frontend/ir/context.h"

namespace tilewright::program {

using ir::Expr;
using ir::ScalarType;

enum class StmtKind : std::uint16_t {
#define TILEWRIGHT_STMT(name) name,
#include "lowering/program/stmt_kinds.def"
#undef TILEWRIGHT_STMT
};
std::string_view stmt_kind_text(StmtKind kind);  // "Block", "For", ...

enum class LoopKind : std::uint8_t { Serial, Parallel, Vector, Unrolled };
std::string_view loop_kind_text(LoopKind kind);  // "for", "parallel", "vector", "unrolled"

// Where a buffer lives. Workspace: the caller's workspace, one copy per worker inside a parallel
// loop. Stack: constant extents, the function's frame. Register: constant extents, never addressed
// in memory; every index but the last is constant after unrolling, the last one constant or a
// vector lane.
// Shared: memory of a block, pair or cluster. Tensor: tensor memory, rows by columns of 32 bits.
// Scratchpad and Accumulator: software-managed memory and result banks of a core. Global: memory of
// a device. Plan: what is made once of constants and kept by the caller between calls (plan.h).
enum class Space : std::uint8_t {
  Workspace,
  Stack,
  Register,
  Shared,
  Tensor,
  Scratchpad,
  Accumulator,
  Global,
  Plan
};
std::string_view space_text(Space space);

// What a store does for the algorithm. Value: the final value of a cell. Init: the identity of a
// fold. Fold: one more element (point = indices, then fold variables). Merge: partial folds
// combined. Copy: a tensor's cell copied (point = that tensor's indices). Pad: filler that no
// output depends on.
enum class OriginRole : std::uint8_t { Value, Init, Fold, Merge, Copy, Pad };
std::string_view origin_role_text(OriginRole role);

// Who executes together, from narrow to wide. None: not said. Pair: two blocks that work as one.
// Core: of an accelerator. System: several devices.
enum class Scope : std::uint8_t {
  None,
  Lane,
  Warp,
  Warpgroup,
  Block,
  Pair,
  Cluster,
  Core,
  Device,
  System
};
std::string_view scope_text(Scope scope);

// The path by which memory is reached. Generic: loads and stores of an agent. Async: copy engines.
// Tensor: matrix units on tensor memory. Memory written by one path is seen by another after a
// fence, except where a completion says so (concurrent.h).
enum class Proxy : std::uint8_t { Generic, Async, Tensor };
std::string_view proxy_text(Proxy proxy);

// What tells that an asynchronous operation is complete. Group: the group that its agent commits
// next. Bytes: what it wrote, counted by a barrier that expects so many. Arrive: one arrival at a
// barrier, one unit of a semaphore, or its token.
enum class Completion : std::uint8_t { Group, Bytes, Arrive };
std::string_view completion_text(Completion completion);

// Barrier: phases, each complete after a number of arrivals and of bytes. Semaphore: a counter.
// Token: one asynchronous operation at a time. Channel: a queue of values.
enum class ObjectKind : std::uint8_t { Barrier, Semaphore, Token, Channel };
std::string_view object_kind_text(ObjectKind kind);

// Arrive at a barrier or raise a semaphore; let a barrier expect bytes; commit a group; send a value.
enum class SignalKind : std::uint8_t { Arrive, Expect, Commit, Send };
std::string_view signal_kind_text(SignalKind kind);

enum class VoteKind : std::uint8_t { Any, All, Ballot };
std::string_view vote_kind_text(VoteKind kind);

inline constexpr int kNumLoopKinds = 4;
inline constexpr int kNumSpaces = 9;
inline constexpr int kNumOriginRoles = 6;
inline constexpr int kNumScopes = 10;
inline constexpr int kNumProxies = 3;
inline constexpr int kNumCompletions = 3;
inline constexpr int kNumObjectKinds = 4;
inline constexpr int kNumSignalKinds = 4;
inline constexpr int kNumVoteKinds = 3;

struct StmtNode : NodeHeader {
  static constexpr int kFamily = 1;
  std::uint64_t salt() const { return 0; }
};

class Stmt {
 public:
  Stmt() = default;
  explicit Stmt(const StmtNode* node) : node_(node) {}
  explicit operator bool() const { return node_ != nullptr; }
  StmtKind kind() const { return static_cast<StmtKind>(node_->kind); }
  std::uint32_t index() const { return node_->index; }
  std::uint64_t hash() const { return node_ ? node_->hash : 0; }
  const StmtNode* node() const { return node_; }
  template <class T>
  const T* as() const {
    return node_ && kind() == T::kKind ? static_cast<const T*>(node_) : nullptr;
  }
  friend bool operator==(Stmt a, Stmt b) { return a.node_ == b.node_; }

 private:
  const StmtNode* node_ = nullptr;
};

// `a = s[slot, i : 8, 0 : 4]`: the operand `a` of a call is this part of a buffer. One index for each
// dimension of the buffer; the dimensions in `sliced` (ascending) carry on for the length of the
// same place in `lengths` and are the dimensions of the operand, in order.
struct TileNode : NodeHeader {
  static constexpr int kFamily = 2;
  static constexpr int kKind = 0;
  Symbol operand;
  Symbol buffer;
  NodeList<Expr> indices;
  NodeList<std::int64_t> sliced;
  NodeList<Expr> lengths;
  static constexpr auto fields =
      std::tuple(field("operand", &TileNode::operand), field("buffer", &TileNode::buffer),
                 field("indices", &TileNode::indices), field("sliced", &TileNode::sliced),
                 field("lengths", &TileNode::lengths));
  std::uint64_t salt() const { return 0; }
};

class Tile {
 public:
  Tile() = default;
  explicit Tile(const TileNode* node) : node_(node) {}
  const TileNode* operator->() const { return node_; }
  const TileNode& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  std::uint64_t hash() const { return node_ ? node_->hash : 0; }
  friend bool operator==(Tile a, Tile b) { return a.node_ == b.node_; }

 private:
  const TileNode* node_ = nullptr;
};

}  // namespace tilewright::program
