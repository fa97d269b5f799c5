// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics for people and for tools, from one structure:
//
//   gemm.tw:7:15: error: `M` is an extent, not a tensor [E0205]
//     7 |   c[i, j] = M[i] + 1
//       |             ^~~~
//   gemm.tw:1:16: note: declared here
//   note: rank = 0
//   help: remove the indices
//
// Law: the same diagnostics give the same bytes, sorted by place, then code.
#pragma once

#include <string>
#include <vector>

#include "frontend/base/diagnostic.h"
#include "frontend/base/json.h"

namespace tilewright {

struct RenderOptions {
  bool colour = false;
  // Order of reports instead of order of places.
  bool keep_order = false;
};

// `source` may be null when the diagnostics have no place in a text.
std::string render(const std::vector<Diagnostic>& diagnostics, const Source* source,
                   const RenderOptions& options = {});
// An array of objects: code, severity, message, remedy, file, place {line, column, end_line, end_column,
// begin, end}, labels, evidence. Absent parts are left out.
Json render_json(const std::vector<Diagnostic>& diagnostics, const Source* source,
                 const RenderOptions& options = {});

}  // namespace tilewright
