// SPDX-License-Identifier: Apache-2.0
//
// The algorithm language in C++, in the manner of Halide:
//
//   using namespace tilewright::language;
//
//   Algorithm gemm("gemm");
//   Extent M(gemm, "M"), N(gemm, "N"), K(gemm, "K");
//   Input a(gemm, "a", f32, {M, K}), b(gemm, "b", f32, {K, N});
//   Output c(gemm, "c");
//   Var i("i"), j("j");
//   RDom k("k", K);
//   c(i, j) = sum(k, a(i, k) * b(k, j));
//
//   Result<std::string> text = gemm.text();   // the same as the .tw file that says so
//
// Everything that a .tw file can say has a form here that is spelled the same way, with `()` for `[]`; the rules,
// literals and inferred ranges are those of docs/language.md, since one reader gives meaning to both. Mistakes
// are collected and returned by text() with the line of this program that made them; nothing is thrown or
// printed. A schedule says how it runs; this header knows none. Guide: docs/cpp_language.md.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "tilewright/language_result.h"

namespace tilewright::language {

// The caller's place, as a default argument.
using Where = std::source_location;

class Algorithm;
class Extent;
class Loop;
class RDom;
class Ref;
class State;
class Tensor;
class Var;

namespace detail {
struct Node;
struct Declaration;
struct AlgorithmState;
struct LoopState;
struct MonoidState;
using NodePtr = std::shared_ptr<const Node>;
using DeclarationPtr = std::shared_ptr<Declaration>;
NodePtr integer_literal(bool negative, std::uint64_t magnitude, Where where);
}  // namespace detail

// A scalar value at one point of an index domain. Cheap to copy; immutable. A default Expr is empty, and
// using it is a mistake (E0123). Numbers and truth values are literals without a type of their own, as in text.
class Expr {
 public:
  Expr() = default;
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Expr(T value, Where where = Where::current())
      : node_(detail::integer_literal(value < T{0},
                                      value < T{0}
                                          ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                                          : static_cast<std::uint64_t>(value),
                                      where)) {}
  template <std::same_as<bool> T>
  Expr(T value, Where where = Where::current()) : Expr(Truth{value}, where) {}
  Expr(double value, Where where = Where::current());
  Expr(const Var& var, Where where = Where::current());
  Expr(const RDom& var, Where where = Where::current());
  Expr(const Extent& extent, Where where = Where::current());
  Expr(const Loop& loop, Where where = Where::current());
  Expr(const State& state, Where where = Where::current());
  Expr(const Ref& read, Where where = Where::current());
  // A tensor without indices, as `x()`.
  Expr(const Tensor& scalar, Where where = Where::current());
  Expr(const Expr& other, Where) : node_(other.node_) {}

  explicit Expr(detail::NodePtr node) : node_(std::move(node)) {}
  const detail::NodePtr& node() const { return node_; }

 private:
  struct Truth {
    bool value;
  };
  Expr(Truth value, Where where);
  detail::NodePtr node_;
};

// An argument of an operator or function: an Expr, and the place where it was given. Users never name it.
struct Operand {
  template <class T>
    requires std::constructible_from<Expr, const T&, Where>
  Operand(const T& value, Where at = Where::current()) : expr(value, at), where(at) {}
  Expr expr;
  Where where;
};

// One value, or a tuple of them: `x(j)`, `{x(j), i64(j)}`. Users never name it.
class Values {
 public:
  template <class T>
    requires std::constructible_from<Expr, const T&, Where>
  Values(const T& value, Where at = Where::current()) : list_{Operand(value, at)} {}
  Values(std::initializer_list<Operand> values) : list_(values) {}
  Values(std::vector<Operand> values) : list_(std::move(values)) {}
  const std::vector<Operand>& list() const { return list_; }

 private:
  std::vector<Operand> list_;
};

// A reduction, scan or sort, as the value of an equation. What may be said of it besides its terms:
//   `max(t, x(b, t)).where(t < len(b)).on_empty(0)`.
class Reduction : public Expr {
 public:
  using Expr::Expr;
  // Only the terms where the condition holds.
  Reduction where(Operand condition, Where where = Where::current()) const;
  // The value, or one for each field, where there is no term.
  Reduction on_empty(Values values, Where where = Where::current()) const;
  // The cell that a term of an update goes to.
  Reduction at(std::vector<Operand> cell, Where where = Where::current()) const;
};

// A scalar type. `f32(x)` converts; `f32(0.5)` is a constant of that type.
class Type {
 public:
  constexpr explicit Type(const char* name) : name_(name) {}
  constexpr const char* name() const { return name_; }
  Expr operator()(Operand value, Where where = Where::current()) const;

 private:
  const char* name_;
};

// `index_` and `bool_` end in `_`, since C and C++ have the plain names.
inline constexpr Type bool_{"bool"}, index_{"index"};
inline constexpr Type i4{"i4"}, i8{"i8"}, i16{"i16"}, i32{"i32"}, i64{"i64"};
inline constexpr Type u4{"u4"}, u8{"u8"}, u16{"u16"}, u32{"u32"}, u64{"u64"};
inline constexpr Type f4e2m1{"f4e2m1"}, f6e2m3{"f6e2m3"}, f6e3m2{"f6e3m2"}, f8e4m3{"f8e4m3"};
inline constexpr Type f8e5m2{"f8e5m2"}, f8e8m0{"f8e8m0"};
inline constexpr Type bf16{"bf16"}, f16{"f16"}, tf32{"tf32"}, f32{"f32"}, f64{"f64"};
inline constexpr Type c64{"c64"}, c128{"c128"};

inline constexpr double inf = std::numeric_limits<double>::infinity();

// The name of an index or of a variable of a fold. Vars of one name are the same variable.
class Var {
 public:
  explicit Var(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// A variable of a fold with its half-open range. As a value it is the variable. `i < N` and `1 <= s && s < N`
// with a Var make one, too.
class RDom {
 public:
  RDom(std::string name, Operand upper, Where where = Where::current());  // 0 <= name < upper
  RDom(std::string name, Operand lower, Operand upper, Where where = Where::current());
  RDom(const Expr& range, Where where = Where::current());

  // The comparison that says the range.
  const Expr& range() const { return range_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  Expr range_;
};

// The previous value in a recurrence: `scan(t, {h.from(h0(i))}, a(i, t) * h + b(i, t))`.
class State {
 public:
  explicit State(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  struct Start {
    std::string name;
    Operand value;
  };
  // What it is before the first cell.
  Start from(Operand value) const { return {name_, std::move(value)}; }

 private:
  std::string name_;
};

struct ExtentRange {
  std::int64_t min = 0;
  std::optional<std::int64_t> max = std::nullopt;
  std::int64_t multiple_of = 1;
};

// A symbolic size.
class Extent {
 public:
  Extent(Algorithm& algorithm, std::string name, Where where = Where::current());
  Extent(Algorithm& algorithm, std::string name, const ExtentRange& range,
         Where where = Where::current());

 private:
  friend class Expr;
  detail::DeclarationPtr declaration_;
};

// One element of a tensor: a value where it is read, an equation where it is assigned to.
class Ref {
 public:
  Ref(const Ref&) = default;
  Ref& operator=(const Ref&) & = delete;
  // Defines the tensor at every point of its domain. The arguments are Vars, or `i < N` where a range does not
  // follow from what is read.
  void operator=(Operand value) &&;

 private:
  friend class Expr;
  friend class Tensor;
  Ref(std::shared_ptr<detail::AlgorithmState> algorithm, detail::DeclarationPtr declaration,
      std::vector<Operand> args, Where where);
  std::shared_ptr<detail::AlgorithmState> algorithm_;
  detail::DeclarationPtr declaration_;
  std::vector<Operand> args_;
  Where where_;
};

// A tensor that an equation defines and later ones read. It may have a declared type; by default the type is
// that of the value.
class Tensor {
 public:
  Tensor(Algorithm& algorithm, std::string name, Where where = Where::current());
  Tensor(Algorithm& algorithm, std::string name, Type type, Where where = Where::current());

  Ref operator()(Where where = Where::current()) const { return element({}, where); }
  Ref operator()(Operand i) const { return element({i}, i.where); }
  Ref operator()(Operand i, Operand j) const { return element({i, j}, i.where); }
  Ref operator()(Operand i, Operand j, Operand k) const { return element({i, j, k}, i.where); }
  Ref operator()(Operand i, Operand j, Operand k, Operand l) const {
    return element({i, j, k, l}, i.where);
  }
  Ref operator()(Operand i, Operand j, Operand k, Operand l, Operand m) const {
    return element({i, j, k, l, m}, i.where);
  }
  Ref operator()(Operand i, Operand j, Operand k, Operand l, Operand m, Operand n) const {
    return element({i, j, k, l, m, n}, i.where);
  }
  // One of the tensors of an equation that makes several: `best["value"](i)`.
  Tensor operator[](const std::string& field) const;
  // Any number of indices: `t.at({i, j})`.
  Ref at(std::vector<Operand> indices, Where where = Where::current()) const {
    return element(std::move(indices), where);
  }

 protected:
  struct Declared {
    bool input = false;
    bool output = false;
    const Type* type = nullptr;
    std::vector<Operand> shape = {};
    std::string what = {};  // "const", "inout", "view"
    std::string facts = {};
    std::vector<Operand> range = {};
    const Tensor* into = nullptr;
  };
  Tensor(Algorithm& algorithm, std::string name, Declared declared, Where where);

 private:
  friend class Expr;
  friend class Loop;
  friend struct Argument;
  friend void call(std::vector<Tensor> results, const Algorithm& callee,
                   std::vector<struct Argument> arguments, Where where);
  Ref element(std::vector<Operand> args, Where where) const;
  std::shared_ptr<detail::AlgorithmState> algorithm_;
  detail::DeclarationPtr declaration_;
};

// What is declared of the values of an integer input: `range(0, N).clamp()`, `monotone()`, `permutation()`.
class Facts {
 public:
  Facts clamp() const { return with(" clamp"); }
  Facts monotone() const { return with(" monotone"); }
  Facts injective() const { return with(" injective"); }
  Facts assumed() const { return with(" assumed"); }

 private:
  friend class Input;
  friend Facts range(Operand lower, Operand upper);
  friend Facts monotone();
  friend Facts permutation();
  Facts(std::vector<Operand> range, std::string words)
      : range_(std::move(range)), words_(std::move(words)) {}
  Facts with(const char* word) const { return {range_, words_ + word}; }
  std::vector<Operand> range_;
  std::string words_;
};
inline Facts range(Operand lower, Operand upper) {
  return {{std::move(lower), std::move(upper)}, {}};
}
inline Facts monotone() { return {{}, " monotone"}; }
inline Facts permutation() { return {{}, " permutation"}; }

// A tensor that the caller gives. `{}` is the shape of a scalar.
class Input : public Tensor {
 public:
  Input(Algorithm& algorithm, std::string name, Type type, std::vector<Operand> shape,
        Where where = Where::current());
  Input(Algorithm& algorithm, std::string name, Type type, std::vector<Operand> shape, Facts facts,
        Where where = Where::current());

 protected:
  Input(Algorithm& algorithm, std::string name, Type type, std::vector<Operand> shape,
        const char* what, const Facts* facts, Where where);
};

// One that does not change between calls: a schedule may pack it once.
class ConstInput : public Input {
 public:
  ConstInput(Algorithm& algorithm, std::string name, Type type, std::vector<Operand> shape,
             Where where = Where::current());
  ConstInput(Algorithm& algorithm, std::string name, Type type, std::vector<Operand> shape,
             Facts facts, Where where = Where::current());
};

// One whose storage holds an output when a call returns: `Output y(a, "y", x)`.
class InOut : public Input {
 public:
  InOut(Algorithm& algorithm, std::string name, Type type, std::vector<Operand> shape,
        Where where = Where::current());
};

// A tensor that the caller gets.
class Output : public Tensor {
 public:
  Output(Algorithm& algorithm, std::string name, Where where = Where::current());
  Output(Algorithm& algorithm, std::string name, Type type, Where where = Where::current());
  // Into the storage of `into`.
  Output(Algorithm& algorithm, std::string name, const InOut& into, Where where = Where::current());
  Output(Algorithm& algorithm, std::string name, Type type, const InOut& into,
         Where where = Where::current());
};

// A tensor that only reads cells of others, and is never stored.
class View : public Tensor {
 public:
  View(Algorithm& algorithm, std::string name, Where where = Where::current());
  View(Algorithm& algorithm, std::string name, Type type, Where where = Where::current());
};

// Numbers of a tensor in row-major order, for evaluate(): of a complex type real and imaginary parts in turn.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};
using Arrays = std::map<std::string, Array>;
using Sizes = std::map<std::string, std::int64_t>;

// A system of equations under construction. Copies are the same algorithm. Equations, inputs and extents stand
// in the order in which the program makes them.
class Algorithm {
 public:
  explicit Algorithm(std::string name, Where where = Where::current());
  const std::string& name() const;

  // What every call must satisfy: `gemm.require(1 <= M)`.
  void require(Operand condition);

  // The canonical text, which `tilewright` reads, or every mistake that was made.
  Result<std::string> text() const;
  // The JSON form of the same.
  Result<std::string> json() const;
  // Runs the equations as they stand, by the slow interpreter that says what they mean: the outputs for these
  // inputs. Sizes follow from the shapes of inputs; `sizes` gives those that do not.
  Result<Arrays> evaluate(const Arrays& inputs, const Sizes& sizes = {}) const;

  const std::shared_ptr<detail::AlgorithmState>& state() const { return state_; }

 private:
  std::shared_ptr<detail::AlgorithmState> state_;
};

// One side of a combination of a declared reduction: `a["m"]` is its field.
class Element {
 public:
  explicit Element(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  Expr operator[](const std::string& field) const { return field_of(field, Where::current()); }
  Expr field_of(const std::string& field, Where where) const;

 private:
  std::string name_;
};

// A reduction of your own:
//   Monoid lse(a, "lse", {{"m", f32}, {"s", f32}}, {-inf, 0});
//   Element p("p"), q("q");
//   lse(p, q) = {max(p["m"], q["m"]), ...};
//   stat(i) = lse(j, {x(i, j), 1});
class Monoid {
 public:
  struct Field {
    std::string name;
    Type type;
  };
  Monoid(Algorithm& algorithm, std::string name, std::vector<Field> fields, Values identity,
         Where where = Where::current());
  // That the order of its elements does not matter.
  Monoid& commutative();

  class Combination {
   public:
    void operator=(Values values) &&;

   private:
    friend class Monoid;
    std::shared_ptr<detail::MonoidState> monoid_;
    std::string left_;
    std::string right_;
    Where where_;
  };
  Combination operator()(const Element& left, const Element& right,
                         Where where = Where::current()) const;
  Reduction operator()(const RDom& domain, Values terms, Where where = Where::current()) const;
  Reduction operator()(std::initializer_list<RDom> domain, Values terms,
                       Where where = Where::current()) const;
  Reduction scan(const Var& along, Values terms, Where where = Where::current()) const;

 private:
  std::shared_ptr<detail::MonoidState> state_;
};

// Equations that are solved once for each iteration. What stands between the constructor and end() is its body;
// of that only the carried tensors are known afterwards.
//   Loop l(a, "l", L);
//   Tensor h = l.carry("h", x);
//   n(b, e) = sum(d, h(b, d) * w(l, d, e));
//   l.next(h, n);
//   l.end();
class Loop {
 public:
  Loop(Algorithm& algorithm, std::string name, Operand trips, Where where = Where::current());
  // A tensor that is `start` in the first iteration.
  Tensor carry(std::string name, const Tensor& start, Where where = Where::current());
  // The loop ends before the first iteration in which this does not hold.
  void while_(Operand condition);
  // What it is in the next iteration.
  void next(const Tensor& carried, const Tensor& value, Where where = Where::current());
  void end(Where where = Where::current());

 private:
  friend class Expr;
  std::shared_ptr<detail::AlgorithmState> algorithm_;
  std::shared_ptr<detail::LoopState> state_;
};

// An input of a callee and the tensor that it is given; leading indices fix dimensions of it.
struct Argument {
  Argument(std::string name, const Tensor& value, std::vector<Operand> leading = {},
           Where at = Where::current())
      : input(std::move(name)), tensor(value), indices(std::move(leading)), where(at) {}
  std::string input;
  Tensor tensor;
  std::vector<Operand> indices;
  Where where;
};

// The results of another algorithm, in the order of its outputs: `call({h}, linear, {{"x", x}, {"w", w, {0}}})`.
void call(std::vector<Tensor> results, const Algorithm& callee, std::vector<Argument> arguments,
          Where where = Where::current());

namespace detail {
Expr apply(const char* name, std::initializer_list<Operand> args, Where where);
Expr infix(const char* symbol, const Operand& a, const Operand& b);
Expr prefix(const char* symbol, const Operand& a);
Reduction fold(const char* monoid, const std::vector<RDom>& domain, const Values& terms,
               Where where);
// min and max: a fold where the first argument is the range of a variable, as in text.
Reduction fold_or_apply(const char* name, const Expr& a, const Operand& b, Where where);
Reduction scan(const char* monoid, const Var& along, const Values& terms, Where where);
}  // namespace detail

inline Expr operator+(Operand a, Operand b) { return detail::infix("+", a, b); }
inline Expr operator-(Operand a, Operand b) { return detail::infix("-", a, b); }
inline Expr operator*(Operand a, Operand b) { return detail::infix("*", a, b); }
inline Expr operator/(Operand a, Operand b) { return detail::infix("/", a, b); }
inline Expr operator%(Operand a, Operand b) { return detail::infix("%", a, b); }
inline Expr operator==(Operand a, Operand b) { return detail::infix("==", a, b); }
inline Expr operator!=(Operand a, Operand b) { return detail::infix("!=", a, b); }
inline Expr operator<(Operand a, Operand b) { return detail::infix("<", a, b); }
inline Expr operator<=(Operand a, Operand b) { return detail::infix("<=", a, b); }
inline Expr operator>(Operand a, Operand b) { return detail::infix(">", a, b); }
inline Expr operator>=(Operand a, Operand b) { return detail::infix(">=", a, b); }
// Both sides are values of the algorithm: nothing is skipped as it is on `bool`.
inline Expr operator&&(Operand a, Operand b) { return detail::infix("&&", a, b); }
inline Expr operator||(Operand a, Operand b) { return detail::infix("||", a, b); }
inline Expr operator-(Operand a) { return detail::prefix("-", a); }
inline Expr operator!(Operand a) { return detail::prefix("!", a); }

#define TILEWRIGHT_LANGUAGE_UNARY(name)                         \
  inline Expr name(Operand a, Where where = Where::current()) { \
    return detail::apply(#name, {a}, where);                    \
  }
TILEWRIGHT_LANGUAGE_UNARY(abs)
TILEWRIGHT_LANGUAGE_UNARY(bit_not)
TILEWRIGHT_LANGUAGE_UNARY(floor)
TILEWRIGHT_LANGUAGE_UNARY(ceil)
TILEWRIGHT_LANGUAGE_UNARY(rint)
TILEWRIGHT_LANGUAGE_UNARY(sqrt)
TILEWRIGHT_LANGUAGE_UNARY(rsqrt)
TILEWRIGHT_LANGUAGE_UNARY(exp)
TILEWRIGHT_LANGUAGE_UNARY(exp2)
TILEWRIGHT_LANGUAGE_UNARY(expm1)
TILEWRIGHT_LANGUAGE_UNARY(log)
TILEWRIGHT_LANGUAGE_UNARY(log2)
TILEWRIGHT_LANGUAGE_UNARY(log1p)
TILEWRIGHT_LANGUAGE_UNARY(tanh)
TILEWRIGHT_LANGUAGE_UNARY(erf)
TILEWRIGHT_LANGUAGE_UNARY(sin)
TILEWRIGHT_LANGUAGE_UNARY(cos)
TILEWRIGHT_LANGUAGE_UNARY(re)
TILEWRIGHT_LANGUAGE_UNARY(im)
TILEWRIGHT_LANGUAGE_UNARY(conj)
#undef TILEWRIGHT_LANGUAGE_UNARY

#define TILEWRIGHT_LANGUAGE_BINARY(name)                                   \
  inline Expr name(Operand a, Operand b, Where where = Where::current()) { \
    return detail::apply(#name, {a, b}, where);                            \
  }
TILEWRIGHT_LANGUAGE_BINARY(bit_and)
TILEWRIGHT_LANGUAGE_BINARY(bit_or)
TILEWRIGHT_LANGUAGE_BINARY(bit_xor)
TILEWRIGHT_LANGUAGE_BINARY(shift_left)
TILEWRIGHT_LANGUAGE_BINARY(shift_right)
TILEWRIGHT_LANGUAGE_BINARY(random_bits)
TILEWRIGHT_LANGUAGE_BINARY(complex)
#undef TILEWRIGHT_LANGUAGE_BINARY

inline Expr fma(Operand a, Operand b, Operand c, Where where = Where::current()) {
  return detail::apply("fma", {a, b, c}, where);
}
inline Reduction min(const Expr& a, Operand b, Where where = Where::current()) {
  return detail::fold_or_apply("min", a, b, where);
}
inline Reduction max(const Expr& a, Operand b, Where where = Where::current()) {
  return detail::fold_or_apply("max", a, b, where);
}
// The chosen arm alone is evaluated, so the other may read out of bounds.
inline Expr select(Operand condition, Operand a, Operand b, Where where = Where::current()) {
  return detail::apply("select", {condition, a, b}, where);
}
inline Expr cast(Type type, Operand value, Where where = Where::current()) {
  return type(value, where);
}
// Converts; what the type cannot hold becomes its nearest value.
Expr saturate(Type type, Operand value, Where where = Where::current());
// Rounds to the grid of a float type and keeps the type; never moves.
Expr round_to(Type grid, Operand value, Where where = Where::current());

// Reductions: `sum(k, body)`, `sum(k < K, body)`, `sum({s, t}, body)`. A range may use the variables before it.
// `all` and `any` are the text's `and` and `or`; `last` is for updates.
#define TILEWRIGHT_LANGUAGE_FOLD(name, text)                                                     \
  inline Reduction name(const RDom& domain, Values terms, Where where = Where::current()) {      \
    return detail::fold(text, {domain}, terms, where);                                           \
  }                                                                                              \
  inline Reduction name(std::initializer_list<RDom> domain, Values terms,                        \
                        Where where = Where::current()) {                                        \
    return detail::fold(text, domain, terms, where);                                             \
  }                                                                                              \
  inline Reduction scan_##name(const Var& along, Values terms, Where where = Where::current()) { \
    return detail::scan(text, along, terms, where);                                              \
  }
TILEWRIGHT_LANGUAGE_FOLD(sum, "sum")
TILEWRIGHT_LANGUAGE_FOLD(prod, "prod")
TILEWRIGHT_LANGUAGE_FOLD(min, "min")
TILEWRIGHT_LANGUAGE_FOLD(max, "max")
TILEWRIGHT_LANGUAGE_FOLD(all, "and")
TILEWRIGHT_LANGUAGE_FOLD(any, "or")
TILEWRIGHT_LANGUAGE_FOLD(argmin, "argmin")
TILEWRIGHT_LANGUAGE_FOLD(argmax, "argmax")
TILEWRIGHT_LANGUAGE_FOLD(last, "last")
#undef TILEWRIGHT_LANGUAGE_FOLD

// A recurrence along an index of the equation: the terms are the next values.
Reduction scan(const Var& along, std::vector<State::Start> state, Values terms,
               Where where = Where::current());
// A scatter: every cell starts at `base`, then the terms go to their cells:
// `count(b < B) = update(i32(0), sum(n, 1).at({bin(n)}))`.
Reduction update(Values base, const Reduction& terms, Where where = Where::current());
// Where the k-th of the values stands: `p(i, k < K) = sort(j, x(i, j))`.
Reduction sort(const RDom& variable, Operand value, Where where = Where::current());
Reduction sort_descending(const RDom& variable, Operand value, Where where = Where::current());

}  // namespace tilewright::language
