// SPDX-License-Identifier: Apache-2.0
//
// The host targets by name, of x86-64 and of AArch64: what LLVM is told, and what the entry of a library asks
// of the processor. Code is generated for each of them on any machine. Law: every instruction set that LLVM may
// use for a target is in its list of tests.
// Tests: tests/unit/lowering/targets/host/target_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/base/result.h"
#include "lowering/llvm/compile.h"

namespace tilewright::host {

struct Target {
  std::string name;  // "x86-64-v4"
  std::string architecture = "x86-64";
  std::string description;  // for people: "x86-64 with AVX-512F, BW, CD, DQ, VL"
  llvm_wall::TargetOptions options;
};

// `x86-64-v3`, `x86-64-v4`, `aarch64-neon`, or `native`: the best of those that this machine runs. `native`
// fails on a machine that runs none, other names that are unknown with the list (E0606).
Result<Target> find_target(std::string_view name);
// The target with those of a machine's features that described instructions need; the others are left out, so
// that no library asks a processor for what it does not use.
Target with_features(Target target, const std::vector<std::string>& features);
// Every name but `native`.
std::vector<std::string_view> target_names();
// Whether this machine runs the code of a target; whether it is of the target's architecture at all.
bool runs_here(const Target& target);
bool is_foreign(const Target& target);

}  // namespace tilewright::host
