// SPDX-License-Identifier: Apache-2.0
//
// Evidence that a conjunction of quasi-affine constraints has no solution in integers, and its check. Nothing
// but the C++ standard library, and nothing shared with what finds the evidence. Law: `check_empty` accepts
// only if the conjunction is empty; what it cannot follow, or what leaves 64 or 128 bits, it rejects.
// The text of evidence is described in docs/proofs.md. Tests: tests/unit/lowering/proof/emptiness_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::check {

struct Floor;

// What a coefficient stands before: a symbol, or floor(numerator / denominator). Known by its name; that of a
// floor is its canonical text, `[2*i 1*j 3/4]` for floor((2*i + j + 3) / 4), which no symbol may look like.
struct Atom {
  std::string name;
  std::shared_ptr<const Floor> floor;
  friend bool operator<(const Atom& a, const Atom& b) { return a.name < b.name; }
};

// constant + sum of coefficient * atom, in canonical form.
class Linear {
 public:
  Linear(std::int64_t constant = 0) : constant_(constant) {}
  static Linear symbol(std::string_view name);

  std::int64_t constant() const { return constant_; }
  // No zero coefficient.
  const std::map<Atom, std::int64_t>& terms() const { return terms_; }
  // A coefficient left 64 bits, or a name was none: the value is meaningless and nothing is proved of it.
  bool broken() const { return broken_; }

  Linear operator+(const Linear& other) const;
  Linear operator-(const Linear& other) const { return *this + other * -1; }
  Linear operator*(std::int64_t factor) const;
  // Rounds towards minus infinity; broken if the denominator is not positive.
  friend Linear floor_div(const Linear& numerator, std::int64_t denominator);
  // All names replaced at once, inside floors too.
  Linear substituted(const std::map<std::string, Linear>& values) const;
  std::string text() const;
  friend bool operator==(const Linear& a, const Linear& b);

 private:
  void add(const Atom& atom, std::int64_t coefficient);

  std::int64_t constant_ = 0;
  std::map<Atom, std::int64_t> terms_;
  bool broken_ = false;
};

Linear floor_div(const Linear& numerator, std::int64_t denominator);

struct Floor {
  Linear numerator;
  std::int64_t denominator = 1;
};

struct Conjunction {
  // Each is 0.
  std::vector<Linear> equal;
  // Each is at least 0.
  std::vector<Linear> at_least;
};

// Empty when the evidence proves that the conjunction has no solution; otherwise why it does not.
std::string check_empty(const Conjunction& conjunction, std::string_view evidence);

// What the evidence is about, the same for the same facts whatever their variables are called. `!`: one of the facts
// alone is impossible. Empty: a constraint with a number that leaves 64 bits.
std::string facts_text(const Conjunction& conjunction);

}  // namespace tilewright::check
