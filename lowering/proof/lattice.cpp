// SPDX-License-Identifier: Apache-2.0
//
// Unimodular substitution (after Pugh's Omega test, 1991, with coordinates in place of new variables) and the
// bookkeeping of what every line is a combination of.
#include "lowering/proof/lattice.h"

#include <algorithm>
#include <numeric>

namespace tilewright::proof {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

Int magnitude(Int value) { return value < 0 ? -value : value; }

// The integer nearest to numerator / denominator, any sign.
Int nearest(Int numerator, Int denominator) {
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  Int down = floored(numerator, denominator);
  return remainder_of(numerator, denominator) > denominator / 2 ? down + 1 : down;
}

}  // namespace

Lattice::Lattice(const std::vector<Fact>& facts, std::size_t num_variables,
                 Derivations& derivations, Work& work)
    : n_(num_variables),
      derivations_(&derivations),
      work_(&work),
      is_solved_(num_variables),
      forms_(num_variables * num_variables),
      values_(num_variables * num_variables) {
  for (std::size_t i = 0; i < n_; ++i) forms_[i * n_ + i] = values_[i * n_ + i] = 1;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    Line line{static_cast<FactId>(i), facts[i].row};
    line.numbers.resize(2 * n_ + 1);
    (facts[i].equality ? equalities_ : lines_).push_back(std::move(line));
  }
}

FactId Lattice::made(FactId fact) {
  branch_->made.push_back(fact);
  return fact;
}

bool Lattice::gather(Combination& sum, const Line& line, Int factor) const {
  if (!add_product(sum[line.fact], factor, 1)) return false;
  for (std::size_t k = 0; k < solved_.size(); ++k) {
    Int times = line.numbers[n_ + 1 + k];
    if (times != 0 && !add_product(sum[solved_[k].line.fact], factor, times)) return false;
  }
  std::erase_if(sum, [](const auto& term) { return term.second == 0; });
  return true;
}

bool Lattice::make_own(Line& line, bool is_step) {
  auto more = line.numbers.begin() + static_cast<std::ptrdiff_t>(n_) + 1;
  if (std::all_of(more, line.numbers.end(), [](Int value) { return value == 0; })) return true;
  Combination sum;
  if (!gather(sum, line, 1)) return false;
  line.fact = made(derivations_->combine(std::move(sum), is_step));
  std::fill(more, line.numbers.end(), 0);
  return true;
}

// Divides by the common divisor; says whether the line alone always or never holds.
Lattice::Tidy Lattice::tidy(Line& line, bool equality) {
  Int divisor = 0;
  for (std::size_t v = 0; v < n_ && divisor != 1; ++v) {
    divisor = std::gcd(divisor, line.numbers[v]);
  }
  Int constant = line.numbers[n_];
  if (divisor == 0) {
    return (equality ? constant == 0 : constant >= 0) ? Tidy::Always : Tidy::Never;
  }
  if (divisor == 1) return Tidy::Good;
  if (equality && constant % divisor != 0) return Tidy::Never;
  if (!make_own(line, true)) return Tidy::Stopped;
  for (std::size_t v = 0; v < n_; ++v) line.numbers[v] /= divisor;
  line.numbers[n_] = floored(constant, divisor);
  return Tidy::Good;
}

Status Lattice::finish(const Line& line) {
  branch_->end.clear();
  return gather(branch_->end, line, 1) ? Status::Contradiction : Status::Stopped;
}

Status Lattice::end(const std::vector<Multiple>& factors) {
  branch_->end.clear();
  for (const Multiple& multiple : factors) {
    if (!gather(branch_->end, lines_[multiple.constraint], multiple.factor)) {
      return Status::Stopped;
    }
  }
  return Status::Contradiction;
}

// As one fact that is a combination, not yet divided.
std::optional<Line> Lattice::sum_of(const std::vector<Multiple>& factors) const {
  Line sum{0, std::vector<Int>(2 * n_ + 1)};
  for (const Multiple& multiple : factors) {
    const Line& line = lines_[multiple.constraint];
    for (std::size_t v = 0; v <= n_; ++v) {
      if (!add_product(sum.numbers[v], multiple.factor, line.numbers[v])) return std::nullopt;
    }
  }
  return sum;
}

Status Lattice::add_cut(const std::vector<Multiple>& factors) {
  std::optional<Line> line = sum_of(factors);
  Combination terms;
  for (const Multiple& multiple : factors) {
    if (!gather(terms, lines_[multiple.constraint], multiple.factor)) return Status::Stopped;
  }
  if (!line || terms.empty()) return Status::Stopped;
  line->fact = made(derivations_->combine(std::move(terms), true));
  Tidy result = tidy(*line, false);
  if (result == Tidy::Never) return finish(*line);
  if (result != Tidy::Good) return Status::Stopped;
  bool found = false;
  for (std::size_t i = 0; i < lines_.size() && !found; ++i) {
    bool opposite = lines_[i].numbers[n_] == -line->numbers[n_];
    for (std::size_t v = 0; v < n_ && opposite; ++v) {
      opposite = lines_[i].numbers[v] == -line->numbers[v];
    }
    found = opposite;
    if (found && make_equality(lines_[i], line->fact) == Status::Stopped) return Status::Stopped;
  }
  lines_.push_back(std::move(*line));
  return Status::Good;
}

// The line and the fact, which is its opposite, make an equality.
Status Lattice::make_equality(const Line& line, FactId opposite) {
  Line equality = line;
  if (!make_own(equality, true)) return Status::Stopped;
  equality.fact = made(derivations_->squeeze(equality.fact, opposite));
  equalities_.push_back(std::move(equality));
  return Status::Good;
}

Status Lattice::equate(const std::vector<Multiple>& factors) {
  for (const Multiple& own : factors) {
    Combination others;
    for (const Multiple& multiple : factors) {
      if (multiple.constraint == own.constraint) continue;
      if (!gather(others, lines_[multiple.constraint], multiple.factor)) return Status::Stopped;
    }
    // The sum of the others is the opposite of this one, and divided so.
    FactId opposite = made(derivations_->combine(std::move(others), true));
    if (make_equality(lines_[own.constraint], opposite) != Status::Good) return Status::Stopped;
  }
  return Status::Good;
}

FactId Lattice::assume(std::vector<Int> direction, Int constant) {
  Line line{derivations_->assume(), std::move(direction)};
  line.numbers.resize(2 * n_ + 1);
  line.numbers[n_] = constant;
  FactId fact = line.fact;
  lines_.push_back(std::move(line));
  return fact;
}

void Lattice::keep_lines(const std::vector<bool>& keep) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (!keep[i]) continue;
    if (kept != i) lines_[kept] = std::move(lines_[i]);
    ++kept;
  }
  lines_.resize(kept);
}

// column -= factor * by, in every line: coordinate `by` becomes itself plus factor times the other.
bool Lattice::shear(std::size_t by, std::size_t column, Int factor) {
  bool good = true;
  auto apply = [&](std::vector<Int>& numbers) {
    if (numbers[by] != 0) good = good && add_product(numbers[column], -factor, numbers[by]);
  };
  for (Line& line : lines_) apply(line.numbers);
  for (Line& line : equalities_) apply(line.numbers);
  for (Solved& solved : solved_) apply(solved.line.numbers);
  work_->done += lines_.size();
  for (std::size_t i = 0; i < n_; ++i) {
    good = good && add_product(values_[i * n_ + column], -factor, values_[i * n_ + by]);
    good = good && add_product(forms_[by * n_ + i], factor, forms_[column * n_ + i]);
  }
  return good;
}

Status Lattice::isolate(const Line& line, const std::vector<bool>& blocked, bool unit_will_do) {
  for (;;) {
    std::size_t least = kNone;
    std::size_t count = 0;
    for (std::size_t v = 0; v < n_; ++v) {
      if (blocked[v] || line.numbers[v] == 0) continue;
      ++count;
      if (least == kNone || magnitude(line.numbers[v]) < magnitude(line.numbers[least])) least = v;
    }
    if (count <= 1 || (unit_will_do && magnitude(line.numbers[least]) == 1)) return Status::Good;
    for (std::size_t v = 0; v < n_; ++v) {
      if (blocked[v] || v == least || line.numbers[v] == 0) continue;
      Int factor = nearest(line.numbers[v], line.numbers[least]);
      if (!shear(least, v, factor)) return Status::Stopped;
    }
  }
}

Status Lattice::concentrate() {
  std::vector<bool> blocked = is_solved_;
  for (const Line& line : lines_) {
    if (isolate(line, blocked, false) == Status::Stopped) return Status::Stopped;
    for (std::size_t v = 0; v < n_; ++v) blocked[v] = blocked[v] || line.numbers[v] != 0;
  }
  return Status::Good;
}

Status Lattice::reduce(std::vector<Line>& lines, bool equalities) {
  const Solved& solved = solved_.back();
  std::size_t slot = n_ + solved_.size();
  Int sign = solved.line.numbers[solved.coordinate];
  std::size_t kept = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Line& line = lines[i];
    Int factor = -sign * line.numbers[solved.coordinate];
    if (factor != 0) {
      ++work_->done;
      for (std::size_t v = 0; v <= n_; ++v) {
        if (!add_product(line.numbers[v], factor, solved.line.numbers[v])) return Status::Stopped;
      }
      line.numbers[slot] += factor;
      Tidy result = tidy(line, equalities);
      if (result == Tidy::Stopped) return Status::Stopped;
      if (result == Tidy::Never) return finish(line);
      if (result == Tidy::Always) continue;
    }
    if (kept != i) lines[kept] = std::move(line);
    ++kept;
  }
  lines.resize(kept);
  return Status::Good;
}

Status Lattice::solve_one(std::size_t equality) {
  // In place, so that `shear` reaches it.
  std::swap(equalities_[equality], equalities_.back());
  Line& own = equalities_.back();
  switch (tidy(own, true)) {
    case Tidy::Never: return finish(own);
    case Tidy::Stopped: return Status::Stopped;
    case Tidy::Always: equalities_.pop_back(); return Status::Good;
    case Tidy::Good: break;
  }
  if (isolate(own, is_solved_, true) == Status::Stopped) return Status::Stopped;
  std::size_t best = kNone;
  std::size_t best_count = kNone;
  for (std::size_t v = 0; v < n_; ++v) {
    if (magnitude(own.numbers[v]) != 1) continue;
    std::size_t count = 0;
    for (const Line& line : lines_) count += line.numbers[v] != 0;
    for (const Line& line : equalities_) count += line.numbers[v] != 0;
    if (count >= best_count) continue;
    best = v;
    best_count = count;
  }
  if (!make_own(own, false)) return Status::Stopped;
  solved_.push_back({std::move(own), best});
  equalities_.pop_back();
  is_solved_[best] = true;
  if (Status status = reduce(equalities_, true); status != Status::Good) return status;
  return reduce(lines_, false);
}

Status Lattice::solve_equalities() {
  while (!equalities_.empty()) {
    // One with a unit factor and few terms first.
    std::size_t best = 0;
    std::size_t best_cost = kNone;
    for (std::size_t i = 0; i < equalities_.size(); ++i) {
      std::size_t cost = 1000;
      for (std::size_t v = 0; v < n_; ++v) {
        Int size = magnitude(equalities_[i].numbers[v]);
        if (size != 0) ++cost;
        if (size == 1 && cost >= 1000) cost -= 1000;
      }
      if (cost >= best_cost) continue;
      best = i;
      best_cost = cost;
    }
    if (Status status = solve_one(best); status != Status::Good) return status;
  }
  return Status::Good;
}

// Of parallel lines the strongest stays; opposite ones that meet make an equality or a contradiction.
Status Lattice::join_opposites(bool& found) {
  struct Key {
    std::size_t line;
    Int sign;
  };
  std::vector<Key> keys;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const std::vector<Int>& numbers = lines_[i].numbers;
    auto first = std::find_if(numbers.begin(), numbers.end(), [](Int value) { return value != 0; });
    keys.push_back({i, *first > 0 ? 1 : -1});
  }
  auto compare = [&](const Key& a, const Key& b) {
    const Int* left = lines_[a.line].numbers.data();
    const Int* right = lines_[b.line].numbers.data();
    for (std::size_t v = 0; v < n_; ++v) {
      if (left[v] * a.sign != right[v] * b.sign)
        return left[v] * a.sign < right[v] * b.sign ? -1 : 1;
    }
    return 0;
  };
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    int order = compare(a, b);
    if (order != 0) return order < 0;
    if (a.sign != b.sign) return a.sign < b.sign;
    Int left = constant(lines_[a.line]);
    Int right = constant(lines_[b.line]);
    return left != right ? left < right : a.line < b.line;
  });
  std::vector<bool> keep(lines_.size());
  for (std::size_t i = 0; i < keys.size();) {
    std::size_t last = i;
    std::size_t positive = kNone;
    while (last < keys.size() && compare(keys[i], keys[last]) == 0) {
      if (positive == kNone && keys[last].sign != keys[i].sign) positive = last;
      ++last;
    }
    std::size_t low = keys[i].line;
    keep[low] = true;
    i = last;
    if (positive == kNone) continue;
    std::size_t high = keys[positive].line;
    Wide slack = static_cast<Wide>(constant(lines_[low])) + constant(lines_[high]);
    if (slack < 0)
      return end({{1, static_cast<std::uint32_t>(low)}, {1, static_cast<std::uint32_t>(high)}});
    keep[high] = slack > 0;
    keep[low] = slack > 0;
    if (slack > 0) continue;
    Line opposite = lines_[high];
    if (!make_own(opposite, true)) return Status::Stopped;
    if (make_equality(lines_[low], opposite.fact) == Status::Stopped) return Status::Stopped;
    found = true;
  }
  keep_lines(keep);
  return Status::Good;
}

Status Lattice::settle() {
  for (bool found = true; found;) {
    found = false;
    if (Status status = solve_equalities(); status != Status::Good) return status;
    // A constraint without variables that does not hold.
    for (Line& line : lines_) {
      if (tidy(line, false) == Tidy::Never) return finish(line);
    }
    if (Status status = join_opposites(found); status != Status::Good) return status;
  }
  return Status::Good;
}

std::vector<std::size_t> Lattice::active() const {
  std::vector<std::size_t> result;
  for (std::size_t v = 0; v < n_; ++v) {
    bool stands = std::any_of(lines_.begin(), lines_.end(),
                              [&](const Line& line) { return line.numbers[v] != 0; });
    if (stands) result.push_back(v);
  }
  return result;
}

std::optional<std::vector<Int>> Lattice::over_variables(const std::vector<Int>& direction) const {
  std::vector<Int> result(n_);
  for (std::size_t v = 0; v < n_; ++v) {
    if (direction[v] == 0) continue;
    for (std::size_t i = 0; i < n_; ++i) {
      if (!add_product(result[i], direction[v], forms_[v * n_ + i])) return std::nullopt;
    }
  }
  return result;
}

// target += factor * value; false when that leaves 128 bits.
static bool add_wide(Wide& target, Wide factor, Wide value) {
  Wide product = 0;
  return !__builtin_mul_overflow(factor, value, &product) &&
         !__builtin_add_overflow(target, product, &target);
}

std::optional<std::vector<Int>> Lattice::variables_at(const std::vector<Int>& coordinates,
                                                      bool is_direction) const {
  // Coordinates may be far larger than the variables.
  std::vector<Wide> at(coordinates.begin(), coordinates.end());
  // The last solved equality speaks of unsolved coordinates alone.
  for (auto solved = solved_.rbegin(); solved != solved_.rend(); ++solved) {
    const std::vector<Int>& numbers = solved->line.numbers;
    Wide sum = is_direction ? 0 : numbers[n_];
    at[solved->coordinate] = 0;
    for (std::size_t v = 0; v < n_; ++v) {
      if (!add_wide(sum, numbers[v], at[v])) return std::nullopt;
    }
    if (__builtin_mul_overflow(sum, -numbers[solved->coordinate], &at[solved->coordinate])) {
      return std::nullopt;
    }
  }
  std::vector<Int> result(n_);
  for (std::size_t i = 0; i < n_; ++i) {
    Wide sum = 0;
    for (std::size_t v = 0; v < n_; ++v) {
      if (!add_wide(sum, values_[i * n_ + v], at[v])) return std::nullopt;
    }
    if (!fits(sum)) return std::nullopt;
    result[i] = static_cast<Int>(sum);
  }
  return result;
}

}  // namespace tilewright::proof
