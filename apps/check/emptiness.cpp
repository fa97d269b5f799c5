// SPDX-License-Identifier: Apache-2.0
//
// The check of evidence: facts are added, multiplied and divided, and nothing is searched for. Every fact is a
// consequence of the facts before it over the integers; a branch ends with a fact that no integers satisfy.
#include "apps/check/emptiness.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tilewright::check {
namespace {

__extension__ typedef __int128 Wide;

// Magnitudes stay below it, so negation and rounding are safe.
constexpr Wide kMost = static_cast<Wide>(1) << 125;
constexpr std::size_t kMostFacts = 1 << 16;

// sum of coefficient * variable + constant, which is 0 (equality) or at least 0.
struct Fact {
  bool equality = false;
  std::vector<Wide> coefficients;
  Wide constant = 0;

  friend bool operator==(const Fact&, const Fact&) = default;
  // Equalities first.
  friend bool operator<(const Fact& a, const Fact& b) {
    return std::tie(b.equality, a.coefficients, a.constant) <
           std::tie(a.equality, b.coefficients, b.constant);
  }
};

Wide magnitude(Wide value) { return value < 0 ? -value : value; }

Wide common_divisor(const Fact& fact) {
  Wide divisor = 0;
  for (Wide value : fact.coefficients) {
    for (value = magnitude(value); value != 0;) divisor = std::exchange(value, divisor % value);
  }
  return divisor;
}

Wide floor_of(Wide numerator, Wide denominator) {
  return numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
}

// No integers satisfy the fact alone.
bool is_impossible(const Fact& fact) {
  Wide divisor = common_divisor(fact);
  if (!fact.equality) return divisor == 0 && fact.constant < 0;
  return divisor == 0 ? fact.constant != 0 : fact.constant % divisor != 0;
}

// Divides by the common divisor of the coefficients; the constant of an inequality is rounded down, since
// the rest is a multiple of the divisor. An equality that cannot be divided is left: it is impossible.
void divide(Fact& fact) {
  Wide divisor = common_divisor(fact);
  if (divisor <= 1 || (fact.equality && fact.constant % divisor != 0)) return;
  for (Wide& value : fact.coefficients) value /= divisor;
  fact.constant = floor_of(fact.constant, divisor);
}

// target += factor * value; false when that leaves the range.
bool accumulate(Wide& target, Wide factor, Wide value) {
  Wide product = 0;
  if (__builtin_mul_overflow(factor, value, &product)) return false;
  if (__builtin_add_overflow(target, product, &target)) return false;
  return target > -kMost && target < kMost;
}

void collect(const Linear& linear, std::map<std::string, Atom>& atoms) {
  for (const auto& [atom, coefficient] : linear.terms()) {
    if (atoms.emplace(atom.name, atom).second && atom.floor) collect(atom.floor->numerator, atoms);
  }
}

// The facts that the conjunction starts with: its constraints, and for each floor q = floor(e / d) the two
// e - d*q >= 0 and d*q + d - 1 - e >= 0; divided, without those that always hold and duplicates, sorted.
// Variables are the atoms sorted by name. So neither order of constraints nor scale matters.
class Start {
 public:
  bool read(const Conjunction& conjunction) {
    std::map<std::string, Atom> atoms;
    for (const Linear& linear : conjunction.equal) collect(linear, atoms);
    for (const Linear& linear : conjunction.at_least) collect(linear, atoms);
    for (const auto& [name, atom] : atoms) number_.emplace(name, number_.size());
    bool good = true;
    for (const Linear& linear : conjunction.equal) good &= add(true, linear, nullptr, 0, 0);
    for (const Linear& linear : conjunction.at_least) good &= add(false, linear, nullptr, 0, 0);
    for (const auto& [name, atom] : atoms) {
      if (!atom.floor) continue;
      std::int64_t denominator = atom.floor->denominator;
      good &= add(false, atom.floor->numerator, &name, -static_cast<Wide>(denominator), 0);
      good &= add(false, atom.floor->numerator * -1, &name, denominator, denominator - 1);
    }
    std::sort(facts_.begin(), facts_.end());
    facts_.erase(std::unique(facts_.begin(), facts_.end()), facts_.end());
    return good;
  }
  std::vector<Fact> facts_;
  std::map<std::string, std::size_t> number_;

 private:
  // linear + factor * atom `name` + constant
  bool add(bool equality, const Linear& linear, const std::string* name, Wide factor,
           Wide constant) {
    Fact fact{equality, std::vector<Wide>(number_.size()), linear.constant() + constant};
    for (const auto& [atom, coefficient] : linear.terms()) {
      fact.coefficients[number_.at(atom.name)] += coefficient;
    }
    if (name) fact.coefficients[number_.at(*name)] += factor;
    divide(fact);
    auto first = std::find_if(fact.coefficients.begin(), fact.coefficients.end(),
                              [](Wide value) { return value != 0; });
    if (equality && first != fact.coefficients.end() && *first < 0) {
      for (Wide& value : fact.coefficients) value = -value;
      fact.constant = -fact.constant;
    }
    bool always = first == fact.coefficients.end() && !is_impossible(fact);
    if (!always) facts_.push_back(std::move(fact));
    return !linear.broken();
  }
};

// One check of one text.
class Follow {
 public:
  Follow(Start start, std::string_view text)
      : facts_(std::move(start.facts_)), num_variables_(start.number_.size()), rest_(text) {}

  std::string run() {
    while (reason_.empty()) {
      if (facts_.size() > kMostFacts) fail("too many facts at once");
      std::string_view step = word();
      if (step == "+") {
        Fact fact = combination();
        divide(fact);
        if (is_impossible(fact)) fail("a step that should have ended its branch");
        facts_.push_back(std::move(fact));
      } else if (step == "=") {
        squeeze();
      } else if (step == "?") {
        cases();
      } else if (step == "!") {
        if (!is_impossible(combination())) fail("the end of a branch is no contradiction");
        if (second_.empty()) break;
        facts_.resize(second_.back().first);
        facts_.push_back(std::move(second_.back().second));
        second_.pop_back();
      } else {
        fail(step.empty() ? "a branch has no end"
                          : "no step is called '" + std::string(step) + "'");
      }
    }
    if (reason_.empty() && !rest_.empty()) fail("text after the end");
    return reason_;
  }

 private:
  void fail(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
  }

  std::string_view word() {
    std::size_t length = std::min(rest_.find(' '), rest_.size());
    std::string_view result = rest_.substr(0, length);
    rest_.remove_prefix(std::min(length + 1, rest_.size()));
    return result;
  }

  std::int64_t number(std::string_view text) {
    bool negative = !text.empty() && text[0] == '-';
    std::string_view digits = text.substr(negative ? 1 : 0);
    bool good = !digits.empty() && (digits[0] != '0' || text.size() == 1);
    std::int64_t value = 0;
    for (char digit : digits) {
      good = good && digit >= '0' && digit <= '9' && !__builtin_mul_overflow(value, 10, &value) &&
             !__builtin_sub_overflow(value, digit - '0', &value);
    }
    if (!negative) good = good && !__builtin_mul_overflow(value, -1, &value);
    if (!good) fail("'" + std::string(text) + "' is no number of 64 bits");
    return good ? value : 0;
  }

  // The words that follow of the form `factor*index` or `index`, the factor then being 1.
  std::vector<std::pair<std::int64_t, std::size_t>> products(std::size_t limit) {
    std::vector<std::pair<std::int64_t, std::size_t>> result;
    while (!rest_.empty() && std::string_view("+=?!").find(rest_[0]) == std::string_view::npos) {
      std::string_view text = word();
      std::size_t star = text.find('*');
      bool has_factor = star != std::string_view::npos;
      std::int64_t factor = has_factor ? number(text.substr(0, star)) : 1;
      std::int64_t index = number(has_factor ? text.substr(star + 1) : text);
      if (index < 0 || static_cast<std::uint64_t>(index) >= limit) fail("an index out of range");
      result.emplace_back(factor, static_cast<std::size_t>(index));
    }
    if (result.empty()) fail("a step without terms");
    return result;
  }

  // The sum of facts, each times its factor. Only equalities may be subtracted.
  Fact combination() {
    Fact sum{true, std::vector<Wide>(num_variables_), 0};
    auto terms = products(facts_.size());
    for (std::size_t t = 0; t < terms.size() && reason_.empty(); ++t) {
      auto [factor, index] = terms[t];
      const Fact& fact = facts_[index];
      if (factor == 0 || (factor < 0 && !fact.equality)) fail("a factor that may not be");
      sum.equality = sum.equality && fact.equality;
      bool good = accumulate(sum.constant, factor, fact.constant);
      for (std::size_t v = 0; v < num_variables_; ++v) {
        good = good && accumulate(sum.coefficients[v], factor, fact.coefficients[v]);
      }
      if (!good) fail("a number left 128 bits");
    }
    return reason_.empty() ? sum : Fact{true, std::vector<Wide>(num_variables_), 0};
  }

  // f >= 0 and -f >= 0, so f = 0.
  void squeeze() {
    auto pair = products(facts_.size());
    if (!reason_.empty()) return;
    if (pair.size() != 2 || pair[0].first != 1 || pair[1].first != 1)
      return fail("= takes two facts");
    Fact fact = facts_[pair[0].second];
    const Fact& other = facts_[pair[1].second];
    bool opposite = !fact.equality && !other.equality && fact.constant == -other.constant;
    for (std::size_t v = 0; v < num_variables_; ++v) {
      opposite = opposite && fact.coefficients[v] == -other.coefficients[v];
    }
    if (!opposite) return fail("= of two facts that are not opposite");
    fact.equality = true;
    facts_.push_back(std::move(fact));
  }

  // For every integer form L and integer b: L <= b or L >= b + 1.
  void cases() {
    Wide bound = number(word());
    Fact low{false, std::vector<Wide>(num_variables_), bound};
    Fact high{false, std::vector<Wide>(num_variables_), -bound - 1};
    for (auto [factor, variable] : products(num_variables_)) {
      if (!reason_.empty()) return;
      low.coefficients[variable] -= factor;
      high.coefficients[variable] += factor;
    }
    divide(low);
    divide(high);
    second_.emplace_back(facts_.size(), std::move(high));
    facts_.push_back(std::move(low));
  }

  std::vector<Fact> facts_;
  std::size_t num_variables_ = 0;
  // Second cases yet to come: how many facts they start with, and the case.
  std::vector<std::pair<std::size_t, Fact>> second_;
  std::string_view rest_;
  std::string reason_;
};

}  // namespace

std::string check_empty(const Conjunction& conjunction, std::string_view evidence) {
  Start start;
  if (!start.read(conjunction)) return "a constraint with a number that leaves 64 bits";
  return Follow(std::move(start), evidence).run();
}

std::string facts_text(const Conjunction& conjunction) {
  Start start;
  if (!start.read(conjunction)) return "";
  bool good = true;
  const auto text = [&](Wide value) {
    good = good && value == static_cast<std::int64_t>(value);
    return std::to_string(static_cast<std::int64_t>(value));
  };
  std::string out = std::to_string(start.number_.size());
  for (const Fact& fact : start.facts_) {
    if (is_impossible(fact)) return "!";
    out += fact.equality ? "=" : ">";
    for (std::size_t i = 0; i < fact.coefficients.size(); ++i)
      if (fact.coefficients[i] != 0)
        out += text(fact.coefficients[i]) + "*" + std::to_string(i) + " ";
    out += text(fact.constant);
  }
  return good ? out : "";
}

}  // namespace tilewright::check
