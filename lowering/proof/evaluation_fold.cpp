// SPDX-License-Identifier: Apache-2.0
//
// Folds within a right side: a sum of folds of one body and of single terms of it, times one factor; a maximum
// likewise.
#include <algorithm>
#include <set>

#include "frontend/algebra/from_expr.h"
#include "frontend/algebra/term_parts.h"
#include "frontend/ir/walk.h"
#include "lowering/proof/evaluation.h"
#include "lowering/proof/names.h"
#include "lowering/proof/points.h"

namespace tilewright::proof {

using poly::BasicSet;
using poly::Set;

std::optional<Evaluation::Step> Evaluation::step(Term term, Term body,
                                                 std::span<const Term> unknowns) {
  const std::vector<Term> pattern = tools_.terms.monomials(body);
  const std::vector<Term> all = tools_.terms.monomials(term);
  // The monomial that says most of the unknowns.
  const auto says = [&](Term monomial) {
    return std::count_if(unknowns.begin(), unknowns.end(),
                         [&](Term unknown) { return tools_.terms.mentions(monomial, unknown); });
  };
  const auto best = std::max_element(pattern.begin(), pattern.end(),
                                     [&](Term a, Term b) { return says(a) < says(b); });
  if (best == pattern.end()) return {};
  // What is left when these are taken out; nothing where one is not there. No law is used.
  const auto without = [&](const std::vector<Term>& taken) -> std::optional<Term> {
    if (taken.empty()) return {};
    std::vector<Term> left = all;
    for (Term one : taken) {
      const auto at = std::find(left.begin(), left.end(), one);
      if (at == left.end()) return {};
      left.erase(at);
    }
    Term rest = tools_.terms.integer(0);
    for (Term one : left) rest = tools_.terms.add(rest, one);
    return rest;
  };
  for (Term monomial : all) {
    auto match = tools_.terms.match(*best, unknowns, monomial);
    if (!match) continue;
    // A condition that the body has in another form is no factor of it.
    if (!tools_.terms.is_constant(match->factor) && tools_.terms.is_condition(match->factor)) {
      const Term whole = tools_.terms.substitute(body, match->values);
      if (const auto rest = without(tools_.terms.monomials(whole)))
        return Step{tools_.terms.integer(1), std::move(match->values), *rest};
    }
    std::vector<Term> taken = {monomial};
    if (pattern.size() > 1)
      taken = tools_.terms.monomials(
          tools_.terms.multiply(match->factor, tools_.terms.substitute(body, match->values)));
    if (const auto rest = without(taken))
      return Step{match->factor, std::move(match->values), *rest};
  }
  return {};
}

std::optional<std::vector<AffineExpr>> Evaluation::point(const Step& step,
                                                         const std::vector<Term>& bound) {
  std::vector<AffineExpr> out;
  for (Term variable : bound) {
    const auto value = std::find_if(step.values.begin(), step.values.end(),
                                    [&](const auto& pair) { return pair.first == variable; });
    if (value == step.values.end()) return {};
    const auto affine = tools_.translator.affine(value->second);
    if (!affine) return {};
    out.push_back(*affine);
  }
  return out;
}

// The parts are of one factor and apart; then they are one fold.
Result<std::optional<FoldValue>> Evaluation::joined(const FoldValue& shape, std::vector<Part> parts,
                                                    const Set& where) {
  FoldValue out = shape;
  out.factor = Term();
  out.points = Set(lifted(where, shape.bound).space());
  for (Part& part : parts) {
    TILEWRIGHT_TRY(none, empty(part.points));
    if (none) continue;
    if (!out.factor) out.factor = part.factor;
    TILEWRIGHT_TRY(one_factor, same(out.factor, part.factor, where));
    if (!one_factor) return std::optional<FoldValue>();
    if (!out.is_maximum) {
      TILEWRIGHT_TRY(shared,
                     poly::intersect(tools_.polyhedra, out.points, part.points, tools_.limits));
      TILEWRIGHT_TRY(apart, empty(shared));
      if (!apart) return std::optional<FoldValue>();
    }
    TILEWRIGHT_TRY(all, poly::unite(tools_.polyhedra, out.points, part.points, tools_.limits));
    out.points = std::move(all);
  }
  if (!out.factor) out.factor = shape.factor;
  TILEWRIGHT_TRY(few, compact(tools_.polyhedra, out.points, lifted(where, shape.bound),
                              domain_of(shape).value_or(BasicSet()), tools_.limits));
  out.points = std::move(few);
  return std::optional(std::move(out));
}

// What holds of every point at which the body is not the identity, whatever the data are.
BasicSet Evaluation::implied(const FoldValue& shape) {
  std::vector<std::pair<Term, Term>> values;
  for (std::size_t i = 0; i < shape.indices.size() && i < shape.target->indices.size(); ++i)
    values.emplace_back(shape.target->indices[i], shape.indices[i]);
  algebra::Conjunction range = shape.target->implied;
  for (algebra::Constraint& one : range) one.value = tools_.terms.substitute(one.value, values);
  return tools_.translator.basic_set(range).value_or(BasicSet());
}

bool Evaluation::term_parts(Term term, const Set& where, const FoldValue& shape,
                            std::vector<Part>& parts) {
  if (shape.is_maximum)
    if (const auto operands = algebra::maximum_operands(tools_.terms, term); operands.size() > 1)
      return std::all_of(operands.begin(), operands.end(),
                         [&](Term operand) { return term_parts(operand, where, shape, parts); });
  if (!shape.target->is_stated) term = tools_.algorithm.expand(term);
  if (ir::is_integer(shape.target->type) && !shape.is_maximum)
    term = tools_.terms.unwrapped(shape.target->type, term).value_or(term);
  while (!is_identity(term, shape.is_maximum)) {
    auto found = step(term, shape.body, shape.bound);
    if (!found) return false;
    const auto at_point = point(*found, shape.bound);
    if (!at_point) return false;
    if (shape.is_maximum) {
      const bool whole =
          found->factor == tools_.terms.integer(1) && found->rest == tools_.terms.integer(0);
      if (!whole) return false;
      found->factor = tools_.terms.integer(0);
      found->rest = tools_.terms.infinity(true);
    }
    Set points = lifted(where, shape.bound);
    BasicSet at = implied(shape);
    for (std::size_t i = 0; i < shape.bound.size(); ++i)
      at.equal(variable(tools_.terms.print(shape.bound[i])), (*at_point)[i]);
    parts.push_back({found->factor, Set(points.space(), both(points.pieces(), {at}))});
    term = found->rest;
  }
  return true;
}

// A right side that is linear in its reads that are folds.
Result<bool> Evaluation::sum_parts(Expr expr, const Situation& situation, const FoldValue& shape,
                                   std::vector<Part>& parts) {
  std::vector<const FoldValue*> folds;
  Situation with_names = situation;
  for (auto& [node, read] : with_names.reads) {
    if (!read.fold) continue;
    const bool same =
        !read.fold->is_maximum && read.fold->body == shape.body && read.fold->bound == shape.bound;
    if (!same) {
      TILEWRIGHT_TRY(written, term(read));
      read.value = written;
      continue;
    }
    folds.push_back(&*situation.reads.at(node).fold);
    read.value =
        tools_.terms.value(-static_cast<std::int64_t>(folds.size()), {}, shape.target->type);
  }
  const Term stated = plain(expr, with_names);
  const Term whole = shape.target->is_stated ? stated : tools_.algorithm.expand(stated);
  std::vector<Term> coefficients(folds.size(), tools_.terms.integer(0));
  const auto rest = take_linear(whole, shape.target->type, coefficients);
  if (!rest) return false;
  // What was asked of the names is asked of the folds; one without points is 0.
  for (algebra::Obligation one : tools_.terms.take_obligations()) {
    std::optional<Failure> failure;
    std::set<std::int64_t> used;
    const auto written = [&](std::int64_t id, std::span<const Term>) -> Term {
      if (id >= 0) return {};
      used.insert(id);
      Piece piece;
      piece.where = situation.where;
      piece.fold = *folds[static_cast<std::size_t>(-id - 1)];
      auto value = term(piece);
      if (!value.ok()) failure = Failure{value.diagnostics()};
      return value.ok() ? *value : Term();
    };
    one.term = tools_.terms.inline_values(one.term, written);
    if (one.unless_empty) one.unless_empty = tools_.terms.inline_values(one.unless_empty, written);
    if (one.when) one.when = tools_.terms.inline_values(one.when, written);
    if (failure) return *failure;
    Set where = situation.where;
    if (used.size() == 1) {
      const FoldValue& fold = *folds[static_cast<std::size_t>(-*used.begin() - 1)];
      TILEWRIGHT_TRY(inside, poly::intersect(tools_.polyhedra, fold.points,
                                             lifted(where, fold.bound), tools_.limits));
      TILEWRIGHT_TRY(some, somewhere(inside, fold.bound));
      where = std::move(some);
    }
    tools_.conditions.push_back({std::move(where), std::move(one)});
  }
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const Set where = lifted(situation.where, shape.bound);
    TILEWRIGHT_TRY(points,
                   poly::intersect(tools_.polyhedra, folds[i]->points, where, tools_.limits));
    // Only where there are points is the factor of any matter.
    const Term factor = tools_.terms.multiply(coefficients[i], folds[i]->factor);
    TILEWRIGHT_CHECK_OK(note_somewhere(points, shape.bound));
    parts.push_back({factor, std::move(points)});
  }
  return term_parts(*rest, situation.where, shape, parts);
}

// Term by term, so that no law of cancelling is used.
std::optional<Term> Evaluation::take_linear(Term whole, ir::ScalarType type,
                                            std::vector<Term>& coefficients) {
  if (ir::is_integer(type)) whole = tools_.terms.unwrapped(type, whole).value_or(whole);
  Term rest = tools_.terms.integer(0);
  for (Term monomial : tools_.terms.monomials(whole)) {
    std::set<std::int64_t> seen;
    const Term one =
        tools_.terms.inline_values(monomial, [&](std::int64_t id, std::span<const Term>) -> Term {
          if (id >= 0) return {};
          seen.insert(id);
          return tools_.terms.integer(1);
        });
    if (seen.empty()) {
      rest = tools_.terms.add(rest, monomial);
      continue;
    }
    const auto number = static_cast<std::size_t>(-*seen.begin() - 1);
    if (seen.size() > 1 || number >= coefficients.size()) return {};
    const Term name = tools_.terms.value(*seen.begin(), {}, type);
    if (!(tools_.terms.multiply(one, name) == monomial)) return {};
    coefficients[number] = tools_.terms.add(coefficients[number], one);
  }
  return rest;
}

Result<bool> Evaluation::maximum_parts(Expr expr, const Situation& situation,
                                       const FoldValue& shape, std::vector<Part>& parts) {
  if (const auto* op = expr.as<ir::Op>(); op != nullptr && op->op == ir::OpCode::Max) {
    for (Expr arg : op->args) {
      TILEWRIGHT_TRY(well, maximum_parts(arg, situation, shape, parts));
      if (!well) return false;
    }
    return true;
  }
  if (const auto found = situation.reads.find(expr.node());
      found != situation.reads.end() && found->second.fold) {
    const FoldValue& fold = *found->second.fold;
    if (!fold.is_maximum || !(fold.body == shape.body) || !(fold.bound == shape.bound))
      return false;
    const Set where = lifted(situation.where, shape.bound);
    TILEWRIGHT_TRY(points, poly::intersect(tools_.polyhedra, fold.points, where, tools_.limits));
    parts.push_back({fold.factor, std::move(points)});
    return true;
  }
  Situation written = situation;
  std::set<const void*> used;
  ir::walk(expr, [&](Expr each) { used.insert(each.node()); });
  for (auto& [node, read] : written.reads) {
    if (!read.fold || !used.contains(node)) continue;
    TILEWRIGHT_TRY(value, term(read));
    read.value = value;
  }
  return term_parts(plain(expr, written), situation.where, shape, parts);
}

Result<std::optional<FoldValue>> Evaluation::as_fold(Expr expr, const Situation& situation,
                                                     const FoldValue& shape) {
  std::vector<Part> parts;
  TILEWRIGHT_TRY(well, shape.is_maximum ? maximum_parts(expr, situation, shape, parts)
                                        : sum_parts(expr, situation, shape, parts));
  if (!well) return std::optional<FoldValue>();
  return joined(shape, std::move(parts), situation.where);
}

Result<std::optional<FoldValue>> Evaluation::as_fold(Term term, const Set& where,
                                                     const FoldValue& shape) {
  std::vector<Part> parts;
  if (!term_parts(term, where, shape, parts)) return std::optional<FoldValue>();
  return joined(shape, std::move(parts), where);
}

// Disjoint conjunctions, without what `where` says already.
Result<Term> Evaluation::term(const Piece& piece) {
  if (piece.value) return piece.value;
  if (piece.steps) return term_of_steps(piece);
  const FoldValue& fold = *piece.fold;
  algebra::Domain domain;
  domain.variables = fold.bound;
  const Set around = lifted(piece.where, fold.bound);
  TILEWRIGHT_TRY(inside, poly::intersect(tools_.polyhedra, fold.points, around, tools_.limits));
  TILEWRIGHT_TRY(whole, poly::simplify(tools_.polyhedra, inside, tools_.limits));
  Set done(whole.space());
  for (const BasicSet& one : whole.pieces()) {
    TILEWRIGHT_TRY(fresh,
                   poly::subtract(tools_.polyhedra, Set(whole.space(), one), done, tools_.limits));
    TILEWRIGHT_TRY(short_form, poly::gist(tools_.polyhedra, fresh, around, tools_.limits));
    for (const BasicSet& part : short_form.pieces())
      domain.parts.push_back(tools_.translator.conjunction(part));
    done = Set(done.space(), [&] {
      std::vector<BasicSet> all = done.pieces();
      all.push_back(one);
      return all;
    }());
  }
  Term out = fold.is_maximum
                 ? tools_.terms.add(fold.factor, tools_.terms.maximum_over(domain, fold.body))
                 : tools_.terms.multiply(fold.factor, tools_.terms.sum(domain, fold.body));
  if (ir::is_integer(fold.target->type) && !fold.is_maximum)
    out = tools_.terms.wrap(fold.target->type, out);
  TILEWRIGHT_CHECK_OK(note_somewhere(inside, fold.bound));
  return out;
}

Set Evaluation::with_data(const Set& where, const DataNames& data) {
  if (data.names.empty()) return where;
  poly::Space space = where.space();
  for (const auto& [name, term] : data.names) space.dims.push_back(name);
  return Set(std::move(space),
             both(where.pieces(), {tools_.algorithm.declared(tools_.translator, data)}));
}

Result<bool> Evaluation::same_sets(const algebra::SameSets& sets, const Set& where) {
  Set space = lifted(where, sets.variables);
  // For all values of the data in it that the algorithm's declarations allow.
  DataNames data;
  const auto constraints =
      [&](const std::vector<algebra::Conjunction>& parts) -> std::optional<std::vector<BasicSet>> {
    std::vector<BasicSet> out;
    for (const algebra::Conjunction& part : parts) {
      const auto basic = tools_.translator.basic_set(part, &data);
      if (!basic) return {};
      out.push_back(*basic);
    }
    return out;
  };
  const auto left_parts = constraints(sets.left);
  const auto right_parts = constraints(sets.right);
  if (!left_parts || !right_parts) return false;
  space = with_data(space, data);
  const auto side = [&](const std::vector<BasicSet>& parts) {
    std::vector<Set> out;
    for (const BasicSet& part : parts)
      out.push_back(Set(space.space(), both(space.pieces(), {part})));
    return out;
  };
  const std::vector<Set> left = side(*left_parts);
  const std::vector<Set> right = side(*right_parts);
  Set all[2] = {Set(space.space()), Set(space.space())};
  for (int which = 0; which < 2; ++which) {
    for (const Set& part : which == 0 ? left : right) {
      if (sets.counted) {
        TILEWRIGHT_TRY(shared, poly::intersect(tools_.polyhedra, all[which], part, tools_.limits));
        TILEWRIGHT_TRY(apart, empty(shared));
        if (!apart) return false;
      }
      TILEWRIGHT_TRY(more, poly::unite(tools_.polyhedra, all[which], part, tools_.limits));
      all[which] = std::move(more);
    }
  }
  return poly::is_equal(tools_.polyhedra, all[0], all[1], tools_.limits);
}

// Variables that an equality gives are written out.
void Evaluation::solve(const Set& where, Goal& goal) {
  std::vector<AffineExpr> equalities = where.pieces()[0].equalities;
  for (auto dim = where.space().dims.rbegin(); dim != where.space().dims.rend(); ++dim) {
    for (AffineExpr& equality : equalities) {
      const std::int64_t coefficient = equality.coefficient(*dim);
      const bool alone = std::none_of(
          equality.floors().begin(), equality.floors().end(),
          [&](const poly::FloorTerm& floor) { return floor.numerator.mentions(*dim); });
      if (!alone || (coefficient != 1 && coefficient != -1)) continue;
      const AffineExpr value = (AffineExpr::variable(*dim) * coefficient - equality) * coefficient;
      const std::pair<Term, Term> by[] = {
          {tools_.translator.variable(*dim), tools_.translator.term(value)}};
      goal.left = tools_.terms.substitute(goal.left, by);
      goal.right = tools_.terms.substitute(goal.right, by);
      for (AffineExpr& other : equalities) other = other.substituted(*dim, value);
      break;
    }
  }
}

Result<Term> Evaluation::decided(Term term, const Set& where) {
  std::optional<Failure> failure;
  const auto& dims = where.space().dims;
  const auto& params = where.space().params;
  const auto ask = [&](const Set& points, const BasicSet& holds, bool all) {
    auto answer =
        all ? poly::is_subset(tools_.polyhedra, points, Set(points.space(), holds), tools_.limits)
            : empty(Set(points.space(), both(points.pieces(), {holds})));
    if (!answer.ok()) failure = Failure{answer.diagnostics()};
    return answer.ok() && *answer;
  };
  const Term out =
      tools_.terms.decide(term, [&](const algebra::Constraint& constraint) -> std::optional<bool> {
        DataNames data;
        const auto value = tools_.translator.affine(constraint.value, &data);
        if (!value) return {};
        const Set points = with_data(where, data);
        std::vector<std::string> used;
        value->collect_names(used);
        std::erase_if(used, [&](const std::string& name) {
          return std::any_of(data.names.begin(), data.names.end(),
                             [&](const auto& each) { return each.first == name; });
        });
        for (const std::string& name : used)
          if (std::find(dims.begin(), dims.end(), name) == dims.end() &&
              std::find(params.begin(), params.end(), name) == params.end())
            return {};
        BasicSet holds;
        (constraint.equality ? holds.equalities : holds.inequalities).push_back(*value);
        if (ask(points, holds, true)) return true;
        if (ask(points, holds, false)) return false;
        return {};
      });
  if (failure) return *failure;
  return out;
}

Result<GoalState> Evaluation::prove(const Goal& goal) {
  // Piece by piece: the equalities of each make indices the same that look different.
  if (goal.where.pieces().size() > 1) {
    for (const BasicSet& piece : goal.where.pieces()) {
      Goal part = goal;
      part.where = Set(goal.where.space(), piece);
      TILEWRIGHT_TRY(state, prove(part));
      if (state != GoalState::Holds) return state;
    }
    return GoalState::Holds;
  }
  Goal solved = goal;
  if (!goal.where.pieces().empty()) solve(goal.where, solved);
  TILEWRIGHT_TRY(left, decided(solved.left, goal.where));
  TILEWRIGHT_TRY(right, decided(solved.right, goal.where));
  solved.left = left;
  solved.right = right;
  TILEWRIGHT_TRY(as_stated, prove_as_is(solved));
  if (as_stated == GoalState::Holds) return as_stated;
  solved.left = tools_.algorithm.expand(solved.left);
  solved.right = tools_.algorithm.expand(solved.right);
  TILEWRIGHT_TRY(expanded, prove_as_is(solved));
  if (expanded == GoalState::Holds) return expanded;
  // A call of constant size computes sums term by term.
  constexpr std::int64_t kMostTerms = 64;
  solved.left = algebra::written_out(tools_.terms, solved.left, kMostTerms);
  solved.right = algebra::written_out(tools_.terms, solved.right, kMostTerms);
  return prove_as_is(solved);
}

Result<GoalState> Evaluation::prove_as_is(const Goal& goal) {
  const std::size_t mark = tools_.conditions.size();
  const algebra::Equality equality = tools_.terms.equal(goal.left, goal.right);
  bool holds = equality.verdict != algebra::Verdict::NotShown;
  for (const algebra::SameSets& sets : equality.sets) {
    if (!holds) break;
    TILEWRIGHT_TRY(same, same_sets(sets, goal.where));
    holds = same;
  }
  if (holds)
    tools_.note(goal.where);
  else
    tools_.forget(mark);
  return holds ? GoalState::Holds : GoalState::NotShown;
}

}  // namespace tilewright::proof
