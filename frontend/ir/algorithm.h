// SPDX-License-Identifier: Apache-2.0
//
// An algorithm: a system of equations over index domains. No loops, no memory, no machine. A plain
// value; its expressions live in the Context it was made with. Canonical text and parser: text.h;
// what makes it well formed: verify.h; meaning: interpret.h.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "frontend/base/source.h"
#include "frontend/ir/expr.h"

namespace tilewright::ir {

class Context;

// `M`, `N min 1 max 4096 multiple_of 8`. Sizes are at least 0.
struct ExtentDecl {
  Symbol name;
  std::int64_t min = 0;
  std::optional<std::int64_t> max;
  std::int64_t multiple_of = 1;
  Span span;
};

// What is declared of the values of an integer tensor, which others use as indices and bounds:
// `range 0 .. N clamp`, `range 0 .. N injective`, `monotone assumed`. facts.h says what they mean.
struct Facts {
  Expr lower;  // of the range, over extents; null: none
  Expr upper;  // exclusive
  bool clamp = false;  // a value outside of the range is read as the nearest inside
  bool monotone = false;  // along the last dimension no value is less than the one before
  bool injective = false;  // along the last dimension no value stands twice
  bool assumed = false;  // not checked where a call enters

  bool any() const { return lower || monotone || injective; }
  friend bool operator==(const Facts&, const Facts&) = default;
};

// `input a : f32[M, K]`, `const input w : ...` (may be packed once). The shape is made of extents and
// affine expressions of them.
struct Input {
  Symbol name;
  ScalarType type = ScalarType::F32;
  std::vector<Expr> shape;
  Span span;
  Facts facts = {};
  bool is_const = false;
};

// `monoid lse(m : f32, s : f32) { identity ...  combine(a, b) = ... }`, before the algorithm: a reduction of
// one value for each field. `combine` is over Vars named `a.m`, `b.m`. Its laws are tested on sampled values
// when it is read (monoid_laws.h).
struct MonoidDecl {
  Symbol name;
  std::vector<Symbol> fields;
  std::vector<ScalarType> types;
  std::vector<Expr> identity;  // constants
  Symbol left;
  Symbol right;
  std::vector<Expr> combine;
  bool commutative = false;
  Span span;
};

// A tensor that an equation defines.
struct TensorPart {
  Symbol name;
  ScalarType type = ScalarType::F32;
  friend bool operator==(const TensorPart&, const TensorPart&) = default;
};

// `c[i < M, j < N] : f32 = sum(k < K) a[i, k] * b[k, j]`, or the same after `output`.
// The value is free of folds, or a Fold, or a Cast of a Fold of one value: other uses of a fold get an
// equation of their own. A fold of several fields defines one tensor for each: `best.value`, `best.index`.
struct Equation {
  Symbol name;
  std::vector<Symbol> indices;
  std::vector<Expr> shape;  // exclusive upper bound of each index; lower bound 0
  ScalarType type = ScalarType::F32;  // of the value; of a fold of several fields that of the first
  std::vector<TensorPart> parts;  // of a fold of several fields; else empty
  Expr value;
  bool is_output = false;
  bool is_view =
      false;  // `view y[i] = x[N - 1 - i]`: a reading of other cells, which is never stored
  // `output y[i < N] : f32 into x = ...`: an input of this shape and type, whose storage holds y when a call
  // returns. Within the algorithm the two are apart: a read of x is of what the caller gave.
  Symbol into;
  Span span;

  // The fold at the root (under a cast at most), or null.
  const Fold* fold() const;
  // The parts, or the one tensor that has the equation's name.
  std::vector<TensorPart> tensors() const;
  bool defines(Symbol tensor) const;
};

// `carry h = h0 then n`: a tensor with the type and shape of both. In the first iteration it is `start`, in
// each later one what `next` was in the one before, after the loop what `next` was last.
struct Carry {
  Symbol name;
  Symbol start;  // known before the loop
  Symbol next;  // of the body, or known before
  friend bool operator==(const Carry&, const Carry&) = default;
};

// `loop l < L while go[] carry h = h0 then n { ... }`: a system of equations that is solved once for each `l`
// in order, until the condition, where there is one, does not hold: a recurrence of whole tensors. Its body
// is a run of the algorithm's equations, in which `l` is an Extent; other loops may lie in it. Of the body
// nothing but the carried tensors is known after the loop.
struct Loop {
  Symbol var;
  Expr trips;  // over extents and the variables of loops around; 0 where it is negative
  Expr condition;  // null, or over cells of what is known before the iteration
  std::vector<Carry> carries;
  std::size_t first = 0;  // equations [first, last)
  std::size_t last = 0;
  Span span;

  bool holds(std::size_t equation) const { return first <= equation && equation < last; }
};

struct Algorithm {
  Symbol name;
  std::vector<ExtentDecl> extents;
  std::vector<Expr> requirements;  // `requires`: bool expressions over extents
  std::vector<Span> requirement_spans;  // of each, where it was read from a text; not content
  std::vector<MonoidDecl> monoids;
  std::vector<Input> inputs;
  std::vector<Equation> equations;  // each reads only inputs and earlier equations
  std::vector<Loop> loops;  // in order of their first equation, an outer one before those in it

  const Input* find_input(Symbol name) const;
  const Carry* find_carry(Symbol name) const;
  const Loop* find_loop(Symbol var) const;
  // The output that goes into the storage of an input, or null.
  const Equation* new_value(Symbol input) const;
  // The argument of a call that holds an output.
  Symbol argument_of(Symbol output) const;
  // The loops around an equation, from outside.
  std::vector<const Loop*> loops_around(const Equation& equation) const;
  const Equation* find_equation(Symbol name) const;
  // The equation that defines a tensor.
  const Equation* definition(Symbol tensor) const;
  const MonoidDecl* find_monoid(Symbol name) const;
  const ExtentDecl* find_extent(Symbol name) const;
  // Shape and type of an input, a carried tensor, or a tensor that an equation defines; null when there is none
  // of that name.
  const std::vector<Expr>* shape_of(Symbol name) const;
  std::optional<ScalarType> type_of(Symbol name) const;
  // Puts equations before number `place`, into the loops around that one.
  void insert_equations(std::size_t place, const std::vector<Equation>& added);
  void erase_equation(Symbol equation);
  // Whether an equation or a loop uses a tensor of the equation.
  bool is_used(const Equation& equation) const;
  std::vector<const Equation*> outputs() const;
  std::vector<TensorPart> output_tensors() const;
};

// Same content; spans are not content.
bool operator==(const Algorithm& a, const Algorithm& b);

// The algorithm as it is seen inside of loops: their variables are extents, and their ranges requirements.
Algorithm in_scope(Context& context, const Algorithm& algorithm,
                   const std::vector<const Loop*>& loops);

// Values of extents, in declaration order or by name.
using Bindings = std::unordered_map<Symbol, std::int64_t>;
// Evaluates an Index or Bool expression over extents. Precondition: every extent in it is bound.
std::int64_t evaluate_extents(Expr expr, const Bindings& bindings);

}  // namespace tilewright::ir
