// SPDX-License-Identifier: Apache-2.0
//
// Emits one nest: its loops with bounds and guards, the nests placed in them, and the statement of its
// equation or copy. Reductions keep partial results in a tile around their fold loops (fold.cpp).
//
// A reduction's loops are cut at two places. `first_fold_` is its outermost fold loop: everything outside
// visits each cell once. `tile_begin_` is the first loop from which on only fold loops and kept loops follow:
// there a tile of partial results lives in registers. Where the two differ the result's own cells hold the
// partial results in between.
//
// A reduction has one accumulator for each field of its monoid and, where it has `on_empty`, one that says
// whether there was a term. A scan reads the cell before its own. An update first fills its cells, then runs
// over its terms.
#pragma once

#include <functional>
#include <set>

#include "frontend/ir/reduction.h"
#include "lowering/build/builder.h"
#include "schedules/machine/unify.h"

namespace tilewright::build {

// What is known at a point inside the loops.
struct Point {
  LoopValues values;
  Env env;
  std::set<int> pending_splits;  // guards whose loops do not all have values yet
  std::set<Symbol> pending_dimensions;
  // That this agent has an iteration of a loop: guards of what it does alone. What agents do together stands outside.
  std::vector<Expr> held;
  bool in_tail = false;  // of a peeled loop: its partial tile
  // Of a pipeline: the statements of the loop that are emitted now; null: all.
  const std::vector<Symbol>* rows = nullptr;
};
using Continue = std::function<Result<Stmt>(Point&)>;

// A cell of a buffer.
struct Place {
  Symbol buffer;
  std::vector<Expr> index;
  Symbol origin;
};

// What a reduction keeps of the terms so far: a field of its monoid, or whether there was one.
struct Accumulator {
  ir::ScalarType type = ir::ScalarType::F32;
  Expr identity;
  Symbol tile;  // in registers, around the fold loops
  Symbol outside;  // where partial results lie in between; none: in the result's own cells
};

class NestEmitter {
 public:
  NestEmitter(Builder& builder, const tree::Nest& nest, const Region& region,
              std::vector<Dimension> dimensions);

  Result<Stmt> emit(const Env& env);

 private:
  // loops.cpp
  Result<Stmt> level(std::size_t depth, Point& point);
  // One loop of the nest around `body`; a peeled loop gives two, a specialized one a copy for each version.
  Result<Stmt> loop(std::size_t index, Point& point, const Continue& body);
  Result<Stmt> one_version(std::size_t index, Point& point, const Continue& body);
  Result<Stmt> one_loop(const tree::Loop& loop, Point point, Expr lower, Expr upper, bool constant,
                        const Continue& body);
  // device.cpp: a loop of which each iteration is an agent; a loop that runs in intervals.
  Result<Stmt> bound_loop(const tree::Loop& loop, Point point, Expr upper, const Continue& body);
  Result<Stmt> pipelined_loop(const tree::Loop& loop, const Point& point, Expr upper,
                              const Continue& body);
  // roles.cpp: the table of a pipeline by which the text of an interval runs.
  Result<std::vector<tree::PipelineRow>> rows_of(const tree::Loop& loop) const;
  std::optional<Failure> out_of_time(const std::vector<tree::PipelineRow>& rows) const;
  // Leaves the nests that these rows of a pipeline compute or read.
  Result<Ok> drop_other_rows(const std::vector<Symbol>& rows,
                             std::vector<const tree::Nest*>& nests) const;
  // The statements inside as an operation of their own, where the nest says so.
  Result<Stmt> asynchronous(Point& point, const Continue& body);
  // The loops outside of `depth` that agents inside of a team run do not fix the region of a team's memory.
  LoopValues values_for(const tree::Nest& placed, const Point& point) const;
  // On a device, bounds of the fold that are read from data have names, so that regions may depend on them.
  Result<Stmt> with_data_bounds(Point& point, const Continue& body);
  // How many iterations the loop that was entered last has had, counted on over the loops around it in the team.
  Expr use_number(const Point& point) const;
  // The ring of a loop around what `body` makes with its slot.
  Result<Stmt> in_ring(std::int64_t depth, Expr use,
                       const std::function<Result<Stmt>(Expr slot)>& body);
  // Gives the loop a value at the point, and adds the guards that it brings.
  Symbol enter(const tree::Loop& loop, Point& point, Expr lower, Expr upper, bool constant);
  // The loop as it is emitted: of a tensorized one, where its tile is partial or no instruction takes part.
  tree::Loop plain_loop(std::size_t index) const;
  // Requests for what the iteration some way ahead reads: one for each line of each row.
  Result<Stmt> prefetches(const tree::Loop& loop, const Point& point, Expr upper);
  Result<Stmt> prefetch(const tree::Prefetch& ahead, const tree::Loop& loop, const Point& point,
                        Expr upper);
  // The nests placed at a loop, then `body`.
  Result<Stmt> with_placed(std::size_t loop, Point& point, const Continue& body);
  Result<Stmt> placed(const std::vector<const tree::Nest*>& nests, std::size_t at,
                      const std::vector<Region>& regions, Env& env,
                      const std::vector<Placing>& placings,
                      const std::function<Result<Stmt>(Env&)>& body);
  // The guards that have become computable, taken from the point's pending ones; those of a statement with what is held.
  std::vector<Expr> take_guards(Point& point, bool of_statement = true);
  // Takes what is held around the loops from `depth` on, if agents do nothing together in them.
  std::vector<Expr> take_held(Point& point, std::size_t depth) const;
  bool follows_from_bounds(const Point& point, Expr guard) const;
  Stmt guarded(const std::vector<Expr>& guards, Stmt body, Stmt otherwise = {});

  // statement.cpp
  Result<Stmt> elementwise(Point& point);
  Result<Stmt> copy(Point& point);
  ir::Substitution index_values(const Point& point) const;
  std::vector<Expr> cell(const Point& point) const;

  // update.cpp
  Result<Stmt> scan(Point& point);
  Result<Stmt> update(Point& point);
  Result<Stmt> update_step(Point& point);
  // The values before are read, the terms computed, and then all is written.
  Stmt step(const std::vector<Place>& before, const std::vector<Place>& after,
            const std::vector<Expr>& terms, program::OriginRole role, const std::vector<Expr>& at);

  // fold.cpp
  Result<Stmt> fold_region(std::size_t depth, Point& point);
  // A tile of partial results around the loops from `depth` on, started at the identity or from the cells.
  Result<Stmt> tile_region(std::size_t depth, Point& point, bool from_identity);
  Result<Stmt> fold_loops(std::size_t depth, std::size_t end, Point& point, const Continue& body);
  Result<Stmt> over_loops(const std::vector<std::size_t>& loops, std::size_t at, Point& point,
                          const Continue& body);
  Result<Stmt> fold_step(Point& point, const std::vector<Place>& places, std::vector<Expr> at,
                         bool drop_guards);
  Result<Stmt> tile_step(Point& point);
  // tensor.cpp: one tile over the tensorized loops, by the instruction or, where it is partial, by loops.
  Result<Ok> plan_tensor();
  Result<Stmt> tensor_step(Point& point);
  // Sizes and a cell of a tile that begins inside of the guard, where the cell does not satisfy it.
  Evidence partial_instance(const Point& point, const std::vector<Symbol>& tile, Expr guard) const;
  Result<Stmt> call(const Point& point, Expr term, Symbol tile);
  // Where a tile lies: its loops' variables, each 0 in `first`, and the cell of partial results there.
  struct TensorTile {
    Symbol tile;
    std::vector<Symbol> vars;
    ir::Substitution first;
    std::vector<Expr> index;
  };
  std::vector<Expr> at_first(const TensorTile& where, std::vector<Expr> exprs) const;
  program::Tile result_tile(const machine::Meaning& meaning, const TensorTile& where,
                            Symbol operand) const;
  // The tiles of all operands in order, then of the result; none: `why`.
  std::optional<std::vector<program::Tile>> operand_tiles(const Point& point,
                                                          const machine::Meaning& meaning,
                                                          const machine::Unified& way,
                                                          const TensorTile& where,
                                                          std::string& why) const;
  Stmt make_call(const Point& point, const machine::Meaning& meaning, const TensorTile& where,
                 const std::vector<program::Tile>& tiles);
  bool is_tensorized(std::size_t loop) const { return loop >= tensor_begin_; }
  Result<Stmt> merge_lanes(Point& point);
  std::vector<Expr> loop_values(const std::vector<std::size_t>& loops, const Point& point) const;
  std::vector<Expr> fold_values(const Point& point) const;
  std::vector<Expr> guards_of_terms(Point& point, const std::vector<Expr>& terms);
  bool reads_stay_inside(const Point& point, Expr term, Symbol name) const;
  std::vector<Expr> localise(const Point& point, NodeList<Expr> exprs) const;
  // Both sides hold a value of each accumulator.
  std::vector<Expr> merged(const std::vector<Expr>& a, const std::vector<Expr>& b) const;
  std::vector<Expr> identities() const;
  // The final values of the accumulators' results.
  std::vector<Expr> finished(const Point& point, const std::vector<Expr>& values) const;
  std::vector<Place> tile_places(const Point& point) const;
  std::vector<Place> outside_places(const Point& point) const;
  std::vector<Place> result_places(const Point& point) const;
  std::vector<Expr> read(const std::vector<Place>& places) const;
  // Stores that see none of each other: what is not constant is computed first.
  Stmt assign(const std::vector<Place>& places, const std::vector<Expr>& values,
              program::OriginRole role, const std::vector<Expr>& at);
  Stmt bind(std::vector<Expr>& values, std::string_view name, const std::function<Stmt()>& body);

  Result<Ok> plan();
  Failure not_in_tile(std::size_t loop) const;

  Builder& builder_;
  ir::Context& context_;
  const tree::Nest& nest_;
  const Region& region_;
  const ir::Equation* equation_;
  const ir::Fold* fold_ = nullptr;  // of a reduction
  const ir::Fold* scan_ = nullptr;
  const ir::Fold* update_ = nullptr;
  ir::Reduction reduction_;
  std::vector<Accumulator> accumulators_;
  LoopSpace space_;
  std::size_t first_fold_ = 0;
  std::size_t tile_begin_ = 0;
  std::size_t tensor_begin_ =
      0;  // the first tensorized loop; the number of loops when there is none
  std::vector<std::size_t> tensor_loops_;  // in the order of the instruction's dimensions
  std::size_t num_tensor_results_ = 0;  // how many of them run over results
  // Kept loops and vector fold loops, the vector loop last; tensorized loops over results after all others.
  std::vector<std::size_t> tile_loops_;
  std::vector<std::size_t> kept_;  // the kept loops, in order of the nest
  std::vector<std::int64_t> tile_extents_;
  std::int64_t lanes_ = 0;  // lanes of a vector fold loop; 0 when there is none
  std::vector<std::pair<Expr, Symbol>> data_bounds_;  // what is read, and its name
  bool is_started_ = false;  // emitting what an asynchronous operation does
  // The result loops inside the fold, which index what lies outside of tiles.
  std::vector<std::size_t> accumulator_loops_;
};

}  // namespace tilewright::build
