// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/evaluation.h"

#include <algorithm>

#include "frontend/algebra/from_expr.h"
#include "frontend/ir/walk.h"
#include "lowering/proof/names.h"
#include "lowering/proof/points.h"
#include "schedules/polyhedra/index.h"

namespace tilewright::proof {

using poly::BasicSet;
using poly::Set;

Result<bool> Evaluation::empty(const Set& set) const {
  return poly::is_empty(tools_.polyhedra, set, tools_.limits);
}

Set Evaluation::lifted(const Set& where, const std::vector<Term>& bound) const {
  poly::Space space = where.space();
  for (Term variable : bound) space.dims.push_back(tools_.terms.print(variable));
  return Set(std::move(space), where.pieces());
}

Result<Set> Evaluation::somewhere(const Set& points, const std::vector<Term>& bound) {
  std::vector<std::string> names;
  for (Term variable : bound) names.push_back(tools_.terms.print(variable));
  if (names.empty()) return points;
  return poly::project_out(tools_.polyhedra, points, names, tools_.limits);
}

Result<Ok> Evaluation::note_somewhere(const Set& points, const std::vector<Term>& bound) {
  auto used = tools_.terms.take_obligations();
  if (used.empty()) return Ok{};
  TILEWRIGHT_TRY(some, somewhere(points, bound));
  for (algebra::Obligation& one : used) tools_.conditions.push_back({some, std::move(one)});
  return Ok{};
}

bool Evaluation::is_identity(Term term, bool is_maximum) const {
  return term == (is_maximum ? tools_.terms.infinity(true) : tools_.terms.integer(0));
}

// A floor that is affine at all of the points: `6 * floor((d0 + 5) / 6)` is d0 where 6 divides d0.
Result<AffineExpr> Evaluation::simplified(const AffineExpr& expr, const Set& where) {
  const auto known = [&](const std::string& name) {
    const auto& dims = where.space().dims;
    const auto& params = where.space().params;
    return std::find(dims.begin(), dims.end(), name) != dims.end() ||
           std::find(params.begin(), params.end(), name) != params.end();
  };
  AffineExpr fixed;  // what the points decide
  AffineExpr other;
  for (const poly::LinearTerm& term : expr.terms())
    (known(term.name) ? fixed : other) =
        (known(term.name) ? fixed : other) + AffineExpr::variable(term.name, term.coefficient);
  AffineExpr straight = fixed;
  for (const poly::FloorTerm& floor : expr.floors()) {
    std::vector<std::string> used;
    floor.numerator.collect_names(used);
    const AffineExpr whole =
        poly::floor_div(floor.numerator, floor.denominator) * floor.coefficient;
    const bool divides =
        std::all_of(floor.numerator.terms().begin(), floor.numerator.terms().end(),
                    [&](const poly::LinearTerm& term) {
                      return term.coefficient * floor.coefficient % floor.denominator == 0;
                    });
    if (!divides || !floor.numerator.floors().empty() ||
        !std::all_of(used.begin(), used.end(), known)) {
      other = other + whole;
      continue;
    }
    fixed = fixed + whole;
    for (const poly::LinearTerm& term : floor.numerator.terms())
      straight = straight + AffineExpr::variable(term.name, term.coefficient * floor.coefficient /
                                                                floor.denominator);
  }
  if (fixed == straight) return expr;
  TILEWRIGHT_TRY(point, poly::sample(tools_.polyhedra, where, tools_.limits));
  if (!point) return expr;
  const auto there = (fixed - straight).evaluate(point->binding());
  if (!there) return expr;
  straight = straight + AffineExpr(*there);
  BasicSet equal;
  equal.equal(fixed, straight);
  TILEWRIGHT_TRY(
      always, poly::is_subset(tools_.polyhedra, where, Set(where.space(), equal), tools_.limits));
  return always ? straight + other + AffineExpr(expr.constant()) : expr;
}

Result<Term> Evaluation::simplified(Term term, const Set& where) {
  std::optional<Failure> failure;
  const Term out =
      tools_.terms.inline_reads(term, [&](Symbol tensor, std::span<const Term> indices) -> Term {
        std::vector<Term> at(indices.begin(), indices.end());
        bool changed = false;
        for (Term& index : at) {
          const auto affine = tools_.translator.affine(index);
          if (!affine || affine->floors().empty()) continue;
          auto simple = simplified(*affine, where);
          if (!simple.ok()) failure = Failure{simple.diagnostics()};
          if (!simple.ok() || *simple == *affine) continue;
          index = tools_.translator.term(*simple);
          changed = true;
        }
        if (!changed) return Term();
        return tools_.algorithm.cell(tensor, at);
      });
  if (failure) return *failure;
  return out;
}

// What the instance of the source's writer wrote, over the loops of the reader.
Result<std::vector<Piece>> Evaluation::pulled_back(const Reader& reader, const Source& source) {
  const Statement& writer = tools_.statements.list[source.writer];
  const std::vector<std::string> from = names(writer.loops);
  std::vector<std::pair<Term, Term>> values;
  for (std::size_t i = 0; i < from.size(); ++i)
    values.emplace_back(tools_.translator.variable(from[i]),
                        tools_.translator.term(source.instance[i]));
  std::vector<Piece> out;
  for (const Piece& piece : claims_[source.writer].pieces) {
    Piece found;
    std::vector<BasicSet> where;
    for (const BasicSet& one : piece.where.pieces())
      where.push_back(replaced(one, from, source.instance));
    Set there(source.condition.space(), both(source.condition.pieces(), where));
    TILEWRIGHT_TRY(never, empty(there));
    if (never) continue;
    // Nothing to say where the writer's piece holds at all of them.
    TILEWRIGHT_TRY(all, poly::is_subset(tools_.polyhedra, source.condition, there, tools_.limits));
    found.where = all ? source.condition : std::move(there);
    const bool floors = std::any_of(source.instance.begin(), source.instance.end(),
                                    [](const AffineExpr& expr) { return !expr.floors().empty(); });
    const auto carried = [&](Term term) -> Result<Term> {
      const Term moved = tools_.terms.substitute(term, values);
      if (!floors) return moved;
      return simplified(moved, found.where);
    };
    if (piece.value) {
      TILEWRIGHT_TRY(value, carried(piece.value));
      found.value = value;
      tools_.note(found.where);
    }
    if (piece.fold) {
      FoldValue fold = *piece.fold;
      TILEWRIGHT_TRY(factor, carried(fold.factor));
      TILEWRIGHT_TRY(body, carried(fold.body));
      fold.factor = factor;
      fold.body = body;
      std::vector<BasicSet> points;
      for (const BasicSet& one : piece.fold->points.pieces())
        points.push_back(replaced(one, from, source.instance));
      const Set space = lifted(found.where, fold.bound);
      fold.points = Set(space.space(), both(found.where.pieces(), points));
      for (Term& index : fold.indices) {
        TILEWRIGHT_TRY(moved, carried(index));
        index = moved;
      }
      TILEWRIGHT_CHECK_OK(note_somewhere(fold.points, fold.bound));
      found.fold = std::move(fold);
    }
    if (piece.steps) {
      StepValue steps = *piece.steps;
      std::vector<BasicSet> points;
      for (const BasicSet& one : steps.points.pieces())
        points.push_back(replaced(one, from, source.instance));
      const Set space = lifted(found.where, steps.target->bound);
      steps.points = Set(space.space(), both(found.where.pieces(), points));
      for (Term& index : steps.indices) {
        TILEWRIGHT_TRY(moved, carried(index));
        index = moved;
      }
      if (steps.last) {
        TILEWRIGHT_TRY(moved, carried(steps.last));
        steps.last = moved;
      }
      tools_.forget();
      found.steps = std::move(steps);
    }
    out.push_back(std::move(found));
    if (all) break;
  }
  (void)reader;
  return out;
}

Result<std::vector<Piece>> Evaluation::found(const Reader& reader, const Flow& flow) {
  std::vector<Piece> out;
  for (const Source& source : flow.sources) {
    if (source.writer != kGiven) {
      TILEWRIGHT_TRY(pieces, pulled_back(reader, source));
      std::move(pieces.begin(), pieces.end(), std::back_inserter(out));
      continue;
    }
    Piece piece;
    piece.where = source.condition;
    const std::vector<Term> cell = tools_.translator.instance(reader.access.cell);
    piece.value = tools_.algorithm.cell(reader.access.buffer, cell);
    out.push_back(std::move(piece));
  }
  TILEWRIGHT_TRY(all_written, empty(flow.unwritten));
  if (!all_written) {
    Piece piece;
    piece.where = flow.unwritten;
    piece.value = nothing(tools_.statements.find(reader.access.buffer)->type);
    out.push_back(std::move(piece));
  }
  if (out.size() > 1) {
    TILEWRIGHT_TRY(folds, united(std::move(out)));
    out = std::move(folds);
  }
  // What is a partial fold of its store may be a whole one here.
  for (Piece& piece : out) TILEWRIGHT_CHECK_OK(recognise(piece));
  if (out.size() < 2) return out;
  TILEWRIGHT_TRY(carried, as_carried(std::move(out)));
  return united(std::move(carried));
}

Result<Piece> Evaluation::chosen_by_data(const Access& access, const std::vector<Piece>& pieces) {
  const Set around = with_names(access.points, access.data);
  Piece out;
  out.where = access.points;
  for (const Piece& piece : pieces) {
    TILEWRIGHT_TRY(value, term(piece));
    if (!out.value) {
      out.value = value;
      continue;
    }
    TILEWRIGHT_TRY(where, poly::gist(tools_.polyhedra, piece.where, around, tools_.limits));
    Term here = tools_.terms.integer(0);
    for (const BasicSet& part : where.pieces())
      here = tools_.terms.either(here, tools_.terms.holds(tools_.translator.conjunction(part)));
    out.value = tools_.terms.select(here, value, out.value);
  }
  if (!out.value) out.value = nothing(tools_.statements.find(access.buffer)->type);
  out.names = access.data.values;
  return out;
}

bool Evaluation::may_be_nothing(Term term) {
  bool out = false;
  tools_.terms.inline_values(term, [&](std::int64_t id, std::span<const Term>) -> Term {
    if (id == kNothing) out = true;
    // Of a store of which nothing is known.
    if (id >= 0) {
      const Statement& writer = tools_.statements.list[static_cast<std::size_t>(id)];
      out = out || writer.keeps;
    }
    return {};
  });
  return out;
}

Result<bool> Evaluation::finds_values(const Statement& one, std::size_t read) {
  const Access& access = one.reads[read];
  if (access.only_kept) return true;
  // What the store does under conditions is what it reads there.
  Expr value = access.read;
  std::vector<Expr> under = access.under;
  if (access.is_own) under = one.under;
  const Expr zero = access.read.type() == ir::ScalarType::Bool
                        ? tools_.context.boolean(false)
                        : tools_.context.constant(access.read.type(), 0);
  for (auto condition = under.rbegin(); condition != under.rend(); ++condition)
    value = tools_.context.select(*condition, value, zero);
  TILEWRIGHT_TRY(cases, situations(one));
  for (Situation& situation : cases) {
    const auto found = situation.reads.find(access.read.node());
    if (found == situation.reads.end()) continue;
    for (auto& [node, each] : situation.reads) {
      if (!each.fold) continue;
      TILEWRIGHT_TRY(written, term(each));
      each.value = written;
    }
    if (!may_be_nothing(found->second.value)) continue;
    if (may_be_nothing(plain(value, situation))) return false;
  }
  return true;
}

Result<bool> Evaluation::same(Term a, Term b, const Set& where) {
  if (a == b) return true;
  Goal goal;
  goal.where = where;
  goal.left = a;
  goal.right = b;
  TILEWRIGHT_TRY(state, prove_as_is(goal));
  return state == GoalState::Holds;
}

Result<std::vector<Situation>> Evaluation::situations(const Statement& one,
                                                      const StandIn& stand_in) {
  TILEWRIGHT_TRY(domain, poly::intersect_params(tools_.polyhedra, one.domain,
                                                tools_.statements.sizes, tools_.limits));
  std::vector<Situation> out;
  out.push_back({domain, {}});
  for (std::size_t r = 0; r < one.reads.size(); ++r) {
    const Access& access = one.reads[r];
    std::vector<Piece> pieces;
    if (const Term stands = stand_in ? stand_in(access, flows_[one.number][r]) : Term()) {
      Piece piece;
      piece.where = access.points;
      piece.value = stands;
      pieces.push_back(std::move(piece));
    } else {
      TILEWRIGHT_TRY(found_pieces, found(reader_of(one, access), flows_[one.number][r]));
      pieces = std::move(found_pieces);
      if (!access.data.empty()) {
        TILEWRIGHT_TRY(single, chosen_by_data(access, pieces));
        pieces.assign(1, std::move(single));
      }
    }
    std::vector<Situation> next;
    for (Situation& situation : out) {
      if (situation.reads.contains(access.read.node())) {
        next.push_back(std::move(situation));
        continue;
      }
      Set rest = situation.where;
      for (const Piece& piece : pieces) {
        TILEWRIGHT_TRY(inside, poly::is_subset(tools_.polyhedra, rest, piece.where, tools_.limits));
        Situation more = situation;
        if (inside) {
          more.where = rest;
        } else {
          TILEWRIGHT_TRY(shared,
                         poly::intersect(tools_.polyhedra, rest, piece.where, tools_.limits));
          TILEWRIGHT_TRY(none, empty(shared));
          if (none) continue;
          more.where = std::move(shared);
        }
        more.reads[access.read.node()] = piece;
        next.push_back(std::move(more));
        if (inside) rest = Set(rest.space());
        if (inside) break;
        TILEWRIGHT_TRY(left, poly::subtract(tools_.polyhedra, rest, piece.where, tools_.limits));
        rest = std::move(left);
      }
      // Where the read is not evaluated.
      TILEWRIGHT_TRY(none, empty(rest));
      if (!none) {
        situation.where = std::move(rest);
        next.push_back(std::move(situation));
      }
    }
    out = std::move(next);
  }
  return out;
}

Result<Expr> Evaluation::decided(Expr expr, const Set& where) {
  std::optional<Failure> failure;
  const auto covers = [&](const poly::Region& region) {
    auto inside =
        poly::is_subset(tools_.polyhedra, where, Set(where.space(), region.pieces), tools_.limits);
    if (!inside.ok()) failure = Failure{inside.diagnostics()};
    return inside.ok() && *inside;
  };
  const std::function<Expr(Expr)> decide = [&](Expr each) -> Expr {
    const auto* select = each.as<ir::Select>();
    if (select == nullptr) return each;
    const poly::Region holds = poly::region_of(select->condition, true);
    const poly::Region fails = poly::region_of(select->condition, false);
    if (!holds.exact || !fails.exact) return each;
    if (covers(holds)) return select->then_value;
    if (covers(fails)) return select->else_value;
    return each;
  };
  const Expr out = ir::rewrite(tools_.context, expr, decide);
  if (failure) return *failure;
  return out;
}

Term Evaluation::plain(Expr expr, const Situation& situation) {
  algebra::Leaves leaves;
  // What the Program computes on the way must have a value.
  leaves.must_be_defined = true;
  leaves.read = [&](const ir::Read& read, std::span<const Term>) -> Term {
    const auto found = situation.reads.find(&read);
    if (found == situation.reads.end() || !found->second.value) return tools_.terms.unknown({});
    if (found->second.names.empty()) return found->second.value;
    std::vector<std::pair<Term, Term>> values;
    for (const auto& [name, value] : found->second.names)
      values.emplace_back(tools_.translator.variable(name),
                          algebra::from_expr(tools_.terms, value, leaves));
    return tools_.terms.substitute(found->second.value, values);
  };
  leaves.variable = [&](Symbol name) { return tools_.translator.variable(name.text()); };
  return algebra::from_expr(tools_.terms, expr, leaves);
}

// Of reads that found steps: what the expression makes of them, or, where that is none, terms for them.
Result<std::optional<StepValue>> Evaluation::steps_read(Expr expr, Situation& situation) {
  std::vector<const StepTarget*> targets;
  for (const auto& [node, read] : situation.reads)
    if (read.steps &&
        std::find(targets.begin(), targets.end(), read.steps->target) == targets.end())
      targets.push_back(read.steps->target);
  for (const StepTarget* target : targets) {
    const std::size_t mark = tools_.conditions.size();
    TILEWRIGHT_TRY(steps, as_steps(expr, situation, *target));
    if (steps) return steps;
    tools_.forget(mark);
  }
  for (auto& [node, read] : situation.reads) {
    if (!read.steps) continue;
    TILEWRIGHT_TRY(written, term(read));
    read.value = written;
    read.steps.reset();
  }
  return std::optional<StepValue>();
}

Result<std::vector<Piece>> Evaluation::evaluate(const Statement& one) {
  TILEWRIGHT_TRY(cases, situations(one));
  std::vector<Piece> out;
  for (Situation& situation : cases) {
    TILEWRIGHT_TRY(expr, decided(one.value, situation.where));
    Piece piece;
    piece.where = situation.where;
    TILEWRIGHT_TRY(steps, steps_read(expr, situation));
    if (steps) {
      piece.steps = std::move(steps);
      out.push_back(std::move(piece));
      continue;
    }
    const FoldValue* shape = nullptr;
    for (const auto& [node, read] : situation.reads)
      if (read.fold && shape == nullptr) shape = &*read.fold;
    if (shape != nullptr) {
      const std::size_t mark = tools_.conditions.size();
      TILEWRIGHT_TRY(fold, as_fold(expr, situation, FoldValue(*shape)));
      piece.fold = std::move(fold);
      if (!piece.fold) tools_.forget(mark);
    }
    if (!piece.fold) {
      if (shape != nullptr) {
        TILEWRIGHT_TRY(named, folds_named(expr, situation, FoldValue(*shape)));
        expr = named;
      }
      for (auto& [node, read] : situation.reads) {
        if (!read.fold) continue;
        TILEWRIGHT_TRY(written, term(read));
        read.value = written;
      }
      const std::size_t before = tools_.terms.num_obligations();
      piece.value = plain(expr, situation);
      if (!one.keeps && !one.under.empty()) {
        Term all = tools_.terms.integer(1);
        for (Expr condition : one.under) all = tools_.terms.both(all, plain(condition, situation));
        tools_.terms.restrict_obligations(before, all);
      }
    }
    tools_.note(situation.where);
    out.push_back(std::move(piece));
  }
  return out;
}

Result<Expr> Evaluation::folds_named(Expr expr, Situation& situation, const FoldValue& shape) {
  bool some = false;
  ir::walk(expr, [&](Expr each) {
    const auto read = situation.reads.find(each.node());
    some = some || (read != situation.reads.end() && read->second.fold);
  });
  if (!some || expr.as<ir::Read>()) return expr;
  const std::size_t mark = tools_.conditions.size();
  TILEWRIGHT_TRY(fold, as_fold(expr, situation, shape));
  if (fold) {
    const std::string name = "?part" + std::to_string(situation.reads.size());
    const Expr read = tools_.context.read(tools_.context.symbol(name), {}, expr.type());
    Piece piece;
    piece.where = situation.where;
    piece.fold = std::move(fold);
    TILEWRIGHT_CHECK_OK(recognise(piece));
    situation.reads[read.node()] = std::move(piece);
    return read;
  }
  tools_.forget(mark);
  std::optional<Failure> failure;
  const Expr out = ir::rebuild(tools_.context, expr, [&](Expr child) {
    auto named = folds_named(child, situation, shape);
    if (!named.ok()) failure = Failure{named.diagnostics()};
    return named.ok() ? *named : child;
  });
  if (failure) return *failure;
  return out;
}

Result<std::vector<Piece>> Evaluation::united(std::vector<Piece> pieces) {
  // A single step of a fold that other pieces hold is a fold too.
  std::optional<FoldValue> shape;
  for (const Piece& piece : pieces)
    if (piece.fold && !shape) shape = piece.fold;
  std::vector<Piece> out;
  for (Piece& piece : pieces) {
    if (shape && !piece.steps && piece.value && !is_identity(piece.value, shape->is_maximum)) {
      const std::size_t mark = tools_.conditions.size();
      TILEWRIGHT_TRY(fold, as_fold(piece.value, piece.where, *shape));
      if (fold)
        tools_.note(piece.where);
      else
        tools_.forget(mark);
      if (fold) piece.fold = std::move(fold);
      if (piece.fold) piece.value = Term();
    }
    bool taken = false;
    for (Piece& other : out) {
      if (piece.steps || other.steps) {
        TILEWRIGHT_TRY(joined, united_steps(other, piece));
        if (!joined) continue;
      } else if (piece.fold && other.fold) {
        const bool same = piece.fold->is_maximum == other.fold->is_maximum &&
                          piece.fold->body == other.fold->body &&
                          piece.fold->bound == other.fold->bound &&
                          piece.fold->factor == other.fold->factor;
        if (!same) continue;
        TILEWRIGHT_TRY(points, poly::unite(tools_.polyhedra, other.fold->points, piece.fold->points,
                                           tools_.limits));
        other.fold->points = std::move(points);
      } else if (piece.fold && !piece.value && other.value) {
        if (!is_identity(other.value, piece.fold->is_maximum)) continue;
        other.fold = std::move(piece.fold);
        other.value = Term();
      } else if (piece.value && other.fold) {
        if (!is_identity(piece.value, other.fold->is_maximum)) continue;
      } else if (!(piece.value == other.value)) {
        TILEWRIGHT_TRY(common, common_cell(other, piece));
        if (!common) continue;
        other.value = *common;
      }
      TILEWRIGHT_TRY(where, poly::unite(tools_.polyhedra, other.where, piece.where, tools_.limits));
      other.where = std::move(where);
      taken = true;
      break;
    }
    if (!taken) out.push_back(std::move(piece));
  }
  for (Piece& piece : out) {
    if (!piece.fold) continue;
    TILEWRIGHT_TRY(points, compact(tools_.polyhedra, piece.fold->points,
                                   lifted(piece.where, piece.fold->bound),
                                   domain_of(*piece.fold).value_or(BasicSet()), tools_.limits));
    piece.fold->points = std::move(points);
  }
  return out;
}

Result<Term> Evaluation::as_marked(const Statement& one, const std::vector<Piece>& pieces) {
  const ir::Equation* equation = tools_.algorithm.definition(one.marked);
  if (equation == nullptr || equation->fold() != nullptr || !equation->parts.empty() ||
      equation->indices.size() != one.mark.size())
    return Term();
  ir::Substitution at;
  for (std::size_t i = 0; i < one.mark.size(); ++i) at[equation->indices[i]] = one.mark[i];
  const Expr said = ir::substitute(tools_.context, equation->value, at);
  const std::size_t before = tools_.conditions.size();
  for (const Piece& piece : pieces) {
    TILEWRIGHT_TRY(expr, decided(said, piece.where));
    TILEWRIGHT_TRY(value, term(piece));
    Goal goal;
    goal.where = piece.where;
    goal.left = value;
    goal.right = stated(expr);
    TILEWRIGHT_TRY(state, prove_as_is(goal));
    if (state == GoalState::Holds) continue;
    tools_.forget(before);
    return Term();
  }
  std::vector<Term> indices;
  for (Expr index : one.mark) indices.push_back(stated(index));
  return tools_.algorithm.cell(one.marked, indices);
}

Term Evaluation::stated(Expr expr) {
  algebra::Leaves leaves;
  leaves.variable = [&](Symbol name) { return tools_.translator.variable(name.text()); };
  return algebra::from_expr(tools_.terms, expr, leaves);
}

Result<Ok> Evaluation::recognise(Piece& piece) {
  if (piece.steps) return keeps_steps_ ? Result<Ok>(Ok{}) : recognise_steps(piece);
  const std::size_t mark = tools_.conditions.size();
  if (piece.fold) {
    const FoldValue& fold = *piece.fold;
    const Term plain_factor = tools_.terms.integer(fold.is_maximum ? 0 : 1);
    if (!fold.target->is_stated || !(fold.factor == plain_factor)) return Ok{};
    const auto domain = domain_of(fold);
    if (!domain) return Ok{};
    const Set around = lifted(piece.where, fold.bound);
    const Set whole(around.space(), both(around.pieces(), {*domain}));
    TILEWRIGHT_TRY(held, poly::intersect(tools_.polyhedra, fold.points, around, tools_.limits));
    TILEWRIGHT_TRY(all, poly::is_equal(tools_.polyhedra, held, whole, tools_.limits));
    if (!all) return Ok{};
    piece.value = tools_.algorithm.cell(fold.target->tensor, fold.indices);
    piece.fold.reset();
    return Ok{};
  }
  for (const Pattern& pattern : tools_.algorithm.patterns()) {
    const auto found = step(piece.value, pattern.value, pattern.indices);
    std::vector<Term> indices;
    if (found && found->factor == tools_.terms.integer(1) && found->rest == tools_.terms.integer(0))
      for (Term index : pattern.indices)
        for (const auto& [unknown, value] : found->values)
          if (unknown == index) indices.push_back(value);
    if (!found || indices.size() != pattern.indices.size()) {
      tools_.forget(mark);
      continue;
    }
    tools_.note(piece.where);
    piece.value = tools_.algorithm.cell(pattern.tensor, indices);
    return Ok{};
  }
  return Ok{};
}

std::optional<BasicSet> Evaluation::domain_of(const FoldValue& fold) {
  if (fold.target->domain.size() != 1) return {};
  std::vector<std::pair<Term, Term>> values;
  for (std::size_t i = 0; i < fold.indices.size(); ++i)
    values.emplace_back(fold.target->indices[i], fold.indices[i]);
  algebra::Conjunction range = fold.target->domain[0];
  for (algebra::Constraint& one : range) one.value = tools_.terms.substitute(one.value, values);
  return tools_.translator.basic_set(range);
}

// Where one piece has s = 0 and the cell x[6*i], the other s = 1 and x[6*i + 1], both are x[6*i + s].
Result<std::optional<Term>> Evaluation::common_cell(const Piece& a, const Piece& b) {
  const auto x = tools_.terms.cell_of(a.value);
  const auto y = tools_.terms.cell_of(b.value);
  if (!x || !y || !(x->tensor == y->tensor)) return std::optional<Term>();
  std::vector<Term> indices;
  const auto holds = [&](const Set& where, const AffineExpr& p, const AffineExpr& q) {
    BasicSet equal;
    equal.equal(p, q);
    return poly::is_subset(tools_.polyhedra, where, Set(where.space(), equal), tools_.limits);
  };
  for (std::size_t i = 0; i < x->indices.size(); ++i) {
    if (x->indices[i] == y->indices[i]) {
      indices.push_back(x->indices[i]);
      continue;
    }
    const auto p = tools_.translator.affine(x->indices[i]);
    const auto q = tools_.translator.affine(y->indices[i]);
    if (!p || !q) return std::optional<Term>();
    // The candidates: either index, or one plus a loop less its value in that piece.
    std::vector<AffineExpr> candidates = {*p, *q};
    TILEWRIGHT_TRY(at, poly::sample(tools_.polyhedra, b.where, tools_.limits));
    if (!at) return std::optional<Term>();
    for (const std::string& dim : b.where.space().dims)
      if (const auto value = at->value(dim))
        candidates.push_back(*q + variable(dim) - AffineExpr(*value));
    std::optional<AffineExpr> both_say;
    for (const AffineExpr& candidate : candidates) {
      TILEWRIGHT_TRY(in_b, holds(b.where, candidate, *q));
      if (!in_b) continue;
      TILEWRIGHT_TRY(in_a, holds(a.where, candidate, *p));
      if (in_a) both_say = candidate;
      if (in_a) break;
    }
    if (!both_say) return std::optional<Term>();
    indices.push_back(tools_.translator.term(*both_say));
  }
  return std::optional(tools_.algorithm.cell(x->tensor, indices));
}

}  // namespace tilewright::proof
