// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics: what was seen, where, and what would help. Each has a stable code from diagnostics.def.
// Wording: lower case, no final period, code in backticks, say what was seen. One structure renders as
// text with a caret and as JSON (render.h). Tests: tests/text/diagnostics, one per code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/base/source.h"

namespace tilewright {

enum class Severity : std::uint8_t { Error, Warning, Note };

// Every code, declared once in diagnostics.def as TILEWRIGHT_DIAGNOSTIC(Name, "E0101", Severity, "meaning").
enum class Code : std::uint16_t {
#define TILEWRIGHT_DIAGNOSTIC(name, text, severity, meaning) name,
#include "frontend/base/diagnostics.def"
#undef TILEWRIGHT_DIAGNOSTIC
};

std::string_view code_text(Code code);  // "E0101"
std::string_view code_meaning(Code code);  // one line
Severity code_severity(Code code);
// Every code in order of declaration, for tests and `tilewright help diagnostics`.
const std::vector<Code>& all_codes();

// A further place with a short remark ("declared here").
struct Label {
  Span span;
  std::string text;
};

struct Diagnostic {
  Code code;
  Span span;
  std::string message;
  // What the user can do; may be empty only for internal errors.
  std::string remedy;
  std::vector<Label> labels;
  // Structured evidence of a refusal: name, value ("M", "7"), in order. Rendered as notes and in JSON.
  std::vector<std::pair<std::string, std::string>> evidence = {};
};

}  // namespace tilewright
