// SPDX-License-Identifier: Apache-2.0
//
// How terms are compared. A term is brought into a normal form, a sum of products, at the points of a Context; what
// still differs is compared part by part, and folds as sets with weights. Law: no law of algebra is used where its
// condition is not shown. Private to the files of terms.h.
//
// Bound variables of a fold of height h are `@h.0`, `@h.1`, ...; folds inside are lower, so nothing is captured. What is
// taken out of its fold has names that begin with `%`; no name of a text begins with either.
#pragma once

#include <optional>

#include "apps/check/terms.h"

namespace tilewright::checker {

// Factors and their powers, sorted; an atom twice where powers could not be added.
using Key = std::vector<std::pair<Term, Rational>>;
struct KeyLess {
  bool operator()(const Key& a, const Key& b) const;
};
// A sum of products, or an infinity.
struct Poly {
  std::map<Key, Rational, KeyLess> of;
  int infinite = 0;
  bool is_zero() const { return of.empty() && infinite == 0; }
  // The number, where it is one.
  const Rational* constant() const;
};

// Points at which something is asked; `level` counts the folds that were opened for it.
struct Context {
  Conjunction where;
  int level = 0;
  std::size_t id = 0;
};
using At = const Context&;

// A fold that was taken apart.
struct Opened {
  std::vector<std::string> names;
  Conjunction domain;
  std::vector<Term> args;
};

// What is known of a value, from weak to strong; the first means finite or -inf.
enum Fact : unsigned { kBelow = 1, kFinite = 2, kLeast0 = 4, kPositive = 8, kNegative = 16 };

struct Terms::Impl {
  Impl(Terms& owner, Meaning& what, std::size_t most) : terms(owner), meaning(what), limit(most) {}

  // terms.cpp
  Term make(Node node);
  Term substituted(Term term, const std::map<std::string, Linear>& values);
  Term rebuilt(Term term, const std::vector<Term>& args);  // the same of other args
  Opened open(Term fold, const std::string& prefix);
  Term closed(Term like, const Opened& parts);  // of the kind, name and type of `like`
  void spend(std::size_t work = 1);
  Term negated(Term condition);
  // Conjunctions of the points at which the affine condition has the value; nothing if it is not affine.
  std::optional<std::vector<Conjunction>> cases(Term condition, bool value);

  // terms_normal.cpp
  At at(Conjunction where, int level);
  At within(At here, const Conjunction& more, int levels = 0) {
    return at(joined(here.where, more), here.level + levels);
  }
  static Conjunction joined(Conjunction a, const Conjunction& b);
  bool empty(const Conjunction& set);
  bool holds(const Linear& linear, bool equality, At here);
  Term normal(Term term, At here);
  Poly poly(Term normal);
  Term term(const Poly& poly);
  Poly add(const Poly& a, const Poly& b, At here);
  Poly multiply(const Poly& a, const Poly& b, At here);
  Poly power(const Poly& base, const Rational& exponent, At here);
  Poly exp(const Poly& a, At here);
  void times(Poly& one, Term atom, Rational power, At here);
  Term largest(std::vector<Term> args);
  Term folded(Term like, Opened parts, At here);
  Poly sum_of(Term like, const Opened& parts, const Key& body, At here, At inside);
  Term split(Term like, const Opened& parts, Term condition, At here);
  Term computed(Term term, At here);
  // Free of folds around it, and not decided there.
  Term undecided(Term term, At here, const std::vector<std::string>* names);

  // terms_signs.cpp
  unsigned facts(Term term, At here);
  bool is(Term term, unsigned fact, At here) { return (facts(term, here) & fact) != 0; }
  bool all(const Poly& a, unsigned fact, At here);
  unsigned known(Term term, At here);
  unsigned of_product(const Key& factors, At here);
  unsigned of_fold(Term fold, At here);
  std::optional<std::map<std::string, Linear>> point(const Opened& parts, At here,
                                                     const std::function<bool(Term)>& good);

  // terms_equal.cpp
  struct Use {
    Opened fold;  // args: the body alone
    Rational weight;
    bool left = true;
  };
  bool equal(Term a, Term b, const Conjunction& where, bool unfold, int depth);
  Term unfolded(Term term, int depth);
  bool same(Term a, Term b, At here);
  bool same_factors(const Key& a, const Key& b, At here);
  bool same_atom(Term a, Term b, At here);
  bool matched(std::vector<Use> uses, bool counted, At here);
  std::optional<Use> use(const Key& key, const Rational& weight, bool left, At here);
  bool uses_of_maximum(Term term, bool left, At here, std::vector<Use>& out);
  std::optional<Conjunction> points_of(const Use& pattern, const Use& other, At here);
  std::optional<std::map<std::string, Linear>> solve(
      const Use& pattern, const std::vector<Term>& wanted, const std::vector<Term>& given,
      std::size_t next, const std::map<std::string, Linear>& sofar,
      const std::function<bool(const std::map<std::string, Linear>&)>& right);
  bool balanced(const Conjunction& set, const std::vector<Use>& uses, std::size_t next,
                const Rational& weight);
  bool covered(const Conjunction& set, const std::vector<Use>& uses, std::size_t next, bool left);

  Terms& terms;
  Meaning& meaning;
  std::size_t limit, work = 0, num_opened = 0;
  std::deque<Node> nodes;
  std::unordered_map<std::string, Term> by_text;
  std::deque<Context> contexts;
  std::unordered_map<std::string, std::size_t> context_by_text;
  std::unordered_map<std::string, bool> is_empty;
  std::map<std::pair<Term, std::size_t>, Term> normals;
  std::map<std::pair<Term, std::size_t>, unsigned> signs;
  std::map<std::tuple<Term, Term, std::size_t>, bool> sames;
};

bool mentions(Term term, const std::vector<std::string>& names);
bool mentions(const Linear& linear, const std::vector<std::string>& names);
bool is_fold(TermKind kind);
std::optional<Linear> linear_of(Term term);
std::vector<Conjunction> opposite(const Linear& linear, bool equality);

}  // namespace tilewright::checker
