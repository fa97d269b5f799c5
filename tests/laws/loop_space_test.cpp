// SPDX-License-Identifier: Apache-2.0
//
// The loops of a nest with their bounds and guards visit each point of the nest's box exactly once. The
// Program's own provenance names the points; the domain is enumerated here from the equation.
#include <set>

#include "frontend/ir/walk.h"
#include "tests/laws/index_value.h"
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

using laws::IndexValues;
using laws::value_of;
using Points = std::map<std::vector<std::int64_t>, int>;

// Whether value_of knows it: no data and no arithmetic of other types. `unknown`: names of what is not.
bool is_index_value(ir::Expr root, const std::set<Symbol>& unknown = {}) {
  bool index = true;
  ir::walk(root, [&](ir::Expr e) {
    const ir::ExprKind kind = e.kind();
    if (const auto* var = e.as<ir::Var>()) index = index && !unknown.contains(var->name);
    index = index && (e.type() == ir::ScalarType::Index || e.type() == ir::ScalarType::Bool) &&
            kind != ir::ExprKind::Read && kind != ir::ExprKind::Cast;
  });
  return index;
}

bool has_index_bounds(const ir::Fold& fold) {
  for (NodeList<ir::Expr> bounds : {fold.lower, fold.upper})
    for (ir::Expr bound : bounds)
      if (!is_index_value(bound)) return false;
  return true;
}

// Counts the stores of each origin and role, by point.
class Visitor {
 public:
  explicit Visitor(IndexValues sizes) : values_(std::move(sizes)) {}
  std::map<std::pair<Symbol, program::OriginRole>, Points> points;
  std::int64_t steps = 0;
  static constexpr std::int64_t kMaxSteps = 400000;

  void run(program::Stmt stmt) {
    if (++steps > kMaxSteps) return;
    program::visit(
        stmt, ir::Overloaded{
                  [&](const program::Block& n) {
                    for (program::Stmt s : n.body) run(s);
                  },
                  // What depends on data belongs to equations that are not counted.
                  [&](const program::For& n) {
                    if (!is_index_value(n.lower, unknown_) || !is_index_value(n.upper, unknown_))
                      return;
                    const std::int64_t upper = value_of(n.upper, values_);
                    for (std::int64_t i = value_of(n.lower, values_); i < upper; ++i) {
                      values_[n.var] = i;
                      run(n.body);
                      if (steps > kMaxSteps) return;
                    }
                  },
                  [&](const program::If& n) {
                    if (!is_index_value(n.condition, unknown_)) return;
                    if (value_of(n.condition, values_)) {
                      run(n.then_body);
                    } else if (n.else_body) {
                      run(n.else_body);
                    }
                  },
                  [&](const program::Let& n) {
                    const bool known = is_index_value(n.value, unknown_);
                    if (known)
                      values_[n.var] = value_of(n.value, values_);
                    else
                      unknown_.insert(n.var);
                    run(n.body);
                    if (!known) unknown_.erase(n.var);
                  },
                  [&](const program::Alloc& n) { run(n.body); },
                  [&](const program::Store& n) {
                    std::vector<std::int64_t> at;
                    for (ir::Expr e : n.point)
                      if (!is_index_value(e, unknown_)) return;
                    for (ir::Expr e : n.point) at.push_back(value_of(e, values_));
                    ++points[{n.origin, n.role}][at];
                  },
                  [](const program::Prefetch&) {},
                  [&](const auto&) { ADD_FAILURE() << "build makes no others"; },
              });
  }

 private:
  IndexValues values_;
  std::set<Symbol> unknown_;  // names of values that depend on data
};

// Every point of an equation: its indices, and its fold variables when `with_fold`.
void enumerate(const ir::Equation& equation, bool with_fold, std::size_t at, IndexValues& values,
               std::vector<std::int64_t>& point, Points& out) {
  const ir::Fold* fold = equation.fold();
  const std::size_t rank = equation.indices.size();
  const std::size_t depth = rank + (with_fold && fold ? fold->vars.size() : 0);
  if (at == depth) {
    out[point] = 1;
    return;
  }
  const bool index = at < rank;
  const std::int64_t lower = index ? 0 : value_of(fold->lower[at - rank], values);
  const std::int64_t upper = value_of(index ? equation.shape[at] : fold->upper[at - rank], values);
  for (std::int64_t i = lower; i < upper; ++i) {
    values[index ? equation.indices[at] : fold->vars[at - rank]] = i;
    point.push_back(i);
    enumerate(equation, with_fold, at + 1, values, point, out);
    point.pop_back();
  }
}

// Stores beyond the edge of a tile carry points outside the shape: no cell of the equation.
Points inside(const Points& points, const ir::Equation& equation, const IndexValues& sizes) {
  Points out;
  for (const auto& [point, count] : points) {
    bool in = true;
    for (std::size_t i = 0; i < equation.indices.size(); ++i)
      in = in && point[i] >= 0 && point[i] < value_of(equation.shape[i], sizes);
    if (in) out[point] = count;
  }
  return out;
}

TEST(LoopSpace, VisitsEachPointOnce) {
  const std::uint64_t first = laws::first_seed();
  const auto cases = static_cast<std::uint64_t>(laws::num_cases(250, 20000));
  int checked = 0;
  int overruns = 0;
  int failed = 0;
  for (std::uint64_t seed = first; seed < first + cases && failed < 5; ++seed) {
    laws::Case subject(seed);
    auto built = build::build(subject.context, subject.polyhedra, subject.algorithm,
                              subject.random.schedule);
    if (!built.ok()) continue;
    for (int which = 0; which < 2; ++which) {
      const auto bindings = subject.bindings(which);
      if (!bindings) continue;
      IndexValues sizes(bindings->begin(), bindings->end());
      Visitor visitor(sizes);
      visitor.run(built->body);
      if (visitor.steps > Visitor::kMaxSteps) continue;
      for (const tree::Nest& nest : subject.random.schedule.tree.nests) {
        // A placed equation is computed where it is needed, perhaps more than once.
        const ir::Algorithm& derived = subject.random.schedule.tree.algorithm(subject.algorithm);
        const ir::Equation* equation = derived.find_equation(nest.name);
        if (!equation || nest.at) continue;
        // The equations of a loop are solved once for each of its trips.
        if (!derived.loops_around(*equation).empty()) continue;
        // A condition leaves points out, and scans and updates have statements of their own.
        if (equation->fold() && !equation->fold()->is_plain()) continue;
        if (equation->fold() && !has_index_bounds(*equation->fold())) continue;
        const bool folds = equation->fold() != nullptr;
        const auto role = folds ? program::OriginRole::Fold : program::OriginRole::Value;
        Points expected;
        IndexValues values = sizes;
        std::vector<std::int64_t> point;
        enumerate(*equation, folds, 0, values, point, expected);
        const Points got = inside(visitor.points[{equation->name, role}], *equation, sizes);
        ++checked;
        if (got == expected) continue;
        // A tile of results in registers, kept by the schedule or made for the loops of a fold, computes
        // to its end, also where the tile around it ends before; what lies beyond is never stored.
        const bool overrun = folds && got.size() == expected.size() &&
                             std::all_of(got.begin(), got.end(), [&](const auto& visit) {
                               return expected.contains(visit.first);
                             });
        if (overrun) {
          ++overruns;
          continue;
        }
        ++failed;
        ADD_FAILURE() << "equation " << equation->name.text() << ": " << got.size()
                      << " points visited, of " << expected.size() << "\n"
                      << laws::print_sizes(*bindings) << program::print(*built) << subject.text();
        break;
      }
    }
  }
  EXPECT_GT(checked, static_cast<int>(cases / 2));
  EXPECT_LT(overruns, checked / 10);
}

}  // namespace
}  // namespace tilewright
