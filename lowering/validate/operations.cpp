// SPDX-License-Identifier: Apache-2.0
#include "lowering/validate/operations.h"

#include <bit>

#include "frontend/ir/math_definitions.h"
#include "frontend/ir/random_bits.h"
#include "frontend/ir/value.h"

namespace tilewright::validate {

namespace {

using ir::OpCode;
using ir::ScalarType;

// The primitives of frontend/ir/math_primitives.h on data.
class TermMath {
 public:
  struct F32 {
    Datum v;
    static constexpr Sort sort = kF32;
  };
  struct F64 {
    Datum v;
    static constexpr Sort sort = kF64;
  };
  struct I32 {
    Datum v;
    static constexpr Sort sort = int_sort(32);
  };
  struct I64 {
    Datum v;
    static constexpr Sort sort = int_sort(64);
  };
  struct Bool {
    Datum v;
  };
  explicit TermMath(Arithmetic& arithmetic) : do_(arithmetic) {}

  F32 f32(float c) { return {Datum::number(std::bit_cast<std::uint32_t>(c))}; }
  F64 f64(double c) { return {Datum::number(std::bit_cast<std::uint64_t>(c))}; }
  I32 i32(std::int32_t c) { return {Datum::number(static_cast<std::uint32_t>(c))}; }
  I64 i64(std::int64_t c) { return {Datum::number(static_cast<std::uint64_t>(c))}; }

  template <class F>
  F fma(F x, F y, F z) {
    return {do_(TermOp::Fma, F::sort, F::sort, x.v, y.v, z.v)};
  }
  template <class T>
  T add(T x, T y) {
    return two(is_float(T::sort) ? TermOp::FAdd : TermOp::Add, x, y);
  }
  template <class T>
  T sub(T x, T y) {
    return two(is_float(T::sort) ? TermOp::FSub : TermOp::Sub, x, y);
  }
  template <class F>
  F mul(F x, F y) {
    return two(TermOp::FMul, x, y);
  }
  template <class F>
  F div(F x, F y) {
    return two(TermOp::FDiv, x, y);
  }
  template <class F>
  F neg(F x) {
    return one(TermOp::FNeg, x);
  }
  template <class F>
  F sqrt(F x) {
    return one(TermOp::Sqrt, x);
  }
  template <class F>
  F rint(F x) {
    return one(TermOp::RoundEven, x);
  }
  template <class F>
  F abs(F x) {
    return one(TermOp::FAbs, x);
  }
  template <class F>
  F min(F x, F y) {
    return select(lt(x, y), x, y);
  }
  template <class F>
  F max(F x, F y) {
    return select(lt(y, x), x, y);
  }
  template <class I>
  I and_(I x, I y) {
    return two(TermOp::And, x, y);
  }
  template <class I>
  I or_(I x, I y) {
    return two(TermOp::Or, x, y);
  }
  template <class I>
  I xor_(I x, I y) {
    return two(TermOp::Xor, x, y);
  }
  template <class I>
  I shl(I x, I count) {
    return two(TermOp::Shl, x, count);
  }
  template <class I>
  I lshr(I x, I count) {
    return two(TermOp::LShr, x, count);
  }
  template <class T>
  Bool eq(T x, T y) {
    return is_float(T::sort) ? fcmp(1, x, y) : Bool{do_(TermOp::Eq, kBit, T::sort, x.v, y.v)};
  }
  template <class T>
  Bool ne(T x, T y) {
    return {do_(TermOp::Not, kBit, kBit, eq(x, y).v)};
  }
  template <class T>
  Bool lt(T x, T y) {
    return is_float(T::sort) ? fcmp(4, x, y) : Bool{do_(TermOp::Slt, kBit, T::sort, x.v, y.v)};
  }
  template <class T>
  Bool le(T x, T y) {
    return is_float(T::sort)
               ? fcmp(5, x, y)
               : Bool{do_(TermOp::Not, kBit, kBit, do_(TermOp::Slt, kBit, T::sort, y.v, x.v))};
  }
  template <class T>
  T select(Bool c, T x, T y) {
    return {do_.ite(T::sort, c.v, x.v, y.v)};
  }
  F64 to_f64(F32 x) { return {do_(TermOp::FExt, kF64, kF32, x.v)}; }
  F32 to_f32(F64 x) { return {do_(TermOp::FRound, kF32, kF64, x.v)}; }
  I32 trunc(I64 x) { return {do_.extract(int_sort(64), x.v, 0, 32)}; }
  I32 bitcast(F32 x) { return {do_.recast(kF32, int_sort(32), x.v)}; }
  F32 bitcast(I32 x) { return {do_.recast(int_sort(32), kF32, x.v)}; }
  I64 bitcast(F64 x) { return {do_.recast(kF64, int_sort(64), x.v)}; }
  F64 bitcast(I64 x) { return {do_.recast(int_sort(64), kF64, x.v)}; }

 private:
  template <class T>
  T one(TermOp op, T x) {
    return {do_(op, T::sort, T::sort, x.v)};
  }
  template <class T>
  T two(TermOp op, T x, T y) {
    return {do_(op, T::sort, T::sort, x.v, y.v)};
  }
  template <class T>
  Bool fcmp(std::uint64_t outcomes, T x, T y) {
    return {do_(TermOp::FCmp, kBit, T::sort, x.v, y.v, Datum::number(0), outcomes)};
  }

  Arithmetic& do_;
};

int width_of(ScalarType type) { return type == ScalarType::Index ? 64 : ir::type_info(type).width; }

}  // namespace

Sort value_sort(ScalarType type) {
  if (type == ScalarType::F64) return kF64;
  if (ir::is_float(type)) return kF32;
  return int_sort(width_of(type));
}

Sort storage_sort(ScalarType type) {
  if (type == ScalarType::F64) return kF64;
  if (type == ScalarType::F32 || type == ScalarType::TF32) return kF32;
  return int_sort(8 * ir::size_bytes(type));
}

Datum Operations::select(Sort sort, const Datum& c, const Datum& a, const Datum& b) {
  return do_.ite(sort, c, a, b);
}

Datum Operations::constant(ScalarType type, const ir::ExprNode& node) {
  const ir::Expr expr(&node);
  if (const auto* truth = expr.as<ir::BoolConst>()) return Datum::number(truth->value);
  if (const auto* whole = expr.as<ir::IntConst>())
    return Datum::number(static_cast<std::uint64_t>(whole->value) & mask_of(width_of(type)));
  return Datum::number(bits_of_double(value_sort(type), expr.as<ir::FloatConst>()->value));
}

Datum Operations::comparison(OpCode code, ScalarType type, const Datum& a, const Datum& b) {
  const Sort sort = value_sort(type);
  if (is_float(sort)) {
    constexpr unsigned kE = 1, kG = 2, kL = 4, kU = 8;
    switch (code) {
      case OpCode::Eq: return compare(kE, sort, a, b);
      case OpCode::Ne: return compare(kG | kL | kU, sort, a, b);
      case OpCode::Lt: return compare(kL, sort, a, b);
      case OpCode::Le: return compare(kL | kE, sort, a, b);
      case OpCode::Gt: return compare(kG, sort, a, b);
      default: return compare(kG | kE, sort, a, b);
    }
  }
  const bool is_signed = type != ScalarType::Bool && !ir::is_unsigned(type);
  const TermOp less = is_signed ? TermOp::Slt : TermOp::Ult;
  switch (code) {
    case OpCode::Eq: return do_(TermOp::Eq, kBit, sort, a, b);
    case OpCode::Ne: return inverted(do_(TermOp::Eq, kBit, sort, a, b));
    case OpCode::Lt: return do_(less, kBit, sort, a, b);
    case OpCode::Le: return inverted(do_(less, kBit, sort, b, a));
    case OpCode::Gt: return do_(less, kBit, sort, b, a);
    default: return inverted(do_(less, kBit, sort, a, b));
  }
}

std::optional<Datum> Operations::op(OpCode code, ScalarType type, std::span<const Datum> args) {
  if (ir::is_comparison(code)) return comparison(code, type, args[0], args[1]);
  if (type == ScalarType::Bool) {
    switch (code) {
      case OpCode::And: return do_(TermOp::And, kBit, kBit, args[0], args[1]);
      case OpCode::Or: return do_(TermOp::Or, kBit, kBit, args[0], args[1]);
      case OpCode::Not: return inverted(args[0]);
      default: return std::nullopt;
    }
  }
  if (!ir::is_float(type)) return integer_op(code, type, args);
  auto out = float_op(code, type, args);
  // A narrower operation is the f32 operation rounded once more; some stay on the grid.
  switch (code) {
    case OpCode::Neg:
    case OpCode::Abs:
    case OpCode::Min:
    case OpCode::Max:
    case OpCode::Floor:
    case OpCode::Ceil:
    case OpCode::Rint: return out;
    default: break;
  }
  if (!out || type == ScalarType::F64 || type == ScalarType::F32) return out;
  return round(*out, kF32, type, false);
}

std::optional<Datum> Operations::float_op(OpCode code, ScalarType type, std::span<const Datum> a) {
  const Sort sort = value_sort(type);
  const auto plain = [&](TermOp op) {
    const Datum zero = Datum::number(0);
    return do_(op, sort, sort, a[0], a.size() > 1 ? a[1] : zero, a.size() > 2 ? a[2] : zero);
  };
  switch (code) {
    case OpCode::Add: return plain(TermOp::FAdd);
    case OpCode::Sub: return plain(TermOp::FSub);
    case OpCode::Mul: return plain(TermOp::FMul);
    case OpCode::Div: return plain(TermOp::FDiv);
    case OpCode::Fma: return plain(TermOp::Fma);
    case OpCode::Neg: return plain(TermOp::FNeg);
    case OpCode::Abs: return plain(TermOp::FAbs);
    case OpCode::Floor: return plain(TermOp::Floor);
    case OpCode::Ceil: return plain(TermOp::Ceil);
    case OpCode::Rint: return plain(TermOp::RoundEven);
    case OpCode::Sqrt: return plain(TermOp::Sqrt);
    case OpCode::Min: return select(sort, compare(4, sort, a[0], a[1]), a[0], a[1]);
    case OpCode::Max: return select(sort, compare(2, sort, a[0], a[1]), a[0], a[1]);
    default: return math(code, sort, a[0]);
  }
}

std::optional<Datum> Operations::math(OpCode code, Sort sort, const Datum& x) {
  TermMath b(do_);
  const bool is_double = sort == kF64;
  switch (code) {
#define TILEWRIGHT_MATH(Name, name)                                \
  case OpCode::Name:                                               \
    return is_double ? ir::math::name##_f64(b, TermMath::F64{x}).v \
                     : ir::math::name##_f32(b, TermMath::F32{x}).v;
    TILEWRIGHT_MATH(Rsqrt, rsqrt)
    TILEWRIGHT_MATH(Exp, exp)
    TILEWRIGHT_MATH(Exp2, exp2)
    TILEWRIGHT_MATH(Expm1, expm1)
    TILEWRIGHT_MATH(Log, log)
    TILEWRIGHT_MATH(Log2, log2)
    TILEWRIGHT_MATH(Log1p, log1p)
    TILEWRIGHT_MATH(Tanh, tanh)
    TILEWRIGHT_MATH(Erf, erf)
    TILEWRIGHT_MATH(Sin, sin)
    TILEWRIGHT_MATH(Cos, cos)
#undef TILEWRIGHT_MATH
    default: return std::nullopt;
  }
}

std::optional<Datum> Operations::integer_op(OpCode code, ScalarType type,
                                            std::span<const Datum> a) {
  const Sort sort = value_sort(type);
  const bool is_unsigned = ir::is_unsigned(type);
  const Datum zero = Datum::number(0);
  const auto plain = [&](TermOp op) { return do_(op, sort, sort, a[0], a[1]); };
  switch (code) {
    case OpCode::Add: return plain(TermOp::Add);
    case OpCode::Sub: return plain(TermOp::Sub);
    case OpCode::Mul: return plain(TermOp::Mul);
    case OpCode::Div: return divide(type, false, a[0], a[1]);
    case OpCode::Mod: return divide(type, true, a[0], a[1]);
    case OpCode::Neg: return do_(TermOp::Sub, sort, sort, zero, a[0]);
    case OpCode::Min: return select(sort, comparison(OpCode::Lt, type, a[0], a[1]), a[0], a[1]);
    case OpCode::Max: return select(sort, comparison(OpCode::Gt, type, a[0], a[1]), a[0], a[1]);
    case OpCode::Abs:
      if (is_unsigned) return a[0];
      return select(sort, do_(TermOp::Slt, kBit, sort, a[0], zero),
                    do_(TermOp::Sub, sort, sort, zero, a[0]), a[0]);
    case OpCode::Fma: return do_(TermOp::Add, sort, sort, plain(TermOp::Mul), a[2]);
    default: return bit_op(code, type, a);
  }
}

std::optional<Datum> Operations::bit_op(OpCode code, ScalarType type, std::span<const Datum> a) {
  const Sort sort = value_sort(type);
  const auto number = [&](int n) {
    return Datum::number(static_cast<std::uint64_t>(n) & mask_of(sort.bits));
  };
  switch (code) {
    case OpCode::BitAnd: return do_(TermOp::And, sort, sort, a[0], a[1]);
    case OpCode::BitOr: return do_(TermOp::Or, sort, sort, a[0], a[1]);
    case OpCode::BitXor: return do_(TermOp::Xor, sort, sort, a[0], a[1]);
    case OpCode::BitNot: return do_(TermOp::Not, sort, sort, a[0]);
    case OpCode::ShiftLeft:
    case OpCode::ShiftRight: {
      // The width itself may not fit a count; below 8 bits there are few values.
      const bool all_below = mask_of(sort.bits) < static_cast<std::uint64_t>(sort.bits);
      const Datum inside =
          all_below ? Datum::number(1) : do_(TermOp::Ult, kBit, sort, a[1], number(sort.bits));
      const Datum count = select(sort, inside, a[1], number(sort.bits - 1));
      if (code == OpCode::ShiftRight && !ir::is_unsigned(type))
        return do_(TermOp::AShr, sort, sort, a[0], count);
      const TermOp op = code == OpCode::ShiftLeft ? TermOp::Shl : TermOp::LShr;
      return select(sort, inside, do_(op, sort, sort, a[0], count), Datum::number(0));
    }
    case OpCode::RandomBits: {
      TermMath b(do_);
      using I32 = TermMath::I32;
      using Pair = ir::WordPair<I32>;
      const bool two = type == ScalarType::U64;
      const auto words = [&](const Datum& x) {
        if (!two) return Pair{I32{x}, b.i32(0)};
        return Pair{I32{do_.extract(sort, x, 0, 32)}, I32{do_.extract(sort, x, 32, 32)}};
      };
      const Pair out = ir::threefry2x32(b, words(a[0]), words(a[1]));
      return two ? do_.concat(32, out.second.v, 32, out.first.v) : out.first.v;
    }
    default: return std::nullopt;
  }
}

// Floor division and modulus; by zero gives 0, and the lowest number by -1 wraps.
Datum Operations::divide(ScalarType type, bool modulus, const Datum& a, const Datum& b) {
  const Sort sort = value_sort(type);
  const Datum zero = Datum::number(0);
  const Datum one = Datum::number(1);
  const bool is_unsigned = ir::is_unsigned(type);
  const auto two = [&](TermOp op, const Datum& x, const Datum& y) {
    return do_(op, sort, sort, x, y);
  };
  const Datum is_zero = do_(TermOp::Eq, kBit, sort, b, zero);
  if (is_unsigned) {
    const Datum safe = select(sort, is_zero, one, b);
    return select(sort, is_zero, zero, two(modulus ? TermOp::URem : TermOp::UDiv, a, safe));
  }
  const bool is_power =
      b.is_bits() && sign_extend(b.bits, sort.bits) > 0 && (b.bits & (b.bits - 1)) == 0;
  if (is_power) {
    if (modulus) return two(TermOp::And, a, Datum::number(b.bits - 1));
    return two(TermOp::AShr, a,
               Datum::number(static_cast<std::uint64_t>(std::countr_zero(b.bits))));
  }
  const Datum minus_one = Datum::number(mask_of(sort.bits));
  const Datum is_minus = do_(TermOp::Eq, kBit, sort, b, minus_one);
  const Datum safe = select(sort, do_(TermOp::Or, kBit, kBit, is_zero, is_minus), one, b);
  const Datum quotient = two(TermOp::SDiv, a, safe);
  const Datum rest = two(TermOp::Sub, a, two(TermOp::Mul, quotient, safe));
  const Datum below_zero =
      do_(TermOp::And, kBit, kBit, inverted(do_(TermOp::Eq, kBit, sort, rest, zero)),
          do_(TermOp::Slt, kBit, sort, two(TermOp::Xor, rest, safe), zero));
  if (modulus) {
    const Datum out = select(sort, below_zero, two(TermOp::Add, rest, safe), rest);
    return select(sort, is_zero, zero, out);
  }
  Datum out = select(sort, below_zero, two(TermOp::Sub, quotient, one), quotient);
  out = select(sort, is_minus, two(TermOp::Sub, zero, a), out);
  return select(sort, is_zero, zero, out);
}

}  // namespace tilewright::validate
