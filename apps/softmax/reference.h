// SPDX-License-Identifier: Apache-2.0
//
// Softmax of rows in double precision, written without the compiler.
#pragma once

#include "apps/runner/runner.h"

// Inputs: x[R, C].
tilewright::runner::Expected softmax_reference(const tilewright::runner::Sizes& sizes,
                                               const std::vector<std::vector<double>>& inputs);
