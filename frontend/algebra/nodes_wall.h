// SPDX-License-Identifier: Apache-2.0
//
// The nodes behind Term, for this room alone, and the normaliser that makes them. Rationals are GMP's.
// Laws: a TermNode is in normal form (monomials sorted by key, no coefficient zero, powers of conditions 1);
// a bound variable is named by the height of its fold and a number, so that renaming cannot be seen and a
// closed term has no free one; order is by content hash, so it is the same in every store.
#pragma once

#include <gmpxx.h>

#include <deque>
#include <unordered_map>

#include "frontend/algebra/term.h"

namespace tilewright::algebra {

enum class AtomKind : std::uint8_t {
  Variable,  // name; or fresh: number a; or bound: height a, number b
  Extent,  // name
  Read,  // name(args)
  Value,  // number a, args
  Constant,  // log 2; a root of the integer `a`
  Call,  // text(args)
  AtLeast,  // args[0] >= 0
  Zero,  // args[0] == 0
  Less,  // args[0] < args[1]
  Floor,  // of args[0]
  Wrap,  // args[0] modulo two to the width of `type`
  Max,  // of all args, two or more
  Base,  // args[0], of which a power other than a natural number is taken
  Sum,  // of args[0] over the points of the bound variables with `constraints`
  MaxOver,  // the same
  Fold,  // the same by the monoid `text`, field b
  Unknown,  // number a
};

using Atom = const AtomNode*;

struct AtomNode {
  AtomKind kind = AtomKind::Variable;
  ir::ScalarType type = ir::ScalarType::F64;  // what kind of number it is
  Symbol name;
  std::string text;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::vector<Term> args;
  Conjunction constraints;
  int num_bound = 0;
  // Derived.
  std::uint64_t hash = 0;
  std::uint64_t shape = 0;  // the hash with all variables alike
  std::uint32_t index = 0;
  int height = 0;  // of the folds inside, itself included
  std::vector<Atom> free;  // variables
};

struct Factor {
  Atom atom = nullptr;
  mpq_class power = 1;
};

struct Monomial {
  mpq_class coefficient = 1;
  std::vector<Factor> factors;  // sorted, no power 0
  Term exponent;  // null: none
};

enum Special { kNegInf, kPosInf, kNan, kNumSpecials };

struct TermNode {
  std::vector<Monomial> monomials;
  Term special[kNumSpecials];  // conditions; null: never
  // Derived.
  std::uint64_t hash = 0;
  std::uint64_t shape = 0;
  std::uint32_t index = 0;
  int height = 0;
  std::vector<Atom> free;

  bool is_finite_form() const { return !special[0] && !special[1] && !special[2]; }
};

inline bool is_bool(Atom atom) { return atom->type == ir::ScalarType::Bool; }
inline bool is_whole(Atom atom) {
  return atom->type == ir::ScalarType::Index || atom->type == ir::ScalarType::Bool ||
         ir::is_integer(atom->type);
}
bool atom_less(Atom a, Atom b);
bool term_less(Term a, Term b);
// Order and equality of monomials by all but the coefficient.
int compare_keys(const Monomial& a, const Monomial& b);
std::uint64_t shape_of(const Monomial& monomial);
// The coefficient of the first monomial with a factor, in an order that names of variables have no part in.
mpq_class leading_coefficient(const std::vector<Monomial>& monomials);
bool contains(const std::vector<Atom>& free, Atom variable);
bool intersects(const std::vector<Atom>& a, const std::vector<Atom>& b);
std::vector<Atom> free_of(const Monomial& monomial);

// Variables and what stands for them.
using Values = std::unordered_map<Atom, Term>;

struct TermStore::Impl {
  explicit Impl(TermStore& owner) : store(owner) {}

  // --- term_store.cpp: interning, sums, products
  Term make(std::vector<Monomial> monomials, Term neg = {}, Term pos = {}, Term nan = {});
  Atom atom(AtomNode node);
  Term of(Atom atom);
  Term of(Monomial monomial);
  Term constant(const mpq_class& value);
  Term add(Term a, Term b);
  Term scale(Term a, const mpq_class& by);  // by != 0
  Term multiply(Term a, Term b);
  Term multiply_finite(Term a, Term b);
  Term multiply(const Monomial& a, const Monomial& b);
  Term add_exponents(Term a, Term b, Term unless);
  Term guard(Term condition, Term value);
  Term finite_part(Term a);
  Term unknown(const std::vector<Atom>& of);
  // Whether the term is a constant, and which.
  const mpq_class* constant_of(Term a) const;
  bool is_zero(Term a) const { return a->monomials.empty() && a->is_finite_form(); }
  bool is_one(Term a) const;
  // The atom, where the term is nothing else.
  Atom single_atom(Term a) const;

  // --- term_power.cpp
  Term power(Term a, const mpq_class& by);
  Term power_of(Monomial monomial, const mpq_class& by);
  Term root(const mpq_class& value, const mpq_class& by);  // of a positive rational
  // The term is a common monomial, which is positive when `positive`, times what is returned.
  std::pair<Monomial, Term> take_common(Term a, bool positive);
  Term exp(Term a);
  Term log(Term a);
  bool is_non_negative(Term a) const;
  bool is_non_negative(const Factor& factor) const;
  // f of each case of the conditions that stand in the term as factors.
  Term by_cases(Term a, const std::function<Term(Term)>& f);
  Term assume(Term a, Atom condition, bool value);

  // --- term_index.cpp
  bool is_whole(Term a) const;
  Term floor(Term a);
  Term wrap(ir::ScalarType type, Term a);
  Term at_least_zero(Term a);
  Term is_zero_condition(Term a);
  Term less(Term a, Term b);
  Term equal_to(Term a, Term b);
  // Simplified and sorted; none when no point can satisfy it.
  std::optional<Conjunction> tidy(const Conjunction& conjunction);

  // --- term_max.cpp
  Term maximum(std::vector<Term> args);

  // --- term_fold.cpp
  struct Binder {
    std::vector<Atom> variables;
    Conjunction where;
  };
  Term sum(Binder binder, Term body);
  Term sum_monomial(Binder binder, Monomial body);
  Term sum_component(const Binder& binder, const Monomial& body);
  Term num_points(const Binder& binder);
  Term maximum_over(Binder binder, Term body);
  Term maximum_atom(const Binder& binder, Term body);
  Term fold(AtomNode node, Binder binder);
  Atom close(AtomNode node, const Binder& binder);
  // The fold's variables replaced by fresh ones.
  std::pair<Binder, std::vector<Term>> open(Atom fold);
  bool eliminate(Binder& binder, Term& body);
  Atom fresh();

  // --- term_rebuild.cpp
  Term rebuild(Term a, const std::function<Term(Atom)>& replace);
  Term substitute(Term a, const Values& values);

  // --- term_equal.cpp
  Term clear_denominators(Term a);
  Equality equal_as_they_are(Term a, Term b);

  // --- conditions
  void require(Condition condition, Term term, Term unless = {});
  void require_finite(const Monomial& monomial, Term unless = {});
  void require_finite(Term term, Term unless = {});
  void require_finite(const Factor& factor, Term unless);
  void require_below_infinity(Term term, Term unless = {});
  void bind_obligations(const Binder& binder);

  TermStore& store;
  std::deque<AtomNode> atoms;
  std::deque<TermNode> terms;
  std::unordered_multimap<std::uint64_t, Atom> atom_by_hash;
  std::unordered_multimap<std::uint64_t, const TermNode*> term_by_hash;
  std::vector<Obligation> obligations;
  int quiet = 0;  // conditions are not logged: algebra of conditions, which are finite
  std::int64_t num_fresh = 0;
  std::int64_t num_unknown = 0;
  bool limit_reached = false;
};

// No condition is logged while it lives.
class Quiet {
 public:
  explicit Quiet(TermStore::Impl& impl) : impl_(impl) { ++impl_.quiet; }
  ~Quiet() { --impl_.quiet; }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  TermStore::Impl& impl_;
};

}  // namespace tilewright::algebra
