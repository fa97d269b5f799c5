// SPDX-License-Identifier: Apache-2.0
//
// The invariants of a schedule tree that `build` relies on:
//   - every equation that is not inlined has exactly one nest; every other nest is a staged copy;
//   - a step takes names that exist and are not yet split or fused, and makes names new to its nest;
//   - a fuse joins loops over results or loops over a reduction, never one of each;
//   - the loops are exactly the names left over, each once; vector loops are innermost; a peeled loop is
//     the serial or parallel outer loop of a split; no loop over a reduction is parallel;
//   - a placement names a loop of a nest that is not placed inside this one; readers stand inside it, and
//     in the order of nests a tensor is computed or copied before what reads it;
//   - outputs stand at the root; kept names are loops over results of a reduction; a layout covers its
//     dimensions.
#include <algorithm>
#include <map>
#include <set>

#include "frontend/ir/walk.h"
#include "schedules/layout/linear_map.h"
#include "schedules/tree/tree.h"
#include "schedules/tree/witness.h"

namespace tilewright::tree {

namespace {

std::string quoted(Symbol name) { return "`" + std::string(name.text()) + "`"; }
std::string quoted(Symbol nest, Symbol loop) {
  return "`" + std::string(nest.text()) + "." + std::string(loop.text()) + "`";
}

// `place` is none where no word of the text is to blame more than others.
Failure malformed(Span place, std::string message, std::string remedy, Evidence evidence = {}) {
  return fail(Diagnostic{
      Code::TreeMalformed, place, std::move(message), std::move(remedy), {}, std::move(evidence)});
}

std::string path(Symbol nest, Symbol loop) {
  return std::string(nest.text()) + "." + std::string(loop.text());
}

Evidence with(Evidence evidence, Evidence more) {
  evidence.insert(evidence.end(), more.begin(), more.end());
  return evidence;
}

class Verifier {
 public:
  Verifier(const ir::Algorithm& algorithm, const Tree& tree)
      : algorithm_(algorithm), tree_(tree), inlined_(tree.inlined.begin(), tree.inlined.end()) {
    // Producers come first, so each equation is read through once, however long a chain of inlining is.
    for (const ir::Equation& equation : algorithm.equations) {
      std::set<Symbol>& through = reads_[equation.name];
      for (const ir::Read* read : ir::reads(equation.value)) {
        const auto producer = reads_.find(read->tensor);
        if (!inlined(read->tensor) || producer == reads_.end())
          through.insert(read->tensor);
        else
          through.insert(producer->second.begin(), producer->second.end());
      }
    }
  }

  Result<Ok> run() {
    TILEWRIGHT_CHECK_OK(names());
    for (const Nest& nest : tree_.nests) {
      TILEWRIGHT_CHECK_OK(loops(nest));
      TILEWRIGHT_CHECK_OK(placement(nest));
      TILEWRIGHT_CHECK_OK(mapping(nest));
      if (nest.stage) TILEWRIGHT_CHECK_OK(layout(nest));
    }
    TILEWRIGHT_CHECK_OK(readers());
    TILEWRIGHT_CHECK_OK(kernels());
    return order();
  }

 private:
  bool inlined(Symbol name) const { return inlined_.contains(name); }

  Result<Ok> names() {
    std::set<Symbol> seen;
    for (const Nest& nest : tree_.nests) {
      if (!seen.insert(nest.name).second)
        return malformed(nest.place.span, quoted(nest.name) + " has two nests",
                         "give each nest its own name");
      const bool is_equation = algorithm_.find_equation(nest.name) != nullptr;
      if (is_equation == nest.stage.has_value() ||
          (!is_equation && algorithm_.find_input(nest.name)))
        return malformed(nest.place.span,
                         quoted(nest.name) + " names both a tensor and a staged copy",
                         "give the staged copy a name that no tensor has");
      if (inlined(nest.name))
        return malformed(nest.place.span, quoted(nest.name) + " is inlined and has a nest",
                         "drop one of the two");
    }
    if (!std::is_sorted(tree_.inlined.begin(), tree_.inlined.end()) ||
        std::adjacent_find(tree_.inlined.begin(), tree_.inlined.end()) != tree_.inlined.end())
      return malformed({}, "an equation is inlined twice, or the list is not sorted",
                       "name each inlined equation once, in order of the alphabet");
    for (Symbol name : tree_.inlined) {
      const ir::Equation* e = algorithm_.find_equation(name);
      if (!e || e->is_output || e->fold())
        return malformed({},
                         quoted(name) + " is " +
                             (!e             ? "not an equation"
                              : e->is_output ? "an output"
                                             : "a reduction") +
                             " and cannot be inlined",
                         "inline an elementwise equation that is not an output; use `compute_at` "
                         "for a reduction");
    }
    for (const ir::Equation& e : algorithm_.equations)
      if (!inlined(e.name) && !seen.contains(e.name))
        return malformed({}, "equation " + quoted(e.name) + " has no nest",
                         "add a nest for it, or inline it");
    return Ok{};
  }

  std::vector<Symbol> dimensions_of(const Nest& nest) const {
    if (!nest.stage) return dimensions(*algorithm_.find_equation(nest.name));
    std::vector<Symbol> out;
    for (const LayoutComponent& part : nest.stage->layout) out.push_back(part.name);
    return out;
  }

  Result<Ok> loops(const Nest& nest) {
    const std::vector<Symbol> dims = dimensions_of(nest);
    std::set<Symbol> all(dims.begin(), dims.end());
    std::set<Symbol> open = all;
    const std::vector<Symbol> folded = fold_dimensions(nest);
    std::set<Symbol> folds(folded.begin(), folded.end());
    std::set<Symbol> split_outers;
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (std::find(dims.begin(), dims.end(), dims[i]) - dims.begin() <
          static_cast<std::ptrdiff_t>(i))
        return malformed(nest.stage ? nest.stage->layout_places.of(i) : nest.place.span,
                         "two dimensions of " + quoted(nest.name) + " have one name", "rename one",
                         {{"dimension", std::string(dims[i].text())}});
    auto take = [&](Symbol name) { return open.erase(name) == 1; };
    auto add = [&](Symbol name) { return all.insert(name).second && open.insert(name).second; };
    for (const Step& step : nest.steps) {
      if (const auto* s = std::get_if<SplitStep>(&step)) {
        if (s->factor < 1)
          return malformed(
              s->place.span,
              "split of " + quoted(nest.name, s->parent) + " by " + std::to_string(s->factor),
              "split by at least 1");
        if (!take(s->parent))
          return malformed(s->place.span, quoted(nest.name, s->parent) + " is not a loop to split",
                           "split a loop of the nest");
        if (!add(s->outer) || !add(s->inner))
          return malformed(
              s->place.span,
              "a split of " + quoted(nest.name, s->parent) + " makes a name that the nest has",
              "choose new names");
        split_outers.insert(s->outer);
        if (folds.contains(s->parent)) folds.insert({s->outer, s->inner});
      } else {
        const auto& f = std::get<FuseStep>(step);
        if (!take(f.outer) || !take(f.inner))
          return malformed(f.place.span,
                           "a fuse in " + quoted(nest.name) + " takes a loop that is not there",
                           "fuse two loops of the nest");
        if (!add(f.fused))
          return malformed(f.place.span,
                           "a fuse in " + quoted(nest.name) + " makes a name that the nest has",
                           "choose a new name");
        if (folds.contains(f.outer) != folds.contains(f.inner))
          return malformed(f.place.span,
                           "a fuse joins " + quoted(nest.name, f.outer) + " and " +
                               quoted(nest.name, f.inner) +
                               ", of which one runs over results and one over the reduction",
                           "fuse loops of one sort");
        if (folds.contains(f.outer)) folds.insert(f.fused);
      }
    }
    std::set<Symbol> listed;
    for (std::size_t i = 0; i < nest.loops.size(); ++i) {
      const Loop& loop = nest.loops[i];
      if (!open.contains(loop.name) || !listed.insert(loop.name).second)
        return malformed(
            loop.marked.span,
            quoted(nest.name, loop.name) + " is not a loop of the nest, or stands twice",
            "list each loop once");
      if (loop.kind == LoopKind::Vector && i + 1 != nest.loops.size())
        return malformed(loop.marked.span,
                         "vector loop " + quoted(nest.name, loop.name) + " is not innermost",
                         "reorder it to the inside",
                         {{"loop", path(nest.name, loop.name)},
                          {"inside it", path(nest.name, nest.loops[i + 1].name)}});
      const bool bound = loop.scope != Scope::None;
      if ((loop.kind == LoopKind::Parallel || bound) && folds.contains(loop.name))
        return malformed(bound ? loop.bound.span : loop.marked.span,
                         (bound ? "bound loop " : "parallel loop ") + quoted(nest.name, loop.name) +
                             " runs over a reduction, so its iterations meet in one result",
                         "make a loop over the result's indices parallel",
                         with({{"loop", path(nest.name, loop.name)}},
                              iterations_that_meet(algorithm_, nest, loop.name)));
      TILEWRIGHT_CHECK_OK(versions(nest, loop));
      if (loop.peel && !split_outers.contains(loop.name))
        return malformed(loop.peeled.span,
                         quoted(nest.name, loop.name) +
                             " is not the outer loop of a split, so it has no partial tile to peel",
                         "peel the outer loop of a split", {{"loop", path(nest.name, loop.name)}});
      if (loop.peel && loop.kind != LoopKind::Serial && loop.kind != LoopKind::Parallel)
        return malformed(loop.peeled.span,
                         "peeled loop " + quoted(nest.name, loop.name) + " is vector or unrolled",
                         "peel a serial or parallel loop", {{"loop", path(nest.name, loop.name)}});
    }
    if (listed.size() != open.size()) {
      for (Symbol name : open)
        if (!listed.contains(name))
          return malformed(nest.place.span,
                           "loop " + quoted(nest.name, name) + " is not in the order of the nest",
                           "name every loop in the order");
    }
    return kept(nest, listed, folds);
  }

  static Result<Ok> versions(const Nest& nest, const Loop& loop) {
    for (std::size_t i = 0; i < loop.versions.size(); ++i) {
      const Span place = loop.version_places.of(i);
      if (loop.kind == LoopKind::Vector || loop.kind == LoopKind::Unrolled)
        return malformed(
            place, "specialized loop " + quoted(nest.name, loop.name) + " is vector or unrolled",
            "specialize a loop outside of it", {{"loop", path(nest.name, loop.name)}});
      const auto first = std::find(loop.versions.begin(), loop.versions.end(), loop.versions[i]);
      if (first - loop.versions.begin() < static_cast<std::ptrdiff_t>(i))
        return malformed(place,
                         quoted(nest.name, loop.name) + " is specialized twice for one condition",
                         "write each condition once", {{"loop", path(nest.name, loop.name)}});
    }
    return Ok{};
  }

  Result<Ok> kept(const Nest& nest, const std::set<Symbol>& loops, const std::set<Symbol>& folds) {
    std::set<Symbol> seen;
    for (std::size_t i = 0; i < nest.keep.size(); ++i) {
      const Symbol name = nest.keep[i];
      const Span place = nest.kept.of(i);
      if (folds.empty())
        return malformed(
            place, quoted(nest.name) + " is not a reduction: it has no partial results to keep",
            "keep the results of a reduction", {{"nest", std::string(nest.name.text())}});
      if (!loops.contains(name) || !seen.insert(name).second)
        return malformed(
            place, quoted(nest.name, name) + " is kept but is not a loop of the nest, or twice",
            "keep loops over the result's indices, each once", {{"loop", path(nest.name, name)}});
      if (folds.contains(name))
        return malformed(
            place, quoted(nest.name, name) + " is kept but runs over the reduction",
            "keep loops over the result's indices",
            with({{"loop", path(nest.name, name)}}, iterations_that_meet(algorithm_, nest, name)));
    }
    const ir::Equation* equation = algorithm_.find_equation(nest.name);
    if (nest.in_register && equation && equation->is_output)
      return malformed(
          nest.registered.span,
          quoted(nest.name) + " is an output and lives in the caller's memory",
          "keep a tile of it: `keep " + std::string(nest.name.text()) + "[loops] in register`",
          {{"nest", std::string(nest.name.text())}});
    return Ok{};
  }

  std::vector<Symbol> fold_dimensions(const Nest& nest) const {
    const ir::Equation* equation = nest.stage ? nullptr : algorithm_.find_equation(nest.name);
    const ir::Fold* fold = equation ? equation->fold() : nullptr;
    return fold ? std::vector<Symbol>(fold->vars.begin(), fold->vars.end()) : std::vector<Symbol>();
  }

  Result<Ok> placement(const Nest& nest) {
    const ir::Equation* equation = algorithm_.find_equation(nest.name);
    if (!nest.at) {
      if (nest.stage)
        return malformed(nest.place.span,
                         "staged copy " + quoted(nest.name) + " has no loop to stand in",
                         "write `at nest.loop`");
      return Ok{};
    }
    if (equation && equation->is_output)
      return malformed(
          nest.placed.span,
          "output " + quoted(nest.name) + " is placed inside a loop of " + quoted(nest.at->nest),
          "leave outputs at the root; a reader may be placed instead",
          {{"nest", std::string(nest.name.text())}, {"loop", path(nest.at->nest, nest.at->loop)}});
    const Nest* owner = tree_.find(nest.at->nest);
    if (!owner || !owner->find_loop(nest.at->loop))
      return malformed(nest.placed.span, quoted(nest.at->nest, nest.at->loop) + " is not a loop",
                       "name a loop of a nest");
    const Nest* n = owner;
    for (std::size_t hops = 0; n; ++hops) {
      if (n->name == nest.name || hops > tree_.nests.size())
        return malformed(nest.placed.span, quoted(nest.name) + " is placed inside itself",
                         "break the cycle of placements",
                         {{"nest", std::string(nest.name.text())}, {"cycle", cycle_text(nest)}});
      n = n->at ? tree_.find(n->at->nest) : nullptr;
    }
    return Ok{};
  }

  // `e in f.i, f in e.i`.
  std::string cycle_text(const Nest& nest) const {
    std::string out;
    std::set<Symbol> seen;
    for (const Nest* n = &nest; n && n->at && seen.insert(n->name).second;
         n = tree_.find(n->at->nest))
      out += (out.empty() ? "" : ", ") + std::string(n->name.text()) + " in " +
             path(n->at->nest, n->at->loop);
    return out;
  }

  // The nests that read a tensor, where a copy or a placement could serve them.
  Evidence readers_of(Symbol tensor) const {
    Evidence out;
    for (const ir::Equation& e : algorithm_.equations)
      if (!inlined(e.name) && reads_through_inlining(e, tensor))
        out.emplace_back("reader", std::string(e.name.text()));
    return out;
  }

  Result<Ok> layout(const Nest& nest) {
    const Stage& stage = *nest.stage;
    const auto* shape = algorithm_.shape_of(stage.tensor);
    if (!shape)
      return malformed(stage.tensor_place.span, quoted(stage.tensor) + " is not a tensor",
                       "stage an input or an equation");
    if (inlined(stage.tensor))
      return malformed(stage.tensor_place.span,
                       quoted(stage.tensor) + " is inlined, so there is nothing to copy",
                       "drop the `inline` or the `stage`");
    if (std::set<Symbol>(stage.dims.begin(), stage.dims.end()).size() != stage.dims.size())
      return malformed(stage.tensor_place.span,
                       "two dimensions of staged " + quoted(stage.tensor) + " have one name",
                       "name each dimension once");
    for (std::size_t i = 0; i < stage.layout.size(); ++i)
      if (const LayoutComponent& part = stage.layout[i]; part.factor < 1)
        return malformed(
            stage.layout_places.of(i),
            "the layout of " + quoted(nest.name) + " divides by " + std::to_string(part.factor),
            "divide by at least 1");
    if (shape->size() != stage.dims.size())
      return malformed(stage.tensor_place.span,
                       quoted(stage.tensor) + " has " + std::to_string(shape->size()) +
                           " dimensions, not " + std::to_string(stage.dims.size()),
                       "name each dimension once");
    for (std::size_t i = 0; i < stage.dims.size(); ++i) {
      const Symbol dim = stage.dims[i];
      int whole = 0;
      std::int64_t quotient = 0;
      std::int64_t remainder = 0;
      for (const LayoutComponent& part : stage.layout) {
        if (!(part.dim == dim)) continue;
        if (part.part == LayoutComponent::Part::Whole) ++whole;
        if (part.part == LayoutComponent::Part::Quotient) quotient = quotient ? -1 : part.factor;
        if (part.part == LayoutComponent::Part::Remainder) remainder = remainder ? -1 : part.factor;
      }
      const bool alone = whole == 1 && quotient == 0 && remainder == 0;
      const bool pair = whole == 0 && quotient > 0 && quotient == remainder;
      if (!alone && !pair)
        return malformed(stage.dim_places.of(i),
                         "dimension " + quoted(dim) + " of staged " + quoted(stage.tensor) +
                             " does not appear once, or once as `/ f` and once as `% f`",
                         "write for example `[j / 64, k, j % 64]`",
                         with({{"dimension", std::string(dim.text())}}, uncovered_layout(nest, i)));
    }
    for (std::size_t i = 0; i < stage.layout.size(); ++i)
      if (const LayoutComponent& part = stage.layout[i];
          std::find(stage.dims.begin(), stage.dims.end(), part.dim) == stage.dims.end())
        return malformed(stage.layout_places.of(i),
                         quoted(part.dim) + " is not a dimension of staged " + quoted(stage.tensor),
                         "use the dimensions named after the tensor");
    return swizzles(nest);
  }

  // Each swizzle is a map of the bits of two components, and must take different cells to different places.
  Result<Ok> swizzles(const Nest& nest) {
    const Stage& stage = *nest.stage;
    const auto is_component = [&](Symbol name) {
      return std::any_of(stage.layout.begin(), stage.layout.end(),
                         [&](const LayoutComponent& part) { return part.name == name; });
    };
    for (const Swizzle& s : stage.swizzles) {
      for (Symbol name : {s.target, s.source})
        if (!is_component(name))
          return malformed(s.place.span,
                           quoted(name) + " is no component of the layout of " + quoted(nest.name),
                           "swizzle components that stand in the brackets after `as`");
      const int last = std::max(s.target_bit, s.source_bit) + s.bits;
      if (s.bits < 1 || s.target_bit < 0 || s.source_bit < 0 || last > kMaxSwizzleBits)
        return malformed(s.place.span,
                         "a swizzle in the layout of " + quoted(nest.name) +
                             " takes no bits, or bits beyond " + std::to_string(kMaxSwizzleBits),
                         "write ranges of one length, as in `j[2:5] by k[0:3]`");
      if (!(s.target == s.source)) continue;
      const auto map =
          layout::LinearMap::swizzle(kMaxSwizzleBits, s.target_bit, s.source_bit, s.bits);
      if (const auto kernel = map.kernel())
        return malformed(
            s.place.span,
            "a swizzle in the layout of " + quoted(nest.name) +
                " takes different cells to one place",
            "change bits of a component by bits that it leaves as they are",
            {{"cells", std::string(s.target.text()) + " = 0 and " + std::string(s.target.text()) +
                           " = " + std::to_string(*kernel)},
             {"place", std::string(s.target.text()) + " = 0"}});
    }
    return Ok{};
  }

  // Scopes narrow from outside to inside, through the placements; memories, rings and asynchronous copies belong to
  // what is placed in a loop.
  Result<Ok> mapping(const Nest& nest) {
    const std::string name(nest.name.text());
    Scope around = Scope::None;
    const Nest* n = &nest;
    std::vector<std::pair<const Nest*, const Loop*>> outside;
    for (std::size_t hops = 0; n->at && hops <= tree_.nests.size(); ++hops) {
      const Nest* owner = tree_.find(n->at->nest);
      if (!owner) break;
      std::vector<std::pair<const Nest*, const Loop*>> level;
      for (const Loop& loop : owner->loops) {
        level.emplace_back(owner, &loop);
        if (loop.name == n->at->loop) break;
      }
      outside.insert(outside.begin(), level.begin(), level.end());
      n = owner;
    }
    for (const auto& [owner, loop] : outside)
      if (loop->scope != Scope::None) around = loop->scope;
    for (const Loop& loop : nest.loops) {
      if (loop.scope == Scope::None) continue;
      if (around != Scope::None && loop.scope > around)
        return malformed(loop.bound.span,
                         "loop " + quoted(nest.name, loop.name) + " is bound to a " +
                             std::string(scope_text(loop.scope)) + " inside of a loop bound to a " +
                             std::string(scope_text(around)),
                         "bind outer loops to wider scopes",
                         {{"loop", path(nest.name, loop.name)},
                          {"scope", std::string(scope_text(loop.scope))},
                          {"around", std::string(scope_text(around))}});
      if (loop.kind != LoopKind::Serial)
        return malformed(loop.bound.span,
                         "bound loop " + quoted(nest.name, loop.name) + " is marked otherwise too",
                         "drop one of the two", {{"loop", path(nest.name, loop.name)}});
      around = loop.scope;
    }
    if (nest.ring < 1)
      return malformed(nest.ringed.span, "a ring of " + std::to_string(nest.ring) + " buffers",
                       "use at least 1", {{"nest", name}});
    const bool placed_only = nest.ring > 1 || nest.space != Space::None;
    if (placed_only && !nest.at)
      return malformed(nest.ring > 1 ? nest.ringed.span : nest.registered.span,
                       quoted(nest.name) + " stands at the root, where it is a whole tensor",
                       "place it in a loop, or stage a copy of it", {{"nest", name}});
    if (nest.in_register && nest.space != Space::None)
      return malformed(nest.registered.span, quoted(nest.name) + " is kept in two memories",
                       "keep it in one", {{"nest", name}});
    if (nest.is_async && !nest.stage)
      return malformed(nest.made_async.span,
                       quoted(nest.name) + " is computed, and only copies are asynchronous",
                       "stage a copy of it and make that asynchronous", {{"nest", name}});
    return Ok{};
  }

  // The nests at the root are launched in groups, one after the other: all of them, or none.
  Result<Ok> kernels() {
    std::set<Symbol> closed;
    const Nest* last = nullptr;
    for (const Nest& nest : tree_.nests) {
      if (nest.at) {
        if (nest.kernel.valid())
          return malformed(nest.launched.span,
                           quoted(nest.name) + " is placed in a loop, and so belongs to its kernel",
                           "name the nest at the root around it",
                           {{"nest", std::string(nest.name.text())},
                            {"loop", path(nest.at->nest, nest.at->loop)}});
        continue;
      }
      if (last && last->kernel.valid() != nest.kernel.valid())
        return malformed(
            nest.launched.span,
            quoted(nest.kernel.valid() ? last->name : nest.name) +
                " is in no kernel, and others are",
            "put every nest at the root into a kernel",
            {{"nest", std::string((nest.kernel.valid() ? last->name : nest.name).text())}});
      if (last && !(last->kernel == nest.kernel)) closed.insert(last->kernel);
      if (nest.kernel.valid() && closed.contains(nest.kernel))
        return malformed(
            nest.launched.span,
            "kernel " + quoted(nest.kernel) + " is interrupted by " + quoted(last->name),
            "put nests that follow one another into one kernel",
            {{"kernel", std::string(nest.kernel.text())},
             {"between", std::string(last->name.text())}});
      last = &nest;
    }
    return Ok{};
  }

  // Every reader of a placed equation stands inside its loop; else some instance reads a cell that is not there.
  Result<Ok> readers() {
    for (const Nest& nest : tree_.nests) {
      if (!nest.at) continue;
      for (const ir::Equation& reader : algorithm_.equations) {
        if (nest.stage) break;
        if (!reads_through_inlining(reader, nest.name) || inlined(reader.name)) continue;
        if (stands_inside(*tree_.find(reader.name), *nest.at)) continue;
        return malformed(
            nest.placed.span,
            quoted(nest.name) + " is placed in " + quoted(nest.at->nest, nest.at->loop) + " but " +
                quoted(reader.name) + " reads it outside that loop",
            "place " + quoted(reader.name) + " inside " + quoted(nest.at->nest, nest.at->loop) +
                " too, or place " + quoted(nest.name) + " further out",
            with({{"reader", std::string(reader.name.text())}},
                 reading_instance(algorithm_, tree_, reader, nest.name)));
      }
      const Symbol tensor = nest.stage ? nest.stage->tensor : nest.name;
      const bool read = std::any_of(
          algorithm_.equations.begin(), algorithm_.equations.end(), [&](const ir::Equation& e) {
            return !inlined(e.name) && !(e.name == tensor) && reads_through_inlining(e, tensor) &&
                   stands_inside(*tree_.find(e.name), *nest.at);
          });
      if (!read)
        return malformed(
            nest.placed.span,
            "nothing inside " + quoted(nest.at->nest, nest.at->loop) + " reads " + quoted(tensor),
            "place " + quoted(nest.name) + " at a loop around a reader", readers_of(tensor));
    }
    return Ok{};
  }

  // Walks the tree as the program runs: each read needs its tensor computed before, in a place around it.
  Result<Ok> order() {
    std::set<Symbol> available;
    for (const Nest& nest : tree_.nests)
      if (!nest.at) TILEWRIGHT_CHECK_OK(run_nest(nest, available));
    return Ok{};
  }

  Result<Ok> run_nest(const Nest& nest, std::set<Symbol>& available) {
    std::vector<Symbol> local;
    for (const Loop& loop : nest.loops)
      for (const Nest& placed : tree_.nests)
        if (placed.at && *placed.at == LoopRef{nest.name, loop.name}) {
          TILEWRIGHT_CHECK_OK(run_nest(placed, available));
          if (!placed.stage) local.push_back(placed.name);
        }
    if (!has_all(nest, available))
      for (const ir::Equation& producer : algorithm_.equations) {
        if (inlined(producer.name) || available.contains(producer.name)) continue;
        const ir::Equation* reader = nest.stage ? nullptr : algorithm_.find_equation(nest.name);
        const bool reads = reader ? reads_through_inlining(*reader, producer.name)
                                  : nest.stage && nest.stage->tensor == producer.name;
        if (!reads) continue;
        return malformed(
            nest.place.span,
            quoted(nest.name) + " reads " + quoted(producer.name) + " before it is computed",
            "put the nest of " + quoted(producer.name) + " before it",
            with(
                {{"reader", std::string(nest.name.text())},
                 {"tensor", std::string(producer.name.text())}},
                reader ? reading_instance(algorithm_, tree_, *reader, producer.name) : Evidence{}));
      }
    for (Symbol name : local) available.erase(name);
    if (!nest.stage) available.insert(nest.name);
    return Ok{};
  }

  // Whether all that the nest reads is there. Few tensors, where a search among all equations would make
  // the verification of a long algorithm quadratic.
  bool has_all(const Nest& nest, const std::set<Symbol>& available) const {
    if (nest.stage) return false;
    const auto it = reads_.find(nest.name);
    return it != reads_.end() &&
           std::all_of(it->second.begin(), it->second.end(), [&](Symbol tensor) {
             return available.contains(tensor) || algorithm_.find_input(tensor) != nullptr;
           });
  }

  // `tensor` is not inlined itself.
  bool reads_through_inlining(const ir::Equation& reader, Symbol tensor) const {
    const auto it = reads_.find(reader.name);
    return it != reads_.end() && it->second.contains(tensor);
  }

  bool stands_inside(const Nest& nest, const LoopRef& at) const {
    if (nest.name == at.nest) return true;
    const Nest* n = &nest;
    while (n && n->at) {
      const Nest* owner = tree_.find(n->at->nest);
      if (owner && owner->name == at.nest) {
        for (const Loop& loop : owner->loops) {
          if (loop.name == at.loop) return true;
          if (loop.name == n->at->loop) return false;
        }
      }
      n = owner;
    }
    return false;
  }

  const ir::Algorithm& algorithm_;
  const Tree& tree_;
  std::set<Symbol> inlined_;
  std::map<Symbol, std::set<Symbol>> reads_;  // the tensors that remain once inlining is done
};

}  // namespace

Result<Ok> verify(const ir::Algorithm& algorithm, const Tree& tree) {
  if (!tree.algebra.empty() && !tree.derived.algorithm)
    return malformed({}, "the tree has algebraic steps and no derived algorithm",
                     "add the steps with add_step");
  return Verifier(tree.algorithm(algorithm), tree).run();
}

}  // namespace tilewright::tree
