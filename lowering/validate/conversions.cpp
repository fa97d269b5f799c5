// SPDX-License-Identifier: Apache-2.0
//
// Casts, roundings, and how values lie in memory. Each is a formula in exact operations; that it rounds once to
// nearest even is what the tests hold against frontend/ir/type.h.
#include <cmath>
#include <limits>

#include "lowering/validate/operations.h"

namespace tilewright::validate {

using ir::ScalarType;

namespace {

constexpr unsigned kE = 1, kG = 2, kL = 4, kU = 8;
Datum word_of(std::uint64_t bits) { return Datum::number(bits & 0xffffffffU); }
bool zero_extends(ScalarType type) { return type == ScalarType::Bool || ir::is_unsigned(type); }

}  // namespace

// To the upper bits of an f32: half of the last kept bit less one, and the bit itself, are added.
Datum Operations::round_upper(const Datum& v, int dropped) {
  const Datum b = bits(v);
  const Datum last = do_.zext(do_.extract(int_sort(32), b, dropped, 1), 32);
  const Datum half = word_of((std::uint64_t{1} << (dropped - 1)) - 1);
  const Datum rounded = word(TermOp::Add, b, word(TermOp::Add, last, half));
  const Datum quiet = word(TermOp::Or, b, word_of(0x00400000));
  const Datum chosen = select(int_sort(32), compare(kU, kF32, v, v), quiet, rounded);
  return float_of(word(TermOp::And, chosen, word_of(~mask_of(dropped))));
}

// f64 to f32, with the last bit set where that is not exact: a later rounding to 22 bits or fewer is then the direct
// one.
Datum Operations::to_odd(const Datum& v) {
  const Datum near = do_(TermOp::FRound, kF32, kF64, v);
  const Datum back = do_(TermOp::FExt, kF64, kF32, near);
  const auto size = [&](const Datum& x) { return do_(TermOp::FAbs, kF64, kF64, x); };
  const Datum large = compare(kG, kF64, size(back), size(v));
  Datum b = bits(near);
  b = select(int_sort(32), large, word(TermOp::Sub, b, word_of(1)), b);
  b = select(int_sort(32), compare(kG | kL, kF64, back, v), word(TermOp::Or, b, word_of(1)), b);
  return float_of(b);
}

Datum Operations::round_small(const Datum& v, ScalarType grid, bool saturates) {
  const ir::TypeInfo& info = ir::type_info(grid);
  if (info.specials == ir::Specials::Scale) return round_scale(v, saturates);
  const double largest = ir::largest_finite(grid);
  const auto f32 = [&](TermOp op, const Datum& a, const Datum& b) {
    return do_(op, kF32, kF32, a, b);
  };
  Datum size = do_(TermOp::FAbs, kF32, kF32, v);
  const Datum most = real(4 * largest);
  size = select(kF32, compare(kL, kF32, size, most), size, most);
  Datum place = word(TermOp::Sub, word(TermOp::LShr, bits(size), word_of(23)),
                     word_of(static_cast<std::uint64_t>(127 + info.mantissa_bits)));
  const Datum least =
      word_of(static_cast<std::uint64_t>(static_cast<std::int64_t>(info.min_place())));
  place = select(int_sort(32), below(true, place, least), least, place);
  const Datum magic = float_of(
      word(TermOp::Or, word(TermOp::Shl, word(TermOp::Add, place, word_of(127 + 23)), word_of(23)),
           word_of(1U << 22)));
  Datum rounded = f32(TermOp::FSub, f32(TermOp::FAdd, size, magic), magic);
  const bool to_largest = saturates || info.specials == ir::Specials::Finite;
  const double beyond = to_largest ? largest
                        : info.specials == ir::Specials::Ieee
                            ? std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::quiet_NaN();
  rounded = select(kF32, compare(kG, kF32, rounded, real(largest)), real(beyond), rounded);
  const Datum sign = word(TermOp::And, bits(v), word_of(0x80000000U));
  const Datum with_sign = float_of(word(TermOp::Or, bits(rounded), sign));
  const Datum nan = info.specials == ir::Specials::Finite ? real(largest) : v;
  return select(kF32, compare(kU, kF32, v, v), nan, with_sign);
}

Datum Operations::round_scale(const Datum& v, bool saturates) {
  const Datum b = bits(v);
  const Datum odd = do_.zext(do_.extract(int_sort(32), b, 23, 1), 32);
  const Datum up = word(TermOp::Add, b, word(TermOp::Add, odd, word_of(0x003fffff)));
  const Datum normal = word(TermOp::And, up, word_of(0x7f800000U));
  const Sort w = int_sort(32);
  const Datum small = select(w, inverted(below(false, word_of(0x00600000), b)), word_of(0x00400000),
                             word_of(0x00800000));
  Datum chosen = select(w, below(false, b, word_of(0x00800000)), small, normal);
  const Datum large = inverted(below(false, chosen, word_of(0x7f800000U)));
  chosen = select(w, large, word_of(saturates ? 0x7f000000U : 0x7fc00000U), chosen);
  chosen = select(w, compare(kE, kF32, v, real(0)), word_of(0x00400000), chosen);
  return float_of(select(w, compare(kL | kU, kF32, v, real(0)), word_of(0x7fc00000U), chosen));
}

std::optional<Datum> Operations::round(const Datum& value, Sort from, ScalarType grid,
                                       bool saturates) {
  if (grid == ScalarType::F64) return from == kF64 ? value : do_(TermOp::FExt, kF64, from, value);
  if (grid == ScalarType::F32) return from == kF64 ? do_(TermOp::FRound, kF32, from, value) : value;
  const Datum single = from == kF64 ? to_odd(value) : value;
  switch (grid) {
    case ScalarType::BF16: return round_upper(single, 16);
    case ScalarType::TF32: return round_upper(single, 13);
    case ScalarType::F16:
      return do_(TermOp::FExt, kF32, kF16, do_(TermOp::FRound, kF16, kF32, single));
    default: return round_small(single, grid, saturates);
  }
}

std::optional<Datum> Operations::cast(ScalarType from, ScalarType to, const Datum& value) {
  if (from == to) return value;
  if (value.is_poison()) return value;
  const Sort source = value_sort(from);
  const Sort target = value_sort(to);
  if (ir::is_float(from) && ir::is_float(to)) return round(value, source, to, false);
  if (ir::is_float(to)) {
    const Sort wide = to == ScalarType::F64 ? kF64 : kF32;
    return round(do_(zero_extends(from) ? TermOp::UIToF : TermOp::SIToF, wide, source, value), wide,
                 to, false);
  }
  if (ir::is_float(from))
    return do_(ir::is_unsigned(to) ? TermOp::FToUISat : TermOp::FToSISat, target, source, value);
  if (target.bits <= source.bits) return do_.extract(source, value, 0, target.bits);
  return zero_extends(from) ? do_.zext(value, target.bits)
                            : do_(TermOp::SExt, target, source, value);
}

Datum Operations::within_limits(const Datum& v, ScalarType type) {
  if (ir::is_storage_float(type)) return v;
  const Sort sort = value_sort(type);
  const double most = ir::largest_finite(type);
  const Datum high = Datum::number(bits_of_double(sort, most));
  const Datum low = Datum::number(bits_of_double(sort, -most));
  const Datum capped = select(sort, compare(kG, sort, v, high), high, v);
  return select(sort, compare(kL, sort, v, low), low, capped);
}

std::optional<Datum> Operations::saturate(ScalarType from, ScalarType to, const Datum& value) {
  const Sort source = value_sort(from);
  const Sort target = value_sort(to);
  if (ir::is_float(to)) {
    Datum v = value;
    Sort sort = source;
    if (!ir::is_float(from)) {
      sort = to == ScalarType::F64 ? kF64 : kF32;
      v = do_(zero_extends(from) ? TermOp::UIToF : TermOp::SIToF, sort, source, value);
    }
    const auto rounded =
        from == to && !ir::is_storage_float(to) ? std::optional(v) : round(v, sort, to, true);
    if (!rounded) return rounded;
    return within_limits(*rounded, to);
  }
  if (ir::is_float(from))
    return do_(ir::is_unsigned(to) ? TermOp::FToUISat : TermOp::FToSISat, target, source, value);
  const bool from_unsigned = ir::is_unsigned(from);
  const bool to_unsigned = ir::is_unsigned(to);
  const int width = std::max(source.bits, target.bits);
  const bool narrower = target.bits < width;
  const Sort wide = int_sort(width);
  Datum x = from_unsigned ? do_.zext(value, width) : do_(TermOp::SExt, wide, source, value);
  const auto limit = [&](std::int64_t end) {
    return Datum::number(static_cast<std::uint64_t>(end) & mask_of(width));
  };
  if (!from_unsigned && (to_unsigned || narrower)) {
    const Datum low = limit(ir::lowest_integer(to));
    x = select(wide, do_(TermOp::Slt, kBit, wide, x, low), low, x);
  }
  if (narrower || (from_unsigned && !to_unsigned)) {
    const Datum high = limit(ir::greatest_integer(to));
    x = select(wide, do_(from_unsigned ? TermOp::Ult : TermOp::Slt, kBit, wide, high, x), high, x);
  }
  return do_.extract(wide, x, 0, target.bits);
}

std::optional<Datum> Operations::round_to(ScalarType type, ScalarType grid, const Datum& value) {
  if (ir::holds_all(grid, type)) return value;
  auto v = round(value, value_sort(type), grid, false);
  if (!v) return v;
  if (type == ScalarType::F64 && value_sort(grid) == kF32) v = do_(TermOp::FExt, kF64, kF32, *v);
  if (type == ScalarType::F16 && ir::largest_finite(grid) > ir::largest_finite(type))
    v = round(*v, kF32, ScalarType::F16, false);
  return v;
}

Datum Operations::small_bits(const Datum& v, ScalarType type) {
  const ir::TypeInfo& info = ir::type_info(type);
  const Sort w = int_sort(32);
  const Datum b = bits(v);
  const auto ones = (std::uint64_t{1} << (info.exponent_bits + info.mantissa_bits)) - 1;
  const Datum is_nan = compare(kU, kF32, v, v);
  if (info.specials == ir::Specials::Scale)
    return select(w, is_nan, word_of(ones), word(TermOp::LShr, b, word_of(23)));
  const auto fraction = static_cast<std::uint64_t>(23 - info.mantissa_bits);
  const auto rebias = static_cast<std::uint64_t>(127 - info.bias()) << info.mantissa_bits;
  const Datum size = word(TermOp::And, b, word_of(0x7fffffffU));
  const Datum normal =
      word(TermOp::Sub, word(TermOp::LShr, size, word_of(fraction)), word_of(rebias));
  const Datum is_small = compare(kL, kF32, float_of(size), real(std::ldexp(1.0, 1 - info.bias())));
  const Datum units = do_(TermOp::FMul, kF32, kF32, select(kF32, is_small, float_of(size), real(0)),
                          real(std::ldexp(1.0, -info.min_place())));
  Datum code = select(w, is_small, do_(TermOp::FToUI, w, kF32, units), normal);
  if (info.specials == ir::Specials::Ieee) {
    const std::uint64_t infinity = ones & ~((std::uint64_t{1} << info.mantissa_bits) - 1);
    code = select(w, do_(TermOp::Eq, kBit, w, size, word_of(0x7f800000U)), word_of(infinity), code);
    code =
        select(w, is_nan, word_of(infinity | std::uint64_t{1} << (info.mantissa_bits - 1)), code);
  } else if (info.specials == ir::Specials::Fn) {
    code = select(w, is_nan, word_of(ones), code);
  }
  const Datum sign =
      word(TermOp::And, word(TermOp::LShr, b, word_of(static_cast<std::uint64_t>(32 - info.width))),
           word_of(ones + 1));
  return word(TermOp::Or, code, sign);
}

Datum Operations::small_value(const Datum& code, ScalarType type) {
  const ir::TypeInfo& info = ir::type_info(type);
  const auto ones = (std::uint64_t{1} << (info.exponent_bits + info.mantissa_bits)) - 1;
  const Datum nan = Datum::number(quiet_nan(kF32));
  const auto equals = [&](const Datum& x, std::uint64_t c) {
    return do_(TermOp::Eq, kBit, int_sort(32), x, word_of(c));
  };
  if (info.specials == ir::Specials::Scale) {
    Datum b = word(TermOp::Shl, code, word_of(23));
    b = select(int_sort(32), equals(code, 0), word_of(0x00400000), b);
    return select(kF32, equals(code, ones), nan, float_of(b));
  }
  const Datum size = word(TermOp::And, code, word_of(ones));
  const auto fraction = static_cast<std::uint64_t>(23 - info.mantissa_bits);
  const Datum moved = word(TermOp::Shl, size, word_of(fraction));
  const Datum normal = float_of(
      word(TermOp::Add, moved, word_of(static_cast<std::uint64_t>(127 - info.bias()) << 23)));
  const Datum small = do_(TermOp::FMul, kF32, kF32, do_(TermOp::UIToF, kF32, int_sort(32), size),
                          real(std::ldexp(1.0, info.min_place())));
  const std::uint64_t hidden = std::uint64_t{1} << info.mantissa_bits;
  Datum value = select(kF32, below(false, size, word_of(hidden)), small, normal);
  if (info.specials == ir::Specials::Ieee) {
    const Datum special = float_of(word(TermOp::Or, moved, word_of(0x7f800000U)));
    value =
        select(kF32, inverted(below(false, size, word_of(ones & ~(hidden - 1)))), special, value);
  } else if (info.specials == ir::Specials::Fn) {
    value = select(kF32, equals(size, ones), nan, value);
  }
  const Datum sign = word(TermOp::Shl, word(TermOp::And, code, word_of(ones + 1)),
                          word_of(static_cast<std::uint64_t>(32 - info.width)));
  return float_of(word(TermOp::Or, bits(value), sign));
}

std::optional<Datum> Operations::load(ScalarType type, const Datum& v) {
  if (v.is_poison()) return v;
  const Sort stored = storage_sort(type);
  switch (type) {
    case ScalarType::Bool: return inverted(do_(TermOp::Eq, kBit, stored, v, Datum::number(0)));
    case ScalarType::BF16: return float_of(do_.concat(16, v, 16, Datum::number(0)));
    case ScalarType::F16: return do_(TermOp::FExt, kF32, kF16, do_.recast(stored, kF16, v));
    case ScalarType::TF32: return round_upper(v, 13);
    default: break;
  }
  if (ir::is_storage_float(type)) return small_value(do_.zext(v, 32), type);
  const Sort value = value_sort(type);
  return stored == value ? v : do_.extract(stored, v, 0, value.bits);
}

std::optional<Datum> Operations::store(ScalarType type, const Datum& v) {
  if (v.is_poison()) return v;
  const Sort stored = storage_sort(type);
  switch (type) {
    case ScalarType::BF16: return do_.extract(int_sort(32), bits(v), 16, 16);
    case ScalarType::F16: return do_.recast(kF16, stored, do_(TermOp::FRound, kF16, kF32, v));
    default: break;
  }
  if (ir::is_storage_float(type))
    return do_.extract(int_sort(32), small_bits(v, type), 0, stored.bits);
  const Sort value = value_sort(type);
  if (stored == value) return v;
  return zero_extends(type) ? do_.zext(v, stored.bits) : do_(TermOp::SExt, stored, value, v);
}

}  // namespace tilewright::validate
