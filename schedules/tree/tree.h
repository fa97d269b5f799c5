// SPDX-License-Identifier: Apache-2.0
//
// The schedule tree: what directives resolve to, what search will mutate and what `build` walks. A plain
// value over an ir::Context. Every equation that is not inlined has one Nest; a staged copy of a tensor is a
// Nest of its own. A nest stands at the root or in the body of a loop of another nest; there nests run in the
// order of `nests`, before what the loop does itself. Text: text.h. Law: parse(print(tree)) == tree.
//
// Loops come from the dimensions of a nest by steps:
//   dimensions of an equation: its indices, then the variables of its fold;
//   dimensions of a staged copy: one per layout component (Stage).
//   split d by f as o, i:  d = o * f + i, 0 <= i < f;   fuse o, i as f:  o = f / extent(i), i = f % extent(i).
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"

namespace tilewright::tree {

using ir::Expr;

// Where a part of a tree stands in the text it was read from: what a refusal of `verify` or `build` points
// at. Not content: any two are equal.
struct Place {
  Span span;
  friend bool operator==(const Place&, const Place&) { return true; }
};
// Of a list; it may be shorter than the list.
struct Places {
  std::vector<Span> spans;
  Span of(std::size_t i) const { return i < spans.size() ? spans[i] : Span{}; }
  friend bool operator==(const Places&, const Places&) { return true; }
};

enum class LoopKind : std::uint8_t { Serial, Parallel, Vector, Unrolled };

// `split parent by factor as outer, inner`. Factor >= 1.
struct SplitStep {
  Symbol parent;
  std::int64_t factor = 1;
  Symbol outer;
  Symbol inner;
  Place place = {};
  friend bool operator==(const SplitStep&, const SplitStep&) = default;
};

// `fuse outer, inner as fused`.
struct FuseStep {
  Symbol outer;
  Symbol inner;
  Symbol fused;
  Place place = {};
  friend bool operator==(const FuseStep&, const FuseStep&) = default;
};

using Step = std::variant<SplitStep, FuseStep>;

struct Loop {
  Symbol name;
  LoopKind kind = LoopKind::Serial;
  bool peel =
      false;  // full iterations first, without the guards of the loops inside; then the last partial one
  Place marked = {};  // what gave it its kind
  Place peeled = {};
  friend bool operator==(const Loop&, const Loop&) = default;
};

// A loop of a nest, `c.io`.
struct LoopRef {
  Symbol nest;
  Symbol loop;
  friend bool operator==(const LoopRef&, const LoopRef&) = default;
};

// One dimension of a staged buffer: `name = dim`, `name = dim / factor` or `name = dim % factor`. A tensor
// dimension appears either once alone, or once divided and once modulo the same factor.
struct LayoutComponent {
  enum class Part : std::uint8_t { Whole, Quotient, Remainder };
  Symbol name;
  Symbol dim;
  Part part = Part::Whole;
  std::int64_t factor = 1;
  friend bool operator==(const LayoutComponent&, const LayoutComponent&) = default;
};

// `stage tensor[dims] at nest.loop as buffer[layout] pad`: the region of the tensor that the nests below the
// loop read, copied; their reads go to the copy. With `pad`, cells of the buffer outside the region hold zero,
// so that whole tiles may be computed. `stage w[k, j] at plan as ...`: the whole of a constant input, copied once
// and kept between calls.
struct Stage {
  Symbol tensor;
  std::vector<Symbol> dims;
  std::vector<LayoutComponent> layout;
  bool pad = false;
  bool at_plan = false;  // `at plan`: once, of a constant input; the nest then has no `at`
  Place tensor_place = {};
  Places dim_places = {};
  Places layout_places = {};
  friend bool operator==(const Stage&, const Stage&) = default;
};

// `tensorize c.jj, c.kk with vdpbf16ps`: the innermost loops of the nest, in the order of the dimensions of the
// instruction's meaning; whole tiles over them are computed by it. A name of a family stands for all its forms
// (machine::find_forms).
struct Tensorized {
  Symbol instruction;
  std::vector<Symbol> loops;
  Place place = {};  // the directive
  friend bool operator==(const Tensorized&, const Tensorized&) = default;
};

struct Nest {
  Symbol name;  // the equation, or the buffer of a staged copy
  std::vector<Step> steps;
  std::vector<Loop> loops;  // outermost first
  std::vector<Symbol>
      keep;  // `keep c[ir, jr] in register`: the loops whose tile of results stays in registers
  std::optional<Tensorized> tensorized;
  std::optional<LoopRef> at;
  std::optional<Stage> stage;
  // A local equation whose whole region under `at` is small and constant may live in registers: `keep e in register`.
  bool in_register = false;
  Place place = {};  // its name
  Place placed = {};  // what gave it `at`
  Places kept = {};  // of `keep`
  Place registered = {};  // of `in_register`

  const Loop* find_loop(Symbol loop) const;
  Loop* find_loop(Symbol loop);
  friend bool operator==(const Nest&, const Nest&) = default;
};

struct Tree {
  std::vector<Nest> nests;  // producers before consumers; in the order of order_nests()
  std::vector<Symbol>
      inlined;  // equations substituted into their readers, sorted; views are without saying

  const Nest* find(Symbol nest) const;
  Nest* find(Symbol nest);
  friend bool operator==(const Tree&, const Tree&) = default;
};

// A schedule: its header and the tree that it means.
struct Schedule {
  Symbol name;
  Symbol algorithm;
  std::string machine;  // "x86-64-v4", or the path of a machine file
  std::string algorithm_hash;  // empty: not pinned
  std::vector<Expr> guards;  // bool expressions over extents; the schedule is for these sizes alone
  std::vector<Span> guard_spans;  // of each, where it was read from a text; not content
  Tree tree;
  Span span;  // its name in the text it was read from; not content
  Span machine_span;  // the machine's; not content
};
bool operator==(const Schedule& a, const Schedule& b);

// Every equation but the views at the root, its loops serial in the order of its dimensions.
Tree default_tree(const ir::Algorithm& algorithm);

// The order of nests that the text form has: a nest directly after the nests placed in its loops, which
// stand outer loops first; nests of one place keep their order. Meaning is the same.
void order_nests(Tree& tree);

// Dimensions of an equation: indices, then fold variables.
std::vector<Symbol> dimensions(const ir::Equation& equation);
std::vector<Symbol> fold_variables(const ir::Equation& equation);  // a scan has none of its own

// The dimensions that every schedule runs in the order of the algorithm, since the terms along them depend on
// each other or their order says what comes out: those of scans, of updates and of reductions by a declared
// monoid.
std::vector<Symbol> ordered_dimensions(const ir::Equation& equation);

// The form of a tree that `build` takes: loops are exactly the leaves of the steps, each once; placements
// name loops of nests that come later or of consumers and do not form a cycle; kept loops exist; vector loops
// are innermost. A failure names the nest, the loop and what would help (E03xx).
Result<Ok> verify(const ir::Algorithm& algorithm, const Tree& tree);

}  // namespace tilewright::tree
