// SPDX-License-Identifier: Apache-2.0
//
// Right sides that are steps of a reduction, scan, recurrence or update: one more point after those so far, or two sets
// of points combined. What was before stands as symbols, one for each field, so that a step is one if it is the
// algorithm's own for all values. Points keep their order unless the reduction commutes.
#include <algorithm>

#include "lowering/proof/evaluation.h"
#include "lowering/proof/names.h"
#include "lowering/proof/points.h"

namespace tilewright::proof {

using poly::BasicSet;
using poly::Set;

namespace {

constexpr std::int64_t kSymbols = std::int64_t{-1} << 41;
constexpr std::int64_t kMaxFields = 16;
constexpr int kMaxCases = 8;  // conditions that are split

// Twice the same point changes nothing.
bool is_idempotent(ir::Monoid kind) {
  switch (kind) {
    case ir::Monoid::Min:
    case ir::Monoid::Max:
    case ir::Monoid::And:
    case ir::Monoid::Or:
    case ir::Monoid::ArgMin:
    case ir::Monoid::ArgMax: return true;
    default: return false;
  }
}

}  // namespace

// The states that a right side reads, as symbols.
struct Evaluation::States {
  struct State {
    std::vector<Term> indices;
    Set points{poly::Space{}};
    std::vector<Term> symbols;
    Term last;
  };
  std::vector<State> list;
  Situation with_symbols;
};

// What is asked of one right side.
struct Evaluation::StepQuestion {
  const StepTarget& target;
  const StepTerms terms;
  const Set& where;
  Term right;
  std::vector<algebra::Obligation> needs;
  States states;
  std::vector<std::size_t> used;
};

Result<Evaluation::States> Evaluation::states_of(const Situation& situation,
                                                 const StepTarget& target, const StepInner& inner) {
  States out{{}, situation};
  const StepTerms steps(tools_.terms, target);
  const Set space = lifted(situation.where, target.bound);
  for (auto& [node, read] : out.with_symbols.reads) {
    std::optional<StepValue> value = read.steps;
    if (value && value->target != &target) value.reset();
    if (const auto field = inner.fields.find(node);
        !value && read.value && field != inner.fields.end()) {
      // What the steps start from.
      StepValue start;
      start.target = &target;
      start.field = field->second;
      start.points = Set(space.space());
      const std::vector<Term>& indices = inner.indices;
      if (indices.size() == target.indices.size() &&
          read.value == steps.start(field->second, indices)) {
        start.indices = indices;
        value = start;
      }
      tools_.forget();
    }
    if (!value) {
      if (read.value) continue;
      TILEWRIGHT_TRY(written, term(read));
      read.value = written;
      continue;
    }
    TILEWRIGHT_TRY(points, poly::intersect(tools_.polyhedra, value->points, space, tools_.limits));
    std::size_t number = 0;
    for (; number < out.list.size(); ++number) {
      if (out.list[number].indices != value->indices) continue;
      TILEWRIGHT_TRY(
          same, poly::is_equal(tools_.polyhedra, out.list[number].points, points, tools_.limits));
      if (same) break;
    }
    if (number == out.list.size()) {
      States::State state;
      state.indices = value->indices;
      state.points = std::move(points);
      state.last = value->last;
      for (std::size_t field = 0; field < target.num_fields(); ++field)
        state.symbols.push_back(
            tools_.terms.value(kSymbols - static_cast<std::int64_t>(number) * kMaxFields -
                                   static_cast<std::int64_t>(field),
                               {}, target.fold->body[field].type()));
      out.list.push_back(std::move(state));
    }
    read.value = out.list[number].symbols[value->field];
    read.steps.reset();
  }
  // What was computed of them on the way.
  for (auto& [node, read] : out.with_symbols.reads) {
    if (!read.value || !tools_.terms.has_fold(read.value)) continue;
    for (const States::State& state : out.list)
      for (std::size_t field = 0; field < state.symbols.size(); ++field) {
        Piece piece;
        piece.where = situation.where;
        piece.steps.emplace();
        piece.steps->target = &target;
        piece.steps->field = field;
        piece.steps->indices = state.indices;
        piece.steps->points = state.points;
        TILEWRIGHT_TRY(name, term_of_steps(piece));
        read.value = tools_.terms.exchanged(read.value, name, state.symbols[field]);
      }
  }
  return out;
}

// Equal, if need be in each case of the conditions.
bool Evaluation::equal_in_cases(Term a, Term b, Term conditions, int depth) {
  if (a == b) return true;
  if (depth > 0)
    if (const auto condition = tools_.terms.some_condition(conditions)) {
      for (const bool holds : {true, false})
        if (!equal_in_cases(tools_.terms.assume(a, *condition, holds),
                            tools_.terms.assume(b, *condition, holds),
                            tools_.terms.assume(conditions, *condition, holds), depth - 1))
          return false;
      return true;
    }
  const std::size_t before = tools_.terms.num_obligations();
  const bool same = tools_.terms.equal(a, b).verdict == algebra::Verdict::Equal;
  if (!same) tools_.terms.drop_obligations(before);
  return same;
}

// The right side is the candidate. What it needs to have a value, the algorithm's own step needs too.
Result<bool> Evaluation::is_candidate(const StepQuestion& question, Term candidate,
                                      Term conditions) {
  const std::vector<algebra::Obligation> granted = tools_.terms.take_obligations();
  if (!equal_in_cases(question.right, candidate, conditions, kMaxCases)) {
    tools_.forget();
    return false;
  }
  tools_.note(question.where);
  const auto same = [](const algebra::Obligation& a, const algebra::Obligation& b) {
    return a.condition == b.condition && a.term == b.term && a.unless_empty == b.unless_empty;
  };
  for (const algebra::Obligation& need : question.needs)
    if (std::none_of(granted.begin(), granted.end(),
                     [&](const algebra::Obligation& one) { return same(one, need); }))
      tools_.conditions.push_back({question.where, need});
  return true;
}

// No point of `a` is behind one of `b`, nor the same.
Result<bool> Evaluation::all_before(const Set& a, const Set& b, const StepTarget& target) {
  std::vector<std::string> bound;
  std::vector<AffineExpr> second;
  poly::Space space = a.space();
  for (Term variable : target.bound) {
    bound.push_back(tools_.terms.print(variable));
    space.dims.push_back(bound.back() + "'b");
    second.push_back(AffineExpr::variable(space.dims.back()));
  }
  std::vector<BasicSet> others;
  for (const BasicSet& piece : b.pieces()) others.push_back(replaced(piece, bound, second));
  std::vector<BasicSet> behind;
  BasicSet same;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    BasicSet more = same;
    behind.push_back(more.less(second[i], AffineExpr::variable(bound[i])));
    same.equal(second[i], AffineExpr::variable(bound[i]));
  }
  behind.push_back(same);
  return empty(Set(space, both(both(a.pieces(), others), behind)));
}

Result<bool> Evaluation::may_follow(const Set& a, const Set& b, const StepTarget& target) {
  if (!target.commutes()) return all_before(a, b, target);
  if (is_idempotent(target.reduction.kind)) return true;
  TILEWRIGHT_TRY(shared, poly::intersect(tools_.polyhedra, a, b, tools_.limits));
  return empty(shared);
}

// Unknowns of the target from a term that stands in the right side.
std::optional<StepPoint> Evaluation::step_point(const StepTarget& target,
                                                const std::vector<Term>& found) {
  const StepTerms steps(tools_.terms, target);
  std::vector<Term> unknowns = target.indices;
  unknowns.insert(unknowns.end(), target.bound.begin(), target.bound.end());
  std::vector<std::pair<Term, Term>> values;
  const auto known = [&](Term unknown) -> Term {
    for (const auto& [name, value] : values)
      if (name == unknown) return value;
    return {};
  };
  for (Term pattern : steps.patterns()) {
    std::vector<Term> wanted;
    for (Term unknown : unknowns)
      if (tools_.terms.mentions(pattern, unknown)) wanted.push_back(unknown);
    for (Term term : found) {
      const auto match = tools_.terms.match(pattern, wanted, term);
      if (!match || !(match->factor == tools_.terms.integer(1))) continue;
      const bool agrees =
          std::all_of(match->values.begin(), match->values.end(), [&](const auto& pair) {
            const Term before = known(pair.first);
            return !before || before == pair.second;
          });
      if (!agrees) continue;
      for (const auto& pair : match->values)
        if (!known(pair.first)) values.push_back(pair);
      break;
    }
  }
  tools_.forget();
  StepPoint out;
  for (Term variable : target.bound) {
    const Term value = known(variable);
    const auto affine = value ? tools_.translator.affine(value) : std::nullopt;
    if (!affine) return {};
    out.point.push_back(value);
    out.affine.push_back(*affine);
  }
  for (Term index : target.indices) out.indices.push_back(known(index));
  return out;
}

// All cells and terms of one monomial in what a right side reads.
std::vector<Term> Evaluation::read_terms(const Situation& situation) {
  std::vector<Term> out;
  for (const auto& [node, read] : situation.reads) {
    if (!read.value) continue;
    if (tools_.terms.monomials(read.value).size() == 1) out.push_back(read.value);
    for (Term cell : tools_.terms.cells(read.value)) out.push_back(cell);
  }
  return out;
}

Set Evaluation::only_point(const Set& where, const StepTarget& target, const StepPoint& at) {
  const Set around = lifted(where, target.bound);
  BasicSet point;
  for (std::size_t i = 0; i < target.bound.size(); ++i)
    point.equal(variable(tools_.terms.print(target.bound[i])), at.affine[i]);
  // Beyond what the data allow, the condition of the step does not hold.
  std::vector<std::pair<Term, Term>> values;
  for (std::size_t i = 0; i < at.indices.size(); ++i)
    if (at.indices[i]) values.emplace_back(target.indices[i], at.indices[i]);
  algebra::Conjunction implied = target.implied;
  for (algebra::Constraint& one : implied) one.value = tools_.terms.substitute(one.value, values);
  if (const auto range = tools_.translator.basic_set(implied)) add(point, *range);
  return Set(around.space(), both(around.pieces(), {point}));
}

Result<std::optional<StepValue>> Evaluation::kept_steps(StepQuestion& question) {
  for (std::size_t which : question.used) {
    const States::State& state = question.states.list[which];
    for (std::size_t field = 0; field < state.symbols.size(); ++field) {
      if (!(question.right == state.symbols[field])) continue;
      StepValue out;
      out.target = &question.target;
      out.field = field;
      out.indices = state.indices;
      out.last = state.last;
      out.points = state.points;
      return std::optional(std::move(out));
    }
  }
  return std::optional<StepValue>();
}

Result<std::optional<StepValue>> Evaluation::merged_steps(StepQuestion& question) {
  const StepTarget& target = question.target;
  if (!target.merges() || question.used.size() != 2) return std::optional<StepValue>();
  for (const bool turned : {false, true}) {
    const States::State& a = question.states.list[question.used[turned ? 1 : 0]];
    const States::State& b = question.states.list[question.used[turned ? 0 : 1]];
    if (a.indices != b.indices) return std::optional<StepValue>();
    for (std::size_t field = 0; field < target.num_fields(); ++field) {
      const Term candidate = question.terms.merged(field, a.symbols, b.symbols);
      TILEWRIGHT_TRY(same, is_candidate(question, candidate, tools_.terms.integer(1)));
      if (!same) continue;
      TILEWRIGHT_TRY(in_order, may_follow(a.points, b.points, target));
      if (!in_order) return std::optional<StepValue>();
      // Of two without points only the identity is known.
      std::vector<Term> identity;
      for (std::size_t i = 0; i < target.num_fields(); ++i)
        identity.push_back(question.terms.start(i, {}));
      tools_.forget();
      const Term twice = question.terms.merged(field, identity, identity);
      const bool total = twice == identity[field] && tools_.terms.take_obligations().empty();
      tools_.forget();
      TILEWRIGHT_TRY(points, poly::unite(tools_.polyhedra, a.points, b.points, tools_.limits));
      if (!total) {
        TILEWRIGHT_TRY(some, somewhere(points, target.bound));
        TILEWRIGHT_TRY(always,
                       poly::is_subset(tools_.polyhedra, question.where, some, tools_.limits));
        if (!always) return std::optional<StepValue>();
      }
      StepValue out;
      out.target = &target;
      out.field = field;
      out.indices = a.indices;
      out.last = b.last;
      out.points = std::move(points);
      return std::optional(std::move(out));
    }
  }
  return std::optional<StepValue>();
}

Result<std::optional<StepValue>> Evaluation::appended_steps(StepQuestion& question,
                                                            const StepPoint& at) {
  const StepTarget& target = question.target;
  if (question.used.size() != 1) return std::optional<StepValue>();
  const States::State& state = question.states.list[question.used[0]];
  for (std::size_t i = 0; i < at.indices.size(); ++i)
    if (at.indices[i] && !(at.indices[i] == state.indices[i])) return std::optional<StepValue>();
  const Set point = only_point(question.where, target, at);
  const Term holds = question.terms.holds(state.indices, at.point);
  tools_.forget();
  for (std::size_t field = 0; field < target.num_fields(); ++field) {
    for (const bool in_front : {false, true}) {
      if (in_front && (!target.merges() || target.commutes())) continue;
      std::vector<Term> single;
      for (std::size_t i = 0; in_front && i < target.num_fields(); ++i)
        single.push_back(question.terms.body(i, state.indices, at.point));
      const Term next = in_front
                            ? question.terms.merged(field, single, state.symbols)
                            : question.terms.next(field, state.symbols, state.indices, at.point);
      const Term candidate = tools_.terms.select(holds, next, state.symbols[field]);
      TILEWRIGHT_TRY(same, is_candidate(question, candidate, holds));
      if (!same) continue;
      TILEWRIGHT_TRY(in_order, in_front ? may_follow(point, state.points, target)
                                        : may_follow(state.points, point, target));
      if (!in_order) continue;
      StepValue out;
      out.target = &target;
      out.field = field;
      out.indices = state.indices;
      if (target.scanned >= 0) out.last = at.point[0];
      TILEWRIGHT_TRY(points, poly::unite(tools_.polyhedra, state.points, point, tools_.limits));
      out.points = std::move(points);
      return std::optional(std::move(out));
    }
  }
  return std::optional<StepValue>();
}

Result<std::optional<StepValue>> Evaluation::as_steps(Expr expr, const Situation& situation,
                                                      const StepTarget& target,
                                                      const StepInner& inner,
                                                      const StepPoint* guess) {
  tools_.note(situation.where);
  TILEWRIGHT_TRY(states, states_of(situation, target, inner));
  if (states.list.empty()) return std::optional<StepValue>();
  StepQuestion question{
      target, StepTerms(tools_.terms, target), situation.where, {}, {}, std::move(states), {}};
  tools_.forget();
  question.right = plain(expr, question.states.with_symbols);
  question.needs = tools_.terms.take_obligations();
  for (std::size_t which = 0; which < question.states.list.size(); ++which) {
    const auto& symbols = question.states.list[which].symbols;
    if (std::any_of(symbols.begin(), symbols.end(),
                    [&](Term one) { return tools_.terms.has_value(question.right, one); }))
      question.used.push_back(which);
  }
  TILEWRIGHT_TRY(kept, kept_steps(question));
  if (kept) return kept;
  TILEWRIGHT_TRY(merged, merged_steps(question));
  if (merged) return merged;
  if (guess != nullptr) {
    TILEWRIGHT_TRY(appended, appended_steps(question, *guess));
    if (appended) return appended;
  }
  if (const auto at = step_point(target, read_terms(question.states.with_symbols)))
    return appended_steps(question, *at);
  return std::optional<StepValue>();
}

// The steps of all points of the domain are the cell.
Result<Ok> Evaluation::recognise_steps(Piece& piece) {
  const StepValue& steps = *piece.steps;
  const StepTarget& target = *steps.target;
  std::vector<std::pair<Term, Term>> values;
  for (std::size_t i = 0; i < steps.indices.size(); ++i)
    values.emplace_back(target.indices[i], steps.indices[i]);
  algebra::Conjunction range;
  std::vector<Term> cell = steps.indices;
  if (target.scanned >= 0) {
    if (!steps.last) return Ok{};
    range.push_back({target.bound[0], false});
    range.push_back({tools_.terms.subtract(steps.last, target.bound[0]), false});
    cell.insert(cell.begin() + target.scanned, steps.last);
  } else {
    range = target.domain[0];
  }
  for (algebra::Constraint& one : range) one.value = tools_.terms.substitute(one.value, values);
  const auto domain = tools_.translator.basic_set(range);
  if (!domain) return Ok{};
  const Set around = lifted(piece.where, target.bound);
  const Set whole(around.space(), both(around.pieces(), {*domain}));
  TILEWRIGHT_TRY(held, poly::intersect(tools_.polyhedra, steps.points, around, tools_.limits));
  TILEWRIGHT_TRY(all, poly::is_equal(tools_.polyhedra, held, whole, tools_.limits));
  if (!all) return Ok{};
  piece.value = tools_.algorithm.cell(target.tensors[steps.field], cell);
  piece.steps.reset();
  return Ok{};
}

// Steps of the same cell, and what they start from.
Result<bool> Evaluation::united_steps(Piece& into, Piece& more) {
  if (into.steps && more.steps) {
    const bool same =
        into.steps->target == more.steps->target && into.steps->field == more.steps->field &&
        into.steps->indices == more.steps->indices && (into.steps->last == more.steps->last);
    if (!same) return false;
    TILEWRIGHT_TRY(points, poly::unite(tools_.polyhedra, into.steps->points, more.steps->points,
                                       tools_.limits));
    into.steps->points = std::move(points);
    return true;
  }
  Piece& steps = into.steps ? into : more;
  const Piece& other = into.steps ? more : into;
  if (!other.value || steps.steps->target->scanned >= 0) return false;
  const StepTerms terms(tools_.terms, *steps.steps->target);
  const bool starts = other.value == terms.start(steps.steps->field, steps.steps->indices);
  tools_.forget();
  if (!starts) return false;
  if (!into.steps) {
    into.steps = std::move(more.steps);
    into.value = Term();
  }
  return true;
}

// A name for some of the points: equal for equal ones.
Result<Term> Evaluation::term_of_steps(const Piece& piece) {
  const StepValue& steps = *piece.steps;
  const StepTarget& target = *steps.target;
  algebra::Domain domain;
  domain.variables = target.bound;
  const Set around = lifted(piece.where, target.bound);
  TILEWRIGHT_TRY(inside, poly::intersect(tools_.polyhedra, steps.points, around, tools_.limits));
  TILEWRIGHT_TRY(short_form, poly::gist(tools_.polyhedra, inside, around, tools_.limits));
  algebra::Conjunction none = {{tools_.terms.integer(-1), false}};
  for (const BasicSet& part : short_form.pieces())
    domain.parts.push_back(tools_.translator.conjunction(part));
  if (domain.parts.empty()) domain.parts.push_back(none);
  std::vector<Term> bodies = steps.indices;
  bodies.insert(bodies.end(), target.bound.begin(), target.bound.end());
  return tools_.terms.fold("part of " + target.name, static_cast<int>(steps.field), domain, bodies,
                           target.fold->body[steps.field].type());
}

}  // namespace tilewright::proof
