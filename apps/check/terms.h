// SPDX-License-Identifier: Apache-2.0
//
// Terms over the extended reals with an undefined value, and when two of them are equal. What a Program stores and
// what an algorithm says are terms; docs/decisions/proof.md says how a proof consists of equalities of them.
//
// Values: reals, -inf, inf, undefined. Inputs are finite. Operations are those of floats without rounding: inf - inf,
// 0 * inf, a root of what is negative and whatever has an undefined part are undefined; the largest of no values is
// -inf; nothing is assumed of x / 0. A float conversion is the identity. A condition is 1 or 0, and 0 where it compares
// what is undefined; `select` is its chosen arm alone.
//
// Laws: `equal`, `finite` and the others say true only of what holds for all integers and inputs with `where`, all
// symbols having the meaning that is told below; false says nothing. A law of algebra that needs a finite, a
// positive or another divisor than 0 is used only where that was shown. Numbers are exact; one that leaves 127 bits, or
// work beyond the limit, is Refused. Terms are never changed; equal handles are equal terms, whatever bound
// variables are called. Tests: tests/unit/apps/check/terms_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "apps/check/affine.h"

namespace tilewright::checker {

__extension__ typedef __int128 Wide;
// In lowest terms, the denominator positive.
struct Rational {
  Wide over = 0, under = 1;
  Rational(Wide number = 0) : over(number) {}  // NOLINT(google-explicit-constructor)
  Rational(Wide numerator, Wide denominator);
  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  friend bool operator==(const Rational& a, const Rational& b) = default;
  friend bool operator<(const Rational& a, const Rational& b);
  bool is_whole() const { return under == 1; }
};

enum class TermKind : std::uint8_t {
  Number,
  Infinity,  // number: 1 or -1
  Index,  // linear
  Cell,  // of a tensor of the algorithm; args: indices
  Value,  // what statement `id` wrote or computed at an instance; args: its loops' values, from outside in
  Call,  // an unknown function `name`: equal for equal args
  Wrap,  // args[0] modulo two to the width of `type`
  Sum,
  Product,
  Power,  // args[0] to the `number`
  Exp,
  Log,
  Floor,
  Max,
  Select,  // condition, then, else
  AtLeast,  // linear >= 0; this and those below are conditions
  Zero,  // linear == 0
  Less,  // args[0] < args[1]
  Same,  // args[0] == args[1]
  Not,
  And,
  SumOver,  // of args[0] over the points of `bound` with `domain`
  MaxOver,  // the same
  Fold,  // the same by another monoid `name`, of all args
};

struct Node;
using Term = const Node*;
using Values = std::map<std::string, Linear>;
struct Node {
  explicit Node(TermKind kind_in, std::vector<Term> args_in = {}, Rational number_in = 0,
                Type type_in = nullptr, std::string name_in = {}, Linear linear_in = 0)
      : kind(kind_in),
        type(type_in),
        number(number_in),
        name(std::move(name_in)),
        linear(std::move(linear_in)),
        args(std::move(args_in)) {}
  TermKind kind;
  Type type;  // of a Cell, Value, Call, Wrap or Fold; may be null: a real
  Rational number;
  int id = 0;  // of a Value
  std::string name;
  Linear linear;
  std::vector<Term> args;
  std::vector<std::string> bound;
  Conjunction domain;
  // Derived.
  int height = 0, depth = 0;  // of the folds in it; of all
  std::size_t order = 0;  // when it was made
  std::set<std::string> free;  // names of its index terms
};

// What symbols mean, and what is known of sets. All answers have to be the same at every call.
class Meaning {
 public:
  virtual ~Meaning() = default;
  // Whether it is shown that no integers satisfy it; false where that is not known.
  virtual bool empty(const Conjunction& set) = 0;
  // Of the cells of a tensor of the algorithm; Refused if there is none.
  virtual Type cell_type(Name tensor) = 0;
  virtual Type value_type(int statement) = 0;
  // Inputs are finite.
  virtual bool is_input(Name tensor) = 0;
  // What the cell of an equation is; null where that cannot be told.
  virtual Term definition(Name tensor, const std::vector<Term>& indices) = 0;
  // A term that is known to be what the statement wrote there, or null. Used for questions of being finite
  // and of signs; equal() leaves values as they are. The caller answers for the order of the induction: it
  // tells of what is earlier than what it proves.
  virtual Term claim(int statement, const std::vector<Term>& instance) = 0;
};

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

inline constexpr std::size_t kMaxTermWork = 4000000;

Conjunction joined(Conjunction a, const Conjunction& b);

class Terms {
 public:
  explicit Terms(Meaning& what, std::size_t most = kMaxTermWork) : meaning_(what), limit_(most) {}
  Terms(const Terms&) = delete;
  Terms& operator=(const Terms&) = delete;

  // Made as they are said, without a law; sums and products that are affine become index terms.
  Term number(const Rational& value);
  Term real(double value);  // exactly; infinities too, NaN is Refused
  Term index(const Linear& value);
  Term cell(Name tensor, std::vector<Term> indices);
  Term value(int statement, const std::vector<Linear>& instance);
  Term call(std::string name, std::vector<Term> args, Type type);
  Term apply(TermKind kind, std::vector<Term> args);  // Sum ... And
  Term power(Term base, const Rational& exponent);
  Term wrap(Type type, Term arg);
  Term condition(const Linear& linear, bool equality);
  // `kind` is SumOver, MaxOver, or Fold with a name. Each point of the domain counts once.
  Term fold(TermKind kind, std::vector<std::string> bound, const Conjunction& domain,
            std::vector<Term> args, std::string name = {}, Type type = nullptr);

  // What the leaves of an expression stand for. A null function or answer: itself.
  struct Leaves {
    std::function<Term(const Expr& variable)> variable;  // variables and extents
    std::function<Term(const Expr& read, const std::vector<Term>& indices)> read;
  };
  // Integers wrap at their width, `index` does not. `component`: of a fold of several values, the number of one.
  // Refused: recurrences, updates, bounds of folds that are not affine.
  Term from(Ref expression, const Leaves& leaves, std::size_t component = 0);

  // Text of a term, as it stands in a certificate:
  //   3  -1/2  inf  -inf           numbers
  //   {2*i 1*[1*k 3/4] -1}         an index: 2*i + floor((k + 3) / 4) - 1, as Linear::text() writes it
  //   (cell x T...)  (value 7 T...)  (call NAME TYPE T...)  (wrap i32 T)
  //   (+ T...)  (* T...)  (^ T -1/2)  (exp T)  (log T)  (floor T)  (max T...)  (select T T T)
  //   (>= {i})  (= {i})  (< T T)  (== T T)  (! T)  (& T...)       conditions; the first two: of an index and 0
  //   (sum (k l) ((>= {k}) (= {l})) T)   (maximum (k) () T)   (fold NAME TYPE (k) () T...)
  // NAME is any word without spaces and parentheses; TYPE a type or `-`. The name of a function is what the
  // compiler calls it with `_` for spaces: round_to_bf16_to_f32, saturate_to_i8, truncate_to_i32, bit_and_of_u32; that of
  // a fold likewise: prod_of_f32, its first argument is the condition, and .1 follows for field 1.
  // Bound names hide others. Refused where it is anything else.
  Term read(Name text);
  std::string text(Term term);  // where it is very long, its beginning

  // Index terms in place of names, all at once.
  Term substituted(Term term, const Values& values);
  // Each Cell and Value for which `with` gives a term replaced by that, which is not looked into again.
  Term replaced(Term term, const std::function<Term(Term leaf)>& with);
  // As they stand, then with all equations unfolded. Asks Meaning::empty about many sets, most of them not empty.
  bool equal(Term a, Term b, const Conjunction& where);
  bool finite(Term a, const Conjunction& where);

 private:
  // terms.cpp
  Term make(Node node);
  Term rebuilt(Term term, std::vector<Term> args);  // the same of other args
  Opened open(Term fold, const std::string& prefix);
  Opened open(Term fold, At here) { return open(fold, "%" + std::to_string(here.level)); }
  Term closed(Term like, const Opened& parts);  // of the kind, name and type of `like`
  void spend(std::size_t work = 1);
  void print(Term term, std::string& out);

  // terms_normal.cpp
  At at(Conjunction where, int level);
  At within(At here, const Conjunction& more) { return at(joined(here.where, more), here.level); }
  At inside(At here, const Opened& parts) {
    return at(joined(here.where, parts.domain), here.level + !parts.names.empty());
  }
  bool empty(const Conjunction& set);
  bool holds(const Linear& linear, bool equality, At here);
  std::optional<bool> decided(Term affine_condition, At here);
  Term normal(Term term, At here);
  Term computed(Term term, At here);
  Poly poly(Term normal);
  Term term(const Poly& poly);
  Poly unknown(const char* name, const Poly& a, const Poly& b);
  Poly add(const Poly& a, const Poly& b, At here);
  Poly multiply(const Poly& a, const Poly& b, At here);
  Poly power(const Poly& base, const Rational& exponent, At here);
  Poly exp(const Poly& a);
  Poly shared_exponent(const Poly& a);
  Poly times(const Key& key, const Rational& coefficient, Term atom, Rational power, At here);
  Term largest(std::vector<Term> args);
  Term unwrapped(Type type, Term term);
  // A condition in the term that is affine, free of folds around it, and not decided.
  Term undecided(Term term, At here, const std::vector<std::string>* names);
  // terms_folds.cpp
  void eliminate(Opened& parts);
  Term folded(Term like, Opened parts, At here);
  Term split(Term like, const Opened& parts, Term condition, At here);
  Poly sum_of(Term like, const Opened& parts, const Key& body, At here);
  Poly maximum_of(Term like, const Opened& parts, Poly body, At here);

  // terms_signs.cpp
  unsigned facts(Term term, At here);
  unsigned known(Term term, At here);
  unsigned of_product(const Key& factors, At here);
  unsigned of_select(Term select, At here);
  unsigned of_fold(Term fold, At here);
  bool is(Term term, unsigned fact, At here) { return (facts(term, here) & fact) != 0; }
  bool all(const Poly& a, unsigned fact, At here);
  bool point(const Opened& parts, Values& values, std::size_t next, int& tries, At here,
             const std::function<bool(Term)>& good);

  // terms_equal.cpp
  struct Use {
    Opened fold;  // args: the body alone
    Rational weight = 1;
    bool left = true;
  };
  bool equal(Term a, Term b, const Conjunction& where, bool unfold, int depth);
  Term unfolded(Term term, int depth);
  bool same(Term a, Term b, At here);
  bool same_parts(Term a, Term b, At here);
  bool same_factors(const Key& a, Key b, At here);
  bool same_sums(const Poly& a, const Poly& b, At here);
  bool same_atom(Term a, Term b, At here);
  bool same_maxima(Term a, Term b, At here);
  bool matched(std::vector<Use> uses, bool counted, At here);
  Use use(const Key& key, const Rational& weight, bool left, const std::map<Term, int>& seen,
          At here);
  bool uses_of_maximum(Term term, bool left, At here, std::vector<Use>& out);
  std::optional<Conjunction> points_of(const Use& pattern, const Use& other,
                                       std::vector<Values>& known, At here);
  std::optional<Values> solve(const std::vector<std::string>& names,
                              const std::vector<Term>& wanted, const std::vector<Term>& given,
                              std::size_t next, const Values& sofar,
                              const std::function<bool(const Values&)>& right);
  bool balanced(const Conjunction& set, const std::vector<Use>& uses, std::size_t next,
                const Rational& weight);
  bool covered(const Conjunction& set, const std::vector<Use>& uses, std::size_t next, bool left);

  Meaning& meaning_;
  std::size_t limit_, work_ = 0, num_opened_ = 0;
  std::deque<Node> nodes_;
  std::unordered_map<std::string, Term> by_text_;
  std::deque<Context> contexts_;
  std::unordered_map<std::string, std::size_t> context_by_text_;
  std::map<std::size_t, bool> empty_;  // by the context
  std::map<std::pair<Term, std::size_t>, Term> normals_;
  std::map<std::pair<Term, std::size_t>, unsigned> signs_;
  std::map<std::tuple<Term, Term, std::size_t>, bool> sames_;
};

// Private to the files of terms.h.
bool is_fold(TermKind kind);
bool is_condition(Term term);
bool mentions(const std::set<std::string>& free, const std::vector<std::string>& names);
std::set<std::string> names_in(const Linear& linear);
std::optional<Linear> linear_of(Term term);
// What the name has to be for `linear` to be 0, where that says it, without any of `unknown`.
std::optional<Linear> solved(const Linear& linear, const std::string& name,
                             const std::vector<std::string>& unknown);
Conjunction substituted(const Conjunction& set, const Values& values);
// Disjoint parts of what is not in the set.
std::vector<Conjunction> outside(const Conjunction& set);
// The points at which the affine condition has the value; nothing if it is none.
std::optional<std::vector<Conjunction>> cases(Term condition, bool value);
Poly product_of(Key key, const Rational& coefficient = 1);
Poly scaled(Poly a, const Rational& by);

}  // namespace tilewright::checker
