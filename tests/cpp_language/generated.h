// SPDX-License-Identifier: Apache-2.0
//
// What print_cpp.cpp writes: algorithms as C++ code, and the texts that they must have.
#pragma once

#include <span>

#include "tilewright/language.h"

namespace tilewright::generated {

struct Case {
  const char* name;
  const char* text;
  language::Algorithm (*make)();
};
std::span<const Case> cases();
// Those of docs/cpp_language.md.
std::span<const Case> documented();

}  // namespace tilewright::generated
