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
#include "lowering/program/program.h"
#include "schedules/machine/instruction.h"
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
  std::vector<Expr> extents;  // of the buffer
  // How many cells of each of its dimensions are sure to hold a value; null: nothing is known.
  std::vector<Expr> filled;
  const tree::Stage* stage = nullptr;  // its layout
};

// A loop of the Program that surrounds the code being emitted.
struct LiveLoop {
  Symbol var;
  Expr lower;
  Expr upper;
};

struct Env {
  std::vector<LiveLoop> loops;
  std::map<Symbol, Binding> bindings;
};

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
                           const std::function<Result<Stmt>(Env&)>& rest);

  // Evidence that a value over extents is not constant: it, and two allowed sizes at which it differs.
  Evidence varying(std::string_view what, const std::vector<Expr>& values) const;

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
  // Refuses what no Program of one host function states.
  Result<Ok> fits_host() const;
  void inline_equations();
  Binding own_binding(const tree::Nest& nest, Symbol tensor, const Region& region);
  Result<Stmt> emit_roots(std::size_t first, Env& env);

  std::vector<ir::Equation> equations_;  // after inlining
  std::vector<program::Intrinsic> intrinsics_;
  std::unordered_set<Symbol> used_names_;
};

// E0301 with the word of the schedule to blame, and what would help.
Failure refuse(Span place, std::string message, std::string remedy, Evidence evidence = {});

}  // namespace tilewright::build
