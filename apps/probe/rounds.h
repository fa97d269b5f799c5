// SPDX-License-Identifier: Apache-2.0
//
// Runs the same work on several threads in short rounds with a common start and times each round as a whole.
#pragma once

#include <functional>

#include "apps/probe/probe.h"

namespace tilewright::probe {

// Work of one thread: repeats its kernel `repeats` times.
using ThreadWork = std::function<void(unsigned thread, std::size_t repeats)>;

// Calibrates `repeats` on the calling thread so that a round lasts about a millisecond, then runs rounds for
// `options.seconds`. `amount` is the work of one repeat of one thread.
Rate run_rounds(const Options& options, double amount, const ThreadWork& work);

}  // namespace tilewright::probe
