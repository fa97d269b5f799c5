// SPDX-License-Identifier: Apache-2.0
//
// The text of the helpers for floats narrower than f32 and for elements that share bytes; private to
// prelude.cpp, form and laws as in prelude_text.h. A narrow float is held as a `float` on its grid and stored as
// its bits; one family reads, writes and rounds all of them by the columns of frontend/ir/types.def. Those with
// the exponent of f32 are an f32 with fewer bits, and the scale is an exponent alone.
#pragma once

#include "lowering/targets/c/prelude_text.h"

namespace tilewright::c_target {

inline constexpr Helper kFormatFamilies[] = {{"tw_round_$", R"c(
/* To the nearest @S, ties to even. */
TW_INLINE float tw_round_@S(float x) { return tw_round_narrow(x, @E, @M, @K, false); }
)c"},
                                             {"tw_saturate_$", R"c(
/* The same, but what is too large becomes the largest @S. */
TW_INLINE float tw_saturate_@S(float x) { return tw_round_narrow(x, @E, @M, @K, true); }
)c"},
                                             {"tw_load_$", R"c(
TW_INLINE float tw_load_@S(@T bits) { return tw_load_narrow(bits, @E, @M, @K); }
)c"},
                                             {"tw_store_$", R"c(
TW_INLINE @T tw_store_@S(float x) { return (@T)tw_store_narrow(x, @E, @M, @K); }
)c"}};

inline constexpr Helper kFormatHelpers[] = {
    {"tw_specials", R"c(
/* What a narrow float has beyond numbers: infinities and NaN; NaN alone, as all ones; nothing. */
enum tw_specials { TW_IEEE, TW_FN, TW_FINITE };
)c"},
    {"tw_load_narrow", R"c(
/* The value of bits: sign, exponent with the bias 2^(exponent - 1) - 1, mantissa. */
TW_INLINE float tw_load_narrow(uint32_t bits, int exponent, int mantissa,
                               enum tw_specials specials) {
  const uint32_t hidden = 1u << mantissa, ones = (hidden << exponent) - 1;
  const uint32_t bias = (1u << (exponent - 1)) - 1, size = bits & ones;
  const uint32_t sign = (bits & (ones + 1)) != 0 ? 0x80000000u : 0;
  uint32_t value = (size << (23 - mantissa)) + ((127 - bias) << 23);
  /* Below the smallest normal value, a number of smallest ones. */
  if (size < hidden)
    value = tw_bits_f32((float)size *
                        tw_from_bits_f32((128 - bias - (uint32_t)mantissa) << 23));
  if (specials == TW_IEEE && size > ones - hidden) value = 0x7f800000u | size << (23 - mantissa);
  if (specials == TW_FN && size == ones) value = 0x7fc00000u;
  return tw_from_bits_f32(sign | value);
}
)c"},
    {"tw_store_narrow", R"c(
/* The bits of a value on the grid. */
TW_INLINE uint32_t tw_store_narrow(float x, int exponent, int mantissa,
                                   enum tw_specials specials) {
  const uint32_t hidden = 1u << mantissa, ones = (hidden << exponent) - 1;
  const uint32_t bias = (1u << (exponent - 1)) - 1, size = tw_bits_f32(x) & 0x7fffffffu;
  uint32_t bits = (size >> (23 - mantissa)) - ((127 - bias) << mantissa);
  if (size < (128 - bias) << 23)
    bits = (uint32_t)(tw_abs_f32(x) * tw_from_bits_f32((126 + bias + (uint32_t)mantissa) << 23));
  if (specials == TW_IEEE && size >= 0x7f800000u)
    bits = ones - hidden + 1 + (x != x ? hidden >> 1 : 0);
  if (specials == TW_FN && x != x) bits = ones;
  return bits | tw_bits_f32(x) >> 31 << (exponent + mantissa);
}
)c"},
    {"tw_round_narrow", R"c(
/* To the nearest value, ties to even: adding 1.5 * 2^(place + 23) makes the sum of floats round at
 * that place. What is far too large for that is cut off first. What has no infinity has NaN there,
 * and without NaN the largest value. */
TW_INLINE float tw_round_narrow(float x, int exponent, int mantissa, enum tw_specials specials,
                                bool saturates) {
  const uint32_t hidden = 1u << mantissa, ones = (hidden << exponent) - 1;
  const uint32_t beyond = specials == TW_IEEE ? hidden : specials == TW_FN ? 1 : 0;
  const float largest = tw_load_narrow(ones - beyond, exponent, mantissa, specials);
  const float size = tw_abs_f32(x) < 4 * largest ? tw_abs_f32(x) : 4 * largest;
  const int least = 2 - (1 << (exponent - 1)) - mantissa;
  const int last = (int)(tw_bits_f32(size) >> 23) - 127 - mantissa;
  const uint32_t place = (uint32_t)((last < least ? least : last) + 23 + 127);
  const float magic = tw_from_bits_f32(place << 23 | 1u << 22);
  float near = (size + magic) - magic;
  if (x != x) return specials == TW_FINITE ? largest : x;
  if (near > largest) {
    near = largest;
    if (!saturates && specials != TW_FINITE)
      near = tw_from_bits_f32(specials == TW_IEEE ? 0x7f800000u : 0x7fc00000u);
  }
  return tw_signed_f32(near, x);
}
)c"},
    // ---- the exponent of f32 and fewer bits behind it ----
    {"tw_round_short", R"c(
/* To the nearest float whose last `count` bits are zero, ties to even. */
TW_INLINE float tw_round_short(float x, int count) {
  const uint32_t bits = tw_bits_f32(x), rest = (1u << count) - 1;
  const uint32_t near = x != x ? bits | 0x00400000u : bits + (rest >> 1) + (bits >> count & 1u);
  return tw_from_bits_f32(near & ~rest);
}
)c"},
    {"tw_round_bf16", R"c(
/* To the nearest bf16, ties to even. */
TW_INLINE float tw_round_bf16(float x) { return tw_round_short(x, 16); }
)c"},
    {"tw_saturate_bf16", R"c(
/* The same, but what is too large becomes the largest bf16. */
TW_INLINE float tw_saturate_bf16(float x) { return tw_limit_f32(tw_round_bf16(x), 0x1.fep127f); }
)c"},
    {"tw_load_bf16", R"c(
TW_INLINE float tw_load_bf16(uint16_t bits) { return tw_from_bits_f32((uint32_t)bits << 16); }
)c"},
    {"tw_store_bf16", R"c(
TW_INLINE uint16_t tw_store_bf16(float x) { return (uint16_t)(tw_bits_f32(x) >> 16); }
)c"},
    {"tw_round_tf32", R"c(
/* To the nearest tf32, ties to even. */
TW_INLINE float tw_round_tf32(float x) { return tw_round_short(x, 13); }
)c"},
    {"tw_saturate_tf32", R"c(
/* The same, but what is too large becomes the largest tf32. */
TW_INLINE float tw_saturate_tf32(float x) { return tw_limit_f32(tw_round_tf32(x), 0x1.ffcp127f); }
)c"},
    {"tw_load_tf32", R"c(
/* Memory of the caller may hold any float. */
TW_INLINE float tw_load_tf32(float x) { return tw_round_tf32(x); }
)c"},
    {"tw_saturate_f32", R"c(
TW_INLINE float tw_saturate_f32(float x) { return tw_limit_f32(x, FLT_MAX); }
)c"},
    {"tw_saturate_f64", R"c(
TW_INLINE double tw_saturate_f64(double x) { return tw_limit_f64(x, DBL_MAX); }
)c"},
    {"tw_odd_f32", R"c(
/* Towards zero, with the last bit set where that is inexact: rounding once more to a shorter format
 * then equals the direct rounding. */
TW_INLINE float tw_odd_f32(double x) {
  const float near = (float)x;
  uint32_t bits = tw_bits_f32(near);
  if (tw_abs_f64((double)near) > tw_abs_f64(x)) --bits;
  if (x == x && (double)near != x) bits |= 1u;
  return tw_from_bits_f32(bits);
}
)c"},
    // ---- the scale: 2^(bits - 127), all ones NaN; neither sign nor zero ----
    {"tw_round_scale", R"c(
/* To the nearest power of two, of two as near the one with even bits. Below 2^-126 there is 2^-127
 * alone, which is half of the smallest normal float. */
TW_INLINE float tw_round_scale(float x, bool saturates) {
  const uint32_t size = tw_bits_f32(x) & 0x7fffffffu;
  uint32_t near = (size + 0x3fffffu + (size >> 23 & 1u)) & 0x7f800000u;
  if (size < 0x00800000u) near = size <= 0x00600000u ? 0x00400000u : 0x00800000u;
  if (near >= 0x7f800000u) near = saturates ? 0x7f000000u : 0x7fc00000u;
  return tw_from_bits_f32(x >= 0 ? near : 0x7fc00000u);
}
)c"},
    {"tw_round_f8e8m0", R"c(
TW_INLINE float tw_round_f8e8m0(float x) { return tw_round_scale(x, false); }
)c"},
    {"tw_saturate_f8e8m0", R"c(
TW_INLINE float tw_saturate_f8e8m0(float x) { return tw_round_scale(x, true); }
)c"},
    {"tw_load_f8e8m0", R"c(
TW_INLINE float tw_load_f8e8m0(uint8_t bits) {
  return tw_from_bits_f32(bits == 255 ? 0x7fc00000u : bits == 0 ? 0x00400000u : (uint32_t)bits << 23);
}
)c"},
    {"tw_store_f8e8m0", R"c(
TW_INLINE uint8_t tw_store_f8e8m0(float x) {
  return (uint8_t)(x != x ? 255u : tw_bits_f32(x) >> 23);
}
)c"},
    // ---- elements that share bytes ----
    {"tw_nibble", R"c(
/* Elements of four bits, two to a byte, the first in the low bits. */
TW_INLINE uint8_t tw_nibble(const uint8_t *bytes, int64_t at) {
  return (uint8_t)(bytes[at / 2] >> (at % 2 * 4) & 15);
}
)c"},
    {"tw_set_nibble", R"c(
/* The other element of the byte keeps its value. */
TW_INLINE void tw_set_nibble(uint8_t *bytes, int64_t at, int bits) {
  const int shift = (int)(at % 2 * 4);
  bytes[at / 2] = (uint8_t)((bytes[at / 2] & ~(15 << shift)) | (bits & 15) << shift);
}
)c"}};

}  // namespace tilewright::c_target
