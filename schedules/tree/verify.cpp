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
//   - tensorized loops are the innermost of a reduction, and not marked otherwise;
//   - where the algorithm has loops, the nests at the root stand in the order of its equations, a nest is placed
//     in one of the same loops, and what a loop carries or decides by stands at the root;
//   - scopes narrow inwards; what runs at the same time has the order that its values need (verify_mapping.cpp,
//     verify_tables.cpp);
//   - outputs stand at the root; kept names are loops over results of a reduction; a layout covers its
//     dimensions.
#include <algorithm>
#include <map>
#include <set>

#include "frontend/ir/walk.h"
#include "schedules/tree/tree.h"
#include "schedules/tree/verify_parts.h"

namespace tilewright::tree {

namespace {

class Verifier {
 public:
  Verifier(const ir::Algorithm& algorithm, const Tree& tree, const std::vector<Expr>& guards)
      : algorithm_(algorithm),
        tree_(tree),
        where_{algorithm, guards},
        inlined_(tree.inlined.begin(), tree.inlined.end()) {
    for (const ir::Equation& equation : algorithm.equations)
      if (equation.is_view) views_.insert(equation.name);
    // Producers come first, so each equation is read through once, however long a chain of inlining is.
    for (const ir::Equation& equation : algorithm.equations) {
      std::set<Symbol>& through = reads_[equation.name];
      for (const ir::TensorPart& part : equation.parts)
        equation_of_.emplace(part.name, equation.name);
      for (const ir::Read* read : ir::reads(equation.value)) {
        const auto producer = reads_.find(read->tensor);
        const auto part = equation_of_.find(read->tensor);
        if (part != equation_of_.end()) through.insert(part->second);
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
      TILEWRIGHT_CHECK_OK(verify_mapping(algorithm_, tree_, nest));
      if (nest.stage)
        TILEWRIGHT_CHECK_OK(verify_layout(algorithm_, nest, inlined(nest.stage->tensor)));
    }
    TILEWRIGHT_CHECK_OK(readers());
    if (!algorithm_.loops.empty()) TILEWRIGHT_CHECK_OK(iterations());
    TILEWRIGHT_CHECK_OK(verify_kernels(tree_));
    TILEWRIGHT_CHECK_OK(order());
    return verify_tables(where_, tree_, reads_);
  }

 private:
  bool inlined(Symbol name) const { return inlined_.contains(name) || views_.contains(name); }

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
      if (views_.contains(nest.name))
        return malformed(nest.place.span, quoted(nest.name) + " is a view and has a nest",
                         "drop the nest");
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
      if (views_.contains(name))
        return malformed({}, quoted(name) + " is a view, which is inlined without saying",
                         "drop it");
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
                              iterations_that_meet(where_, nest, loop.name)));
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
    TILEWRIGHT_CHECK_OK(ordered(nest));
    TILEWRIGHT_CHECK_OK(tensorized(nest));
    return kept(nest, listed, folds);
  }

  // Loops over dimensions whose order matters visit them in the order of the algorithm.
  Result<Ok> ordered(const Nest& nest) {
    const ir::Equation* equation = nest.stage ? nullptr : algorithm_.find_equation(nest.name);
    const ir::Fold* fold = equation ? equation->fold() : nullptr;
    if (!fold) return Ok{};
    const std::vector<Symbol> wanted = ordered_dimensions(*equation);
    const std::string what = fold->scan              ? "a scan"
                             : fold->is_update()     ? "an update"
                             : fold->body.size() > 1 ? "a reduction of several values"
                                                     : "a reduction by a declared monoid";
    const std::string why = fold->scan ? "each value needs the one before" : "its order is kept";
    std::set<Symbol> names(wanted.begin(), wanted.end());
    const std::vector<Symbol> folded = fold_variables(*equation);
    std::set<Symbol> no_vector = names;
    if (fold->body.size() > 1) no_vector.insert(folded.begin(), folded.end());
    for (const Step& step : nest.steps) {
      if (const auto* s = std::get_if<SplitStep>(&step)) {
        for (auto* set : {&names, &no_vector})
          if (set->contains(s->parent)) set->insert({s->outer, s->inner});
        continue;
      }
      const auto& f = std::get<FuseStep>(step);
      if (no_vector.contains(f.inner) || no_vector.contains(f.outer)) no_vector.insert(f.fused);
      if (!names.contains(f.outer) && !names.contains(f.inner)) continue;
      if (!names.contains(f.outer) || !names.contains(f.inner))
        return malformed(
            nest.place.span,
            "a fuse joins " + quoted(nest.name, f.outer) + " and " + quoted(nest.name, f.inner) +
                ", of which one has an order: " + quoted(nest.name) + " is " + what + ", so " + why,
            "fuse other loops");
      names.insert(f.fused);
    }
    std::vector<Symbol> order;
    for (const Loop& loop : nest.loops) {
      if ((names.contains(loop.name) &&
           (loop.kind == LoopKind::Parallel || loop.scope != Scope::None)) ||
          (no_vector.contains(loop.name) && loop.kind == LoopKind::Vector))
        return malformed(nest.place.span,
                         "loop " + quoted(nest.name, loop.name) +
                             " runs in order: " + quoted(nest.name) + " is " + what + ", so " + why,
                         "leave it serial, and mark a loop over another index",
                         with({{"loop", path(nest.name, loop.name)}},
                              iterations_in_order(where_, nest, loop.name)));
      if (names.contains(loop.name)) order.push_back(loop.name);
    }
    for (auto step = nest.steps.rbegin(); step != nest.steps.rend(); ++step) undo(*step, order);
    if (order == wanted) return Ok{};
    std::string loops;
    for (const Loop& loop : nest.loops)
      if (names.contains(loop.name))
        loops += (loops.empty() ? "" : ", ") + std::string(loop.name.text());
    return malformed(nest.place.span,
                     "the loops of " + quoted(nest.name) +
                         " are not in the order of its terms: it is " + what + ", so " + why,
                     "leave these loops in the order of the algorithm",
                     with({{"loops", loops}}, terms_out_of_order(where_, nest)));
  }

  // The order of the loops as it was before a step; a pair that the step did not leave side by side stays.
  static void undo(const Step& step, std::vector<Symbol>& order) {
    if (const auto* s = std::get_if<SplitStep>(&step)) {
      const auto outer = std::find(order.begin(), order.end(), s->outer);
      if (outer == order.end() || outer + 1 == order.end() || !(*(outer + 1) == s->inner)) return;
      *outer = s->parent;
      order.erase(outer + 1);
      return;
    }
    const auto& f = std::get<FuseStep>(step);
    const auto fused = std::find(order.begin(), order.end(), f.fused);
    if (fused == order.end()) return;
    *fused = f.outer;
    order.insert(fused + 1, f.inner);
  }

  Result<Ok> tensorized(const Nest& nest) {
    if (!nest.tensorized) return Ok{};
    const std::vector<Symbol>& loops = nest.tensorized->loops;
    const ir::Equation* equation = nest.stage ? nullptr : algorithm_.find_equation(nest.name);
    if (!equation || !equation->fold() || !equation->fold()->is_plain())
      return malformed(nest.tensorized->place.span,
                       quoted(nest.name) +
                           " is not a reduction of one value over all of its bounds, so no "
                           "instruction computes it",
                       "tensorize such a reduction");
    if (std::set<Symbol>(loops.begin(), loops.end()).size() != loops.size() || loops.empty() ||
        loops.size() > nest.loops.size())
      return malformed(
          nest.tensorized->place.span,
          "the tensorized loops of " + quoted(nest.name) + " are none, or one is there twice",
          "name each loop of the tile once");
    for (std::size_t i = nest.loops.size() - loops.size(); i < nest.loops.size(); ++i) {
      const Loop& loop = nest.loops[i];
      if (std::find(loops.begin(), loops.end(), loop.name) == loops.end())
        return malformed(
            nest.tensorized->place.span,
            "the tensorized loops of " + quoted(nest.name) + " are not its innermost: " +
                quoted(nest.name, loop.name) + " stands among or inside them",
            "reorder the tensorized loops to the inside", {{"inside", path(nest.name, loop.name)}});
      if (loop.is_marked())
        return malformed(
            nest.tensorized->place.span,
            "tensorized loop " + quoted(nest.name, loop.name) + " is marked otherwise too",
            "leave the loops of an instruction's tile unmarked");
    }
    return Ok{};
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
            with({{"loop", path(nest.name, name)}}, iterations_that_meet(where_, nest, name)));
    }
    const ir::Equation* equation = algorithm_.find_equation(nest.name);
    if (!nest.keep.empty() && equation && equation->fold() && equation->fold()->is_update())
      return malformed(nest.kept.of(0),
                       quoted(nest.name) + " is an update: its terms go to any cell",
                       "keep the results of a reduction");
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
    return equation ? fold_variables(*equation) : std::vector<Symbol>();
  }

  Result<Ok> placement(const Nest& nest) {
    const ir::Equation* equation = algorithm_.find_equation(nest.name);
    if (!nest.at) {
      if (nest.stage && !nest.stage->at_plan)
        return malformed(nest.place.span,
                         "staged copy " + quoted(nest.name) + " has no loop to stand in",
                         "write `at nest.loop`, or `at plan`");
      return nest.stage ? verify_plan(where_, tree_, reads_, nest) : Ok{};
    }
    if (nest.stage && nest.stage->at_plan)
      return malformed(nest.place.span,
                       "staged copy " + quoted(nest.name) + " is of the plan and stands in a loop",
                       "write `at plan` at the root alone");
    if (equation && equation->is_output)
      return malformed(
          nest.placed.span,
          "output " + quoted(nest.name) + " is placed inside a loop of " + quoted(nest.at->nest),
          "leave outputs at the root; a reader may be placed instead",
          with({{"nest", std::string(nest.name.text())},
                {"loop", path(nest.at->nest, nest.at->loop)}},
               unread_cell(where_, *equation, algorithm_.find_equation(nest.at->nest))));
    const Nest* owner = tree_.find(nest.at->nest);
    if (!owner || !owner->find_loop(nest.at->loop))
      return malformed(nest.placed.span, quoted(nest.at->nest, nest.at->loop) + " is not a loop",
                       "name a loop of a nest");
    if (equation && !nest.stage) {
      const ir::Fold* fold = equation->fold();
      if (fold && (!fold->is_reduction() || fold->body.size() > 1))
        return malformed(nest.placed.span,
                         quoted(nest.name) + " is " +
                             (fold->scan          ? "a scan: a part of it needs all before"
                              : fold->is_update() ? "an update: a part of it needs all terms"
                                                  : "a reduction of several values") +
                             ", which is computed as a whole",
                         "leave it at the root",
                         {{"nest", std::string(nest.name.text())},
                          {"loop", path(nest.at->nest, nest.at->loop)}});
    }
    const ir::Equation* around = owner->stage ? nullptr : algorithm_.find_equation(owner->name);
    if (around && around->fold() && around->fold()->is_update())
      return malformed(
          nest.placed.span,
          quoted(nest.name) + " is placed inside a loop of " + quoted(owner->name) +
              ", which is an update: its terms go to any cell",
          "place it elsewhere, or leave it at the root",
          {{"nest", std::string(nest.name.text())}, {"loop", path(nest.at->nest, nest.at->loop)}});
    if (around && !nest.stage && reads_outside_terms(*around, nest.name))
      for (const Loop& loop : owner->loops) {
        if (fold_loops(*owner).contains(loop.name))
          return malformed(nest.placed.span,
                           quoted(nest.name) + " is placed inside the reduction of " +
                               quoted(owner->name) + ", which reads it outside of its terms too",
                           "place it at a loop over the results, or leave it at the root",
                           with({{"loop", path(owner->name, loop.name)}},
                                read_without_terms(where_, tree_, *around, nest.name)));
        if (loop.name == nest.at->loop) break;
      }
    if (owner->tensorized) {
      const auto& tile = owner->tensorized->loops;
      if (std::find(tile.begin(), tile.end(), nest.at->loop) != tile.end())
        return malformed(nest.placed.span,
                         quoted(nest.name) + " is placed in the tensorized loop " +
                             quoted(nest.at->nest, nest.at->loop),
                         "place it at a loop further out");
    }
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

  // The loops that are made of variables of the reduction.
  std::set<Symbol> fold_loops(const Nest& nest) const {
    const std::vector<Symbol> folded = fold_dimensions(nest);
    std::set<Symbol> out(folded.begin(), folded.end());
    for (const Step& step : nest.steps) {
      const auto* s = std::get_if<SplitStep>(&step);
      const auto* f = std::get_if<FuseStep>(&step);
      if (s && out.contains(s->parent)) out.insert({s->outer, s->inner});
      if (f && out.contains(f->outer)) out.insert(f->fused);
    }
    return out;
  }

  // In what an empty reduction is worth, or in bounds: where no loop of the reduction runs.
  bool reads_outside_terms(const ir::Equation& reader, Symbol tensor) const {
    const ir::Fold* fold = reader.fold();
    if (!fold || fold->scan) return false;
    for (NodeList<Expr> list : {fold->on_empty, fold->lower, fold->upper})
      for (Expr root : list)
        for (const ir::Read* read : ir::reads(root)) {
          if (read->tensor == tensor) return true;
          const auto through = reads_.find(read->tensor);
          if (inlined(read->tensor) && through != reads_.end() && through->second.contains(tensor))
            return true;
        }
    return false;
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
                 reading_instance(where_, tree_, reader, nest.name)));
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

  // The loops of the algorithm around the equations of the tree.
  Result<Ok> iterations() {
    const ir::Equation* last = nullptr;
    for (const Nest& nest : tree_.nests) {
      const ir::Equation* equation = nest.stage ? nullptr : algorithm_.find_equation(nest.name);
      if (!equation) continue;
      if (!nest.at) {
        if (last && equation < last)
          return malformed(nest.place.span,
                           quoted(nest.name) + " stands after " + quoted(last->name) +
                               ", but before it in an algorithm with loops",
                           "leave the nests in the order of the algorithm");
        last = equation;
        continue;
      }
      const Nest* owner = tree_.find(nest.at->nest);
      while (owner && owner->stage && owner->at) owner = tree_.find(owner->at->nest);
      const ir::Equation* around = owner ? algorithm_.find_equation(owner->name) : nullptr;
      if (around && algorithm_.loops_around(*around) != algorithm_.loops_around(*equation))
        return malformed(nest.placed.span,
                         quoted(nest.name) + " is placed in " + quoted(owner->name) +
                             ", which other loops of the algorithm surround",
                         "place it in a nest of the same loop, or leave it at the root",
                         {{"nest", std::string(nest.name.text())},
                          {"placed in", std::string(owner->name.text())}});
      for (const ir::Loop& loop : algorithm_.loops)
        if (needs(loop, *equation))
          return malformed(
              nest.placed.span,
              quoted(nest.name) + " is placed in " + quoted(nest.at->nest) +
                  ", but the loop over " + quoted(loop.var) + " needs it as a whole",
              "leave it at the root",
              {{"nest", std::string(nest.name.text())}, {"loop", std::string(loop.var.text())}});
    }
    return Ok{};
  }

  // Whether a loop starts from the equation, goes on with it or decides by it, through what is inlined.
  bool needs(const ir::Loop& loop, const ir::Equation& equation) const {
    auto is = [&](Symbol tensor) {
      if (equation.defines(tensor)) return true;
      const auto through = reads_.find(tensor);
      return inlined(tensor) && through != reads_.end() && through->second.contains(equation.name);
    };
    for (const ir::Carry& carry : loop.carries)
      if (is(carry.start) || is(carry.next)) return true;
    if (loop.condition)
      for (const ir::Read* read : ir::reads(loop.condition))
        if (is(read->tensor)) return true;
    return false;
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
            with({{"reader", std::string(nest.name.text())},
                  {"tensor", std::string(producer.name.text())}},
                 reader ? reading_instance(where_, tree_, *reader, producer.name) : Evidence{}));
      }
    for (Symbol name : local) available.erase(name);
    if (!nest.stage) available.insert(nest.name);
    const ir::Equation* equation = nest.stage ? nullptr : algorithm_.find_equation(nest.name);
    for (const ir::TensorPart& part : equation ? equation->parts : std::vector<ir::TensorPart>())
      available.insert(part.name);
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
  Case where_;
  std::set<Symbol> inlined_;
  std::set<Symbol> views_;  // always inlined
  std::map<Symbol, Symbol> equation_of_;  // of the parts of equations that have some
  ReadsOf reads_;  // the tensors that remain once inlining is done
};

}  // namespace

Result<Ok> verify(const ir::Algorithm& algorithm, const Tree& tree,
                  const std::vector<Expr>& guards) {
  if (!tree.algebra.empty() && !tree.derived.algorithm)
    return malformed({}, "the tree has algebraic steps and no derived algorithm",
                     "add the steps with add_step");
  return Verifier(tree.algorithm(algorithm), tree, guards).run();
}

}  // namespace tilewright::tree
