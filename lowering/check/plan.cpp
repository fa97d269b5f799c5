// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/plan.h"

#include <algorithm>
#include <set>

#include "frontend/ir/walk.h"

namespace tilewright::check {

namespace {

constexpr std::size_t kMaxCandidates = 400;
// Combinations of all extents: the values per extent that still give about this many.
constexpr std::size_t kMaxCombinations = 256;

using Sizes = std::vector<std::int64_t>;  // in order of declaration

ir::Bindings bindings_of(const program::Program& program, const Sizes& sizes) {
  ir::Bindings out;
  for (std::size_t i = 0; i < sizes.size(); ++i) out[program.extents[i].name] = sizes[i];
  return out;
}

class Planner {
 public:
  Planner(const program::Program& program)
      : program_(program), values_(candidate_values(program)) {}

  // The sizes one past every tile; to be run whatever they reach, if they are cheap.
  const Sizes& past() const { return past_; }
  // Likewise: a value that depends on an extent alone is no outcome that a run reaches.
  bool at_threshold(const Sizes& sizes) const { return thresholds_.contains(sizes); }

  std::vector<Sizes> candidates() {
    if (std::any_of(values_.begin(), values_.end(), [](const auto& v) { return v.values.empty(); }))
      return {};
    plain();
    at_thresholds();
    one_at_a_time();
    combinations();
    return std::move(out_);
  }

 private:
  void add(const Sizes& sizes) {
    if (out_.size() < kMaxCandidates && seen_.insert(sizes).second &&
        satisfies(program_, bindings_of(program_, sizes)))
      out_.push_back(sizes);
  }
  // The smallest candidate value at or above `value`, else the largest.
  std::int64_t near(std::size_t extent, std::int64_t value) const {
    const auto& values = values_[extent].values;
    const auto it = std::lower_bound(values.begin(), values.end(), value);
    return it == values.end() ? values.back() : *it;
  }
  Sizes all(std::int64_t value) const {
    Sizes sizes(values_.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = near(i, value);
    return sizes;
  }
  // Primes that differ between extents, 1, 0: what is run whatever the guards are.
  void plain() {
    constexpr std::int64_t primes[] = {3, 5, 2, 7};
    Sizes mixed(values_.size());
    for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] = near(i, primes[i % 4]);
    add(mixed);
    for (std::int64_t value : {1, 0, 2, 3, 5, 7}) add(all(value));
    // One past the largest constant that each extent meets; 2 where it meets none.
    Sizes past(values_.size());
    for (std::size_t i = 0; i < past.size(); ++i)
      past[i] = near(i, std::max<std::int64_t>(values_[i].largest_constant + 1, 2));
    add(past);
    past_ = past;
  }
  void at_thresholds() {
    for (std::int64_t base : {3, 1})
      for (std::size_t extent = 0; extent < values_.size(); ++extent)
        for (std::int64_t value : values_[extent].thresholds) {
          Sizes sizes = all(base);
          sizes[extent] = value;
          if (base == 3) thresholds_.insert(sizes);
          add(sizes);
        }
  }
  void one_at_a_time() {
    for (std::int64_t base : {3, 1, 7})
      for (std::size_t extent = 0; extent < values_.size(); ++extent)
        for (std::int64_t value : values_[extent].values) {
          Sizes sizes = all(base);
          sizes[extent] = value;
          add(sizes);
        }
  }
  void combinations() {
    if (values_.empty()) return;
    std::size_t per_extent = 2;
    auto total = [&](std::size_t n) {
      std::size_t product = 1;
      for (const auto& values : values_) {
        product *= spread(values, n);
        if (product > kMaxCombinations) break;
      }
      return product;
    };
    while (per_extent < 12 && total(per_extent + 1) <= kMaxCombinations) ++per_extent;
    if (total(per_extent) > kMaxCombinations) return;
    Sizes sizes(values_.size());
    combine(0, per_extent, sizes);
  }
  // How many values of an extent take part: one where it meets no constant.
  static std::size_t spread(const CandidateValues& values, std::size_t per_extent) {
    return values.largest_constant == 0 ? 1 : std::min(per_extent, values.values.size());
  }
  // Values spread evenly over those of the extent, ends included.
  void combine(std::size_t extent, std::size_t per_extent, Sizes& sizes) {
    if (extent == sizes.size()) return add(sizes);
    const auto& values = values_[extent].values;
    const std::size_t n = spread(values_[extent], per_extent);
    if (n == 1) {
      sizes[extent] = near(extent, 1);
      return combine(extent + 1, per_extent, sizes);
    }
    for (std::size_t i = 0; i < n; ++i) {
      sizes[extent] = values[i * (values.size() - 1) / (n - 1)];
      combine(extent + 1, per_extent, sizes);
    }
  }

  const program::Program& program_;
  std::vector<CandidateValues> values_;
  std::vector<Sizes> out_;
  Sizes past_;
  std::set<Sizes> thresholds_;
  std::set<Sizes> seen_;
};

struct Weighed {
  Candidate candidate;
  std::vector<std::uint64_t> outcomes;
  std::size_t rank = 0;  // order of making, which breaks ties
  bool plain = false;  // stays, whatever it reaches
  bool past = false;
  bool at_threshold = false;
};

// What the inputs and outputs themselves cost, read or not.
std::int64_t cells(const program::Program& program, const ir::Bindings& sizes) {
  constexpr std::int64_t most = std::int64_t{1} << 50;
  std::int64_t total = 0;
  for (const program::Parameter& parameter : program.parameters) {
    std::int64_t product = 1;
    for (ir::Expr extent : parameter.shape) {
      const std::int64_t size = std::max<std::int64_t>(ir::evaluate_extents(extent, sizes), 0);
      if (__builtin_mul_overflow(product, size, &product)) product = most;
    }
    total = std::min(total + std::min(product, most), most);
  }
  return total;
}

bool any_new(const std::vector<std::uint64_t>& outcomes, const std::set<std::uint64_t>& reached) {
  return std::any_of(outcomes.begin(), outcomes.end(),
                     [&](std::uint64_t outcome) { return !reached.contains(outcome); });
}

// From the most costly down: one whose outcomes the others reach too is not needed.
void drop_superfluous(std::vector<Weighed>& chosen) {
  std::map<std::uint64_t, int> times;
  for (const Weighed& w : chosen)
    for (std::uint64_t outcome : w.outcomes) ++times[outcome];
  for (std::size_t i = chosen.size(); i-- > 0;) {
    const Weighed& w = chosen[i];
    if (w.plain || std::any_of(w.outcomes.begin(), w.outcomes.end(),
                               [&](std::uint64_t outcome) { return times[outcome] == 1; }))
      continue;
    for (std::uint64_t outcome : w.outcomes) --times[outcome];
    chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

std::int64_t cost_of_run(const program::Program& program, const ir::Bindings& sizes) {
  return dry_run(program, sizes).cost + cells(program, sizes);
}

std::vector<Candidate> choose_sizes(const program::Program& program, std::int64_t step_budget,
                                    int min_runs) {
  std::vector<Weighed> weighed;
  Planner planner(program);
  for (const Sizes& sizes : planner.candidates()) {
    Weighed w;
    w.past = sizes == planner.past();
    w.at_threshold = planner.at_threshold(sizes);
    w.candidate.sizes = bindings_of(program, sizes);
    DryRun dry = dry_run(program, w.candidate.sizes);
    w.candidate.cost = dry.cost + cells(program, w.candidate.sizes);
    w.outcomes = std::move(dry.outcomes);
    w.rank = weighed.size();
    weighed.push_back(std::move(w));
  }
  std::stable_sort(weighed.begin(), weighed.end(), [](const Weighed& a, const Weighed& b) {
    return a.candidate.cost < b.candidate.cost;
  });
  if (weighed.empty()) return {};
  // The first made are the plain ones; when they cost too much the cheapest take their place.
  std::vector<Weighed> chosen;
  std::set<std::uint64_t> reached;
  std::int64_t left = step_budget;
  auto take = [&](Weighed& w) {
    left -= w.candidate.cost;
    reached.insert(w.outcomes.begin(), w.outcomes.end());
    chosen.push_back(std::move(w));
    w.candidate.cost = -1;  // taken
  };
  std::vector<Weighed*> first;
  for (Weighed& w : weighed) first.push_back(&w);
  std::stable_sort(first.begin(), first.end(),
                   [](const Weighed* a, const Weighed* b) { return a->rank < b->rank; });
  for (Weighed* w : first) {
    if (static_cast<int>(chosen.size()) >= min_runs) break;
    if (w->candidate.cost > step_budget / (2 * min_runs)) continue;
    w->plain = true;
    take(*w);
  }
  for (Weighed& w : weighed) {
    if (!w.past || w.candidate.cost < 0 || w.candidate.cost > left / 4) continue;
    w.plain = true;
    take(w);
  }
  for (Weighed& w : weighed) {
    if (!w.at_threshold || w.candidate.cost < 0 || w.candidate.cost > left / 8) continue;
    w.plain = true;
    take(w);
  }
  for (Weighed& w : weighed) {
    if (w.candidate.cost < 0) continue;
    const bool too_few = static_cast<int>(chosen.size()) < min_runs;
    if (w.candidate.cost > left && !chosen.empty()) break;
    if (too_few || any_new(w.outcomes, reached)) {
      w.plain = too_few;
      take(w);
    }
  }
  drop_superfluous(chosen);
  std::vector<Candidate> out;
  for (Weighed& w : chosen) out.push_back(std::move(w.candidate));
  return out;
}

}  // namespace tilewright::check
