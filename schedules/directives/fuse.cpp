// SPDX-License-Identifier: Apache-2.0
//
// fuse c.i, c.j as ij
//   for i in 0 .. M { for j in 0 .. N { s(i, j) } }   becomes   for ij in 0 .. M * N { s(ij / N, ij % N) }
#include <algorithm>

#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Fuse> Fuse::parse(Reader& reader) {
  auto outer = reader.loop_name();
  if (!outer || !reader.cursor.expect(",", "after the first loop", "write `fuse c.i, c.j as ij`"))
    return std::nullopt;
  auto inner = reader.loop_name();
  if (!inner || !reader.cursor.expect("as", "after the loops", "write `as` and a name"))
    return std::nullopt;
  auto fused = reader.name("a name for the loop");
  if (!fused) return std::nullopt;
  return Fuse{*outer, *inner, *fused};
}

std::string Fuse::print() const {
  return "fuse " + directives::print(outer) + ", " + directives::print(inner) + " as " +
         std::string(fused.text());
}

namespace {

// True when the loop is made of variables of the equation's fold.
bool over_reduction(const Target& target, const tree::Nest& nest, Symbol loop) {
  const ir::Equation* equation = nest.stage ? nullptr : target.algorithm.find_equation(nest.name);
  if (!equation) return false;
  const std::vector<Symbol> vars = tree::fold_variables(*equation);
  for (auto step = nest.steps.rbegin(); step != nest.steps.rend(); ++step) {
    if (const auto* s = std::get_if<tree::SplitStep>(&*step)) {
      if (s->outer == loop || s->inner == loop) loop = s->parent;
    } else if (const auto& f = std::get<tree::FuseStep>(*step); f.fused == loop) {
      loop = f.outer;
    }
  }
  return std::find(vars.begin(), vars.end(), loop) != vars.end();
}

// The loops that stand between the two, in one nest.
Evidence in_between(const FoundLoop& a, const FoundLoop& b) {
  if (a.nest != b.nest) return {};
  Evidence out;
  for (std::size_t i = a.index + 1; i < b.index; ++i)
    out.emplace_back("between", loop_path(*a.nest, a.nest->loops[i].name));
  return out;
}

// Two iterations of the fused loop that meet in one result, which those of a loop over results never do.
Evidence iterations_of_both_sorts(const Target& target, tree::Nest nest, Symbol outer, Symbol inner,
                                  Symbol fused) {
  nest.steps.push_back(tree::FuseStep{outer, inner, fused, {}});
  return tree::iterations_that_meet(target.where(), nest, fused);
}

}  // namespace

Result<Ok> Fuse::apply(Target& target) const {
  TILEWRIGHT_TRY(a, find_loop(target, outer));
  TILEWRIGHT_TRY(b, find_loop(target, inner));
  if (a.nest != b.nest || b.index != a.index + 1)
    return refuse(inner.span,
                  "`" + directives::print(inner) + "` does not stand directly inside `" +
                      directives::print(outer) + "`",
                  "reorder the two loops next to each other first",
                  with({{"outer", loop_path(*a.nest, a.loop().name)},
                        {"inner", loop_path(*b.nest, b.loop().name)}},
                       in_between(a, b)));
  if (has_name(target, *a.nest, fused))
    return refuse(
        fused.span, "the nest has a loop `" + std::string(fused.text()) + "` already",
        "choose another name after `as`",
        {{"nest", std::string(a.nest->name.text())}, {"taken", std::string(fused.text())}});
  for (const tree::Loop& loop : {a.loop(), b.loop()})
    if (loop.is_marked())
      return refuse(outer.span, "loop `" + std::string(loop.name.text()) + "` is marked already",
                    "fuse before what marks a loop, as `parallel` or `peel`",
                    {{"loop", loop_path(*a.nest, loop.name)}});
  for (const tree::Nest& nest : target.tree.nests)
    if (nest.at && nest.at->nest == a.nest->name &&
        (nest.at->loop == a.loop().name || nest.at->loop == b.loop().name))
      return refuse(
          outer.span, "`" + std::string(nest.name.text()) + "` is placed in one of the two loops",
          "fuse before placing anything in them",
          {{"loop", loop_path(*a.nest, nest.at->loop)}, {"placed", std::string(nest.name.text())}});
  for (const tree::Loop& loop : {a.loop(), b.loop()})
    TILEWRIGHT_CHECK_OK(not_kept(*a.nest, loop.name, outer.span));
  if (over_reduction(target, *a.nest, a.loop().name) !=
      over_reduction(target, *a.nest, b.loop().name))
    return refuse(
        outer.span,
        "one of `" + directives::print(outer) + "` and `" + directives::print(inner) +
            "` runs over results and one over the reduction",
        "fuse two loops of one sort",
        with({{"outer", loop_path(*a.nest, a.loop().name)},
              {"inner", loop_path(*b.nest, b.loop().name)}},
             iterations_of_both_sorts(target, *a.nest, a.loop().name, b.loop().name, fused)));
  a.nest->steps.push_back(tree::FuseStep{a.loop().name, b.loop().name, fused, {outer.span}});
  a.nest->loops[a.index] = {fused, tree::LoopKind::Serial, false, {fused.span}, {}};
  a.nest->loops.erase(a.nest->loops.begin() + static_cast<std::ptrdiff_t>(b.index));
  return Ok{};
}

}  // namespace tilewright::directives
