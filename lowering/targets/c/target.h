// SPDX-License-Identifier: Apache-2.0
//
// The C target: a Program as one file of C11 that a person can read and any compiler of C11 with IEEE
// arithmetic can build, with the ABI of the host libraries (runtime.h) and no library behind it, libm
// included. It is the differential partner of the code generator: the two share the Program, its contract
// and the definitions of the math functions, nothing else.
//
// Laws: the compiled file computes what the Program interpreter computes, bit for bit (all NaNs are one),
// without undefined behaviour; the same input gives the same bytes. Loops marked `vector` are plain loops,
// over all lanes of one statement after the other where lanes could meet; `unrolled` loops stay loops;
// parallel loops go through the executor of the call as in a host library.
// Tests: tests/differential/object_code_test.cpp, tests/differential/c_target_test.cpp, tests/text/targets.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "frontend/base/result.h"
#include "lowering/program/dispatch.h"

namespace tilewright::c_target {

inline constexpr std::string_view kName = "c";
inline constexpr std::string_view kDescription =
    "any processor with a C11 compiler and IEEE floats";

// One function of a file; what it points to must outlive the call.
struct Function {
  ir::Context* context = nullptr;  // of its programs
  const program::Dispatch* dispatch = nullptr;
};

struct Options {
  std::string include = "<tilewright/runtime.h>";  // or the library's own header, which includes it
  std::string comment;  // lines for the top of the file
};

// A file that defines `NAME`, `NAME_query` and `NAME_explain` for each function; names must differ. E0603 names what has no
// form in C.
Result<std::string> emit_file(std::span<const Function> functions, const Options& options = {});

}  // namespace tilewright::c_target
