// SPDX-License-Identifier: Apache-2.0
//
// Scalar types (types.def) and their conversions. `Index` is the mathematical integers: index
// arithmetic never wraps until a lowering pass proves a width. Integers are two's complement at
// their width. Floats round to nearest even; what is too large becomes an infinity, in a format
// without infinities NaN, and in one without NaN the largest value. Laws: every property of a type
// follows from its row; a value is on the grid of its type. Tests: type_test.cpp, conversions_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewright::ir {

enum class ScalarType : std::uint8_t {
#define TILEWRIGHT_TYPE(name, text, kind, width, storage, exponent, mantissa, specials, code, \
                        bits, c)                                                              \
  name,
#include "frontend/ir/types.def"
#undef TILEWRIGHT_TYPE
};
inline constexpr int kNumScalarTypes = 0
#define TILEWRIGHT_TYPE(name, text, kind, width, storage, exponent, mantissa, specials, code, \
                        bits, c)                                                              \
  +1
#include "frontend/ir/types.def"
#undef TILEWRIGHT_TYPE
    ;

enum class TypeKind : std::uint8_t { Bool, Index, Signed, Unsigned, Float, Complex };
enum class Specials : std::uint8_t { None, Ieee, Fn, Finite, Scale };

// One row of types.def, and what follows from it.
struct TypeInfo {
  std::string_view text;
  TypeKind kind;
  int width;
  int storage_bits;
  int exponent_bits;
  int mantissa_bits;
  Specials specials;
  int dlpack_code;
  int dlpack_bits;
  std::string_view c_type;

  constexpr int digits() const { return mantissa_bits + 1; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  // Exponent of the largest finite value, and of the last place of the smallest subnormal. A scale has
  // no subnormals: its smallest value is 2^-bias.
  constexpr int max_exponent() const {
    const bool keeps_top = specials == Specials::Fn || specials == Specials::Finite;
    return bias() + (keeps_top ? 1 : 0);
  }
  constexpr int min_place() const {
    return specials == Specials::Scale ? -bias() : 1 - bias() - mantissa_bits;
  }
  // The largest finite value in units of its last place, 2^(max_exponent - mantissa_bits).
  constexpr std::uint64_t largest_units() const {
    return (std::uint64_t{2} << mantissa_bits) - (specials == Specials::Fn ? 2 : 1);
  }
};

inline constexpr TypeInfo kTypeInfo[kNumScalarTypes] = {
#define TILEWRIGHT_TYPE(name, text, kind, width, storage, exponent, mantissa, specials, code, \
                        bits, c)                                                              \
  {text, TypeKind::kind, width, storage, exponent, mantissa, Specials::specials, code, bits, c},
#include "frontend/ir/types.def"
#undef TILEWRIGHT_TYPE
};
constexpr const TypeInfo& type_info(ScalarType type) { return kTypeInfo[static_cast<int>(type)]; }

constexpr std::string_view type_text(ScalarType type) { return type_info(type).text; }
std::optional<ScalarType> parse_type(std::string_view text);  // every text of types.def
constexpr bool is_float(ScalarType type) { return type_info(type).kind == TypeKind::Float; }
constexpr bool is_unsigned(ScalarType type) { return type_info(type).kind == TypeKind::Unsigned; }
// Of a fixed width: not Index, not Bool.
constexpr bool is_integer(ScalarType type) {
  return type_info(type).kind == TypeKind::Signed || is_unsigned(type);
}
constexpr bool is_complex(ScalarType type) { return type_info(type).kind == TypeKind::Complex; }
// The type of real and imaginary part, and back; any other type is its own part.
constexpr ScalarType part_type(ScalarType type) {
  return type == ScalarType::C64    ? ScalarType::F32
         : type == ScalarType::C128 ? ScalarType::F64
                                    : type;
}
constexpr ScalarType complex_of(ScalarType part) {
  return part == ScalarType::F64 ? ScalarType::C128 : ScalarType::C64;
}
// How many scalars hold a value: of a complex number two, real part first.
constexpr int scalars_of(ScalarType type) { return is_complex(type) ? 2 : 1; }
// Whether those are floats.
constexpr bool holds_floats(ScalarType type) { return is_float(type) || is_complex(type); }
// A float that is stored and converted but not computed with: of 8 bits and fewer.
constexpr bool is_storage_float(ScalarType type) {
  return is_float(type) && type_info(type).width <= 8;
}
// What + - * / take.
constexpr bool is_number(ScalarType type) {
  return type != ScalarType::Bool && !is_storage_float(type);
}
constexpr bool has_infinity(ScalarType type) { return type_info(type).specials == Specials::Ieee; }
constexpr bool has_nan(ScalarType type) {
  return is_float(type) && type_info(type).specials != Specials::Finite;
}

// Bytes of one element that stands alone: Bool 1, Index 8, f4e2m1 1.
constexpr int size_bytes(ScalarType type) { return (type_info(type).storage_bits + 7) / 8; }
// Elements that share a byte in a tensor of the caller: 2 of 4 bits, else 1.
constexpr int elements_per_byte(ScalarType type) {
  return type_info(type).storage_bits < 8 ? 8 / type_info(type).storage_bits : 1;
}
constexpr bool is_packed(ScalarType type) { return elements_per_byte(type) > 1; }
// Unit roundoff u of a float type: 2^-53, 2^-24, 2^-11, 2^-8. 0 for the others.
double unit_roundoff(ScalarType type);
// Smallest positive value of a float type; 0 for the others.
double smallest_subnormal(ScalarType type);
double largest_finite(ScalarType type);
// Whether every value of `narrow` is one of `wide`; both floats.
bool holds_all(ScalarType wide, ScalarType narrow);

// The value of `x` rounded to the grid of a float type; NaN stays NaN where the type has one.
double round_to_type(ScalarType type, double x);
// The same, but what is too large, infinities included, becomes the largest value of its sign.
double saturate_to_type(ScalarType type, double x);
// Two's complement wrap of an integer to the width of an integer type. A u64 is held by its 64 bits.
std::int64_t wrap_to_type(ScalarType type, std::int64_t x);
// Least and greatest value of an integer type, as wrap_to_type holds them.
std::int64_t lowest_integer(ScalarType type);
std::int64_t greatest_integer(ScalarType type);
// a < b among the values of an integer type.
constexpr bool integer_less(ScalarType type, std::int64_t a, std::int64_t b) {
  return type == ScalarType::U64 ? static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b)
                                 : a < b;
}
// The nearest f64.
constexpr double integer_value(ScalarType type, std::int64_t x) {
  return type == ScalarType::U64 ? static_cast<double>(static_cast<std::uint64_t>(x))
                                 : static_cast<double>(x);
}

// The bits that stand for a value on the grid of a float type of at most 16 bits, and the value of bits.
std::uint16_t float_bits(ScalarType type, double value);
double float_value(ScalarType type, std::uint16_t bits);

}  // namespace tilewright::ir
