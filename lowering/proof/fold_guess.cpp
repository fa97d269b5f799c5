// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/fold_guess.h"

#include <algorithm>
#include <functional>

#include "frontend/algebra/term_parts.h"
#include "lowering/proof/names.h"
#include "lowering/proof/points.h"

namespace tilewright::proof {

using poly::BasicSet;
using poly::Set;

namespace {
constexpr std::string_view kEarlier = FoldGroup::kEarlier;
// Stands for what a store of the group wrote earlier.
constexpr std::int64_t kEarlierValue = -1;
}  // namespace

// One step of a fold of the algorithm; what is left of the term.
std::optional<Term> FoldGuess::take(const Statement& one, Term term, const Set& where,
                                    bool is_maximum) {
  const FoldTarget& target = *wanted_;
  if (target.is_maximum != is_maximum) return {};
  const auto step = evaluation_.step(target.is_stated ? term : tools_.algorithm.expand(term),
                                     target.body, target.unknowns());
  if (!step) return {};
  const auto point = evaluation_.point(*step, target.bound);
  if (!point) return {};
  Addition addition{one.number, where, step->factor, *point};
  std::vector<std::pair<Term, Term>> outer;
  for (const auto& pair : step->values)
    if (std::find(target.bound.begin(), target.bound.end(), pair.first) == target.bound.end())
      outer.push_back(pair);
  const Term body = tools_.terms.substitute(target.body, outer);
  if (target_ != nullptr && !(members_->carried(shape_.body, *shape_of_, one) == body)) return {};
  Term rest = step->rest;
  if (is_maximum) {
    if (!(step->factor == tools_.terms.integer(1)) || !(rest == tools_.terms.integer(0))) return {};
    addition.factor = tools_.terms.integer(0);
  }
  if (!is_steady(one, body, target.bound)) return {};
  if (target_ == nullptr) start(one, target, body, addition.factor, outer);
  additions_.push_back(std::move(addition));
  return rest;
}

// What differs from step to step is not of the body.
bool FoldGuess::is_steady(const Statement& one, Term body, const std::vector<Term>& bound) const {
  const auto free = tools_.terms.free_variables(body);
  return std::all_of(free.begin(), free.end(), [&](Term variable) {
    if (std::find(bound.begin(), bound.end(), variable) != bound.end()) return true;
    const std::string name = tools_.terms.print(variable);
    const auto loop = std::find_if(one.loops.begin(), one.loops.end(),
                                   [&](const Loop& each) { return each.name == name; });
    return loop == one.loops.end() || members_->keeps(one.number, name);
  });
}

void FoldGuess::start(const Statement& one, const FoldTarget& target, Term body, Term factor,
                      const std::vector<std::pair<Term, Term>>& outer) {
  target_ = &target;
  shape_of_ = &one;
  shape_.is_maximum = target.is_maximum;
  shape_.body = body;
  shape_.bound = target.bound;
  shape_.factor = factor;
  shape_.target = &target;
  for (Term index : target.indices)
    for (const auto& [unknown, value] : outer)
      if (unknown == index) shape_.indices.push_back(value);
}

// What the store adds to what the group wrote before.
Result<bool> FoldGuess::find_additions(const Statement& one) {
  const Term earlier = tools_.terms.value(kEarlierValue, {}, one.value.type());
  TILEWRIGHT_TRY(cases, evaluation_.situations(one, [&](const Access&, const Flow& flow) {
    return members_->is_inner(flow) ? earlier : Term();
  }));
  for (Situation& situation : cases) {
    for (auto& [node, read] : situation.reads) {
      if (read.value) continue;
      TILEWRIGHT_TRY(written, evaluation_.term(read));
      read.value = written;
    }
    TILEWRIGHT_TRY(expr, evaluation_.decided(one.value, situation.where));
    std::vector<Expr> operands = {expr};
    bool maximum = false;
    for (std::size_t i = 0; i < operands.size();) {
      const auto* op = operands[i].as<ir::Op>();
      if (op == nullptr || op->op != ir::OpCode::Max) {
        ++i;
        continue;
      }
      maximum = true;
      const Expr second = op->args[1];
      operands[i] = op->args[0];
      operands.push_back(second);
    }
    if (maximum) {
      for (Expr operand : operands) {
        // What a name stands for may be a maximum too.
        for (Term term :
             algebra::maximum_operands(tools_.terms, evaluation_.plain(operand, situation))) {
          if (term == earlier || evaluation_.is_identity(term, true)) continue;
          if (!take(one, term, situation.where, true)) return false;
        }
      }
      continue;
    }
    std::vector<Term> coefficients = {tools_.terms.integer(0)};
    const auto rest =
        evaluation_.take_linear(evaluation_.plain(expr, situation), one.value.type(), coefficients);
    if (!rest) return false;
    for (Term left = *rest; !evaluation_.is_identity(left, false);) {
      const auto less = take(one, left, situation.where, false);
      if (!less) return false;
      left = *less;
    }
  }
  return true;
}

// The points that have been added when `one` has written.
Result<Set> FoldGuess::points_of(const Statement& one) {
  const Set around = evaluation_.lifted(one.domain, shape_.bound);
  Set out(around.space());
  const auto add_points = [&](const Statement& adder, std::vector<BasicSet> points) -> Result<Ok> {
    TILEWRIGHT_TRY(added, members_->so_far(one, adder, points, around));
    TILEWRIGHT_TRY(united, poly::unite(tools_.polyhedra, out, added, tools_.limits));
    out = std::move(united);
    return Ok{};
  };
  for (const Addition& addition : additions_) {
    const Statement& adder = tools_.statements.list[addition.statement];
    std::vector<BasicSet> points;
    for (const BasicSet& where : addition.where.pieces()) {
      BasicSet piece = suffixed(where, adder.loops, kEarlier);
      for (std::size_t i = 0; i < shape_.bound.size(); ++i)
        piece.equal(
            variable(tools_.terms.print(shape_.bound[i])),
            replaced(addition.point[i], names(adder.loops), variables(adder.loops, kEarlier)));
      points.push_back(std::move(piece));
    }
    TILEWRIGHT_CHECK_OK(add_points(adder, std::move(points)));
  }
  // What the fold starts from may be a fold of the same kind.
  for (std::size_t number : members_->members()) {
    const Statement& first = tools_.statements.list[number];
    for (std::size_t r = 0; r < first.reads.size(); ++r) {
      if (!members_->is_inner(flows_[number][r])) continue;
      Flow outside = flows_[number][r];
      std::erase_if(outside.sources,
                    [&](const Source& source) { return members_->has(source.writer); });
      TILEWRIGHT_TRY(pieces, evaluation_.found(reader_of(first, first.reads[r]), outside));
      for (const Piece& piece : pieces) {
        if (!piece.fold || !(piece.fold->body == members_->carried(shape_.body, *shape_of_, first)))
          continue;
        std::vector<BasicSet> points;
        for (const BasicSet& point : piece.fold->points.pieces())
          points.push_back(suffixed(point, first.loops, kEarlier));
        TILEWRIGHT_CHECK_OK(add_points(first, std::move(points)));
      }
    }
  }
  FoldValue here = shape_;
  for (Term& index : here.indices) index = members_->carried(index, *shape_of_, one);
  return compact(tools_.polyhedra, out, around, evaluation_.domain_of(here).value_or(BasicSet()),
                 tools_.limits);
}

// As the target has its body.
Term FoldGuess::known_form(Term term) const {
  return wanted_->is_stated ? term : tools_.algorithm.expand(term);
}

// Of a store that adds nothing: what its right side makes of the factor that it finds.
Result<bool> FoldGuess::find_factors() {
  for (const Addition& addition : additions_) {
    auto [at, is_new] = factors_.try_emplace(addition.statement, addition.factor);
    if (!is_new && !(at->second == addition.factor)) return false;
  }
  for (std::size_t round = 0; round < members_->members().size(); ++round) {
    for (std::size_t number : members_->members()) {
      if (factors_.contains(number)) continue;
      const Statement& one = tools_.statements.list[number];
      for (std::size_t r = 0; r < one.reads.size() && !factors_.contains(number); ++r) {
        for (const Source& source : flows_[number][r].sources) {
          const auto known = factors_.find(source.writer);
          if (known == factors_.end()) continue;
          const Statement& writer = tools_.statements.list[source.writer];
          std::vector<std::pair<Term, Term>> values;
          for (std::size_t i = 0; i < writer.loops.size(); ++i)
            values.emplace_back(tools_.translator.variable(writer.loops[i].name),
                                tools_.translator.term(source.instance[i]));
          const Term found = tools_.terms.substitute(known->second, values);
          // At the instances that read this source.
          const Term earlier = tools_.terms.value(kEarlierValue, {}, one.value.type());
          TILEWRIGHT_TRY(cases, evaluation_.situations(one, [&](const Access&, const Flow& flow) {
            return members_->is_inner(flow) ? earlier : Term();
          }));
          for (Situation& situation : cases) {
            TILEWRIGHT_TRY(shared, poly::intersect(tools_.polyhedra, situation.where,
                                                   source.condition, tools_.limits));
            TILEWRIGHT_TRY(none, poly::is_empty(tools_.polyhedra, shared, tools_.limits));
            if (none) continue;
            for (auto& [node, read] : situation.reads) {
              if (read.value) continue;
              TILEWRIGHT_TRY(written, evaluation_.term(read));
              read.value = written;
            }
            const Term whole = evaluation_.plain(one.value, situation);
            factors_[number] = known_form(
                tools_.terms.inline_values(whole, [&](std::int64_t id, std::span<const Term>) {
                  return id == kEarlierValue ? found : Term();
                }));
            break;
          }
          break;
        }
      }
    }
  }
  return factors_.size() == members_->members().size();
}

// Every store of the group, evaluated with the guess for its reads, gives the guess.
Result<bool> FoldGuess::confirmed() {
  // What was tried up to here counts for nothing.
  tools_.forget();
  tools_.conditions.erase(tools_.conditions.begin() + static_cast<std::ptrdiff_t>(before_),
                          tools_.conditions.end());
  for (std::size_t number : members_->members()) {
    const Statement& one = tools_.statements.list[number];
    const FoldValue guess = *claims_[number].pieces[0].fold;
    TILEWRIGHT_TRY(pieces, evaluation_.evaluate(one));
    for (const Piece& piece : pieces) {
      std::optional<FoldValue> got = piece.fold;
      if (!got) {
        TILEWRIGHT_TRY(made, evaluation_.as_fold(piece.value, piece.where, guess));
        got = std::move(made);
        tools_.note(piece.where);
      }
      if (!got || got->is_maximum != guess.is_maximum || !(got->body == guess.body)) return false;
      const Set around = evaluation_.lifted(piece.where, guess.bound);
      TILEWRIGHT_TRY(want, poly::intersect(tools_.polyhedra, guess.points, around, tools_.limits));
      TILEWRIGHT_TRY(have, poly::intersect(tools_.polyhedra, got->points, around, tools_.limits));
      TILEWRIGHT_TRY(same, poly::is_equal(tools_.polyhedra, want, have, tools_.limits));
      if (!same) return false;
      TILEWRIGHT_TRY(nothing, poly::is_empty(tools_.polyhedra, want, tools_.limits));
      if (nothing) continue;
      TILEWRIGHT_TRY(one_factor, evaluation_.same(got->factor, guess.factor, piece.where));
      if (!one_factor) return false;
    }
  }
  return true;
}

Result<bool> FoldGuess::find(const std::vector<std::size_t>& group) {
  members_.emplace(tools_, flows_, group);
  before_ = tools_.conditions.size();
  for (const FoldTarget& target : tools_.algorithm.targets()) {
    wanted_ = &target;
    target_ = nullptr;
    shape_ = FoldValue();
    additions_.clear();
    factors_.clear();
    TILEWRIGHT_TRY(found, try_target());
    if (found) return true;
    tools_.forget(before_);
  }
  return false;
}

Result<bool> FoldGuess::try_target() {
  for (std::size_t number : members_->members()) {
    TILEWRIGHT_TRY(well, find_additions(tools_.statements.list[number]));
    if (!well) return false;
  }
  if (target_ == nullptr) return false;
  if (shape_.is_maximum) {
    for (std::size_t number : members_->members()) factors_[number] = tools_.terms.integer(0);
  } else {
    TILEWRIGHT_TRY(well, find_factors());
    if (!well) return false;
  }
  for (std::size_t number : members_->members()) {
    const Statement& one = tools_.statements.list[number];
    Piece piece;
    TILEWRIGHT_TRY(domain, poly::intersect_params(tools_.polyhedra, one.domain,
                                                  tools_.statements.sizes, tools_.limits));
    piece.where = std::move(domain);
    piece.fold = shape_;
    piece.fold->body = members_->carried(shape_.body, *shape_of_, one);
    piece.fold->factor = factors_[number];
    for (Term& index : piece.fold->indices) index = members_->carried(index, *shape_of_, one);
    TILEWRIGHT_TRY(points, points_of(one));
    piece.fold->points = std::move(points);
    claims_[number] = Claim{};
    claims_[number].pieces.push_back(std::move(piece));
  }
  return confirmed();
}

}  // namespace tilewright::proof
