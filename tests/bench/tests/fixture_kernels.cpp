// SPDX-License-Identifier: Apache-2.0
//
// Test fixture, not a product of the compiler: kernels with the interface of a generated library, so that
// the harness can be tested without the compiler. `gemm` is right; the others are right and slow, wrong in
// one term, leave a row unwritten, or refuse.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tilewright/runtime.h"

namespace {

struct Problem {
  const float* a;
  const float* b;
  float* c;
  std::int64_t n;
  std::int64_t k;
  std::int64_t terms;
  int repeats;
};

tilewright_status rows(void* closure, std::int32_t, std::int64_t begin, std::int64_t end) {
  const Problem& problem = *static_cast<const Problem*>(closure);
  for (int repeat = 0; repeat < problem.repeats; ++repeat) {
    for (std::int64_t i = begin; i < end; ++i) {
      float* c = problem.c + i * problem.n;
      std::memset(c, 0, sizeof(float) * static_cast<std::size_t>(problem.n));
      for (std::int64_t l = 0; l < problem.terms; ++l) {
        const float a = problem.a[i * problem.k + l];
        const float* b = problem.b + l * problem.n;
        for (std::int64_t j = 0; j < problem.n; ++j) c[j] += a * b[j];
      }
      asm volatile("" : : "r"(c) : "memory");
    }
  }
  return TILEWRIGHT_OK;
}

struct Fault {
  int repeats = 1;
  std::int64_t lost_terms = 0;
  std::int64_t lost_rows = 0;
};

std::int32_t gemm_with(const tilewright_call* call, const tilewright_tensor* a,
                       const tilewright_tensor* b, tilewright_tensor* c, Fault fault) {
  const std::int64_t m = a->dl.shape[0];
  const std::int64_t k = a->dl.shape[1];
  Problem problem{static_cast<const float*>(a->dl.data),
                  static_cast<const float*>(b->dl.data),
                  static_cast<float*>(c->dl.data),
                  b->dl.shape[1],
                  k,
                  k - fault.lost_terms,
                  fault.repeats};
  return call->executor->parallel_for(call->executor, call, 0, m - fault.lost_rows, 8, rows,
                                      &problem);
}

}  // namespace

#define FIXTURE_GEMM(name, ...)                                                            \
  extern "C" std::int32_t name(const tilewright_call* call, const tilewright_tensor* a,    \
                               const tilewright_tensor* b, tilewright_tensor* c, void*,    \
                               std::size_t) {                                              \
    return gemm_with(call, a, b, c, Fault{__VA_ARGS__});                                   \
  }                                                                                        \
  extern "C" std::int32_t name##_query(const tilewright_call*, const tilewright_tensor*,   \
                                       const tilewright_tensor*, const tilewright_tensor*, \
                                       std::size_t* size) {                                \
    *size = 0;                                                                             \
    return TILEWRIGHT_OK;                                                                  \
  }

FIXTURE_GEMM(gemm, )
FIXTURE_GEMM(gemm_slow, .repeats = 6)
FIXTURE_GEMM(gemm_lost_term, .lost_terms = 1)
FIXTURE_GEMM(gemm_lost_row, .lost_rows = 1)

extern "C" std::int32_t gemm_refuses(const tilewright_call* call, const tilewright_tensor*,
                                     const tilewright_tensor*, tilewright_tensor*, void*,
                                     std::size_t) {
  call->error->status = TILEWRIGHT_MISALIGNED;
  call->error->argument = 0;
  call->error->dimension = -1;
  std::strcpy(call->error->function, "gemm_refuses");
  std::strcpy(call->error->message, "the fixture refuses");
  return TILEWRIGHT_MISALIGNED;
}
extern "C" std::int32_t gemm_refuses_query(const tilewright_call*, const tilewright_tensor*,
                                           const tilewright_tensor*, const tilewright_tensor*,
                                           std::size_t* size) {
  *size = 0;
  return TILEWRIGHT_OK;
}
