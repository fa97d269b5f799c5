// SPDX-License-Identifier: Apache-2.0
//
// The whole check: of three texts, whether the certificate proves that the Program computes the algorithm.
#pragma once

#include "apps/check/judge.h"

namespace tilewright::checker {

// Returns only where everything was shown: for which sizes, in words. Otherwise Refused. Sets are shown to be empty by
// the lemmas of the certificate, each of which has to be used; or by `evidence` where it is not null, and the
// certificate has none.
std::string accept(Arena& arena, Name algorithm_text, Name program_text, Name certificate_text,
                   Evidence* evidence = nullptr);

}  // namespace tilewright::checker
