// SPDX-License-Identifier: Apache-2.0
//
// Emits one nest: its loops with bounds and guards, the nests placed in them, and the statement of its
// equation or copy. Reductions keep partial results in a tile around their fold loops (fold.cpp).
//
// A reduction's loops are cut at two places. `first_fold_` is its outermost fold loop: everything outside
// visits each cell once. `tile_begin_` is the first loop from which on only fold loops and kept loops follow:
// there a tile of partial results lives in registers. Where the two differ the result's own cells hold the
// partial results in between.
#pragma once

#include <functional>
#include <set>

#include "lowering/build/builder.h"
#include "schedules/machine/unify.h"

namespace tilewright::build {

// What is known at a point inside the loops.
struct Point {
  LoopValues values;
  Env env;
  std::set<int> pending_splits;  // guards whose loops do not all have values yet
  std::set<Symbol> pending_dimensions;
  bool in_tail = false;  // of a peeled loop: its partial tile
};
using Continue = std::function<Result<Stmt>(Point&)>;

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
  // Gives the loop a value at the point, and adds the guards that it brings.
  Symbol enter(const tree::Loop& loop, Point& point, Expr lower, Expr upper, bool constant);
  // The loop as it is emitted: of a tensorized one, where its tile is partial or no instruction takes part.
  tree::Loop plain_loop(std::size_t index) const;
  // The nests placed at a loop, then `body`.
  Result<Stmt> with_placed(std::size_t loop, Point& point, const Continue& body);
  Result<Stmt> placed(const std::vector<const tree::Nest*>& nests, std::size_t at,
                      const std::vector<Region>& regions, Env& env,
                      const std::function<Result<Stmt>(Env&)>& body);
  // The guards that have become computable, taken from the point's pending ones.
  std::vector<Expr> take_guards(Point& point);
  bool follows_from_bounds(const Point& point, Expr guard) const;
  Stmt guarded(const std::vector<Expr>& guards, Stmt body);

  // statement.cpp
  Result<Stmt> elementwise(Point& point);
  Result<Stmt> copy(Point& point);
  ir::Substitution index_values(const Point& point) const;
  std::vector<Expr> cell(const Point& point) const;

  // fold.cpp
  Result<Stmt> fold_region(std::size_t depth, Point& point);
  // A tile of partial results around the loops from `depth` on, started at the identity or from the cells.
  Result<Stmt> tile_region(std::size_t depth, Point& point, bool from_identity);
  Result<Stmt> fold_loops(std::size_t depth, std::size_t end, Point& point, const Continue& body);
  Result<Stmt> over_loops(const std::vector<std::size_t>& loops, std::size_t at, Point& point,
                          const Continue& body);
  Result<Stmt> fold_step(Point& point, Symbol tile);
  Result<Stmt> in_place_step(Point& point);
  // tensor.cpp: one tile over the tensorized loops, by the instruction or, where it is partial, by loops.
  Result<Ok> plan_tensor();
  Result<Stmt> tensor_step(Point& point, Symbol tile);
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
  Result<Stmt> merge_lanes(Point& point, Symbol tile);
  std::vector<Expr> loop_values(const std::vector<std::size_t>& loops, const Point& point) const;
  std::vector<Expr> fold_values(const Point& point) const;
  std::vector<Expr> guards_of_term(Point& point, Expr term);
  bool reads_stay_inside(const Point& point, Expr term, Symbol name) const;
  Expr combine(Expr a, Expr b) const;
  Stmt store_result(Point& point, Expr value, program::OriginRole role);
  Expr read_result(const Point& point) const;
  Stmt store_partial(Point& point, Expr value, program::OriginRole role,
                     std::vector<Expr> fold_point);
  Expr read_partial(const Point& point) const;

  Result<Ok> plan();
  Failure not_in_tile(std::size_t loop) const;

  Builder& builder_;
  ir::Context& context_;
  const tree::Nest& nest_;
  const Region& region_;
  const ir::Equation* equation_;
  const ir::Fold* fold_ = nullptr;
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
  // In-place partial results of a fold whose result has another type: an accumulator of the fold's type,
  // indexed by the result loops inside the fold.
  Symbol accumulator_;
  std::vector<std::size_t> accumulator_loops_;
};

}  // namespace tilewright::build
