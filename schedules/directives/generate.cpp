// SPDX-License-Identifier: Apache-2.0
//
// Directives are drawn one by one from what the tree holds at that point and tried on a copy. The draw is
// biased towards what build has to work for: tiles with partial ends, vector loops innermost, producers
// inside their readers.
#include "schedules/directives/generate.h"

#include <algorithm>

#include "frontend/ir/random.h"
#include "frontend/ir/walk.h"
#include "schedules/directives/text.h"

namespace tilewright::directives {

namespace {

using tree::LayoutComponent;
using tree::LoopKind;

std::vector<Word> words(const std::vector<Symbol>& names) { return {names.begin(), names.end()}; }

class Generator {
 public:
  Generator(ir::Context& context, const ir::Algorithm& algorithm, std::uint64_t seed,
            const GenerateOptions& options)
      : context_(context), algorithm_(algorithm), random_(seed) {
    out_.schedule = default_schedule(context, algorithm, options.machine);
    out_.schedule.name = context.symbol("random");
  }

  RandomSchedule run(int wanted) {
    const int goal = between(0, wanted);
    // Algebra wants loops that nothing has touched.
    if (goal > 0 && chance(40)) algebra();
    for (int attempt = 0; attempt < 4 * goal && count() < goal; ++attempt) step();
    // Few: the host has no use for these, so build refuses.
    if (goal > 0 && chance(15))
      for (int attempt = 0; attempt < 3; ++attempt) mapping(any_nest());
    tree::order_nests(tree());
    return std::move(out_);
  }

 private:
  tree::Tree& tree() { return out_.schedule.tree; }
  const ir::Algorithm& algorithm() { return tree().algorithm(algorithm_); }
  int count() const { return static_cast<int>(out_.applied.size()); }

  int between(int low, int high) { return random_.between(low, high); }
  bool chance(int percent) { return random_.chance(percent); }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return random_.pick(values);
  }

  bool attempt(Directive directive) {
    tree::Tree trial = tree();
    Target target{context_, algorithm_, trial};
    if (!directives::apply(directive, target).ok() || !tree::verify(algorithm_, trial).ok()) {
      ++out_.refused;
      return false;
    }
    tree() = std::move(trial);
    out_.applied.push_back(std::move(directive));
    return true;
  }

  Symbol fresh(char letter) { return context_.symbol(letter + std::to_string(number_++)); }
  const tree::Nest& any_nest() { return pick(tree().nests); }
  LoopName loop_of(const tree::Nest& nest, std::size_t i) {
    return {nest.name, nest.loops[i].name, {}};
  }
  std::size_t any_index(const tree::Nest& nest) {
    return static_cast<std::size_t>(between(0, static_cast<int>(nest.loops.size()) - 1));
  }
  std::int64_t factor() {
    static const std::vector<std::int64_t> kFactors = {1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 16};
    return pick(kFactors);
  }

  void step() {
    const tree::Nest& nest = any_nest();
    if (nest.loops.empty() && !chance(30)) return;
    switch (between(0, 21)) {
      case 0:
      case 1: return split(nest);
      case 2: return tile(nest);
      case 3:
      case 4: return reorder(nest);
      case 5: return fuse(nest);
      case 6:
      case 7:
      case 8: return compute_at(nest);
      case 9: return inline_some(nest);
      case 10: return vectorize(nest);
      case 11: return unroll(nest);
      case 12: return parallel(nest);
      case 13: return stage();
      case 14: return keep(nest);
      case 15:
      case 16: return register_tile(nest);
      case 17: return vector_fold(nest);
      case 18: return specialize(nest);
      case 19: return algebra();
      case 20: return prefetch(nest);
      default: return peel(nest);
    }
  }

  void algebra() {
    const tree::Nest& nest = any_nest();
    const std::vector<Symbol> vars = fold_vars(nest);
    if (nest.stage) return;
    const int kind = between(0, 5);
    if (kind < 3 && !vars.empty()) {
      const Symbol name = nest.name;
      const bool again = chance(20);
      const Symbol outer = fresh('o');
      if (!attempt(SplitReduction{{name, pick(vars), {}}, factor(), outer, fresh('t')})) return;
      if (again) attempt(SplitReduction{{name, outer, {}}, factor(), fresh('o'), fresh('t')});
      return;
    }
    const auto reads = ir::reads(algorithm().find_equation(nest.name)->value);
    if (reads.empty()) return;
    if (kind == 3 && !nest.loops.empty()) {
      const Symbol tensor = pick(reads)->tensor;
      const ir::Equation* equation = algorithm().definition(tensor);
      attempt(Recompute{equation ? equation->name : tensor, loop_of(nest, any_index(nest))});
      return;
    }
    // A factor may stand behind elementwise equations.
    if (vars.empty()) return;
    const Symbol name = nest.name;
    std::vector<Symbol> tensors;
    for (const ir::Input& input : algorithm().inputs) tensors.push_back(input.name);
    for (const ir::Equation& equation : algorithm().equations)
      for (const ir::TensorPart& part : equation.tensors()) tensors.push_back(part.name);
    for (Symbol tensor : tensors)
      if (attempt(Defer{tensor, name})) return;
  }

  void mapping(const tree::Nest& nest) {
    switch (between(0, 8)) {
      case 0:
        if (!nest.loops.empty())
          attempt(Bind{loop_of(nest, any_index(nest)), static_cast<tree::Scope>(between(1, 8)),
                       chance(25) ? factor() : 1});
        return;
      case 1:
        if (nest.at) attempt(Ring{nest.name, between(1, 4)});
        return;
      case 2: return async();
      case 3:
        if (nest.at) attempt(Keep{nest.name, {}, static_cast<tree::Space>(between(2, 5))});
        return;
      case 4: return kernel();
      case 5: return set();
      default: return table();
    }
  }

  // Copies are few among the nests, so one is made first.
  void async() {
    stage();
    std::vector<Symbol> copies;
    for (const tree::Nest& n : tree().nests)
      if (n.stage) copies.push_back(n.name);
    for (Symbol copy : copies)
      if (attempt(Async{copy})) return;
  }

  void kernel() {
    std::vector<Symbol> roots;
    for (const tree::Nest& n : tree().nests)
      if (!n.at) roots.push_back(n.name);
    attempt(Kernel{words(roots)});
  }

  // Neighbours at the root, or in a loop; a member that reads another is refused unless an order is there first.
  void set() {
    const tree::Nest& first = any_nest();
    std::vector<Symbol> members;
    for (const tree::Nest& n : tree().nests)
      if (n.at == first.at && (!members.empty() || n.name == first.name) && members.size() < 3)
        members.push_back(n.name);
    if (members.size() < 2) return;
    const Set made{words(members)};
    std::vector<Order> orders;
    for (std::size_t i = 0; i + 1 < members.size(); ++i)
      if (chance(70)) orders.push_back({std::nullopt, {members[i], members[i + 1], 0, {}}});
    all_or_none(made, orders);
  }

  // Trees in between need not be well formed.
  void all_or_none(const Directive& first, const std::vector<Order>& rest) {
    tree::Tree trial = tree();
    Target target{context_, algorithm_, trial};
    bool good = directives::apply(first, target).ok();
    for (const Order& order : rest) good = good && directives::apply(order, target).ok();
    if (!good || !tree::verify(algorithm_, trial).ok()) {
      ++out_.refused;
      return;
    }
    tree() = std::move(trial);
    out_.applied.push_back(first);
    for (const Order& order : rest) out_.applied.push_back(order);
  }

  void prefetch(const tree::Nest& nest) {
    if (nest.loops.empty()) return;
    const LoopName at = loop_of(nest, any_index(nest));
    std::vector<Symbol> read;
    for (const tree::Nest& n : tree().nests)
      if (n.stage)
        read.push_back(n.stage->tensor);
      else
        for (const ir::Read* r : ir::reads(algorithm().find_equation(n.name)->value))
          read.push_back(r->tensor);
    if (!read.empty()) attempt(Prefetch{pick(read), at, between(1, 5)});
  }

  // A pipeline, roles or both for a loop in which something is placed.
  void table() {
    std::vector<LoopName> loops;
    for (const tree::Nest& n : tree().nests)
      if (n.at) loops.push_back({n.at->nest, n.at->loop, {}});
    if (loops.empty()) return;
    const LoopName loop = pick(loops);
    std::vector<Symbol> statements;
    for (const tree::Nest* n : tree().placed_in({loop.nest, loop.loop}))
      statements.push_back(n->name);
    statements.push_back(loop.nest);
    if (chance(60)) {
      // Deep enough, mostly: the rings come first.
      const int depth = between(1, 3);
      for (Symbol name : statements)
        if (!(name == loop.nest) && chance(80)) attempt(Ring{name, depth + 1});
      Pipeline pipeline{loop, {}};
      for (Symbol name : statements) {
        const bool last = name == loop.nest;
        pipeline.rows.push_back(
            {name, last ? depth : 0, chance(30) ? context_.symbol("dma") : Symbol(), {}});
      }
      if (chance(30)) std::swap(pipeline.rows.front(), pipeline.rows.back());
      attempt(std::move(pipeline));
    }
    if (chance(50)) return;
    Roles roles{loop, {}};
    roles.roles.push_back(
        {context_.symbol("load"), {}, tree::Scope::Warp, 0, between(0, 1) * 40, {}});
    roles.roles.push_back(
        {context_.symbol("math"), {loop.nest}, tree::Scope::Warpgroup, between(0, 1) * 128, 0, {}});
    for (Symbol name : statements)
      if (!(name == loop.nest)) roles.roles[chance(80) ? 0 : 1].statements.push_back(name);
    std::vector<Order> orders;
    if (chance(50))
      orders.push_back({loop, {roles.roles[1].name, roles.roles[0].name, between(0, 3), {}}});
    all_or_none(roles, orders);
  }

  void specialize(const tree::Nest& nest) {
    if (nest.loops.empty() || algorithm_.extents.empty()) return;
    const ir::Expr extent = context_.extent(pick(algorithm_.extents).name);
    std::vector<ir::Expr> conditions;
    const int wanted = chance(20) ? 2 : 1;
    for (int i = 0; i < wanted; ++i) {
      const ir::Expr by = context_.index(factor());
      conditions.push_back(chance(60) ? context_.op(ir::OpCode::Eq, {context_.floor_mod(extent, by),
                                                                     context_.index(0)})
                           : chance(50) ? context_.le(by, extent)
                                        : context_.op(ir::OpCode::Eq, {extent, by}));
    }
    attempt(Specialize{loop_of(nest, chance(50) ? 0 : any_index(nest)), conditions, {}});
  }

  void split(const tree::Nest& nest) {
    if (nest.loops.empty()) return;
    attempt(Split{loop_of(nest, any_index(nest)), factor(), fresh('o'), fresh('t')});
  }

  void tile(const tree::Nest& nest) {
    if (nest.loops.size() < 2) return;
    const std::size_t a = any_index(nest);
    const std::size_t b = any_index(nest);
    attempt(Tile{loop_of(nest, a),
                 loop_of(nest, b),
                 factor(),
                 factor(),
                 {fresh('o'), fresh('o'), fresh('t'), fresh('t')}});
  }

  void reorder(const tree::Nest& nest) {
    if (nest.loops.size() < 2) return;
    std::vector<Symbol> loops;
    for (const tree::Loop& loop : nest.loops)
      if (chance(60)) loops.push_back(loop.name);
    for (std::size_t i = loops.size(); i > 1; --i)
      std::swap(loops[i - 1], loops[static_cast<std::size_t>(between(0, static_cast<int>(i) - 1))]);
    if (loops.size() > 1) attempt(Reorder{nest.name, words(loops)});
  }

  void fuse(const tree::Nest& nest) {
    if (nest.loops.size() < 2) return;
    const std::size_t at =
        static_cast<std::size_t>(between(0, static_cast<int>(nest.loops.size()) - 2));
    attempt(Fuse{loop_of(nest, at), loop_of(nest, at + 1), fresh('f')});
  }

  void compute_at(const tree::Nest& nest) {
    const tree::Nest& owner = any_nest();
    if (owner.loops.empty()) return;
    attempt(ComputeAt{nest.name, loop_of(owner, any_index(owner))});
  }

  void inline_some(const tree::Nest& nest) { attempt(Inline{{Word(nest.name)}}); }

  // A loop of this kind goes to the inside, mostly.
  std::size_t inner_index(const tree::Nest& nest) {
    return chance(70) ? nest.loops.size() - 1 : any_index(nest);
  }

  // Mostly a loop that runs a constant number of times.
  bool may_mark_whole(const tree::Nest& nest, const LoopName& loop) {
    for (const tree::Step& step : nest.steps)
      if (const auto* s = std::get_if<tree::SplitStep>(&step); s && s->inner == loop.loop)
        return true;
    return chance(10);
  }

  std::vector<Symbol> fold_vars(const tree::Nest& nest) {
    const ir::Equation* equation = nest.stage ? nullptr : algorithm().find_equation(nest.name);
    return equation ? tree::fold_variables(*equation) : std::vector<Symbol>();
  }

  // Splits result loops, puts the inner parts inside the reduction, marks and keeps them.
  void register_tile(const tree::Nest& nest) {
    const Symbol name = nest.name;
    if (fold_vars(nest).empty() || nest.loops.size() < 2) return;
    std::vector<Symbol> inner;
    const int wanted = between(1, 2);
    for (int i = 0; i < wanted; ++i) {
      const tree::Nest& now = *tree().find(name);
      const Symbol part = fresh('t');
      if (attempt(Split{loop_of(now, any_index(now)), factor(), fresh('o'), part}))
        inner.push_back(part);
    }
    if (inner.empty()) return;
    std::vector<Symbol> order;
    for (const tree::Loop& loop : tree().find(name)->loops)
      if (std::find(inner.begin(), inner.end(), loop.name) == inner.end())
        order.push_back(loop.name);
    order.insert(order.end(), inner.begin(), inner.end());
    attempt(Reorder{name, words(order)});
    for (Symbol part : inner) {
      const LoopName loop{name, part, {}};
      if (part == inner.back() && chance(50)) {
        attempt(Vectorize{loop, std::nullopt});
      } else {
        attempt(Unroll{loop, std::nullopt});
      }
    }
    if (chance(80)) attempt(Keep{name, words(inner)});
  }

  void vector_fold(const tree::Nest& nest) {
    const Symbol name = nest.name;
    const std::vector<Symbol> vars = fold_vars(nest);
    if (vars.empty()) return;
    const Symbol part = fresh('t');
    static const std::vector<std::int64_t> kLanes = {2, 4, 4, 8};
    if (!attempt(Split{LoopName{name, pick(vars), {}}, pick(kLanes), fresh('o'), part})) return;
    std::vector<Symbol> order;
    for (const tree::Loop& loop : tree().find(name)->loops)
      if (!(loop.name == part)) order.push_back(loop.name);
    order.push_back(part);
    if (order.size() > 1) attempt(Reorder{name, words(order)});
    attempt(Vectorize{LoopName{name, part, {}}, std::nullopt});
  }

  void vectorize(const tree::Nest& nest) {
    if (nest.loops.empty()) return;
    const LoopName loop = loop_of(nest, inner_index(nest));
    static const std::vector<std::int64_t> kLanes = {1, 2, 3, 4, 4, 8, 8, 16};
    if (chance(60)) {
      attempt(Vectorize{loop, pick(kLanes)});
    } else if (may_mark_whole(nest, loop)) {
      attempt(Vectorize{loop, std::nullopt});
    }
  }

  void unroll(const tree::Nest& nest) {
    if (nest.loops.empty()) return;
    const LoopName loop = loop_of(nest, inner_index(nest));
    if (chance(60)) {
      attempt(Unroll{loop, between(1, 4)});
    } else if (may_mark_whole(nest, loop)) {
      attempt(Unroll{loop, std::nullopt});
    }
  }

  void parallel(const tree::Nest& nest) {
    if (nest.loops.empty()) return;
    attempt(Parallel{loop_of(nest, chance(60) ? 0 : any_index(nest))});
  }

  void peel(const tree::Nest& nest) {
    if (nest.loops.empty()) return;
    attempt(Peel{loop_of(nest, any_index(nest))});
  }

  void keep(const tree::Nest& nest) {
    std::vector<Symbol> loops;
    const std::size_t from = nest.loops.empty() ? 0 : any_index(nest);
    for (std::size_t i = from; i < nest.loops.size(); ++i)
      if (nest.loops[i].kind >= LoopKind::Vector || chance(5)) loops.push_back(nest.loops[i].name);
    if (nest.at && chance(20)) loops.clear();
    if (loops.empty() && !nest.at && chance(95)) return;
    attempt(Keep{nest.name, words(loops)});
  }

  void stage() {
    std::vector<Symbol> tensors, constants;
    for (const ir::Input& input : algorithm().inputs) {
      tensors.push_back(input.name);
      if (input.is_const) constants.push_back(input.name);
    }
    for (const ir::Equation& equation : algorithm().equations)
      for (const ir::TensorPart& part : equation.tensors()) tensors.push_back(part.name);
    const tree::Nest& owner = any_nest();
    if (owner.loops.empty()) return;
    StageCopy copy;
    copy.stage.tensor = pick(!constants.empty() && chance(50) ? constants : tensors);
    copy.at = loop_of(owner, any_index(owner));
    copy.buffer = fresh('p');
    copy.stage.pad = chance(50);
    for (std::size_t i = 0; i < algorithm().shape_of(copy.stage.tensor)->size(); ++i) {
      const Symbol dim = context_.symbol("d" + std::to_string(i));
      copy.stage.dims.push_back(dim);
      if (chance(65)) {
        copy.stage.layout.push_back({dim, dim, LayoutComponent::Part::Whole, 1});
      } else {
        const std::int64_t by = factor();
        copy.stage.layout.push_back({fresh('q'), dim, LayoutComponent::Part::Quotient, by});
        copy.stage.layout.push_back({fresh('r'), dim, LayoutComponent::Part::Remainder, by});
      }
    }
    auto& layout = copy.stage.layout;
    const ir::Input* input = algorithm_.find_input(copy.stage.tensor);
    if (input && input->is_const && chance(60)) {
      copy.stage.at_plan = true;
      copy.at = {};
      copy.stage.pad = copy.stage.pad || layout.size() > copy.stage.dims.size();
    }
    for (std::size_t i = layout.size(); i > 1; --i)
      std::swap(layout[i - 1],
                layout[static_cast<std::size_t>(between(0, static_cast<int>(i) - 1))]);
    for (int i = 0; !layout.empty() && i < 2 && chance(25); ++i)
      copy.stage.swizzles.push_back(
          {pick(layout).name, between(0, 2), pick(layout).name, between(0, 3), between(1, 3)});
    attempt(std::move(copy));
  }

  ir::Context& context_;
  const ir::Algorithm& algorithm_;
  ir::Random random_;
  int number_ = 0;
  RandomSchedule out_;
};

}  // namespace

RandomSchedule random_schedule(ir::Context& context, const ir::Algorithm& algorithm,
                               std::uint64_t seed, const GenerateOptions& options) {
  return Generator(context, algorithm, seed, options).run(options.max_directives);
}

std::string print_directives(const RandomSchedule& random) {
  const tree::Schedule& s = random.schedule;
  TextWriter writer;
  writer.open("schedule " + std::string(s.name.text()) + " for " + std::string(s.algorithm.text()) +
              " on " + s.machine + " {");
  for (const Directive& directive : random.applied) writer.line(print(directive));
  writer.close("}");
  return writer.take();
}

}  // namespace tilewright::directives
