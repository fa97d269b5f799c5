// SPDX-License-Identifier: Apache-2.0
//
// What the parts of `build` share: names, facts, where each tensor lives at a point of the tree, and the
// regions that nests under a loop need.
#pragma once

#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontend/base/result.h"
#include "frontend/ir/simplify.h"
#include "frontend/ir/walk.h"
#include "lowering/build/loop_space.h"
#include "lowering/build/synchronise.h"
#include "lowering/program/program.h"
#include "schedules/machine/instruction.h"
#include "schedules/machine/machine.h"
#include "schedules/polyhedra/context.h"
#include "schedules/polyhedra/instances.h"
#include "schedules/tree/tree.h"

namespace tilewright::build {

using ir::Expr;
using poly::Evidence;
using program::Stmt;

// A box of cells: lo <= cell < lo + size, and an upper bound of each size in extents alone.
struct Region {
  std::vector<Expr> lower;
  std::vector<Expr> size;
  std::vector<Expr> max_size;
  // When some cell of the box is needed; null: always, or it does not matter since any cell of the tensor
  // can be had. In an iteration beyond the data the box may hold cells that nothing has computed.
  Expr needed;
};

// Where the cells of a tensor are for the code being emitted: cell - lower, through the layout if there is one.
struct Binding {
  Symbol buffer;
  std::vector<Expr> lower;  // empty: the buffer is the whole tensor
  std::vector<Expr> leading;  // indices before those of the cell: which of several tensors
  std::vector<Expr> extents;  // of the buffer
  // How many cells of each of its dimensions are sure to hold a value; null: nothing is known.
  std::vector<Expr> filled;
  const tree::Stage* stage = nullptr;  // its layout
  Expr slot;  // of a ring: the leading index of the buffer; null: no ring
};

// A loop of the Program that surrounds the code being emitted.
struct LiveLoop {
  Symbol var;
  Expr lower;
  Expr upper;
  Expr count = {};  // of all its iterations, from 0 on; null: a number that is read, and no loop
};

// A loop around the code being emitted of which each iteration is an agent.
struct Agent {
  tree::Scope scope = tree::Scope::None;
  Symbol var;
  Expr count;
  Expr iterations;  // `count`, or fewer: the agents after these have none
};

struct Env {
  std::vector<LiveLoop> loops;
  std::map<Symbol, Binding> bindings;
  std::vector<Agent> agents;
};

// A memory that lives as long as a team of agents, or a loop, whatever loop its tensor is placed in.
struct Memory {
  Symbol tensor;
  Symbol nest;
  Symbol buffer;
  ir::ScalarType type = ir::ScalarType::F32;
  std::vector<Expr> extents;
  program::Space space = program::Space::Shared;
};
using Memories = std::vector<Memory>;

// How a nest is placed: in which slot of its ring; whether it is computed here, or read alone; by which role, if that
// is another than the one of the nest around it.
struct Placing {
  Expr slot = {};
  bool fills = true;
  const tree::Role* role = nullptr;
  Expr when = {};  // it is computed where this holds; null: always
};

// The role of a statement of a loop; null: the loop has no roles.
const tree::Role* role_of(const tree::Loop& loop, Symbol statement);
program::Scope program_scope(tree::Scope scope);

class Builder {
 public:
  Builder(ir::Context& context, poly::Context& polyhedra, const ir::Algorithm& algorithm,
          const tree::Schedule& schedule);

  Result<program::Program> run();

  // What `emit` makes where the condition on extents holds: it is known there.
  Result<Stmt> under(Expr condition, const std::function<Result<Stmt>()>& emit);

  // A name that the Program does not have yet: `wanted`, or `wanted_2`, ...
  Symbol fresh(std::string_view wanted);
  Expr simplify(Expr expr) const { return ir::simplify(context, expr, ranges); }
  // Declares a loop variable's range for simplification.
  void declare_loop(Symbol var, Expr lower, Expr upper);
  // The read of a tensor's cell where its binding says.
  Expr read(const Env& env, Symbol tensor, const std::vector<Expr>& cell) const;
  std::vector<Expr> buffer_index(const Env& env, Symbol tensor, const std::vector<Expr>& cell,
                                 Symbol* buffer) const;
  // The place in the buffer of a staged copy: components of its layout as its swizzles move them.
  std::vector<Expr> swizzled(const tree::Stage& stage, std::vector<Expr> components) const;
  // How many cells of each dimension of a buffer of the Program are sure to hold a value; null when it is
  // neither bound nor a parameter.
  const std::vector<Expr>* filled_cells(const Env& env, Symbol buffer) const;
  // The extents of a buffer of the Program; null when it is neither bound nor a parameter.
  const std::vector<Expr>* extents_of(const Env& env, Symbol buffer) const;
  // Makes an instruction one of the Program's, which calls then name.
  void use(const machine::Meaning& instruction);
  // An upper bound, in extents alone and at least 0, of an expression over the indices of an equation and the
  // first `num_fold_vars` variables of its fold.
  Result<Expr> largest(const ir::Equation& equation, std::size_t num_fold_vars, Expr expr) const;
  // An expression of the algorithm with indices replaced and reads redirected.
  Expr localise(const Env& env, Expr expr, const ir::Substitution& indices) const;

  // The nests placed in the body of a loop, in order.
  std::vector<const tree::Nest*> placed_at(Symbol nest, Symbol loop) const;
  // True when `nest` is `owner` or stands (through any number of placements) inside `owner`'s loop or one
  // further in.
  bool stands_inside(const tree::Nest& nest, const tree::Nest& owner, Symbol loop) const;
  // The box that `nest`, placed at owner.loop, has to fill: the cells of its tensor that the nests inside the
  // loop read, with the loops in `values` fixed.
  Result<Region> required_region(const tree::Nest& nest, const tree::Nest& owner, Symbol loop,
                                 const LoopSpace& space, const LoopValues& values, const Env& env);
  // True when the nest reads a tensor of which only a region is computed or copied somewhere.
  bool reads_regions(const tree::Nest& nest) const;
  Region whole(const std::vector<Expr>& shape) const;

  Result<Stmt> emit_nest(const tree::Nest& nest, const Region& region, const Env& env);
  // The nest in an allocation that the rest sees: alloc { nest; rest(env) }.
  Result<Stmt> emit_placed(const tree::Nest& nest, const Region& region, Env& env,
                           const std::function<Result<Stmt>(Env&)>& rest,
                           const Placing& placing = {});
  // What `emit` makes, in the memories that were asked for in it.
  Result<Stmt> with_memories(const std::function<Result<Stmt>()>& emit);
  bool is_device() const { return machine_ && !machine_->teams.empty(); }
  // How many bytes one request brings: a line of the cache nearest to the core.
  std::int64_t line_bytes() const;
  // Whether the memory of a nest outlives the loop that it is placed in.
  bool has_team_memory(const tree::Nest& nest) const;

  // roles.cpp. A loop with roles begins; its nest's role is that of all its team.
  Result<Ok> begin_roles(const tree::Nest& nest, const tree::Loop& loop);
  // What `emit` makes, the body of a team, by the role that began in it.
  Result<Stmt> with_roles(const std::function<Result<Stmt>()>& emit);
  Result<Ok> fits_role(const tree::Nest& nest, const tree::Role& role) const;
  // The order of a loop's roles, by its variable in the Program.
  void add_orders(const tree::Loop& loop, Symbol var);
  // Whether the equation of a nest reads what another makes.
  bool reads(Symbol reader, const tree::Nest& maker) const;

  // Evidence that a value over extents is not constant: it, and two allowed sizes at which it differs.
  Evidence varying(std::string_view what, const std::vector<Expr>& values) const;
  // Allowed sizes at which a value over extents is larger than another, where either depends on them.
  Evidence larger(Expr value, Expr other) const;

  // The equation of a nest with inlined producers substituted; null for a staged copy.
  const ir::Equation* equation(Symbol nest) const;

  ir::Context& context;
  poly::Context& polyhedra;
  const ir::Algorithm& algorithm;
  const tree::Schedule& schedule;
  ir::Ranges ranges;
  Facts facts;  // of extents
  std::vector<Expr>
      conditions;  // that hold where code is being emitted, beyond requirements and guards
  // The longest loop that is to be unrolled so far.
  struct Unrolled {
    std::int64_t length = 0;
    std::string loop;
    Span place;
  } unrolled;

 private:
  // Refuses what the machine does not have: on a host, what no Program of one function states.
  Result<Ok> fits_machine() const;
  Result<Ok> fits_spaces(const program::Program& program) const;
  void inline_equations();
  Binding own_binding(const tree::Nest& nest, Symbol tensor, const Region& region, Expr slot);
  using Rest = std::function<Result<Stmt>(Env&)>;
  // The copies of the plan from nest number `first` on, around all that follows.
  Result<Stmt> emit_plan(std::size_t first, Env& env, const Rest& rest);
  // The nests at the root in order, each in the loops of the algorithm around it; a local equation's buffer
  // lives for all that follow. Positions in roots_ [first, last), and loops from number `loop` on.
  Result<Stmt> emit_roots(std::size_t first, std::size_t last, std::size_t loop, Env& env,
                          const Rest& rest);
  // iterations.cpp
  Result<Stmt> emit_loop(std::size_t loop, Env& env, const Rest& rest);
  Stmt emit_copy(const Env& env, Symbol from, Symbol to);
  Symbol written_in_place(const ir::Loop& loop, const ir::Carry& carry) const;
  // in_place.cpp
  bool may_be_in_place(const ir::Equation& output) const;
  Result<Stmt> with_old_values(Env& env, const Rest& rest);
  bool is_inlined(Symbol equation) const;
  // With what is inlined in place of its reads.
  Expr through_inlining(Expr expr) const;
  Result<Ok> find_roots();
  Result<Ok> order_sets();
  // device.cpp
  Result<Stmt> emit_kernels(Env& env);
  Stmt at_the_same_time(const tree::Set& set, const std::vector<std::pair<Symbol, Stmt>>& members);
  // roles.cpp
  Stmt by_role(const tree::Role& role, Stmt body) const;
  Result<Ok> fits_registers(const program::Program& program) const;
  // The fill of a nest by the agents around it: by one of those that its own loops do not split it among.
  Stmt by_one_agent(const tree::Nest& nest, const Env& env, Stmt fill) const;

  std::vector<const tree::Nest*>
      roots_;  // of an algorithm with loops: one for each equation, or null
  std::vector<ir::Equation> equations_;  // after inlining
  std::vector<program::Intrinsic> intrinsics_;
  std::unordered_set<Symbol> used_names_;
  std::optional<machine::Machine> machine_;
  Memories* memories_ = nullptr;
  const tree::Loop* team_roles_ = nullptr;  // the loop with roles of the team being emitted
  const tree::Role* team_role_ = nullptr;  // of its own nest
  std::vector<RoleOrder> orders_;
};

// E0301 with the word of the schedule to blame, and what would help.
Failure refuse(Span place, std::string message, std::string remedy, Evidence evidence = {});

}  // namespace tilewright::build
