// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/diagnostic.h"

namespace tilewright {

namespace {

struct CodeRow {
  std::string_view text;
  Severity severity;
  std::string_view meaning;
};
constexpr CodeRow kCodes[] = {
#define TILEWRIGHT_DIAGNOSTIC(name, text, severity, meaning) {text, Severity::severity, meaning},
#include "frontend/base/diagnostics.def"
#undef TILEWRIGHT_DIAGNOSTIC
};

const CodeRow& row(Code code) { return kCodes[static_cast<std::size_t>(code)]; }

}  // namespace

std::string_view code_text(Code code) { return row(code).text; }
std::string_view code_meaning(Code code) { return row(code).meaning; }
Severity code_severity(Code code) { return row(code).severity; }

const std::vector<Code>& all_codes() {
  static const std::vector<Code> codes = [] {
    std::vector<Code> all;
    for (std::size_t i = 0; i < std::size(kCodes); ++i) all.push_back(static_cast<Code>(i));
    return all;
  }();
  return codes;
}

}  // namespace tilewright
