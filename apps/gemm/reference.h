// SPDX-License-Identifier: Apache-2.0
//
// The product of two matrices in double precision, written without the compiler. The bound of a sum of K
// products in f32, in any order: gamma(K) times the sum of their magnitudes.
#pragma once

#include "apps/runner/runner.h"

// Inputs: a[M, K], b[K, N].
tilewright::runner::Expected gemm_reference(const tilewright::runner::Sizes& sizes,
                                            const std::vector<std::vector<double>>& inputs);
