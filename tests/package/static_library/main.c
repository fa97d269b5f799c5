/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls the kernel as a user's program does and compares with three loops. The values are small integers, so
 * every order of summation gives the same bits. Also that a refusal is explained and writes nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "matrix_product.h"

static int failures = 0;

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

typedef struct {
  float* data;
  int64_t shape[2];
  tilewright_tensor tensor;
} matrix;

static void make_matrix(matrix* m, int64_t rows, int64_t columns) {
  m->data = calloc((size_t)(rows * columns) + 1, sizeof(float));
  if (m->data == NULL) exit(2);
  m->shape[0] = rows;
  m->shape[1] = columns;
  if (tilewright_tensor_row_major(&m->tensor, m->data, tilewright_type(kDLFloat, 32), 2,
                                  m->shape) != TILEWRIGHT_OK)
    exit(2);
}

static void check_sizes(const tilewright_executor* executor, int64_t rows, int64_t columns,
                        int64_t depth) {
  tilewright_error error = {0};
  tilewright_call call;
  matrix a, b, c;
  size_t size = 0;
  void* workspace = NULL;
  int64_t i, j, k;
  error.struct_size = sizeof(error);
  call = tilewright_call_make(executor, &error);
  make_matrix(&a, rows, depth);
  make_matrix(&b, depth, columns);
  make_matrix(&c, rows, columns);
  for (i = 0; i < rows * depth; ++i) a.data[i] = (float)(i * 7 % 11 - 5);
  for (i = 0; i < depth * columns; ++i) b.data[i] = (float)(i * 5 % 13 - 6);
  for (i = 0; i < rows * columns; ++i) c.data[i] = 12345.0f;

  expect(matrix_product_query(&call, &a.tensor, &b.tensor, &c.tensor, &size) == TILEWRIGHT_OK,
         "query");
  if (size > 0) {
    size = (size + TILEWRIGHT_WORKSPACE_ALIGNMENT - 1) / TILEWRIGHT_WORKSPACE_ALIGNMENT *
           TILEWRIGHT_WORKSPACE_ALIGNMENT;
    workspace = aligned_alloc(TILEWRIGHT_WORKSPACE_ALIGNMENT, size);
    if (workspace == NULL) exit(2);
  }
  expect(matrix_product(&call, &a.tensor, &b.tensor, &c.tensor, workspace, size) == TILEWRIGHT_OK,
         "call");
  for (i = 0; i < rows; ++i)
    for (j = 0; j < columns; ++j) {
      float sum = 0;
      for (k = 0; k < depth; ++k) sum += a.data[i * depth + k] * b.data[k * columns + j];
      if (c.data[i * columns + j] != sum) {
        fprintf(stderr, "c[%d, %d] at %dx%dx%d: %g instead of %g\n", (int)i, (int)j, (int)rows,
                (int)columns, (int)depth, c.data[i * columns + j], sum);
        ++failures;
        i = rows;
        break;
      }
    }

  if (rows > 0 && depth > 0 && columns > 0) {
    const float before = c.data[0];
    b.shape[0] += 1;
    expect(matrix_product(&call, &a.tensor, &b.tensor, &c.tensor, workspace, size) < 0,
           "a wrong shape is refused");
    expect(error.status < 0 && error.message[0] != '\0', "the refusal is explained");
    b.shape[0] -= 1;
    expect(matrix_product(&call, NULL, &b.tensor, &c.tensor, workspace, size) ==
               TILEWRIGHT_NULL_ARGUMENT,
           "a null argument is refused");
    expect(c.data[0] == before, "a refusal leaves the output alone");
  }
  free(workspace);
  free(a.data);
  free(b.data);
  free(c.data);
}

int main(void) {
  static const int64_t sizes[][3] = {{0, 3, 2},  {1, 1, 1},  {4, 16, 8},
                                     {5, 17, 3}, {7, 31, 0}, {67, 129, 33}};
  const tilewright_executor* executor = NULL;
  size_t i;
#if defined(USE_POOL)
  tilewright_pool* pool = NULL;
  if (tilewright_pool_create(2, &pool) != TILEWRIGHT_OK) return 2;
  executor = tilewright_pool_executor(pool);
#endif
  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i)
    check_sizes(executor, sizes[i][0], sizes[i][1], sizes[i][2]);
#if defined(USE_POOL)
  tilewright_pool_destroy(pool);
#endif
  return failures == 0 ? 0 : 1;
}
