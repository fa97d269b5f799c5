// SPDX-License-Identifier: Apache-2.0
//
// Scalar types and their conversions. `Index` is the mathematical integers: index arithmetic never
// wraps until a lowering pass proves a width. Float formats are IEEE 754 binary64, binary32,
// binary16 and bfloat16, round to nearest even.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewright::ir {

enum class ScalarType : std::uint8_t { Bool, Index, I8, I32, I64, BF16, F16, F32, F64 };
inline constexpr int kNumScalarTypes = 9;

std::string_view type_text(ScalarType type);                  // "f32", "bool", "index"
std::optional<ScalarType> parse_type(std::string_view text);  // every text above
bool is_float(ScalarType type);
bool is_integer(ScalarType type);  // I8 I32 I64, not Index, not Bool
int size_bytes(ScalarType type);   // Bool 1, Index 8
// Unit roundoff u of a float type: 2^-53, 2^-24, 2^-11, 2^-8. 0 for the others.
double unit_roundoff(ScalarType type);
// Smallest positive subnormal of a float type; 0 for the others.
double smallest_subnormal(ScalarType type);
double largest_finite(ScalarType type);

// The value of `x` rounded to the grid of a float type (overflow gives infinity, NaN stays NaN).
double round_to_type(ScalarType type, double x);
// Two's complement wrap of an integer to the width of an integer type.
std::int64_t wrap_to_type(ScalarType type, std::int64_t x);
// Bit patterns of the 16-bit formats.
std::uint16_t bf16_bits(float x);
float bf16_value(std::uint16_t bits);
std::uint16_t f16_bits(float x);
float f16_value(std::uint16_t bits);

}  // namespace tilewright::ir
