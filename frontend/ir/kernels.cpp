// SPDX-License-Identifier: Apache-2.0
//
// Compiled at -O3 and without contraction (cmake/TilewrightRoom.cmake). f32 + - * / sqrt go through
// f64 and one rounding, which is exact because 53 >= 2 * 24 + 2; narrower types round that once more.
#include "frontend/ir/kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "frontend/ir/math_scalar_builder.h"
#include "frontend/ir/math_table.h"
#include "frontend/ir/random_bits.h"

namespace tilewright::ir {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// `digits` significant bits, last place never below 2^min_place. Adding 1.5 * 2^(place + 52) makes
// the f64 addition round at that place.
inline double round_digits(double x, int digits, int min_place, double largest) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ffU) - 1023;
  if (exponent > 1000) return x;  // NaN; the caller dealt with what is too large
  int place = exponent - (digits - 1);
  if (place < min_place) place = min_place;
  const double magic =
      1.5 * std::bit_cast<double>(static_cast<std::uint64_t>(place + 52 + 1023) << 52);
  const double rounded = (x + magic) - magic;
  if (std::fabs(rounded) > largest) return std::copysign(kInfinity, x);
  return std::copysign(rounded, x);
}

constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

template <ScalarType T>
inline double round_once(double x) {
  constexpr TypeInfo info = type_info(T);
  if constexpr (T == ScalarType::F64) {
    return x;
  } else if constexpr (T == ScalarType::F32) {
    return static_cast<double>(static_cast<float>(x));
  } else if constexpr (info.specials == Specials::Ieee) {
    if (std::fabs(x) > power_of_two(info.max_exponent() + 2)) return std::copysign(kInfinity, x);
    return round_digits(x, info.digits(), info.min_place(),
                        static_cast<double>(info.largest_units()) *
                            power_of_two(info.max_exponent() - info.mantissa_bits));
  } else {
    return round_to_type(T, x);
  }
}

// The result of a float operation from its f64 value.
template <ScalarType T>
inline double finish(double x) {
  if constexpr (T == ScalarType::F64) {
    return x;
  } else if constexpr (T == ScalarType::F32) {
    return static_cast<double>(static_cast<float>(x));
  } else {
    return round_once<T>(static_cast<double>(static_cast<float>(x)));
  }
}

template <ScalarType T>
inline double fused(double a, double b, double c) {
  if constexpr (T == ScalarType::F64) {
    return std::fma(a, b, c);
  } else {
    const double single = static_cast<double>(
        std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
    return finish<T>(single);
  }
}

template <OpCode O, ScalarType T>
inline double float_op(double a, double b, double c) {
  if constexpr (O == OpCode::Add) return finish<T>(a + b);
  if constexpr (O == OpCode::Sub) return finish<T>(a - b);
  if constexpr (O == OpCode::Mul) return finish<T>(a * b);
  if constexpr (O == OpCode::Div) return finish<T>(a / b);
  if constexpr (O == OpCode::Sqrt) return finish<T>(std::sqrt(a));
  if constexpr (O == OpCode::Fma) return fused<T>(a, b, c);
  if constexpr (O == OpCode::Neg) return -a;
  if constexpr (O == OpCode::Min) return a < b ? a : b;
  if constexpr (O == OpCode::Max) return a > b ? a : b;
  if constexpr (O == OpCode::Abs) return std::fabs(a);
  if constexpr (O == OpCode::Floor) return std::floor(a);
  if constexpr (O == OpCode::Ceil) return std::ceil(a);
  if constexpr (O == OpCode::Rint) return std::nearbyint(a);
  return 0;
}

template <OpCode O, class V>
inline bool compare(V a, V b) {
  if constexpr (O == OpCode::Eq) return a == b;
  if constexpr (O == OpCode::Ne) return a != b;
  if constexpr (O == OpCode::Lt) return a < b;
  if constexpr (O == OpCode::Le) return a <= b;
  if constexpr (O == OpCode::Gt) return a > b;
  if constexpr (O == OpCode::Ge) return a >= b;
  if constexpr (O == OpCode::And) return a && b;
  if constexpr (O == OpCode::Or) return a || b;
  return false;
}

template <ScalarType T>
inline std::int64_t wrap(std::uint64_t x) {
  constexpr int unused = is_integer(T) ? 64 - type_info(T).width : 0;
  if constexpr (is_unsigned(T)) return static_cast<std::int64_t>(x << unused >> unused);
  return static_cast<std::int64_t>(x << unused) >> unused;
}

// Index is the mathematical integers: leaving 64 bits is undefined here. The others wrap.
template <OpCode O, ScalarType T>
inline std::int64_t ring_op(std::int64_t a, std::int64_t b, bool& undefined) {
  if constexpr (T == ScalarType::Index) {
    std::int64_t out = 0;
    if constexpr (O == OpCode::Add) undefined = __builtin_add_overflow(a, b, &out);
    if constexpr (O == OpCode::Sub) undefined = __builtin_sub_overflow(a, b, &out);
    if constexpr (O == OpCode::Mul) undefined = __builtin_mul_overflow(a, b, &out);
    return out;
  } else {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    return wrap<T>(O == OpCode::Add ? x + y : O == OpCode::Sub ? x - y : x * y);
  }
}

// Floor division and modulus. The one quotient that leaves the type wraps.
template <OpCode O, ScalarType T>
inline std::int64_t divide(std::int64_t a, std::int64_t b, bool& undefined) {
  if (b == 0) {
    undefined = true;
    return 0;
  }
  if constexpr (is_unsigned(T)) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    return static_cast<std::int64_t>(O == OpCode::Mod ? x % y : x / y);
  } else {
    if (b == -1) return O == OpCode::Mod ? 0 : ring_op<OpCode::Sub, T>(0, a, undefined);
    const std::int64_t remainder = a % b;
    const bool below = remainder != 0 && (remainder < 0) != (b < 0);
    if constexpr (O == OpCode::Mod) return below ? remainder + b : remainder;
    return a / b - (below ? 1 : 0);
  }
}

// The count is the bits of `b` read as unsigned.
template <OpCode O, ScalarType T>
inline std::int64_t shift(std::int64_t a, std::int64_t b) {
  constexpr auto width = static_cast<std::uint64_t>(type_info(T).width);
  constexpr int unused = 64 - type_info(T).width;
  const std::uint64_t count = static_cast<std::uint64_t>(b) << unused >> unused;
  if constexpr (O == OpCode::ShiftLeft)
    return count < width ? wrap<T>(static_cast<std::uint64_t>(a) << count) : 0;
  if constexpr (is_unsigned(T))
    return count < width ? static_cast<std::int64_t>(static_cast<std::uint64_t>(a) >> count) : 0;
  return a >> (count < width ? count : 63);
}

template <ScalarType T>
inline std::int64_t random_bits(std::int64_t key, std::int64_t counter) {
  using Pair = WordPair<std::int32_t>;
  math::ScalarBuilder b;
  auto words = [](std::int64_t x) {
    return Pair{static_cast<std::int32_t>(x),
                T == ScalarType::U64 ? static_cast<std::int32_t>(x >> 32) : 0};
  };
  const Pair out = threefry2x32(b, words(key), words(counter));
  const auto low = static_cast<std::uint32_t>(out.first);
  if constexpr (T == ScalarType::U32) return low;
  return static_cast<std::int64_t>(
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(out.second)) << 32 | low);
}

template <OpCode O, ScalarType T>
inline std::int64_t bit_op(std::int64_t a, std::int64_t b) {
  if constexpr (O == OpCode::BitAnd) return a & b;
  if constexpr (O == OpCode::BitOr) return a | b;
  if constexpr (O == OpCode::BitXor) return a ^ b;
  if constexpr (O == OpCode::BitNot) return wrap<T>(~static_cast<std::uint64_t>(a));
  return shift<O, T>(a, b);
}

template <OpCode O, ScalarType T>
inline std::int64_t int_op(std::int64_t a, std::int64_t b, std::int64_t c, bool& undefined) {
  constexpr TypeRule rule = op_info(O).rule;
  if constexpr (rule == TypeRule::Bits) return bit_op<O, T>(a, b);
  if constexpr (rule == TypeRule::Random) return random_bits<T>(a, b);
  if constexpr (O == OpCode::Add || O == OpCode::Sub || O == OpCode::Mul)
    return ring_op<O, T>(a, b, undefined);
  if constexpr (O == OpCode::Div || O == OpCode::Mod) return divide<O, T>(a, b, undefined);
  if constexpr (O == OpCode::Neg) return ring_op<OpCode::Sub, T>(0, a, undefined);
  if constexpr (O == OpCode::Min) return integer_less(T, a, b) ? a : b;
  if constexpr (O == OpCode::Max) return integer_less(T, b, a) ? a : b;
  if constexpr (O == OpCode::Abs)
    return !is_unsigned(T) && a < 0 ? ring_op<OpCode::Sub, T>(0, a, undefined) : a;
  if constexpr (O == OpCode::Not) return !a;
  if constexpr (O == OpCode::Fma) {
    bool product = false;
    const std::int64_t ab = ring_op<OpCode::Mul, T>(a, b, product);
    const std::int64_t out = ring_op<OpCode::Add, T>(ab, c, undefined);
    undefined |= product;
    return out;
  }
  return 0;
}

constexpr bool may_be_undefined(OpCode op, ScalarType type) {
  const TypeRule rule = op_info(op).rule;
  if (is_float(type) || is_comparison(op) || rule == TypeRule::Logic) return false;
  return type == ScalarType::Index || op == OpCode::Div || op == OpCode::Mod;
}

template <OpCode O, ScalarType T>
inline Scalar apply(const Scalar* a, const Scalar* b, const Scalar* c, int l, bool& undefined) {
  constexpr int arity = op_info(O).arity;
  constexpr TypeRule rule = op_info(O).rule;
  Scalar out;
  if constexpr (is_float(T) && is_comparison(O)) {
    out.i = compare<O>(a[l].f, b[l].f);
  } else if constexpr (is_float(T)) {
    double y = 0;
    double z = 0;
    if constexpr (arity > 1) y = b[l].f;
    if constexpr (arity > 2) z = c[l].f;
    out.f = float_op<O, T>(a[l].f, y, z);
  } else if constexpr (is_comparison(O) || (rule == TypeRule::Logic && arity == 2)) {
    using Number = std::conditional_t<T == ScalarType::U64, std::uint64_t, std::int64_t>;
    out.i = compare<O>(static_cast<Number>(a[l].i), static_cast<Number>(b[l].i));
  } else {
    std::int64_t y = 0;
    std::int64_t z = 0;
    if constexpr (arity > 1) y = b[l].i;
    if constexpr (arity > 2) z = c[l].i;
    out.i = int_op<O, T>(a[l].i, y, z, undefined);
  }
  return out;
}

template <OpCode O, ScalarType T>
int run_op(Scalar* dst, const Scalar* a, const Scalar* b, const Scalar* c, int n,
           const std::uint8_t* mask) {
  if constexpr (may_be_undefined(O, T)) {
    for (int l = 0; l < n; ++l) {
      bool undefined = false;
      dst[l] = apply<O, T>(a, b, c, l, undefined);
      if (undefined && (!mask || (mask[l] & kChosen))) return l;
    }
  } else if constexpr (is_float(T) && !is_comparison(O)) {
    constexpr int arity = op_info(O).arity;
    const double* x = floats(a);
    const double* y = arity > 1 ? floats(b) : x;
    const double* z = arity > 2 ? floats(c) : x;
    double* out = floats(dst);
    for (int l = 0; l < n; ++l) out[l] = float_op<O, T>(x[l], y[l], z[l]);
  } else {
    bool defined = false;
    for (int l = 0; l < n; ++l) dst[l] = apply<O, T>(a, b, c, l, defined);
  }
  return -1;
}

template <OpCode O, ScalarType T>
int run_math(Scalar* dst, const Scalar* a, const Scalar*, const Scalar*, int n,
             const std::uint8_t* mask) {
  static const MathFunction function = math_function(O, T);
  for (int l = 0; l < n; ++l)
    if (!mask || mask[l]) dst[l].f = function(a[l].f);
  return -1;
}

// With the machine's fma instruction, where there is one; std::fma computes the same bits.
#if defined(__x86_64__)
#define TILEWRIGHT_WITH_FMA __attribute__((target("avx2,fma")))
TILEWRIGHT_WITH_FMA int run_fma_f32_machine(Scalar* dst, const Scalar* a, const Scalar* b,
                                            const Scalar* c, int n, const std::uint8_t*) {
  const double *x = floats(a), *y = floats(b), *z = floats(c);
  double* out = floats(dst);
  for (int l = 0; l < n; ++l)
    out[l] = static_cast<double>(__builtin_fmaf(static_cast<float>(x[l]), static_cast<float>(y[l]),
                                                static_cast<float>(z[l])));
  return -1;
}
TILEWRIGHT_WITH_FMA int run_fma_f64_machine(Scalar* dst, const Scalar* a, const Scalar* b,
                                            const Scalar* c, int n, const std::uint8_t*) {
  const double *x = floats(a), *y = floats(b), *z = floats(c);
  double* out = floats(dst);
  for (int l = 0; l < n; ++l) out[l] = __builtin_fma(x[l], y[l], z[l]);
  return -1;
}
bool machine_has_fma() {
  static const bool has = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
  return has;
}
#endif

constexpr bool is_math(OpCode op) {
  switch (op) {
    case OpCode::Rsqrt:
    case OpCode::Exp:
    case OpCode::Exp2:
    case OpCode::Expm1:
    case OpCode::Log:
    case OpCode::Log2:
    case OpCode::Log1p:
    case OpCode::Tanh:
    case OpCode::Erf:
    case OpCode::Sin:
    case OpCode::Cos: return true;
    default: return false;
  }
}

template <std::size_t I>
constexpr Kernel op_entry() {
  constexpr auto op = static_cast<OpCode>(I / kNumScalarTypes);
  constexpr auto type = static_cast<ScalarType>(I % kNumScalarTypes);
  constexpr TypeRule rule = op_info(op).rule;
  // Complex numbers have become pairs of reals before anything runs.
  if constexpr (!op_accepts(op, type) || is_complex(type) || rule == TypeRule::Join) {
    return nullptr;
  } else if constexpr (is_comparison(op) && is_float(type)) {
    return &run_op<op, ScalarType::F64>;  // every float value is one of f64
  } else if constexpr (is_math(op)) {
    return &run_math<op, type>;
  } else {
    return &run_op<op, type>;
  }
}
template <std::size_t... I>
constexpr auto op_table(std::index_sequence<I...>) {
  return std::array<Kernel, sizeof...(I)>{op_entry<I>()...};
}
constexpr auto kOpKernels = op_table(std::make_index_sequence<kNumOps * kNumScalarTypes>{});

// Whether a whole number fits the integer type; NaN does not.
template <ScalarType T>
inline bool fits(double whole) {
  constexpr TypeInfo info = type_info(T);
  if constexpr (is_unsigned(T)) return whole >= 0 && whole < power_of_two(info.width);
  constexpr double limit = power_of_two(info.width - 1);
  return whole >= -limit && whole < limit;
}

template <ScalarType T>
inline std::int64_t to_integer(double whole) {
  if constexpr (T == ScalarType::U64)
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(whole));
  return static_cast<std::int64_t>(whole);
}

// Truncation towards zero; what does not fit (NaN included) is undefined.
template <ScalarType T>
inline std::int64_t truncate(double x, bool& undefined) {
  const double whole = std::trunc(x);
  undefined = !fits<T>(whole);
  return undefined ? 0 : to_integer<T>(whole);
}

template <ScalarType T>
inline std::int64_t truncate_saturating(double x) {
  const double whole = std::trunc(x);
  if (fits<T>(whole)) return to_integer<T>(whole);
  return std::isnan(x) ? 0 : x < 0 ? lowest_integer(T) : greatest_integer(T);
}

// How values of a type are held: every float as F64, every integer but U64 as I64.
constexpr ScalarType holder_of(ScalarType type) {
  return is_float(type) ? ScalarType::F64 : type == ScalarType::U64 ? type : ScalarType::I64;
}

// Through f32, but for f64.
template <ScalarType From>
inline double to_single(std::int64_t x) {
  if constexpr (From == ScalarType::U64)
    return static_cast<double>(static_cast<float>(static_cast<std::uint64_t>(x)));
  return static_cast<double>(static_cast<float>(x));
}

template <ScalarType From, ScalarType To>
inline Scalar convert(Scalar x, bool& undefined) {
  Scalar out;
  if constexpr (is_float(From) && is_float(To)) {
    out.f = round_once<To>(x.f);
  } else if constexpr (is_float(From) && To == ScalarType::Bool) {
    out.i = x.f != 0;
  } else if constexpr (is_float(From)) {
    out.i = truncate<To>(x.f, undefined);
  } else if constexpr (To == ScalarType::F64) {
    out.f = integer_value(From, x.i);
  } else if constexpr (is_float(To)) {
    out.f = round_once<To>(to_single<From>(x.i));
  } else if constexpr (To == ScalarType::Bool) {
    out.i = x.i != 0;
  } else {
    undefined = From == ScalarType::U64 && To == ScalarType::Index && x.i < 0;
    out.i = wrap<To>(static_cast<std::uint64_t>(x.i));
  }
  return out;
}

template <ScalarType From, ScalarType To>
int run_cast(Scalar* dst, const Scalar* a, const Scalar*, const Scalar*, int n,
             const std::uint8_t* mask) {
  constexpr bool total = cast_is_total(From, To);
  for (int l = 0; l < n; ++l) {
    bool undefined = false;
    dst[l] = convert<From, To>(a[l], undefined);
    if constexpr (!total)
      if (undefined && (!mask || (mask[l] & kChosen))) return l;
  }
  return -1;
}

template <ScalarType From, ScalarType To>
inline Scalar saturated(Scalar x) {
  Scalar out;
  if constexpr (is_float(From) && is_float(To)) {
    out.f = saturate_to_type(To, x.f);
  } else if constexpr (is_float(From)) {
    out.i = truncate_saturating<To>(x.f);
  } else if constexpr (is_float(To)) {
    out.f = To == ScalarType::F64 ? integer_value(From, x.i)
                                  : saturate_to_type(To, to_single<From>(x.i));
  } else {
    // As 128-bit integers, since u64 and i64 have no common type of 64.
    __extension__ using Wide = __int128;
    auto wide = [](ScalarType type, std::int64_t v) {
      return type == ScalarType::U64 ? static_cast<Wide>(static_cast<std::uint64_t>(v))
                                     : static_cast<Wide>(v);
    };
    const Wide value = wide(From, x.i);
    out.i = value < wide(To, lowest_integer(To))     ? lowest_integer(To)
            : value > wide(To, greatest_integer(To)) ? greatest_integer(To)
                                                     : x.i;
  }
  return out;
}

template <ScalarType From, ScalarType To>
int run_saturate(Scalar* dst, const Scalar* a, const Scalar*, const Scalar*, int n,
                 const std::uint8_t*) {
  for (int l = 0; l < n; ++l) dst[l] = saturated<From, To>(a[l]);
  return -1;
}

// Over the reals a float type only limits the value.
template <ScalarType From, ScalarType To>
int run_limit(Scalar* dst, const Scalar* a, const Scalar*, const Scalar*, int n,
              const std::uint8_t*) {
  const double most = largest_finite(To);
  const bool scale = type_info(To).specials == Specials::Scale;
  const double least = scale ? smallest_subnormal(To) : -most;
  for (int l = 0; l < n; ++l) {
    const double x = is_float(From) ? a[l].f : integer_value(From, a[l].i);
    const bool undefined = std::isnan(x) || (scale && x < 0);
    dst[l].f = undefined ? std::numeric_limits<double>::quiet_NaN() : std::clamp(x, least, most);
  }
  return -1;
}

enum class Conversion : std::uint8_t { Cast, Saturate, Limit };

template <Conversion C, std::size_t I>
constexpr Kernel conversion_entry() {
  constexpr auto given = static_cast<ScalarType>(I / kNumScalarTypes);
  constexpr auto from = holder_of(given);
  constexpr auto to = static_cast<ScalarType>(I % kNumScalarTypes);
  if constexpr (is_complex(given) || is_complex(to)) {
    return nullptr;
  } else if constexpr (C == Conversion::Cast) {
    return &run_cast<from, to>;
  } else if constexpr (!is_integer(to) && !is_float(to)) {
    return nullptr;
  } else if constexpr (C == Conversion::Limit && is_float(to)) {
    return &run_limit<from, to>;
  } else {
    return &run_saturate<from, to>;
  }
}
template <Conversion C, std::size_t... I>
constexpr auto conversion_table(std::index_sequence<I...>) {
  return std::array<Kernel, sizeof...(I)>{conversion_entry<C, I>()...};
}
using AllPairs = std::make_index_sequence<kNumScalarTypes * kNumScalarTypes>;
constexpr auto kCastKernels = conversion_table<Conversion::Cast>(AllPairs());
constexpr auto kSaturateKernels = conversion_table<Conversion::Saturate>(AllPairs());
constexpr auto kLimitKernels = conversion_table<Conversion::Limit>(AllPairs());

constexpr std::size_t pair_index(ScalarType from, ScalarType to) {
  return static_cast<std::size_t>(from) * kNumScalarTypes + static_cast<std::size_t>(to);
}

int run_multiply_add(Scalar* dst, const Scalar* a, const Scalar* b, const Scalar* c, int n,
                     const std::uint8_t*) {
  const double *x = floats(a), *y = floats(b), *z = floats(c);
  double* out = floats(dst);
  for (int l = 0; l < n; ++l) out[l] = x[l] * y[l] + z[l];
  return -1;
}

template <ScalarType Grid>
int run_round_in_f16(Scalar* dst, const Scalar* a, const Scalar*, const Scalar*, int n,
                     const std::uint8_t*) {
  for (int l = 0; l < n; ++l) dst[l].f = round_once<ScalarType::F16>(round_once<Grid>(a[l].f));
  return -1;
}

}  // namespace

Kernel op_kernel(OpCode op, ScalarType type) {
#if defined(__x86_64__)
  if (op == OpCode::Fma && machine_has_fma()) {
    if (type == ScalarType::F32) return &run_fma_f32_machine;
    if (type == ScalarType::F64) return &run_fma_f64_machine;
  }
#endif
  return kOpKernels[static_cast<std::size_t>(op) * kNumScalarTypes +
                    static_cast<std::size_t>(type)];
}

Kernel cast_kernel(ScalarType from, ScalarType to) { return kCastKernels[pair_index(from, to)]; }
Kernel saturate_kernel(ScalarType from, ScalarType to) {
  return kSaturateKernels[pair_index(from, to)];
}
Kernel limit_kernel(ScalarType from, ScalarType to) { return kLimitKernels[pair_index(from, to)]; }

// A grid value is one of the type, but for grids that go beyond the range of f16.
Kernel round_kernel(ScalarType type, ScalarType grid) {
  if (type == ScalarType::F16) {
    if (grid == ScalarType::BF16) return &run_round_in_f16<ScalarType::BF16>;
    if (grid == ScalarType::F8E8M0) return &run_round_in_f16<ScalarType::F8E8M0>;
  }
  return cast_kernel(ScalarType::F64, grid);
}

Kernel multiply_add_kernel() { return &run_multiply_add; }

double round_narrow(ScalarType type, double x) {
  if (type == ScalarType::F16) return round_once<ScalarType::F16>(x);
  return type == ScalarType::BF16 ? round_once<ScalarType::BF16>(x)
                                  : round_once<ScalarType::TF32>(x);
}

}  // namespace tilewright::ir
