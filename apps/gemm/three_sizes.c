/* SPDX-License-Identifier: Apache-2.0
 *
 * One library for every size: gemm.tw by two schedules for few rows and a generic one. Three calls, and what
 * gemm_explain says of each. CMake: tilewright_add_library(... SCHEDULES row.tws few_rows.tws). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm.h"

enum { N = 96, K = 40 };

/* Numbers that f32 adds without rounding: the sums can be compared exactly. */
static void fill(float* x, size_t count) {
  for (size_t i = 0; i < count; ++i) x[i] = (float)((int)(i % 7) - 3);
}

static int is_product(const float* a, const float* b, const float* c, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
      if (sum != c[i * N + j]) return 0;
    }
  return 1;
}

/* The variant that must run, as the guards in schedules/ say. */
static const char* expected(int64_t rows) {
  return rows <= 4 ? "row: runs" : rows <= 32 ? "few_rows: runs" : "generic: runs";
}

static int32_t multiply(int64_t rows) {
  int64_t a_shape[] = {rows, K}, b_shape[] = {K, N}, c_shape[] = {rows, N};
  float* a = malloc(sizeof(float) * (size_t)rows * K);
  float* b = malloc(sizeof(float) * K * N);
  float* c = malloc(sizeof(float) * (size_t)rows * N);
  const DLDataType f32 = tilewright_type(kDLFloat, 32);
  tilewright_tensor ta, tb, tc;
  tilewright_call call = tilewright_call_make(NULL, NULL);
  char text[1024];
  size_t size = 0;
  void* workspace = NULL;
  int32_t status = TILEWRIGHT_OUT_OF_MEMORY;
  if (a && b && c) {
    fill(a, (size_t)rows * K);
    fill(b, (size_t)K * N);
    status = tilewright_tensor_row_major(&ta, a, f32, 2, a_shape);
    if (status == TILEWRIGHT_OK) status = tilewright_tensor_row_major(&tb, b, f32, 2, b_shape);
    if (status == TILEWRIGHT_OK) status = tilewright_tensor_row_major(&tc, c, f32, 2, c_shape);
    /* Before anything is done: what would run, and why. */
    if (status == TILEWRIGHT_OK)
      status = gemm_explain(&call, &ta, &tb, &tc, text, sizeof text, NULL);
    if (status == TILEWRIGHT_OK) {
      printf("%s\n", text);
      if (strstr(text, expected(rows)) == NULL) status = TILEWRIGHT_INVALID_ARGUMENT;
    }
    if (status == TILEWRIGHT_OK) status = gemm_query(&call, &ta, &tb, &tc, &size);
    size = (size / TILEWRIGHT_WORKSPACE_ALIGNMENT + 1) * TILEWRIGHT_WORKSPACE_ALIGNMENT;
    workspace = aligned_alloc(TILEWRIGHT_WORKSPACE_ALIGNMENT, size);
    if (status == TILEWRIGHT_OK) status = gemm(&call, &ta, &tb, &tc, workspace, size);
    if (status == TILEWRIGHT_OK && !is_product(a, b, c, rows)) status = TILEWRIGHT_INVALID_ARGUMENT;
  }
  free(workspace);
  free(a);
  free(b);
  free(c);
  return status;
}

int main(void) {
  const int64_t rows[] = {1, 16, 120};
  for (int i = 0; i < 3; ++i) {
    const int32_t status = multiply(rows[i]);
    if (status == TILEWRIGHT_UNSUPPORTED_CPU) return 77;
    if (status != TILEWRIGHT_OK) {
      fprintf(stderr, "gemm with %d rows: %s\n", (int)rows[i], tilewright_status_text(status));
      return 1;
    }
  }
  return 0;
}
