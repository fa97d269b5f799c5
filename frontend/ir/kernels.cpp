// SPDX-License-Identifier: Apache-2.0
//
// Compiled at -O3 and without contraction (cmake/TilewrightRoom.cmake). f32 + - * / sqrt go through
// f64 and one rounding, which is exact because 53 >= 2 * 24 + 2; 16-bit types round that once more.
#include "frontend/ir/kernels.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "frontend/ir/math_table.h"

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

template <ScalarType T>
inline double round_once(double x) {
  if constexpr (T == ScalarType::F64) {
    return x;
  } else if constexpr (T == ScalarType::F32) {
    return static_cast<double>(static_cast<float>(x));
  } else if constexpr (T == ScalarType::F16) {
    if (std::fabs(x) > 1e6) return std::copysign(kInfinity, x);
    return round_digits(x, 11, -24, 65504.0);
  } else {
    if (std::fabs(x) > 1e39) return std::copysign(kInfinity, x);
    return round_digits(x, 8, -133, 0x1.fep127);
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

constexpr bool float_type(ScalarType type) {
  return type == ScalarType::BF16 || type == ScalarType::F16 || type == ScalarType::F32 ||
         type == ScalarType::F64;
}
constexpr bool int_type(ScalarType type) {
  return type == ScalarType::I8 || type == ScalarType::I32 || type == ScalarType::I64;
}

constexpr TypeRule kRules[] = {
#define TILEWRIGHT_OP(name, text, syntax, precedence, arity, rule) TypeRule::rule,
#include "frontend/ir/ops.def"
#undef TILEWRIGHT_OP
};
constexpr int kArities[] = {
#define TILEWRIGHT_OP(name, text, syntax, precedence, arity, rule) arity,
#include "frontend/ir/ops.def"
#undef TILEWRIGHT_OP
};

constexpr bool accepts(OpCode op, ScalarType type) {
  switch (kRules[static_cast<int>(op)]) {
    case TypeRule::Arithmetic: return type != ScalarType::Bool;
    case TypeRule::Integer: return type == ScalarType::Index || int_type(type);
    case TypeRule::Float: return float_type(type);
    case TypeRule::Compare: return true;
    case TypeRule::Logic: return type == ScalarType::Bool;
  }
  return false;
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
  if constexpr (T == ScalarType::I8) return static_cast<std::int8_t>(x);
  if constexpr (T == ScalarType::I32) return static_cast<std::int32_t>(x);
  return static_cast<std::int64_t>(x);
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
  if (b == -1) return O == OpCode::Mod ? 0 : ring_op<OpCode::Sub, T>(0, a, undefined);
  const std::int64_t remainder = a % b;
  const bool below = remainder != 0 && (remainder < 0) != (b < 0);
  if constexpr (O == OpCode::Mod) return below ? remainder + b : remainder;
  return a / b - (below ? 1 : 0);
}

template <OpCode O, ScalarType T>
inline std::int64_t int_op(std::int64_t a, std::int64_t b, std::int64_t c, bool& undefined) {
  if constexpr (O == OpCode::Add || O == OpCode::Sub || O == OpCode::Mul)
    return ring_op<O, T>(a, b, undefined);
  if constexpr (O == OpCode::Div || O == OpCode::Mod) return divide<O, T>(a, b, undefined);
  if constexpr (O == OpCode::Neg) return ring_op<OpCode::Sub, T>(0, a, undefined);
  if constexpr (O == OpCode::Min) return a < b ? a : b;
  if constexpr (O == OpCode::Max) return a > b ? a : b;
  if constexpr (O == OpCode::Abs) return a < 0 ? ring_op<OpCode::Sub, T>(0, a, undefined) : a;
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
  const TypeRule rule = kRules[static_cast<int>(op)];
  if (float_type(type) || rule == TypeRule::Compare || rule == TypeRule::Logic) return false;
  return type == ScalarType::Index || op == OpCode::Div || op == OpCode::Mod;
}

template <OpCode O, ScalarType T>
inline Scalar apply(const Scalar* a, const Scalar* b, const Scalar* c, int l, bool& undefined) {
  constexpr int arity = kArities[static_cast<int>(O)];
  constexpr TypeRule rule = kRules[static_cast<int>(O)];
  Scalar out;
  if constexpr (float_type(T) && rule == TypeRule::Compare) {
    out.i = compare<O>(a[l].f, b[l].f);
  } else if constexpr (float_type(T)) {
    double y = 0;
    double z = 0;
    if constexpr (arity > 1) y = b[l].f;
    if constexpr (arity > 2) z = c[l].f;
    out.f = float_op<O, T>(a[l].f, y, z);
  } else if constexpr (rule == TypeRule::Compare || (rule == TypeRule::Logic && arity == 2)) {
    out.i = compare<O>(a[l].i, b[l].i);
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
  } else if constexpr (float_type(T) && kRules[static_cast<int>(O)] != TypeRule::Compare) {
    constexpr int arity = kArities[static_cast<int>(O)];
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
  if constexpr (!accepts(op, type)) {
    return nullptr;
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

// Truncation towards zero; what does not fit (NaN included) is undefined.
template <ScalarType T>
inline std::int64_t truncate(double x, bool& undefined) {
  constexpr double limit = T == ScalarType::I8 ? 0x1p7 : T == ScalarType::I32 ? 0x1p31 : 0x1p63;
  const double whole = std::trunc(x);
  if (!(whole >= -limit && whole < limit)) {
    undefined = true;
    return 0;
  }
  return static_cast<std::int64_t>(whole);
}

template <ScalarType From, ScalarType To>
inline Scalar convert(Scalar x, bool& undefined) {
  Scalar out;
  if constexpr (float_type(From) && float_type(To)) {
    out.f = round_once<To>(x.f);
  } else if constexpr (float_type(From) && To == ScalarType::Bool) {
    out.i = x.f != 0;
  } else if constexpr (float_type(From)) {
    out.i = truncate<To>(x.f, undefined);
  } else if constexpr (float_type(To)) {
    out.f = To == ScalarType::F64 ? static_cast<double>(x.i)
                                  : finish<To>(static_cast<double>(static_cast<float>(x.i)));
  } else if constexpr (To == ScalarType::Bool) {
    out.i = x.i != 0;
  } else {
    out.i = wrap<To>(static_cast<std::uint64_t>(x.i));
  }
  return out;
}

template <ScalarType From, ScalarType To>
int run_cast(Scalar* dst, const Scalar* a, const Scalar*, const Scalar*, int n,
             const std::uint8_t* mask) {
  if constexpr (float_type(From) && !float_type(To) && To != ScalarType::Bool) {
    for (int l = 0; l < n; ++l) {
      bool undefined = false;
      dst[l] = convert<From, To>(a[l], undefined);
      if (undefined && (!mask || (mask[l] & kChosen))) return l;
    }
  } else {
    bool defined = false;
    for (int l = 0; l < n; ++l) dst[l] = convert<From, To>(a[l], defined);
  }
  return -1;
}

template <std::size_t... I>
constexpr auto cast_table(std::index_sequence<I...>) {
  return std::array<Kernel, sizeof...(I)>{
      &run_cast<static_cast<ScalarType>(I / kNumScalarTypes),
                static_cast<ScalarType>(I % kNumScalarTypes)>...};
}
constexpr auto kCastKernels =
    cast_table(std::make_index_sequence<kNumScalarTypes * kNumScalarTypes>{});

int run_multiply_add(Scalar* dst, const Scalar* a, const Scalar* b, const Scalar* c, int n,
                     const std::uint8_t*) {
  const double *x = floats(a), *y = floats(b), *z = floats(c);
  double* out = floats(dst);
  for (int l = 0; l < n; ++l) out[l] = x[l] * y[l] + z[l];
  return -1;
}

int run_round_f16_to_bf16(Scalar* dst, const Scalar* a, const Scalar*, const Scalar*, int n,
                          const std::uint8_t*) {
  const double* x = floats(a);
  double* out = floats(dst);
  for (int l = 0; l < n; ++l)
    out[l] = round_once<ScalarType::F16>(round_once<ScalarType::BF16>(x[l]));
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

Kernel cast_kernel(ScalarType from, ScalarType to) {
  return kCastKernels[static_cast<std::size_t>(from) * kNumScalarTypes +
                      static_cast<std::size_t>(to)];
}

// A grid value is one of the type, but for bf16 in f16, whose range is smaller.
Kernel round_kernel(ScalarType type, ScalarType grid) {
  if (type == ScalarType::F16 && grid == ScalarType::BF16) return &run_round_f16_to_bf16;
  return cast_kernel(ScalarType::F64, grid);
}

Kernel multiply_add_kernel() { return &run_multiply_add; }

double round_to_16(ScalarType type, double x) {
  return type == ScalarType::F16 ? round_once<ScalarType::F16>(x) : round_once<ScalarType::BF16>(x);
}

}  // namespace tilewright::ir
