// SPDX-License-Identifier: Apache-2.0
//
// Scalar expressions, shared by algorithms and programs (a Program has no Fold). Immutable and
// hash-consed in an ir::Context: equal expressions of one context are the same pointer. Each kind
// names its fields once; print, parse, hash, walk, JSON and generation follow from that (text.h,
// json.h, walk.h, generate.h). Meaning: interpret.h. Laws: tests/laws/round_trip_test.cpp.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include "frontend/base/node_store.h"
#include "frontend/ir/type.h"

namespace tilewright::ir {

enum class ExprKind : std::uint16_t {
#define TILEWRIGHT_EXPR(name) name,
#include "frontend/ir/expr_kinds.def"
#undef TILEWRIGHT_EXPR
};

enum class OpCode : std::uint8_t {
#define TILEWRIGHT_OP(name, text, syntax, precedence, arity, rule) name,
#include "frontend/ir/ops.def"
#undef TILEWRIGHT_OP
};

enum class Monoid : std::uint8_t {
#define TILEWRIGHT_MONOID(name, text, op, form) name,
#include "frontend/ir/monoids.def"
#undef TILEWRIGHT_MONOID
  Declared,  // by the algorithm
};
enum class MonoidForm : std::uint8_t { Simple, Indexed, Last, Declared };

enum class OpSyntax : std::uint8_t { Infix, Prefix, Function };
enum class TypeRule : std::uint8_t {
  Field,
  Arithmetic,
  Magnitude,
  Join,
  Part,
  Conjugate,
  Integer,
  Float,
  Bits,
  Random,
  Equal,
  Compare,
  Logic
};

// One row of ops.def.
struct OpInfo {
  std::string_view name;  // "Add"
  std::string_view text;  // "+"
  OpSyntax syntax;
  int precedence;
  int arity;
  TypeRule rule;
};
inline constexpr OpInfo kOpInfo[] = {
#define TILEWRIGHT_OP(name, text, syntax, precedence, arity, rule) \
  {#name, text, OpSyntax::syntax, precedence, arity, TypeRule::rule},
#include "frontend/ir/ops.def"
#undef TILEWRIGHT_OP
};
inline constexpr int kNumOps = static_cast<int>(std::size(kOpInfo));
constexpr const OpInfo& op_info(OpCode op) { return kOpInfo[static_cast<int>(op)]; }

// Whether the operation takes operands of this type.
constexpr bool op_accepts(OpCode op, ScalarType operand) {
  switch (op_info(op).rule) {
    case TypeRule::Field:
    case TypeRule::Magnitude: return is_number(operand);
    case TypeRule::Arithmetic: return is_number(operand) && !is_complex(operand);
    case TypeRule::Join: return operand == ScalarType::F32 || operand == ScalarType::F64;
    case TypeRule::Part:
    case TypeRule::Conjugate: return is_complex(operand);
    case TypeRule::Integer: return operand == ScalarType::Index || is_integer(operand);
    case TypeRule::Float: return is_float(operand) && is_number(operand);
    case TypeRule::Bits: return is_integer(operand);
    case TypeRule::Random: return operand == ScalarType::U32 || operand == ScalarType::U64;
    case TypeRule::Equal: return true;
    case TypeRule::Compare: return !is_complex(operand);
    case TypeRule::Logic: return operand == ScalarType::Bool;
  }
  return false;
}

constexpr bool is_comparison(OpCode op) {
  return op_info(op).rule == TypeRule::Equal || op_info(op).rule == TypeRule::Compare;
}

// The type of its result then.
constexpr ScalarType op_result(OpCode op, ScalarType operand) {
  if (is_comparison(op)) return ScalarType::Bool;
  switch (op_info(op).rule) {
    case TypeRule::Join: return complex_of(operand);
    case TypeRule::Part:
    case TypeRule::Magnitude: return part_type(operand);
    case TypeRule::Logic: return ScalarType::Bool;
    default: return operand;
  }
}

// Whether there is a conversion: none to bool, and none that drops an imaginary part.
constexpr bool casts(ScalarType from, ScalarType to) {
  return from == to || (to != ScalarType::Bool && (is_complex(to) || !is_complex(from)));
}

// Whether there is a saturating conversion.
constexpr bool saturates(ScalarType from, ScalarType to) {
  return from != ScalarType::Bool && !is_complex(from) && (is_integer(to) || is_float(to));
}

std::string_view monoid_text(Monoid monoid);  // empty for Declared
// Of an Indexed one: the comparison that a better value wins.
OpCode monoid_op(Monoid monoid);
MonoidForm monoid_form(Monoid monoid);
// Declared when the language has none of this name.
Monoid monoid_of_name(std::string_view name);
inline constexpr int kNumMonoids = 0
#define TILEWRIGHT_MONOID(name, text, op, form) +1
#include "frontend/ir/monoids.def"
#undef TILEWRIGHT_MONOID
    ;

struct ExprNode : NodeHeader {
  static constexpr int kFamily = 0;
  ScalarType type = ScalarType::Index;
  std::uint64_t salt() const { return static_cast<std::uint64_t>(type); }
};

// A handle to an expression: one pointer, null by default. Valid while its Context lives.
class Expr {
 public:
  Expr() = default;
  explicit Expr(const ExprNode* node) : node_(node) {}
  explicit operator bool() const { return node_ != nullptr; }
  ExprKind kind() const { return static_cast<ExprKind>(node_->kind); }
  ScalarType type() const { return node_->type; }
  std::uint32_t index() const { return node_->index; }
  std::uint64_t hash() const { return node_ ? node_->hash : 0; }
  const ExprNode* node() const { return node_; }
  // The node when it is a T, else null.
  template <class T>
  const T* as() const {
    return node_ && kind() == T::kKind ? static_cast<const T*>(node_) : nullptr;
  }
  friend bool operator==(Expr a, Expr b) { return a.node_ == b.node_; }

 private:
  const ExprNode* node_ = nullptr;
};

// An integer literal of type Index or an integer type: `7`, `i32(7)`. A u64 is held by its 64 bits.
struct IntConst : ExprNode {
  static constexpr ExprKind kKind = ExprKind::IntConst;
  std::int64_t value = 0;
  static constexpr auto fields = std::tuple(field("value", &IntConst::value));
};

// A float literal, on the grid of its type; equal by bits: `f32(0.5)`, `f64(-inf)`, `f32(nan)`.
struct FloatConst : ExprNode {
  static constexpr ExprKind kKind = ExprKind::FloatConst;
  double value = 0;
  static constexpr auto fields = std::tuple(field("value", &FloatConst::value));
};

// `true`, `false`.
struct BoolConst : ExprNode {
  static constexpr ExprKind kKind = ExprKind::BoolConst;
  bool value = false;
  static constexpr auto fields = std::tuple(field("value", &BoolConst::value));
};

// An index of an equation, a fold variable, a loop variable or a let-bound scalar: `i`.
struct Var : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Var;
  Symbol name;
  static constexpr auto fields = std::tuple(field("name", &Var::name));
};

// A symbolic extent of the algorithm; type Index: `M`.
struct Extent : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Extent;
  Symbol name;
  static constexpr auto fields = std::tuple(field("name", &Extent::name));
};

// One element of a tensor (algorithm) or buffer (program); indices have type Index: `a[i, k]`.
struct Read : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Read;
  Symbol tensor;
  NodeList<Expr> indices;
  static constexpr auto fields =
      std::tuple(field("tensor", &Read::tensor), field("indices", &Read::indices));
};

// A row of ops.def: `a + b`, `-a`, `exp(a)`.
struct Op : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Op;
  OpCode op = OpCode::Add;
  NodeList<Expr> args;
  static constexpr auto fields = std::tuple(field("op", &Op::op), field("args", &Op::args));
};

// The chosen arm alone is evaluated, so the other may be undefined or out of bounds:
// `select(i > 0, x[i - 1], f32(0))`.
struct Select : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Select;
  Expr condition;
  Expr then_value;
  Expr else_value;
  static constexpr auto fields =
      std::tuple(field("condition", &Select::condition), field("then", &Select::then_value),
                 field("else", &Select::else_value));
};

// Conversion to the node's type: `f32(x)`. Float to integer truncates towards zero and must fit.
struct Cast : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Cast;
  Expr value;
  static constexpr auto fields = std::tuple(field("value", &Cast::value));
};

// Conversion to an integer or float type that becomes the nearest value of the type where it does not
// fit: `saturate(i8, x)`. Floats truncate towards zero on the way to integers, and NaN becomes 0; NaN
// stays NaN in a float type that has one.
struct Saturate : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Saturate;
  Expr value;
  static constexpr auto fields = std::tuple(field("value", &Saturate::value));
};

// The value rounded to the grid of `grid`, then to its own type, which stays: of f16 65504 the bf16
// grid makes 65536, which is f16 infinity. A rounding point that never moves: `round_to(bf16, x)`.
struct RoundTo : ExprNode {
  static constexpr ExprKind kKind = ExprKind::RoundTo;
  ScalarType grid = ScalarType::F32;
  Expr value;
  static constexpr auto fields =
      std::tuple(field("grid", &RoundTo::grid), field("value", &RoundTo::value));
};

// What combines many terms by a monoid (reduction.h), in one of three forms. `body` has one term for each
// field of the monoid; a fold of several fields makes one tensor for each.
//   a reduction over lower[i] <= vars[i] < upper[i] where the condition holds, in lexicographic order;
//   bounds may use outer indices and earlier variables. Without terms it is `on_empty`, else the identity:
//     `sum(k < K where m[k]) a[i, k] * b[k, j] on_empty f32(0)`
//   a scan along one of the equation's own indices, ascending: the combination of all terms up to it. With
//   `state` it is a recurrence: `body` is the next value, a Var of each name in `state` the previous one,
//   and `base` the value before the first:
//     `scan sum(t) x[i, t]`, `scan(t, h = h0[i]) a[i, t] * h + x[i, t]`
//   an update: each cell starts at `base`; then the terms, in lexicographic order of `vars`, are combined
//   into the cells `at`:
//     `update y0[i] sum(n < N) at [index(row[n])] x[n]`
struct Fold : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Fold;
  Symbol monoid;  // of the language or declared
  bool scan = false;
  NodeList<Symbol> vars;  // of a scan: the index that it runs along
  NodeList<Expr> lower;  // of a scan: none
  NodeList<Expr> upper;
  NodeList<Expr> where;  // none or one
  NodeList<Expr> body;
  NodeList<Expr> on_empty;  // none or one for each field
  NodeList<Symbol> state;
  NodeList<Expr> base;
  NodeList<Expr> at;
  static constexpr auto fields = std::tuple(
      field("monoid", &Fold::monoid), field("scan", &Fold::scan), field("vars", &Fold::vars),
      field("lower", &Fold::lower), field("upper", &Fold::upper), field("where", &Fold::where),
      field("body", &Fold::body), field("on_empty", &Fold::on_empty), field("state", &Fold::state),
      field("base", &Fold::base), field("at", &Fold::at));
  Monoid monoid_kind() const { return monoid_of_name(monoid.text()); }
  bool is_update() const { return !scan && !base.empty(); }
  bool is_reduction() const { return !scan && base.empty(); }
  // A reduction of one value by an operation, over all points of its bounds.
  bool is_plain() const {
    return is_reduction() && monoid_form(monoid_kind()) == MonoidForm::Simple && where.empty() &&
           on_empty.empty();
  }
};

// Dispatch on the kind; f must accept every kind, so a new one that it forgot does not compile.
template <class F>
decltype(auto) visit(Expr expr, F&& f) {
  switch (expr.kind()) {
#define TILEWRIGHT_EXPR(name) \
  case ExprKind::name: return f(*static_cast<const name*>(expr.node()));
#include "frontend/ir/expr_kinds.def"
#undef TILEWRIGHT_EXPR
  }
  __builtin_unreachable();
}

// Lambdas as one visitor: visit(e, Overloaded{[](const Var&) {...}, [](const auto&) {...}}).
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace tilewright::ir

template <>
struct std::hash<tilewright::ir::Expr> {
  std::size_t operator()(tilewright::ir::Expr e) const noexcept {
    return static_cast<std::size_t>(e.hash());
  }
};
