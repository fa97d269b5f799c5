// SPDX-License-Identifier: Apache-2.0
//
// What the checker knows of a text: types, operations, expressions, algorithms, Programs. Plain structs; names are
// parts of the text, nodes lie in an Arena, and both must outlive what refers to them. The checker uses nothing of
// the compiler, so that a fault there cannot hide a fault from it.
#pragma once

#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::checker {

using Int = std::int64_t;
using Name = std::string_view;

// A text or a proof that is not accepted. Line and column begin at 1; 0 where there is no place.
struct Refused : std::runtime_error {
  explicit Refused(const std::string& what, int line_in = 0, int column_in = 0)
      : std::runtime_error(what), line(line_in), column(column_in) {}
  int line;
  int column;
  std::size_t file = 0;  // which of several texts, where there are several
};

enum class Class : std::uint8_t { Bool, Index, Signed, Unsigned, Float };

struct TypeInfo {
  Name text;
  Class kind;
  int width;  // bits
  int exponent, mantissa;  // bits of a Float, without sign and hidden bit
  bool infinite, nan;  // whether a Float has these values

  bool is_integer() const { return kind == Class::Signed || kind == Class::Unsigned; }
};
using Type = const TypeInfo*;
extern const Type kBool, kIndex, kI64;
Type type_named(Name text);  // null where there is none

// Of operands of one type. Arithmetic: numbers; Integer: index and integers; Float; Bits: integers; Random: u32, u64;
// these give that type. Compare: anything, Logic: bool; these give bool.
enum class Rule : std::uint8_t { Arithmetic, Integer, Float, Bits, Random, Compare, Logic };

struct Op {
  Name text;
  int precedence;  // higher is tighter; of a function 0
  int arity;
  Rule rule;
};
const Op* infix(Name text);
const Op* prefix(Name text);
const Op* function(Name text);
// Of the language; declared reductions are not in it.
bool is_reduction(Name text);
// Words that name nothing that a text declares.
bool is_word(Name text);

struct Expr;
using Ref = const Expr*;

enum class Kind : std::uint8_t {
  Integer,
  Real,
  Boolean,
  Variable,  // or an extent
  Read,  // args: the indices
  Apply,
  Select,  // args: condition, then, else
  Convert,
  Saturate,
  Round,  // to the grid of `grid`; the type stays
  Fold,
  Tuple,  // the terms of a fold of several values; stands nowhere else
};

// `sum(1 <= k < K where c) body on_empty e`, `scan sum(t) body`, `scan(t, h = h0) body`,
// `update base sum(n < N) at [cell] body`.
struct FoldParts {
  Name monoid;  // of a recurrence empty
  bool scan = false, update = false;
  std::vector<Name> vars;
  std::vector<Ref> lower, upper;  // of each variable; of a scan none; a lower one may be null: 0
  Ref where = nullptr;
  std::vector<Ref> body, on_empty, base, at;
  std::vector<Name> state;
};

struct Expr {
  Kind kind = Kind::Integer;
  Type type = nullptr;
  Type grid = nullptr;
  std::uint32_t at = 0;  // byte of the text
  int depth = 1;
  Name name;  // of a Variable or a Read
  const Op* op = nullptr;
  Int integer = 0;  // of an Integer (a u64 by its bits) or a Boolean
  double real = 0;
  const FoldParts* fold = nullptr;
  std::vector<Ref> args;
};

struct Arena {
  std::deque<Expr> exprs;
  std::deque<FoldParts> folds;
  std::deque<std::string> texts;  // of names that are made
  Ref add(Expr e) { return &exprs.emplace_back(std::move(e)); }
};

struct Extent {
  Name name;
  Int min = 0, max = INT64_MAX, multiple_of = 1;
};

struct Tensor {
  Name name;
  Type type = nullptr;
  std::vector<Ref> shape;
  bool is_const = false, is_output = false, is_inout = false;
  Ref lower = nullptr, upper = nullptr;  // the declared range of its values; null: none
  bool clamp = false, monotone = false, injective = false, assumed = false;
};

struct Monoid {
  Name name;
  bool commutative = false;
  std::vector<Name> fields;
  std::vector<Type> types;
  Name left, right;  // the combination is over the names `left.field`, `right.field`
  std::vector<Ref> identity, combine;
};

struct Equation {
  Name name;
  std::vector<Name> indices;
  std::vector<Ref> shape;
  std::vector<Type> types;  // one for each tensor that it defines
  std::vector<Name> tensors;
  bool is_output = false, is_view = false;
  Name into;
  Ref value = nullptr;
};

struct Carry {
  Name name, start, next;
};

struct Loop {
  Name var;
  Ref trips = nullptr, condition = nullptr;
  std::vector<Carry> carries;
  std::size_t first = 0, last = 0;  // its equations: [first, last)
};

struct Algorithm {
  Name name;
  std::vector<Extent> extents;
  std::vector<Ref> requirements;
  std::vector<Monoid> monoids;
  std::vector<Tensor> inputs;
  std::vector<Equation> equations;
  std::vector<Loop> loops;  // in order of their first equation, an outer one before those in it
  bool is_library = false;  // of an intrinsic
};

enum class StmtKind : std::uint8_t {
  For,
  If,
  Let,
  Alloc,
  Store,
  While,
  Ring,
  Call,
  Atomic,
  Prefetch,
  Kernel,
  Bind,
  Concurrent,
  Role,
  Object,
  Start,
  Signal,
  Wait,
  Receive,
  Fence,
  Sync,
  Vote,
};

struct Tile {
  Name operand, buffer;
  std::vector<Ref> indices, lengths;  // a length may be null
};

struct Stmt {
  StmtKind kind = StmtKind::Store;
  std::uint32_t at = 0;
  Name name;  // what it binds, stores to, or acts on; may be empty
  Name second;  // the phase of a ring; the object of a `receive`
  Name
      word;  // `for`, `parallel`, ...; a memory space, reduction, proxy, kind of object, signal or vote
  Name scope, completion;
  Type type = nullptr;
  std::vector<Ref> indices;  // or extents
  Ref value = nullptr;  // or condition, lower bound, count, amount
  Ref upper = nullptr;
  Int number = -1;  // the depth of a ring, the place of a buffer, lanes of a role
  Int registers = 0;
  std::vector<Tile> tiles;
  std::vector<Name> after;
  Name role, origin;  // what the Program says that a store does; a hint, which nothing believes
  std::vector<Ref> point;
  std::vector<Stmt> body, other;
  bool has_other = false;
};

struct Program {
  Name name, algorithm;
  std::vector<Extent> extents;
  std::vector<Ref> requirements;
  std::vector<Tensor> parameters;
  std::vector<Algorithm> intrinsics;
  std::vector<Stmt> body;
};

// Canonical text, as the compiler prints it. Refused with the place of the first thing that is not as it has to be.
Algorithm read_algorithm(Arena& arena, Name text);
Program read_program(Arena& arena, Name text);
// Nothing but values of the type over these indices, separated by commas.
std::vector<Ref> read_list(Arena& arena, Name text, const std::vector<Name>& names, Type type);

}  // namespace tilewright::checker
