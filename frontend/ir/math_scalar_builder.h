// SPDX-License-Identifier: Apache-2.0
//
// The builder whose values are plain numbers: instantiating a definition with it evaluates the
// definition. A loop over it vectorises. Law: each method is the primitive of math_primitives.h,
// bit for bit; a file that includes this is compiled with -ffp-contract=off.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tilewright::ir::math {

struct ScalarBuilder {
  using F32 = float;
  using F64 = double;
  using I32 = std::int32_t;
  using I64 = std::int64_t;
  using Bool = bool;

  static float f32(float c) { return c; }
  static double f64(double c) { return c; }
  static I32 i32(I32 c) { return c; }
  static I64 i64(I64 c) { return c; }

  static float add(float a, float b) { return a + b; }
  static double add(double a, double b) { return a + b; }
  static float sub(float a, float b) { return a - b; }
  static double sub(double a, double b) { return a - b; }
  static float mul(float a, float b) { return a * b; }
  static double mul(double a, double b) { return a * b; }
  static float div(float a, float b) { return a / b; }
  static double div(double a, double b) { return a / b; }
  static float fma(float a, float b, float c) { return std::fma(a, b, c); }
  static double fma(double a, double b, double c) { return std::fma(a, b, c); }
  static float sqrt(float a) { return std::sqrt(a); }
  static double sqrt(double a) { return std::sqrt(a); }
  static float rint(float a) { return std::rint(a); }
  static double rint(double a) { return std::rint(a); }
  static float neg(float a) { return -a; }
  static double neg(double a) { return -a; }
  static float abs(float a) { return std::fabs(a); }
  static double abs(double a) { return std::fabs(a); }
  static float min(float a, float b) { return a < b ? a : b; }
  static double min(double a, double b) { return a < b ? a : b; }
  static float max(float a, float b) { return a > b ? a : b; }
  static double max(double a, double b) { return a > b ? a : b; }

  // Integers wrap, so they are computed unsigned.
  static I32 add(I32 a, I32 b) { return static_cast<I32>(word(a) + word(b)); }
  static I64 add(I64 a, I64 b) { return static_cast<I64>(word(a) + word(b)); }
  static I32 sub(I32 a, I32 b) { return static_cast<I32>(word(a) - word(b)); }
  static I64 sub(I64 a, I64 b) { return static_cast<I64>(word(a) - word(b)); }
  static I32 and_(I32 a, I32 b) { return a & b; }
  static I64 and_(I64 a, I64 b) { return a & b; }
  static I32 or_(I32 a, I32 b) { return a | b; }
  static I64 or_(I64 a, I64 b) { return a | b; }
  static I32 xor_(I32 a, I32 b) { return a ^ b; }
  static I64 xor_(I64 a, I64 b) { return a ^ b; }
  static I32 shl(I32 a, I32 count) { return static_cast<I32>(word(a) << count); }
  static I64 shl(I64 a, I64 count) { return static_cast<I64>(word(a) << count); }
  static I32 lshr(I32 a, I32 count) { return static_cast<I32>(word(a) >> count); }
  static I64 lshr(I64 a, I64 count) { return static_cast<I64>(word(a) >> count); }

  template <class T>
  static bool eq(T a, T b) {
    return a == b;
  }
  template <class T>
  static bool ne(T a, T b) {
    return a != b;
  }
  template <class T>
  static bool lt(T a, T b) {
    return a < b;
  }
  template <class T>
  static bool le(T a, T b) {
    return a <= b;
  }
  template <class T>
  static T select(bool c, T a, T b) {
    return c ? a : b;
  }

  static double to_f64(float a) { return a; }
  static float to_f32(double a) { return static_cast<float>(a); }
  static I32 trunc(I64 a) { return static_cast<I32>(a); }
  static I32 bitcast(float a) { return std::bit_cast<I32>(a); }
  static float bitcast(I32 a) { return std::bit_cast<float>(a); }
  static I64 bitcast(double a) { return std::bit_cast<I64>(a); }
  static double bitcast(I64 a) { return std::bit_cast<double>(a); }

 private:
  static std::uint32_t word(I32 a) { return static_cast<std::uint32_t>(a); }
  static std::uint64_t word(I64 a) { return static_cast<std::uint64_t>(a); }
};

}  // namespace tilewright::ir::math
