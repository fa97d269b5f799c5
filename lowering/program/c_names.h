// SPDX-License-Identifier: Apache-2.0
//
// Names of a Program as C may spell them, for headers and for code in C. Law: what two different names become
// differs, and is no keyword of C or C++.
// Tests: tests/unit/lowering/artifact/artifact_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lowering/program/program.h"

namespace tilewright::program {

bool is_c_keyword(std::string_view name);
// The parameters' names, in order: a path `x.q` is `x_q`, and each differs from the others.
std::vector<std::string> c_parameter_names(const Program& program);

}  // namespace tilewright::program
