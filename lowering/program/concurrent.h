// SPDX-License-Identifier: Apache-2.0
//
// The statements beyond one thread of a host. Included by program.h; page: docs/program.md.
//
// An *agent* executes statements one after the other. The program is one agent; `bind` loops and
// roles split it into others, which run at the same time until all have ended; an asynchronous
// operation is an agent of its own. Memory of different agents is ordered by synchronisation
// alone: what one wrote is read by another only after a chain of signals, waits, syncs, forks
// and joins that begins after the write, is as wide in scope as the two are apart, and holds a
// fence where their proxies differ.
#pragma once

#include "lowering/program/stmt.h"

namespace tilewright::program {

// `while todo[0] > 0 { ... }`: the condition is evaluated by the agent as a whole.
struct While : StmtNode {
  static constexpr StmtKind kKind = StmtKind::While;
  Expr condition;
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("condition", &While::condition), field("body", &While::body));
};

// `ring slot, phase = k of 3 { ... }`: slot = k mod 3 and phase = k div 3, for k >= 0: where use number
// k of a ring of three slots lies, and how often its slot was used before. A back end keeps both as
// counters.
struct Ring : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Ring;
  Symbol slot;
  Symbol phase;
  Expr use;
  std::int64_t depth = 1;
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("slot", &Ring::slot), field("phase", &Ring::phase), field("use", &Ring::use),
                 field("depth", &Ring::depth), field("body", &Ring::body));
};

// `call mma(a = s[slot, i : 8, k : 4], b = ..., c = acc[0 : 8, 0 : 8], d = acc[0 : 8, 0 : 8]) @ fold c(i, j, k)`: an
// intrinsic of the Program. It reads the tiles that are inputs of its meaning, then writes those that
// are outputs. Origin: as of a store to the first cell of its outputs.
struct Call : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Call;
  Symbol callee;
  NodeList<Tile> operands;
  OriginRole role = OriginRole::Value;
  Symbol origin;
  NodeList<Expr> point;
  static constexpr auto fields = std::tuple(
      field("callee", &Call::callee), field("operands", &Call::operands),
      field("role", &Call::role), field("origin", &Call::origin), field("point", &Call::point));
};

// `atomic sum c[i] by v at device @ merge c(i)`: the cell becomes `cell op v` in one step, which no other
// atomic of that scope splits; relaxed: it orders nothing else. `atomic ticket = sum next[0] by 1 { ... }`
// names what the cell held before.
struct Atomic : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Atomic;
  Symbol old;  // may be none: then no body
  ir::Monoid op = ir::Monoid::Sum;
  Symbol buffer;
  NodeList<Expr> indices;
  Expr value;
  Scope scope = Scope::None;  // None: that of the buffer
  OriginRole role = OriginRole::Value;
  Symbol origin;
  NodeList<Expr> point;
  Stmt body;  // may be null
  static constexpr auto fields =
      std::tuple(field("old", &Atomic::old), field("op", &Atomic::op),
                 field("buffer", &Atomic::buffer), field("indices", &Atomic::indices),
                 field("value", &Atomic::value), field("scope", &Atomic::scope),
                 field("role", &Atomic::role), field("origin", &Atomic::origin),
                 field("point", &Atomic::point), field("body", &Atomic::body));
};

// `prefetch b[k + 4, j]`: asks for the cell, which need not hold a value yet, to be near. It changes nothing and is no
// access: it orders nothing and nothing orders it.
struct Prefetch : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Prefetch;
  Symbol buffer;
  NodeList<Expr> indices;
  static constexpr auto fields =
      std::tuple(field("buffer", &Prefetch::buffer), field("indices", &Prefetch::indices));
};

// `kernel main { ... }`: one launch on a device. Kernels of a sequence follow one another, with all memory
// seen; kernels in roles of a `concurrent` run at the same time.
struct Kernel : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Kernel;
  Symbol name;
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("name", &Kernel::name), field("body", &Kernel::body));
};

// `for b in 0 .. n bind block { ... }`: one agent of this scope for each value; the statement ends when all
// have. Directly nested loops of one scope are one grid.
struct Bind : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Bind;
  Symbol var;
  Expr lower;
  Expr upper;
  Scope scope = Scope::Block;
  Stmt body;
  static constexpr auto fields = std::tuple(
      field("var", &Bind::var), field("lower", &Bind::lower), field("upper", &Bind::upper),
      field("scope", &Bind::scope), field("body", &Bind::body));
};

// `concurrent { role load : warp { ... } role math : warpgroup { ... } }`: one agent for each role.
struct Concurrent : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Concurrent;
  NodeList<Stmt> roles;  // each a Role
  static constexpr auto fields = std::tuple(field("roles", &Concurrent::roles));
};

// `role math : warpgroup lanes 128 registers 232 after load { ... }`: lanes of the role and its budget of
// 32-bit registers for each lane (0: not said). It begins when the roles after which it stands
// have ended: an order edge.
struct Role : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Role;
  Symbol name;
  Scope scope = Scope::Warp;
  std::int64_t lanes = 0;
  std::int64_t registers = 0;
  NodeList<Symbol> after;
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("name", &Role::name), field("scope", &Role::scope),
                 field("lanes", &Role::lanes), field("registers", &Role::registers),
                 field("after", &Role::after), field("body", &Role::body));
};

// `barrier full[3] arrivals 1 { ... }`, `semaphore done[n] starts 0 { ... }`, `token t[2] { ... }`,
// `channel link[2] : f32 holds 4 { ... }`: synchronisation objects for the body, shared by the agents
// in it. `count`: arrivals that complete a phase; the value at first; messages that fit.
struct Object : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Object;
  ObjectKind object = ObjectKind::Barrier;
  Symbol name;
  NodeList<Expr> extents;
  ScalarType type = ScalarType::F32;  // of a channel
  Expr count;  // of a token: none
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("object", &Object::object), field("name", &Object::name),
                 field("extents", &Object::extents), field("type", &Object::type),
                 field("count", &Object::count), field("body", &Object::body));
};

// `start async bytes full[slot] { s[slot, i] = a[k + i] }`: an asynchronous operation. The scalars of its
// body have the values of the start; memory is read and written at some time until it is
// complete. Bodies hold loops, `if`, `let`, stores, atomics and calls. Operations that one agent starts
// through the tensor proxy run one after the other in that order; others in any order.
// What it reads and writes in tensor memory goes through its proxy; of an operation of the
// tensor proxy other memory goes through the async proxy. Its completion makes what it wrote
// visible to the proxy it wrote through and, except for tensor memory, to the generic one.
struct Async : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Async;
  Proxy proxy = Proxy::Async;
  Completion completion = Completion::Bytes;
  Symbol object;  // none for a group
  NodeList<Expr> indices;
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("proxy", &Async::proxy), field("completion", &Async::completion),
                 field("object", &Async::object), field("indices", &Async::indices),
                 field("body", &Async::body));
};

// `arrive full[slot] by 1 at block`: releases everything the agent has done, for agents of the same
// instance of that scope (none: of the object's owner). `expect full[slot] by 1024`: the current phase
// needs so many bytes more. `send link[i] by x[j]`: waits until there is room. `commit`.
struct Signal : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Signal;
  SignalKind signal = SignalKind::Arrive;
  Symbol object;  // none for commit
  NodeList<Expr> indices;
  Expr amount;  // none for commit
  Scope scope = Scope::None;
  static constexpr auto fields =
      std::tuple(field("signal", &Signal::signal), field("object", &Signal::object),
                 field("indices", &Signal::indices), field("amount", &Signal::amount),
                 field("scope", &Signal::scope));
};

// Waits, then acquires what was released. `wait full[slot] until p`: phase number p of a barrier is
// complete; phases count from 0, and those below 0 are complete from the start. `wait done[i] until v`: a
// semaphore holds at least v. `wait t[slot]`: the token's operation is complete. `wait group until n`:
// of the agent's groups all but the last n are.
// A barrier in hardware keeps the lowest bit of its phase number only; the interpreter refuses waits
// for which that bit would not do (E0561).
struct Wait : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Wait;
  Symbol object;  // none for the groups
  NodeList<Expr> indices;
  Expr value;  // none for a token
  Scope scope = Scope::None;
  static constexpr auto fields =
      std::tuple(field("object", &Wait::object), field("indices", &Wait::indices),
                 field("value", &Wait::value), field("scope", &Wait::scope));
};

// `receive x = link[i] { ... }`: takes the oldest message; waits until there is one.
struct Receive : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Receive;
  Symbol var;
  ScalarType type = ScalarType::F32;  // of the channel
  Symbol object;
  NodeList<Expr> indices;
  Scope scope = Scope::None;
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("var", &Receive::var), field("type", &Receive::type),
                 field("object", &Receive::object), field("indices", &Receive::indices),
                 field("scope", &Receive::scope), field("body", &Receive::body));
};

// `fence async`: what this agent has seen of the generic proxy is visible to that proxy, and the reverse.
struct Fence : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Fence;
  Proxy proxy = Proxy::Async;
  static constexpr auto fields = std::tuple(field("proxy", &Fence::proxy));
};

// `sync block`: every agent of the instance of that scope waits for all others.
struct Sync : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Sync;
  Scope scope = Scope::Block;
  static constexpr auto fields = std::tuple(field("scope", &Sync::scope));
};

// `vote go = any block grew[w] > f32(8) { ... }`: a sync that also tells each agent whether the condition
// holds for any or all of them, or as `ballot` for which: bit n of an index for the n-th agent.
struct Vote : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Vote;
  Symbol var;
  VoteKind vote = VoteKind::Any;
  Scope scope = Scope::Block;
  Expr condition;
  Stmt body;
  static constexpr auto fields =
      std::tuple(field("var", &Vote::var), field("vote", &Vote::vote), field("scope", &Vote::scope),
                 field("condition", &Vote::condition), field("body", &Vote::body));
};

}  // namespace tilewright::program
