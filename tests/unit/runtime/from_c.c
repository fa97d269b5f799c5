/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime as a C99 program uses it: compiled strictly, linked by the C compiler alone. It runs
 * a sum on the built-in pool and exits with 0 if the result is right. */
#include "tilewright/runtime.h"

static tilewright_status add_range(void* closure, int32_t worker, int64_t begin, int64_t end) {
  int64_t* const sums = (int64_t*)closure;
  int64_t i;
  for (i = begin; i < end; ++i) sums[worker] += i;
  return TILEWRIGHT_OK;
}

int main(void) {
  tilewright_pool* pool = NULL;
  tilewright_error error = {0};
  tilewright_call call;
  tilewright_tensor tensor;
  int64_t shape[2] = {2, 3};
  float data[6] = {0};
  int64_t sums[2] = {0, 0};
  char text[64];
  const tilewright_executor* executor;

  if (tilewright_tensor_row_major(&tensor, data, tilewright_type(kDLFloat, 32), 2, shape) !=
          TILEWRIGHT_OK ||
      tensor.size_bytes != sizeof(data)) {
    return 1;
  }
  if (tilewright_pool_create(2, &pool) != TILEWRIGHT_OK) return 2;
  executor = tilewright_pool_executor(pool);
  error.struct_size = (uint32_t)sizeof(error);
  call = tilewright_call_make(executor, &error);
  if (executor->parallel_for(executor, &call, 0, 1000, 7, add_range, sums) != TILEWRIGHT_OK)
    return 3;
  tilewright_pool_destroy(pool);
  if (sums[0] + sums[1] != 499500) return 4;
  if (tilewright_error_text(&error, text, sizeof(text)) != 2) return 5;
  return 0;
}
