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

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"
#include "schedules/machine/machine.h"

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

// Who runs the iterations of a bound loop, one each: from narrow to wide. Pair: two blocks that work as one. Core:
// of an accelerator. Device: of a mesh.
enum class Scope : std::uint8_t { None, Lane, Warp, Warpgroup, Block, Pair, Cluster, Core, Device };
std::string_view scope_text(Scope scope);  // "lane", ...
std::optional<Scope> find_scope(std::string_view text);

// Where a placed equation or a staged copy lives; None: where build puts it.
enum class Space : std::uint8_t { None, Register, Shared, Tensor, Scratchpad, Accumulator };
std::string_view space_text(Space space);  // "register", ...
std::optional<Space> find_space(std::string_view text);

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

// Algebraic steps: each makes another algorithm with the same outputs (derive.h), whose equations the nests
// name. They come before all else in a tree.

// `split_reduction c.k by 64 as ko, ki`: c.part folds a chunk of 64, c folds the partial results over ko.
struct SplitReductionStep {
  Symbol equation;
  Symbol var;
  std::int64_t factor = 1;
  Symbol outer;
  Symbol inner;
  Place place = {};
  friend bool operator==(const SplitReductionStep&, const SplitReductionStep&) = default;
};

// `defer total out of o`: o.sum folds without the factors that read `total`; o applies them once.
struct DeferStep {
  Symbol tensor;
  Symbol equation;
  Place place = {};
  friend bool operator==(const DeferStep&, const DeferStep&) = default;
};

// `recompute e for y`: y reads y.e, a copy of the equation that nothing else reads.
struct RecomputeStep {
  Symbol equation;
  Symbol reader;
  Place place = {};
  friend bool operator==(const RecomputeStep&, const RecomputeStep&) = default;
};

using AlgebraStep = std::variant<SplitReductionStep, DeferStep, RecomputeStep>;

// What the steps of a tree make of its algorithm: a function of both, so no content.
struct Derived {
  std::shared_ptr<const ir::Algorithm> algorithm;
  friend bool operator==(const Derived&, const Derived&) { return true; }
};

// Statements of a loop: the nests placed in it, and under the name of its own nest what the loop does itself.

// `prefetch b by 4`: iteration i asks for the cells of b that iteration i + 4 reads. It changes no value.
struct Prefetch {
  Symbol tensor;
  std::int64_t distance = 1;
  Place place = {};
  friend bool operator==(const Prefetch&, const Prefetch&) = default;
};

// A row of `pipeline ap stage 0 on tma, c stage 2`: interval t of the loop runs, row after row, iteration
// t - stage of each statement, where there is one. The unit is a name of the machine's; none: any.
struct PipelineRow {
  Symbol statement;
  std::int64_t stage = 0;
  Symbol unit;
  Place place = {};
  friend bool operator==(const PipelineRow&, const PipelineRow&) = default;
};

// `load(ap, bp) on warp registers 40`: an agent that runs all iterations of the loop, of its statements alone. 0: as
// many lanes or registers as build finds.
struct Role {
  Symbol name;
  std::vector<Symbol> statements;
  Scope scope = Scope::Warp;
  std::int64_t lanes = 0;
  std::int64_t registers = 0;  // of 32 bits, of each lane
  Place place = {};
  friend bool operator==(const Role&, const Role&) = default;
};

// `order a before c by 1`: iteration k of `after` begins when iteration k - distance of `before` has ended. Of
// members of a set the distance is 0; of roles it may be more.
struct OrderEdge {
  Symbol before;
  Symbol after;
  std::int64_t distance = 0;
  Place place = {};
  friend bool operator==(const OrderEdge&, const OrderEdge&) = default;
};

struct Loop {
  Symbol name;
  LoopKind kind = LoopKind::Serial;
  bool peel =
      false;  // full iterations first, without the guards of the loops inside; then the last partial one
  Place marked = {};  // what gave it its kind
  Place peeled = {};
  // `specialize c.i when N % 8 == 0`: the loop once for each condition, in which it is known to hold, and once
  // for all other sizes; the first that holds runs.
  std::vector<Expr> versions = {};
  Places version_places = {};
  Scope scope = Scope::None;  // `bind c.it to block`
  // `bind c.jj to lane by 32`: agents come in teams of so many. Those beyond the last iteration have none, and take
  // part in what all of them do.
  std::int64_t agents_by = 1;
  Place bound = {};
  std::vector<Prefetch> prefetches = {};
  std::vector<PipelineRow> pipeline =
      {};  // in the order of an interval; none: one iteration after the other
  std::vector<Role> roles = {};
  std::vector<OrderEdge> order = {};  // of roles
  // Whether it is more than a serial loop.
  bool is_marked() const {
    return kind != LoopKind::Serial || peel || !versions.empty() || scope != Scope::None ||
           !prefetches.empty() || !pipeline.empty() || !roles.empty() || !order.empty();
  }
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

// `swizzle(j[2:5] by k[0:3])`: in the buffer bits 2, 3 and 4 of component j are changed (xor) by bits 0, 1 and 2
// of component k. Several are applied in order.
struct Swizzle {
  Symbol target;
  int target_bit = 0;
  Symbol source;
  int source_bit = 0;
  int bits = 1;
  Place place = {};
  friend bool operator==(const Swizzle&, const Swizzle&) = default;
};
// Highest bit of a component that a swizzle may reach, plus one.
inline constexpr int kMaxSwizzleBits = 16;

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
  std::vector<Swizzle> swizzles = {};
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
  Space space = Space::None;  // `keep bp in shared`; registers are `in_register`
  std::int64_t ring =
      1;  // `ring bp by 3`: as many buffers, taken in turn by the iterations of the loop around
  bool is_async = false;  // `async bp`: the copy runs while others go on
  Symbol kernel;  // `kernel a, b, c`: of a nest at the root, the launch that holds it
  Place place = {};  // its name
  Place placed = {};  // what gave it `at`
  Places kept = {};  // of `keep`
  Place registered = {};  // of `in_register` and `space`
  Place ringed = {};
  Place made_async = {};
  Place launched = {};  // of `kernel`

  const Loop* find_loop(Symbol loop) const;
  Loop* find_loop(Symbol loop);
  friend bool operator==(const Nest&, const Nest&) = default;
};

// `set a, b, c`: nests that follow one another in one place, and run at the same time but for the order between
// them. The set ends when all have ended.
struct Set {
  std::vector<Symbol> members;  // in the order of the tree's nests
  std::vector<OrderEdge> order;
  Place place = {};
  friend bool operator==(const Set&, const Set&) = default;
};

struct Tree {
  std::vector<AlgebraStep> algebra;
  Derived derived;  // by `algebra`; none without steps
  std::vector<Nest> nests;  // producers before consumers; in the order of order_nests()
  std::vector<Symbol>
      inlined;  // equations substituted into their readers, sorted; views are without saying
  std::vector<Set> sets;  // in the order of their first members

  // The algorithm whose equations the nests compute.
  const ir::Algorithm& algorithm(const ir::Algorithm& original) const {
    return derived.algorithm ? *derived.algorithm : original;
  }
  const Nest* find(Symbol nest) const;
  Nest* find(Symbol nest);
  const Set* set_of(Symbol nest) const;
  // The nests placed in a loop, in order.
  std::vector<const Nest*> placed_in(const LoopRef& loop) const;
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
  // What the machine's file holds, where `machine` is a path and somebody has read it; not content.
  std::shared_ptr<const machine::Machine> machine_file;
};
bool operator==(const Schedule& a, const Schedule& b);

// Every equation but the views at the root, its loops serial in the order of its dimensions.
Tree default_tree(const ir::Algorithm& algorithm);
Nest default_nest(const ir::Equation& equation);

// Nests of one place as one agent runs them: members of a set, which follow one another, in an order that its edges
// allow, of all such the one nearest to the order they have.
std::vector<const Nest*> in_order(const Tree& tree, std::vector<const Nest*> nests);

// The order of nests that the text form has: a nest directly after the nests placed in its loops, which
// stand outer loops first; nests of one place keep their order; sets and their members in the order of nests. Meaning
// is the same.
void order_nests(Tree& tree);

// Whether a nest moves cells and computes nothing: a staged copy, or an equation that is one read.
bool is_copy(const ir::Algorithm& algorithm, const Nest& nest);

// Dimensions of an equation: indices, then fold variables.
std::vector<Symbol> dimensions(const ir::Equation& equation);
std::vector<Symbol> fold_variables(const ir::Equation& equation);  // a scan has none of its own

// The dimensions that every schedule runs in the order of the algorithm, since the terms along them depend on
// each other or their order says what comes out: those of scans, of updates and of reductions by a declared
// monoid.
std::vector<Symbol> ordered_dimensions(const ir::Equation& equation);

// The form of a tree that `build` takes: loops are exactly the leaves of the steps, each once; placements
// name loops of nests that come later or of consumers and do not form a cycle; kept loops exist; vector loops
// are innermost. A failure names the nest, the loop and what would help (E03xx), and a counterexample where there is
// one, at sizes that the guards allow.
Result<Ok> verify(const ir::Algorithm& algorithm, const Tree& tree,
                  const std::vector<Expr>& guards = {});

}  // namespace tilewright::tree
