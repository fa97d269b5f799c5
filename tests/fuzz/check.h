// SPDX-License-Identifier: Apache-2.0
//
// What fuzz targets of readers hold any input to: a value that satisfies the round-trip laws, or
// diagnostics that a person can use.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "frontend/base/render.h"

namespace tilewright::fuzz {

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "law broken: %s\n", what);
  std::abort();
}

// At least one error; each has a message, a remedy and a place inside the text; both renderings work.
inline void check_diagnostics(const std::vector<Diagnostic>& diagnostics, const Source& source) {
  require(!diagnostics.empty(), "a failure has diagnostics");
  for (const Diagnostic& d : diagnostics) {
    require(!d.message.empty() && !d.remedy.empty(), "a diagnostic has a message and a remedy");
    require(d.span.begin <= d.span.end && d.span.end <= source.text().size(),
            "a span lies in its source");
  }
  const std::string text = render(diagnostics, &source);
  for (const char c : text)
    require(c == '\n' || (c >= 0x20 && c < 0x7f), "rendered text is printable ASCII");
  const Source json("diagnostics", render_json(diagnostics, &source).dump());
  require(parse_json(json).ok(), "rendered JSON is JSON");
}

}  // namespace tilewright::fuzz
