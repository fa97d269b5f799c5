// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary in which Tilewright's math functions are defined (math_definitions.h): the list of
// primitives that a builder offers, and the two float formats that a definition is written over.
//
// Law: a definition is a fixed, branch-free sequence of primitives, and each primitive is exact, or
// rounded once to nearest even in its own format, without traps, flushing or contraction. So every
// builder that keeps these meanings gives the same bits, whether it computes a value
// (math_scalar_builder.h), builds an expression that LLVM vectorises, or writes device code. Only
// the sign and payload of a NaN are left open.
//
// Primitives of a builder b. F is f32 or f64, I is i32 or i64; operands of one call agree in type.
//   f32(c) f64(c) i32(c) i64(c)      constants
//   add sub mul div sqrt fma(a,b,c)  F, IEEE; fma = a * b + c rounded once
//   neg abs                          F, sign bit only
//   min(a,b) = a < b ? a : b         F; so NaN in either operand gives b
//   max(a,b) = a > b ? a : b         F; likewise
//   rint                             F, to the nearest integer, ties to even
//   add sub                          I, wrapping
//   and_ or_ xor_                    I, bitwise
//   shl lshr                         I; the count is a value of the same type, below the width
//   eq ne lt le                      F (false on NaN, but ne true) or signed I; gives bool
//   select(c,a,b)                    c is bool; a and b of any one type
//   to_f64(f32)                      exact
//   to_f32(f64)                      rounded
//   trunc(i64) -> i32                low half
//   bitcast                          f32 <-> i32, f64 <-> i64, by the operand's type
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "frontend/ir/math_coefficients.h"

namespace tilewright::ir::math {

// A builder names the type of its values per scalar type. They may all be the same type (an
// expression handle that knows its scalar type) or five different ones (plain numbers).
template <class B>
concept MathBuilder = requires(B& b, typename B::F32 s, typename B::F64 d, typename B::I32 i,
                               typename B::I64 l, typename B::Bool c) {
  { b.f32(1.0f) } -> std::same_as<typename B::F32>;
  { b.f64(1.0) } -> std::same_as<typename B::F64>;
  { b.i32(std::int32_t{1}) } -> std::same_as<typename B::I32>;
  { b.i64(std::int64_t{1}) } -> std::same_as<typename B::I64>;
  { b.fma(s, s, s) } -> std::same_as<typename B::F32>;
  { b.fma(d, d, d) } -> std::same_as<typename B::F64>;
  { b.rint(d) } -> std::same_as<typename B::F64>;
  { b.add(i, i) } -> std::same_as<typename B::I32>;
  { b.add(l, l) } -> std::same_as<typename B::I64>;
  { b.lt(s, s) } -> std::same_as<typename B::Bool>;
  { b.select(c, d, d) } -> std::same_as<typename B::F64>;
  { b.bitcast(s) } -> std::same_as<typename B::I32>;
  { b.bitcast(l) } -> std::same_as<typename B::F64>;
  { b.to_f32(d) } -> std::same_as<typename B::F32>;
  { b.to_f64(s) } -> std::same_as<typename B::F64>;
  { b.trunc(l) } -> std::same_as<typename B::I32>;
};

// Binary32 as a definition sees it: its value types, its layout, its constants.
template <class B>
struct Single {
  using Real = typename B::F32;
  using Bits = typename B::I32;
  using Word = std::uint32_t;
  static Real real(B& b, double c) { return b.f32(static_cast<float>(c)); }
  static Bits bits(B& b, Word c) { return b.i32(static_cast<std::int32_t>(c)); }

  static constexpr int kFraction = 23;
  static constexpr int kBias = 127;
  // Adding it rounds to an integer, which then stands in the low bits of the sum.
  static constexpr double kRounder = 0x1.8p23;
  static constexpr double kLeastNormal = 0x1p-126;
  static constexpr Word kSign = 0x80000000u;
  static constexpr Word kTwoThirds = 0x3f2aaaabu;  // the bits of 2/3

  static constexpr const auto& kExp = kExpF32;
  static constexpr const auto& kExp2 = kExp2F32;
  static constexpr const auto& kExpm1 = kExpm1F32;
  static constexpr const auto& kLog = kLogF32;
  static constexpr const auto& kSin = kSinF32;
  static constexpr const auto& kCos = kCosF32;
  static constexpr const auto& kErfSmall = kErfSmallF32;
  static constexpr const auto& kErfTail = kErfTailF32;
  static constexpr const auto& kErfPower = kErfPowerF32;
  static constexpr double kLn2High = kLn2F32High;
  static constexpr double kLn2Low = kLn2F32Low;
  static constexpr double kLog2e = kLog2eF32;

  // Beyond these the result is what it is at the bound: infinity, 0, -1 or 1.
  static constexpr double kExpLeast = -104.0, kExpMost = 89.0;
  static constexpr double kExp2Least = -151.0, kExp2Most = 129.0;
  static constexpr double kExpm1Least = -18.0;
  static constexpr double kTanhMost = 9.5;
  static constexpr double kErfMost = 3.95;
  static constexpr double kErfSwitch = 0.9375;  // as in the script: where the two fits meet
  static constexpr double kTiny = 0x1p-26;  // expm1(x) and log1p(x) are x to half an ulp below this
};

// Binary64, likewise.
template <class B>
struct Double {
  using Real = typename B::F64;
  using Bits = typename B::I64;
  using Word = std::uint64_t;
  static Real real(B& b, double c) { return b.f64(c); }
  static Bits bits(B& b, Word c) { return b.i64(static_cast<std::int64_t>(c)); }

  static constexpr int kFraction = 52;
  static constexpr int kBias = 1023;
  static constexpr double kRounder = 0x1.8p52;
  static constexpr double kLeastNormal = 0x1p-1022;
  static constexpr Word kSign = 0x8000000000000000u;
  static constexpr Word kTwoThirds = 0x3fe5555555555555u;

  static constexpr const auto& kExp = kExpF64;
  static constexpr const auto& kExp2 = kExp2F64;
  static constexpr const auto& kExpm1 = kExpm1F64;
  static constexpr const auto& kLog = kLogF64;
  static constexpr const auto& kSin = kSinF64;
  static constexpr const auto& kCos = kCosF64;
  static constexpr const auto& kErfSmall = kErfSmallF64;
  static constexpr const auto& kErfTail = kErfTailF64;
  static constexpr const auto& kErfPower = kErfPowerF64;
  static constexpr double kLn2High = kLn2F64High;
  static constexpr double kLn2Low = kLn2F64Low;
  static constexpr double kLog2e = kLog2eF64;

  static constexpr double kExpLeast = -746.0, kExpMost = 710.0;
  static constexpr double kExp2Least = -1076.0, kExp2Most = 1025.0;
  static constexpr double kExpm1Least = -40.0;
  static constexpr double kTanhMost = 20.0;
  static constexpr double kErfMost = 5.95;
  static constexpr double kErfSwitch = 1.0;
  static constexpr double kTiny = 0x1p-55;
};

// c[0] + c[1] x + ... by Horner's rule: one fma per coefficient after the last. Recursive, so that
// it unrolls in every compiler and a caller's loop over lanes stays the innermost one.
template <class Format, std::size_t I = 0, class B, class Number, std::size_t N>
typename Format::Real horner(B& b, typename Format::Real x, const Number (&c)[N]) {
  if constexpr (I + 1 == N) {
    return Format::real(b, c[I]);
  } else {
    return b.fma(horner<Format, I + 1>(b, x, c), x, Format::real(b, c[I]));
  }
}

// x held to [least, most]; NaN stays NaN, which the order of min's and max's operands decides.
template <class Format, class B>
typename Format::Real clamp(B& b, typename Format::Real x, double least, double most) {
  return b.max(Format::real(b, least), b.min(Format::real(b, most), x));
}

// 2^k, where the low bits of `biased` hold k + bias and 2^k is a normal number.
template <class Format, class B>
typename Format::Real power_of_two(B& b, typename Format::Bits biased) {
  return b.bitcast(b.shl(biased, Format::bits(b, Format::kFraction)));
}

// A non-negative magnitude with the sign of x.
template <class Format, class B>
typename Format::Real with_sign_of(B& b, typename Format::Real magnitude, typename Format::Real x) {
  const auto sign = b.and_(b.bitcast(x), Format::bits(b, Format::kSign));
  return b.bitcast(b.or_(b.bitcast(magnitude), sign));
}

}  // namespace tilewright::ir::math
