// SPDX-License-Identifier: Apache-2.0
//
// Pivots of the exact simplex. Feasibility by repairing one negative slack at a time (Dutertre and de Moura,
// CAV 2006), maxima by the primal method, cuts after Gomory (1958).
#include "lowering/proof/tableau.h"

#include <algorithm>
#include <numeric>

namespace tilewright::proof {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
// Pivots after which the rule of smallest numbers makes sure that it ends.
constexpr int kPatience = 40;

Int magnitude(Int value) { return value < 0 ? -value : value; }

// Moves numbers into a row, divided by what they and the denominator share.
bool store(std::vector<Wide>& from, Wide denominator, std::vector<Int>& to, Int& to_denominator) {
  if (denominator != 1) {
    Wide divisor = denominator;
    for (Wide value : from) {
      if (divisor == 1) break;
      if (value < 0) value = -value;
      while (value != 0) {
        if (fits(value) && fits(divisor)) {
          divisor = std::gcd(static_cast<Int>(value), static_cast<Int>(divisor));
          break;
        }
        Wide rest = divisor % value;
        divisor = value;
        value = rest;
      }
    }
    if (divisor != 1) {
      denominator /= divisor;
      for (Wide& value : from) value /= divisor;
    }
  }
  bool good = fits(denominator);
  to_denominator = static_cast<Int>(denominator);
  to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    good = good && fits(from[i]);
    to[i] = static_cast<Int>(from[i]);
  }
  return good;
}

}  // namespace

// target += factor * by, both over the columns.
bool Tableau::substitute(Row& target, Int factor, const Row& by) {
  if (factor == 0) return true;
  Int shared = std::gcd(target.denominator, by.denominator);
  Int scale = by.denominator / shared;
  Wide other = static_cast<Wide>(factor) * (target.denominator / shared);
  if (!fits(other)) return false;
  scratch_.resize(target.entries.size());
  for (std::size_t k = 0; k < scratch_.size(); ++k) {
    scratch_[k] = static_cast<Wide>(target.entries[k]) * scale + other * by.entries[k];
  }
  return store(scratch_, static_cast<Wide>(target.denominator) * scale, target.entries,
               target.denominator);
}

// The column in the target becomes what `by` says it is; `by` is written over the new columns.
bool Tableau::replace_column(Row& target, const Row& by, std::size_t column) {
  Int factor = target.entries[column];
  if (factor == 0) return true;
  ++work_->done;
  scratch_.resize(target.entries.size());
  for (std::size_t k = 0; k < scratch_.size(); ++k) {
    Wide kept = k == column ? 0 : static_cast<Wide>(target.entries[k]) * by.denominator;
    scratch_[k] = kept + static_cast<Wide>(factor) * by.entries[k];
  }
  return store(scratch_, static_cast<Wide>(target.denominator) * by.denominator, target.entries,
               target.denominator);
}

bool Tableau::pivot(std::size_t row, std::size_t column) {
  Row& old = rows_[row];
  Int factor = old.entries[column];
  Int sign = factor > 0 ? -1 : 1;
  for (Int& entry : old.entries) entry *= sign;
  old.entries[column] = -sign * old.denominator;
  old.denominator = magnitude(factor);
  std::swap(old.basic, columns_[column]);
  scratch_.assign(old.entries.begin(), old.entries.end());
  bool good = store(scratch_, old.denominator, old.entries, old.denominator);
  for (std::size_t i = 0; i < rows_.size() && good; ++i) {
    if (i != row) good = replace_column(rows_[i], old, column);
  }
  return good;
}

const Tableau::Row* Tableau::basic_row(Id id) const {
  for (const Row& row : rows_) {
    if (row.basic == id) return &row;
  }
  return nullptr;
}

bool Tableau::add(const std::vector<Int>& row) {
  if (columns_.empty()) {
    for (Id v = 0; v < num_variables_; ++v) columns_.push_back(v);
  }
  Row added{static_cast<Id>(num_variables_ + num_constraints_++), 1,
            std::vector<Int>(columns_.size() + 1)};
  added.entries.back() = row.back();
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    if (!is_slack(columns_[k])) added.entries[k] = row[columns_[k]];
  }
  for (const Row& other : rows_) {
    if (!is_slack(other.basic) && !substitute(added, row[other.basic], other)) return false;
  }
  rows_.push_back(std::move(added));
  return true;
}

// Makes every variable basic that some constraint mentions, since it has no sign to be kept.
bool Tableau::free_columns() {
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    if (is_slack(columns_[k])) continue;
    std::size_t best = kNone;
    std::size_t best_cost = kNone;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      if (!is_slack(row.basic) || row.entries[k] == 0) continue;
      // Unit pivots keep numbers small, short rows keep the others short.
      std::size_t cost = row.entries[k] == 1 || row.entries[k] == -1 ? 0 : 1000;
      for (Int entry : row.entries) cost += entry != 0 ? 2 : 0;
      if (row.entries.back() < 0) ++cost;
      if (cost >= best_cost) continue;
      best = i;
      best_cost = cost;
    }
    if (best != kNone && !pivot(best, k)) return false;
  }
  return true;
}

// A row of a slack that is negative at the vertex.
std::size_t Tableau::violated(bool smallest) const {
  std::size_t best = kNone;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (!is_slack(row.basic) || row.entries.back() >= 0) continue;
    if (best == kNone) {
      best = i;
      continue;
    }
    const Row& other = rows_[best];
    bool better = smallest ? row.basic < other.basic
                           : static_cast<Wide>(row.entries.back()) * other.denominator <
                                 static_cast<Wide>(other.entries.back()) * row.denominator;
    if (better) best = i;
  }
  return best;
}

// A column that can grow and makes the row grow.
std::size_t Tableau::entering(const Row& row, bool smallest) const {
  std::size_t best = kNone;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    if (row.entries[k] <= 0 || !is_slack(columns_[k])) continue;
    if (best == kNone) {
      best = k;
      continue;
    }
    bool better = columns_[k] < columns_[best];
    if (!smallest && row.entries[k] != row.entries[best]) {
      better = row.entries[k] < row.entries[best];
    }
    if (better) best = k;
  }
  return best;
}

SolveStatus Tableau::solve() {
  if (!free_columns()) return SolveStatus::Stopped;
  for (int pivots = 0;; ++pivots) {
    if (work_->is_spent()) return SolveStatus::Stopped;
    bool smallest = pivots > kPatience;
    std::size_t row = violated(smallest);
    if (row == kNone) return SolveStatus::Feasible;
    ++work_->done;
    std::size_t column = entering(rows_[row], smallest);
    if (column == kNone) {
      const Row& negative = rows_[row];
      conflict_ = {multiple(negative.denominator, negative.basic)};
      for (std::size_t k = 0; k < columns_.size(); ++k) {
        if (negative.entries[k] != 0) {
          conflict_.push_back(multiple(-negative.entries[k], columns_[k]));
        }
      }
      return SolveStatus::Infeasible;
    }
    if (!pivot(row, column)) return SolveStatus::Stopped;
  }
}

Tableau::Fraction Tableau::value(std::size_t variable) const {
  const Row* row = basic_row(static_cast<Id>(variable));
  return row ? Fraction{row->entries.back(), row->denominator} : Fraction{};
}

// d * x = sum t * s + c with integers x and s >= 0: sum (t mod d) * s is at least -c mod d, and so is the
// other side, sum (-t mod d) * s >= c mod d. The stronger one is taken.
std::vector<Multiple> Tableau::cut(std::size_t variable) const {
  const Row* row = basic_row(static_cast<Id>(variable));
  if (!row || row->entries.back() % row->denominator == 0) return {};
  Int d = row->denominator;
  Int rest = remainder_of(row->entries.back(), d);
  // Of each side, the largest factor against what the sum must reach: the smaller, the deeper.
  Int most_up = 0;
  Int most_down = 0;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    Int up = remainder_of(row->entries[k], d);
    if (up == 0) continue;
    if (!is_slack(columns_[k])) return {};
    most_up = std::max(most_up, up);
    most_down = std::max(most_down, d - up);
  }
  bool upwards = static_cast<Wide>(d - rest) * most_down >= static_cast<Wide>(rest) * most_up;
  std::vector<Multiple> result;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    Int up = remainder_of(row->entries[k], d);
    if (up != 0) result.push_back(multiple(upwards ? up : d - up, columns_[k]));
  }
  return result;
}

// The row that first reaches 0 when the column grows.
std::optional<std::size_t> Tableau::leaving(std::size_t column, std::size_t but) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (i == but || !is_slack(row.basic) || row.entries[column] >= 0) continue;
    if (!best) {
      best = i;
      continue;
    }
    const Row& other = rows_[*best];
    // c_i / -t_i < c_b / -t_b
    Wide left = static_cast<Wide>(row.entries.back()) * -other.entries[column];
    Wide right = static_cast<Wide>(other.entries.back()) * -row.entries[column];
    if (left < right || (left == right && row.basic < other.basic)) best = i;
  }
  return best;
}

// The column may grow for ever.
Tableau::Maximum Tableau::unbounded(std::size_t column) const {
  Maximum result{Maximum::Kind::Unbounded, {}, std::vector<Int>(num_variables_)};
  Wide scale = 1;
  for (const Row& row : rows_) {
    if (is_slack(row.basic)) continue;
    scale = scale / std::gcd(static_cast<Int>(scale), row.denominator) * row.denominator;
    if (!fits(scale)) return {};
  }
  for (const Row& row : rows_) {
    if (is_slack(row.basic)) continue;
    Wide step = row.entries[column] * (scale / row.denominator);
    if (!fits(step)) return {};
    result.ray[row.basic] = static_cast<Int>(step);
  }
  return result;
}

Tableau::Maximum Tableau::maximize(std::uint32_t constraint) {
  Id id = static_cast<Id>(num_variables_ + constraint);
  // A slack that is a column becomes basic first; it stays so, since it does not take part in ratio tests.
  auto place = std::find(columns_.begin(), columns_.end(), id);
  if (place != columns_.end()) {
    std::size_t column = static_cast<std::size_t>(place - columns_.begin());
    std::optional<std::size_t> row = leaving(column, kNone);
    if (!row) return unbounded(column);
    if (!pivot(*row, column)) return {};
  }
  std::size_t own = kNone;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].basic == id) own = i;
  }
  for (;;) {
    if (work_->is_spent()) return {};
    const Row& row = rows_[own];
    ++work_->done;
    std::size_t column = entering(row, true);
    if (column == kNone) {
      return {Maximum::Kind::Finite, {row.entries.back(), row.denominator}, {}};
    }
    std::optional<std::size_t> leaves = leaving(column, own);
    if (!leaves) return unbounded(column);
    if (!pivot(*leaves, column)) return {};
  }
}

std::vector<Multiple> Tableau::zero_sum() const {
  for (const Row& row : rows_) {
    if (!is_slack(row.basic) || row.entries.back() != 0) continue;
    bool falls = false;
    bool rises = false;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      falls |= row.entries[k] < 0;
      rises |= row.entries[k] > 0;
    }
    if (rises || !falls) continue;
    std::vector<Multiple> result{multiple(row.denominator, row.basic)};
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (row.entries[k] != 0) result.push_back(multiple(-row.entries[k], columns_[k]));
    }
    return result;
  }
  return {};
}

}  // namespace tilewright::proof
