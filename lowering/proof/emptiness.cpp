// SPDX-License-Identifier: Apache-2.0
//
// The search: settle the equalities, refute by the simplex, cut, and at last split into cases. What makes it
// end for sets without bounds: a constraint whose form has no upper bound in the set can be left out, since
// a point of the others can be moved along a direction in which it grows; among the others, cases of a form
// with few values become equalities, each of which takes a dimension away.
#include "lowering/proof/emptiness.h"

#include <algorithm>

#include "lowering/proof/lattice.h"

namespace tilewright::proof {
namespace {

constexpr int kCutRounds = 2;
constexpr std::size_t kCutsPerRound = 2;
// Cuts of larger ones have larger numbers and cut off less.
constexpr Int kMostDenominator = 64;
// A constraint with at most so many values is split rather than a coordinate.
constexpr Int kFewValues = 4;

enum class Found { Nothing, Point, Stopped };

class Search {
 public:
  Search(const poly::BasicSet& set, const EmptinessLimits& limits)
      : start_(facts_of(set)),
        num_variables_(start_.variables.size()),
        max_depth_(limits.max_depth),
        work_{limits.max_operations, 0},
        derivations_(start_.facts.size()) {}

  Emptiness run() {
    Emptiness result;
    if (!start_.refusal.empty()) {
      result.reason = start_.refusal;
      return result;
    }
    Branch root;
    Lattice lattice(start_.facts, num_variables_, derivations_, work_);
    Found found = search(lattice, root, 0);
    result.operations = work_.done;
    if (found == Found::Point) {
      result.verdict = Emptiness::Verdict::NotEmpty;
      for (std::size_t v = 0; v < num_variables_; ++v) {
        if (start_.variables[v][0] != '[') result.point[start_.variables[v]] = point_[v];
      }
    } else if (found == Found::Nothing) {
      if (std::optional<Evidence> evidence = derivations_.evidence(root)) {
        result.verdict = Emptiness::Verdict::Empty;
        result.evidence = std::move(*evidence);
      }
    }
    if (result.verdict == Emptiness::Verdict::Unknown) {
      result.reason = work_.is_spent() ? "the limit of operations was reached"
                      : is_too_deep_   ? "too many cases within cases"
                                       : "a number left 62 bits";
    }
    return result;
  }

 private:
  // Nothing: the branch is refuted. Point: `point_` satisfies all facts of the conjunction.
  Found search(Lattice& lattice, Branch& branch, std::uint32_t depth) {
    lattice.write_to(branch);
    for (;;) {
      if (work_.is_spent()) return Found::Stopped;
      Status status = lattice.settle();
      if (status != Status::Good) return ended(status);
      std::vector<std::size_t> active = lattice.active();
      Tableau tableau(active.size(), work_);
      for (const Line& line : lattice.lines()) {
        if (!tableau.add(projected(lattice, line, active))) return Found::Stopped;
      }
      std::optional<Found> found = cut(lattice, tableau, active);
      if (found) return *found;
      if (lattice.has_equalities()) continue;
      return split(lattice, tableau, active, branch, depth);
    }
  }

  static Found ended(Status status) {
    return status == Status::Contradiction ? Found::Nothing : Found::Stopped;
  }

  // Over the active coordinates only.
  static std::vector<Int> projected(const Lattice& lattice, const Line& line,
                                    const std::vector<std::size_t>& active) {
    std::vector<Int> row;
    for (std::size_t v : active) row.push_back(line.numbers[v]);
    row.push_back(lattice.constant(line));
    return row;
  }

  // Solves, and cuts off vertices that are not integer. No answer when that does not decide, or when
  // equalities were found.
  std::optional<Found> cut(Lattice& lattice, Tableau& tableau,
                           const std::vector<std::size_t>& active) {
    for (int round = 0;; ++round) {
      SolveStatus status = tableau.solve();
      if (status == SolveStatus::Stopped) return Found::Stopped;
      if (status == SolveStatus::Infeasible) return ended(lattice.end(tableau.conflict()));
      std::vector<std::size_t> fractional;
      for (std::size_t k = 0; k < active.size(); ++k) {
        Tableau::Fraction value = tableau.value(k);
        if (value.numerator % value.denominator != 0) fractional.push_back(k);
      }
      if (is_point(lattice, rounded(lattice, tableau, active))) return Found::Point;
      if (fractional.empty()) return Found::Stopped;
      if (std::vector<Multiple> sum = tableau.zero_sum(); !sum.empty()) {
        if (lattice.equate(sum) == Status::Stopped) return Found::Stopped;
        return std::nullopt;
      }
      if (round == kCutRounds) return std::nullopt;
      std::size_t num_cuts = 0;
      for (std::size_t k : fractional) {
        if (tableau.value(k).denominator > kMostDenominator) continue;
        std::vector<Multiple> sum = tableau.cut(k);
        if (sum.empty()) continue;
        Status added = lattice.add_cut(sum);
        if (added != Status::Good) return ended(added);
        if (++num_cuts == kCutsPerRound) break;
      }
      if (num_cuts == 0 || lattice.has_equalities()) return std::nullopt;
      const std::vector<Line>& lines = lattice.lines();
      for (std::size_t i = lines.size() - num_cuts; i < lines.size(); ++i) {
        if (!tableau.add(projected(lattice, lines[i], active))) return Found::Stopped;
      }
    }
  }

  // The vertex with each coordinate rounded to the nearest integer.
  static std::vector<Int> rounded(const Lattice& lattice, const Tableau& tableau,
                                  const std::vector<std::size_t>& active) {
    std::vector<Int> at(lattice.num_coordinates());
    for (std::size_t k = 0; k < active.size(); ++k) {
      Tableau::Fraction value = tableau.value(k);
      Int down = floored(value.numerator, value.denominator);
      Int rest = remainder_of(value.numerator, value.denominator);
      at[active[k]] = rest > value.denominator / 2 ? down + 1 : down;
    }
    return at;
  }

  bool is_point(const Lattice& lattice, const std::vector<Int>& at) {
    for (const Line& line : lattice.lines()) {
      Int sum = lattice.constant(line);
      for (std::size_t v = 0; v < at.size(); ++v) {
        if (!add_product(sum, line.numbers[v], at[v])) return false;
      }
      if (sum < 0) return false;
    }
    std::optional<std::vector<Int>> variables = lattice.variables_at(at, false);
    if (!variables) return false;
    point_ = std::move(*variables);
    return dropped_ > 0 || satisfies();
  }

  // `point_` against the facts of the conjunction.
  bool satisfies() const {
    for (const Fact& fact : start_.facts) {
      std::optional<Int> value = value_at(fact, point_, true);
      if (!value || (fact.equality ? *value != 0 : *value < 0)) return false;
    }
    return true;
  }

  std::optional<Int> value_at(const Fact& fact, const std::vector<Int>& at, bool constant) const {
    Int sum = constant ? fact.row[num_variables_] : 0;
    for (std::size_t v = 0; v < num_variables_; ++v) {
      if (!add_product(sum, fact.row[v], at[v])) return std::nullopt;
    }
    return sum;
  }

  // How far each constraint reaches, and the sum of directions in which some grow for ever.
  struct Reach {
    std::vector<Int> ray;
    // Nothing: without bound.
    std::vector<std::optional<Int>> most;
    bool is_bounded = true;
  };

  std::optional<Reach> reach(const Lattice& lattice, Tableau& tableau,
                             const std::vector<std::size_t>& active) {
    const std::vector<Line>& lines = lattice.lines();
    Reach result{std::vector<Int>(lattice.num_coordinates()),
                 std::vector<std::optional<Int>>(lines.size()), true};
    std::vector<bool> grows(lines.size());
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
      if (grows[i]) continue;
      Tableau::Maximum maximum = tableau.maximize(i);
      if (maximum.kind == Tableau::Maximum::Kind::Stopped) return std::nullopt;
      if (maximum.kind == Tableau::Maximum::Kind::Finite) {
        result.most[i] = floored(maximum.value.numerator, maximum.value.denominator);
        continue;
      }
      result.is_bounded = false;
      for (std::size_t k = 0; k < active.size(); ++k) {
        if (!add_product(result.ray[active[k]], 1, maximum.ray[k])) return std::nullopt;
      }
      for (std::size_t j = 0; j < lines.size(); ++j) {
        Int growth = 0;
        for (std::size_t k = 0; k < active.size(); ++k) {
          if (!add_product(growth, lines[j].numbers[active[k]], maximum.ray[k])) {
            return std::nullopt;
          }
        }
        grows[j] = grows[j] || growth > 0;
      }
    }
    return result;
  }

  Found split(Lattice& lattice, Tableau& tableau, const std::vector<std::size_t>& active,
              Branch& branch, std::uint32_t depth) {
    if (depth >= max_depth_) {
      is_too_deep_ = true;
      return Found::Stopped;
    }
    // Of the vertex, before maxima move it.
    std::optional<std::size_t> fractional;
    Int below = 0;
    for (std::size_t k = 0; k < active.size() && !fractional; ++k) {
      Tableau::Fraction value = tableau.value(k);
      below = floored(value.numerator, value.denominator);
      if (value.numerator % value.denominator != 0) fractional = active[k];
    }
    if (!fractional) return Found::Stopped;
    std::optional<Reach> far = reach(lattice, tableau, active);
    if (!far) return Found::Stopped;
    if (!far->is_bounded) return without_unbounded(lattice, *far, branch, depth);

    std::size_t n = lattice.num_coordinates();
    std::vector<Int> direction(n);
    std::size_t narrow = 0;
    for (std::size_t i = 1; i < far->most.size(); ++i) {
      if (*far->most[i] < *far->most[narrow]) narrow = i;
    }
    Int bound = below;
    if (*far->most[narrow] < kFewValues) {
      const Line& line = lattice.lines()[narrow];
      std::copy_n(line.numbers.begin(), n, direction.begin());
      bound = -lattice.constant(line);
    } else {
      direction[*fractional] = 1;
    }
    return cases(lattice, direction, bound, branch, depth);
  }

  // direction <= bound, or direction >= bound + 1.
  Found cases(Lattice& lattice, const std::vector<Int>& direction, Int bound, Branch& branch,
              std::uint32_t depth) {
    std::optional<std::vector<Int>> form = lattice.over_variables(direction);
    if (!form || !fits(bound) || bound == kMost) return Found::Stopped;
    branch.bound = bound;
    for (std::uint32_t v = 0; v < form->size(); ++v) {
      if ((*form)[v] != 0) branch.form.push_back({(*form)[v], v});
    }
    std::vector<Int> opposite(direction.size());
    for (std::size_t v = 0; v < direction.size(); ++v) opposite[v] = -direction[v];
    auto low = std::make_unique<Branch>();
    Lattice low_lattice = lattice;
    branch.low_fact = low_lattice.assume(opposite, bound);
    Found found = search(low_lattice, *low, depth + 1);
    if (found != Found::Nothing) return found;
    if (!derivations_.is_used(*low, branch.low_fact)) return replace(branch, std::move(low));
    auto high = std::make_unique<Branch>();
    branch.high_fact = lattice.assume(direction, -bound - 1);
    found = search(lattice, *high, depth + 1);
    if (found != Found::Nothing) return found;
    if (!derivations_.is_used(*high, branch.high_fact)) return replace(branch, std::move(high));
    branch.low = std::move(low);
    branch.high = std::move(high);
    return Found::Nothing;
  }

  // One case refutes the whole branch without being assumed.
  static Found replace(Branch& branch, std::unique_ptr<Branch> by) {
    by->made.insert(by->made.begin(), branch.made.begin(), branch.made.end());
    Branch whole = std::move(*by);
    branch = std::move(whole);
    return Found::Nothing;
  }

  // Without the constraints that grow for ever in some direction in which none falls.
  Found without_unbounded(Lattice& lattice, const Reach& far, Branch& branch, std::uint32_t depth) {
    std::optional<std::vector<Int>> ray = lattice.variables_at(far.ray, true);
    if (!ray) return Found::Stopped;
    std::vector<bool> keep;
    for (const std::optional<Int>& most : far.most) keep.push_back(most.has_value());
    lattice.keep_lines(keep);
    Lattice fewer = lattice;
    if (fewer.concentrate() == Status::Good && fewer.active().size() < lattice.active().size()) {
      lattice = std::move(fewer);
    }
    ++dropped_;
    Found found = search(lattice, branch, depth + 1);
    --dropped_;
    if (found != Found::Point) return found;
    Int steps = 0;
    for (const Fact& fact : start_.facts) {
      std::optional<Int> value = value_at(fact, point_, true);
      std::optional<Int> growth = value_at(fact, *ray, false);
      if (!value || !growth) return Found::Stopped;
      if (fact.equality || *value >= 0) continue;
      if (*growth <= 0) continue;
      steps = std::max(steps, -floored(*value, *growth));
    }
    for (std::size_t v = 0; v < num_variables_; ++v) {
      if (!add_product(point_[v], steps, (*ray)[v])) return Found::Stopped;
    }
    return dropped_ > 0 || satisfies() ? Found::Point : Found::Stopped;
  }

  Facts start_;
  std::size_t num_variables_ = 0;
  std::uint32_t max_depth_ = 0;
  Work work_;
  Derivations derivations_;
  std::vector<Int> point_;
  bool is_too_deep_ = false;
  // How many times constraints were left out, on the way to the branch at hand.
  int dropped_ = 0;
};

}  // namespace

Emptiness prove_empty(const poly::BasicSet& set, const EmptinessLimits& limits) {
  return Search(set, limits).run();
}

}  // namespace tilewright::proof
