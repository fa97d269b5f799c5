// SPDX-License-Identifier: Apache-2.0
//
// Every value of every float format of at most 16 bits against a decoder written here from the definition of the
// formats (IEEE 754; OCP 8-bit floating point and microscaling formats, 2023), and every rounding against a
// search among the decoded values: at each value, between each two neighbours, just beside the middle, and
// beyond the largest.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "frontend/ir/evaluate.h"

namespace tilewright::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What the standards say of a format.
struct Format {
  ScalarType type;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;  // the top exponent holds infinities and NaN
  bool all_ones_is_nan;
  bool has_sign = true;
  int bits() const { return exponent_bits + mantissa_bits + (has_sign ? 1 : 0); }
};
constexpr Format kFormats[] = {
    {ScalarType::F16, 5, 10, 15, true, true},
    {ScalarType::BF16, 8, 7, 127, true, true},
    {ScalarType::F8E5M2, 5, 2, 15, true, true},
    {ScalarType::F8E4M3, 4, 3, 7, false, true},
    {ScalarType::F6E2M3, 2, 3, 1, false, false},
    {ScalarType::F6E3M2, 3, 2, 3, false, false},
    {ScalarType::F4E2M1, 2, 1, 1, false, false},
    {ScalarType::F8E8M0, 8, 0, 127, false, true, false},
};

double decode(const Format& f, unsigned code) {
  const unsigned fraction = code % (1U << f.mantissa_bits);
  const unsigned exponent = (code >> f.mantissa_bits) % (1U << f.exponent_bits);
  const bool negative = f.has_sign && (code >> (f.exponent_bits + f.mantissa_bits)) != 0;
  const bool top = exponent == (1U << f.exponent_bits) - 1;
  const bool full = fraction == (1U << f.mantissa_bits) - 1;
  if (f.has_infinity && top && fraction != 0) return kNan;
  if (!f.has_infinity && f.all_ones_is_nan && top && full) return kNan;
  if (f.has_infinity && top) return negative ? -kInf : kInf;
  const bool subnormal = exponent == 0 && f.has_sign;  // a scale has none
  const double significand = (subnormal ? 0.0 : 1.0) + fraction * std::exp2(-f.mantissa_bits);
  const double value =
      significand * std::exp2(static_cast<int>(exponent) - f.bias + (subnormal ? 1 : 0));
  return negative ? -value : value;
}

// The finite values that are not negative, by code, and one step beyond the largest.
std::vector<double> ladder(const Format& f) {
  std::vector<double> values;
  for (unsigned code = 0; code < 1U << (f.exponent_bits + f.mantissa_bits); ++code)
    if (std::isfinite(decode(f, code))) values.push_back(decode(f, code));
  const std::size_t n = values.size();
  // Of a scale the next power; else the step repeats, there being room in the binade or at its end.
  values.push_back(f.has_sign ? 2 * values[n - 1] - values[n - 2] : 2 * values[n - 1]);
  return values;
}

// To the nearest of the ladder, ties to the even code; the step beyond stands for an overflow.
double reference(const Format& f, const std::vector<double>& values, double x, bool saturates) {
  const double largest = values[values.size() - 2];
  const bool lacks_nan = !f.all_ones_is_nan;
  if (std::isnan(x)) return lacks_nan ? largest : kNan;
  if (!f.has_sign && x < 0) return kNan;
  const double size = std::fabs(x);
  std::size_t at = 0;
  if (size >= values.back()) {
    at = values.size() - 1;
  } else {
    at = static_cast<std::size_t>(std::upper_bound(values.begin(), values.end(), size) -
                                  values.begin());
    at = at == 0 ? 0 : at - 1;
    if (at + 1 < values.size() && size > values[at]) {
      const double below = size - values[at];
      const double above = values[at + 1] - size;
      if (above < below || (above == below && at % 2 == 1)) ++at;
    }
  }
  double out = values[at];
  if (at + 1 == values.size())
    out = saturates || lacks_nan ? largest : f.has_infinity ? kInf : kNan;
  return f.has_sign ? std::copysign(out, x) : out;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

std::vector<double> places_to_try(const std::vector<double>& values) {
  std::vector<double> out{0.0, 5e-324, 1e-320, 1e300, kInf, kNan};
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const double middle = values[i] + (values[i + 1] - values[i]) / 2;
    for (double x : {values[i], middle})
      out.insert(out.end(), {std::nextafter(x, 0.0), x, std::nextafter(x, kInf),
                             static_cast<double>(std::nextafter(static_cast<float>(x), 0.0F)),
                             static_cast<double>(std::nextafter(
                                 static_cast<float>(x), std::numeric_limits<float>::infinity()))});
  }
  for (double factor : {1.0, 1.25, 2.0, 4.0, 1e3}) out.push_back(values.back() * factor);
  const std::size_t count = out.size();
  for (std::size_t i = 0; i < count; ++i) out.push_back(-out[i]);
  return out;
}

TEST(Conversions, EveryCodeIsDecodedByDefinitionAndBack) {
  for (const Format& f : kFormats)
    for (unsigned code = 0; code < 1U << f.bits(); ++code) {
      const auto bits = static_cast<std::uint16_t>(code);
      const double value = decode(f, code);
      ASSERT_TRUE(same(float_value(f.type, bits), value)) << type_text(f.type) << " " << code;
      if (std::isnan(value))
        ASSERT_TRUE(std::isnan(decode(f, float_bits(f.type, value))));
      else
        ASSERT_EQ(float_bits(f.type, value), bits) << type_text(f.type);
    }
}

TEST(Conversions, RoundingFindsTheNearestEven) {
  for (const Format& f : kFormats) {
    const std::vector<double> values = ladder(f);
    EXPECT_EQ(largest_finite(f.type), values[values.size() - 2]) << type_text(f.type);
    EXPECT_EQ(smallest_subnormal(f.type), f.has_sign ? values[1] : values[0]) << type_text(f.type);
    for (double x : places_to_try(values)) {
      const double expected = reference(f, values, x, false);
      ASSERT_TRUE(same(round_to_type(f.type, x), expected))
          << type_text(f.type) << "(" << x << ") = " << round_to_type(f.type, x) << ", not "
          << expected;
      bool undefined = false;
      const Scalar cast = evaluate_cast(ScalarType::F64, f.type, Scalar{.f = x}, &undefined);
      ASSERT_TRUE(same(cast.f, expected)) << type_text(f.type) << "(" << x << ") = " << cast.f;
      ASSERT_FALSE(undefined);
      const Scalar limited = evaluate_saturate(ScalarType::F64, f.type, Scalar{.f = x});
      ASSERT_TRUE(same(limited.f, reference(f, values, x, true)))
          << "saturate(" << type_text(f.type) << ", " << x << ") = " << limited.f;
    }
  }
}

TEST(Conversions, Tf32KeepsTenBitsOfAnF32) {
  for (std::uint32_t high = 0; high < 1U << 19; high += 7) {
    const double value = static_cast<double>(std::bit_cast<float>(high << 13));
    if (std::isnan(value)) continue;
    ASSERT_TRUE(same(round_to_type(ScalarType::TF32, value), value));
    const double next = static_cast<double>(std::bit_cast<float>((high + 1) << 13));
    if (!std::isfinite(next) || !std::isfinite(value) || std::signbit(next) != std::signbit(value))
      continue;
    const double middle = (value + next) / 2;
    ASSERT_EQ(round_to_type(ScalarType::TF32, middle), high % 2 == 0 ? value : next);
    ASSERT_EQ(round_to_type(ScalarType::TF32, std::nextafter(middle, next)), next);
    ASSERT_EQ(round_to_type(ScalarType::TF32, std::nextafter(middle, value)), value);
  }
}

// Every pair of values of the 4- and 8-bit types, and edges of the others, against wide arithmetic.
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

std::vector<std::int64_t> integers_of(ScalarType type) {
  std::vector<std::int64_t> out;
  if (type_info(type).width <= 8) {
    for (int v = -128; v < 256; ++v)
      if (wrap_to_type(type, v) == v) out.push_back(v);
    return out;
  }
  for (std::int64_t base : {std::int64_t{0}, lowest_integer(type), greatest_integer(type),
                            greatest_integer(type) / 2, std::int64_t{1000}})
    for (std::int64_t d : {-3, -2, -1, 0, 1, 2, 3})
      out.push_back(wrap_to_type(type, static_cast<std::int64_t>(static_cast<std::uint64_t>(base) +
                                                                 static_cast<std::uint64_t>(d))));
  return out;
}

Wide wide(ScalarType type, std::int64_t x) {
  return type == ScalarType::U64 ? static_cast<Wide>(static_cast<std::uint64_t>(x))
                                 : static_cast<Wide>(x);
}

std::int64_t wrapped(ScalarType type, Wide x) {
  return wrap_to_type(type, static_cast<std::int64_t>(static_cast<UnsignedWide>(x)));
}

std::vector<ScalarType> integer_types() {
  std::vector<ScalarType> out;
  for (int i = 0; i < kNumScalarTypes; ++i)
    if (is_integer(static_cast<ScalarType>(i))) out.push_back(static_cast<ScalarType>(i));
  return out;
}

Wide floor_quotient(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

Wide modular_product(Wide a, Wide b) {
  __extension__ using Word = unsigned __int128;
  return static_cast<Wide>(static_cast<Word>(a) * static_cast<Word>(b));
}

TEST(Integers, ArithmeticWrapsAndDividesDownwards) {
  for (ScalarType type : integer_types())
    for (std::int64_t x : integers_of(type))
      for (std::int64_t y : integers_of(type)) {
        const Wide a = wide(type, x);
        const Wide b = wide(type, y);
        auto run = [&](OpCode op) {
          const Scalar args[3] = {{.i = x}, {.i = y}, {.i = 0}};
          bool undefined = false;
          const Scalar out = evaluate_op(op, type, args, &undefined);
          EXPECT_EQ(undefined, y == 0 && (op == OpCode::Div || op == OpCode::Mod));
          return out.i;
        };
        const std::string what(type_text(type));
        ASSERT_EQ(run(OpCode::Add), wrapped(type, a + b)) << what;
        ASSERT_EQ(run(OpCode::Sub), wrapped(type, a - b)) << what;
        // Of its 128 bits a product needs the low ones alone.
        ASSERT_EQ(run(OpCode::Mul), wrapped(type, modular_product(a, b))) << what;
        ASSERT_EQ(run(OpCode::Min), a < b ? x : y) << what;
        ASSERT_EQ(run(OpCode::Max), a > b ? x : y) << what;
        ASSERT_EQ(run(OpCode::Lt), a < b) << what;
        ASSERT_EQ(run(OpCode::Ge), a >= b) << what;
        ASSERT_EQ(run(OpCode::BitXor), wrapped(type, a ^ b)) << what;
        ASSERT_EQ(run(OpCode::BitNot), wrapped(type, ~a)) << what;
        ASSERT_EQ(run(OpCode::Neg), wrapped(type, -a)) << what;
        if (y != 0) {
          ASSERT_EQ(run(OpCode::Div), wrapped(type, floor_quotient(a, b))) << what;
          ASSERT_EQ(run(OpCode::Mod), wrapped(type, a - floor_quotient(a, b) * b)) << what;
        }
        // The count is the bits of y without a sign.
        const int width = type_info(type).width;
        const Wide count = b < 0 ? b + (Wide{1} << width) : b;
        const int by = count < width ? static_cast<int>(count) : width;
        ASSERT_EQ(run(OpCode::ShiftLeft), by == width ? 0 : wrapped(type, a << by)) << what << by;
        ASSERT_EQ(run(OpCode::ShiftRight), wrapped(type, a >> by)) << what << by;
      }
}

TEST(Integers, ConversionsWrapOrSaturate) {
  for (ScalarType from : integer_types())
    for (ScalarType to : integer_types())
      for (std::int64_t x : integers_of(from)) {
        const Wide value = wide(from, x);
        bool undefined = false;
        ASSERT_EQ(evaluate_cast(from, to, Scalar{.i = x}, &undefined).i, wrapped(to, value));
        const Wide low = wide(to, lowest_integer(to));
        const Wide high = wide(to, greatest_integer(to));
        ASSERT_EQ(evaluate_saturate(from, to, Scalar{.i = x}).i,
                  wrapped(to, std::clamp(value, low, high)))
            << type_text(from) << " to " << type_text(to);
      }
}

TEST(Integers, FloatsTruncateAndMustFit) {
  auto cast = [](ScalarType to, double x, bool* undefined) {
    *undefined = false;
    return evaluate_cast(ScalarType::F64, to, Scalar{.f = x}, undefined).i;
  };
  bool undefined = false;
  for (ScalarType to : integer_types()) {
    const double high = std::exp2(type_info(to).width - (is_unsigned(to) ? 0 : 1));
    const double low = is_unsigned(to) ? 0 : -high;
    for (double x : {0.0, 0.75, -0.75, 5.999, low, std::nextafter(high, 0.0)}) {
      const double whole = std::trunc(x);
      ASSERT_EQ(integer_value(to, cast(to, x, &undefined)), whole + 0.0) << type_text(to) << x;
      ASSERT_FALSE(undefined);
      ASSERT_EQ(integer_value(to, evaluate_saturate(ScalarType::F64, to, Scalar{.f = x}).i),
                whole + 0.0);
    }
    for (double x : {high, low - 1, kInf, -kInf, kNan}) {
      const bool lost = low - 1 == low && x == low - 1;  // f64 does not tell the two apart
      cast(to, x, &undefined);
      ASSERT_EQ(undefined, !lost) << type_text(to) << x;
      const std::int64_t expected = std::isnan(x) ? 0
                                    : x < 0       ? lowest_integer(to)
                                                  : greatest_integer(to);
      ASSERT_EQ(evaluate_saturate(ScalarType::F64, to, Scalar{.f = x}).i, expected) << x;
    }
  }
}

}  // namespace
}  // namespace tilewright::ir
