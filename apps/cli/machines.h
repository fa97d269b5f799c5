// SPDX-License-Identifier: Apache-2.0
//
// Machines by name or by file, and what this machine is found to be. Law: a schedule's machine is looked up
// in one way by every verb: built-in names first, paths relative to the folder of the schedule.
#pragma once

#include <optional>
#include <string>

#include "apps/cli/session.h"
#include "lowering/targets/host/target.h"
#include "schedules/machine/machine.h"

namespace tilewright::cli {

// A built-in name, or the path of a `.toml` file relative to `folder`. None after reporting.
std::optional<machine::Machine> load_machine(Session& session, const std::string& name,
                                             const std::string& folder = "");
// The target to build for: of a machine its ISA with the features that it names; else a host target.
std::optional<host::Target> target_of_machine(Session& session, const std::string& name,
                                              const std::string& schedule_path);

// To run a schedule here: the target that is asked for, else `native` with the features that the schedule's machine
// names. The entry of the kernel asks the processor for them.
std::optional<host::Target> target_to_run(Session& session, const std::string& asked,
                                          const std::string& machine,
                                          const std::string& schedule_path);

struct ProbeOptions {
  std::string name = "here";
  std::string date;  // "2026-01-31"
  double seconds = 0.1;  // on each rate
};
// Measures this machine: for some seconds, with progress. Fails where no host target runs (E0606).
Result<machine::Machine> probe_machine(const Session& session, const ProbeOptions& options);

}  // namespace tilewright::cli
