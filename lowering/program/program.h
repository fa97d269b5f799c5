// SPDX-License-Identifier: Apache-2.0
//
// The Program IR: loops and predicates over buffers in memory spaces, with provenance. Host part:
// what the other targets add comes as further kinds in stmt_kinds.def. Expressions are those of
// frontend/ir without Fold. Statements are immutable and hash-consed like expressions. A name is
// bound once in a Program, so a loop variable, let or buffer is never shadowed.
//
// Meaning (interpret.h): statements run in order; `for` and `unrolled` loops in ascending order;
// iterations of `parallel` loops are independent (a conflict on a cell is a race); `vector`
// iterations are lanes that run each statement of the body together, statement by statement, so
// within one statement a lane may not read or write a cell that another lane writes. Text: text.h.
// Well-formedness: verify.h.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"

namespace tilewright::program {

using ir::Expr;
using ir::ScalarType;

enum class StmtKind : std::uint16_t {
#define TILEWRIGHT_STMT(name) name,
#include "lowering/program/stmt_kinds.def"
#undef TILEWRIGHT_STMT
};

enum class LoopKind : std::uint8_t { Serial, Parallel, Vector, Unrolled };
std::string_view loop_kind_text(LoopKind kind);  // "for", "parallel", "vector", "unrolled"

// Where a buffer lives. Workspace: the caller's workspace, one copy per worker inside a parallel
// loop. Stack: constant extents, the function's frame. Register: constant extents, never addressed
// in memory; every index but the last is constant after unrolling, the last one constant or a
// vector lane.
enum class Space : std::uint8_t { Workspace, Stack, Register };
std::string_view space_text(Space space);

// What a store does for the algorithm. Value: the final value of a cell. Init: the identity of a
// fold. Fold: one more element (point = indices, then fold variables). Merge: partial folds
// combined. Copy: a tensor's cell copied (point = that tensor's indices). Pad: filler that no
// output depends on.
enum class OriginRole : std::uint8_t { Value, Init, Fold, Merge, Copy, Pad };
std::string_view origin_role_text(OriginRole role);

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

// Statements in order; may be empty; never directly inside another Block.
struct Block : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Block;
  NodeList<Stmt> body;
  static constexpr auto fields = std::tuple(field("body", &Block::body));
};

// `for i in 0 .. M { ... }`, half-open, step 1. A vector or unrolled loop has constant bounds.
struct For : StmtNode {
  static constexpr StmtKind kKind = StmtKind::For;
  LoopKind loop = LoopKind::Serial;
  Symbol var;
  Expr lower;
  Expr upper;
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("loop", &For::loop), field("var", &For::var), field("lower", &For::lower),
                 field("upper", &For::upper), field("body", &For::body));
};

// `if i < M { ... } else { ... }`; the else arm may be null. Inside a vector loop the condition may
// differ between lanes: each arm runs under its mask.
struct If : StmtNode {
  static constexpr StmtKind kKind = StmtKind::If;
  Expr condition;
  Stmt then_body;
  Stmt else_body;
  static constexpr auto fields =
      std::tuple(field("condition", &If::condition), field("then", &If::then_body),
                 field("else", &If::else_body));
};

// `let base = io * 96 { ... }`: a scalar for the body. Inside a vector loop it may differ between
// lanes.
struct Let : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Let;
  Symbol var;
  Expr value;
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("var", &Let::var), field("value", &Let::value), field("body", &Let::body));
};

// `alloc t : f32[6, 64] in register { ... }`: uninitialised cells for the body.
struct Alloc : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Alloc;
  Symbol buffer;
  ScalarType type = ScalarType::F32;
  NodeList<Expr> extents;
  Space space = Space::Workspace;
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("buffer", &Alloc::buffer), field("type", &Alloc::type),
                 field("extents", &Alloc::extents), field("space", &Alloc::space),
                 field("body", &Alloc::body));
};

// `c[i, j] = fma(a[i, k], b[k, j], c[i, j]) @ fold c(i, j, k)`.
struct Store : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Store;
  Symbol buffer;
  NodeList<Expr> indices;
  Expr value;
  OriginRole role = OriginRole::Value;
  Symbol origin;  // an equation or tensor of the algorithm
  NodeList<Expr> point;  // its instance
  static constexpr auto fields =
      std::tuple(field("buffer", &Store::buffer), field("indices", &Store::indices),
                 field("value", &Store::value), field("role", &Store::role),
                 field("origin", &Store::origin), field("point", &Store::point));
};

template <class F>
decltype(auto) visit(Stmt stmt, F&& f) {
  switch (stmt.kind()) {
#define TILEWRIGHT_STMT(name) \
  case StmtKind::name: return f(*static_cast<const name*>(stmt.node()));
#include "lowering/program/stmt_kinds.def"
#undef TILEWRIGHT_STMT
  }
  __builtin_unreachable();
}

// A tensor that the caller passes: dense, row-major, of this shape.
struct Parameter {
  Symbol name;
  ScalarType type = ScalarType::F32;
  std::vector<Expr> shape;
  bool is_output = false;
};

struct Places;  // places.h

// One function of the library. Extents and requirements are those of the algorithm, with the
// schedule's guard.
struct Program {
  Symbol name;
  Symbol algorithm;
  std::vector<ir::ExtentDecl> extents;
  std::vector<Expr> requirements;
  std::vector<Parameter> parameters;  // inputs in order of declaration, then outputs
  Stmt body;
  std::shared_ptr<const Places> places;  // null unless it was read from a text; not content

  const Parameter* find_parameter(Symbol name) const;
};
bool operator==(const Program& a, const Program& b);

// Builders; they intern in the context's store and keep the invariants above.
Stmt make_block(ir::Context& context,
                std::span<const Stmt> body);  // flattens, unwraps a single statement
Stmt make_for(ir::Context& context, LoopKind loop, Symbol var, Expr lower, Expr upper, Stmt body);
Stmt make_if(ir::Context& context, Expr condition, Stmt then_body, Stmt else_body = {});
Stmt make_let(ir::Context& context, Symbol var, Expr value, Stmt body);
Stmt make_alloc(ir::Context& context, Symbol buffer, ScalarType type, std::span<const Expr> extents,
                Space space, Stmt body);
Stmt make_store(ir::Context& context, Symbol buffer, std::span<const Expr> indices, Expr value,
                OriginRole role, Symbol origin, std::span<const Expr> point);

// Walks and rewrites. on_stmt sees a statement with its children already rewritten; an empty result
// keeps it. on_expr is applied to every expression root (bounds, conditions, values, indices,
// points, extents).
using StmtRewrite = std::function<Stmt(Stmt)>;
using ExprRewrite = std::function<Expr(Expr)>;
Stmt rewrite(ir::Context& context, Stmt root, const StmtRewrite& on_stmt,
             const ExprRewrite& on_expr = {});
void walk(Stmt root, const std::function<void(Stmt)>& f);  // pre-order

}  // namespace tilewright::program

template <>
struct std::hash<tilewright::program::Stmt> {
  std::size_t operator()(tilewright::program::Stmt s) const noexcept {
    return static_cast<std::size_t>(s.hash());
  }
};
