// SPDX-License-Identifier: Apache-2.0
//
// Quasi-affine constraints to numbered linear facts.
#include "lowering/proof/facts.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tilewright::proof {
namespace {

using poly::AffineExpr;
using poly::FloorTerm;

std::string floor_text(const FloorTerm& floor);

// `2*i 1*j 3`, sorted by name.
std::string linear_text(const AffineExpr& expr) {
  std::vector<std::pair<std::string, Int>> products;
  for (const poly::LinearTerm& term : expr.terms()) {
    products.emplace_back(term.name, term.coefficient);
  }
  for (const FloorTerm& floor : expr.floors()) {
    products.emplace_back(floor_text(floor), floor.coefficient);
  }
  if (!expr.floors().empty()) std::sort(products.begin(), products.end());
  std::string out;
  for (const auto& [name, factor] : products) out += std::to_string(factor) + "*" + name + " ";
  return out + std::to_string(expr.constant());
}

std::string floor_text(const FloorTerm& floor) {
  return "[" + linear_text(floor.numerator) + "/" + std::to_string(floor.denominator) + "]";
}

class Builder {
 public:
  explicit Builder(const poly::BasicSet& set) {
    for (const AffineExpr& expr : set.equalities) collect(expr);
    for (const AffineExpr& expr : set.inequalities) collect(expr);
    for (const auto& [text, floor] : floors_) out_.variables.push_back(text);
    std::sort(out_.variables.begin(), out_.variables.end());
    out_.variables.erase(std::unique(out_.variables.begin(), out_.variables.end()),
                         out_.variables.end());
    for (const AffineExpr& expr : set.equalities) add(true, row_of(expr));
    for (const AffineExpr& expr : set.inequalities) add(false, row_of(expr));
    add_floors();
    sort_facts();
  }
  Facts take() { return std::move(out_); }

 private:
  void collect(const AffineExpr& expr) {
    if (expr.overflowed()) out_.refusal = "a coefficient left 64 bits";
    for (const poly::LinearTerm& term : expr.terms()) {
      if (term.name.empty() || term.name.find_first_of("[]*/ ") != std::string::npos) {
        out_.refusal = "the name '" + term.name + "' cannot stand in the text of a floor";
      }
      out_.variables.push_back(term.name);
    }
    for (const FloorTerm& floor : expr.floors()) {
      floors_.emplace_back(floor_text(floor), &floor);
      collect(floor.numerator);
    }
  }

  std::size_t number_of(const std::string& name) const {
    auto place = std::lower_bound(out_.variables.begin(), out_.variables.end(), name);
    return static_cast<std::size_t>(place - out_.variables.begin());
  }

  std::vector<Int> row_of(const AffineExpr& expr) {
    std::vector<Int> row(out_.variables.size() + 1);
    for (const poly::LinearTerm& term : expr.terms()) row[number_of(term.name)] = term.coefficient;
    for (const FloorTerm& floor : expr.floors()) {
      row[number_of(floor_text(floor))] = floor.coefficient;
    }
    row.back() = expr.constant();
    return row;
  }

  void add_floors() {
    std::sort(floors_.begin(), floors_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < floors_.size(); ++i) {
      const auto& [text, floor] = floors_[i];
      if (i > 0 && floors_[i - 1].first == text) continue;
      std::vector<Int> low = row_of(floor->numerator);
      std::vector<Int> high(low.size());
      for (std::size_t v = 0; v < low.size(); ++v) high[v] = -low[v];
      std::size_t number = number_of(text);
      low[number] = -floor->denominator;
      high[number] = floor->denominator;
      if (!add_product(high.back(), 1, floor->denominator - 1)) out_.refusal = kTooLarge;
      add(false, std::move(low));
      add(false, std::move(high));
    }
  }

  void add(bool equality, std::vector<Int> row) {
    Int divisor = 0;
    for (std::size_t v = 0; v < row.size(); ++v) {
      if (!fits(row[v])) {
        out_.refusal = kTooLarge;
        return;
      }
      if (v + 1 < row.size()) divisor = std::gcd(divisor, row[v]);
    }
    if (divisor == 0 && (equality ? row.back() == 0 : row.back() >= 0)) return;
    if (divisor > 1 && (!equality || row.back() % divisor == 0)) {
      for (std::size_t v = 0; v + 1 < row.size(); ++v) row[v] /= divisor;
      row.back() = floored(row.back(), divisor);
    }
    auto first = std::find_if(row.begin(), row.end() - 1, [](Int value) { return value != 0; });
    if (equality && first != row.end() - 1 && *first < 0) {
      for (Int& value : row) value = -value;
    }
    out_.facts.push_back({equality, std::move(row)});
  }

  void sort_facts() {
    auto before = [](const Fact& a, const Fact& b) {
      return std::tie(b.equality, a.row) < std::tie(a.equality, b.row);
    };
    auto same = [](const Fact& a, const Fact& b) {
      return a.equality == b.equality && a.row == b.row;
    };
    std::sort(out_.facts.begin(), out_.facts.end(), before);
    out_.facts.erase(std::unique(out_.facts.begin(), out_.facts.end(), same), out_.facts.end());
  }

  static constexpr const char* kTooLarge = "a coefficient leaves 62 bits";
  Facts out_;
  std::vector<std::pair<std::string, const FloorTerm*>> floors_;
};

}  // namespace

Facts facts_of(const poly::BasicSet& set) { return Builder(set).take(); }

}  // namespace tilewright::proof
