/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls an algorithm that calls another of its file. */
#include "four_times.h"

int main(void) {
  float x[3] = {1, -2, 3};
  float y[3] = {0, 0, 0};
  int64_t shape[1] = {3};
  tilewright_error error = {0};
  tilewright_call call;
  tilewright_tensor in, out;
  _Alignas(TILEWRIGHT_WORKSPACE_ALIGNMENT) float workspace[64];
  error.struct_size = sizeof(error);
  call = tilewright_call_make(NULL, &error);
  if (tilewright_tensor_row_major(&in, x, tilewright_type(kDLFloat, 32), 1, shape) !=
          TILEWRIGHT_OK ||
      tilewright_tensor_row_major(&out, y, tilewright_type(kDLFloat, 32), 1, shape) !=
          TILEWRIGHT_OK)
    return 2;
  if (four_times(&call, &in, &out, workspace, sizeof(workspace)) != TILEWRIGHT_OK) return 3;
  return y[0] == 4 && y[1] == -8 && y[2] == 12 ? 0 : 1;
}
