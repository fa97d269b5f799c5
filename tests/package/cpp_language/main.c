/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls both kernels. The values are small integers, so the results are exact. */
#include <stdio.h>

#include "row_sums.h"
#include "saxpy.h"

enum { M = 5, N = 7 };

int main(void) {
  static float a = 3, x[M * N], y[M * N], z[M * N], sums[M];
  int64_t flat[] = {M * N}, matrix[] = {M, N};
  tilewright_error error = {.struct_size = sizeof error};
  tilewright_call call = tilewright_call_make(NULL, &error);
  tilewright_tensor ta, tx, ty, tz, tm, ts;
  int wrong = 0;
  for (int i = 0; i < M * N; ++i) {
    x[i] = (float)(i % 5 - 2);
    y[i] = (float)(i % 3);
  }
  const DLDataType f32 = tilewright_type(kDLFloat, 32);
  if (tilewright_tensor_row_major(&ta, &a, f32, 0, flat) ||
      tilewright_tensor_row_major(&tx, x, f32, 1, flat) ||
      tilewright_tensor_row_major(&ty, y, f32, 1, flat) ||
      tilewright_tensor_row_major(&tz, z, f32, 1, flat) ||
      tilewright_tensor_row_major(&tm, x, f32, 2, matrix) ||
      tilewright_tensor_row_major(&ts, sums, f32, 1, matrix))
    return 2;
  if (saxpy(&call, &ta, &tx, &ty, &tz, NULL, 0) != TILEWRIGHT_OK ||
      row_sums(&call, &tm, &ts, NULL, 0) != TILEWRIGHT_OK) {
    char text[512];
    tilewright_error_text(&error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return 2;
  }
  for (int i = 0; i < M * N; ++i) wrong += z[i] != 3 * x[i] + y[i];
  for (int i = 0; i < M; ++i) {
    float sum = 0;
    for (int j = 0; j < N; ++j) sum += x[i * N + j];
    wrong += sums[i] != sum;
  }
  if (wrong) fprintf(stderr, "%d numbers are wrong\n", wrong);
  return wrong != 0;
}
