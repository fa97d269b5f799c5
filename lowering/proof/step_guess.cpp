// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/step_guess.h"

#include <algorithm>
#include <set>

#include "lowering/proof/names.h"
#include "lowering/proof/points.h"

namespace tilewright::proof {

using poly::BasicSet;
using poly::Set;

namespace {
constexpr std::size_t kMaxAssignments = 64;
}  // namespace

void StepGuess::find_copies() {
  for (std::size_t number : members_->members()) same_as_[number] = number;
  const auto root = [&](std::size_t number) {
    while (same_as_[number] != number) number = same_as_[number];
    return number;
  };
  for (std::size_t number : members_->members()) {
    const Statement& one = tools_.statements.list[number];
    for (std::size_t r = 0; r < one.reads.size(); ++r) {
      // Its own cell, or all that it writes.
      const bool hands_on = one.reads[r].read == one.value || one.reads[r].buffer == one.buffer;
      if (!hands_on) continue;
      for (const Source& source : flows_[number][r].sources)
        if (members_->has(source.writer)) same_as_[root(number)] = root(source.writer);
    }
  }
  for (std::size_t number : members_->members()) same_as_[number] = root(number);
}

bool StepGuess::is_helper(const StepTarget& target, const Statement& one) const {
  if (one.origin.as<program::Store>() || one.origin.as<program::Call>()) return false;
  if (!one.origin.as<program::Let>()) return true;
  const auto& body = target.fold->body;
  return std::none_of(body.begin(), body.end(),
                      [&](Expr field) { return field.type() == one.value.type(); });
}

void StepGuess::add_likewise(const StepTarget& target) {
  if (points_.empty()) return;
  const auto [first, point] = *points_.begin();
  const Statement& adder = tools_.statements.list[first];
  for (std::size_t number : members_->members()) {
    const Statement& one = tools_.statements.list[number];
    const bool adds = std::any_of(additions_.begin(), additions_.end(),
                                  [&](const Addition& each) { return each.statement == number; });
    const bool same_loops =
        std::equal(one.loops.begin(), one.loops.end(), adder.loops.begin(), adder.loops.end(),
                   [](const Loop& a, const Loop& b) { return a.name == b.name; });
    if (adds || !same_loops || one.value.as<ir::Read>() || is_helper(target, one)) continue;
    points_[number] = point;
    Addition addition;
    addition.statement = number;
    addition.points = evaluation_.only_point(one.domain, target, point);
    additions_.push_back(std::move(addition));
  }
}

bool StepGuess::agree(const Statement& one, const std::vector<Term>& indices) {
  if (indices_in_ == nullptr) {
    indices_ = indices;
    indices_in_ = &one;
    return true;
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Term known = indices_[i] ? members_->carried(indices_[i], *indices_in_, one) : Term();
    if (known && indices[i] && !(known == indices[i])) return false;
    if (!known && indices[i]) indices_[i] = members_->carried(indices[i], one, *indices_in_);
  }
  return true;
}

void StepGuess::indices_by_cells(const StepTarget& target) {
  if (std::all_of(indices_.begin(), indices_.end(), [](Term index) { return bool(index); })) return;
  for (std::size_t number : members_->members()) {
    const Statement& one = tools_.statements.list[number];
    std::vector<Term> cell = tools_.translator.instance(one.cell);
    if (one.marked.valid() && one.mark.size() >= target.indices.size()) {
      const bool known = std::find(target.tensors.begin(), target.tensors.end(), one.marked) !=
                         target.tensors.end();
      if (known && one.cell.size() != target.equation->indices.size()) continue;
    }
    if (cell.size() != target.equation->indices.size()) continue;
    if (target.scanned >= 0) cell.erase(cell.begin() + target.scanned);
    if (agree(one, cell)) return;
  }
}

Result<bool> StepGuess::find_additions(const StepTarget& target, const Statement& one) {
  if (is_helper(target, one)) return true;
  TILEWRIGHT_TRY(cases, evaluation_.situations(one, [&](const Access& access, const Flow& flow) {
    return members_->is_inner(flow) ? tools_.terms.value(-1, {}, access.read.type()) : Term();
  }));
  for (const Situation& situation : cases) {
    // Steps of others that are combined with these.
    bool combines = false;
    for (const auto& [node, read] : situation.reads) {
      if (!read.steps || read.steps->target != &target) continue;
      if (!agree(one, read.steps->indices)) return false;
      combines = true;
      Addition addition;
      addition.statement = one.number;
      TILEWRIGHT_TRY(points, poly::intersect(tools_.polyhedra, read.steps->points,
                                             evaluation_.lifted(situation.where, target.bound),
                                             tools_.limits));
      addition.points = std::move(points);
      additions_.push_back(std::move(addition));
    }
    if (combines) continue;
    auto at = marked_point(target, one);
    if (!at) at = evaluation_.step_point(target, evaluation_.read_terms(situation));
    if (!at) continue;
    if (!agree(one, at->indices)) return false;
    points_[one.number] = *at;
    Addition addition;
    addition.statement = one.number;
    addition.points = evaluation_.only_point(situation.where, target, *at);
    additions_.push_back(std::move(addition));
  }
  return true;
}

// What the store says that it adds.
std::optional<StepPoint> StepGuess::marked_point(const StepTarget& target, const Statement& one) {
  const bool ours =
      std::find(target.tensors.begin(), target.tensors.end(), one.marked) != target.tensors.end();
  if (!ours || target.scanned >= 0 ||
      one.mark.size() != target.indices.size() + target.bound.size())
    return {};
  StepPoint out;
  for (std::size_t i = 0; i < one.mark.size(); ++i) {
    const Term value = evaluation_.stated(one.mark[i]);
    const auto affine = tools_.translator.affine(value);
    if (!affine) return {};
    if (i < target.indices.size()) {
      out.indices.push_back(value);
    } else {
      out.point.push_back(value);
      out.affine.push_back(*affine);
    }
  }
  return out;
}

std::vector<Term> StepGuess::indices_of(const Statement& one) const {
  std::vector<Term> out;
  for (Term index : indices_)
    out.push_back(index ? members_->carried(index, *indices_in_, one) : Term());
  return out;
}

Result<Set> StepGuess::points_of(const StepTarget& target, const Statement& one) {
  const Set around = evaluation_.lifted(one.domain, target.bound);
  Set out(around.space());
  const auto add_points = [&](const Statement& adder, const Set& points) -> Result<Ok> {
    std::vector<BasicSet> earlier;
    for (const BasicSet& piece : points.pieces())
      earlier.push_back(suffixed(piece, adder.loops, FoldGroup::kEarlier));
    TILEWRIGHT_TRY(added, members_->so_far(one, adder, earlier, around));
    TILEWRIGHT_TRY(united, poly::unite(tools_.polyhedra, out, added, tools_.limits));
    out = std::move(united);
    return Ok{};
  };
  for (const Addition& addition : additions_)
    TILEWRIGHT_CHECK_OK(add_points(tools_.statements.list[addition.statement], addition.points));
  // What it starts from may be steps too.
  for (std::size_t number : members_->members()) {
    const Statement& first = tools_.statements.list[number];
    for (std::size_t r = 0; r < first.reads.size(); ++r) {
      if (!members_->is_inner(flows_[number][r])) continue;
      Flow outside = flows_[number][r];
      std::erase_if(outside.sources,
                    [&](const Source& source) { return members_->has(source.writer); });
      TILEWRIGHT_TRY(pieces, evaluation_.found(reader_of(first, first.reads[r]), outside));
      for (const Piece& piece : pieces)
        if (piece.steps && piece.steps->target == &target)
          TILEWRIGHT_CHECK_OK(add_points(first, piece.steps->points));
    }
  }
  return compact(tools_.polyhedra, out, around, BasicSet(), tools_.limits);
}

StepInner StepGuess::inner_of(const Statement& one) const {
  StepInner out;
  out.indices = indices_of(one);
  for (std::size_t r = 0; r < one.reads.size(); ++r)
    for (const Source& source : flows_[one.number][r].sources)
      if (const auto field = fields_.find(source.writer); field != fields_.end())
        out.fields[one.reads[r].read.node()] = field->second;
  return out;
}

Result<bool> StepGuess::confirmed(const StepTarget& target) {
  const Evaluation::KeepSteps as_steps(evaluation_);
  for (std::size_t number : members_->members()) {
    const Statement& one = tools_.statements.list[number];
    if (is_helper(target, one)) {
      TILEWRIGHT_TRY(pieces, evaluation_.evaluate(one));
      claims_[number] = Claim{};
      claims_[number].pieces = std::move(pieces);
      continue;
    }
    const StepValue guess = *claims_[number].pieces[0].steps;
    const auto point = points_.find(number);
    TILEWRIGHT_TRY(cases, evaluation_.situations(one));
    const StepInner inner = inner_of(one);
    for (const Situation& situation : cases) {
      TILEWRIGHT_TRY(expr, evaluation_.decided(one.value, situation.where));
      TILEWRIGHT_TRY(got, evaluation_.as_steps(expr, situation, target, inner,
                                               point == points_.end() ? nullptr : &point->second));
      if (!got || got->field != guess.field || got->indices != guess.indices) return false;
      const Set around = evaluation_.lifted(situation.where, target.bound);
      TILEWRIGHT_TRY(want, poly::intersect(tools_.polyhedra, guess.points, around, tools_.limits));
      TILEWRIGHT_TRY(have, poly::intersect(tools_.polyhedra, got->points, around, tools_.limits));
      TILEWRIGHT_TRY(same, poly::is_equal(tools_.polyhedra, want, have, tools_.limits));
      if (!same) return false;
      if (got->last && !guess.last) claims_[number].pieces[0].steps->last = got->last;
    }
  }
  return true;
}

Result<bool> StepGuess::with_fields(const StepTarget& target,
                                    const std::vector<std::size_t>& fields) {
  std::map<std::size_t, std::size_t> of_class;
  for (std::size_t number : members_->members())
    if (!is_helper(target, tools_.statements.list[number]))
      of_class.try_emplace(same_as_[number], of_class.size());
  fields_.clear();
  const std::size_t mark = tools_.conditions.size();
  for (std::size_t number : members_->members()) {
    const Statement& one = tools_.statements.list[number];
    if (is_helper(target, one)) continue;
    const std::size_t field = fields[of_class[same_as_[number]]];
    fields_[number] = field;
    if (one.value.type() != target.fold->body[field].type()) return false;
    Piece piece;
    TILEWRIGHT_TRY(domain, poly::intersect_params(tools_.polyhedra, one.domain,
                                                  tools_.statements.sizes, tools_.limits));
    piece.where = std::move(domain);
    StepValue steps;
    steps.target = &target;
    steps.field = field;
    steps.indices = indices_of(one);
    if (target.scanned >= 0 && points_.contains(number)) steps.last = points_[number].point[0];
    steps.points = guesses_.at(number);
    piece.steps = std::move(steps);
    claims_[number] = Claim{};
    claims_[number].pieces.push_back(std::move(piece));
  }
  TILEWRIGHT_TRY(well, confirmed(target));
  if (!well) tools_.forget(mark);
  return well;
}

Result<bool> StepGuess::try_target(const StepTarget& target) {
  additions_.clear();
  points_.clear();
  indices_.assign(target.indices.size(), Term());
  indices_in_ = nullptr;
  guesses_.clear();
  for (std::size_t number : members_->members()) {
    TILEWRIGHT_TRY(well, find_additions(target, tools_.statements.list[number]));
    if (!well) return false;
  }
  tools_.forget();
  if (additions_.empty()) return false;
  add_likewise(target);
  indices_by_cells(target);
  if (std::any_of(indices_.begin(), indices_.end(), [](Term index) { return !index; }))
    return false;
  for (std::size_t number : members_->members()) {
    TILEWRIGHT_TRY(points, points_of(target, tools_.statements.list[number]));
    guesses_.emplace(number, std::move(points));
  }
  tools_.forget();
  std::set<std::size_t> classes;
  for (std::size_t number : members_->members())
    if (!is_helper(target, tools_.statements.list[number])) classes.insert(same_as_[number]);
  std::vector<std::size_t> fields(classes.size(), 0);
  for (std::size_t round = 0; round < kMaxAssignments; ++round) {
    TILEWRIGHT_TRY(well, with_fields(target, fields));
    if (well) return true;
    std::size_t at = 0;
    while (at < fields.size() && ++fields[at] == target.num_fields()) fields[at++] = 0;
    if (at == fields.size()) break;
  }
  return false;
}

Result<bool> StepGuess::find(const std::vector<std::size_t>& group) {
  members_.emplace(tools_, flows_, group);
  find_copies();
  const std::size_t before = tools_.conditions.size();
  for (const StepTarget& target : tools_.algorithm.steps()) {
    TILEWRIGHT_TRY(found, try_target(target));
    if (found) return true;
    tools_.forget(before);
  }
  return false;
}

}  // namespace tilewright::proof
