/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "mean.h"

enum { M = 4, N = 1000 };

int main(void) {
  static float x[M * N], y[M];
  int64_t matrix[] = {M, N}, rows[] = {M};
  for (int i = 0; i < M * N; ++i) x[i] = (float)(i % N);

  /* A descriptor is a pointer, a type and a shape. */
  tilewright_tensor in, out;
  const DLDataType f32 = tilewright_type(kDLFloat, 32);
  if (tilewright_tensor_row_major(&in, x, f32, 2, matrix) != TILEWRIGHT_OK ||
      tilewright_tensor_row_major(&out, y, f32, 1, rows) != TILEWRIGHT_OK)
    return 1;

  /* Threads are the caller's. Without a pool (NULL) everything runs in this thread. */
  tilewright_pool* pool;
  if (tilewright_pool_create(2, &pool) != TILEWRIGHT_OK) return 1;
  tilewright_error error = {.struct_size = sizeof error};
  tilewright_call call = tilewright_call_make(tilewright_pool_executor(pool), &error);

  /* Memory is the caller's, too: ask how much, then run. */
  size_t size = 0;
  int32_t status = mean_query(&call, &in, &out, &size);
  size = (size / TILEWRIGHT_WORKSPACE_ALIGNMENT + 1) * TILEWRIGHT_WORKSPACE_ALIGNMENT;
  void* workspace = aligned_alloc(TILEWRIGHT_WORKSPACE_ALIGNMENT, size);
  if (status == TILEWRIGHT_OK) status = mean(&call, &in, &out, workspace, size);
  for (int i = 0; i < M && status == TILEWRIGHT_OK; ++i)
    if (y[i] != 499.5f) status = 1;

  /* A call that is refused says why, and has written nothing. Here every row is empty, which `requires` forbids. */
  matrix[1] = 0;
  int refused = 0;
  if (tilewright_tensor_row_major(&in, x, f32, 2, matrix) == TILEWRIGHT_OK)
    refused = mean(&call, &in, &out, workspace, size) < 0 && y[0] == 499.5f;
  char text[512];
  tilewright_error_text(&error, text, sizeof text);
  printf("%s\n", text);

  free(workspace);
  tilewright_pool_destroy(pool);
  return status == TILEWRIGHT_OK && refused ? 0 : 1;
}
