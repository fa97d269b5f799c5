// SPDX-License-Identifier: Apache-2.0
//
// The part of the Program IR that runs on the threads of a host: what the back ends for hosts take.
#pragma once

#include <optional>

#include "frontend/base/diagnostic.h"
#include "lowering/program/program.h"

namespace tilewright::program {

// E0603 naming the first statement, in order of the text, that is not in the host part: an agent, an
// asynchronous operation, synchronisation, a call or atomic, memory that a host does not have.
std::optional<Diagnostic> find_beyond_host(const Program& program);

}  // namespace tilewright::program
