/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights packed once: linear_plan, then linear_run for 1 and for 16 rows with the same plan, beside linear, which packs
 * in every call. Their results are compared bit by bit, then they are timed in turn.
 * Usage: linear-plan_once [PAIRS [N [K [THREADS]]]], 31 pairs of 1024 x 1024 weights on 2 threads unless said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "linear.h"

enum { MOST_PAIRS = 999, MOST_ROWS = 16 };

typedef struct {
  tilewright_call call;
  tilewright_tensor x, w, y;
  void *plan, *workspace;
  size_t plan_size, workspace_size;
} layer;

static double now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* `count` is sorted on the way. */
static double quantile(double* values, int count, double at) {
  qsort(values, (size_t)count, sizeof *values, by_size);
  return values[(int)(at * (count - 1) + 0.5)];
}

static int32_t call_once(layer* l, int planned) {
  return planned ? linear_run(&l->call, &l->x, &l->w, &l->y, l->plan, l->plan_size, l->workspace,
                              l->workspace_size)
                 : linear(&l->call, &l->x, &l->w, &l->y, l->workspace, l->workspace_size);
}

/* Seconds for each of `times` calls. */
static double slice(layer* l, int planned, int times) {
  const double begin = now();
  for (int i = 0; i < times; ++i)
    if (call_once(l, planned) != TILEWRIGHT_OK) abort();
  return (now() - begin) / times;
}

/* Pairs of slices of about five milliseconds: with the plan, without, with, ... */
static void compare_times(layer* l, int pairs) {
  static double with[MOST_PAIRS], without[MOST_PAIRS], ratio[MOST_PAIRS];
  int times[2];
  for (int planned = 0; planned < 2; ++planned) {
    slice(l, planned, 2);
    const double one = slice(l, planned, 3);
    times[planned] = one < 0.005 ? (int)(0.005 / one) : 1;
  }
  for (int p = 0; p < pairs; ++p) {
    with[p] = slice(l, 1, times[1]);
    without[p] = slice(l, 0, times[0]);
    ratio[p] = without[p] / with[p];
  }
  printf(
      "%8.4f ms with the plan, %8.4f ms without: %5.2f times (%5.2f to %5.2f in half of %d "
      "pairs)\n",
      1e3 * quantile(with, pairs, 0.5), 1e3 * quantile(without, pairs, 0.5),
      quantile(ratio, pairs, 0.5), quantile(ratio, pairs, 0.25), quantile(ratio, pairs, 0.75),
      pairs);
}

static void* room(size_t size) {
  const size_t unit = TILEWRIGHT_WORKSPACE_ALIGNMENT;
  return aligned_alloc(unit, size / unit * unit + unit);
}

/* Enough for either call at these sizes. */
static int32_t make_workspace(layer* l) {
  size_t plan_size = 0, run_size = 0;
  int32_t status = linear_plan_query(&l->call, &l->x, &l->w, &l->y, &plan_size, &run_size);
  if (status == TILEWRIGHT_OK)
    status = linear_query(&l->call, &l->x, &l->w, &l->y, &l->workspace_size);
  if (l->workspace_size < run_size) l->workspace_size = run_size;
  free(l->workspace);
  l->workspace = room(l->workspace_size);
  return status != TILEWRIGHT_OK || l->workspace ? status : TILEWRIGHT_OUT_OF_MEMORY;
}

static int32_t make_plan(layer* l) {
  size_t workspace_size = 0;
  int32_t status = linear_plan_query(&l->call, &l->x, &l->w, &l->y, &l->plan_size, &workspace_size);
  if (status != TILEWRIGHT_OK) return status;
  l->plan = room(l->plan_size);
  if (!l->plan) return TILEWRIGHT_OUT_OF_MEMORY;
  const double begin = now();
  status = linear_plan(&l->call, &l->x, &l->w, &l->y, l->plan, l->plan_size);
  if (status == TILEWRIGHT_OK)
    printf("a plan of %zu bytes, made in %.3f ms\n", l->plan_size, 1e3 * (now() - begin));
  return status;
}

static void fill(float* x, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    x[i] = (float)(seed >> 8) / 8388608.0F - 1.0F;
  }
}

/* What a run with a plan gives is what a call without one gives, and it looks at no weight. */
static int32_t compare_results(layer* l, float* y, size_t count) {
  float* wanted = malloc(sizeof *y * count);
  void* const weights = l->w.dl.data;
  int32_t status = wanted ? call_once(l, 0) : TILEWRIGHT_OUT_OF_MEMORY;
  if (status == TILEWRIGHT_OK) {
    memcpy(wanted, y, sizeof *y * count);
    memset(y, 0xff, sizeof *y * count);
    l->w.dl.data = NULL;
    status = call_once(l, 1);
    l->w.dl.data = weights;
  }
  if (status == TILEWRIGHT_OK && memcmp(wanted, y, sizeof *y * count) != 0)
    status = TILEWRIGHT_INVALID_ARGUMENT;
  free(wanted);
  return status;
}

static int32_t measure(layer* l, int pairs, int64_t n, int64_t k, float* x, float* w, float* y) {
  const DLDataType f32 = tilewright_type(kDLFloat, 32);
  static const int64_t rows[] = {1, MOST_ROWS};
  int64_t w_shape[] = {k, n};
  int32_t status = tilewright_tensor_row_major(&l->w, w, f32, 2, w_shape);
  for (int i = 0; i < 2 && status == TILEWRIGHT_OK; ++i) {
    int64_t x_shape[] = {rows[i], k}, y_shape[] = {rows[i], n};
    status = tilewright_tensor_row_major(&l->x, x, f32, 2, x_shape);
    if (status == TILEWRIGHT_OK) status = tilewright_tensor_row_major(&l->y, y, f32, 2, y_shape);
    if (status == TILEWRIGHT_OK) status = make_workspace(l);
    if (status == TILEWRIGHT_OK && !l->plan) status = make_plan(l);
    if (status == TILEWRIGHT_OK) status = compare_results(l, y, (size_t)(rows[i] * n));
    if (status != TILEWRIGHT_OK) return status;
    printf("M = %2d, N = %d, K = %d: ", (int)rows[i], (int)n, (int)k);
    compare_times(l, pairs);
  }
  return status;
}

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? atoi(argv[1]) : 31;
  const int64_t n = argc > 2 ? atoll(argv[2]) : 1024;
  const int64_t k = argc > 3 ? atoll(argv[3]) : 1024;
  const int threads = argc > 4 ? atoi(argv[4]) : 2;
  if (pairs < 1 || pairs > MOST_PAIRS || n < 1 || k < 1 || n > 32768 || k > 32768 || threads < 1) {
    fprintf(stderr, "usage: linear-plan_once [PAIRS [N [K [THREADS]]]]\n");
    return 2;
  }
  layer l;
  memset(&l, 0, sizeof l);
  tilewright_pool* pool = NULL;
  int32_t status = tilewright_pool_create(threads, &pool);
  l.call =
      tilewright_call_make(status == TILEWRIGHT_OK ? tilewright_pool_executor(pool) : NULL, NULL);
  float* x = malloc(sizeof(float) * MOST_ROWS * (size_t)k);
  float* w = malloc(sizeof(float) * (size_t)(k * n));
  float* y = malloc(sizeof(float) * MOST_ROWS * (size_t)n);
  if (status == TILEWRIGHT_OK && !(x && w && y)) status = TILEWRIGHT_OUT_OF_MEMORY;
  if (status == TILEWRIGHT_OK) {
    fill(x, (size_t)(MOST_ROWS * k), 1);
    fill(w, (size_t)(k * n), 2);
    status = measure(&l, pairs, n, k, x, w, y);
  }
  free(l.plan);
  free(l.workspace);
  free(x);
  free(w);
  free(y);
  tilewright_pool_destroy(pool);
  if (status == TILEWRIGHT_UNSUPPORTED_CPU) return 77;
  if (status != TILEWRIGHT_OK) fprintf(stderr, "linear: %s\n", tilewright_status_text(status));
  return status == TILEWRIGHT_OK ? 0 : 1;
}
