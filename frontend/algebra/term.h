// SPDX-License-Identifier: Apache-2.0
//
// Terms over the extended reals in normal form: what the proof compares. A term is a sum of monomials
//   rational * atom^rational * ... * exp(term)
// plus conditions under which it is -inf, +inf or NaN instead. Conditions are terms too, of value 0 or 1 (a product
// is `and`, 1 - c is `not`); select(c, a, b) is c*a + (1-c)*b, and a factor that is 0 makes its monomial 0 whatever
// else stands in it. Index arithmetic is the same: linear forms with floor divisions. Hash-consed in a TermStore:
// equal normal forms are the same handle, bound variables and their order do not count.
//
// Which law is used under which condition:
//   a + b, a * b, max: associative, commutative; floats are reals       always
//   exp(a) exp(b) = exp(a + b), exp(-inf) = 0                           always (where the left side is defined)
//   exp(log a) = a                                                      Positive(a)
//   sums of sums, nested sums, sums over disjoint parts of a domain     always
//   m - m = 0, 0 * m = 0                                                Finite(m)
//   (a + b) * m = a*m + b*m                                             Finite(m)
//   sum of m*b = m * sum of b, m free of the bound variables            Finite(m), or the sum is empty
//   max of (m + b) = m + max of b, likewise; max(m+a, m+b) = m+max(a,b) Finite(m)
//   a^p * a^q = a^(p+q), where p and q differ in sign                   NonZero(a), Finite(a)
//   a^(1/2) a^(1/2) = a, and other roots that meet                      NonNegative(a)
//   -inf + m = -inf                                                     NotPosInf(m)
//   c * (-inf)                                                          Positive(c), else it stays as it is
// Every condition that was used and is not evident goes into the log of the store, see take_obligations(): a result
// stands only with them. Conditions are decomposed to atoms. Tests: tests/unit/frontend/algebra/term_*_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/ir/expr.h"

namespace tilewright::algebra {

struct AtomNode;
struct TermNode;
struct Monomial;

// A handle to a normal form: one pointer, valid while its store lives; null by default.
class Term {
 public:
  Term() = default;
  explicit Term(const TermNode* node) : node_(node) {}
  explicit operator bool() const { return node_ != nullptr; }
  const TermNode* node() const { return node_; }
  const TermNode* operator->() const { return node_; }
  friend bool operator==(Term a, Term b) { return a.node_ == b.node_; }

 private:
  const TermNode* node_ = nullptr;
};

// `value >= 0`, or `value == 0`, of an index term.
struct Constraint {
  Term value;
  bool equality = false;
  friend bool operator==(const Constraint&, const Constraint&) = default;
};
// All of them hold.
using Conjunction = std::vector<Constraint>;

// A set of points of the bound variables: a union of conjunctions that have no point in common (a maximum does not
// care). The constraints may mention free variables too.
struct Domain {
  std::vector<Term> variables;  // each made by variable() or fresh_variable()
  std::vector<Conjunction> parts;
};

enum class Condition : std::uint8_t { Finite, NonZero, NonNegative, Positive, NotPosInf, Never };

// The condition holds of `term`, for all values of `variables` with `where`; or the sum `unless_empty` has no
// element, or `when`, a condition, does not hold. Never: the term, a condition, is 0.
struct Obligation {
  Condition condition = Condition::Finite;
  Term term;
  Term unless_empty;
  Term when;  // null: always
  std::vector<Term> variables;
  Conjunction where;
};

// What must hold of sets for two terms to be equal: over the same variables, every point is in as many of `left` as
// of `right`; of a maximum, in some of `left` iff in some of `right`. `variables` are bound here.
struct SameSets {
  std::vector<Term> variables;
  std::vector<Conjunction> left;
  std::vector<Conjunction> right;
  bool counted = true;
};

enum class Verdict : std::uint8_t {
  Equal,  // given the obligations that were logged
  IfSameSets,  // given also `sets`
  NotShown,  // the normal forms differ
};
struct Equality {
  Verdict verdict = Verdict::NotShown;
  std::vector<SameSets> sets;
  // Of NotShown: the rest of left - right; null if they are infinite under other conditions.
  Term difference;
};

// The pattern with `values` for its free variables, times `factor`, is the term.
struct Match {
  std::vector<std::pair<Term, Term>> values;
  Term factor;
};

// A part of an index term: coefficient * of (a variable or an extent), coefficient * floor(of / denominator) where
// the denominator is not 0, or the coefficient alone where `of` is null.
struct IndexPart {
  std::int64_t coefficient = 0;
  Term of;
  std::int64_t denominator = 0;
};

// Owns all terms. One per thread. Operations are total: beyond a limit of size the result is a fresh unknown of the
// same variables, which equals nothing but itself, and `limit_reached()` says so.
class TermStore {
 public:
  TermStore();
  ~TermStore();
  TermStore(const TermStore&) = delete;
  TermStore& operator=(const TermStore&) = delete;

  // Constants.
  Term integer(std::int64_t value) { return rational(value, 1); }
  Term rational(std::int64_t numerator, std::int64_t denominator);  // denominator > 0
  Term real(double value);  // exactly; infinities and NaN too
  Term infinity(bool negative);
  Term nan();

  // Leaves.
  Term variable(Symbol name);  // an index
  Term fresh_variable();  // prints as `_3`
  Term extent(Symbol name);  // an index that is at least 0
  Term read(Symbol tensor, std::span<const Term> indices, ir::ScalarType type);
  // What store number `id` wrote at an instance.
  Term value(std::int64_t id, std::span<const Term> instance, ir::ScalarType type);
  // An unknown function, equal for equal arguments. `type` tells whether it is an integer, a condition or a real.
  Term call(std::string_view function, std::span<const Term> arguments, ir::ScalarType type);
  // A symbol of no known value, of the variables of `of`.
  Term unknown(std::span<const Term> of);

  // Arithmetic.
  Term add(Term a, Term b);
  Term subtract(Term a, Term b) { return add(a, negate(b)); }
  Term negate(Term a);
  Term multiply(Term a, Term b);
  Term power(Term a, std::int64_t numerator, std::int64_t denominator = 1);
  Term divide(Term a, Term b) { return multiply(a, power(b, -1)); }
  Term exp(Term a);
  Term log(Term a);
  Term maximum(Term a, Term b);
  Term minimum(Term a, Term b) { return negate(maximum(negate(a), negate(b))); }
  Term floor(Term a);
  Term floor_divide(Term a, Term b) { return floor(divide(a, b)); }
  Term modulo(Term a, Term b) { return subtract(a, multiply(b, floor_divide(a, b))); }
  // The value of an integer type that is congruent to `a`.
  Term wrap(ir::ScalarType type, Term a);

  // Conditions.
  Term less(Term a, Term b);  // of reals
  Term equal_to(Term a, Term b);
  Term at_least_zero(Term a);  // of an index: a >= 0
  Term is_zero(Term a);
  Term both(Term a, Term b) { return guard(a, b); }
  Term negation(Term a);
  Term either(Term a, Term b) { return negation(both(negation(a), negation(b))); }
  Term select(Term condition, Term then_value, Term else_value);
  // The value where the condition holds, else 0.
  Term guard(Term condition, Term value);
  Term holds(const Conjunction& conjunction);

  // Folds. The variables of the domain are bound by them.
  Term sum(const Domain& domain, Term body);
  Term maximum_over(const Domain& domain, Term body);
  Term minimum_over(const Domain& domain, Term body) {
    return negate(maximum_over(domain, negate(body)));
  }
  // Of any monoid, by name: no law is known of it but that equal folds are equal. `component` selects a field.
  Term fold(std::string_view monoid, int component, const Domain& domain,
            std::span<const Term> bodies, ir::ScalarType type);

  // The term with terms for variables.
  Term substitute(Term term, std::span<const std::pair<Term, Term>> values);
  // The term with each value atom replaced by `replacement(id, instance)`, where that is not null. What it gives is
  // not looked into again.
  using Inline = std::function<Term(std::int64_t id, std::span<const Term> instance)>;
  Term inline_values(Term term, const Inline& replacement);
  // The same of input cells.
  using InlineRead = std::function<Term(Symbol tensor, std::span<const Term> indices)>;
  Term inline_reads(Term term, const InlineRead& replacement);

  Equality equal(Term a, Term b);
  // Finds index terms for `unknowns` in the pattern. Precondition: both are single monomials.
  std::optional<Match> match(Term pattern, std::span<const Term> unknowns, Term term);

  // What is in the sum `term`, when it is nothing but coefficient * factor * sum over a conjunction: with fresh
  // variables.
  struct Opened {
    Term factor;  // free of the variables
    Domain domain;
    Term body;
    bool is_maximum = false;  // then `factor` is what was added
  };
  std::optional<Opened> open(Term term);

  // Free variables, in a fixed order.
  std::vector<Term> free_variables(Term term) const;
  bool mentions(Term term, Term variable) const;
  bool is_constant(Term term) const;  // rational
  // Cells in it, also within other atoms, but not in folds.
  std::vector<Term> cells(Term term);
  bool has_fold(Term term) const;
  // The term with another for a term that is one atom.
  Term exchanged(Term term, Term atom, Term by);
  // Of a value that is one atom: whether it stands in the term, also within other atoms.
  bool has_value(Term term, Term value);
  // A condition that decides something in the term: an atom. And the term where it holds, or does not.
  std::optional<Term> some_condition(Term term);
  Term assume(Term term, Term condition, bool holds);
  // The term where the condition holds: what that decides is decided.
  Term within(Term condition, Term term);
  bool is_condition(Term term) const;  // one atom that is true or false, or its opposite
  bool is_name(Term term) const;  // a variable or an extent
  // Of an index term that is linear in the variable: its coefficient and the rest.
  std::optional<std::int64_t> integer_value(Term term) const;
  // Which cell the term is, where it is one and nothing else.
  struct Cell {
    Symbol tensor;
    std::vector<Term> indices;
  };
  std::optional<Cell> cell_of(Term term) const;
  bool is_read(Term term) const { return cell_of(term).has_value(); }
  // What is wrapped to the width of the type, where the term is that and nothing else.
  std::optional<Term> unwrapped(ir::ScalarType type, Term term) const;
  // The term with those of its conditions on indices, `value >= 0` or `== 0`, decided that the function decides.
  Term decide(Term term, const std::function<std::optional<bool>(const Constraint&)>& decided);
  // An index term whose sum these parts are; nothing where it is not linear in variables and floors. `values`: cells
  // and other integers of no known form may stand in the place of a variable.
  std::optional<std::vector<IndexPart>> index_parts(Term term, bool values = false);
  std::vector<Term> monomials(Term term);

  // Logs a condition of a term; one of being finite or < inf as conditions of the atoms in it.
  void require(Condition condition, Term term);
  std::vector<Obligation> take_obligations();
  // Those from number `first` on are needed only where the condition holds: they came from an arm of a selection.
  std::size_t num_obligations() const;
  void drop_obligations(std::size_t first);
  void restrict_obligations(std::size_t first, Term condition);
  bool limit_reached() const;

  // Canonical text, the same for the same term in every store.
  std::string print(Term term);
  std::string print(const Obligation& obligation);
  std::string print(const Conjunction& conjunction);

  // Text as a certificate has it; nothing where the term holds what that has no words for.
  std::optional<std::string> spelled(Term term);

  struct Impl;
  Impl& impl() { return *impl_; }  // for this room

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::algebra
