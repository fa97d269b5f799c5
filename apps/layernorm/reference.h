// SPDX-License-Identifier: Apache-2.0
//
// Layer normalisation of rows in double precision, written without the compiler.
#pragma once

#include "apps/runner/runner.h"

// Inputs: x[R, C], scale[C], shift[C].
tilewright::runner::Expected layernorm_reference(const tilewright::runner::Sizes& sizes,
                                                 const std::vector<std::vector<double>>& inputs);
