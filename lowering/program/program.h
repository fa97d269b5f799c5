// SPDX-License-Identifier: Apache-2.0
//
// The Program IR: loops and predicates over buffers in memory spaces, with provenance; agents that
// run at the same time, asynchronous operations and synchronisation (concurrent.h); described
// intrinsics. Expressions are those of frontend/ir without Fold. Statements are immutable and
// hash-consed like expressions. A name is bound once in a Program, so a loop variable, let or
// buffer is never shadowed.
//
// Meaning of the host part (interpret.h): statements run in order; `for` and `unrolled` loops in ascending order;
// iterations of `parallel` loops are independent (a conflict on a cell is a race); `vector`
// iterations are lanes that run each statement of the body together, statement by statement, so
// within one statement a lane may not read or write a cell that another lane writes. Text: text.h.
// Well-formedness: verify.h.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "frontend/ir/algorithm.h"
#include "lowering/program/concurrent.h"

namespace tilewright::program {

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

// `alloc t : f32[6, 64] in register { ... }`: uninitialised cells for the body, one copy for each agent
// that executes it. `in tensor at 64`: from that column on; `in accumulator at 2`: from that bank on.
struct Alloc : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Alloc;
  Symbol buffer;
  ScalarType type = ScalarType::F32;
  NodeList<Expr> extents;
  Space space = Space::Workspace;
  std::int64_t place = -1;  // column or bank; negative: not said
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("buffer", &Alloc::buffer), field("type", &Alloc::type),
                 field("extents", &Alloc::extents), field("space", &Alloc::space),
                 optional_field("place", &Alloc::place), field("body", &Alloc::body));
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
  ir::Facts facts = {};  // of an input; its reads of a clamped one are written with the clamp
  bool is_inout = false;  // an output that holds what the caller gave until it is written
  bool is_const = false;  // an input whose values stay between calls: what a plan is made of
};

struct Places;  // places.h

// An instruction or library function that a `call` names, described by what it computes: an algorithm
// over operand tiles. Each operand is an input or output of it; one that is read and written is an
// input and an output that the call gives the same tile. Extents are bound by the tiles. A back end finds
// by the name how to emit it; the interpreter runs the algorithm in exact mode.
struct Intrinsic {
  ir::Algorithm meaning;
  bool is_library = false;

  Symbol name() const { return meaning.name; }
};

// One function of the library. Extents and requirements are those of the algorithm, with the
// schedule's guard.
struct Program {
  Symbol name;
  Symbol algorithm;
  std::vector<ir::ExtentDecl> extents;
  std::vector<Expr> requirements;
  std::vector<Parameter> parameters;  // inputs in order of declaration, then outputs
  std::vector<Intrinsic> intrinsics;
  Stmt body;
  std::shared_ptr<const Places> places;  // null unless it was read from a text; not content

  const Parameter* find_parameter(Symbol name) const;
  const Intrinsic* find_intrinsic(Symbol name) const;
};
bool operator==(const Program& a, const Program& b);

// Builders; they intern in the context's store and keep the invariants above.
Stmt make_block(ir::Context& context,
                std::span<const Stmt> body);  // flattens, unwraps a single statement
Stmt make_for(ir::Context& context, LoopKind loop, Symbol var, Expr lower, Expr upper, Stmt body);
Stmt make_if(ir::Context& context, Expr condition, Stmt then_body, Stmt else_body = {});
Stmt make_let(ir::Context& context, Symbol var, Expr value, Stmt body);
Stmt make_alloc(ir::Context& context, Symbol buffer, ScalarType type, std::span<const Expr> extents,
                Space space, Stmt body, std::int64_t place = -1);
Stmt make_store(ir::Context& context, Symbol buffer, std::span<const Expr> indices, Expr value,
                OriginRole role, Symbol origin, std::span<const Expr> point);

Tile make_tile(ir::Context& context, Symbol operand, Symbol buffer, std::span<const Expr> indices,
               std::span<const std::int64_t> sliced, std::span<const Expr> lengths);
// Any kind, from its fields: `While node; node.condition = c; node.body = b; make(context, node)`.
template <class Node>
Stmt make(ir::Context& context, const Node& node) {
  return Stmt(context.store().intern(node));
}
Stmt make(ir::Context& context, const Block& node);  // as make_block
Stmt make(ir::Context& context, const If& node);  // as make_if

// Whether one thread of a host does: no agents, no asynchronous operations, no synchronisation.
bool is_sequential(StmtKind kind);
bool is_sequential(Stmt root);
// The first line of its text, for messages.
std::string headline(Stmt stmt);

// The fields of a statement that hold other values. `f` is called with the name of the field and:
// a Stmt, an Expr, or a Symbol that names something of the Program or binds it. Children and operands included, lists
// one by one; names of origins, callees, roles and kernels left out; null values left out.
template <class F>
void for_each_part(Stmt stmt, F&& f);
// The same statement with each part replaced by what `f` returns for it.
template <class F>
Stmt map_parts(ir::Context& context, Stmt stmt, F&& f);
// What the statement binds for its body.
std::vector<Symbol> bound_names(Stmt stmt);

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

#include "lowering/program/parts.h"  // IWYU pragma: export
