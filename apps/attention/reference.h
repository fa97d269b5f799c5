// SPDX-License-Identifier: Apache-2.0
//
// Causal attention in double precision, written without the compiler.
#pragma once

#include "apps/runner/runner.h"

// Inputs: q[B, H, S, D], k[B, H, T, D], v[B, H, T, D].
tilewright::runner::Expected attention_reference(const tilewright::runner::Sizes& sizes,
                                                 const std::vector<std::vector<double>>& inputs);
