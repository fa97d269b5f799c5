// SPDX-License-Identifier: Apache-2.0
//
// The text of the helpers of generated C, by name; private to prelude.cpp. Names of families hold a `$` for
// the suffix of a type, their texts the marks that prelude.cpp explains. Laws: no operation here is undefined
// or has another value under other compilers of C11 with IEEE floats and two's complement; each is that of
// frontend/ir/evaluate.h for its operation. The line break after the opening of a raw string is no part of it.
#pragma once

#include "lowering/targets/c/prelude_explain.h"

namespace tilewright::c_target {

inline constexpr std::string_view kFileHead = R"c(
#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The results are stated bit by bit, which takes IEEE arithmetic as it is written. */
#if FLT_EVAL_METHOD != 0
#error "floats must be evaluated in their own type: on x86, use SSE (-mfpmath=sse)"
#endif
#if defined(__FAST_MATH__)
#error "-ffast-math changes what this file computes"
#endif
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif
#if defined(__clang__)
/* Guards are kept where sizes decide them. */
#pragma clang diagnostic ignored "-Wtautological-compare"
#endif

#if defined(__GNUC__)
#define TW_INLINE static inline __attribute__((unused))
#else
#define TW_INLINE static inline
#endif

/* Bytes of the workspace serve buffers of different types in turn. */
#if defined(__GNUC__)
#define TW_WORKSPACE __attribute__((may_alias))
#else
#define TW_WORKSPACE
#endif
typedef uint8_t tw_workspace_u8 TW_WORKSPACE;
typedef uint16_t tw_workspace_u16 TW_WORKSPACE;
typedef int8_t tw_workspace_i8 TW_WORKSPACE;
typedef int16_t tw_workspace_i16 TW_WORKSPACE;
typedef int32_t tw_workspace_i32 TW_WORKSPACE;
typedef int64_t tw_workspace_i64 TW_WORKSPACE;
typedef uint32_t tw_workspace_u32 TW_WORKSPACE;
typedef uint64_t tw_workspace_u64 TW_WORKSPACE;
typedef float tw_workspace_f32 TW_WORKSPACE;
typedef double tw_workspace_f64 TW_WORKSPACE;

/* Where the processor has them, a square root and a fused multiply-add in one instruction.
 * TW_PORTABLE asks for the functions of this file instead; the results are the same. */
#if !defined(TW_PORTABLE) && defined(__SSE2__)
#include <emmintrin.h>
#define TW_SQRT_F32(x) _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)))
#define TW_SQRT_F64(x) _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)))
#elif !defined(TW_PORTABLE) && defined(__aarch64__) && defined(__GNUC__)
#include <arm_neon.h>
#define TW_SQRT_F32(x) vget_lane_f32(vsqrt_f32(vdup_n_f32(x)), 0)
#define TW_SQRT_F64(x) vget_lane_f64(vsqrt_f64(vdup_n_f64(x)), 0)
#endif
#if !defined(TW_PORTABLE) && defined(__GNUC__) && (defined(__FMA__) || defined(__aarch64__))
#define TW_FMA_F32(a, b, c) __builtin_fmaf(a, b, c)
#define TW_FMA_F64(a, b, c) __builtin_fma(a, b, c)
#endif
)c";

inline constexpr Helper kFamilies[] = {
    // ---- integers: two's complement at their width ----
    {"tw_add_$", R"c(
TW_INLINE @T tw_add_@S(@T a, @T b) { return @W((@U)a + (@U)b); }
)c"},
    {"tw_sub_$", R"c(
TW_INLINE @T tw_sub_@S(@T a, @T b) { return @W((@U)a - (@U)b); }
)c"},
    {"tw_mul_$", R"c(
TW_INLINE @T tw_mul_@S(@T a, @T b) { return @W(1u * (@U)a * (@U)b); }
)c"},
    {"tw_neg_$", R"c(
TW_INLINE @T tw_neg_@S(@T a) { return @W(0u - (@U)a); }
)c"},
    {"tw_wrap_$", R"c(
TW_INLINE @T tw_wrap_@S(int64_t a) { return @W((uint64_t)a); }
)c"},
    {"tw_div_$", R"c(
/* Rounds towards minus infinity; by zero it gives zero, by minus one it wraps. */
TW_INLINE @T tw_div_@S(@T a, @T b) {
  if (b == 0) return 0;
  if (b == -1) return tw_neg_@S(a);
  return (@T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}
)c"},
    {"tw_mod_$", R"c(
/* Has the sign of the divisor. */
TW_INLINE @T tw_mod_@S(@T a, @T b) {
  const @T rest = (@T)(b == 0 || b == -1 ? 0 : a % b);
  return (@T)(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}
)c"},
    {"tw_magnitude_$", R"c(
TW_INLINE @T tw_magnitude_@S(@T a) { return a < 0 ? tw_neg_@S(a) : a; }
)c"},
    {"tw_udiv_$", R"c(
/* By zero it gives zero. */
TW_INLINE @T tw_udiv_@S(@T a, @T b) { return (@T)(b == 0 ? 0 : a / b); }
)c"},
    {"tw_umod_$", R"c(
TW_INLINE @T tw_umod_@S(@T a, @T b) { return (@T)(b == 0 ? 0 : a % b); }
)c"},
    {"tw_and_$", R"c(
TW_INLINE @T tw_and_@S(@T a, @T b) { return @W((@U)a & (@U)b); }
)c"},
    {"tw_or_$", R"c(
TW_INLINE @T tw_or_@S(@T a, @T b) { return @W((@U)a | (@U)b); }
)c"},
    {"tw_xor_$", R"c(
TW_INLINE @T tw_xor_@S(@T a, @T b) { return @W((@U)a ^ (@U)b); }
)c"},
    {"tw_not_$", R"c(
TW_INLINE @T tw_not_@S(@T a) { return @W(~(@U)a); }
)c"},
    {"tw_shift_left_$", R"c(
/* The count is read as unsigned; beyond the width nothing is left. */
TW_INLINE @T tw_shift_left_@S(@T a, @T b) {
  return @W((@U)b < @Nu ? 1u * (@U)a << (@U)b : 0);
}
)c"},
    {"tw_shift_right_$", R"c(
/* The count is read as unsigned; beyond the width nothing is left but the sign. */
TW_INLINE @T tw_shift_right_@S(@T a, @T b) {
  const @U most = @N - 1;
  const @U count = (@U)b < most ? (@U)b : most;
  return (@T)(a < 0 ? ~(~a >> count) : a >> count);
}
)c"},
    {"tw_ushift_right_$", R"c(
/* Beyond the width nothing is left. */
TW_INLINE @T tw_ushift_right_@S(@T a, @T b) { return (@T)(b < @N ? a >> b : 0); }
)c"},
    {"tw_clamp_$", R"c(
/* The nearest value of the type. */
TW_INLINE @T tw_clamp_@S(int64_t a) { return (@T)(a < @MIN ? @MIN : a > @MAX ? @MAX : a); }
)c"},
    {"tw_uclamp_$", R"c(
/* The nearest value of the type. */
TW_INLINE @T tw_uclamp_@S(uint64_t a) { return (@T)(a > (uint64_t)@MAX ? (uint64_t)@MAX : a); }
)c"},
    // ---- both ----
    {"tw_min_$", R"c(
TW_INLINE @T tw_min_@S(@T a, @T b) { return a < b ? a : b; }
)c"},
    {"tw_max_$", R"c(
TW_INLINE @T tw_max_@S(@T a, @T b) { return a > b ? a : b; }
)c"},
    {"tw_choose_$", R"c(
TW_INLINE @T tw_choose_@S(bool chosen, @T a, @T b) { return chosen ? a : b; }
)c"},
    {"tw_limit_$", R"c(
TW_INLINE @T tw_limit_@S(@T x, @T most) { return x > most ? most : x < -most ? -most : x; }
)c"},
    // ---- floats to integers: what does not fit goes to the nearer end, NaN to zero ----
    {"tw_to_$_f32", R"c(
TW_INLINE @T tw_to_@S_f32(float x) {
  if (x != x) return 0;
  if (x < @LOf) return @MIN;
  return x >= @HIf ? @MAX : (@T)x;
}
)c"},
    {"tw_to_$_f64", R"c(
TW_INLINE @T tw_to_@S_f64(double x) {
  if (x != x) return 0;
  if (x < @LO) return @MIN;
  return x >= @HI ? @MAX : (@T)x;
}
)c"},
    // ---- floats ----
    {"tw_bits_$", R"c(
TW_INLINE @U tw_bits_@S(@T value) {
  union {
    @T value;
    @U bits;
  } both;
  both.value = value;
  return both.bits;
}
)c"},
    {"tw_from_bits_$", R"c(
TW_INLINE @T tw_from_bits_@S(@U bits) {
  union {
    @T value;
    @U bits;
  } both;
  both.bits = bits;
  return both.value;
}
)c"},
    {"tw_floor_$", R"c(
TW_INLINE @T tw_floor_@S(@T x) {
  const @T near = tw_rint_@S(x);
  return tw_signed_@S(near > x ? near - 1 : near, x);
}
)c"},
    {"tw_ceil_$", R"c(
TW_INLINE @T tw_ceil_@S(@T x) {
  const @T near = tw_rint_@S(x);
  return tw_signed_@S(near < x ? near + 1 : near, x);
}
)c"}};

inline constexpr Helper kHelpers[] = {{"tw_wrap_i4", R"c(
TW_INLINE int8_t tw_wrap_i4(int64_t a) { return (int8_t)((int)(((uint64_t)a & 15u) ^ 8u) - 8); }
)c"},
                                      {"tw_wrap_u4", R"c(
TW_INLINE uint8_t tw_wrap_u4(int64_t a) { return (uint8_t)((uint64_t)a & 15u); }
)c"},
                                      {"tw_clamp_u64", R"c(
/* The nearest value of the type. */
TW_INLINE uint64_t tw_clamp_u64(int64_t a) { return a < 0 ? 0 : (uint64_t)a; }
)c"},
                                      {"tw_threefry", R"c(
/* Threefry-2x32 with 20 rounds of a key and a counter, first words in the low halves. */
TW_INLINE uint64_t tw_threefry(uint64_t key, uint64_t counter) {
  static const int rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const uint32_t first = (uint32_t)key, second = (uint32_t)(key >> 32);
  const uint32_t keys[3] = {first, second, first ^ second ^ 0x1bd11bdau};
  uint32_t x = (uint32_t)counter + first;
  uint32_t y = (uint32_t)(counter >> 32) + second;
  for (int group = 0; group < 5; ++group) {
    for (int round = 0; round < 4; ++round) {
      const int count = rotations[(4 * group + round) % 8];
      x += y;
      y = (y << count | y >> (32 - count)) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + (uint32_t)(group + 1);
  }
  return x | (uint64_t)y << 32;
}
)c"},
                                      {"tw_abs_f32", R"c(
TW_INLINE float tw_abs_f32(float x) { return tw_from_bits_f32(tw_bits_f32(x) & 0x7fffffffu); }
)c"},
                                      {"tw_abs_f64", R"c(
TW_INLINE double tw_abs_f64(double x) {
  return tw_from_bits_f64(tw_bits_f64(x) & UINT64_C(0x7fffffffffffffff));
}
)c"},
                                      {"tw_signed_f32", R"c(
/* The magnitude of one with the sign of the other. */
TW_INLINE float tw_signed_f32(float x, float sign) {
  return tw_from_bits_f32((tw_bits_f32(x) & 0x7fffffffu) | (tw_bits_f32(sign) & 0x80000000u));
}
)c"},
                                      {"tw_signed_f64", R"c(
/* The magnitude of one with the sign of the other. */
TW_INLINE double tw_signed_f64(double x, double sign) {
  const uint64_t top = UINT64_C(0x8000000000000000);
  return tw_from_bits_f64((tw_bits_f64(x) & ~top) | (tw_bits_f64(sign) & top));
}
)c"},
                                      {"tw_rint_f32", R"c(
/* To the nearest integer, ties to even: above 2^23 there is nothing behind the point. */
TW_INLINE float tw_rint_f32(float x) {
  const float size = tw_abs_f32(x);
  return size < 0x1p23f ? tw_signed_f32((size + 0x1p23f) - 0x1p23f, x) : x;
}
)c"},
                                      {"tw_rint_f64", R"c(
/* To the nearest integer, ties to even: above 2^52 there is nothing behind the point. */
TW_INLINE double tw_rint_f64(double x) {
  const double size = tw_abs_f64(x);
  return size < 0x1p52 ? tw_signed_f64((size + 0x1p52) - 0x1p52, x) : x;
}
)c"},
                                      {"tw_sqrt_f64", R"c(
/* The correctly rounded square root. */
TW_INLINE double tw_sqrt_f64(double x) {
#if defined(TW_SQRT_F64)
  return TW_SQRT_F64(x);
#else
  const uint64_t bits = tw_bits_f64(x);
  uint64_t significand = bits & UINT64_C(0xfffffffffffff);
  uint64_t root = 0, rest = 0;
  int exponent = (int)(bits >> 52), digit;
  if (x == 0 || bits == UINT64_C(0x7ff0000000000000)) return x;
  if (!(x > 0)) return tw_from_bits_f64(UINT64_C(0x7ff8000000000000));
  if (exponent == 0)
    exponent = 1;
  else
    significand |= UINT64_C(1) << 52;
  for (; significand >> 52 == 0; --exponent) significand <<= 1;
  /* x = significand * 2^(exponent - 1075), with an even power; two of its bits give one of the
   * root. */
  exponent -= 1075;
  if (exponent % 2 != 0) {
    significand <<= 1;
    --exponent;
  }
  for (digit = 53; digit >= 0; --digit) {
    const uint64_t next = digit >= 27 ? (significand >> (2 * (digit - 27))) & 3 : 0;
    const uint64_t trial = root << 2 | 1;
    rest = rest << 2 | next;
    root <<= 1;
    if (rest >= trial) {
      rest -= trial;
      root |= 1;
    }
  }
  /* root holds one bit more than the result. */
  root = (root >> 1) + ((root & 1) != 0 && (rest != 0 || (root >> 1 & 1) != 0));
  return tw_from_bits_f64(((uint64_t)(exponent / 2 - 26 + 1074) << 52) + root);
#endif
}
)c"},
                                      {"tw_sqrt_f32", R"c(
/* Rounded from double, which has enough bits for that to be the direct rounding. */
TW_INLINE float tw_sqrt_f32(float x) {
#if defined(TW_SQRT_F32)
  return TW_SQRT_F32(x);
#else
  return (float)tw_sqrt_f64((double)x);
#endif
}
)c"},
                                      {"tw_fma_f32", R"c(
/* a * b + c, rounded once. The product is exact in double; the sum is rounded to odd, so that
 * rounding it again is the direct rounding. */
TW_INLINE float tw_fma_f32(float a, float b, float c) {
#if defined(TW_FMA_F32)
  return TW_FMA_F32(a, b, c);
#else
  const double product = (double)a * (double)b;
  const double sum = product + (double)c;
  const double part = sum - product;
  const double lost = (product - (sum - part)) + ((double)c - part);
  uint64_t bits = tw_bits_f64(sum);
  /* Infinity and NaN lose NaN, and stay. */
  if (lost == lost && lost != 0 && (bits & 1) == 0)
    bits += (lost > 0) == (sum > 0) ? 1 : (uint64_t)-1;
  return (float)tw_from_bits_f64(bits);
#endif
}
)c"},
                                      {"tw_fma_f64", R"c(
#if !defined(TW_FMA_F64)
/* An unsigned integer of 128 bits. */
typedef struct {
  uint64_t high, low;
} tw_wide;

TW_INLINE tw_wide tw_wide_left(tw_wide a, int count) {
  tw_wide out = a;
  if (count >= 64) {
    out.high = a.low << (count - 64);
    out.low = 0;
  } else if (count > 0) {
    out.high = a.high << count | a.low >> (64 - count);
    out.low = a.low << count;
  }
  return out;
}

/* What falls out is kept as the last bit, if any of it is set. */
TW_INLINE tw_wide tw_wide_right(tw_wide a, int count) {
  tw_wide out = a;
  tw_wide back;
  if (count >= 128) {
    out.high = 0;
    out.low = (a.high | a.low) != 0;
    return out;
  }
  if (count >= 64) {
    out.high = 0;
    out.low = count == 64 ? a.high : a.high >> (count - 64);
  } else if (count > 0) {
    out.high = a.high >> count;
    out.low = a.low >> count | a.high << (64 - count);
  }
  back = tw_wide_left(out, count);
  out.low |= back.high != a.high || back.low != a.low;
  return out;
}

TW_INLINE tw_wide tw_wide_product(uint64_t a, uint64_t b) {
  const uint64_t a1 = a >> 32, a0 = a & 0xffffffffu, b1 = b >> 32, b0 = b & 0xffffffffu;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const uint64_t other = a0 * b1 + (middle & 0xffffffffu);
  tw_wide out;
  out.high = a1 * b1 + (middle >> 32) + (other >> 32);
  out.low = other << 32 | (a0 * b0 & 0xffffffffu);
  return out;
}

/* |x| = significand * 2^exponent with bit 52 set. */
TW_INLINE uint64_t tw_take_apart(double x, int *exponent) {
  uint64_t significand = tw_bits_f64(x) & UINT64_C(0xfffffffffffff);
  *exponent = (int)(tw_bits_f64(x) >> 52 & 2047);
  if (*exponent == 0)
    *exponent = 1;
  else
    significand |= UINT64_C(1) << 52;
  *exponent -= 1075;
  for (; significand >> 52 == 0; --*exponent) significand <<= 1;
  return significand;
}
#endif

/* a * b + c, rounded once. */
TW_INLINE double tw_fma_f64(double a, double b, double c) {
#if defined(TW_FMA_F64)
  return TW_FMA_F64(a, b, c);
#else
  const uint64_t infinity = UINT64_C(0x7ff0000000000000), top = UINT64_C(0x8000000000000000);
  const uint64_t sign_ab = (tw_bits_f64(a) ^ tw_bits_f64(b)) & top, sign_c = tw_bits_f64(c) & top;
  uint64_t sign = sign_ab, bits;
  int exponent_a, exponent_b, exponent, exponent_c, shift, high = 127;
  tw_wide product, sum, addend = {0, 0};
  if (a == 0 || b == 0 || (tw_bits_f64(a) & infinity) == infinity ||
      (tw_bits_f64(b) & infinity) == infinity)
    return a * b + c;
  if ((tw_bits_f64(c) & infinity) == infinity) return c + c;
  if (c == 0) return a * b;
  /* The product, moved up so that it ends well below bit 127, and the addend on its scale. */
  product = tw_wide_product(tw_take_apart(a, &exponent_a), tw_take_apart(b, &exponent_b));
  product = tw_wide_left(product, 18);
  exponent = exponent_a + exponent_b - 18;
  addend.low = tw_take_apart(c, &exponent_c);
  shift = exponent_c - exponent;
  if (shift > 71) {
    product = tw_wide_right(product, shift - 71);
    exponent += shift - 71;
    shift = 71;
  }
  addend = shift >= 0 ? tw_wide_left(addend, shift) : tw_wide_right(addend, -shift);
  if (sign_ab == sign_c) {
    sum.low = product.low + addend.low;
    sum.high = product.high + addend.high + (sum.low < product.low);
  } else {
    if (product.high < addend.high || (product.high == addend.high && product.low < addend.low)) {
      sum = product;
      product = addend;
      addend = sum;
      sign = sign_c;
    }
    sum.low = product.low - addend.low;
    sum.high = product.high - addend.high - (product.low < addend.low);
    if ((sum.high | sum.low) == 0) return 0;
  }
  while (((high >= 64 ? sum.high >> (high - 64) : sum.low >> high) & 1) == 0) --high;
  /* Two bits more than the result has; a subnormal result has fewer. */
  shift = high - 54;
  if (exponent + shift < -1076) shift = -1076 - exponent;
  sum = shift >= 0 ? tw_wide_right(sum, shift) : tw_wide_left(sum, -shift);
  exponent += shift + 2;
  bits = sum.low >> 2;
  bits += (sum.low & 2) != 0 && ((sum.low & 1) != 0 || (bits & 1) != 0);
  if (exponent + 1074 > 2046) return tw_from_bits_f64(sign | infinity);
  bits += (uint64_t)(exponent + 1074) << 52;
  return tw_from_bits_f64(sign | (bits < infinity ? bits : infinity));
#endif
}
)c"},
                                      // ---- sizes that a caller controls ----
                                      {"tw_checked_add", R"c(
/* These three wrap, and tell. */
TW_INLINE int64_t tw_checked_add(int64_t a, int64_t b, bool *overflow) {
  *overflow |= b >= 0 ? a > INT64_MAX - b : a < INT64_MIN - b;
  return tw_add_i64(a, b);
}
)c"},
                                      {"tw_checked_sub", R"c(
TW_INLINE int64_t tw_checked_sub(int64_t a, int64_t b, bool *overflow) {
  *overflow |= b >= 0 ? a < INT64_MIN + b : a > INT64_MAX + b;
  return tw_sub_i64(a, b);
}
)c"},
                                      {"tw_checked_mul", R"c(
TW_INLINE int64_t tw_checked_mul(int64_t a, int64_t b, bool *overflow) {
  const int64_t product = tw_mul_i64(a, b);
  *overflow |= a != 0 && ((a == -1 && b == INT64_MIN) || (a != -1 && product / a != b));
  return product;
}
)c"},
                                      // ---- the judging of a call ----
                                      {"tw_fail", R"c(
/* Fills the error detail, if there is one, and gives the status. */
static int32_t tw_fail(const tilewright_call *call, const char *function, int32_t status,
                       int32_t argument, int32_t dimension, int64_t expected, int64_t got,
                       const char *message) {
  size_t i;
  if (call == NULL || call->error == NULL) return status;
  call->error->status = status;
  call->error->argument = argument;
  call->error->dimension = dimension;
  call->error->expected = expected;
  call->error->got = got;
  for (i = 0; i + 1 < sizeof(call->error->function) && function[i] != 0; ++i)
    call->error->function[i] = function[i];
  call->error->function[i] = 0;
  for (i = 0; i + 1 < sizeof(call->error->message) && message[i] != 0; ++i)
    call->error->message[i] = message[i];
  call->error->message[i] = 0;
  return status;
}
)c"},
                                      {"tw_check_call", R"c(
/* The structures of the caller: large enough, and what is reserved is zero. The least sizes are
 * those of version 1 of the ABI. A detail that is malformed is not written. */
static int32_t tw_check_call(const tilewright_call *call, const char *function,
                             const char *message) {
  const tilewright_executor *executor;
  if (call == NULL) return TILEWRIGHT_NULL_ARGUMENT;
  if (call->struct_size < 64u) return TILEWRIGHT_BAD_CALL;
  if (call->error != NULL && call->error->struct_size < 512u) return TILEWRIGHT_BAD_CALL;
  if (call->flags != 0) return tw_fail(call, function, TILEWRIGHT_BAD_CALL, -1, -1, 0, 0, message);
  if ((call->reserved[0] | call->reserved[1] | call->reserved[2] | call->reserved[3]) != 0)
    return tw_fail(call, function, TILEWRIGHT_BAD_CALL, -1, -1, 0, 0, message);
  executor = call->executor;
  if (executor == NULL) return TILEWRIGHT_OK;
  if (executor->struct_size < 40u)
    return tw_fail(call, function, TILEWRIGHT_BAD_CALL, -1, -1, 40, executor->struct_size, message);
  if ((executor->reserved[0] | executor->reserved[1]) != 0 || executor->parallel_for == NULL)
    return tw_fail(call, function, TILEWRIGHT_BAD_CALL, -1, -1, 0, 0, message);
  if (executor->num_workers < 1)
    return tw_fail(call, function, TILEWRIGHT_BAD_CALL, -1, -1, 1, executor->num_workers, message);
  return TILEWRIGHT_OK;
}
)c"},
                                      {"tw_type_word", R"c(
TW_INLINE int64_t tw_type_word(DLDataType type) {
  return (int64_t)type.code | (int64_t)type.bits << 8 | (int64_t)type.lanes << 16;
}
)c"},
                                      {"tw_row_bytes", R"c(
/* The extent; of a last axis whose elements share bytes, those bytes. */
TW_INLINE int64_t tw_row_bytes(const tilewright_tensor *tensor, int32_t dimension,
                               int64_t per_byte) {
  const int64_t extent = tensor->dl.shape[dimension];
  if (dimension + 1 < tensor->dl.ndim) return extent;
  return extent / per_byte + (extent % per_byte != 0);
}
)c"},
                                      {"tw_check_strides", R"c(
/* Null, or compact row-major, rows of elements that share bytes up to their last byte; strides of dimensions with one element, and of a tensor without
 * elements, say nothing. */
static int32_t tw_check_strides(const tilewright_call *call, const char *function, int32_t argument,
                                const tilewright_tensor *tensor, int64_t per_byte,
                                const char *message) {
  uint64_t compact = 1;
  int32_t d;
  if (tensor->dl.strides == NULL) return TILEWRIGHT_OK;
  for (d = 0; d < tensor->dl.ndim; ++d)
    if (tensor->dl.shape[d] == 0) return TILEWRIGHT_OK;
  for (d = tensor->dl.ndim - 1; d >= 0; --d) {
    if (tensor->dl.shape[d] != 1 && (uint64_t)tensor->dl.strides[d] != compact)
      return tw_fail(call, function, TILEWRIGHT_UNSUPPORTED_STRIDES, argument, d, (int64_t)compact,
                     tensor->dl.strides[d], message);
    compact *= (uint64_t)tw_row_bytes(tensor, d, per_byte) *
               (uint64_t)(d + 1 < tensor->dl.ndim ? 1 : per_byte);
  }
  return TILEWRIGHT_OK;
}
)c"},
                                      {"tw_check_bytes", R"c(
/* The bytes of all elements; they are fewer than 2^61, also without the zeros among the extents, and
 * they fit size_bytes. */
static int32_t tw_check_bytes(const tilewright_call *call, const char *function, int32_t argument,
                              const tilewright_tensor *tensor, int64_t element, int64_t per_byte,
                              const char *message, uint64_t *bytes) {
  int64_t capacity = 4 * element;
  bool overflow = false;
  uint64_t end;
  int32_t d;
  *bytes = (uint64_t)element;
  for (d = 0; d < tensor->dl.ndim; ++d) {
    const int64_t extent = tw_row_bytes(tensor, d, per_byte);
    capacity = tw_checked_mul(capacity, extent == 0 ? 1 : extent, &overflow);
    *bytes *= (uint64_t)extent;
  }
  if (overflow)
    return tw_fail(call, function, TILEWRIGHT_OUT_OF_BOUNDS, argument, -1, 0, 0, message);
  end = tensor->dl.byte_offset + *bytes;
  if (tensor->size_bytes != 0 && (end > tensor->size_bytes || end < *bytes))
    return tw_fail(call, function, TILEWRIGHT_OUT_OF_BOUNDS, argument, -1, (int64_t)end,
                   (int64_t)tensor->size_bytes, message);
  return TILEWRIGHT_OK;
}
)c"},
                                      {"tw_data", R"c(
TW_INLINE unsigned char *tw_data(const tilewright_tensor *tensor) {
  return tensor->dl.data == NULL ? NULL : (unsigned char *)tensor->dl.data + tensor->dl.byte_offset;
}
)c"},
                                      {"tw_disjoint", R"c(
TW_INLINE bool tw_disjoint(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes) {
  return a_bytes == 0 || b_bytes == 0 || (uintptr_t)a + a_bytes <= (uintptr_t)b ||
         (uintptr_t)b + b_bytes <= (uintptr_t)a;
}
)c"},
                                      {"tw_cancelled", R"c(
/* Polled between the iterations of parallel loops, which are coarse. */
TW_INLINE bool tw_cancelled(const tilewright_call *call) {
#if defined(__GNUC__)
  return call->cancel != NULL && __atomic_load_n(call->cancel, __ATOMIC_RELAXED) != 0;
#else
  return call->cancel != NULL && *(const volatile uint32_t *)call->cancel != 0;
#endif
}
)c"}};

}  // namespace tilewright::c_target
