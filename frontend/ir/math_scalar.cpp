// SPDX-License-Identifier: Apache-2.0
//
// Instantiates the math definitions over plain numbers: once per scalar, and once per array for
// each x86-64 level that this machine may have. The loops hold no branch and no call, so they
// vectorise; the file's compile options (CMakeLists.txt) forbid contraction and drop errno and trap
// flags, which lets selects become blends. No result depends on any of it.
#include "frontend/ir/math_scalar.h"

#include "frontend/ir/math_scalar_builder.h"

namespace tilewright::ir::math {
namespace {

static_assert(MathBuilder<ScalarBuilder>);

#if defined(__x86_64__)
#if defined(__clang__)
#define TILEWRIGHT_WHOLE_VECTORS flatten, min_vector_width(512)
#define TILEWRIGHT_AVX512_FEATURES "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl"
#else
#define TILEWRIGHT_WHOLE_VECTORS flatten
#define TILEWRIGHT_AVX512_FEATURES \
  "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512"
#endif
#define TILEWRIGHT_AVX2 __attribute__((target("avx2,fma"), flatten))
#define TILEWRIGHT_AVX512 \
  __attribute__((target(TILEWRIGHT_AVX512_FEATURES), TILEWRIGHT_WHOLE_VECTORS))

enum class Level { Baseline, Avx2, Avx512 };

Level detect_level() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return Level::Avx512;
  }
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return avx2 ? Level::Avx2 : Level::Baseline;
}
#endif

}  // namespace

#if defined(__x86_64__)
#define TILEWRIGHT_ARRAY(name, Number)                                              \
  namespace {                                                                       \
  TILEWRIGHT_AVX2 void name##_avx2(const Number* x, Number* y, std::size_t n) {     \
    ScalarBuilder b;                                                                \
    for (std::size_t i = 0; i < n; ++i) y[i] = name(b, x[i]);                       \
  }                                                                                 \
  TILEWRIGHT_AVX512 void name##_avx512(const Number* x, Number* y, std::size_t n) { \
    ScalarBuilder b;                                                                \
    for (std::size_t i = 0; i < n; ++i) y[i] = name(b, x[i]);                       \
  }                                                                                 \
  }                                                                                 \
  void name(const Number* x, Number* y, std::size_t n) {                            \
    const Level level = detect_level();                                             \
    if (level == Level::Avx512) return name##_avx512(x, y, n);                      \
    if (level == Level::Avx2) return name##_avx2(x, y, n);                          \
    for (std::size_t i = 0; i < n; ++i) y[i] = name(x[i]);                          \
  }
#else
#define TILEWRIGHT_ARRAY(name, Number)                     \
  void name(const Number* x, Number* y, std::size_t n) {   \
    for (std::size_t i = 0; i < n; ++i) y[i] = name(x[i]); \
  }
#endif

#define TILEWRIGHT_SCALAR(name, Number) \
  Number name(Number x) {               \
    ScalarBuilder b;                    \
    return name(b, x);                  \
  }

#define TILEWRIGHT_FUNCTION(name)       \
  TILEWRIGHT_SCALAR(name##_f32, float)  \
  TILEWRIGHT_SCALAR(name##_f64, double) \
  TILEWRIGHT_ARRAY(name##_f32, float)   \
  TILEWRIGHT_ARRAY(name##_f64, double)
TILEWRIGHT_MATH_FUNCTIONS(TILEWRIGHT_FUNCTION)

}  // namespace tilewright::ir::math
