// SPDX-License-Identifier: Apache-2.0
#include "schedules/tree/derive.h"

#include <algorithm>

#include "frontend/ir/reduction.h"
#include "frontend/ir/verify.h"
#include "frontend/ir/walk.h"

namespace tilewright::tree {

Failure refuse_step(Span place, std::string message, std::string remedy,
                    std::vector<std::pair<std::string, std::string>> evidence) {
  return fail(Diagnostic{
      Code::AlgebraRefused, place, std::move(message), std::move(remedy), {}, std::move(evidence)});
}

Span place_of(const AlgebraStep& step) {
  return std::visit([](const auto& s) { return s.place.span; }, step);
}

Symbol path_below(ir::Context& context, const ir::Algorithm& algorithm, Symbol equation,
                  std::string_view part) {
  const std::string base = std::string(equation.text()) + "." + std::string(part);
  Symbol name = context.symbol(base);
  for (int i = 2; algorithm.shape_of(name) || algorithm.find_equation(name); ++i)
    name = context.symbol(base + "_" + std::to_string(i));
  return name;
}

std::vector<ir::TensorPart> parts_below(ir::Context& context, const ir::Algorithm& algorithm,
                                        Symbol name, const ir::Fold& fold) {
  std::vector<ir::TensorPart> out;
  const std::vector<std::string> fields = ir::part_names(algorithm, fold);
  for (std::size_t i = 0; i < fields.size(); ++i)
    out.push_back(
        {context.symbol(std::string(name.text()) + "." + fields[i]), fold.body[i].type()});
  return out;
}

ir::Equation has_terms(ir::Context& context, const ir::Equation& reduction, Symbol name) {
  ir::Equation out = reduction;
  out.name = name;
  out.type = ir::ScalarType::Bool;
  out.parts.clear();
  out.is_output = false;
  ir::Fold any = *reduction.fold();
  const std::vector<Expr> term = {context.boolean(true)};
  any.monoid = context.symbol("or");
  any.body = term;
  any.on_empty = {};
  out.value = context.fold(any);
  return out;
}

bool is_read(const ir::Algorithm& algorithm, const ir::Equation& equation) {
  return algorithm.is_used(equation);
}

Result<Derivation> derive(ir::Context& context, const ir::Algorithm& algorithm,
                          const AlgebraStep& step) {
  struct Dispatch {
    ir::Context& context;
    const ir::Algorithm& algorithm;
    Result<Derivation> operator()(const SplitReductionStep& s) const {
      return split_reduction(context, algorithm, s);
    }
    Result<Derivation> operator()(const DeferStep& s) const { return defer(context, algorithm, s); }
    Result<Derivation> operator()(const RecomputeStep& s) const {
      return recompute(context, algorithm, s);
    }
  };
  TILEWRIGHT_TRY(out, std::visit(Dispatch{context, algorithm}, step));
  // Names that the step takes may clash with others of the algorithm; a reader finds them by its own rules.
  const std::vector<Diagnostic> findings = ir::verify(out.algorithm);
  if (findings.empty()) return out;
  std::vector<std::pair<std::string, std::string>> evidence = findings[0].evidence;
  evidence.emplace_back("code", std::string(code_text(findings[0].code)));
  return refuse_step(place_of(step),
                     "the algorithm that it makes is malformed: " + findings[0].message,
                     findings[0].remedy, std::move(evidence));
}

Result<ir::Algorithm> derive(ir::Context& context, const ir::Algorithm& algorithm,
                             const std::vector<AlgebraStep>& steps) {
  ir::Algorithm out = algorithm;
  for (const AlgebraStep& step : steps) {
    TILEWRIGHT_TRY(made, derive(context, out, step));
    out = std::move(made.algorithm);
  }
  return out;
}

bool rounds_otherwise(const ir::Algorithm& algorithm, const std::vector<AlgebraStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [&](const AlgebraStep& step) {
    return std::holds_alternative<DeferStep>(step) ||
           (std::holds_alternative<SplitReductionStep>(step) && !algorithm.monoids.empty());
  });
}

namespace {

std::string quoted(Symbol name) { return "`" + std::string(name.text()) + "`"; }

// The nest is as the default tree has it, wherever it stands.
Result<Ok> untouched(const ir::Algorithm& algorithm, const Tree& tree, Symbol name, Span place) {
  const Nest* nest = tree.find(name);
  const ir::Equation* equation = algorithm.find_equation(name);
  if (!nest || !equation) return Ok{};
  Nest plain = default_nest(*equation);
  plain.at = nest->at;
  if (!(plain == *nest))
    return refuse_step(place, "the loops of " + quoted(name) + " have been changed already",
                       "write algebraic steps before the directives for its loops",
                       {{"nest", std::string(name.text())}});
  for (const Nest& other : tree.nests)
    if (other.at && other.at->nest == name)
      return refuse_step(
          place, quoted(other.name) + " is placed in a loop of " + quoted(name),
          "write algebraic steps before what is placed in its loops",
          {{"nest", std::string(name.text())}, {"placed", std::string(other.name.text())}});
  return Ok{};
}

}  // namespace

Result<Ok> add_step(ir::Context& context, const ir::Algorithm& original, Tree& tree,
                    const AlgebraStep& step) {
  const ir::Algorithm& before = tree.algorithm(original);
  TILEWRIGHT_TRY(made, derive(context, before, step));
  const Span place = place_of(step);
  if (made.reshaped.valid()) TILEWRIGHT_CHECK_OK(untouched(before, tree, made.reshaped, place));
  for (Symbol name : made.removed) {
    TILEWRIGHT_CHECK_OK(untouched(before, tree, name, place));
    std::erase_if(tree.nests, [&](const Nest& nest) { return nest.name == name; });
    std::erase(tree.inlined, name);
  }
  const auto find = [&](Symbol name) {
    return std::find_if(tree.nests.begin(), tree.nests.end(),
                        [&](const Nest& nest) { return nest.name == name; });
  };
  if (made.reshaped.valid()) {
    Nest& nest = *find(made.reshaped);
    const auto at = nest.at;
    const Place placed = nest.placed;
    nest = default_nest(*made.algorithm.find_equation(made.reshaped));
    nest.at = at;
    nest.placed = placed;
  }
  for (Symbol name : made.added) {
    auto reader = tree.nests.end();
    for (const ir::Equation& equation : made.algorithm.equations)
      for (const ir::Read* read : ir::reads(equation.value))
        if (made.algorithm.find_equation(name)->defines(read->tensor) && reader == tree.nests.end())
          reader = find(equation.name);
    const auto at = reader == tree.nests.end() ? std::optional<LoopRef>() : reader->at;
    Nest nest = default_nest(*made.algorithm.find_equation(name));
    nest.at = at;
    tree.nests.insert(reader, std::move(nest));
  }
  tree.algebra.push_back(step);
  tree.derived.algorithm = std::make_shared<const ir::Algorithm>(std::move(made.algorithm));
  return Ok{};
}

}  // namespace tilewright::tree
