// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/reach.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "frontend/base/format.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/check/affine_view.h"
#include "schedules/polyhedra/index.h"

namespace tilewright::check {

namespace {

using poly::AffineExpr;
using poly::BasicSet;
using poly::Region;

// Questions about one Program, and those of them that may reach the limit of operations: each takes as long as
// the limit allows.
constexpr int kMaxAsked = 1024;
constexpr int kMaxCutShort = 16;
// Conjunctions of a set before the empty ones are looked for.
constexpr std::size_t kPruneAbove = 8;
// Extents, and unknowns without a range, are looked for up to here; no run is as large.
constexpr std::int64_t kFar = std::int64_t{1} << 31;
constexpr const char* kTotal = "+";  // the sum of the extents; no name of a Program

// A conjunction in construction: of regions, each a union.
class Question {
 public:
  Question(poly::Context& isl, const poly::Limits& limits) : isl_(isl), limits_(limits) {
    add_name(kTotal);
  }

  void add_name(std::string_view name) {
    if (std::find(dims_.begin(), dims_.end(), name) == dims_.end()) dims_.emplace_back(name);
  }
  void require(const BasicSet& piece) { require(Region{{piece}, true}, Expr()); }
  // `source` is where the region comes from, for the reader.
  void require(const Region& region, Expr source) {
    if (!region.exact) leave_open(source);
    const bool grows = region.pieces.size() > 1;
    if (grows && pieces_.size() * region.pieces.size() > kPruneAbove) prune();
    if (pieces_.size() * region.pieces.size() > poly::kMaxPieces) return leave_open(source);
    pieces_ = poly::meet({std::move(pieces_), true}, region).pieces;
  }

  // It has a point, but none within the bounds.
  bool far() const { return far_; }
  // Of those within the bounds; none when the set is empty or `far`.
  Result<std::optional<poly::Point>> smallest(const BasicSet& bounds) {
    std::optional<poly::Point> best;
    std::optional<Failure> failure;
    for (const BasicSet& piece : pieces_) {
      auto point = smallest_of(piece, bounds);
      if (!point.ok()) {
        failure = Failure{point.diagnostics()};
      } else if (*point && (!best || before(**point, *best))) {
        best = *std::move(point);
      }
    }
    // A point is one, whatever became of the other pieces.
    if (!best && failure) return *failure;
    return best;
  }

  // The expression of which not all cases are in the set; null: none.
  Expr too_many_cases() const { return too_many_cases_; }

 private:
  void leave_open(Expr source) {
    if (!too_many_cases_) too_many_cases_ = source;
  }

  poly::Set set_of(const BasicSet& piece) const { return {poly::Space{{}, dims_}, piece}; }

  void prune() {
    std::erase_if(pieces_, [&](const BasicSet& piece) {
      const auto empty = poly::is_empty(isl_, set_of(piece), limits_);
      return empty.ok() && *empty;
    });
  }

  Result<std::optional<poly::Point>> smallest_of(const BasicSet& piece, const BasicSet& bounds) {
    const poly::Set set = set_of(piece);
    TILEWRIGHT_TRY(empty, poly::is_empty(isl_, set, limits_));
    if (empty) return std::optional<poly::Point>();
    TILEWRIGHT_TRY(point, poly::smallest_point(isl_, poly::constrained(set, bounds), limits_));
    far_ = far_ || !point;
    return point;
  }

  static bool before(const poly::Point& a, const poly::Point& b) {
    return std::lexicographical_compare(
        a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(),
        [](const auto& x, const auto& y) { return x.second < y.second; });
  }

  poly::Context& isl_;
  const poly::Limits& limits_;
  std::vector<std::string> dims_;
  std::vector<BasicSet> pieces_{BasicSet()};
  Expr too_many_cases_;
  bool far_ = false;
};

AffineExpr variable(Symbol name) { return AffineExpr::variable(name.text()); }

// What the declarations say of the sizes.
BasicSet declared(const program::Program& program) {
  BasicSet out;
  AffineExpr total;
  for (const ir::ExtentDecl& extent : program.extents) {
    const AffineExpr size = variable(extent.name);
    total = total + size;
    out.at_least(size, AffineExpr(std::max<std::int64_t>(extent.min, 0)));
    if (extent.max) out.at_least(AffineExpr(*extent.max), size);
    if (extent.multiple_of > 1) out.equal(poly::modulo(size, extent.multiple_of), AffineExpr());
  }
  return out.equal(AffineExpr::variable(kTotal), total);
}

// Variables whose value matters for one of the expressions, directly or through a `let`.
std::set<Symbol> needed(const std::vector<Step>& path, const Decision& decision) {
  std::set<Symbol> out;
  auto add = [&](Expr expr) {
    if (!expr) return;
    for (Symbol name : ir::free_vars(expr)) out.insert(name);
  };
  add(decision.a);
  add(decision.b);
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    if (step->kind == Step::Kind::Value && !out.contains(step->var)) continue;
    add(step->a);
    add(step->b);
  }
  return out;
}

// Where the variable has the value of the expression.
Region value_region(Symbol var, Expr view) {
  const auto cases = poly::index_cases(view);
  if (!cases) return Region::everywhere(false);
  Region out{{}, cases->exact};
  for (const poly::IndexCase& one : cases->cases) {
    BasicSet piece = one.condition;
    out.pieces.push_back(piece.equal(variable(var), one.value));
  }
  return out;
}

class Asker {
 public:
  Asker(ir::Context& context, const program::Program& program, poly::Context& isl,
        const poly::Limits& limits)
      : context_(context), program_(program), view_(context, program), question_(isl, limits) {}

  Result<Reach> ask(const std::vector<Step>& path, const Decision& decision, bool first) {
    for (const ir::ExtentDecl& extent : program_.extents) question_.add_name(extent.name.text());
    question_.require(declared(program_));
    for (Expr requirement : program_.requirements) holds(requirement, true);
    const std::set<Symbol> names = needed(path, decision);
    for (const Step& step : path)
      if (step.kind != Step::Kind::Value || names.contains(step.var)) take(step);
    outcome(decision, first);
    return answer();
  }

 private:
  void require(Expr source, const Region& region) {
    for (; num_unknowns_ < view_.unknowns().size(); ++num_unknowns_) {
      const Unknown& unknown = view_.unknowns()[num_unknowns_];
      question_.add_name(unknown.name.text());
      BasicSet range;
      if (unknown.range.lo) range.at_least(variable(unknown.name), AffineExpr(*unknown.range.lo));
      if (unknown.range.hi) range.at_least(AffineExpr(*unknown.range.hi), variable(unknown.name));
      question_.require(range);
    }
    question_.require(region, source);
  }

  void holds(Expr condition, bool truth) {
    view_.begin_statement();
    require(condition, poly::region_of(view_.of(condition), truth));
  }

  void take(const Step& step) {
    view_.begin_statement();
    switch (step.kind) {
      case Step::Kind::Holds: return holds(step.a, true);
      case Step::Kind::Fails: return holds(step.a, false);
      case Step::Kind::Range: {
        question_.add_name(step.var.text());
        const Expr lower = view_.of(step.a);
        const Expr upper = view_.of(step.b);
        return require(step.b, poly::range_region(std::string(step.var.text()), lower, upper));
      }
      case Step::Kind::Value: break;
    }
    if (step.a.type() != ir::ScalarType::Index) return view_.define(step.var, step.a);
    question_.add_name(step.var.text());
    const Expr view = view_.of(step.a);
    require(step.a, value_region(step.var, view));
  }

  void outcome(const Decision& decision, bool first) {
    if (decision.kind == program::DecisionKind::Branch) return holds(decision.a, first);
    view_.begin_statement();
    const Expr a = view_.of(decision.a);
    const Expr b = view_.of(decision.b);
    const bool is_loop = decision.kind == program::DecisionKind::Loop;
    // A loop: that it is empty, that it is not. A minimum: that the one or the other is smaller.
    const Expr condition = first ? (is_loop ? context_.le(b, a) : context_.lt(a, b))
                                 : (is_loop ? context_.lt(a, b) : context_.lt(b, a));
    require(decision.b, poly::region_of(condition));
  }

  Result<Reach> answer() {
    BasicSet bounds;
    bounds.at_least(AffineExpr(kFar), AffineExpr::variable(kTotal));
    for (const Unknown& unknown : view_.unknowns()) {
      if (!unknown.range.lo) bounds.at_least(variable(unknown.name), AffineExpr(-kFar));
      if (!unknown.range.hi) bounds.at_least(AffineExpr(kFar), variable(unknown.name));
    }
    TILEWRIGHT_TRY(point, question_.smallest(bounds));
    Reach out;
    if (!point) {
      if (question_.far()) out.open = "it happens only at sizes beyond " + std::to_string(kFar);
      out.kind = question_.far() ? Reach::Kind::Undecided : Reach::Kind::Impossible;
      return out;
    }
    out.kind = Reach::Kind::Possible;
    for (const ir::ExtentDecl& extent : program_.extents)
      out.sizes[extent.name] = point->value(extent.name.text()).value_or(extent.min);
    explain(out);
    return out;
  }

  void explain(Reach& out) const {
    const std::vector<Unknown>& unknowns = view_.unknowns();
    const auto data = std::find_if(unknowns.begin(), unknowns.end(),
                                   [](const Unknown& unknown) { return unknown.on_data; });
    if (data != unknowns.end()) {
      out.on_data = true;
      out.open = "it depends on the inputs: " + in_backticks(ir::print(data->stands_for));
    } else if (!unknowns.empty()) {
      out.open = in_backticks(ir::print(unknowns.front().stands_for)) + " is not affine";
    } else if (const Expr expr = question_.too_many_cases()) {
      out.open = in_backticks(ir::print(expr)) + " has too many cases";
    }
  }

  ir::Context& context_;
  const program::Program& program_;
  AffineView view_;
  Question question_;
  std::size_t num_unknowns_ = 0;  // those that the question has
};

}  // namespace

Reachability::Reachability(ir::Context& context, const program::Program& program,
                           poly::Limits limits)
    : context_(context),
      program_(program),
      decisions_(decisions_of(context, program)),
      limits_(limits) {}

Reach Reachability::find(std::size_t decision, bool first) {
  Reach undecided;
  if (asked_ == kMaxAsked || cut_short_ == kMaxCutShort) {
    undecided.open =
        asked_ == kMaxAsked
            ? "it comes after the first " + std::to_string(kMaxAsked) + " that were asked"
            : "too many before it took more than " + std::to_string(limits_.max_operations) +
                  " operations";
    return undecided;
  }
  ++asked_;
  const Decision& one = decisions_.list[decision];
  auto answer = Asker(context_, program_, isl_, limits_).ask(decisions_.path(one), one, first);
  if (answer.ok()) return *std::move(answer);
  ++cut_short_;
  undecided.open = answer.diagnostics().front().message;
  return undecided;
}

}  // namespace tilewright::check
