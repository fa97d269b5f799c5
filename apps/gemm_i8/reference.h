// SPDX-License-Identifier: Apache-2.0
//
// The product of a matrix of unsigned and one of signed bytes in double precision, which is exact, written without
// the compiler.
#pragma once

#include "apps/runner/runner.h"

// Inputs: a[M, K], b[K, N].
tilewright::runner::Expected gemm_i8_reference(const tilewright::runner::Sizes& sizes,
                                               const std::vector<std::vector<double>>& inputs);
