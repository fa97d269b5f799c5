// SPDX-License-Identifier: Apache-2.0
//
// Witnesses of order: instances of an equation, counted in the order of the algorithm, and when the loops of a nest
// would run them.
#include <algorithm>
#include <map>

#include "frontend/ir/walk.h"
#include "schedules/tree/witness.h"

namespace tilewright::tree {

namespace {

using Times = std::map<Symbol, std::int64_t>;

// What the loops of the nest are at a point of its equation, following the steps; nothing where the steps fuse
// loops whose length depends on the point.
std::optional<Times> loop_values(const ir::Equation& equation, const Nest& nest,
                                 const poly::Values& point) {
  struct Name {
    std::int64_t value = 0;
    std::optional<std::int64_t> length;
  };
  std::map<Symbol, Name> names;
  for (std::size_t i = 0; i < equation.indices.size(); ++i)
    names[equation.indices[i]] = {point.at(equation.indices[i]),
                                  poly::evaluate_index(equation.shape[i], point)};
  if (const ir::Fold* fold = equation.fold(); fold && !fold->scan)
    for (std::size_t i = 0; i < fold->vars.size(); ++i) {
      const auto lower = poly::evaluate_index(fold->lower[i], point);
      const auto upper = poly::evaluate_index(fold->upper[i], point);
      if (!lower || !upper) return std::nullopt;
      const bool fixed =
          ir::free_vars(fold->lower[i]).empty() && ir::free_vars(fold->upper[i]).empty();
      names[fold->vars[i]] = {point.at(fold->vars[i]) - *lower,
                              fixed ? std::optional(*upper - *lower) : std::nullopt};
    }
  for (const Step& step : nest.steps) {
    if (const auto* s = std::get_if<SplitStep>(&step)) {
      const auto [value, length] = names.at(s->parent);
      names[s->outer] = {
          value / s->factor,
          length ? std::optional((*length + s->factor - 1) / s->factor) : std::nullopt};
      names[s->inner] = {value % s->factor, s->factor};
    } else {
      const auto& f = std::get<FuseStep>(step);
      const auto [outer, rows] = names.at(f.outer);
      const auto [inner, columns] = names.at(f.inner);
      if (!rows || !columns) return std::nullopt;
      names[f.fused] = {outer * *columns + inner, *rows * *columns};
    }
  }
  Times out;
  for (const auto& [name, at] : names) out[name] = at.value;
  return out;
}

// The terms of an equation in their order, chain by chain: of one result, along a scan, or all of an update. `when`
// says when a term is run; nothing ends the search of these sizes.
struct Term {
  poly::Values point;
  std::vector<std::int64_t> when;
};

class Chains {
 public:
  using When = std::function<std::optional<std::vector<std::int64_t>>(const poly::Values&)>;
  using Shows = std::function<bool(const Term& before, const Term& after)>;

  Chains(const Case& where, const ir::Equation& equation)
      : equation_(equation), allowed_(where.algorithm, where.guards) {
    std::vector<Symbol> along = ordered_dimensions(equation);
    if (along.empty()) along = fold_variables(equation);
    for (Symbol dim : dimensions(equation))
      if (std::find(along.begin(), along.end(), dim) == along.end()) chain_.push_back(dim);
  }
  Chains(const Case& where, const ir::Equation& equation, const Nest& nest)
      : Chains(where, equation) {
    for (const Step& step : nest.steps)
      if (const auto* split = std::get_if<SplitStep>(&step)) try_around(split->factor);
  }
  void try_around(std::int64_t value) { allowed_.try_around(value); }

  // Two terms of a chain that show it: neighbours, since two neighbours are out of order if any two are; or the first
  // of the chain and another.
  enum class Pairs { Neighbours, WithFirst };
  bool find(const When& when, const Shows& shows, Pairs pairs) {
    sizes_ = allowed_.find([&](const poly::Values& at) {
      std::map<std::vector<std::int64_t>, Term> last;
      return poly::find_instance(equation_, at,
                                 [&](const poly::Values& point) {
                                   const auto time = when(point);
                                   if (!time) return false;
                                   std::vector<std::int64_t> chain;
                                   for (Symbol dim : chain_) chain.push_back(point.at(dim));
                                   const Term now{point, *time};
                                   const auto [it, first] = last.emplace(std::move(chain), now);
                                   if (!first && shows(it->second, now)) {
                                     before_ = it->second;
                                     after_ = now;
                                     return true;
                                   }
                                   if (pairs == Pairs::Neighbours) it->second = now;
                                   return false;
                                 })
          .has_value();
    });
    return sizes_.has_value();
  }

  std::string sizes() const { return allowed_.text(*sizes_); }
  const Term& before() const { return before_; }
  const Term& after() const { return after_; }
  // The terms of an update belong to no cell of their own: `count at n = 0`.
  std::string text(const Term& term) const {
    const ir::Fold* fold = equation_.fold();
    if (!fold || !fold->is_update()) return poly::instance_text(equation_, term.point);
    std::string out = std::string(equation_.name.text()) + " at";
    for (Symbol var : fold->vars)
      out += (var == fold->vars[0] ? " " : ", ") + std::string(var.text()) + " = " +
             std::to_string(term.point.at(var));
    return out;
  }

 private:
  const ir::Equation& equation_;
  poly::AllowedSizes allowed_;
  std::vector<Symbol> chain_;
  std::optional<poly::Values> sizes_;
  Term before_;
  Term after_;
};

// Two neighbours with another value of the loop.
Evidence apart(Chains& chains, const ir::Equation& equation, const Nest& nest, Symbol loop) {
  const auto when = [&](const poly::Values& point) -> std::optional<std::vector<std::int64_t>> {
    const auto values = loop_values(equation, nest, point);
    if (!values || !values->contains(loop)) return std::nullopt;
    return std::vector{values->at(loop)};
  };
  const auto differ = [](const Term& a, const Term& b) { return a.when != b.when; };
  if (!chains.find(when, differ, Chains::Pairs::WithFirst)) return {};
  const auto text = [&](const Term& term) {
    return std::string(loop.text()) + " = " + std::to_string(term.when[0]) + ": " +
           chains.text(term);
  };
  return {
      {"sizes", chains.sizes()}, {"one", text(chains.before())}, {"another", text(chains.after())}};
}

bool runs_later(const Term& before, const Term& after) { return before.when > after.when; }

Evidence reversed(const Chains& chains) {
  return {{"sizes", chains.sizes()},
          {"term", chains.text(chains.after())},
          {"would run before", chains.text(chains.before())}};
}

const ir::Equation* equation_of(const Case& where, const Nest& nest) {
  return nest.stage ? nullptr : where.algorithm.find_equation(nest.name);
}

}  // namespace

Evidence iterations_that_meet(const Case& where, const Nest& nest, Symbol loop) {
  const ir::Equation* equation = equation_of(where, nest);
  if (!equation || fold_variables(*equation).empty()) return {};
  Chains chains(where, *equation, nest);
  return apart(chains, *equation, nest, loop);
}

Evidence iterations_in_order(const Case& where, const Nest& nest, Symbol loop) {
  const ir::Equation* equation = equation_of(where, nest);
  if (!equation) return {};
  Chains chains(where, *equation, nest);
  return apart(chains, *equation, nest, loop);
}

Evidence terms_out_of_order(const Case& where, const Nest& nest) {
  const ir::Equation* equation = equation_of(where, nest);
  if (!equation) return {};
  Chains chains(where, *equation, nest);
  const auto when = [&](const poly::Values& point) -> std::optional<std::vector<std::int64_t>> {
    const auto values = loop_values(*equation, nest, point);
    if (!values) return std::nullopt;
    std::vector<std::int64_t> out;
    for (const Loop& loop : nest.loops) {
      const auto it = values->find(loop.name);
      if (it == values->end()) return std::nullopt;
      out.push_back(it->second);
    }
    return out;
  };
  return chains.find(when, runs_later, Chains::Pairs::Neighbours) ? reversed(chains) : Evidence{};
}

Evidence chunks_out_of_order(const Case& where, const ir::Equation& reduction, Symbol var,
                             std::int64_t factor) {
  const ir::Fold& fold = *reduction.fold();
  Chains chains(where, reduction);
  chains.try_around(factor);
  const auto when = [&](const poly::Values& point) -> std::optional<std::vector<std::int64_t>> {
    std::vector<std::int64_t> out = {0};
    for (std::size_t i = 0; i < fold.vars.size(); ++i) {
      const auto lower = poly::evaluate_index(fold.lower[i], point);
      if (!lower) return std::nullopt;
      const std::int64_t value = point.at(fold.vars[i]);
      if (fold.vars[i] == var) out[0] = (value - *lower) / factor;
      out.push_back(value);
    }
    return out;
  };
  return chains.find(when, runs_later, Chains::Pairs::Neighbours) ? reversed(chains) : Evidence{};
}

}  // namespace tilewright::tree
