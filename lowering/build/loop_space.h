// SPDX-License-Identifier: Apache-2.0
//
// The loops of one nest as arithmetic: what each dimension is worth in terms of the loops, how far each loop
// runs, and which guards are left where a loop must have a constant length. Law: over the loops with their
// bounds and guards, each point of the nest's box is visited exactly once (tests/laws/loop_space_test.cpp).
#pragma once

#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "frontend/ir/simplify.h"
#include "schedules/tree/tree.h"

namespace tilewright::build {

using ir::Expr;

// A dimension of a nest, counted from 0: it runs to `size`, which is at most `max_size` (extents only, at
// least 0), and stands for the index `lower` + count of the algorithm. For a fold variable both are the
// algorithm's own expressions, in which a variable is a dimension of the nest; for any other dimension they
// are expressions of the Program, in which a variable is a loop outside the nest, whatever its name.
struct Dimension {
  Symbol name;
  Expr size;
  Expr max_size;
  Expr lower;
  bool is_fold = false;
};

// Loops that have a value so far, and the splits whose tiles are known to be full.
struct LoopValues {
  std::unordered_map<Symbol, Expr> value_of;
  std::set<int> full_splits;  // indices into Nest::steps
};

// What is known of the extents where code is emitted: what the algorithm declares, and conditions around.
struct Facts {
  ir::Ranges ranges;
  std::unordered_map<Symbol, std::int64_t> multiple_of;

  explicit Facts(const ir::Algorithm& algorithm);
  // A condition that holds too; of one that is no conjunction of comparisons, nothing is learnt.
  void add(Expr condition);
};

class LoopSpace {
 public:
  // Follows `facts` as they change.
  LoopSpace(ir::Context& context, const Facts& facts, const tree::Nest& nest,
            std::vector<Dimension> dimensions);

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  // How the Program reads what a bound of the algorithm reads. Before this call no value may be asked for
  // that depends on data.
  void read_data(std::function<Expr(Expr)> reads) { reads_ = std::move(reads); }
  // The value of a dimension or of any name in the steps. Precondition: its loops have values.
  Expr value(Symbol name, const LoopValues& values) const;
  // Half-open range of a name when some of its loops have no value: exact hull over the rest.
  std::pair<Expr, Expr> range(Symbol name, const LoopValues& values) const;
  // How far a loop runs, given the loops outside it.
  Expr extent(Symbol name, const LoopValues& values) const;
  // An upper bound of extent() in extents of the algorithm alone.
  Expr max_extent(Symbol name) const;
  // A constant length of at least 1 for a vector or unrolled loop, if there is one.
  std::optional<std::int64_t> constant_extent(Symbol name) const;
  // The index in the algorithm of a dimension whose count from 0 is given. Precondition: the dimensions that
  // its lower bound names have values.
  Expr absolute(Symbol dimension, Expr local, const LoopValues& values) const;
  bool has_value(Symbol name, const LoopValues& values) const;
  bool guard_known(int split, const LoopValues& values) const {
    return has_value(split_parent(split), values);
  }
  bool dimension_guard_known(Symbol dimension, const LoopValues& values) const;
  Symbol split_parent(int step) const { return split(step).parent; }
  // The loops that a name is made of.
  std::vector<Symbol> loops_of(Symbol name) const;
  // True when a loop belongs to the fold's variables.
  bool is_fold(Symbol name) const;

  // What a loop may overrun: splits and dimensions that need their guard once it and the loops they depend
  // on have values. `constant_length`: the loop runs its constant extent (vector, unrolled); `values` are
  // the loops outside.
  struct Overruns {
    std::vector<int> splits;
    std::vector<Symbol> dimensions;
  };
  Overruns overruns(Symbol loop, bool constant_length, const LoopValues& values) const;
  // value(parent) < extent(parent) of a split step, or of the dimension for a loop that is one (split -1).
  Expr guard(int split, const LoopValues& values) const;
  Expr dimension_guard(Symbol dimension, const LoopValues& values) const;
  // The split that `loop` is the outer part of, or -1.
  int split_of_outer(Symbol loop) const;
  // Number of full tiles of a split, floor(extent(parent) / factor), at least 0.
  Expr full_tiles(int split, const LoopValues& values) const;
  // True when the extent of the split's parent is a multiple of its factor for every size.
  bool divides(int split, const LoopValues& values) const;

 private:
  struct Name {
    int split_parent = -1;  // step that splits this name
    int split_outer = -1;  // step that this name is the outer or inner part of
    int split_inner = -1;
    int fuse_outer = -1;  // step that fuses this name with another
    int fuse_inner = -1;
    int fused = -1;  // step that this name is the result of
    int dimension = -1;
  };
  const Name& name(Symbol symbol) const { return names_.at(symbol); }
  const tree::SplitStep& split(int step) const {
    return std::get<tree::SplitStep>(nest_.steps[static_cast<std::size_t>(step)]);
  }
  const tree::FuseStep& fuse(int step) const {
    return std::get<tree::FuseStep>(nest_.steps[static_cast<std::size_t>(step)]);
  }
  bool divisible(Expr expr, std::int64_t by) const;
  bool known(Expr algorithm_expr, const LoopValues& values) const;
  Expr resolve(Expr algorithm_expr, const LoopValues& values) const;
  bool size_known(const Dimension& dimension, const LoopValues& values) const;
  Expr dimension_size(const Dimension& dimension, const LoopValues& values) const;
  void add_overruns(Symbol symbol, bool exact, const LoopValues& values, Overruns& out) const;

  ir::Context& context_;
  const Facts& facts_;
  const tree::Nest& nest_;
  std::vector<Dimension> dimensions_;
  std::unordered_map<Symbol, Name> names_;
  std::function<Expr(Expr)> reads_;
};

// What the algorithm declares of its extents.
ir::Ranges extent_ranges(const ir::Algorithm& algorithm);

}  // namespace tilewright::build
