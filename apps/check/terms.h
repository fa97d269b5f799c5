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
struct Node {
  TermKind kind = TermKind::Number;
  Type type = nullptr;  // of a Cell, Value, Call, Wrap or Fold; may be null: a real
  Rational number;
  int id = 0;  // of a Value
  std::string name;
  Linear linear;
  std::vector<Term> args;
  std::vector<std::string> bound;
  Conjunction domain;
  // Derived.
  int height = 0;  // of the folds in it
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

inline constexpr std::size_t kMaxTermWork = 4000000;

class Terms {
 public:
  explicit Terms(Meaning& meaning, std::size_t limit = kMaxTermWork);
  Terms(const Terms&) = delete;
  Terms& operator=(const Terms&) = delete;

  // Made as they are said, without a law; sums and products of index terms and numbers that are affine become index
  // terms.
  Term number(const Rational& value);
  Term real(double value);  // exactly; infinities too, NaN is Refused
  Term index(const Linear& value);
  Term cell(Name tensor, std::vector<Term> indices);
  Term value(int statement, const std::vector<Linear>& instance);
  Term call(std::string name, std::vector<Term> args, Type type);
  Term apply(TermKind kind,
             std::vector<Term> args);  // Sum ... And, of any number of args that makes sense
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
  std::string text(Term term);

  // Index terms in place of names, all at once, bound variables not among them.
  Term substituted(Term term, const std::map<std::string, Linear>& values);
  // Each Cell and Value for which `with` gives a term replaced by that, which is not looked into again.
  Term replaced(Term term, const std::function<Term(Term leaf)>& with);
  // Calls `seen` with each Value, and each Cell, in the term, and with what holds where it is used: `where`, domains of
  // folds around it, conditions of arms.
  void leaves(Term term, const Conjunction& where,
              const std::function<void(Term leaf, const Conjunction& where)>& seen);

  // As they stand, then with all equations unfolded. Asks Meaning::empty about many sets, most of them not empty.
  bool equal(Term a, Term b, const Conjunction& where);
  bool finite(Term a, const Conjunction& where);

  struct Impl;
  Impl& impl() { return *impl_; }  // of terms_parts.h

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace tilewright::checker
