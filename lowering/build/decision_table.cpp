// SPDX-License-Identifier: Apache-2.0
#include "lowering/build/decision_table.h"

#include <algorithm>

#include "frontend/base/format.h"
#include "frontend/ir/text.h"
#include "schedules/polyhedra/domain.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::build {

namespace {

using poly::Set;

// A boundary with work to do is worth more than one at empty tensors.
constexpr std::int64_t kWorthwhile = 3;

class Decider {
 public:
  Decider(poly::Context& polyhedra, const ir::Algorithm& algorithm,
          std::span<const tree::Schedule> schedules)
      : polyhedra_(polyhedra),
        algorithm_(algorithm),
        schedules_(schedules),
        space_{poly::extent_names(algorithm), {}},
        allowed_(poly::assumptions(algorithm).sizes) {}

  // `at`: the schedule that a failure is about.
  Result<DecisionTable> run(std::size_t& at) {
    TILEWRIGHT_CHECK_OK(names_differ(at));
    for (at = 0; at < schedules_.size(); ++at) {
      TILEWRIGHT_TRY(guard, guard_of(schedules_[at]));
      TILEWRIGHT_TRY(own, poly::intersect(polyhedra_, allowed_, guard));
      guards_.push_back(std::move(guard));
      own_.push_back(std::move(own));
    }
    Set earlier(space_);
    for (at = 0; at < schedules_.size(); ++at) {
      TILEWRIGHT_TRY(reach, poly::subtract(polyhedra_, own_[at], earlier));
      TILEWRIGHT_TRY(empty, poly::is_empty(polyhedra_, reach));
      const bool last = at + 1 == schedules_.size();
      if (empty && !last) return never_runs(at);
      TILEWRIGHT_CHECK_OK(add_boundaries(at, earlier));
      TILEWRIGHT_TRY(text, text_of(reach, empty));
      out_.sizes.push_back(std::move(text));
      TILEWRIGHT_TRY(more, poly::unite(polyhedra_, earlier, own_[at]));
      earlier = std::move(more);
    }
    return std::move(out_);
  }

 private:
  Result<Ok> names_differ(std::size_t& at) const {
    for (at = 0; at < schedules_.size(); ++at)
      for (std::size_t other = 0; other < at; ++other)
        if (schedules_[at].name == schedules_[other].name)
          return fail(Code::VariantName, schedules_[at].span,
                      "two schedules are called " + in_backticks(schedules_[at].name.text()),
                      "give each schedule a name of its own; `generic` is the one that takes every "
                      "size");
    return Ok{};
  }

  Result<Set> guard_of(const tree::Schedule& schedule) const {
    poly::Region region = poly::Region::everywhere();
    for (std::size_t i = 0; i < schedule.guards.size(); ++i) {
      const poly::Region one = poly::region_of(schedule.guards[i]);
      region = poly::meet(region, one);
      if (one.exact && region.exact) continue;
      return fail(
          Diagnostic{Code::GuardNotAffine,
                     i < schedule.guard_spans.size() ? schedule.guard_spans[i] : schedule.span,
                     "whether a schedule is ever chosen cannot be decided by the guard " +
                         in_backticks(ir::print(schedule.guards[i])),
                     "compare sums of extents with constant factors, and divide by constants alone",
                     {},
                     {{"schedule", std::string(schedule.name.text())}}});
    }
    return Set(space_, std::move(region.pieces));
  }

  // The rows before take everything: which of them, and an example.
  Failure never_runs(std::size_t at) const {
    const tree::Schedule& schedule = schedules_[at];
    Diagnostic d{Code::VariantShadowed,
                 schedule.guard_spans.empty() ? schedule.span : schedule.guard_spans.front(),
                 "the schedule " + in_backticks(schedule.name.text()) + " never runs: ",
                 "put it before them, or narrow their guards",
                 {},
                 {}};
    std::string names;
    for (std::size_t i = 0; i < at; ++i) {
      const auto both = poly::intersect(polyhedra_, own_[i], own_[at]);
      if (!both.ok()) continue;
      const auto point = poly::smallest_point(polyhedra_, *both);
      if (!point.ok() || !*point) continue;
      names += (names.empty() ? "" : ", ") + in_backticks(schedules_[i].name.text());
      d.evidence.emplace_back("runs " + std::string(schedules_[i].name.text()) + " at",
                              (*point)->text());
    }
    for (const auto& guard : schedule.guards) d.evidence.emplace_back("guard", ir::print(guard));
    if (names.empty()) {
      d.message += "the algorithm allows none of the sizes of its guard";
      d.remedy = "widen its guard, or leave it out";
    } else {
      d.message += "the schedules before it take every size of its guard: " + names;
    }
    return fail(std::move(d));
  }

  // One step to each side of each constraint where the others hold and no row before takes the sizes.
  Result<Ok> add_boundaries(std::size_t at, const Set& earlier) {
    for (const poly::BasicSet& piece : guards_[at].pieces()) {
      for (std::size_t i = 0; i < piece.inequalities.size(); ++i)
        for (std::int64_t value : {0, -1}) {
          poly::BasicSet edge = piece;
          edge.inequalities.erase(edge.inequalities.begin() + static_cast<std::ptrdiff_t>(i));
          edge.equal(piece.inequalities[i], poly::AffineExpr(value));
          TILEWRIGHT_CHECK_OK(add_boundary(edge, earlier));
        }
      for (std::size_t i = 0; i < piece.equalities.size(); ++i)
        for (std::int64_t value : {-1, 0, 1}) {
          poly::BasicSet edge = piece;
          edge.equalities.erase(edge.equalities.begin() + static_cast<std::ptrdiff_t>(i));
          edge.equal(piece.equalities[i], poly::AffineExpr(value));
          TILEWRIGHT_CHECK_OK(add_boundary(edge, earlier));
        }
    }
    return Ok{};
  }

  Result<Ok> add_boundary(const poly::BasicSet& edge, const Set& earlier) {
    TILEWRIGHT_TRY(on_edge, poly::intersect(polyhedra_, allowed_, Set(space_, edge)));
    TILEWRIGHT_TRY(open, poly::subtract(polyhedra_, on_edge, earlier));
    poly::BasicSet worthwhile;
    for (const std::string& name : space_.params)
      worthwhile.at_least(poly::AffineExpr::variable(name), poly::AffineExpr(kWorthwhile));
    TILEWRIGHT_TRY(with_work, poly::intersect(polyhedra_, open, Set(space_, worthwhile)));
    TILEWRIGHT_TRY(point, poly::smallest_point(polyhedra_, with_work));
    if (!point) {
      TILEWRIGHT_TRY(any, poly::smallest_point(polyhedra_, open));
      point = std::move(any);
    }
    if (!point) return Ok{};
    DecisionTable::Boundary boundary;
    for (const ir::ExtentDecl& extent : algorithm_.extents) {
      const auto size = point->value(extent.name.text());
      if (!size) return Ok{};
      boundary.sizes[extent.name] = *size;
    }
    const poly::Binding binding = point->binding();
    while (!guards_[boundary.row].contains(binding).value_or(false)) ++boundary.row;
    const bool known = std::any_of(out_.boundaries.begin(), out_.boundaries.end(),
                                   [&](const auto& b) { return b.sizes == boundary.sizes; });
    if (!known) out_.boundaries.push_back(std::move(boundary));
    return Ok{};
  }

  Result<std::string> text_of(const Set& reach, bool empty) const {
    if (empty) return std::string("never");
    TILEWRIGHT_TRY(short_form, poly::gist(polyhedra_, reach, allowed_));
    TILEWRIGHT_TRY(simple, poly::simplify(polyhedra_, short_form));
    std::string text = simple.text();
    if (const auto brace = text.find('{'); brace != std::string::npos) text.erase(0, brace + 1);
    if (const auto brace = text.rfind('}'); brace != std::string::npos) text.erase(brace);
    std::string out;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(';', begin), text.size());
      std::string piece = text.substr(begin, end - begin);
      piece.erase(0, piece.find_first_not_of(" :[]"));
      while (!piece.empty() && piece.back() == ' ') piece.pop_back();
      out += (out.empty() ? "" : " or ") + piece;
      begin = end + 1;
    }
    return out.empty() ? std::string("every size") : out;
  }

  poly::Context& polyhedra_;
  const ir::Algorithm& algorithm_;
  std::span<const tree::Schedule> schedules_;
  poly::Space space_;
  Set allowed_;
  std::vector<Set> guards_;
  std::vector<Set> own_;  // the guard's sizes that the algorithm allows
  DecisionTable out_;
};

}  // namespace

Result<DecisionTable> decide(poly::Context& polyhedra, const ir::Algorithm& algorithm,
                             std::span<const tree::Schedule> schedules, std::size_t* at) {
  std::size_t where = 0;
  auto table = Decider(polyhedra, algorithm, schedules).run(where);
  if (at) *at = where;
  return table;
}

}  // namespace tilewright::build
