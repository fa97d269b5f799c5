// SPDX-License-Identifier: Apache-2.0
//
// tensorize c.jj, c.kk with vdpbf16ps      after splits of j by 16 as .., jj and of k by 2 as .., kk
//   for jj in 0 .. 16 { for kk in 0 .. 2 { acc[jj] += f32(a[i, 2 * ko + kk]) * f32(b[2 * ko + kk, 16 * jo + jj]) } }
//   becomes   call vdpbf16ps(c = acc[0 : 16], a = ..., b = ..., d = acc[0 : 16])
// Loops are named in the order of the dimensions of the instruction's meaning. Here is judged what the algorithm
// says: the reduction, its types and which loops an operand depends on. Where operands lie follows from the
// whole schedule, so `build` judges that.
#include <algorithm>
#include <set>

#include "frontend/base/format.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "schedules/directives/directive.h"
#include "schedules/machine/unify.h"

namespace tilewright::directives {

namespace {

using ir::Expr;

Failure mismatch(Code code, Span span, std::string message, std::string remedy, Evidence evidence) {
  return fail(
      Diagnostic{code, span, std::move(message), std::move(remedy), {}, std::move(evidence)});
}

// The dimensions of the equation that a loop counts.
void dimensions_of(const tree::Nest& nest, Symbol loop, std::set<Symbol>& out) {
  for (const tree::Step& step : nest.steps) {
    if (const auto* s = std::get_if<tree::SplitStep>(&step)) {
      if (s->outer == loop || s->inner == loop) return dimensions_of(nest, s->parent, out);
    } else {
      const auto& f = std::get<tree::FuseStep>(step);
      if (!(f.fused == loop)) continue;
      dimensions_of(nest, f.outer, out);
      return dimensions_of(nest, f.inner, out);
    }
  }
  out.insert(loop);
}

// The constant length that a loop has by its split or its extent.
std::optional<std::int64_t> length_of(const tree::Nest& nest, const ir::Equation& equation,
                                      Symbol loop) {
  for (const tree::Step& step : nest.steps)
    if (const auto* s = std::get_if<tree::SplitStep>(&step); s && s->inner == loop)
      return s->factor;
  const ir::Fold& fold = *equation.fold();
  for (std::size_t i = 0; i < equation.indices.size(); ++i)
    if (equation.indices[i] == loop)
      if (const auto* n = equation.shape[i].as<ir::IntConst>()) return n->value;
  for (std::size_t i = 0; i < fold.vars.size(); ++i) {
    const auto* lower = fold.lower[i].as<ir::IntConst>();
    const auto* upper = fold.upper[i].as<ir::IntConst>();
    if (fold.vars[i] == loop && lower && upper) return upper->value - lower->value;
  }
  return std::nullopt;
}

struct Judge {
  const Tensorize& directive;
  const tree::Nest& nest;
  const ir::Equation& equation;
  const machine::Instruction& instruction;
  const machine::Meaning& meaning;
  const tree::Case& where;

  Evidence evidence() const {
    return {{"instruction", instruction.name},
            {"term", ir::print(meaning.term)},
            {"reduction", std::string(equation.fold()->monoid.text()) + " of " +
                              ir::print(equation.fold()->body[0])}};
  }

  Result<Ok> run() const {
    TILEWRIGHT_CHECK_OK(loops());
    const ir::Fold& fold = *equation.fold();
    if (!fold.is_plain())
      return mismatch(
          Code::TensorizeMismatch, directive.span,
          in_backticks(nest.name.text()) + " does not reduce one value over all of its bounds",
          "tensorize such a reduction", {{"instruction", instruction.name}});
    if (fold.monoid_kind() != meaning.monoid || fold.type != meaning.result.type)
      return mismatch(Code::TensorizeMismatch, directive.span,
                      in_backticks(nest.name.text()) + " is a " + std::string(fold.monoid.text()) +
                          " in " + std::string(ir::type_text(fold.type)) + ", " +
                          in_backticks(instruction.name) + " adds to a " +
                          std::string(ir::monoid_text(meaning.monoid)) + " in " +
                          std::string(ir::type_text(meaning.result.type)),
                      "tensorize a reduction of that monoid and type", evidence());
    machine::Mismatch difference;
    const auto found = machine::unify(meaning, fold.body[0], &difference);
    if (found.empty())
      return mismatch(Code::TensorizeMismatch, directive.span,
                      in_backticks(nest.name.text()) + " does not add what " +
                          in_backticks(instruction.name) + " adds: where the instruction has " +
                          difference.wanted + ", it has " + difference.found,
                      "write the term with the instruction's operations and types", evidence());
    std::string why;
    for (const machine::Unified& one : found)
      if (operands(one, why)) return Ok{};
    return mismatch(Code::TensorizeMismatch, directive.span, why,
                    "name loops over other dimensions, or use another form of the instruction",
                    evidence());
  }

  Result<Ok> loops() const {
    if (directive.loops.size() != meaning.dims.size())
      return mismatch(Code::TensorizeLoops, directive.span,
                      in_backticks(instruction.name) + " has " +
                          std::to_string(meaning.dims.size()) + " dimensions, and " +
                          std::to_string(directive.loops.size()) + " loops are named",
                      "name one loop for each dimension, in order", evidence());
    const ir::Fold& fold = *equation.fold();
    for (std::size_t i = 0; i < meaning.dims.size(); ++i) {
      const LoopName& loop = directive.loops[i];
      std::set<Symbol> over;
      dimensions_of(nest, loop.loop, over);
      const bool folds = std::any_of(over.begin(), over.end(), [&](Symbol dim) {
        return std::find(fold.vars.begin(), fold.vars.end(), dim) != fold.vars.end();
      });
      const std::string dim = in_backticks(meaning.dims[i].text());
      if (folds != (i >= meaning.num_results))
        return mismatch(Code::TensorizeLoops, loop.span,
                        "loop `" + loop_path(nest, loop.loop) + "` runs over " +
                            (folds ? "the reduction" : "results") + ", dimension " + dim + " of " +
                            in_backticks(instruction.name) + " over " +
                            (folds ? "results" : "the reduction"),
                        "name the loops in the order of the instruction's dimensions",
                        with(evidence(), folds ? tree::iterations_that_meet(where, nest, loop.loop)
                                               : Evidence{}));
      const auto length = length_of(nest, equation, loop.loop);
      if (length == meaning.lengths[i]) continue;
      return mismatch(
          Code::TensorizeLoops, loop.span,
          "loop `" + loop_path(nest, loop.loop) + "` " +
              (length ? "runs " + std::to_string(*length) + " times"
                      : std::string("has no constant length")) +
              ", dimension " + dim + " of " + in_backticks(instruction.name) + " is " +
              std::to_string(meaning.lengths[i]),
          "split it by " + std::to_string(meaning.lengths[i]) + " and name the inner loop",
          evidence());
    }
    return Ok{};
  }

  // A read must move with the loops of its operand's dimensions and with none of the others.
  bool operands(const machine::Unified& one, std::string& why) const {
    for (std::size_t o = 0; o < meaning.operands.size(); ++o) {
      if (!one.reads[o]) continue;
      const machine::Meaning::Operand& operand = meaning.operands[o];
      std::set<Symbol> used;
      for (Expr index : one.reads[o]->indices)
        for (Symbol name : ir::free_vars(index)) used.insert(name);
      for (std::size_t d = 0; d < meaning.dims.size(); ++d) {
        std::set<Symbol> over;
        dimensions_of(nest, directive.loops[d].loop, over);
        const bool moves =
            std::any_of(over.begin(), over.end(), [&](Symbol dim) { return used.contains(dim); });
        const bool should =
            std::find(operand.dims.begin(), operand.dims.end(), d) != operand.dims.end();
        if (moves == should) continue;
        if (why.empty())
          why = "operand " + in_backticks(operand.name.text()) + " of " +
                in_backticks(instruction.name) + (should ? " differs" : " is the same") +
                " along dimension " + in_backticks(meaning.dims[d].text()) + ", and " +
                in_backticks(ir::print(Expr(one.reads[o]))) +
                (moves ? " differs" : " is the same") + " along `" +
                loop_path(nest, directive.loops[d].loop) + "`";
        return false;
      }
    }
    return true;
  }
};

}  // namespace

std::optional<Tensorize> Tensorize::parse(Reader& reader) {
  Tensorize out;
  out.span = reader.cursor.peek().span;
  do {
    auto loop = reader.loop_name();
    if (!loop) return std::nullopt;
    out.loops.push_back(*loop);
  } while (reader.cursor.accept(","));
  if (!reader.cursor.expect("with", "after the loops", "write `with` and an instruction"))
    return std::nullopt;
  out.span.end = reader.cursor.peek().span.end;
  auto instruction = reader.path("an instruction");
  if (!instruction) return std::nullopt;
  out.instruction = *instruction;
  return out;
}

std::string Tensorize::print() const {
  std::string text = "tensorize ";
  for (std::size_t i = 0; i < loops.size(); ++i)
    text += (i ? ", " : "") + directives::print(loops[i]);
  return text + " with " + std::string(instruction.text());
}

Result<Ok> Tensorize::apply(Target& target) const {
  TILEWRIGHT_TRY(first, find_loop(target, loops[0]));
  tree::Nest& nest = *first.nest;
  tree::Tensorized tile{instruction, {}, {span}};
  Tensorize named = *this;
  for (LoopName& loop : named.loops) {
    TILEWRIGHT_TRY(found, find_loop(target, loop));
    if (found.nest != &nest)
      return mismatch(
          Code::TensorizeLoops, loop.span,
          "`" + loop_path(*found.nest, found.loop().name) + "` is a loop of another nest",
          "name loops of one nest", {{"nest", std::string(nest.name.text())}});
    loop = {nest.name, found.loop().name, loop.span};
    tile.loops.push_back(loop.loop);
  }
  const ir::Equation* equation = target.algorithm.find_equation(nest.name);
  if (!equation || !equation->fold())
    return mismatch(
        Code::TensorizeLoops, span, in_backticks(nest.name.text()) + " is not a reduction",
        "tensorize the loops of a reduction", {{"nest", std::string(nest.name.text())}});
  TILEWRIGHT_TRY(forms, machine::find_forms(instruction.text()));
  // What is inlined into the term is seen by `build` alone.
  const bool reads_inlined = [&] {
    for (const ir::Read* read : ir::reads(equation->value))
      if (std::find(target.tree.inlined.begin(), target.tree.inlined.end(), read->tensor) !=
          target.tree.inlined.end())
        return true;
    return false;
  }();
  const tree::Case where = target.where();
  std::optional<Failure> refusal;
  bool fits = false;
  for (const machine::Instruction& form : forms) {
    TILEWRIGHT_TRY(meaning, machine::meaning(target.context, form));
    const Judge judge{named, nest, *equation, form, meaning, where};
    auto judged = reads_inlined ? judge.loops() : judge.run();
    fits = fits || judged.ok();
    // Of several forms the last is shown: it differs from the first in how operands lie, not in what it adds.
    if (!judged.ok()) refusal = std::move(judged).failure();
  }
  if (!fits) return *std::move(refusal);
  nest.tensorized = std::move(tile);
  return Ok{};
}

}  // namespace tilewright::directives
