// SPDX-License-Identifier: Apache-2.0
//
// The 3 x 3 mean in double precision, written without the compiler: nine terms, not two steps.
#pragma once

#include "apps/runner/runner.h"

// Inputs: x[H + 2, W + 2].
tilewright::runner::Expected blur_reference(const tilewright::runner::Sizes& sizes,
                                            const std::vector<std::vector<double>>& inputs);
