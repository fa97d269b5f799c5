// SPDX-License-Identifier: Apache-2.0
//
// Directives are drawn one by one from what the tree holds at that point and tried on a copy. The draw is
// biased towards what build has to work for: tiles with partial ends, vector loops innermost, producers
// inside their readers.
#include "schedules/directives/generate.h"

#include <algorithm>

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
      : context_(context), algorithm_(algorithm), state_(seed) {
    out_.schedule = default_schedule(context, algorithm, options.machine);
    out_.schedule.name = context.symbol("random");
  }

  RandomSchedule run(int wanted) {
    const int goal = between(0, wanted);
    for (int attempt = 0; attempt < 4 * goal && count() < goal; ++attempt) step();
    tree::order_nests(tree());
    return std::move(out_);
  }

 private:
  tree::Tree& tree() { return out_.schedule.tree; }
  int count() const { return static_cast<int>(out_.applied.size()); }

  // splitmix64: the same numbers on every machine.
  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  int between(int low, int high) {
    return low + static_cast<int>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(between(0, static_cast<int>(values.size()) - 1))];
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
    switch (between(0, 18)) {
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
      default: return peel(nest);
    }
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

  std::vector<Symbol> fold_vars(const tree::Nest& nest) const {
    const ir::Equation* equation = nest.stage ? nullptr : algorithm_.find_equation(nest.name);
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
    std::vector<Symbol> tensors;
    for (const ir::Input& input : algorithm_.inputs) tensors.push_back(input.name);
    for (const ir::Equation& equation : algorithm_.equations)
      for (const ir::TensorPart& part : equation.tensors()) tensors.push_back(part.name);
    const tree::Nest& owner = any_nest();
    if (owner.loops.empty()) return;
    StageCopy copy;
    copy.stage.tensor = pick(tensors);
    copy.at = loop_of(owner, any_index(owner));
    copy.buffer = fresh('p');
    copy.stage.pad = chance(50);
    for (std::size_t i = 0; i < algorithm_.shape_of(copy.stage.tensor)->size(); ++i) {
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
    attempt(std::move(copy));
  }

  ir::Context& context_;
  const ir::Algorithm& algorithm_;
  std::uint64_t state_;
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
