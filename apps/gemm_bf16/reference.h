// SPDX-License-Identifier: Apache-2.0
//
// The product of two matrices of bf16 in double precision, written without the compiler. The bound: a sum of
// K exact products in f32, in any order, then one rounding to bf16.
#pragma once

#include "apps/runner/runner.h"

// Inputs: a[M, K], b[K, N].
tilewright::runner::Expected gemm_bf16_reference(const tilewright::runner::Sizes& sizes,
                                                 const std::vector<std::vector<double>>& inputs);
