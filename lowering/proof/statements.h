// SPDX-License-Identifier: Apache-2.0
//
// The statements of a Program: each store with its instances, its time and the cells that it reads and
// writes, as sets that are quasi-affine in loop variables and extents (docs/decisions/proof.md). A `let` of
// a value is a store to a cell of its own. Laws: the domain of a statement holds an instance if and only if a
// run executes it; times of two instances compare as the interpreter executes them, for any order of
// `parallel` iterations where no two of those conflict.
//
// What data decide is moved into the value: a store under a condition on data writes, where it does not hold, what the
// cell held before; a loop up to a bound from data is one up to the greatest such bound, under a condition; a store to a
// cell that data name is one to every cell, under the condition that it is that cell. So the sets stay affine, and an
// instance that no run executes changes nothing. What agents do besides stores are events. What is followed in neither way is
// refused with its place.
// Tests: tests/laws/value_flow_test.cpp (against a traced run), tests/laws/data_proof_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/base/result.h"
#include "lowering/program/program.h"
#include "lowering/proof/data.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::proof {

using ir::Expr;
using poly::AffineExpr;

// One component of a time: a position among statements, or the value of a loop (its number, outermost 0). Lanes are
// in no time: those of a statement act together.
struct TimeStep {
  int position = 0;
  int loop = -1;
  bool splits = false;  // instances that differ here are of different agents
  friend bool operator==(const TimeStep&, const TimeStep&) = default;
};

struct Loop {
  std::string name;  // of the variable: unique in a Program
  program::LoopKind kind = program::LoopKind::Serial;
  bool of_call = false;  // a lane of a call: all read before any writes
  Expr lower = {};  // of a loop that is no lane of a call and no split into agents
  Expr upper = {};
};

// One of the agents around a statement, outermost first: a kernel, a role, or an iteration of a loop bound to agents.
struct AgentStep {
  const void* node = nullptr;
  program::Scope scope = program::Scope::System;
  int loop = -1;
};

// Where something of an agent stands. Its instances are those of the loops in the domain.
struct Point {
  std::vector<Loop> loops;  // outermost first
  poly::Set domain;  // parameters: extents; dimensions: the loops
  std::vector<TimeStep> time;  // in the order that value flow takes
  // Of a Program with agents alone: in the program of its agent, and the agents.
  std::vector<TimeStep> order;
  std::vector<AgentStep> agents;

  Point() : domain(poly::Space{}) {}
};

// A cell that a statement reads.
struct Access {
  Symbol buffer;
  std::vector<AffineExpr> cell;  // over the loops of the statement, extents and the names of `data`
  Expr read;  // where it stands in the value
  poly::Set points;  // the instances that evaluate it: under its `select`s
  Known data = {};  // the names in the cell
  Known known = {};  // and what is known of them and of others where a run evaluates it
  std::vector<Expr> under = {};  // the conditions on data that hold where a run evaluates it
  bool is_own = false;  // of the cell that a store under conditions writes
  bool only_kept =
      false;  // and no run evaluates it: what the cell held before, where the store does nothing
};

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Statement : Point {
  std::size_t number = 0;
  program::Stmt origin;  // the store or let
  Symbol buffer;
  std::vector<AffineExpr> cell;
  Expr value;  // names of the Program, quasi-affine `let`s replaced
  std::vector<Access> reads;
  std::vector<Expr> under;  // the conditions on data under which a run executes it
  bool keeps =
      false;  // where they do not hold, the cell keeps what it held; else its value is of no matter there
  Known data;  // the names in `target`, and what `under` says of them
  std::vector<AffineExpr> target;  // the cell as the Program says it: `cell`, but for names
  // What the store says that it writes: a cell of the algorithm. A hint.
  Symbol marked;
  std::vector<Expr> mark;
  std::size_t operation = kNone;  // the event that starts the asynchronous operation that it is of
};

// What an agent does besides stores. Split: a loop bound to agents begins. End: of an `alloc`, an object or a kernel.
struct Event : Point {
  enum class Kind : std::uint8_t {
    Split,
    End,
    Start,
    Arrive,
    Expect,
    Commit,
    Wait,
    WaitGroups,
    Fence,
    Sync
  };
  Kind kind = Kind::End;
  program::Stmt origin;
  std::size_t object = kNone;
  std::vector<AffineExpr> element;  // of the object
  AffineExpr value;  // the amount that arrives, the phase, or how many groups may be left
  Expr bytes;  // that are expected
  program::Scope scope = program::Scope::None;
  program::Proxy proxy = program::Proxy::Generic;
  program::Completion completion = program::Completion::Group;
};

// A synchronisation object; each instance of the loops around it has its own.
struct SyncObject {
  Symbol name;
  program::ObjectKind kind = program::ObjectKind::Barrier;
  std::vector<std::int64_t> extents;
  std::int64_t count = 0;
  std::size_t loops = 0;  // so many of the loops around what uses it
  std::size_t agents = 0;
};

// A tensor, an `alloc` or a value of a `let`.
struct Buffer {
  Symbol name;
  ir::ScalarType type = ir::ScalarType::F32;
  std::vector<Loop>
      loops;  // each of their instances has its own cells; lanes share an `alloc`, not a `let`
  std::vector<Expr> extents;
  poly::Set cells;  // parameters: extents; dimensions: the loops around it, then `d0`, `d1`, ...
  program::Space space = program::Space::Global;
  enum class Kind : std::uint8_t { Input, Output, Inout, Local } kind = Kind::Local;

  Buffer() : cells(poly::Space{}) {}
};

struct Statements {
  std::vector<Statement> list;  // in the order of the text
  std::vector<Buffer> buffers;
  std::vector<Event> events;  // of a Program with agents, in the order of the text
  std::vector<SyncObject> objects;
  bool has_agents = false;
  poly::Set sizes;  // that the Program allows; no dimensions

  Statements() : sizes(poly::Space{}) {}
  const Buffer* find(Symbol name) const;
  std::vector<std::string> extents() const { return sizes.space().params; }
};

// Times are positions in the text and values of loops. With agents they are no order that a run has to keep
// (interleave.h).
Result<Statements> statements_of(ir::Context& context, const program::Program& program);

// A time, and what is appended to the loop variables of its instance.
struct Moment {
  const std::vector<TimeStep>& time;
  const std::vector<Loop>& loops;
  std::string_view suffix;
};
// One way for `a` to be before `b`: all steps before `decided` agree. The larger `decided`, the later `a` is among
// all that are before `b`; among those with the same `decided`, one that stands at a larger `position` there
// is later; -1 where a loop decides.
struct Before {
  std::size_t decided = 0;
  int position = -1;
  poly::BasicSet condition;
};
std::vector<Before> before(const Moment& a, const Moment& b);

}  // namespace tilewright::proof
